"""Find what the decoders of AVIF and HEIC files will allocate: the streams and their sizes.

The boxes around a stream name a size too, but its decoder allocates the one inside of the stream.
Source: ISO/IEC 23008-12 and ISO/IEC 14496-12.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Colours
from mmpcodec.pictures.compressed.boxes import MediaBox, boxes
from mmpcodec.pictures.compressed.sequence_headers import (
    MOST_OF_HEADER,
    av1_sizes,
    hevc_sizes,
    hevc_unit_size,
)
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size

_FULL = 4  # bytes of version and flags
_CONTAINERS = {
    b"meta": _FULL, b"iprp": 0, b"ipco": 0, b"moov": 0, b"trak": 0, b"mdia": 0, b"minf": 0,
    b"stbl": 0, b"stsd": 8, b"av01": 78, b"hvc1": 78,
}  # fmt: skip
"""Boxes that hold boxes, and the bytes before these."""
_SRGB_PRIMARIES, _SRGB_TRANSFERS = (1, 2), (2, 13)
_PADDING = 63  # pixels that a stream may have beyond the picture, to hold whole blocks
_MOST_LEVELS = 8
_IN_FILE, _IN_META = 0, 1
_MOST_EXTENTS = 1 << 16
_MOST_TRACKS = 16


class _Item(NamedTuple):
    """Where an item lies: offset and size of each part, counted from ``method``'s origin."""

    number: int
    method: int
    extents: tuple[tuple[int, int], ...]


class _Coded(NamedTuple):
    """A size in pixels that a decoder allocates; whether it is of the main picture, and a grid."""

    size: tuple[int, int]
    is_main: bool = False
    is_grid: bool = False


def brands(data: bytes) -> set[bytes]:
    """Return the brands that a file names: b"avif", b"heic", ..."""
    for box in boxes(data):
        if box.kind == b"ftyp":
            named = data[box.start : box.end]
            return {named[:4], *(named[at : at + 4] for at in range(8, len(named), 4))}
    return set()


def colours_of(data: bytes) -> Colours | None:
    """Return the colours that a file gives by numbers; None if they are sRGB or unspecified.

    The range is that of the stream, whose samples the decoder brings to the full range.
    """
    for box in _walk(data):
        if box.kind == b"colr" and data[box.start : box.start + 4] == b"nclx":
            primaries, transfer = struct.unpack_from(">HH", data, box.start + 4)
            plain = primaries in _SRGB_PRIMARIES and transfer in _SRGB_TRANSFERS
            return None if plain or max(primaries, transfer) > 255 else Colours(primaries, transfer)
    return None


def say_auxiliary(data: bytes, name: str) -> None:
    """Say what a file holds beside its pictures and their alpha: gain maps, maps of depth."""
    kinds = set()
    for box in _walk(data):
        held = data[box.start : box.end]
        if box.kind == b"auxC" and b"auxid:1" not in held and b"alpha" not in held:
            kinds.add("gain map" if b"gainmap" in held.lower() else "auxiliary pictures")
        elif box.kind == b"iinf" and any(kind == b"tmap" for _, kind in _items(held)):
            kinds.add("gain map")
    if kinds:
        leave_out(name, sorted(kinds))


def av1_depth(data: bytes) -> int:
    """Return the most bits a sample that the configurations of AV1 streams name."""
    depth = 8
    for box in _walk(data):
        if box.kind == b"av1C" and box.end - box.start > 2:
            flags = data[box.start + 2]
            depth = max(depth, 8 + 2 * (flags >> 6 & 1) + 2 * (flags >> 6 & flags >> 5 & 1))
    return depth


def check_coded_sizes(data: bytes, name: str, limits: DecodeLimits) -> list[tuple[int, int]]:
    """Check the size of each AV1 and HEVC stream and of each grid of a file against the limits.

    Returns
    -------
    list of (int, int)
        Widths and heights in the main picture; none if the file names no main picture.

    Raises
    ------
    PictureError
        If one is beyond the limits.
    ValueError
        If boxes or streams are damaged, or streams overlap.
    """
    main: list[tuple[int, int]] = []
    for coded in _coded(data):
        width, height = coded.size
        if not coded.is_grid:
            width, height = max(1, width - _PADDING), max(1, height - _PADDING)
        check_size(width, height, 1, name, limits)
        if coded.is_main:
            main.append(coded.size)
    return main


def check_agreement(size: tuple[int, int], main: list[tuple[int, int]]) -> None:
    """Check that the size of a picture is one of those coded in it, but for padding.

    Raises
    ------
    ValueError
        If it is not; the decoder of AVIF would scale what is coded.
    """
    fits = (
        0 <= width - size[0] <= _PADDING and 0 <= height - size[1] <= _PADDING
        for width, height in main
    )
    if main and not any(fits):
        raise ValueError(f"two sizes, {size} and {main[0]}")


def _walk(
    data: bytes, start: int = 0, end: int | None = None, level: int = 0
) -> Iterator[MediaBox]:
    """Yield all boxes of a file, containers before what they hold."""
    for box in boxes(data, start, end):
        yield box
        inside = _CONTAINERS.get(box.kind)
        if inside is not None and level < _MOST_LEVELS:
            yield from _walk(data, box.start + inside, box.end, level + 1)


