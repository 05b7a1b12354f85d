"""Find the pictures of a collection by its records, where there is no valid index at its end."""

import contextlib
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace

from mmpcodec.errors import CorruptStream, FormatError, TruncatedStream
from mmpcodec.format import collection, container
from mmpcodec.format.collection import Contents, Extent, PictureEntry, RecordHead, RecordKind, Role
from mmpcodec.format.numbers import CRC_BYTES, LONGEST, Fields
from mmpcodec.runtime.files import Source

_NUMBER = rb"[\x80-\xff]{0,8}[\0-\x7f]"
_HEADS = re.compile(
    rb"(?=\x01" + _NUMBER + rb"(?:[\x06-\x7f]|[\x80-\xff][\x01-\x10])[\0-\x07]"
    rb"|[\x02\x03]" + _NUMBER + rb"\0)",
    re.DOTALL,
)
"""Where the head of a picture, of metadata or of an index may begin."""
_STEP = 1 << 20
"""Bytes that are searched at once."""
_MOST_TRIED = 1 << 20
"""Most places of a file at which the head of a record is looked for."""
_HEADER_READS = 1 << 12, 1 << 16
"""Bytes of which a header without a record is read."""
_MOST_READ = 1 << 24
"""Most bytes that are read for headers in vain."""
_MOST_BODY = 1 << 26
"""Most bytes of a metadata record whose head is damaged."""
_LEAST_HEAD, _MOST_HEAD = 3 + CRC_BYTES, 2 + LONGEST + CRC_BYTES
"""Bytes of the head of a metadata record."""


def end_of_old_index(source: Source) -> int | None:
    """Return where the last index ends, if only whole records and a part of one follow.

    That is so if a writer was stopped while it appended pictures. Otherwise the answer is None.
    """
    end = None
    place, total = len(collection.HEAD), len(source)
    try:
        while place < total:
            record = collection.read_record(_head_at(source, place), place, total)
            place = record.body.place + record.body.size
            if record.kind == RecordKind.INDEX:
                end = place
    except TruncatedStream:
        pass
    except FormatError:
        return None
    return None if end == total else end


def scanned(source: Source, most: int, faults: list[FormatError]) -> Contents:
    """Find the pictures of a collection by its records.

    After a damaged head the search goes on at the next record whose head has a right CRC. Between
    them, a picture is found by its own header, and metadata by their CRC. A valid index says what
    is before it.

    Parameters
    ----------
    source, most
        See ``read_contents``.
    faults : list of FormatError
        Gets the damage, and what is lost by it.

    Raises
    ------
    LimitExceeded
        If there are more than ``most`` pictures.
    """
    return _Search(source, most, faults).contents


def number_in_place(source: Source, contents: Contents) -> int:
    """Return how many of the pictures begin where contents say."""
    return sum(_is_picture(source, entry.place) for entry in contents.entries)


def _is_picture(source: Source, place: int) -> bool:
    """Return whether the file of a picture begins at a byte."""
    return bytes(source[place : place + len(container.MAGIC)]) == container.MAGIC


def _head_at(source: Source, place: int) -> memoryview:
    return source[place : place + collection.MOST_HEAD]


