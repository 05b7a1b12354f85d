"""Sizes of pictures in AV1 and HEVC streams, which their decoders allocate.

Sources: the AV1 specification, section 5.5; ITU-T H.265, section 7.3.2.2.
"""

from collections.abc import Iterator

_AV1_SEQUENCE = 1
_HEVC_SEQUENCE = 33
_GENERAL_PROFILE = 88
_LEVEL = 8
MOST_OF_HEADER = 512
"""Bytes at the beginning of a unit in which its size is looked for."""


class _Bits:
    """Reads bits, the highest of each byte first."""

    def __init__(self, data: bytes):
        self._all = int.from_bytes(data, "big")
        self._left = 8 * len(data)

    def read(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise ValueError("a sequence header ends early")
        return (self._all >> self._left) & ((1 << count) - 1)

    def unary(self) -> int:
        """Read a number of zeros, and the one behind them."""
        count = 0
        while not self.read(1):
            count += 1
        return count

    def exponential(self) -> int:
        """Read a number in the Exp-Golomb code of order 0."""
        count = self.unary()
        return (1 << count) - 1 + self.read(count)


def av1_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the width and height of each sequence header among the units of an AV1 stream.

    Raises
    ------
    ValueError
        If a unit is cut off or has no size.
    """
    place = 0
    while place < len(data):
        head = data[place]
        place += 2 if head & 4 else 1  # an extension
        if not head & 2:
            size = len(data) - place
        else:
            size, place = _leb128(data, place)
        if place + size > len(data):
            raise ValueError("an AV1 unit is cut off")
        if head >> 3 & 15 == _AV1_SEQUENCE:
            yield _av1_size(_Bits(data[place : place + min(size, MOST_OF_HEADER)]))
        place += size


def _leb128(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for number, byte in enumerate(data[place : place + 8]):
        value |= (byte & 127) << 7 * number
        if not byte & 128:
            return value, place + number + 1
    raise ValueError("an AV1 unit has no size")


def _av1_size(bits: _Bits) -> tuple[int, int]:
    bits.read(4)  # profile, still picture
    if bits.read(1):  # the header of a still picture
        bits.read(5)
    else:
        _skip_operating_points(bits)
    across, down = bits.read(4) + 1, bits.read(4) + 1
    return bits.read(across) + 1, bits.read(down) + 1


def _skip_operating_points(bits: _Bits) -> None:
    delay = model = 0
    if bits.read(1):  # timing
        bits.read(64)
        if bits.read(1):
            count = bits.unary()
            bits.read(count if count < 32 else 0)
        model = bits.read(1)
        if model:
            delay = bits.read(5) + 1
            bits.read(42)
    displays = bits.read(1)
    for _ in range(bits.read(5) + 1):
        bits.read(12)
        if bits.read(5) > 7:
            bits.read(1)
        if model and bits.read(1):
            bits.read(2 * delay + 1)
        if displays and bits.read(1):
            bits.read(4)


def hevc_sizes(data: bytes, prefix: int) -> Iterator[tuple[int, int]]:
    """Yield the width and height of each sequence parameter set among the units of a stream.

    Parameters
    ----------
    data : bytes
    prefix : int
        Bytes of the size before each unit.

    Raises
    ------
    ValueError
        If a unit is cut off.
    """
    place = 0
    while place + prefix <= len(data):
        size = int.from_bytes(data[place : place + prefix], "big")
        place += prefix
        if place + size > len(data):
            raise ValueError("an HEVC unit is cut off")
        yield from hevc_unit_size(data[place : place + min(size, MOST_OF_HEADER)])
        place += size


def hevc_unit_size(unit: bytes) -> Iterator[tuple[int, int]]:
    """Yield the width and height, if a unit is a sequence parameter set."""
    if len(unit) < 3 or unit[0] >> 1 & 63 != _HEVC_SEQUENCE:
        return
    bits = _Bits(unit[2:].replace(b"\0\0\3", b"\0\0"))
    bits.read(4)
    layers = bits.read(3)
    bits.read(1)
    bits.read(_GENERAL_PROFILE + _LEVEL)
    present = [(bits.read(1), bits.read(1)) for _ in range(layers)]
    bits.read(2 * (8 - layers) if layers else 0)
    for profile, level in present:
        bits.read(_GENERAL_PROFILE * profile + _LEVEL * level)
    bits.exponential()
    if bits.exponential() == 3:  # colours of full resolution
        bits.read(1)
    yield bits.exponential(), bits.exponential()
