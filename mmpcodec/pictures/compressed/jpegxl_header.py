"""Read the header of a JPEG XL codestream: what a decoder will allocate.

Source: ISO/IEC 18181-1, annex D (image header). imagecodecs gives no header without decoding.
"""

from typing import NamedTuple

from mmpcodec.pictures.compressed.boxes import contents

START = b"\xff\x0a"
CONTAINER = b"\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a"

_RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
_ALPHA, _SPOT, _FILTER_ARRAY = 0, 2, 5
_GRAY = 1
_D65, _SRGB_PRIMARIES, _SRGB_CURVE = 1, 1, 13

_Choice = tuple[int, int]
"""A number that may follow: its offset, and its bits."""
_SIDE: tuple[_Choice, ...] = ((1, 9), (1, 13), (1, 18), (1, 30))
_ENUM: tuple[_Choice, ...] = ((0, 0), (1, 0), (2, 4), (18, 6))


class Header(NamedTuple):
    """What a codestream says about its picture.

    Parameters
    ----------
    width, height : int
        In pixels, of the picture as decoders turn it.
    colours : int
        1 gray, 3 colour.
    depth : int
        Bits a sample.
    floating : bool
        Whether the samples are floating-point.
    extra : tuple of int
        Kinds of the further planes; 0 is alpha.
    premultiplied : bool
        Whether alpha is multiplied into the colours.
    animated : bool
    srgb : bool
        Whether the colours, or gray, are those of sRGB.
    """

    width: int
    height: int
    colours: int
    depth: int
    floating: bool
    extra: tuple[int, ...]
    premultiplied: bool
    animated: bool
    srgb: bool

    @property
    def planes(self) -> int:
        """Number of planes, with all further ones."""
        return self.colours + len(self.extra)


def header_of(data: bytes) -> Header:
    """Read the header of a file, a codestream or a container of boxes.

    Raises
    ------
    ValueError
        If the codestream is missing or ends in its header.
    """
    bits = _Bits(_codestream(data))
    height, width = _size(bits)
    depth, floating, extra, premultiplied, animated = 8, False, [], False, False
    if bits.flag():  # everything has its default
        return Header(width, height, 3, 8, False, (), False, False, True)
    if bits.flag():
        turned, animated = _about_frames(bits)
        if turned:
            width, height = height, width
    depth, floating = _depth(bits)
    bits.flag()  # whether 16 bits are enough for the decoder
    for _ in range(bits.number((0, 0), (1, 0), (2, 4), (1, 12))):
        kind, multiplied = _extra_plane(bits)
        extra.append(kind)
        premultiplied |= multiplied
    bits.flag()  # whether the colours were transformed
    colours, srgb = _colours(bits)
    return Header(
        width, height, colours, depth, floating, tuple(extra), premultiplied, animated, srgb
    )


def _codestream(data: bytes) -> bytes:
    if data.startswith(CONTAINER):
        whole = contents(data, b"jxlc")
        # A part begins with its number.
        data = whole[0] if whole else b"".join(part[4:] for part in contents(data, b"jxlp"))
    if not data.startswith(START):
        raise ValueError("JPEG XL has no codestream")
    return data[len(START) : len(START) + (1 << 16)]


class _Bits:
    """Reads bits, the lowest of each byte first."""

    def __init__(self, data: bytes):
        self._all = int.from_bytes(data, "little")
        self._left = 8 * len(data)

    def read(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise ValueError("JPEG XL ends in its header")
        found = self._all & ((1 << count) - 1)
        self._all >>= count
        return found

    def flag(self) -> bool:
        return bool(self.read(1))

    def number(self, *choices: _Choice) -> int:
        """Read which of four choices follows, and its bits."""
        offset, count = choices[self.read(2)]
        return offset + self.read(count)


def _size(bits: _Bits) -> tuple[int, int]:
    """Read height and width."""
    eights = bits.flag()

    def side() -> int:
        return 8 * (bits.read(5) + 1) if eights else bits.number(*_SIDE)

    height = side()
    return height, _width(bits, height) or side()


def _width(bits: _Bits, height: int) -> int:
    """Read the ratio of the sides; return 0 if the width follows."""
    ratio = bits.read(3)
    if not ratio:
        return 0
    across, down = _RATIOS[ratio - 1]
    return height * across // down


def _about_frames(bits: _Bits) -> tuple[bool, bool]:
    """Return whether the picture is shown lying, and whether it is an animation."""
    orientation = bits.read(3) + 1
    if bits.flag():
        _size(bits)  # of the screen that it was made for
    if bits.flag():  # a preview
        eights = bits.flag()

        def side() -> int:
            if eights:
                return 8 * bits.number((16, 0), (32, 0), (1, 5), (33, 9))
            return bits.number((1, 6), (65, 8), (321, 10), (1345, 12))

        height = side()
        if not _width(bits, height):
            side()
    animated = bits.flag()
    if animated:
        bits.number((100, 0), (1000, 0), (1, 10), (1, 30))
        bits.number((1, 0), (1001, 0), (1, 8), (1, 10))
        bits.number((0, 0), (0, 3), (0, 16), (0, 32))
        bits.flag()
    return orientation > 4, animated


def _depth(bits: _Bits) -> tuple[int, bool]:
    floating = bits.flag()
    if floating:
        depth = bits.number((32, 0), (16, 0), (24, 0), (1, 6))
        bits.read(4)
    else:
        depth = bits.number((8, 0), (10, 0), (12, 0), (1, 6))
    return depth, floating


def _extra_plane(bits: _Bits) -> tuple[int, bool]:
    """Return the kind of a plane, and whether it is multiplied into the colours."""
    if bits.flag():
        return _ALPHA, False
    kind = bits.number(*_ENUM)
    _depth(bits)
    bits.number((0, 0), (3, 0), (4, 0), (1, 3))
    bits.read(8 * bits.number((0, 0), (0, 4), (16, 5), (48, 10)))
    if kind == _ALPHA:
        return kind, bits.flag()
    if kind == _SPOT:
        bits.read(64)
    if kind == _FILTER_ARRAY:
        bits.number((1, 0), (0, 2), (3, 4), (19, 8))
    return kind, False


def _colours(bits: _Bits) -> tuple[int, bool]:
    """Return the number of colours, and whether they are those of sRGB."""
    if bits.flag():
        return 3, True
    profile = bits.flag()
    space = bits.number(*_ENUM)
    colours = 1 if space == _GRAY else 3
    if profile or space not in (0, _GRAY) or bits.number(*_ENUM) != _D65:
        return colours, False
    if space != _GRAY and bits.number(*_ENUM) != _SRGB_PRIMARIES:
        return colours, False
    return colours, not bits.flag() and bits.number(*_ENUM) == _SRGB_CURVE
