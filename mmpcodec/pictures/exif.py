"""Parse and build EXIF, a TIFF structure: directories of entries.

Values stay bytes. A built structure has one layout: the entries of a directory in the order of
their tags, then the values that do not fit into the entries, then the directories below.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mmpcodec.pictures.limits import MAX_METADATA

PREFIX = b"Exif\0\0"
"""Prefix of the TIFF structure in JPEG files."""

STARTS = {b"II*\0": "<", b"MM\0*": ">"}
"""First bytes of the structure, and the byte order that they name."""

EXIF_DIRECTORY, GPS_DIRECTORY, INTEROPERABILITY = 34665, 34853, 40965
BELOW = (EXIF_DIRECTORY, GPS_DIRECTORY, INTEROPERABILITY)
"""Tags whose value is the offset of another directory."""

KEPT = frozenset(
    (271, 272, 274, 306, 315, 316, 18246, 18249, 33432, 33723, 34377, *range(40091, 40096))
)
"""Tags of a TIFF file's first directory that describe the picture, not the file: camera,
orientation, date, artist, host, rating, copyright, IPTC, Photoshop, and tags of Windows."""

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
"""Size of one value in bytes, by its type."""

ORIENTATION = 274

_SHORT, _LONG = 3, 4
_MOST_ENTRIES = 4096

ReadAt = Callable[[int, int], bytes]


class _BadPlace(ValueError):
    """There is no value or directory where its tag says."""


class _Layout(NamedTuple):
    """Layout of a directory: ``struct`` formats of its parts, and their sizes in bytes."""

    number: str
    number_size: int
    head: str
    head_size: int
    pointer: str
    value_size: int


_CLASSIC = _Layout("H", 2, "HHI", 8, "I", 4)
_BIG = _Layout("Q", 8, "HHQ", 12, "Q", 8)


@dataclass
class Directory:
    """The entries of a directory.

    Parameters
    ----------
    entries : dict of int to (int, int, bytes)
        Type, count and bytes of the values, by tag.
    below : dict of int to Directory
        Other directories, by the tag that points to them.
    """

    entries: dict[int, tuple[int, int, bytes]] = field(default_factory=dict)
    below: dict[int, "Directory"] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entries or self.below)


def parsed(data: bytes) -> tuple[str, Directory]:
    """Parse an EXIF structure: its byte order, "<" or ">", and its first directory.

    Further directories, such as the thumbnail's, are left out.

    Raises
    ------
    ValueError
        If the structure is damaged.
    """
    order = STARTS.get(data[:4])
    if order is None or len(data) < 8:
        raise ValueError("EXIF does not begin as a TIFF structure")
    (place,) = struct.unpack(f"{order}I", data[4:8])
    return order, directory_at(lambda start, size: data[start : start + size], place, order)


def directory_at(
    read_at: ReadAt,
    place: int,
    order: str,
    *,
    big: bool = False,
    tags: frozenset[int] | None = None,
    dropped: list[int] | None = None,
) -> Directory:
    """Parse the directory at an offset, and the directories below it.

    Of several pointers of one tag the first is followed.

    Parameters
    ----------
    read_at : callable
        ``read_at(offset, size)`` returns bytes, fewer than ``size`` at the end of the file.
    place : int
        Offset in bytes.
    order : {"<", ">"}
    big : bool
        Whether the file is a BigTIFF file.
    tags : set of int or None
        Tags to take; None takes all. The directories below are always taken.
    dropped : list of int or None
        Takes the tags whose values or directories are not where they say; None refuses these.

    Raises
    ------
    ValueError
        If a directory is damaged, or the values exceed ``MAX_METADATA`` bytes.
    """
    left = MAX_METADATA

    def read(start: int, size: int) -> bytes:
        nonlocal left
        left -= size
        if left < 0:
            raise ValueError(f"EXIF holds values of more than {MAX_METADATA} bytes")
        found = read_at(start, size)
        if len(found) != size:
            raise _BadPlace(f"EXIF ends before byte {start + size}")
        return found

    return _directory(read, place, order, _BIG if big else _CLASSIC, tags, dropped, 0)


def _directory(
    read: ReadAt,
    place: int,
    order: str,
    layout: _Layout,
    tags: frozenset[int] | None,
    dropped: list[int] | None,
    level: int,
) -> Directory:
    """Parse a directory that is ``level`` directories below the first."""
    (count,) = struct.unpack(order + layout.number, read(place, layout.number_size))
    if count > _MOST_ENTRIES:
        raise _BadPlace(f"EXIF has a directory of {count} entries, allowed are {_MOST_ENTRIES}")
    size = layout.head_size + layout.value_size
    table = read(place + layout.number_size, size * count)
    found = Directory()
    for start in range(0, size * count, size):
        tag, kind, number = struct.unpack_from(order + layout.head, table, start)
        value = table[start + layout.head_size : start + size]
        (pointer,) = struct.unpack(order + layout.pointer, value)
        if tag in found.below:
            continue
        try:
            if tag in BELOW and level < 2:
                # A pointer may be a LONG in a BigTIFF file, where it fills half of its field.
                if kind in SIZES and SIZES[kind] == 4:
                    (pointer,) = struct.unpack(f"{order}I", value[:4])
                if pointer:
                    below = _directory(read, pointer, order, layout, None, dropped, level + 1)
                    found.below[tag] = below
            elif (tags is None or tag in tags) and kind in SIZES:
                length = SIZES[kind] * number
                value = read(pointer, length) if length > layout.value_size else value
                found.entries[tag] = kind, number, value[:length]
        except _BadPlace:
            if dropped is None:
                raise
            dropped.append(tag)
    return found


def structure(order: str, directory: Directory) -> bytes:
    """Build an EXIF structure from a directory and the directories below it."""
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(f"{order}I", 8) + packed(order, directory, 8)


def packed(order: str, directory: Directory, place: int) -> bytes:
    """Build a directory, and the directories below it, to be written at an offset."""
    pointers = dict.fromkeys(directory.below, (_LONG, 1, b""))
    entries = directory.entries | pointers
    table = [struct.pack(f"{order}H", len(entries))]
    end = place + 2 + 12 * len(entries) + 4
    behind = []
    for tag in sorted(entries):
        kind, count, value = entries[tag]
        if tag in directory.below:
            lower = packed(order, directory.below[tag], end)
            value = struct.pack(f"{order}I", end)
        else:
            lower = value if len(value) > 4 else b""
            value = struct.pack(f"{order}I", end) if lower else value.ljust(4, b"\0")
        lower += b"\0" * (len(lower) % 2)
        end += len(lower)
        behind.append(lower)
        table.append(struct.pack(f"{order}HHI", tag, kind, count) + value)
    return b"".join([*table, bytes(4), *behind])


Entry = tuple[int, int, bytes]
"""Type, count and bytes of the values of an entry."""


def first_entries(data: bytes) -> tuple[str, dict[int, Entry]]:
    """Return the byte order and the entries of the first directory, by their tags.

    Raises
    ------
    ValueError, struct.error
        If the directory is damaged; those below are not looked at.
    """
    order, first, last = _first_table(data)
    found: dict[int, Entry] = {}
    for start in range(first, last, 12):
        tag, kind, count, pointer = struct.unpack_from(f"{order}HHII", data, start)
        size = SIZES.get(kind, 0) * count
        at = start + 8 if size <= 4 else pointer
        found.setdefault(tag, (kind, count, data[at : at + size]))
    return order, found


def _first_table(data: bytes) -> tuple[str, int, int]:
    """Return the byte order, and where the entries of the first directory begin and end."""
    order = STARTS.get(data[:4])
    if order is None:
        raise ValueError("EXIF does not begin as a TIFF structure")
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, place)
    end = place + 2 + 12 * count
    if end > len(data):
        raise ValueError("EXIF ends in its first directory")
    return order, place + 2, end


def changed(data: bytes, changes: Mapping[int, Entry | None]) -> bytes:
    """Return an EXIF structure with other entries in its first directory.

    The new directory goes to the end if entries come or go, so that no other offset changes: the
    notes of camera makers hold offsets.

    Parameters
    ----------
    data : bytes
    changes : dict of int to (int, int, bytes) or None
        Entries by their tags; None removes an entry.

    Raises
    ------
    ValueError, struct.error
        If the structure is damaged.
    """
    order, first, last = _first_table(data)
    count = (last - first) // 12
    rows: dict[int, bytes] = {}
    for start in range(first, last, 12):
        rows.setdefault(struct.unpack_from(f"{order}H", data, start)[0], data[start : start + 12])
    found = bytearray(data)
    for tag, entry in changes.items():
        if entry is None:
            rows.pop(tag, None)
            continue
        kind, number, value = entry
        if len(value) > 4:
            found += b"\0" * (len(found) % 2)
            value, at = struct.pack(f"{order}I", len(found)), value
            found += at
        rows[tag] = struct.pack(f"{order}HHI", tag, kind, number) + value.ljust(4, b"\0")
    table = b"".join(rows[tag] for tag in sorted(rows))
    if len(rows) == count:
        found[first:last] = table
        return bytes(found)
    further = data[last : last + 4].ljust(4, b"\0")  # offset of the next directory
    found += b"\0" * (len(found) % 2)
    struct.pack_into(f"{order}I", found, 4, len(found))
    return bytes(found) + struct.pack(f"{order}H", len(rows)) + table + further


def with_orientation(data: bytes, orientation: int) -> bytes:
    """Return an EXIF structure with an orientation, 1 to 8; a damaged one comes back unchanged."""
    order = STARTS.get(data[:4], ">")
    entry = {ORIENTATION: (_SHORT, 1, struct.pack(f"{order}H", orientation))}
    if not data:
        return structure(order, Directory(entry))
    try:
        return changed(data, entry)
    except (ValueError, struct.error):
        return data
