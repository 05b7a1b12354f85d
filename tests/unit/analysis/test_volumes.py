"""Bright boxes of volumes: the best of all boxes, counted by hand; spacing in millimetres."""

from itertools import combinations

import numpy as np
import pytest

from mmpcodec.analysis.regions import Limits, find_regions
from mmpcodec.analysis.volumes import Spacing, find_boxes
from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.pictures import Picture


def best(volume, offset):
    """The largest sum of a box, of all boxes."""
    spans = [list(combinations(range(side + 1), 2)) for side in volume.shape]
    weights = volume.astype(float) - offset
    return max(
        weights[a:b, c:d, e:f].sum() for a, b in spans[0] for c, d in spans[1] for e, f in spans[2]
    )


@pytest.mark.parametrize("seed", range(6))
def test_no_box_is_brighter(seed):
    volume = np.random.default_rng(seed).integers(0, 256, (4, 5, 6)).astype(np.uint8)
    found = find_boxes(volume, 1, 255, offset=170)
    (box,) = found.boxes
    region = box.region
    inside = volume[
        box.front : box.back + 1, region.top : region.bottom + 1, region.left : region.right + 1
    ]
    assert found.offset == 170
    assert region.sum == best(volume, 170) == (inside.astype(float) - 170).sum()
    assert (region.mean, region.least, region.most) == (inside.mean(), inside.min(), inside.max())
    assert region.deviation == pytest.approx(inside.std())
    assert box.depth * region.area == inside.size


def test_a_volume_of_one_slice_is_a_picture():
    picture = np.random.default_rng(1).integers(0, 4096, (9, 12)).astype(np.uint16)
    flat = find_regions(Picture(picture, 12), offset="p70", k=3)
    deep = find_boxes(picture[None], 1, 4095, offset="p70", k=3)
    assert tuple(box.region for box in deep.boxes) == flat.regions
    assert (deep.offset, deep.scale) == (flat.offset, flat.scale)


def test_dark_mask_border_and_limits():
    volume = np.full((5, 12, 12), 200, np.uint8)
    volume[1:4, 4:8, 5:9] = 10
    mask = np.ones((12, 12), np.uint8)
    (box,) = find_boxes(volume, 1, 255, dark=True).boxes
    assert (box.front, box.depth, box.region.top, box.region.left) == (1, 3, 4, 5)
    mask[:, 5] = 0
    (box,) = find_boxes(volume, 1, 255, dark=True, mask=mask, border=1).boxes
    assert (box.region.left, box.region.width) == (6, 3)
    (box,) = find_boxes(volume, 1, 255, dark=True, limits=Limits(max_width=2)).boxes
    assert box.region.width == 2
    with pytest.raises(ParameterError, match=r"mask of shape \(3, 3\)"):
        find_boxes(volume, 1, 255, mask=np.ones((3, 3)))
    with pytest.raises(LimitExceeded):
        find_boxes(np.random.default_rng(0).integers(0, 9, (40, 40, 40)), 1, 9, time_limit=0)


def test_disjoint_boxes_by_rank():
    volume = np.zeros((9, 20, 20), np.uint8)
    volume[1:4, 2:6, 2:6], volume[5:9, 10:18, 12:19] = 250, 240
    first, second = find_boxes(volume, 1, 255, k=5).boxes
    assert (first.front, first.back, first.region.rank, first.middle) == (5, 8, 1, 6)
    assert (second.front, second.back, second.region.rank, second.middle) == (1, 3, 2, 2)


def test_spacing():
    even = Spacing([10.0, 7.5, 5.0, 2.5])
    assert (even.distance, even.is_even, even.extent(1, 2)) == (2.5, True, (3.75, 5.0))
    uneven = Spacing([0.0, 1.0, 2.0, 9.0])
    assert (uneven.distance, uneven.is_even, uneven.extent(2, 3)) == (1.0, False, (1.5, 8.0))
    assert Spacing([3.0]).extent(0, 0) is None
    assert Spacing([3.0, 3.0]).extent(0, 1) is None
