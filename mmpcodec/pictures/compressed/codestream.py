"""Bounds of the tiles and precincts of JPEG 2000, whose tables a few bytes can make very large.

OpenJPEG takes about 10 kB for each tile and 2 kB for each precinct, even if nothing is coded in it.
Source: ITU-T T.800, annexes A and B.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from mmpcodec.pictures.compressed.frame_size import jpeg2000_size

_SIZ, _COD, _COC, _SOT, _SOD, _EOC = 0xFF51, 0xFF52, 0xFF53, 0xFF90, 0xFF93, 0xFFD9
_OTHERS = {
    *(0xFF50, 0xFF55, 0xFF57, 0xFF58, 0xFF59, 0xFF5C, 0xFF5D, 0xFF5E, 0xFF5F, 0xFF60, 0xFF61),
    *(0xFF63, 0xFF64, 0xFF74, 0xFF75, 0xFF77, 0xFF78),
}
"""Segments that OpenJPEG skips as a whole; behind others it searches for the next marker."""
_WITH_PRECINCTS = 1
_HEAD = 42  # bytes up to the number of planes
_TILES, _TILE_PIXELS = 64, 256
"""Tiles that any picture may have, and pixels for each further one."""
_PRECINCTS, _PRECINCT_PIXELS = 4096, 64
"""Precincts of a plane that any picture may have, and pixels for each further one."""


class _Tiling(NamedTuple):
    """Width and height of a tile, and the number of tiles."""

    width: int
    height: int
    tiles: int


def check_parts(data: bytes) -> None:
    """Check that the tiles and precincts of a codestream are not too many for its pixels.

    There may be 64 tiles and one more for each 256 pixels; a plane may have 4096 precincts and one
    more for each 64 pixels.

    Raises
    ------
    ValueError
        If there are more, or segments that cannot be followed.
    """
    columns, rows = jpeg2000_size(data)
    if len(data) < _HEAD:
        raise ValueError("JPEG 2000 ends in its segment SIZ")
    (planes,) = struct.unpack_from(">H", data, 40)
    tiling = _tiling(data)
    most = _TILES + columns * rows // _TILE_PIXELS
    if tiling.tiles > most:
        raise ValueError(
            f"JPEG 2000 has {tiling.tiles} tiles, at most {most} are supported for its size"
        )
    most = planes * (_PRECINCTS + columns * rows // _PRECINCT_PIXELS)
    precincts = 0
    for marker, contents, in_tile in _segments(data):
        if marker == _COD:
            style = contents[:1] + contents[5:]
        elif marker == _COC:
            wide = 1 if planes < 257 else 2
            style = contents[wide:]
        else:
            continue
        count = _precincts(style, tiling) * (1 if in_tile else tiling.tiles)
        precincts += count * (planes if marker == _COD else 1)
        if precincts > most:
            raise ValueError(
                f"JPEG 2000 has more than {most} precincts, which are supported for its size"
            )


def _tiling(data: bytes) -> _Tiling:
    right, bottom, *_ = struct.unpack_from(">4I", data, 8)
    width, height, left, top = struct.unpack_from(">4I", data, 24)
    if not width or not height:
        raise ValueError(f"JPEG 2000 has tiles of {width}x{height}")
    count = -(-(right - left) // width) * -(-(bottom - top) // height)
    columns, rows = jpeg2000_size(data)
    return _Tiling(min(width, columns), min(height, rows), count)


def _segments(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the marker and contents of each segment, and whether it belongs to a tile."""
    place, in_tile, next_part = 2, False, 0
    while True:
        head = data[place : place + 4].ljust(4, b"\0")
        marker, size = struct.unpack(">HH", head)
        if marker == _EOC:
            return
        if marker == _SOD:
            if next_part <= place:
                raise ValueError(f"JPEG 2000 has a tile part that ends before byte {place}")
            place = next_part
            continue
        if size < 2 or marker not in {_SIZ, _COD, _COC, _SOT, *_OTHERS}:
            raise ValueError(f"JPEG 2000 has the marker {marker:#06x} at byte {place}")
        contents = data[place + 4 : place + 2 + size]
        if marker == _SOT:
            length = int.from_bytes(contents[2:6], "big")
            next_part = place + length if length else data.rindex(b"\xff\xd9")
            in_tile = True
        yield marker, contents, in_tile
        place += 2 + size


def _precincts(style: bytes, tiling: _Tiling) -> int:
    """Return the precincts of a plane of a tile, or some more.

    Parameters
    ----------
    style : bytes
        Whether precincts are given, levels of the wavelet transform, 4 bytes of code blocks and
        transform, and the precincts of each resolution.
    tiling : _Tiling
    """
    if len(style) < 2 or not style[0] & _WITH_PRECINCTS:
        return 0
    levels, sizes = style[1], style[6:]
    count = 0
    for number, size in enumerate(sizes[: levels + 1]):
        shrunk = levels - number
        columns, rows = -(-tiling.width >> shrunk), -(-tiling.height >> shrunk)
        # A tile that begins inside of a precinct has one more in each direction.
        count += ((columns >> (size & 15)) + 2) * ((rows >> (size >> 4)) + 2)
    return count
