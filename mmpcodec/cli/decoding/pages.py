"""The pictures of an mmp file of several, for ``mmp decode``: which, and as one job or as many."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.decoding.damage import damage, faults_beside, remarks_on_index
from mmpcodec.cli.decoding.scaled import scaled
from mmpcodec.cli.inputs.pages import numbers_of
from mmpcodec.cli.jobs import Job
from mmpcodec.errors import FormatError, LimitExceeded, ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime.files import STANDARD, FileBytes, LazyBytes, Source
from mmpcodec.runtime.progress import Progress, report_progress

if TYPE_CHECKING:
    from mmpcodec import Inspection
    from mmpcodec.format.collection import Contents, PictureEntry
    from mmpcodec.pictures.books.book import Book

MOST_BYTES_AT_ONCE = 1 << 27
"""Bytes of the samples of pages that are decoded at a time, if a page is not larger."""


class Decoding(NamedTuple):
    """Options that decide about the samples.

    Parameters
    ----------
    area : tuple of int or None
        The region of each picture.
    limits : DecodeLimits
    allow_partial : bool
    strip : sequence of str
        Kinds of metadata to leave out.
    backend : str
    threads : int or None
    factor : int
        By which each picture becomes smaller.
    """

    area: tuple[int, ...] | None = None
    limits: DecodeLimits = DecodeLimits()
    allow_partial: bool = False
    strip: Sequence[str] = ()
    backend: str = "auto"
    threads: int | None = None
    factor: int = 1


class Several(NamedTuple):
    """The pictures of a file of several that a command is about.

    Parameters
    ----------
    source : Source
        The file.
    contents : Contents
    numbers : list of int
        The chosen pictures, from 1.
    faults : list of FormatError
        Damage of the index that was passed over.
    """

    source: Source
    contents: "Contents"
    numbers: list[int]
    faults: list[FormatError]

    @property
    def entries(self) -> "list[PictureEntry]":
        """What the index says of each chosen picture."""
        pictures = self.contents.pictures
        return [pictures[number - 1] for number in self.numbers]


def several_of(
    data: bytes | LazyBytes,
    name: str,
    pages: str | None = None,
    *,
    limits: DecodeLimits,
    allow_partial: bool = False,
    or_one: bool = False,
) -> Several | None:
    """Return the pictures of a file, if it can hold several; None for a file of one.

    Parameters
    ----------
    data : bytes or LazyBytes
    name : str
        Name of the file, for messages.
    pages : str or None
        Value of --pages; None takes all.
    limits : DecodeLimits
    allow_partial : bool
        Whether a damaged index is passed over.
    or_one : bool
        Whether a file of one counts as one of several.

    Raises
    ------
    FormatError
        If the index is damaged.
    PictureError
        If the file holds no picture, or lacks one of the pages.
    """
    from mmpcodec.opening.contents import contents_of, is_collection, read_contents
    from mmpcodec.opening.windows import Begun

    source = memoryview(data) if isinstance(data, bytes) else Begun(data)
    faults: list[FormatError] = []
    if is_collection(source):
        if allow_partial:
            contents = read_contents(source, limits.max_pictures, faults)
        else:
            contents = _known_contents(data, name, source, limits.max_pictures)
        if contents.unfinished:
            from mmpcodec.pictures.mmp.file import say_unfinished

            say_unfinished(name, contents)
    elif or_one:
        contents = contents_of(source)
    else:
        _numbers(pages, 1, name)
        return None
    count = len(contents.pictures)
    if not count:
        raise PictureError(f"{name}: holds no pictures" + "".join(f"; {one}" for one in faults[:1]))
    return Several(source, contents, _numbers(pages, count, name), faults)


class _Looked(NamedTuple):
    """What a file of this name, state and limit of the number of pictures held."""

    key: tuple[str, str, int]
    contents: "Contents"


_looked: list[_Looked] = []
"""The file that was looked at last; empty before the first one."""


def _known_contents(data: bytes | LazyBytes, name: str, source: Source, most: int) -> "Contents":
    """Return what a collection holds; where each of its pages is a job, the index is read once.

    The index is as long as the file has pages.
    """
    from mmpcodec.opening.contents import read_contents
    from mmpcodec.opening.windows import Begun

    if not isinstance(data, FileBytes) or not isinstance(source, Begun):
        return read_contents(source, most)
    key = name, data.state(), most
    last = next(iter(_looked), None)
    if last is not None and last.key == key:
        contents = last.contents
        return source.known(lambda: contents)
    found = read_contents(source, most)
    _looked[:] = [_Looked(key, found)]
    return found


def _numbers(pages: str | None, count: int, name: str) -> list[int]:
    """Return the numbers that --pages names, of a file of ``count`` pictures.

    Raises
    ------
    PictureError
        If the file has no such picture.
    """
    if pages is None:
        return list(range(1, count + 1))
    return numbers_of(pages, count, name)


def apart(
    jobs: Sequence[Job], pages: str | None, limits: DecodeLimits, allow_partial: bool = False
) -> tuple[list[Job], dict[str, list[str]]]:
    """Make a job for each picture of the inputs that are files of several.

    The name of an output has the number of the page, so wide that names sort: ``book-007``. Files
    that the listing of a folder at a URL has found are not opened, and stay whole; so do damaged
    ones, whose work says what is wrong.

    Returns
    -------
    jobs : list of Job
    remarks : dict of str to list of str
        Of each input of which a damaged index was passed over, what to say of it once.
    """
    from mmpcodec.errors import MmpError

    how: Any = {"limits": limits, "allow_partial": allow_partial}
    found: list[Job] = []
    remarks: dict[str, list[str]] = {}
    for job in jobs:
        several = None
        if job.to_do and job.source != STANDARD and job.stored is None:
            try:
                with output.read_by_parts(job.source, limits.max_memory) as data:
                    several = several_of(data, job.name, pages, **how)
            except MmpError:
                several = None  # decoding raises the error
        if several is None or len(several.contents.pictures) == 1:
            found.append(job)
            continue
        width = max(3, len(str(len(several.contents.pictures))))
        stem, suffix = os.path.splitext(job.below)
        found += [
            job._replace(below=f"{stem}-{number:0{width}d}{suffix}", page=number)
            for number in several.numbers
        ]
        if several.faults:
            remarks[job.source] = remarks_on_index(job.name, several.faults)
    return found, remarks


class PageFacts:
    """What was found of each page, in the order of the book, whatever the order of decoding.

    Parameters
    ----------
    several : Several
    name : str
    """

    def __init__(self, several: Several, name: str):
        self._name = name
        pairs = zip(several.entries, several.numbers, strict=True)
        self.rows = [_row(entry, number) for entry, number in pairs]
        self.lossless: list[bool] = []
        self.notes: list[list[str]] = [[] for _ in self.rows]

    def note(self, place: int, text: str) -> None:
        """Add a remark on a page."""
        row = self.rows[place]
        self.notes[place].append(f"{self._name}: {row['role']} {row['page']}: {text}")


def _row(entry: "PictureEntry", number: int) -> dict[str, Any]:
    from fractions import Fraction

    from mmpcodec.format.collection import Role

    row: dict[str, Any] = {"page": number, "role": entry.role.name.lower()}
    row |= {"width": entry.width, "height": entry.height}
    row |= {"form": entry.form.title, "depth": entry.depth, "bad_tiles": 0, "header_faults": 0}
    if entry.role == Role.FRAME:
        row["duration"] = float(Fraction(*entry.facts))
    elif entry.role == Role.SLICE:
        row["position"] = entry.facts[0] / 1e6
    return row


def book_of(
    several: Several, name: str, how: Decoding, progress: Progress
) -> "tuple[Book, PageFacts]":
    """Return the pictures as a book, and what will be found of them.

    With ``allow_partial``, a page that does not decode is black, of the size that the index says,
    so that the others keep their numbers.
    """
    import numpy as np

    import mmpcodec
    from mmpcodec import backends
    from mmpcodec.codec.tiles.reduction import reduced_side
    from mmpcodec.depth import sample_type
    from mmpcodec.format.collection import FACTS, common_role
    from mmpcodec.format.tiles import check_region
    from mmpcodec.picture import Picture
    from mmpcodec.pictures.books.book import Book
    from mmpcodec.pictures.kept_jpeg import source_of
    from mmpcodec.pictures.left_out import gathered
    from mmpcodec.pictures.side.facts import stripped
    from mmpcodec.runtime.machine import processors

    entries, facts = several.entries, PageFacts(several, name)
    roles = [entry.role for entry in entries]
    role = common_role(roles)
    threads = how.threads or processors()
    at_once = min(threads, len(entries), max(1, MOST_BYTES_AT_ONCE // largest(entries)))
    if how.limits.max_memory is not None or not backends.get(how.backend).releases_gil:
        at_once = 1
    options: Any = {"region": how.area, "allow_partial": how.allow_partial, "limits": how.limits}
    options |= {"backend": how.backend, "threads": max(1, threads // at_once)}
    done: list[int] = []

    def read(place: int) -> Picture:
        entry, row = entries[place], facts.rows[place]
        try:
            page = several.numbers[place]
            if how.factor > 1:
                given = how.factor, how.area, how.limits, how.strip
                run = {name: options[name] for name in ("backend", "threads", "allow_partial")}
                note = partial(facts.note, place)
                one = scaled(several.source, page, *given, note=note, **run)
                one = one._replace(faults=tuple(faults_beside(one.faults, several.faults)))
                for line in one.damage:
                    note(line)
                own, row["level"] = one.picture, one.level
                row |= {"height": own.samples.shape[0], "width": own.samples.shape[1]}
                row["bad_tiles"] = len(one.bad_tiles)
                row["header_faults"] = len(one.faults) + len(one.passed_over)
                facts.lossless.append(False)
                return own
            with gathered() as said:
                found = mmpcodec.inspect(several.source, decode=True, page=page, **options)
            for text, _ in said:
                facts.note(place, text)
        except ParameterError as error:
            raise PictureError(f"{name}: {row['role']} {row['page']}: {error}") from error
        except FormatError as error:
            if not how.allow_partial or isinstance(error, LimitExceeded):
                text = f"{name}: {error.with_hint('--allow-partial')}"  # which names the page
                raise PictureError(text) from error
            row["error"] = str(error)
            facts.note(place, f"is black: {error}")
            return blank(entry)
        finally:
            done.append(place)
            report_progress(progress, len(done), len(entries))
        header = found.header
        bad = faults_beside(found.faults, several.faults)
        row |= {"bad_tiles": len(found.bad_tiles), "header_faults": len(bad)}
        for line in damage(header, found.bad_tiles, bad):
            facts.note(place, line)
        assert found.samples is not None
        facts.lossless.append(is_lossless(found))
        source = None
        if how.area is None and not how.strip and not found.faults:
            source = source_of(several.source, found, page=page, limits=how.limits)
        metadata = stripped(header.metadata, *how.strip)
        return Picture(found.samples, header.depth, metadata, source)

    def blank(entry: "PictureEntry") -> Picture:
        width, height = entry.width, entry.height
        if how.area is not None:
            area = check_region(how.area, height, width)
            width, height = area.width, area.height
        width, height = reduced_side(width, how.factor), reduced_side(height, how.factor)
        shape = (height, width, entry.form.planes)[: 2 + (entry.form.planes > 1)]
        fault = how.limits.fault_of_size(width, height, width * height * entry.form.planes)
        if fault:
            raise PictureError(f"{name}: is {width}x{height}: {fault}")
        return Picture(np.zeros(shape, sample_type(entry.depth)), entry.depth)

    own = [entry.facts for entry in entries] if any(map(FACTS.get, roles)) else []
    book = Book(name, len(entries), read, role, own, several.contents.loops, roles=roles)
    return replace(book, at_once=at_once), facts


def is_lossless(found: "Inspection") -> bool:
    """Return whether all layers of a picture are of codings without loss."""
    return all(layer.tools.without_loss for layer in found.layers)


def largest(entries: "Sequence[PictureEntry]") -> int:
    """Return the bytes of the samples of the largest picture."""
    return max(map(bytes_of_samples, entries))


def bytes_of_samples(entry: "PictureEntry") -> int:
    """Return the bytes that the samples of a picture take without compression."""
    return entry.width * entry.height * entry.form.planes * (1 + (entry.depth > 8))
