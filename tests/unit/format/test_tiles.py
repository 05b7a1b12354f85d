"""Tiles of the format: which tiles an area touches, and limits on their number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmpcodec
from mmpcodec import LimitExceeded, ParameterError
from mmpcodec.codec import decoder
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import (
    Area,
    blocks_of,
    bounds_of,
    check_region,
    grouped,
    tile_count,
    tiles_of,
    tiles_touching,
)


@given(st.integers(1, 300), st.integers(1, 300), st.one_of(st.just(0), st.integers(64, 400)))
def test_tiles_cover_the_picture_once(height, width, size):
    covered = np.zeros((height, width), int)
    tiles = list(tiles_of(height, width, size))
    for number, tile in enumerate(tiles):
        assert tile.number == number
        assert tile.width <= (size or width)
        covered[tile.slices] += 1
    assert (covered == 1).all()
    assert len(tiles) == tile_count(height, width, size)
    assert [(tile.y, tile.x) for tile in tiles] == sorted((tile.y, tile.x) for tile in tiles)


def test_groups_are_filled_up_to_the_most():
    assert list(grouped([1, 2, 4, 3, 1], int, 3)) == [[1, 2], [4], [3], [1]]


def test_tiles_of_an_area_are_those_that_have_its_pixels():
    tiles = list(tiles_of(150, 210, 64))
    for area in (Area(0, 0, 1, 1), Area(63, 64, 2, 64), Area(128, 128, 82, 22), Area(0, 0, 210, 1)):
        expected = [tile for tile in tiles if tile.common(area)]
        assert list(tiles_touching(area, 150, 210, 64)) == expected


@given(
    st.integers(1, 500),
    st.integers(1, 500),
    st.one_of(st.just(0), st.integers(64, 300)),
    st.integers(1, 1 << 16),
)
def test_blocks_are_rectangles_of_each_tile_once(height, width, size, most):
    whole = Area(0, 0, width, height)
    blocks = list(blocks_of(whole, height, width, size, most))
    tiles = [tile for block in blocks for tile in block]
    assert sorted(tiles, key=lambda tile: tile.number) == list(tiles_of(height, width, size))
    for block in blocks:
        bounds = bounds_of(block)
        assert bounds.pixels == sum(tile.pixels for tile in block)
        assert all(tile.common(bounds) == Area(*_area(tile)) for tile in block)
        assert len(block) == 1 or bounds.pixels <= most


def _area(tile):
    return tile.x, tile.y, tile.width, tile.height


def test_limits_come_before_tiles_are_listed(monkeypatch):
    header = Header(89600, 89600, tile_size=640, tile_bytes=(10,) * 140**2)
    data = container.write_header(header) + bytes(10 * 140**2)
    monkeypatch.setattr(decoder, "tiles_touching", None)
    with pytest.raises(LimitExceeded, match="picture is 89600x89600: 8028160000 samples in whole"):
        mmpcodec.inspect(data + bytes(sum(header.tile_bytes)), allow_partial=True)


def test_areas():
    a, b = Area(10, 20, 30, 40), Area(25, 0, 50, 30)
    assert a.common(b) == b.common(a) == Area(25, 20, 15, 10)
    assert a.common(b).within(a) == Area(15, 0, 15, 10)
    assert a.common(Area(40, 20, 5, 5)) is None
    assert str(a) == "30x40 at (10, 20)"
    assert check_region([1, 2, 3, 4], 6, 4) == Area(1, 2, 3, 4)
    assert check_region(np.array([1, 2, 3, 4]), 6, 4) == Area(1, 2, 3, 4)
    with pytest.raises(ParameterError, match=r"region = 3x4 at \(2, 2\): must have pixels and lie"):
        check_region((2, 2, 3, 4), 6, 4)
    with pytest.raises(ParameterError, match="must be four integers"):
        check_region((True, 0, 1, 1), 6, 4)
