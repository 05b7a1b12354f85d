"""The rank filters of the cuda backend are those of cpu."""

import numpy as np
import pytest

from mmpcodec.solvers.rank_filter import median_filter, percentile_filter, rank_filter
from mmpcodec.solvers.rank_filter.borders import MODES

pytestmark = pytest.mark.gpu


def noise(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    if dtype == "f4":
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def same(function, picture, *arguments, **options):
    expected = function(picture, *arguments, backend="cpu", **options)
    found = function(picture, *arguments, backend="cuda", **options)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


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


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("size", [3, (7, 11), 21])
def test_types_and_borders(dtype, mode, size):
    picture = noise((61, 83), dtype)
    same(median_filter, picture, size, mode=mode, cval=3)
    mask = np.random.default_rng(0).random(picture.shape) < 0.3
    mask[:30, :40] = False
    same(median_filter, picture, size, mode=mode, cval=3, mask=mask)
    if dtype == "f4":
        picture[10:50, 20:60] = np.nan
        same(percentile_filter, picture, 75, size, mode=mode)


def test_pictures_stay_where_they_are():
    import cupy

    picture = noise((100, 120), "u1")
    there = cupy.asarray(picture)
    for size in (3, 21):
        found = median_filter(there[:, 1:], size)
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_array_equal(found.get(), median_filter(picture[:, 1:], size))
