"""Encode pictures with the tiles of a picture as the tasks of a cluster."""

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mmpcodec.cli import output
from mmpcodec.cli.cluster.clients import connected
from mmpcodec.cli.cluster.places import Cluster
from mmpcodec.cli.encoding.by_tiles import check_tiles
from mmpcodec.cli.encoding.sources import Found, Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.work import JobProgress
from mmpcodec.runtime import stores

MOST_INPUTS = 16
"""With more inputs than this, each input is a task of the cluster."""


@dataclass
class TilesOnCluster:
    """Encodes pictures one after the other, each on all workers of a cluster.

    The connection lasts from the first picture to the end of ``closed``.

    Parameters
    ----------
    cluster : Cluster
    printer : Printer
    """

    cluster: Cluster
    printer: Printer
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _client: Any = None

    def client(self) -> Any:
        """Return the client of the cluster, which is connected when it is first asked for."""
        if self._client is None:
            where, workers, _ = self.cluster
            self._client = self._stack.enter_context(connected(where, workers))
            threads = self._client.nthreads().values()
            self.printer.note(
                f"cluster: {counted(len(threads), 'worker')}, {counted(sum(threads), 'thread')}; "
                f"dashboard {self._client.dashboard_link}; tiles are the tasks"
            )
        return self._client

    def __enter__(self) -> "TilesOnCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def encode(self, job: Job, setting: Setting, progress: JobProgress, *, verify: bool) -> Found:
        """Encode a picture on the workers, and write the output here.

        Raises
        ------
        MmpError
            If reading, encoding or verifying fails, or the cluster is lost. No file is left behind.
        """
        from mmpcodec import pictures
        from mmpcodec.dask.tile_tasks import encode_on_cluster

        assert job.target is not None
        started = time.perf_counter()
        with (
            pictures.opened(job.source, limits=setting.limits) as reader,
            output.opened(job.target, force=job.overwrite) as stream,
        ):
            found = encode_on_cluster(
                self.client(),
                everywhere(job.source),
                reader,
                stream,
                setting.params,
                tile_size=setting.tile_size,
                depth=setting.depth,
                metadata=setting.metadata(reader.metadata),
                limits=setting.limits,
                backend=setting.backend,
                threads=setting.threads,
                progress=progress,
            )
            seconds = time.perf_counter() - started
            if verify:
                check_tiles(stream, found.header)
        return Found.of_tiles(found, job.source, setting.params.lam, seconds)


def tiles_are_tasks(jobs: Sequence[Job]) -> bool:
    """Return whether the tiles of each picture are tasks, instead of the pictures.

    That is so for few pictures that can be read in parts.
    """
    from mmpcodec.pictures.readers import in_parts

    return 0 < len(jobs) <= MOST_INPUTS and all(in_parts(job.source) for job in jobs)


def everywhere(name: str) -> str:
    """Return a name that does not depend on the folder in which a worker was started."""
    return name if stores.is_url(name) else os.path.abspath(name)
