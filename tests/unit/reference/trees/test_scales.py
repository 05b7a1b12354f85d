"""Scales, partitions and the scale transform."""

import numpy as np
import pytest

from mmpcodec.reference.trees.scales import (
    COLUMNS,
    LEAF,
    ROOT_SCALE,
    ROWS,
    SCALES,
    Scale,
    allowed_flags,
    reachable_scales,
    rescale,
    resize_rows,
)
from mmpcodec.tools import Partition


def test_25_scales_and_961_segments():
    assert len(SCALES) == 25
    assert sum((1 << s.n) * (1 << s.m) for s in SCALES) == 961
    assert [s.number for s in SCALES] == list(range(25))
    assert (SCALES[7].height, SCALES[7].width) == (8, 4)


@pytest.mark.parametrize(
    ("row", "width", "expected"),
    [
        ([10, 13], 1, [12]),  # (23 + 1) // 2: halves round up
        ([10, 12], 1, [11]),
        ([0, 1, 0, 0], 1, [0]),  # (1 + 2) // 4
        ([0, 1, 1, 0], 1, [1]),  # (2 + 2) // 4
        ([0, 100], 4, [0, 25, 50, 75]),
        ([100, 0], 4, [100, 75, 50, 25]),
        ([0, 1], 4, [0, 0, 1, 1]),  # 1/4, 1/2, 3/4 rounded half up
        ([1, 0], 4, [1, 1, 1, 0]),  # -1/4, -1/2, -3/4 rounded half up
        ([10, 20, 40, 80], 8, [10, 14, 18, 23, 30, 38, 50, 65]),
        ([7], 16, [7] * 16),
        ([3, 1, 4, 1], 4, [3, 1, 4, 1]),
    ],
)
def test_resize_rows(row, width, expected):
    assert resize_rows(np.array([row], np.uint8), width).tolist() == [expected]


def test_rescale_takes_rows_before_columns():
    # Rows first: means 1/4 and 1/4 round to 0. Columns first: 1/2 and 1/2 round to 1.
    block = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], np.uint8)
    assert rescale(block, Scale(4, 4)).tolist() == [[0]]
    assert rescale(block.T, Scale(4, 4)).tolist() == [[1]]


def test_rescale_keeps_range_and_shape():
    rng = np.random.default_rng(5)
    for source in SCALES:
        block = rng.integers(0, 2, (source.height, source.width), dtype=np.uint8) * 255
        for target in SCALES:
            out = rescale(block, target)
            assert out.shape == (target.height, target.width)
            assert out.dtype == np.uint8
        assert (rescale(block, source) == block).all()


def test_partitions():
    flexible = allowed_flags(ROOT_SCALE, Partition.FLEXIBLE)
    assert flexible == (LEAF, COLUMNS, ROWS)
    assert allowed_flags(Scale(4, 4), Partition.FLEXIBLE) == (LEAF,)
    assert allowed_flags(Scale(4, 1), Partition.FLEXIBLE) == (LEAF, COLUMNS)
    assert allowed_flags(Scale(1, 4), Partition.FLEXIBLE) == (LEAF, ROWS)
    assert allowed_flags(Scale(2, 2), Partition.DYADIC) == (LEAF, COLUMNS)
    assert allowed_flags(Scale(2, 3), Partition.DYADIC) == (LEAF, ROWS)
    assert reachable_scales(Partition.FLEXIBLE) == SCALES
    assert [(s.n, s.m) for s in reachable_scales(Partition.DYADIC)] == [
        (0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4),
    ]  # fmt: skip
