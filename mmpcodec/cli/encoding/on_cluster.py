"""Encode pictures with the tiles of a picture as the tasks of a cluster."""

import time
from collections.abc import Sequence

from mmpcodec.cli import output
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.places import named_as_given, on_this_machine
from mmpcodec.cli.encoding.by_tiles import check_tiles
from mmpcodec.cli.encoding.sources import Found, Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress

MOST_INPUTS = 16
"""With more inputs than this, each input is a task of the cluster."""


def encode_on_workers(
    job: Job, setting: Setting, connection: Connection, progress: JobProgress, *, verify: bool
) -> Found:
    """Encode a picture file on all workers of a cluster, and write the output here.

    Raises
    ------
    MmpError
        If reading, encoding or verifying fails, or the cluster is lost. No file is left behind.
    """
    from mmpcodec.dask.tile_tasks import encode_on_cluster
    from mmpcodec.pictures.readers import is_measured

    assert job.target is not None
    started = time.perf_counter()
    with (
        setting.opened(job) as reader,
        output.opened(job.target, force=job.overwrite) as stream,
        named_as_given(job.source),
    ):
        params = setting.params_of(measured=is_measured(job.source, reader))
        found = encode_on_cluster(
            connection.client(),
            on_this_machine(job.source),
            reader,
            stream,
            params,
            tile_size=setting.tile_size,
            depth=setting.depth,
            metadata=setting.metadata(reader.metadata),
            limits=setting.limits,
            page=setting.page,
            backend=setting.backend_for(params, setting.depth or reader.depth),
            threads=setting.threads,
            progress=progress,
        )
        seconds = time.perf_counter() - started
        if verify:
            check_tiles(stream, found.header)
    return Found.of_tiles(found, job.source, seconds)


def tiles_are_tasks(jobs: Sequence[Job]) -> bool:
    """Return whether the tiles of each picture are tasks, instead of the pictures.

    That is so for few pictures that can be read in parts.
    """
    from mmpcodec.pictures.readers import in_parts

    return 0 < len(jobs) <= MOST_INPUTS and all(in_parts(job.source) for job in jobs)
