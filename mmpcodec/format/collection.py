"""Files of several pictures: records, and an index at the end.

A record of a picture holds a whole file of one picture, so pictures decode alone and in any order.
Source: section "Collections" of ``docs/format/format.md``.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from mmpcodec.errors import CorruptStream, LimitExceeded, TruncatedStream
from mmpcodec.format.container import MAGIC, VERSION
from mmpcodec.format.numbers import CRC_BYTES, LONGEST, Fields, number
from mmpcodec.samples import MAX_DIMENSION, Form

SECTION = "Collections"
FORM = 8
"""Stands where a file of one picture has its form."""
HEAD = MAGIC + bytes([VERSION, FORM])
END_MAGIC = b"MMC\x1a"
SIZE_BYTES = 5
END_BYTES = SIZE_BYTES + CRC_BYTES + len(END_MAGIC)
"""Bytes at the end of a file by which a decoder finds the index: its size, CRC and magic."""
MOST_HEAD = 1 << 12
"""Most bytes of a record before its body."""
MOST_RECORDS = 1 << 16
"""Most metadata records of a collection."""
MOST_SHARED = 16
"""Most metadata records that a picture names."""
MOST_OF_PART = 2 * LONGEST
"""Most bytes of a place and a size in the index."""
MOST_OF_ENTRY = MOST_OF_PART + LONGEST * (5 + 4 + 1 + MOST_SHARED)
"""Most bytes of a picture in the index."""
MOST_CHAINED = 64
"""Most pictures of a chain, of which each continues the one before."""


class RecordKind(IntEnum):
    """Kind of a record. Records of other kinds are skipped."""

    PICTURE = 1
    METADATA = 2
    INDEX = 3


class Role(IntEnum):
    """What a picture is in its collection."""

    PAGE = 0
    FRAME = 1
    SLICE = 2
    LEVEL = 3
    THUMBNAIL = 4


CHAINED_ROLES = Role.PAGE, Role.FRAME, Role.SLICE
"""Roles of pictures that can continue others."""
FACTS = {
    Role.PAGE: (),
    Role.FRAME: ("duration", "parts of a second"),
    Role.SLICE: ("position",),
    Role.LEVEL: ("number of the picture",),
    Role.THUMBNAIL: ("number of the picture",),
}
"""Names of the numbers that follow the role of a picture."""
BACK = "pictures back to the one that is continued"


def common_role(roles: Iterable[Role]) -> Role:
    """Return what pictures are together: what all of them are, or pages if they differ.

    Examples
    --------
    >>> from mmpcodec.format.collection import Role, common_role
    >>> common_role([Role.SLICE, Role.SLICE]).name, common_role([Role.SLICE, Role.FRAME]).name
    ('SLICE', 'PAGE')
    """
    found = set(roles)
    return found.pop() if len(found) == 1 else Role.PAGE


@dataclass(frozen=True)
class PictureEntry:
    """A picture of a collection.

    Parameters
    ----------
    role : Role
    facts : tuple of int
        The numbers of ``FACTS``: the duration of a frame, which is this many parts of a second, and
        how many parts a second has; the position of a slice along the series in nanometres; the
        number of the picture, from 0, of which a level or a thumbnail is a smaller rendition.
    width, height : int
        Size in pixels.
    form : Form
    depth : int
        Bits of a sample.
    shared : tuple of int
        Numbers of the metadata records, from 0, whose chunks the picture has besides its own.
    size : int
        Bytes of the file of the picture.
    place : int
        Byte offset of the file of the picture in the collection.
    continues : int or None
        Number, from 0, of the picture in the file whose models and pixels this one continues; None
        if it decodes alone.
    saved : int
        Bytes by which the collection is smaller than with a file that decodes alone.
    """

    role: Role
    facts: tuple[int, ...]
    width: int
    height: int
    form: Form
    depth: int
    shared: tuple[int, ...] = ()
    size: int = 0
    place: int = 0
    continues: int | None = None
    saved: int = 0

    @property
    def of(self) -> int | None:
        """Number of the entry, from 0, of which this one is a smaller rendition."""
        return self.facts[0] if self.role in (Role.LEVEL, Role.THUMBNAIL) else None


@dataclass(frozen=True)
class Extent:
    """The place of the body of a record: byte offset and number of bytes."""

    place: int
    size: int


@dataclass
class Contents:
    """What a collection holds, in the order of the file.

    Parameters
    ----------
    entries : list of PictureEntry
    metadata : list of Extent
    loops : int
        How often the frames are shown, one after the other; 0 for without end. It is in the index
        alone.
    unfinished : int
        Bytes behind the index, of pictures whose writer was stopped before it wrote a new index.
    kept : dict of int to object
        What decoders of chains keep for further pages, by the first entry; in memory only.
    """

    entries: list[PictureEntry] = field(default_factory=list)
    metadata: list[Extent] = field(default_factory=list)
    loops: int = 0
    unfinished: int = 0
    kept: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pictures(self) -> list[PictureEntry]:
        """The pictures that are no renditions of others: page 1, 2 and so on."""
        return [entry for entry in self.entries if entry.of is None]

    def numbers_of(self, number: int | None) -> list[int]:
        """Return the numbers, from 0, of the renditions of an entry; of all pages if it is None."""
        return [each for each, entry in enumerate(self.entries) if entry.of == number]

    def page_before(self, back: int) -> int:
        """Return the number of the entry that is ``back`` pages before the next one."""
        found = len(self.entries)
        while back:
            found -= 1
            back -= self.entries[found].of is None
        return found

    def chain_of(self, entry: PictureEntry) -> list[int]:
        """Return the numbers of the entries that an entry continues, the first one first."""
        return chain_of(self.entries, entry)

    def name_of(self, entry: PictureEntry) -> str:
        """Return the name of a picture for messages: "page 3", "level 2 of page 3"."""
        of = entry.of
        alike = [
            each
            for each in self.entries
            if each.of == of and (of is None or each.role == entry.role)
        ]
        name = f"{entry.role.name.lower()} {alike.index(entry) + 1}"
        return name if of is None else f"{name} of {self.name_of(self.entries[of])}"


def chain_of(entries: Sequence[PictureEntry], entry: PictureEntry) -> list[int]:
    """Return the numbers of the ``entries`` that an entry continues, the first one first."""
    found: list[int] = []
    while entry.continues is not None:
        found.insert(0, entry.continues)
        entry = entries[entry.continues]
    return found


def bytes_of_chain(back: int, saved: int) -> int:
    """Return the bytes of what a chained picture has in its record and in the index.

    Parameters
    ----------
    back, saved : int
        As in the file.
    """
    return 2 * (len(number(back)) + len(number(saved)))


def write_record(kind: RecordKind, body_size: int, fields: bytes = b"") -> bytes:
    """Serialise what a record has before its body: kind, size of the body, fields, CRC."""
    head = number(kind) + number(body_size) + number(len(fields)) + fields
    return head + zlib.crc32(head).to_bytes(CRC_BYTES, "big")


@dataclass(frozen=True)
class RecordHead:
    """What a record has before its body, and where the body is.

    Parameters
    ----------
    kind : int
    fields : memoryview
    fields_place : int
        Byte offset of the fields in the file.
    body : Extent
    """

    kind: int
    fields: memoryview
    fields_place: int
    body: Extent


def write_metadata(body: bytes) -> bytes:
    """Return the body of a metadata record with chunks, as ``chunks.write`` writes them."""
    return body + zlib.crc32(body).to_bytes(CRC_BYTES, "big")


def read_metadata(body: memoryview, place: int) -> memoryview:
    """Return the chunks in the body of a metadata record, which is at byte ``place``.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    fields = Fields(body, SECTION, place)
    checked = fields.bytes("metadata", max(len(body) - CRC_BYTES, 0))
    stored, computed = fields.fixed("metadata CRC", CRC_BYTES), zlib.crc32(checked)
    if stored != computed:
        text = f"metadata CRC is {stored:08x}, metadata has {computed:08x}"
        raise CorruptStream(SECTION, text, place + len(checked))
    return checked


