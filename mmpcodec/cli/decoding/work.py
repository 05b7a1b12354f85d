"""The work of ``mmp decode`` on one input: to a file of one picture, or of several."""

import hashlib
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from mmpcodec.cli import output
from mmpcodec.cli.copies import Copied, copied
from mmpcodec.cli.decoding import by_tiles
from mmpcodec.cli.decoding.damage import (
    damage,
    faults_beside,
    naming_allow_partial,
    remarks_on_index,
)
from mmpcodec.cli.decoding.originals import JPEG, format_of_job, keeps_jpeg
from mmpcodec.cli.decoding.pages import (
    Decoding,
    Several,
    book_of,
    bytes_of_samples,
    is_lossless,
    several_of,
)
from mmpcodec.cli.decoding.results import Decoded
from mmpcodec.cli.decoding.scaled import scaled
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FormatError, ParameterError, PictureError
from mmpcodec.pictures.book_files.formats import FORMATS as BOOK_FORMATS
from mmpcodec.pictures.book_files.formats import only_books
from mmpcodec.runtime.files import STANDARD, LazyBytes
from mmpcodec.runtime.stores import absolute

if TYPE_CHECKING:
    from mmpcodec.format.collection import PictureEntry
    from mmpcodec.pictures.side.origin import Origin

_END = 1 << 16


