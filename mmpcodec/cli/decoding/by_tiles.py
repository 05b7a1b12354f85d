"""Decode mmp files block by block to TIFF files and zarr stores, here or on a cluster."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.places import named_as_given, on_this_machine
from mmpcodec.cli.decoding.damage import damage
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.signals import held
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FileError, LimitExceeded, ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD, ZARR_SUFFIX
from mmpcodec.runtime.progress import report_progress

if TYPE_CHECKING:
    from mmpcodec.codec.decoder import BadTile
    from mmpcodec.errors import FormatError
    from mmpcodec.format.container import Header
    from mmpcodec.format.tiles import Area
    from mmpcodec.pictures.parts import DecodedParts, PartWriter
    from mmpcodec.samples import Samples

ZARR, TIFF = ZARR_SUFFIX.removeprefix("."), "tif"
MOST_IN_MEMORY = DecodeLimits().max_samples
"""TIFF files of more samples are written tile by tile."""


@dataclass(frozen=True)
class HeldWriter:
    """Writes parts of a picture file while signals are held back; see ``PartWriter``.

    A signal would end the call of zarr, whose own thread would go on writing: into a store that is
    being removed, and after the end of the program.
    """

    writer: "PartWriter"

    @property
    def side(self) -> int:
        """Height and width of a stored tile in pixels."""
        return self.writer.side

    def write(self, x: int, y: int, samples: "Samples") -> None:
        """Write a part."""
        with held():
            self.writer.write(x, y, samples)


class DecodedFile(NamedTuple):
    """What was decoded and written."""

    header: "Header"
    area: "Area"
    bad_tiles: "Sequence[BadTile]"
    faults: "Sequence[FormatError]"
    input_bytes: int


@dataclass(frozen=True)
class DecodeByTiles:
    """Decodes mmp files to files of tiles; goes to the workers of a cluster as it is.

    Parameters
    ----------
    format : str
        Extension of the output. Others than "tif" and "zarr" are not written tile by tile.
    region : sequence of 4 int or None
    limits : DecodeLimits
        ``max_samples`` counts the whole region, and the tiles of a block.
    allow_partial : bool
    strip : sequence of str
        Kinds of metadata to leave out.
    backend : str
    threads : int or None
    connection : Connection or None
        Its cluster decodes the blocks.
    """

    format: str
    region: Sequence[int] | None
    limits: DecodeLimits
    allow_partial: bool
    strip: Sequence[str]
    backend: str
    threads: int | None
    connection: Connection | None = None

    def check(self, jobs: Sequence[Job]) -> None:
        """Check that the files of jobs can be decoded to this format.

        Raises
        ------
        ParameterError
            If the format is zarr and the input is a stream, or the output no folder.
        """
        for job in jobs if self.format == ZARR else ():
            if job.source == STANDARD:
                raise ParameterError("-: standard input cannot be decoded to a zarr store")
            if job.target == STANDARD:
                raise ParameterError(
                    "-o -: a zarr store is a folder and cannot be written to standard output"
                )
            if stores.is_url(job.target or ""):
                raise ParameterError(
                    f"{job.target}: a zarr store can be written only to a folder of this machine"
                )

    def applies(self, job: Job) -> bool:
        """Return whether the output of a job is written tile by tile.

        Raises
        ------
        MmpError
            If the mmp file cannot be opened, or is damaged.
        """
        if self.format == ZARR:
            return True
        streams = STANDARD in (job.source, job.target) or stores.is_url(job.target or "")
        if self.format != TIFF or streams or self.limits.max_samples <= MOST_IN_MEMORY:
            return False
        from mmpcodec.pictures import parts

        with parts.bytes_of(job.source, self.limits.max_memory) as data:
            header, _ = parts.header_of(data, self.limits, self.allow_partial, job.page)
        return self._area(header).pixels * header.planes > MOST_IN_MEMORY

    def __call__(self, job: Job, progress: JobProgress) -> DecodedFile:
        """Decode a file and write the output.

        Raises
        ------
        MmpError
            If reading, decoding or writing fails, or the cluster is lost. No output is left behind.
        """
        from mmpcodec.format import container
        from mmpcodec.format.tiles import Area
        from mmpcodec.opening.header import check_end, read_header
        from mmpcodec.pictures import parts
        from mmpcodec.pictures.side.facts import stripped

        assert job.target is not None
        with parts.bytes_of(job.source, self.limits.max_memory) as data:
            given = self.limits, self.allow_partial
            picture = parts.picture_in(data, *given, job.page)
            size = len(data if job.page is None else picture)
            header, faults = parts.header_of(data, *given, job.page)
            levels: list[Any] = []
            if self.region is None:
                if not self.allow_partial:
                    check_end(header, picture)
                if self.format == ZARR and job.page is None:
                    levels = parts.halves_of(data, header, *given)
            heads = [read_header(file) for file in levels]
            shapes = [one.shape_of(Area(0, 0, one.width, one.height)) for one in heads]
        area = self._area(header)
        fault = self.limits.fault_of_size(area.width, area.height, area.pixels * header.planes)
        if fault:
            what = "picture" if self.region is None else "region"
            text = f"{what} is {area.width}x{area.height}: {fault}"
            raise LimitExceeded(container.SECTION, text)
        metadata = stripped(header.metadata, *self.strip)
        with output.placed(job.target, force=job.overwrite) as part:
            with held():
                writer = parts.create(part, self.format, header, area, metadata, shapes)
            if self.format == TIFF:
                _check_space(job.target, part, parts.stored_bytes(header, area))
            work = parts.DecodedParts(
                on_this_machine(job.source),
                area,
                HeldWriter(writer) if self.connection is None else writer,
                self.limits,
                self.allow_partial,
                self.backend,
                self.threads,
                job.page,
            )
            with named_as_given(job.source):
                bad = self._copied(work, header, progress)
                if job.page is None:
                    self._copy_levels(job.source, header, writer)
        for text in damage(header, bad, faults):
            progress.note(f"{job.name}: {text}")
        if names := parts.lost(self.format, metadata):
            progress.note(f"{job.name}: {self.format} cannot hold all of: {', '.join(names)}")
        return DecodedFile(header, area, bad, faults, size)

    def _copy_levels(self, source: str, header: "Header", writer: Any) -> None:
        """Copy the levels of a file to a store that has them."""
        from mmpcodec.pictures import parts

        if self.format != ZARR or self.region is not None:
            return
        how: Any = {"backend": self.backend, "threads": self.threads}
        with parts.bytes_of(source, self.limits.max_memory) as data:
            halves = parts.halves_of(data, header, self.limits, self.allow_partial)
            for number, file in enumerate(halves, start=1):
                parts.copy_level(file, HeldWriter(writer.of_level(number)), self.limits, **how)

    def _area(self, header: "Header") -> "Area":
        from mmpcodec.format.tiles import Area, check_region

        if self.region is None:
            return Area(0, 0, header.width, header.height)
        return check_region(self.region, header.height, header.width)

    def _copied(
        self, work: "DecodedParts", header: "Header", progress: JobProgress
    ) -> "list[BadTile]":
        """Copy all blocks, and return the bad tiles.

        Raises
        ------
        FormatError
            If no tile decodes.
        """
        from mmpcodec.format.tiles import tiles_touching
        from mmpcodec.pictures.parts import blocks_to_copy

        area, done = work.area, 0
        found: dict[int, BadTile] = {}
        for block, bad in self._results(work, blocks_to_copy(header, area, work.writer.side)):
            found.update((one.tile.number, one) for one in bad)
            done += block.pixels
            report_progress(progress, done, area.pixels)
        if found:
            sides = header.height, header.width, header.tile_size
            if len(found) == sum(1 for _ in tiles_touching(area, *sides)):
                raise found[min(found)].error
        return [one for _, one in sorted(found.items())]

    def _results(
        self, work: "DecodedParts", blocks: "Iterator[Area]"
    ) -> "Iterator[tuple[Area, list[BadTile]]]":
        if self.connection is None:
            return ((block, work(block)) for block in blocks)
        from mmpcodec.dask.tile_tasks import decode_on_cluster

        return decode_on_cluster(self.connection.client(), work, blocks)

    def on(self, connection: Connection) -> "DecodeByTiles":
        """Return this decoding with the blocks as the tasks of a cluster."""
        return replace(self, connection=connection)


def _check_space(target: str, part: str, needed: int) -> None:
    """Check that the samples fit beside the file ``part``.

    Raises
    ------
    FileError
        If they do not.
    """
    free = shutil.disk_usage(part if PurePath(part).is_absolute() else ".").free
    if needed > free:
        raise FileError(f"{target}: needs {needed} bytes, the file system has {free} left")


def blocks_are_tasks(jobs: Sequence[Job], work: DecodeByTiles, cluster: Any) -> bool:
    """Return whether the blocks of a file are tasks, instead of files: for a single large one."""
    from mmpcodec.errors import MmpError

    if cluster is None or len(jobs) != 1:
        return False
    try:
        return work.applies(jobs[0])
    except MmpError:
        return False  # decoding raises the error
