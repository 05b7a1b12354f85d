"""Encode pictures tile by tile, from file to file, here or on a cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from mmpcodec.cli import output
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.places import named_as_given, on_this_machine
from mmpcodec.cli.encoding.levels import check_levels, write_with_levels
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FormatError, MmpError
from mmpcodec.limits import UNLIMITED
from mmpcodec.runtime.files import FileBytes

if TYPE_CHECKING:
    from mmpcodec import Encoding
    from mmpcodec.codec.tiles.renditions import LevelFiles
    from mmpcodec.format.container import Header


MOST_INPUTS = 16
"""With more inputs than this, each input is a task of the cluster."""


def encode_by_tiles(
    job: Job,
    setting: Setting,
    progress: JobProgress,
    *,
    verify: bool,
    connection: Connection | None = None,
) -> "tuple[Encoding, LevelFiles | None]":
    """Encode a picture file tile by tile, and write the output here.

    Only a few tiles are in memory at a time, or the workers of a cluster encode them.

    Raises
    ------
    MmpError
        If reading, encoding or verifying fails, or the cluster is lost. No file is left behind.
    """
    from mmpcodec.pictures.readers import is_measured

    assert job.target is not None
    with (
        setting.opened(job) as reader,
        output.opened(job.target, force=job.overwrite) as stream,
    ):
        depth = setting.depth or reader.depth
        params = setting.params_of(measured=is_measured(job.source, reader), depth=depth)
        options: dict[str, Any] = {
            "tile_size": setting.tile_size,
            "depth": setting.depth,
            "metadata": setting.metadata(reader.metadata),
            "backend": setting.backend_for(params, depth),
            "threads": setting.threads,
            "progress": progress,
        }

        def write(to: BinaryIO) -> "Encoding":
            if connection is None:
                from mmpcodec.codec.tiles.streaming import encode_large

                roi = setting.roi_map(job, reader.shape)
                return encode_large(reader, to, params, device=setting.device, roi=roi, **options)
            from mmpcodec.dask.tile_tasks import encode_on_cluster

            how = options | {"limits": setting.limits, "page": setting.page}
            client, name = connection.client(), on_this_machine(job.source)
            with named_as_given(job.source):
                return encode_on_cluster(client, name, reader, to, params, **how)

        def levels_of(found: "Encoding") -> "LevelFiles | None":
            from mmpcodec.codec.tiles.renditions import encode_levels

            named = ("tile_size", "backend", "threads", "progress")
            how = {name: options[name] for name in named} | {"device": setting.device}
            measured = is_measured(job.source, reader)
            return encode_levels(
                reader.read, found.header, params, found.lam, measured=measured, **how
            )

        if not setting.levels:
            found, levels = write(stream), None
        else:
            found, levels = write_with_levels(stream, write, levels_of)
        if verify:
            check_tiles(stream, found.header)
            check_levels(levels)
    return found, levels


def tiles_are_tasks(jobs: Sequence[Job]) -> bool:
    """Return whether the tiles of each picture are tasks, instead of the pictures.

    That is so for few pictures that can be read in parts.
    """
    from mmpcodec.pictures.readers import in_parts

    return 0 < len(jobs) <= MOST_INPUTS and all(in_parts(job.source) for job in jobs)


def check_tiles(stream: BinaryIO, header: "Header") -> None:
    """Verify a written file: decode each tile, which compares it with the encoder's checksum.

    Raises
    ------
    MmpError
        If a tile does not decode to its checksum, or the stream is not a file.
    """
    import mmpcodec

    stream.flush()
    try:
        data = FileBytes(stream)
    except OSError as error:
        raise MmpError("--verify with --tile: needs an output that is a file") from error
    with data:
        for tile in header.tiles:
            try:
                mmpcodec.decode(
                    data, region=(tile.x, tile.y, tile.width, tile.height), limits=UNLIMITED
                )
            except FormatError as error:
                raise MmpError(f"verification failed, nothing was written: {error}") from error
