"""Denoising of pictures."""

import numpy as np
import pytest
from scipy import ndimage

from mmpcodec import ParameterError
from mmpcodec.analysis.denoise import denoise


@pytest.mark.parametrize("backend", ["cpu", "reference", "auto"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 3), (1, 1)])
def test_each_channel_is_filtered(backend, dtype, shape):
    samples = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, shape, dtype)
    found = denoise(samples, 2, backend=backend)
    size = (5, 5, 1)[: samples.ndim]
    np.testing.assert_array_equal(found, ndimage.median_filter(samples, size))
    assert found.dtype == dtype


def test_specks_go_and_edges_stay():
    clean = np.where(np.arange(40) < 20, 30, 200).astype(np.uint8) * np.ones((30, 1), np.uint8)
    specked = clean.copy()
    specked[5, 7] = specked[25, 33] = 255
    np.testing.assert_array_equal(denoise(specked, 1), clean)


@pytest.mark.parametrize(
    ("samples", "radius", "says"),
    [
        (np.zeros((4, 4), np.uint8), 0, "radius = 0: must be from 1 to 127"),
        (np.zeros((4, 4), np.uint8), 128, "radius = 128: must be from 1 to 127"),
        (np.zeros((4, 4), np.uint8), 1.5, "radius = 1.5: must be an integer"),
        (np.zeros((4, 4)), 1, "type float64: must be"),
        (np.zeros((4, 4, 5), np.uint8), 1, r"shape \(4, 4, 5\) and type uint8: must be"),
        (np.zeros((0, 4), np.uint8), 1, "must not be empty"),
    ],
)
def test_bad_input_is_named(samples, radius, says):
    with pytest.raises(ParameterError, match=says):
        denoise(samples, radius)