class _Search:
    """The search for the pictures of a damaged collection; see ``scanned``."""

    def __init__(self, source: Source, most: int, faults: list[FormatError]):
        self._source, self._faults, self._most = source, faults, most
        self._total = len(source)
        self._tried = self._read = 0
        self._known: tuple[int, int] | None = None
        """How many pictures and metadata records have a known number; None for all."""
        self.contents = Contents()
        self._run()

    def _run(self) -> None:
        """Take one record after the other."""
        place = before = len(collection.HEAD)
        while place < self._total:
            try:
                record = collection.read_head(_head_at(self._source, place), place)
            except FormatError as error:
                self._faults.append(error)
                # Bytes that are missing from the body before have moved this head.
                found = self._next_head(before)
                if found < place:
                    self._shorten(found)
                else:
                    self._take_lost(place, found)
                place = before = found
                continue
            body = record.body
            place, before = body.place + body.size, body.place + 1
            if place > self._total:
                text = f"only {self._total - body.place} of {body.size} bytes of a record"
                self._faults.append(TruncatedStream(collection.SECTION, text, self._total))
                place = before = self._next_head(before)
                record = replace(record, body=Extent(body.place, place - body.place))
            self._take(record, place)
            self._check_count()

    def _check_count(self) -> None:
        collection.check_count(len(self.contents.entries), self._most)

    def _take(self, record: RecordHead, end: int) -> None:
        """Add what a record holds, whose body ends at byte ``end``."""
        contents = self.contents
        if record.kind == RecordKind.METADATA:
            contents.metadata.append(record.body)
        elif record.kind == RecordKind.INDEX:
            with contextlib.suppress(FormatError):
                self._take_index(end)
        elif record.kind == RecordKind.PICTURE:
            try:
                contents.entries.append(self._entry(record))
            except FormatError as error:
                self._faults.append(error)
                self._doubt()

    def _take_index(self, end: int) -> None:
        """Let a valid index say what is before it."""
        size = collection.index_bytes(self._source[end - collection.END_BYTES : end], end)
        collection.check_index_bytes(size, self._most)
        found = collection.read_index(self._source[end - size : end], end, self._most)
        in_place = number_in_place(self._source, found)
        if len(found.entries) >= len(self.contents.entries) and in_place >= number_in_place(
            self._source, self.contents
        ):
            self.contents, self._known = found, None

    def _entry(self, record: RecordHead) -> PictureEntry:
        """Read the fields of a picture; names of records that are in doubt are left out."""
        contents = self.contents
        fields = Fields(record.fields, collection.SECTION, record.fields_place)
        if self._known is None:
            entry = collection.read_entry(fields, contents)
        else:
            pictures, records = self._known
            some = [Extent(0, 0)] * collection.MOST_RECORDS
            before = Contents(contents.entries, some, contents.loops)
            entry = collection.read_entry(fields, before, pictures)
            sure = tuple(number for number in entry.shared if number < records)
            if sure != entry.shared:
                text = f"metadata of picture {len(contents.entries) + 1} are lost"
                self._faults.append(CorruptStream(collection.SECTION, text, record.body.place))
            entry = replace(entry, shared=sure)
        if fields.place < len(fields.data):
            text = f"{len(fields.data) - fields.place} bytes follow the fields of a picture"
            raise CorruptStream(collection.SECTION, text, fields.offset)
        return replace(entry, place=record.body.place, size=record.body.size)

    def _doubt(self) -> None:
        """Note that a record is lost, so that later ones have unknown numbers."""
        if self._known is None:
            self._known = len(self.contents.entries), len(self.contents.metadata)

    def _next_head(self, place: int) -> int:
        """Return where the next head with a right CRC begins, from a byte on; or the file's end."""
        for found in self._candidates(place):
            self._tried += 1
            if self._tried > _MOST_TRIED:
                text = f"the search for records ends after {_MOST_TRIED} places"
                self._faults.append(CorruptStream(collection.SECTION, text, found))
                break
            with contextlib.suppress(FormatError):
                record = collection.read_record(_head_at(self._source, found), found, self._total)
                # Metadata have the form of a head, too: a few numbers, bytes and a CRC of all.
                if record.kind != RecordKind.PICTURE or _is_picture(
                    self._source, record.body.place
                ):
                    return found
        return self._total

    def _candidates(self, place: int) -> Iterator[int]:
        """Yield the places where a head may begin."""
        while place < self._total:
            # A head may begin in one part and end in the next.
            part = self._source[place : place + _STEP + 3 * LONGEST]
            for match in _HEADS.finditer(part):
                if match.start() < _STEP:
                    yield place + match.start()
            place += _STEP

    def _shorten(self, end: int) -> None:
        """End the body before at a head that lies in it: bytes of the body are missing."""
        for parts in (self.contents.entries, self.contents.metadata):
            for number in range(len(parts) - 1, -1, -1):
                part = parts[number]
                if part.place + part.size <= end:
                    break
                parts[number] = replace(part, size=max(end - part.place, 0))  # type: ignore

    def _take_lost(self, place: int, end: int) -> None:
        """Take pictures without a head, and metadata, from the bytes between two records."""
        count = len(self.contents.entries)
        for entry in self._pictures(place, end):
            self.contents.entries.append(entry)
            self._check_count()
            number = len(self.contents.entries)
            text = f"role, facts and shared metadata of picture {number} are lost"
            self._faults.append(CorruptStream(collection.SECTION, text, entry.place))
        if len(self.contents.entries) > count:
            return
        part = self._metadata(place, end)
        if part is not None:
            self.contents.metadata.append(part)
            return
        self._doubt()
        text = f"{end - place} bytes are lost; pictures behind them may have other numbers"
        self._faults.append(CorruptStream(collection.SECTION, text, place))

    def _pictures(self, place: int, end: int) -> Iterator[PictureEntry]:
        """Yield the pictures between two places, which begin with their magic."""
        while place < end:
            part = bytes(self._source[place : min(place + _STEP + len(container.MAGIC), end)])
            at = part.find(container.MAGIC)
            if at < 0:
                place += _STEP
                continue
            place += at
            header = self._header(place, end - place)
            if header is None:
                place += 1
                continue
            form = header.width, header.height, header.form, header.depth
            size = min(header.file_bytes, end - place)
            yield PictureEntry(Role.PAGE, (), *form, size=size, place=place)
            place += size

    def _header(self, place: int, most: int) -> container.Header | None:
        """Return the header of a picture of at most ``most`` bytes, if one begins at ``place``."""
        for size in _HEADER_READS:
            if self._read > _MOST_READ:
                return None
            try:
                return container.read_header(self._source[place : place + min(size, most)], most)
            except FormatError as error:
                self._read += size
                if not isinstance(error, TruncatedStream):
                    return None
        return None

    def _metadata(self, place: int, end: int) -> Extent | None:
        """Return the body of a metadata record whose head begins at ``place``, by its CRC."""
        if end - place > _MOST_BODY:
            return None
        data = self._source[place:end]
        for head in range(_LEAST_HEAD, min(_MOST_HEAD, len(data) - CRC_BYTES) + 1):
            if zlib.crc32(data[head:-CRC_BYTES]) == int.from_bytes(data[-CRC_BYTES:], "big"):
                return Extent(place + head, len(data) - head)
        return None
