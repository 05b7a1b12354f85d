"""Thumbnails: their size, levels, planes and orientation."""

import struct

import numpy as np
import pytest

from mmpcodec.analysis.thumbnail import thumbnail
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture


def exif(turn, order="<"):
    """EXIF with an orientation only."""
    start = b"II*\0" if order == "<" else b"MM\0*"
    entry = struct.pack(f"{order}HHIHH", 274, 3, 1, turn, 0)
    return start + struct.pack(f"{order}IH", 8, 1) + entry + bytes(4)


@pytest.mark.parametrize(
    ("shape", "side", "expected"),
    [
        ((40, 80), 20, (10, 20)),
        ((80, 40, 3), 20, (20, 10, 3)),
        ((80, 40, 2), 20, (20, 10, 2)),
        ((8, 6, 4), 20, (8, 6, 4)),
        ((1, 3000), 20, (1, 20)),
    ],
)
def test_size_and_planes(shape, side, expected):
    found = thumbnail(Picture(np.full(shape, 90, np.uint8), 8), side)
    assert (found.shape, found.dtype) == (expected, np.uint8)
    assert set(np.unique(found)) == {90}


def test_small_pictures_keep_their_samples():
    samples = np.random.default_rng(1).integers(0, 256, (12, 9, 3)).astype(np.uint8)
    np.testing.assert_array_equal(thumbnail(Picture(samples, 8), 12), samples)


def test_deep_pictures_are_stretched_and_their_alpha_is_not():
    samples = np.zeros((20, 20, 2), np.uint16)
    samples[:, 10:, 0] = 300
    samples[..., 1] = 65535
    samples[0, 0, 1] = 0
    found = thumbnail(Picture(samples, 16), 20)
    assert found[5, 5].tolist() == [0, 255]
    assert found[5, 15].tolist() == [255, 255]
    assert found[0, 0, 1] == 0


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (1, [[1, 2, 3], [4, 5, 6]]),
        (2, [[3, 2, 1], [6, 5, 4]]),
        (3, [[6, 5, 4], [3, 2, 1]]),
        (4, [[4, 5, 6], [1, 2, 3]]),
        (5, [[1, 4], [2, 5], [3, 6]]),
        (6, [[4, 1], [5, 2], [6, 3]]),
        (7, [[6, 3], [5, 2], [4, 1]]),
        (8, [[3, 6], [2, 5], [1, 4]]),
        (9, [[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_pictures_are_upright(turn, expected):
    samples = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    found = thumbnail(Picture(samples, 8, Metadata(exif=exif(turn))), 10)
    assert found.tolist() == expected
