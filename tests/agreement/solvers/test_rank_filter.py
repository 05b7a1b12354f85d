"""The rank filters of the cuda backend are those of cpu."""

import numpy as np
import pytest
from support.arrays import with_type
from support.same import on_both

from mmpcodec.solvers.rank_filter import cuda, median_filter, percentile_filter, rank_filter
from mmpcodec.solvers.rank_filter.borders import MODES

pytestmark = pytest.mark.gpu


def noise(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    if dtype[0] == "f":
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def same(function, picture, *arguments, **options):
    on_both(with_type(function), picture, *arguments, **options)


@pytest.mark.parametrize("size", [3, 5, 7, 9, 15, 31, 101, 255, (1, 255), (255, 1), (3, 41)])
@pytest.mark.parametrize("shape", [(70, 90), (1, 400), (333, 1000), (1100, 130)])
def test_windows(shape, size):
    picture = noise(shape, "u1")
    same(median_filter, picture, size)
    same(rank_filter, picture, 0, size)
    same(rank_filter, picture, -1, size)
    same(percentile_filter, picture, 30, size)
    same(median_filter, picture // 100, size)
    same(median_filter, np.full(shape, 255, np.uint8), size)


@pytest.mark.parametrize("dtype", ["u2", "f4"])
@pytest.mark.parametrize("size", [13, 31, 255, (1, 255), (255, 1), (3, 41)])
@pytest.mark.parametrize("shape", [(70, 90), (1, 400), (333, 1000), (2500, 130)])
def test_windows_of_larger_types(shape, size, dtype):
    picture = noise(shape, dtype)
    same(median_filter, picture, size)
    same(rank_filter, picture, 0, size)
    same(rank_filter, picture, -1, size)
    same(percentile_filter, np.round(picture / picture.max() * 3).astype(dtype), 30, size)
    same(median_filter, np.full(shape, 255, dtype), size)
    mask = np.random.default_rng(0).random(shape) < 0.2
    mask[: shape[0] // 2, : shape[1] // 2] = False
    same(percentile_filter, picture, 70, size, mask=mask)


def test_regions_come_in_parts(monkeypatch):
    picture = noise((900, 400), "u2")
    expected = median_filter(picture, 25)
    monkeypatch.setattr(cuda, "AT_ONCE", 1)
    monkeypatch.setattr(cuda, "HIGHEST", 100)
    np.testing.assert_array_equal(median_filter(picture, 25, backend="cuda"), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4", "f8"])
@pytest.mark.parametrize("size", [3, 4, (2, 5), (7, 11), 21, (40, 24)])
def test_types_and_borders(dtype, mode, size):
    picture = noise((61, 83), dtype)
    same(median_filter, picture, size, mode=mode, cval=3)
    mask = np.random.default_rng(0).random(picture.shape) < 0.3
    mask[:30, :40] = False
    same(median_filter, picture, size, mode=mode, cval=3, mask=mask)
    if dtype[0] == "f":
        picture[10:50, 20:60] = np.nan
        same(percentile_filter, picture, 75, size, mode=mode)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f8"])
def test_windows_of_any_shape(dtype):
    picture = noise((61, 83), dtype)
    for cells in (np.tri(5, 4), np.tri(40, 30)):
        same(median_filter, picture, footprint=cells)
        same(rank_filter, picture, 7, footprint=cells, mask=picture > 3)


def test_pictures_stay_where_they_are():
    import cupy

    for dtype, size in (("u1", 3), ("u1", 21), ("u2", 3), ("u2", 11), ("u2", 21), ("f8", 3)):
        picture = noise((100, 120), dtype)
        there = cupy.asarray(picture)
        found = median_filter(there[:, 1:], size)
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_array_equal(found.get(), median_filter(picture[:, 1:], size))