@dataclass(frozen=True)
class DecodeWork:
    """Decodes mmp files; goes to the workers of a cluster as it is.

    Parameters
    ----------
    format : str
        Extension of the output.
    quality, png_level : int or None
    pages : str or None
        Value of --pages.
    how : Decoding
    tiles : DecodeByTiles
        Decodes single pictures block by block, where this is needed.
    noted : collection of str
        Absolute names of the inputs whose damaged index is noted already, once for all their pages.
    original : bool
        Whether the names of outputs tell their formats, and JPEG files that are kept are written.
    """

    format: str
    quality: int | None
    png_level: int | None
    pages: str | None
    how: Decoding
    tiles: by_tiles.DecodeByTiles
    noted: Collection[str] = ()
    original: bool = False

    def __call__(self, job: Job, progress: JobProgress) -> Decoded | Copied:
        """Decode an input and write its output, or copy it."""
        assert job.target is not None
        if job.copied:
            return copied(job, job.target, job.copied)
        if not self.original:
            return self.decoded(job, progress)
        how = self.how
        if job.source == STANDARD:
            raise ParameterError("--original: needs a file; --format jpg gives a kept JPEG file")
        with (
            naming_allow_partial(how.allow_partial),
            output.read_by_parts(job.source, how.limits.max_memory) as data,
        ):
            format = format_of_job(job, data, how.limits)
        return replace(self, format=format).decoded(job, progress)

    def decoded(self, job: Job, progress: JobProgress) -> Decoded:
        """Decode an input and write its output."""
        how = self.how
        with (
            naming_allow_partial(how.allow_partial),
            output.read_by_parts(job.source, how.limits.max_memory) as data,
        ):
            chosen = self.pages if job.page is None else str(job.page)
            options: Any = {"limits": how.limits, "allow_partial": how.allow_partial}
            name = output.shown(job.source, "stdin")
            entry = None
            several = several_of(data, name, chosen, **options)
            of_index = [] if several is None else several.faults
            if several is not None and isinstance(several.source, LazyBytes):
                data = several.source  # which knows the index
            if several is None:
                job = job._replace(page=None)
                if self.format in self._in_one and not self._is_zarr:
                    several = several_of(data, name, or_one=True, **options)
            elif len(several.contents.pictures) == 1 and (
                self._is_zarr or self.format not in self._in_one
            ):
                job, several = job._replace(page=None), None
            elif len(several.numbers) == 1 and (self._is_zarr or self.format not in self._in_one):
                # A picture that is alone is no page of a book, whatever holds it.
                entry = several.entries[0]
                job, several = job._replace(page=several.numbers[0]), None
            if several is not None:
                return self._several(job, progress, data, several)
            noted = absolute(job.source) in self.noted
            file_name = job._replace(page=None).name
            untold = [] if noted else remarks_on_index(file_name, of_index)
            for line in untold:
                progress.note(line)
            if how.factor == 1 and self.tiles.applies(job):
                found = decoded_by_tiles(self.tiles, job, progress)
            else:
                found = self._one(job, progress, data, entry, of_index)
            return found._replace(header_faults=found.header_faults + len(untold))

    @property
    def _in_one(self) -> tuple[str, ...]:
        """Formats that hold a single picture in the way that they hold several."""
        return only_books()

    @property
    def _is_zarr(self) -> bool:
        return self.format == by_tiles.ZARR

    def _one(
        self,
        job: Job,
        progress: JobProgress,
        data: bytes | LazyBytes,
        entry: "PictureEntry | None",
        of_index: Sequence[FormatError],
    ) -> Decoded:
        """Decode one picture to a file of one.

        ``entry`` is what a collection says of it; ``of_index`` is the damage of its index.
        """
        import mmpcodec
        from mmpcodec import backends, pictures
        from mmpcodec.pictures.left_out import gathered
        from mmpcodec.pictures.limits import say
        from mmpcodec.pictures.side.facts import stripped

        assert job.target is not None
        started, how = time.perf_counter(), self.how
        if self._wants_jpeg and self.format == JPEG and keeps_jpeg(data, job.page, how.limits):
            return self._jpeg(job, data, entry)
        options: Any = {"backend": how.backend, "threads": how.threads, "progress": progress}
        options |= {"region": how.area, "allow_partial": how.allow_partial, "limits": how.limits}
        level, bad, faults, lossless = None, 0, 0, False
        if how.factor > 1:
            given = how.factor, how.area, how.limits, how.strip, progress
            run: Any = {"backend": how.backend, "threads": how.threads}
            run["allow_partial"] = how.allow_partial
            note = partial(_note, job, progress)
            one = scaled(data, job.page, *given, note=note, **run)
            one = one._replace(faults=tuple(faults_beside(one.faults, of_index)))
            picture, level = one.picture, one.level
            bad, faults = len(one.bad_tiles), len(one.faults) + len(one.passed_over)
            for line in one.damage:
                note(line)
        else:
            with gathered() as said:
                found = mmpcodec.inspect(data, decode=True, page=job.page, **options)
            for text, keys in said:
                say(job.name, text, keys)
            own = faults_beside(found.faults, of_index)
            bad, faults = len(found.bad_tiles), len(own)
            lossless = is_lossless(found)
            for line in damage(found.header, found.bad_tiles, own):
                progress.note(f"{job.name}: {line}")
            metadata = stripped(found.header.metadata, *how.strip)
            assert found.samples is not None
            picture = pictures.Picture(found.samples, found.header.depth, metadata)
        progress.say(f"writing {self.format}")
        writing: Any = {"quality": self.quality, "png_level": self.png_level}
        writing["origin"] = origin_of(data, job.page, entry, lossless=lossless)
        coded = pictures.to_bytes(
            picture, self.format, progress=progress, threads=how.threads, **writing
        )
        output.write(job.target, coded, force=job.overwrite)
        if gone := ", ".join(pictures.lost(picture, self.format)):
            progress.note(f"{job.name}: {self.format} cannot hold all of: {gone}")
        return Decoded(
            input=job.source,
            output=job.target,
            width=picture.samples.shape[1],
            height=picture.samples.shape[0],
            form=picture.kind,
            depth=picture.depth,
            bad_tiles=bad,
            header_faults=faults,
            input_bytes=len(data) if entry is None else entry.size,
            output_bytes=len(coded),
            format=self.format,
            seconds=time.perf_counter() - started,
            backend=backends.get(how.backend, decodes=True).name,
            page=job.page,
            factor=None if how.factor == 1 else how.factor,
            level=level,
        )

    @property
    def _wants_jpeg(self) -> bool:
        """Whether a JPEG file that is kept is the output itself."""
        how = self.how
        changed = how.area is not None or how.factor > 1 or how.strip or self.quality is not None
        return self.original or (self.format == JPEG and not changed)

    def _jpeg(self, job: Job, data: bytes | LazyBytes, entry: "PictureEntry | None") -> Decoded:
        """Write the JPEG file that a picture keeps."""
        import mmpcodec
        from mmpcodec import backends

        assert job.target is not None
        started, how = time.perf_counter(), self.how
        options: Any = {"page": job.page, "limits": how.limits}
        header = mmpcodec.inspect(data, **options).header
        options |= {"backend": how.backend, "threads": how.threads}
        found = mmpcodec.kept_file(data, **options)
        output.write(job.target, found, force=job.overwrite)
        return Decoded(
            input=job.source,
            output=job.target,
            width=header.width,
            height=header.height,
            form=header.form.title,
            depth=header.depth,
            bad_tiles=0,
            header_faults=0,
            input_bytes=len(data) if entry is None else entry.size,
            output_bytes=len(found),
            format=JPEG,
            seconds=time.perf_counter() - started,
            backend=backends.get(how.backend, decodes=True).name,
            page=job.page,
            kept=True,
        )

    def _several(
        self, job: Job, progress: JobProgress, data: bytes | LazyBytes, several: Several
    ) -> Decoded:
        """Decode the pictures of a book to one file."""
        from mmpcodec import backends
        from mmpcodec.pictures.book_files.writing import Options, check_held, write_book
        from mmpcodec.pictures.side.origin import Origin

        assert job.target is not None
        started = time.perf_counter()
        book, facts = book_of(several, job.name, self.how, progress)
        check_held(self.format, book)
        coded = sum(entry.size for entry in several.entries)
        origin = Origin(coded, lambda: all(facts.lossless))
        options = Options(self.quality, self.png_level, self.how.threads, origin)
        size = sum(map(bytes_of_samples, several.entries))
        place: Any = output.opened
        if BOOK_FORMATS[self.format].folder:
            place = output.placed
        try:
            with place(job.target, force=job.overwrite) as target:
                written: Any = Counted(target) if job.target == STANDARD else target
                lost = write_book(book, written, self.format, options, size)
                if all("error" in row for row in facts.rows):
                    raise PictureError(f"{job.name}: {facts.rows[0]['error']}")
        finally:
            for line in remarks_on_index(job.name, several.faults):
                progress.note(line)
            for lines in facts.notes:
                for line in lines:
                    progress.note(line)
        if lost:
            gone = ", ".join(_lost_text(kind, at, facts.rows) for kind, at in lost.items())
            progress.note(f"{job.name}: {self.format} cannot hold all of: {gone}")
        first = facts.rows[0]
        width, height = first["width"], first["height"]
        if self.how.area is not None and self.how.factor == 1:
            width, height = self.how.area[2:]
        return Decoded(
            input=job.source,
            output=job.target,
            width=width,
            height=height,
            form=first["form"],
            depth=first["depth"],
            bad_tiles=sum(row["bad_tiles"] for row in facts.rows),
            header_faults=sum(row["header_faults"] for row in facts.rows) + len(several.faults),
            input_bytes=len(data),
            output_bytes=written.size
            if isinstance(written, Counted)
            else output.size_of(job.target),
            format=self.format,
            seconds=time.perf_counter() - started,
            backend=backends.get(self.how.backend, decodes=True).name,
            page=job.page,
            factor=None if self.how.factor == 1 else self.how.factor,
            level=first.get("level"),
            pages=facts.rows,
        )

    def on(self, tiles: by_tiles.DecodeByTiles) -> "DecodeWork":
        """Return the work with another way to decode block by block."""
        return replace(self, tiles=tiles)