def read_record(data: memoryview, place: int, total: int) -> RecordHead:
    """Read what a record at byte ``place`` has before its body, which must lie in the file.

    Parameters
    ----------
    data, place
        See ``read_head``.
    total : int
        Number of bytes of the file.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    record = read_head(data, place)
    if record.body.size > total - record.body.place:
        text = f"only {total - record.body.place} of {record.body.size} bytes of a record"
        raise TruncatedStream(SECTION, text, total)
    return record


def read_head(data: memoryview, place: int) -> RecordHead:
    """Read what a record at byte ``place`` has before its body.

    Parameters
    ----------
    data : memoryview
        Bytes of the file from ``place`` on, at least ``MOST_HEAD`` or up to the end of the file.
    place : int

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    head = Fields(data, SECTION, place)
    kind = head.number("kind of a record")
    size = head.number("bytes of a record")
    count = head.number("bytes of its fields", 0, MOST_HEAD // 2)
    if count and kind in (RecordKind.METADATA, RecordKind.INDEX):
        text = f"bytes of its fields is {count}, allowed for a record of kind {kind} is 0"
        raise CorruptStream(SECTION, text, head.offset)
    fields_place = head.offset
    fields = head.bytes("fields of a record", count)
    computed, at = zlib.crc32(data[: head.place]), head.offset
    stored = head.fixed("CRC of a record", CRC_BYTES)
    if stored != computed:
        text = f"CRC of a record is {stored:08x}, its head has {computed:08x}"
        raise CorruptStream(SECTION, text, at)
    return RecordHead(kind, fields, fields_place, Extent(head.offset, size))


def write_entry(entry: PictureEntry, own_number: int = 0) -> bytes:
    """Serialise the fields of a picture of this number, from 0, without its size and place."""
    signed = (_folded(value) for value in entry.facts)
    facts = signed if entry.role == Role.SLICE else entry.facts
    role, chained = int(entry.role), tuple[int, ...]()
    if entry.continues is not None:
        role += len(Role)
        chained = own_number - entry.continues, entry.saved
    form = entry.form, entry.depth, entry.width, entry.height
    parts = (role, *facts, *chained, *form, len(entry.shared), *entry.shared)
    return b"".join(map(number, parts))


def _folded(value: int) -> int:
    """Map an integer to one from 0: 0, -1, 1, -2, 2, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def _unfolded(value: int) -> int:
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def read_entry(fields: Fields, before: Contents, known: int | None = None) -> PictureEntry:
    """Read the fields of a picture that follows what ``before`` holds.

    Parameters
    ----------
    fields : Fields
    before : Contents
    known : int or None
        How many of the pictures before have a number that is sure; None for all.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    number = fields.number("role", 0, len(Role) + len(CHAINED_ROLES) - 1)
    role, facts = Role(number % len(Role)), []
    known = len(before.entries) if known is None else known
    for name in FACTS[role]:
        low = 1 if name == "parts of a second" else 0
        at = fields.offset
        value = fields.number(name, low)
        if role in (Role.LEVEL, Role.THUMBNAIL) and (
            value >= known or before.entries[value].of is not None
        ):
            text = f"{name} is {value}, allowed is that of an earlier page, frame or slice"
            raise CorruptStream(fields.section, text, at)
        facts.append(value)
    if role == Role.SLICE:
        facts = [_unfolded(value) for value in facts]
    chained = _read_chained(fields, before) if number >= len(Role) else (None, 0)
    form = Form(fields.number("form", 0, len(Form) - 1))
    depth = fields.number("depth", 1, 16)
    width, height = (fields.number(name, 1, MAX_DIMENSION) for name in ("width", "height"))
    records = len(before.metadata)
    count = fields.number("metadata records", 0, min(records, MOST_SHARED))
    shared: list[int] = []
    for _ in range(count):
        low = shared[-1] + 1 if shared else 0
        shared.append(fields.number("number of a metadata record", low, records - 1))
    size = width, height, form, depth
    return PictureEntry(
        role, tuple(facts), *size, tuple(shared), continues=chained[0], saved=chained[1]
    )


def _read_chained(fields: Fields, before: Contents) -> tuple[int, int]:
    """Read how many pictures before this one is the one that it continues, and bytes saved."""
    at = fields.offset
    back = fields.number(BACK, 1)
    number = len(before.entries) - back
    if fault := fault_of_chain(before.entries, number):
        raise CorruptStream(fields.section, f"{BACK} is {back}: {fault}", at)
    return number, fields.number("bytes saved")


def fault_of_chain(entries: Sequence[PictureEntry], number: int) -> str | None:
    """Say why a further picture cannot continue the one of this number, or return None."""
    if not 0 <= number < len(entries) or entries[number].of is not None:
        return "must lead to an earlier page, frame or slice"
    length = 1 + len(chain_of(entries, entries[number]))
    if length >= MOST_CHAINED:
        return f"leads to picture {length} of a chain, which has at most {MOST_CHAINED}"
    return None


def write_index(contents: Contents) -> bytes:
    """Serialise the index, the record that ends a file. Places count from the end before them."""
    parts = [number(contents.loops), number(len(contents.metadata))]
    end = 0
    for part in contents.metadata:
        parts += [number(part.place - end), number(part.size)]
        end = part.place + part.size
    parts.append(number(len(contents.entries)))
    end = 0
    for own_number, entry in enumerate(contents.entries):
        parts += [number(entry.place - end), number(entry.size), write_entry(entry, own_number)]
        end = entry.place + entry.size
    fields = b"".join(parts)
    head = write_record(RecordKind.INDEX, len(fields) + END_BYTES)
    checked = fields + (len(head) + len(fields) + END_BYTES).to_bytes(SIZE_BYTES, "big")
    return head + checked + zlib.crc32(checked).to_bytes(CRC_BYTES, "big") + END_MAGIC


def index_bytes(end: memoryview, total: int) -> int:
    """Return the size of the index that ends at byte ``total``, from the bytes before that.

    Raises
    ------
    CorruptStream
        If no index ends there.
    """
    magic = bytes(end[-len(END_MAGIC) :])
    if magic != END_MAGIC or len(end) < END_BYTES:
        text = f"the file ends with {magic.hex(' ')}, an index with {END_MAGIC.hex(' ')}"
        raise CorruptStream(SECTION, text, total - len(magic))
    size = int.from_bytes(end[-END_BYTES:][:SIZE_BYTES], "big")
    if not END_BYTES < size <= total - len(HEAD):
        text = f"index has {size} bytes, allowed is {END_BYTES + 1} to {total - len(HEAD)}"
        raise CorruptStream(SECTION, text, total - END_BYTES)
    return size


def check_index_bytes(size: int, most: int) -> None:
    """Check the size of an index, before it is read, against that of ``most`` pictures.

    Raises
    ------
    LimitExceeded
    """
    limit = MOST_RECORDS * MOST_OF_PART + most * MOST_OF_ENTRY
    if size > limit:
        text = f"index has {size} bytes, {most} pictures need at most {limit}; max_pictures raises"
        raise LimitExceeded(SECTION, f"{text} the limit")


def read_index(data: memoryview, total: int, most: int) -> Contents:
    """Read the index that ends at byte ``total``.

    Parameters
    ----------
    data : memoryview
        The index, of the size that ``index_bytes`` returned.
    total : int
    most : int
        Most pictures that are accepted.

    Raises
    ------
    TruncatedStream, CorruptStream, LimitExceeded
    """
    start = total - len(data)
    record = read_record(data, start, total)
    if record.kind != RecordKind.INDEX or record.body.place + record.body.size != total:
        raise CorruptStream(SECTION, "the size of the index leads to no index", start)
    body = data[record.body.place - start :]
    at = len(body) - len(END_MAGIC) - CRC_BYTES
    stored, computed = int.from_bytes(body[at : at + CRC_BYTES], "big"), zlib.crc32(body[:at])
    if stored != computed:
        text = f"CRC of the index is {stored:08x}, the index has {computed:08x}"
        raise CorruptStream(SECTION, text, total - len(END_MAGIC) - CRC_BYTES)
    fields = Fields(body[: at - SIZE_BYTES], SECTION, record.body.place)
    contents = Contents(loops=fields.number("loops"))
    end = 0
    left = len(fields.data)
    for _ in range(fields.number("metadata records", 0, min(left, MOST_RECORDS))):
        contents.metadata.append(_read_part(fields, end, start))
        end = contents.metadata[-1].place + contents.metadata[-1].size
    end = 0
    count = fields.number("pictures", 0, left)
    check_count(count, most)
    for _ in range(count):
        part = _read_part(fields, end, start)
        entry = read_entry(fields, contents)
        if any(contents.metadata[number].place >= part.place for number in entry.shared):
            text = "number of a metadata record is that of one behind the picture"
            raise CorruptStream(SECTION, text, fields.offset)
        contents.entries.append(replace(entry, place=part.place, size=part.size))
        end = part.place + part.size
    if fields.place < len(fields.data):
        text = f"{len(fields.data) - fields.place} bytes follow the last picture of the index"
        raise CorruptStream(SECTION, text, fields.offset)
    return contents


def _read_part(fields: Fields, end: int, last: int) -> Extent:
    """Read the place and size of a body that begins after ``end`` and ends before ``last``."""
    low = 0 if end else len(HEAD)
    place = end + fields.number("place", low, max(last - end, low))
    return Extent(place, fields.number("bytes", 0, max(last - place, 0)))


def check_count(count: int, most: int) -> None:
    """Check a number of pictures against a limit.

    Raises
    ------
    LimitExceeded
    """
    if count > most:
        raise LimitExceeded(
            SECTION,
            f"{count} pictures, the limit is {most}; max_pictures raises it",
        )
