"""Find what the decoders of AVIF and HEIC files will allocate: the streams and their sizes.

The boxes around a stream name a size too, but its decoder allocates the one inside of the stream.
Source: ISO/IEC 23008-12 and ISO/IEC 14496-12.
"""

from collections.abc import Iterator

from mmpcodec.params import DecodeLimits
from mmpcodec.pictures.compressed.boxes import MediaBox, boxes
from mmpcodec.pictures.compressed.sequence_headers import av1_sizes, hevc_sizes, hevc_unit_size
from mmpcodec.pictures.limits import check_size

_FULL = 4  # bytes of version and flags
_CONTAINERS = {
    b"meta": _FULL, b"iprp": 0, b"ipco": 0, b"moov": 0, b"trak": 0, b"mdia": 0, b"minf": 0,
    b"stbl": 0, b"stsd": 8, b"av01": 78, b"hvc1": 78,
}  # fmt: skip
"""Boxes that hold boxes, and the bytes before these."""
_PADDING = 63  # pixels that a stream may have beyond the picture, to hold whole blocks
_MOST_LEVELS = 8
_IN_FILE, _IN_META = 0, 1
_MOST_EXTENTS = 1 << 16


def brands(data: bytes) -> set[bytes]:
    """Return the brands that a file names: b"avif", b"heic", ..."""
    for box in boxes(data):
        if box.kind == b"ftyp":
            named = data[box.start : box.end]
            return {named[:4], *(named[at : at + 4] for at in range(8, len(named), 4))}
    return set()


def av1_depth(data: bytes) -> int:
    """Return the most bits a sample that the configurations of AV1 streams name."""
    depth = 8
    for box in _walk(data):
        if box.kind == b"av1C" and box.end - box.start > 2:
            flags = data[box.start + 2]
            depth = max(depth, 8 + 2 * (flags >> 6 & 1) + 2 * (flags >> 6 & flags >> 5 & 1))
    return depth


def check_coded_sizes(data: bytes, name: str, limits: DecodeLimits) -> None:
    """Check the size of each AV1 and HEVC stream of a file against the limits.

    Raises
    ------
    PictureError
        If one is beyond the limits.
    ValueError
        If boxes or streams are damaged.
    """
    for width, height in _coded_sizes(data):
        check_size(max(1, width - _PADDING), max(1, height - _PADDING), 1, name, limits)


def _walk(
    data: bytes, start: int = 0, end: int | None = None, level: int = 0
) -> Iterator[MediaBox]:
    """Yield all boxes of a file, containers before what they hold."""
    for box in boxes(data, start, end):
        yield box
        inside = _CONTAINERS.get(box.kind)
        if inside is not None and level < _MOST_LEVELS:
            yield from _walk(data, box.start + inside, box.end, level + 1)


def _coded_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    kinds: dict[int, bytes] = {}
    places: list[tuple[int, int, int, int]] = []
    idat, prefix = 0, 4
    av1 = b"avif" in brands(data) or b"avis" in brands(data)
    for box in _walk(data):
        held = data[box.start : box.end]
        if box.kind == b"av1C":
            yield from av1_sizes(held[4:])
        elif box.kind == b"hvcC":
            prefix = (held[21] & 3) + 1
            for unit in _units(held):
                yield from hevc_unit_size(unit)
        elif box.kind == b"iinf":
            kinds |= dict(_items(held))
        elif box.kind == b"iloc":
            places += _locations(held)
        elif box.kind == b"idat":
            idat = box.start
        elif box.kind in (b"stco", b"co64"):  # the first frame of a sequence
            size = 4 if box.kind == b"stco" else 8
            first = int.from_bytes(held[8 : 8 + size], "big")
            yield from _first_av1_size(data[first:]) if av1 else ()
    for number, method, start, size in places:
        kind = kinds.get(number)
        if kind not in (b"av01", b"hvc1"):
            continue
        if method not in (_IN_FILE, _IN_META):
            raise ValueError(f"item {number} is built from other items")
        start += idat if method == _IN_META else 0
        part = data[start : start + size if size else None]
        yield from av1_sizes(part) if kind == b"av01" else hevc_sizes(part, prefix)


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
            yield config[place + 2 : place + 2 + size]
            place += 2 + size


def _items(held: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and kind of each item in the box iinf."""
    for box in boxes(held, _FULL + (2 if held[0] == 0 else 4)):
        wide = 4 if held[box.start] > 2 else 2
        at = box.start + _FULL
        kind = held[at + wide + 2 : at + wide + 6]
        yield int.from_bytes(held[at : at + wide], "big"), kind


def _locations(held: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield number, method, offset and size in bytes of each extent in the box iloc."""
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
        for _ in range(number(2)):
            extents += 1
            if extents > _MOST_EXTENTS:
                raise ValueError(f"has items of more than {_MOST_EXTENTS} parts")
            number(index_size)
            start = base + number(offset_size)
            yield item, method, start, number(length_size)
