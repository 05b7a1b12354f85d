"""The metrics, against scikit-image and against values worked out by hand."""

import sys

import numpy as np
import pytest

from mmpcodec import MissingExtra
from mmpcodec.bench.metrics import measure
from mmpcodec.bench.metrics.ms_ssim import MS_SSIM_WEIGHTS, _similarities, ms_ssim
from mmpcodec.bench.metrics.psnr import max_error, psnr
from mmpcodec.bench.metrics.ssim import ssim


@pytest.fixture
def pair():
    """A 180x200 picture of waves, and the same with noise."""
    rows, columns = np.indices((180, 200))
    picture = (128 + 60 * np.sin(rows / 9) + 40 * np.cos(columns / 5)).astype(np.uint8)
    noise = np.random.default_rng(3).normal(0, 6, picture.shape)
    return picture, np.clip(picture + noise, 0, 255).astype(np.uint8)


def test_psnr_and_largest_error_by_hand():
    original = np.full((20, 20), 100, np.uint8)
    decoded = original.copy()
    decoded[0, 0] = 80  # 400 over 400 samples: a mean squared error of 1
    quality = measure(original, decoded)
    assert quality.values["psnr"] == pytest.approx(20 * np.log10(255))
    assert quality.max_error == 20
    assert psnr(original, decoded, white=4095) == pytest.approx(20 * np.log10(4095))


def test_differences_do_not_wrap_around():
    assert max_error(np.array([[0]], np.uint8), np.array([[255]], np.uint8)) == 255
    assert max_error(np.array([[65535]], np.uint16), np.array([[0]], np.uint16)) == 65535


def test_equal_pictures(pair):
    quality = measure(pair[0], pair[0])
    assert (quality.values["psnr"], quality.max_error) == (None, 0)
    assert quality.values["ssim"] == pytest.approx(1)
    assert quality.values["ms_ssim"] == pytest.approx(1)


def test_the_pieces_of_ms_ssim_make_the_ssim_of_scikit_image(pair):
    luminance, contrast_structure = _similarities(*(x.astype(float) for x in pair), 255)
    # scikit-image cuts its window at 3.5 sigma and takes the mean off the same border.
    assert (luminance * contrast_structure).mean() == pytest.approx(
        ssim(*pair, white=255), abs=1e-12
    )


def test_ms_ssim_of_a_shift_in_brightness():
    """Contrast and structure stay; only luminance at the last scale counts."""
    original = np.full((176, 176), 100, np.uint8)
    c1 = (0.01 * 255) ** 2
    luminance = (2 * 100 * 120 + c1) / (100**2 + 120**2 + c1)
    expected = luminance ** MS_SSIM_WEIGHTS[-1]
    assert ms_ssim(original, original + 20, white=255) == pytest.approx(expected)


def test_ms_ssim_of_an_opposite_is_zero_and_not_complex(pair):
    assert ms_ssim(pair[0], 255 - pair[0], white=255) == 0


def test_coarse_scales_forgive_noise(pair):
    quality = measure(*pair)
    assert quality.values["ssim"] < quality.values["ms_ssim"] < 1


@pytest.mark.parametrize(
    ("side", "has_ssim", "has_ms_ssim"),
    [(10, False, False), (11, True, False), (175, True, False), (176, True, True)],
)
def test_small_pictures_have_no_windows(side, has_ssim, has_ms_ssim):
    picture = np.arange(side * 200, dtype=np.uint32).reshape(side, 200).astype(np.uint8)
    quality = measure(picture, picture // 2)
    assert (quality.values["ssim"] is not None) == has_ssim
    assert (quality.values["ms_ssim"] is not None) == has_ms_ssim


def test_colour_is_three_pictures(pair):
    gray = measure(*pair)
    colour = measure(*(np.stack([x] * 3, axis=2) for x in pair))
    assert colour.values["psnr"] == pytest.approx(gray.values["psnr"])
    assert colour.values["ssim"] == pytest.approx(gray.values["ssim"])
    assert colour.values["ms_ssim"] == pytest.approx(gray.values["ms_ssim"])


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="shapes differ"):
        measure(np.zeros((2, 3)), np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("module", "package"), [("skimage.metrics", "scikit-image"), ("scipy.ndimage", "SciPy")]
)
def test_without_a_package_the_extra_is_named(module, package, pair, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    message = rf"metrics of pictures need {package}; .*'\.\[measure\]'"
    with pytest.raises(MissingExtra, match=message):
        measure(*pair)
