"""Encode pictures tile by tile, from file to file."""

import time
from typing import TYPE_CHECKING, BinaryIO

from mmpcodec.cli import output
from mmpcodec.cli.encoding.sources import Found, Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FormatError, MmpError
from mmpcodec.limits import UNLIMITED
from mmpcodec.runtime.files import FileBytes

if TYPE_CHECKING:
    from mmpcodec.format.container import Header


def encode_by_tiles(job: Job, setting: Setting, progress: JobProgress, *, verify: bool) -> Found:
    """Encode a picture file with only a few tiles in memory at a time, and write the output.

    Raises
    ------
    MmpError
        If reading, encoding or verifying fails. No file is left behind.
    """
    from mmpcodec.codec.tiles.streaming import encode_large
    from mmpcodec.pictures.readers import is_measured

    assert job.target is not None
    started = time.perf_counter()
    with (
        setting.opened(job) as reader,
        output.opened(job.target, force=job.overwrite) as stream,
    ):
        params = setting.params_of(measured=is_measured(job.source, reader))
        found = encode_large(
            reader,
            stream,
            params,
            tile_size=setting.tile_size,
            depth=setting.depth,
            metadata=setting.metadata(reader.metadata),
            backend=setting.backend_for(params, setting.depth or reader.depth),
            device=setting.device,
            threads=setting.threads,
            progress=progress,
            roi=setting.roi_map(job, reader.shape),
        )
        seconds = time.perf_counter() - started
        if verify:
            check_tiles(stream, found.header)
    return Found.of_tiles(found, job.source, seconds)


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
