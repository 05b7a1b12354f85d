"""Find the pictures of a collection: by its index, or record by record where that is damaged."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mmpcodec.checks import check_page
from mmpcodec.errors import BadMagic, CorruptStream, FormatError, LimitExceeded, NoSuchPage
from mmpcodec.format import chunks, collection, container
from mmpcodec.format.collection import Contents, Extent, PictureEntry, Role
from mmpcodec.format.numbers import Fields
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.header import FIRST_READ, read_header
from mmpcodec.opening.records import end_of_old_index, number_in_place, scanned
from mmpcodec.opening.windows import Begun, Window, ahead_of
from mmpcodec.runtime.files import Source

MOST_PICTURES = DecodeLimits().max_pictures
"""Most pictures of a collection, where no other limit is given."""
MEMORY_OF_METADATA = 3
"""Bytes of memory for each byte of a metadata record: as it is read, checked and kept."""
_LAST_READ = 1 << 16
"""Bytes that are read of the end at first; the index of a thousand pages fits."""


class ContinuedFile(NamedTuple):
    """The file of a picture that another one continues.

    Parameters
    ----------
    number : int
        Of its entry, from 0.
    entry : PictureEntry
    data : Source
    """

    number: int
    entry: PictureEntry
    data: Source


class PictureBytes(Window):
    """The file of a picture of a collection.

    Parameters
    ----------
    source : Source
        The collection.
    contents : Contents
    entry : PictureEntry
    most : int or None
        Most bytes of memory that the metadata records of the picture may take; None for no limit.
    name : str or None
        Name of the picture for messages; None finds it in the contents.
    """

    def __init__(
        self,
        source: Source,
        contents: Contents,
        entry: PictureEntry,
        most: int | None = None,
        name: str | None = None,
    ):
        super().__init__(source, Extent(entry.place, entry.size))
        self._contents, self._entry, self._most, self._name = contents, entry, most, name
        self._first = memoryview(b"")

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(len(self))
        ahead = ahead_of(self._source)
        if ahead and start == 0 and len(self._first) < stop:
            self._first = super().__getitem__(slice(0, max(stop, min(ahead, len(self)))))
        if stop <= len(self._first):
            return self._first[start : max(start, stop)]
        return super().__getitem__(part)

    @property
    def name(self) -> str:
        """Name of the picture for messages: "page 3"."""
        return self._name or self._contents.name_of(self._entry)

    @property
    def levels(self) -> "list[tuple[PictureEntry, PictureBytes]]":
        """The smaller renditions of the picture that are levels, in the order of the file."""
        number = self._contents.entries.index(self._entry)
        found = [self._contents.entries[each] for each in self._contents.numbers_of(number)]
        return [
            (entry, PictureBytes(self._source, self._contents, entry, self._most))
            for entry in found
            if entry.role == Role.LEVEL
        ]

    @property
    def number(self) -> int:
        """Number of the entry, from 0."""
        return self._contents.entries.index(self._entry)

    @property
    def continues(self) -> bool:
        """Whether the picture continues others."""
        return self._entry.continues is not None

    @property
    def continued_page(self) -> int | None:
        """Number of the page, from 1, that the picture continues; None if it decodes alone."""
        if self._entry.continues is None:
            return None
        return 1 + self._contents.numbers_of(None).index(self._entry.continues)

    @property
    def kept(self) -> dict[int, Any]:
        """What decoders of the file keep from one picture for the next one."""
        return self._contents.kept

    @property
    def continued(self) -> list[int]:
        """Numbers of the entries that the picture continues, the first one first."""
        return self._contents.chain_of(self._entry)

    @property
    def chain_size(self) -> tuple[int, int]:
        """Width of the widest picture of the whole chain, and rows of all."""
        first, entries = self.continued[0], self._contents.entries
        firsts: list[int] = []
        for number, entry in enumerate(entries):
            firsts.append(number if entry.continues is None else firsts[entry.continues])
        own = [entries[number] for number, root in enumerate(firsts) if root == first]
        return max(entry.width for entry in own), sum(entry.height for entry in own)

    @property
    def is_last(self) -> bool:
        """Whether no picture continues this one."""
        number = self.number
        return all(entry.continues != number for entry in self._contents.entries)

    def name_of(self, number: int) -> str:
        """Return the name of an entry for messages."""
        return self._contents.name_of(self._contents.entries[number])

    def place_of(self, number: int) -> int:
        """Return the byte offset of an entry in the collection."""
        return self._contents.entries[number].place

    def files_of(self, numbers: Sequence[int]) -> list[ContinuedFile]:
        """Return the files of entries, whose numbers rise.

        Where each request takes long, files that lie close together are read at once.
        """
        source, own = self._source, [self._contents.entries[number] for number in numbers]
        near = ahead_of(source)
        found: list[ContinuedFile] = []
        read, start = memoryview(b""), 0
        for number, entry in zip(numbers, own, strict=True):
            if not near:
                file = Window(source, Extent(entry.place, entry.size))
                found.append(ContinuedFile(number, entry, file))
                continue
            if entry.place + entry.size > start + len(read):
                end = entry.place + entry.size
                for other in own[len(found) + 1 :]:
                    if other.place > end + near:
                        break
                    end = other.place + other.size
                read, start = source[entry.place : end], entry.place
            at = entry.place - start
            found.append(ContinuedFile(number, entry, read[at : at + entry.size]))
        return found

    def fetch(self) -> None:
        """Read all bytes now, if the file is one for which each request takes long."""
        if ahead_of(self._source):
            self[:]

    def within(self, error: FormatError) -> FormatError:
        """Return an error of the file of the picture as one of the collection."""
        if isinstance(error, BadMagic):  # the file is an mmp file, and damaged
            error = CorruptStream(error.section, error.problem, error.offset)
        return error.within(self.name, self._entry.place)

    def completed(
        self, header: container.Header, faults: list[FormatError] | None = None
    ) -> container.Header:
        """Return the header of the picture with the metadata that it shares.

        Parameters
        ----------
        header : Header
        faults : list of FormatError or None
            Gets the damage of what is left out. None raises it.

        Raises
        ------
        TruncatedStream, CorruptStream
            If these metadata are damaged, or the header differs from what the collection says.
            Offsets count from the beginning of the picture, as those of other errors.
        LimitExceeded
            If the records can take more memory than they may.
        """
        shared = [self._contents.metadata[number] for number in self._entry.shared]
        check_memory_of_metadata(shared, self._most)
        metadata = header.metadata
        with self._raised_or(faults):
            check_header(self._entry, header)
        for part in shared:
            with self._raised_or(faults):
                found = read_metadata(self._source, part, header.depth)
                metadata = chunks.joined(metadata, found, part.place)
        return replace(header, metadata=metadata)

    @contextlib.contextmanager
    def _raised_or(self, faults: list[FormatError] | None) -> Iterator[None]:
        """Count offsets from the beginning of the picture; collect errors, or raise them."""
        try:
            yield
        except FormatError as error:
            offset = None if error.offset is None else error.offset - self.part.place
            own = type(error)(error.section, error.problem, offset)
            if faults is None:
                raise own from None
            faults.append(own)


def completed(
    source: Source, header: container.Header, faults: list[FormatError] | None = None
) -> container.Header:
    """Return the header of a picture with the metadata that it shares, if there are any.

    Raises
    ------
    TruncatedStream, CorruptStream, LimitExceeded
        See ``PictureBytes.completed``.
    """
    return source.completed(header, faults) if isinstance(source, PictureBytes) else header


@contextlib.contextmanager
def errors_named(source: Source) -> Iterator[None]:
    """Name the page, and the place in the file, in the errors of a picture of a collection."""
    try:
        yield
    except FormatError as error:
        if not isinstance(source, PictureBytes):
            raise
        raise source.within(error) from error


def is_collection(source: Source) -> bool:
    """Return whether a file holds several pictures, or may hold them."""
    return bytes(source[: len(collection.HEAD)]) == collection.HEAD


def read_contents(
    source: Source, most: int = MOST_PICTURES, faults: list[FormatError] | None = None
) -> Contents:
    """Find the pictures of a collection.

    Parameters
    ----------
    source : Source
        A collection.
    most : int
        Most pictures that are accepted.
    faults : list of FormatError or None
        Gets the damage of the index; the records then tell where the pictures are. None raises it.

    Raises
    ------
    TruncatedStream, CorruptStream, LimitExceeded
        If there is no valid index at the end, nor an earlier one behind which a writer was stopped.
    """
    if isinstance(source, Begun) and faults is None:
        return source.known(lambda: _read_contents(source, most))
    return _read_contents(source, most, faults)


def _read_contents(source: Source, most: int, faults: list[FormatError] | None = None) -> Contents:
    try:
        found = _by_index(source, len(source), most)
        return found if faults is None else _in_place(source, found, most, faults)
    except LimitExceeded:
        raise
    except FormatError as error:
        if faults is not None:
            faults.append(error)
            return scanned(source, most, faults)
        # Where each request takes long, the records are not read one after the other.
        end = None if ahead_of(source) else end_of_old_index(source)
        if end is None:
            raise
        return replace(_by_index(source, end, most), unfinished=len(source) - end)


def _in_place(source: Source, found: Contents, most: int, faults: list[FormatError]) -> Contents:
    """Return what an index says, or the records if more pictures are found by them.

    Bytes that were put into a file have moved what is behind them.
    """
    begin = number_in_place(source, found)
    if ahead_of(source) or begin == len(found.entries):
        return found
    own: list[FormatError] = []
    other = scanned(source, most, own)
    if number_in_place(source, other) <= begin:
        return found
    text = f"{len(found.entries) - begin} pictures are not where the index says"
    faults += [CorruptStream(collection.SECTION, text), *own]
    return replace(other, loops=found.loops)


def _by_index(source: Source, total: int, most: int) -> Contents:
    """Read the index that ends at byte ``total``."""
    end = source[max(0, total - _LAST_READ) : total]
    size = collection.index_bytes(end, total)
    collection.check_index_bytes(size, most)
    index = end[-size:] if size <= len(end) else source[total - size : total]
    return collection.read_index(index, total, most)


def contents_of(source: Source, most: int = MOST_PICTURES) -> Contents:
    """Find the pictures of a file: of a collection, or the only one.

    Raises
    ------
    FormatError
        See ``read_contents``.
    """
    if is_collection(source):
        return read_contents(source, most)
    header = read_header(source)
    form = header.width, header.height, header.form, header.depth
    return Contents([PictureEntry(Role.PAGE, (), *form, size=len(source))])


def picture_of(
    source: Source,
    page: int | None,
    limits: DecodeLimits,
    faults: list[FormatError] | None = None,
) -> Source:
    """Return the bytes of the file of one picture.

    Parameters
    ----------
    source : Source
        A file of one picture, or a collection.
    page : int or None
        Number of the picture, from 1; None takes the only one.
    limits : DecodeLimits
    faults : list of FormatError or None
        See ``read_contents``.

    Raises
    ------
    NoSuchPage
        If there is no such picture, or there are several and no page is given.
    FormatError
        If the file is damaged, or beyond the limits.
    """
    source = source if isinstance(source, PictureBytes) else Begun.of(source)
    if not is_collection(source):
        check_page(page, 1)
        return source
    contents = read_contents(source, limits.max_pictures, faults)
    pictures = contents.pictures
    try:
        entry = pictures[check_page(page, len(pictures))]
    except NoSuchPage as error:
        if not faults:
            raise
        raise NoSuchPage(f"{error}; of a damaged one: {faults[0]}") from None
    return PictureBytes(source, contents, entry, limits.max_memory)


def check_header(entry: PictureEntry, header: container.Header) -> None:
    """Compare the size and form of a picture with those that the collection gives.

    Raises
    ------
    CorruptStream
        If they differ.
    """
    found = (header.width, header.height, header.form, header.depth)
    if found != (entry.width, entry.height, entry.form, entry.depth):
        text = (
            f"the index has {entry.width}x{entry.height} pixels of {entry.form.title} of "
            f"{entry.depth} bits, the picture {header.width}x{header.height} of "
            f"{header.form.title} of {header.depth} bits"
        )
        raise CorruptStream(collection.SECTION, text, entry.place)


def check_memory_of_metadata(shared: Sequence[Extent], most: int | None) -> None:
    """Compare the memory that metadata records can take with a limit in bytes, if there is one.

    Raises
    ------
    LimitExceeded
    """
    needed = MEMORY_OF_METADATA * sum(part.size for part in shared)
    if fault := DecodeLimits(max_memory=most).fault("max_memory", needed, "bytes of memory"):
        raise LimitExceeded(collection.SECTION, f"shared metadata can take {fault}")


def read_metadata(source: Source, part: Extent, depth: int) -> Metadata:
    """Return the metadata of a record of a collection.

    Parameters
    ----------
    source : Source
        The collection.
    part : Extent
        The body of the record.
    depth : int
        Bits of a sample.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    end = part.place + part.size
    # The beginning of a file may be known already; see Begun.
    body = source[:end][part.place :] if end <= FIRST_READ else source[part.place : end]
    fields = Fields(collection.read_metadata(body, part.place), chunks.SECTION, part.place)
    metadata = chunks.read(fields, depth)
    if fields.place < len(fields.data):
        text = f"{len(fields.data) - fields.place} bytes follow the last chunk"
        raise CorruptStream(chunks.SECTION, text, fields.offset)
    return metadata
