"""Find the pictures of a collection: by its index, or record by record where that is damaged."""

from collections.abc import Sequence
from dataclasses import replace

from mmpcodec.checks import check_int
from mmpcodec.errors import CorruptStream, FormatError, LimitExceeded, NoSuchPage
from mmpcodec.format import chunks, collection, container
from mmpcodec.format.collection import Contents, Extent, PictureEntry, RecordHead, RecordKind, Role
from mmpcodec.format.numbers import Fields, number
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.header import FIRST_READ, read_header
from mmpcodec.runtime.files import LazyBytes, Source

MOST_PICTURES = DecodeLimits().max_pictures
"""Most pictures of a collection, where no other limit is given."""
_LAST_READ = 1 << 16
"""Bytes that are read of the end at first; the index of a thousand pages fits."""


class Window(LazyBytes):
    """Some bytes of a source, read when they are asked for.

    Parameters
    ----------
    source : Source
    part : Extent
        Its place and number of bytes.
    """

    def __init__(self, source: Source, part: Extent):
        self._source, self._part = source, part

    def __len__(self) -> int:
        return self._part.size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self._part.size)
        place = self._part.place
        return self._source[place + start : place + max(start, stop)]


class Begun(LazyBytes):
    """Bytes whose beginning is read once, however often it is asked for.

    Parameters
    ----------
    source : LazyBytes
    """

    def __init__(self, source: LazyBytes):
        self._source, self._first = source, source[:FIRST_READ]

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, part: slice) -> memoryview:
        stop = len(self._source) if part.stop is None else part.stop
        if part.start is None and 0 <= stop <= len(self._first):
            return self._first[:stop]
        return self._source[part]


class PictureBytes(Window):
    """The file of a picture of a collection.

    Parameters
    ----------
    source : Source
        The collection.
    contents : Contents
    entry : PictureEntry
    """

    def __init__(self, source: Source, contents: Contents, entry: PictureEntry):
        super().__init__(source, Extent(entry.place, entry.size))
        self._collection = source
        self._contents, self._entry = contents, entry

    @property
    def levels(self) -> "list[tuple[PictureEntry, PictureBytes]]":
        """The smaller renditions of the picture that are levels, in the order of the file."""
        number = self._contents.entries.index(self._entry)
        found = [self._contents.entries[each] for each in self._contents.numbers_of(number)]
        return [
            (entry, PictureBytes(self._collection, self._contents, entry))
            for entry in found
            if entry.role == Role.LEVEL
        ]

    def completed(self, header: container.Header) -> container.Header:
        """Return the header of the picture with the metadata that it shares.

        Raises
        ------
        TruncatedStream, CorruptStream
            If these metadata are damaged, or the header differs from what the collection says.
        """
        check_header(self._entry, header)
        shared = [self._contents.metadata[number] for number in self._entry.shared]
        metadata = metadata_of(self._source, shared, header.metadata, header.depth)
        return replace(header, metadata=metadata)


def completed(source: Source, header: container.Header) -> container.Header:
    """Return the header of a picture with the metadata that it shares, if there are any.

    Raises
    ------
    TruncatedStream, CorruptStream
        See ``PictureBytes.completed``.
    """
    return source.completed(header) if isinstance(source, PictureBytes) else header


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
    """
    try:
        return _by_index(source, most)
    except LimitExceeded:
        raise
    except FormatError as error:
        if faults is None:
            raise
        faults.append(error)
    return scanned(source, most, faults)


def _by_index(source: Source, most: int) -> Contents:
    total = len(source)
    end = source[max(0, total - _LAST_READ) :]
    size = collection.index_bytes(end, total)
    index = end[-size:] if size <= len(end) else source[total - size :]
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


def scanned(source: Source, most: int, faults: list[FormatError]) -> Contents:
    """Find the pictures of a collection by its records, up to one that is damaged.

    Parameters
    ----------
    source, most
        See ``read_contents``.
    faults : list of FormatError
        Gets the damage at which the search ends.
    """
    contents = Contents()
    place, total = len(collection.HEAD), len(source)
    while place < total:
        try:
            record = collection.read_record(
                source[place : place + collection.MOST_HEAD], place, total
            )
            _take(contents, record)
        except FormatError as error:
            faults.append(error)
            break
        collection.check_count(len(contents.entries), most)
        place = record.body.place + record.body.size
    return contents


def _take(contents: Contents, record: RecordHead) -> None:
    """Add what a record holds."""
    if record.kind == RecordKind.METADATA:
        contents.metadata.append(record.body)
    elif record.kind == RecordKind.PICTURE:
        fields = Fields(record.fields, collection.SECTION, record.fields_place)
        entry = collection.read_entry(fields, contents)
        if fields.place < len(fields.data):
            text = f"{len(fields.data) - fields.place} bytes follow the fields of a picture"
            raise CorruptStream(collection.SECTION, text, fields.offset)
        contents.entries.append(replace(entry, place=record.body.place, size=record.body.size))


def picture_of(source: Source, page: int | None, most: int) -> Source:
    """Return the bytes of the file of one picture.

    Parameters
    ----------
    source : Source
        A file of one picture, or a collection.
    page : int or None
        Number of the picture, from 1; None takes the only one.
    most : int
        See ``read_contents``.

    Raises
    ------
    NoSuchPage
        If there is no such picture, or there are several and no page is given.
    FormatError
        If the file is damaged, or beyond the limit.
    """
    page = None if page is None else check_int("page", page)
    if isinstance(source, LazyBytes) and not isinstance(source, PictureBytes):
        source = Begun(source)
    contents = read_contents(source, most) if is_collection(source) else None
    pictures = [] if contents is None else contents.pictures
    count = 1 if contents is None else len(pictures)
    if count == 0:
        raise NoSuchPage("the file holds no pictures")
    if page is None and count > 1:
        raise NoSuchPage(f"the file holds {count} pictures; page=N reads one, 1 to {count}")
    if page is not None and not 1 <= page <= count:
        raise NoSuchPage(f"page = {page}: must be 1 to {count}, the pictures of the file")
    if contents is None:
        return source
    return PictureBytes(source, contents, pictures[(page or 1) - 1])


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


def metadata_of(source: Source, shared: Sequence[Extent], own: Metadata, depth: int) -> Metadata:
    """Return the metadata of a picture.

    Parameters
    ----------
    source : Source
        The collection.
    shared : sequence of Extent
        The metadata records that the picture names.
    own : Metadata
        Those in its file.
    depth : int
        Bits of a sample.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    count, parts = 0, []
    for body, place in (
        (memoryview(chunks.write(own)), 0),
        *(
            (collection.read_metadata(Window(source, part)[:], part.place), part.place)
            for part in shared
        ),
    ):
        fields = Fields(body, chunks.SECTION, place)
        chunks.read(fields, depth)
        if fields.place < len(body):
            text = f"{len(body) - fields.place} bytes follow the last chunk"
            raise CorruptStream(chunks.SECTION, text, fields.offset)
        first = Fields(body, chunks.SECTION, place)
        count += first.number("chunks", 0, chunks.MAX_CHUNKS)
        parts.append(bytes(body[first.place :]))
    joined = memoryview(number(count) + b"".join(parts))
    return chunks.read(Fields(joined, chunks.SECTION), depth)
