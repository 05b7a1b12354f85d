"""Sizes in quotients and remainders."""

import pytest

from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.format.numbers import Fields, number, remainders


def read(data, count):
    fields = Fields(memoryview(data), "Container")
    return fields.remainders("tile bytes", count), fields.place


def test_the_bits_are_those_that_the_format_says():
    # n = 2: 5 is 10 01, 0 is 0 00, 11 is 110 11.
    assert remainders([5, 0, 11]) == bytes([2, 0b1001_0001, 0b1011_0000])
    assert read(bytes([2, 0b1001_0001, 0b1011_0000, 7]), 3) == ([5, 0, 11], 3)
    assert remainders([0, 0]) == bytes([0, 0])


@pytest.mark.parametrize(
    "values", [[0], [1] * 9, list(range(0, 3000, 7)), [10**9, 0, 3], [1 << 30] * 3]
)
def test_any_values_come_back(values):
    data = remainders(values)
    assert read(data, len(values)) == (values, len(data))


def test_sizes_of_tiles_take_less_than_numbers():
    sizes = [140, 160, 220, 90, 131, 300, 170, 128] * 12
    assert len(remainders(sizes)) < 0.8 * sum(len(number(size)) for size in sizes)


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"\x19\0\0\0\0\0\0\0\0", CorruptStream, "bits of tile bytes is 25, allowed is 0 to 24"),
        (b"\2\0\1", CorruptStream, "bits after tile bytes are not 0"),
        (b"\2\0", TruncatedStream, "only 1 bytes for 3 tile bytes"),
        (b"\2\xff\xff", TruncatedStream, "only 0 of 1 bytes of tile bytes"),
    ],
)
def test_damaged_bits_are_refused(data, error, says):
    with pytest.raises(error, match=says):
        read(data, 3)