def _coded(data: bytes) -> Iterator[_Coded]:
    kinds: dict[int, bytes] = {}
    places: dict[_Item, None] = {}
    starts: dict[int, None] = {}
    idat, prefix, main = 0, 4, -1
    av1 = b"avif" in brands(data) or b"avis" in brands(data)
    for box in _walk(data):
        held = data[box.start : box.end]
        if box.kind == b"av1C":
            yield from map(_Coded, av1_sizes(held[4:]))
        elif box.kind == b"hvcC":
            prefix = (held[21] & 3) + 1
            for unit in _units(held):
                yield from map(_Coded, hevc_unit_size(unit))
        elif box.kind == b"iinf":
            kinds |= dict(_items(held))
        elif box.kind == b"iloc":
            places |= dict.fromkeys(_locations(held))
        elif box.kind == b"idat":
            idat = box.start
        elif box.kind == b"pitm":
            main = int.from_bytes(held[_FULL : _FULL + (4 if held[0] else 2)], "big")
        elif box.kind in (b"stco", b"co64"):  # the first frame of a sequence
            size = 4 if box.kind == b"stco" else 8
            starts[int.from_bytes(held[8 : 8 + size], "big")] = None
    if len(starts) > _MOST_TRACKS:
        raise ValueError(f"has more than {_MOST_TRACKS} tracks")
    for start in starts if av1 else ():
        yield from map(_Coded, _first_av1_size(data[start:]))
    items = [item for item in places if item.number in kinds]
    yield from _of_items(data, items, kinds, idat, prefix, main)


def _of_items(
    data: bytes, items: list[_Item], kinds: dict[int, bytes], idat: int, prefix: int, main: int
) -> Iterator[_Coded]:
    """Yield the sizes that items code, which together are no longer than the file."""
    read: set[tuple[bytes, int, tuple[tuple[int, int], ...]]] = set()
    left = len(data)
    for item in items:
        kind = kinds[item.number]
        is_main = item.number == main
        if kind not in (b"av01", b"hvc1", b"grid"):
            continue
        if item.method not in (_IN_FILE, _IN_META):
            raise ValueError(f"item {item.number} is built from other items")
        if not is_main and (kind, *item[1:]) in read:  # tiles may share their bytes
            continue
        read.add((kind, *item[1:]))
        origin = idat if item.method == _IN_META else 0
        parts = []
        for start, size in item.extents:
            start += origin
            parts.append(data[start : start + size if size else None])
            left -= len(parts[-1])
            if left < 0:
                raise ValueError("its items overlap")
        stream = b"".join(parts)
        if kind == b"grid":
            yield _Coded(_grid_size(stream), is_main, is_grid=True)
            continue
        sizes = av1_sizes(stream) if kind == b"av01" else hevc_sizes(stream, prefix)
        yield from (_Coded(each, is_main) for each in sizes)


def _grid_size(stream: bytes) -> tuple[int, int]:
    """Return the width and height of a picture made of tiles."""
    kind = ">II" if stream[1:2] and stream[1] & 1 else ">HH"
    width, height = struct.unpack_from(kind, stream, 4)
    return width, height


def _first_av1_size(data: bytes) -> Iterator[tuple[int, int]]:
    for size in av1_sizes(data):
        yield size
        return


def _units(config: bytes) -> Iterator[bytes]:
    """Yield the units of the box hvcC."""
    place = 23
    for _ in range(config[22]):
        count = int.from_bytes(config[place + 1 : place + 3], "big")
        place += 3
        for _ in range(count):
            size = int.from_bytes(config[place : place + 2], "big")
            if place + 2 + size > len(config):
                raise ValueError("box hvcC is cut off")
            yield config[place + 2 : place + 2 + min(size, MOST_OF_HEADER)]
            place += 2 + size


def _items(held: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and kind of each item in the box iinf."""
    for box in boxes(held, _FULL + (2 if held[0] == 0 else 4)):
        wide = 4 if held[box.start] > 2 else 2
        at = box.start + _FULL
        kind = held[at + wide + 2 : at + wide + 6]
        yield int.from_bytes(held[at : at + wide], "big"), kind


def _locations(held: bytes) -> Iterator[_Item]:
    """Yield the items in the box iloc."""
    place = 0

    def number(size: int) -> int:
        nonlocal place
        place += size
        if place > len(held):
            raise ValueError("box iloc is cut off")
        return int.from_bytes(held[place - size : place], "big")

    version = number(1)
    number(3)
    sizes = number(2)
    offset_size, length_size, base_size = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15
    index_size = sizes & 15 if version else 0
    wide = 2 if version < 2 else 4
    extents = 0
    for _ in range(number(wide)):
        item = number(wide)
        method = number(2) & 15 if version else _IN_FILE
        number(2)
        base = number(base_size)
        parts = []
        count = number(2)
        if count > 1 and not index_size + offset_size + length_size:
            raise ValueError(f"box iloc has {count} parts of no size")
        for _ in range(count):
            extents += 1
            if extents > _MOST_EXTENTS:
                raise ValueError(f"has items of more than {_MOST_EXTENTS} parts")
            number(index_size)
            start = base + number(offset_size)
            parts.append((start, number(length_size)))
        yield _Item(item, method, tuple(parts))
