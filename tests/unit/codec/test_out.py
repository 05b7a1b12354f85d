"""Decoding into an array of the caller."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec.errors import ParameterError

RNG = np.random.default_rng(8)
COLOURS = RNG.integers(0, 256, (70, 90, 3), np.uint8)
GRAY = RNG.integers(0, 1000, (30, 40), np.uint16)


@pytest.fixture(scope="module")
def colours():
    return mmpcodec.encode(COLOURS, 0, tile_size=64, effort=1)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_array_is_filled_and_returned(colours, backend):
    out = np.full((70, 90, 3), 255, np.uint8)
    assert mmpcodec.decode(colours, out=out, backend=backend) is out
    np.testing.assert_array_equal(out, COLOURS)


def test_a_region_within_a_larger_array(colours):
    room = np.zeros((4, 50, 60, 4), np.uint8)
    mmpcodec.decode(colours, region=(40, 30, 30, 20), out=room[2, 5:25, 8:38, :3])
    np.testing.assert_array_equal(room[2, 5:25, 8:38, :3], COLOURS[30:50, 40:70])
    room[2, 5:25, 8:38, :3] = 0
    assert not room.any()


@pytest.mark.parametrize("step", [1, 2, -1])
def test_rows_and_pixels_lie_at_any_distance(step):
    data = mmpcodec.encode(GRAY, 0, effort=1)
    room = np.zeros((30 * 2, 40 * 2), np.uint16)
    out = room[::step, ::step][:30, :40]
    mmpcodec.decode(data, out=out)
    np.testing.assert_array_equal(out, GRAY)
    turned = np.zeros((40, 30), np.uint16).T
    np.testing.assert_array_equal(mmpcodec.decode(data, out=turned), GRAY)


def test_inspect_fills_it(colours):
    out = np.empty((70, 90, 3), np.uint8)
    found = mmpcodec.inspect(colours, decode=True, out=out)
    assert found.samples is out
    np.testing.assert_array_equal(out, COLOURS)
    with pytest.raises(ParameterError, match="must be None without decode=True"):
        mmpcodec.inspect(colours, out=out)


def read_only():
    out = np.zeros((70, 90, 3), np.uint8)
    out.flags.writeable = False
    return out


FAULTS = [
    ([1], "out of type list: must be a NumPy array, an array on a CUDA device, or None"),
    (np.zeros((70, 90, 4), np.uint8), r"out has shape \(70, 90, 4\): must be \(70, 90, 3\)"),
    (np.zeros((70, 90, 3), np.uint16), r"out has type <u2: must be \|u1 \(uint8\)"),
    (read_only(), "out is read-only: must be writable"),
    (np.zeros((3, 70, 90), np.uint8).transpose(1, 2, 0), r"out has strides \(90, 1, 6300\): the"),
]


@pytest.mark.parametrize(("out", "message"), FAULTS)
def test_an_array_that_does_not_fit(colours, out, message):
    with pytest.raises(ParameterError, match=message):
        mmpcodec.decode(colours, out=out)


def test_samples_of_other_byte_order_or_between_bytes():
    data = mmpcodec.encode(GRAY, 0, effort=1)
    with pytest.raises(ParameterError, match=r"out has type >u2: must be <u2 \(uint16\)"):
        mmpcodec.decode(data, out=np.zeros((30, 40), ">u2"))
    room = np.zeros((30, 40), [("flag", np.uint8), ("sample", np.uint16)])
    with pytest.raises(ParameterError, match="multiples of 2 bytes"):
        mmpcodec.decode(data, out=room["sample"])