def origin_of(
    data: bytes | LazyBytes, page: int | None, entry: "PictureEntry | None", *, lossless: bool
) -> "Origin":
    """Return what a file of a picture may say of the mmp file.

    Parameters
    ----------
    data : bytes or LazyBytes
        The file. Its ends make the UIDs of a series, as the index is in them.
    page : int or None
        Number of the picture in a collection, from 1.
    entry : PictureEntry or None
        What the collection says of the picture.
    lossless : bool
    """
    from mmpcodec.pictures.side.origin import Origin

    if entry is None or page is None:
        return Origin(len(data), lossless)
    ends = bytes(data[:_END]) + bytes(data[max(0, len(data) - _END) :])
    series = hashlib.sha256(ends).hexdigest()
    return Origin(entry.size, lossless, series, page - 1, entry.role, entry.facts)


def _note(job: Job, progress: JobProgress, text: str) -> None:
    progress.note(f"{job.name}: {text}")


class Counted:
    """A stream that is only written to, and the number of bytes that were.

    Parameters
    ----------
    stream : binary stream
    """

    def __init__(self, stream: BinaryIO):
        self._stream, self.size = stream, 0

    def write(self, data: bytes) -> int:
        """Write bytes."""
        self.size += len(data)
        return self._stream.write(data)


def _lost_text(kind: str, places: list[int], rows: list[dict[str, Any]]) -> str:
    """Return what is lost, and of which pages if not of all: "colours (pages 3-5)"."""
    from mmpcodec.cli.inputs.pages import text_of

    if len(places) == len(rows):
        return kind
    numbers = text_of(sorted(rows[place]["page"] for place in places))
    return f"{kind} ({rows[places[0]]['role']}{'s' if len(places) > 1 else ''} {numbers})"


def decoded_by_tiles(tiles: by_tiles.DecodeByTiles, job: Job, progress: JobProgress) -> Decoded:
    """Decode a file block by block; see ``by_tiles.DecodeByTiles``."""
    from mmpcodec import backends

    assert job.target is not None
    started = time.perf_counter()
    found = tiles(job, progress)
    return Decoded(
        input=job.source,
        output=job.target,
        width=found.area.width,
        height=found.area.height,
        form=found.header.form.title,
        depth=found.header.depth,
        bad_tiles=len(found.bad_tiles),
        header_faults=len(found.faults),
        input_bytes=found.input_bytes,
        output_bytes=output.size_of(job.target),
        format=tiles.format,
        seconds=time.perf_counter() - started,
        backend=backends.get(tiles.backend, decodes=True).name,
        page=job.page,
    )
