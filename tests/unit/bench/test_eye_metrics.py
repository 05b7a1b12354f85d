"""Metrics for the eye, against values of the reference programs and against their properties.

SSIMULACRA2 and Butteraugli are those of libjxl at commit aea3a06e, PSNR-HVS-M that of the package
psnr_hvsm 0.3.0, XPSNR that of FFmpeg's filter (libavfilter 11.14) for the second of two equal
frames, which has no activity over time.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures
from mmpcodec.bench.metrics import (
    METRICS,
    NAMES,
    check_libraries,
    measure,
    metric_of,
    metrics_of,
)
from mmpcodec.bench.metrics.butteraugli import butteraugli
from mmpcodec.bench.metrics.psnr_hvs_m import psnr_hvs_m
from mmpcodec.bench.metrics.xpsnr import xpsnr
from mmpcodec.errors import MissingExtra, ParameterError
from mmpcodec.metrics.gaussian import smooth
from mmpcodec.metrics.ssimulacra2 import ssimulacra2

IMAGES = Path(__file__).parents[3] / "images"
ALL = metrics_of("all")


@cache
def original(name):
    """A picture of ``images``, or colours made of three of them: 256x256, or odd sides of it."""
    if name not in ("colour", "odd"):
        return pictures.read(IMAGES / f"{name}.pgm").samples
    camera, brick, page = (
        original(each)[:256, :256].astype(int) for each in ("camera", "brick", "page")
    )
    colour = np.stack([camera, (camera + brick) // 2, (brick + page) // 2], 2).astype(np.uint8)
    return colour[:201, :173] if name == "odd" else colour


def coarse(samples):
    """Every twelfth level."""
    return np.minimum(samples // 12 * 12 + 6, 255).astype(np.uint8)


def blurred(samples):
    """Means of 2x2 samples."""
    wide = np.pad(samples.astype(int), ((0, 1), (0, 1), (0, 0))[: samples.ndim], "edge")
    total = wide[:-1, :-1] + wide[1:, :-1] + wide[:-1, 1:] + wide[1:, 1:]
    return ((total + 2) // 4).astype(np.uint8)


def grain(samples):
    """A pattern of up to 6 levels, opposite in red and green, and half of it in blue."""
    rows, columns = np.indices(samples.shape[:2])
    pattern = (rows * 73 + columns * 151 + rows * columns * 31) % 13 - 6
    if samples.ndim == 3:
        pattern = np.stack([pattern, -pattern, pattern // 2], 2)
    return np.clip(samples.astype(int) + pattern, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("name", "change", "score", "largest", "norm"),
    [
        ("camera", blurred, 37.944, 18.4962, 6.1472),
        ("camera", grain, 75.840, 2.9065, 1.6973),
        ("brick", coarse, 65.447, 6.3451, 2.9266),
        ("page", grain, 79.290, 2.4331, 1.4184),
        ("terminal", coarse, 43.027, 2.9577, 2.5627),
        ("terminal", blurred, -34.054, 16.3396, 8.6469),
        ("colour", coarse, 45.651, 17.7181, 5.4188),
        ("colour", blurred, 48.601, 12.4474, 4.6636),
        ("colour", grain, 91.275, 1.2290, 0.6372),
        ("odd", coarse, 45.940, 16.7047, 5.2267),
        ("odd", blurred, 49.683, 11.8216, 4.8564),
        ("odd", grain, 91.667, 1.1661, 0.6503),
    ],
)
def test_values_of_libjxl(name, change, score, largest, norm):
    pair = original(name), change(original(name))
    assert ssimulacra2(*pair, white=255) == pytest.approx(score, abs=0.06)
    assert butteraugli(*pair, white=255) == pytest.approx((largest, norm), rel=2e-4)


@pytest.mark.parametrize(
    ("name", "change", "masked", "weighted"),
    [
        ("camera", coarse, 21.8465, 23.8872),
        ("camera", blurred, 27.3672, 27.9483),
        ("camera", grain, 43.9916, 28.2727),
        ("brick", coarse, 34.3665, 27.6745),
        ("brick", blurred, 25.7438, 25.4811),
        ("page", grain, 44.5924, 32.2738),
        ("terminal", coarse, 28.9416, 20.1451),
        ("terminal", blurred, 21.9946, 23.0573),
    ],
)
def test_values_of_psnr_hvsm_and_ffmpeg(name, change, masked, weighted):
    pair = original(name), change(original(name))
    assert psnr_hvs_m(*pair, white=255) == pytest.approx(masked, abs=1e-3)
    assert xpsnr(*pair, white=255) == pytest.approx(weighted, abs=1e-3)


def test_xpsnr_of_large_pictures_is_that_of_ffmpeg():
    """Above 2048x1152 samples, activity is that of means of 2x2 samples."""
    large = np.tile(original("camera"), (3, 4))
    assert xpsnr(large, blurred(large), white=255) == pytest.approx(29.2670, abs=1e-3)


def test_both_values_of_butteraugli(waves):
    found = measure(waves, coarse(waves), metrics=ALL).values
    both = found["butteraugli"], found["butteraugli_3"]
    assert both == butteraugli(waves, coarse(waves), white=255)
    assert both[0] > both[1]


@pytest.fixture
def waves():
    """A 179x200 picture of waves, of odd height."""
    rows, columns = np.indices((179, 200))
    return (128 + 60 * np.sin(rows / 9) + 40 * np.cos(columns / 5)).astype(np.uint8)


def test_equal_pictures_have_the_best_values(waves):
    quality = measure(waves, waves, metrics=ALL)
    assert quality.values == {each.key: each.best for each in ALL} | {
        "ssim": pytest.approx(1),
        "ms_ssim": pytest.approx(1),
    }


@pytest.mark.parametrize("planes", [1, 3])
def test_8_and_16_bits_have_the_same_values(waves, planes):
    samples = waves if planes == 1 else np.stack([waves, waves[::-1], waves // 2], 2)
    pair = samples, grain(samples)
    wide = [each.astype(np.uint16) for each in pair]
    found = measure(*pair, metrics=ALL).values
    assert measure(*wide, metrics=ALL).values == found
    scaled = measure(*(257 * each for each in wide), white=65535, metrics=ALL).values
    assert scaled == pytest.approx(found, rel=1e-9)


def test_gray_is_equal_red_green_and_blue(waves):
    pair = waves, grain(waves)
    gray = measure(*pair, metrics=ALL)
    colour = measure(*(np.stack([each] * 3, 2) for each in pair), metrics=ALL)
    assert colour.values == pytest.approx(gray.values, rel=1e-9)


def test_luma_is_that_of_601(waves):
    """Red and blue errors that leave luma alone are not seen by the metrics of luma."""
    rgb = 100 * np.stack([waves] * 3, 2).astype(np.int32)
    for metric in (psnr_hvs_m, xpsnr):
        hidden, red = (
            metric(rgb, rgb + np.array(error), white=25500)
            for error in ([114, 0, -299], [114, 0, 0])
        )
        assert hidden is None or hidden > 200
        assert red < 60


@pytest.mark.parametrize("metric", ALL, ids=NAMES)
def test_stronger_errors_are_worse(waves, metric):
    pattern = grain(waves).astype(int) - waves
    weak, strong = (
        measure(waves, waves + step * pattern, metrics=[metric]).values[metric.key]
        for step in (1, 3)
    )
    assert metric.sign * weak > metric.sign * strong


@pytest.mark.parametrize("metric", metrics_of("ssimulacra2,butteraugli,butteraugli-3,psnr-hvs-m"))
def test_pictures_below_8_samples_a_side_have_no_value(waves, metric):
    for height, there in ((7, False), (8, True)):
        pair = waves[:height], coarse(waves[:height])
        assert (measure(*pair, metrics=[metric]).values[metric.key] is not None) == there


def test_xpsnr_without_blocks_is_psnr(waves):
    pair = waves[:40, :50], coarse(waves[:40, :50])
    found = measure(*pair, metrics=metrics_of("psnr,xpsnr")).values
    assert found["xpsnr"] == pytest.approx(found["psnr"])


def test_xpsnr_forgives_errors_in_busy_blocks():
    busy = np.full((128, 256), 100, np.uint8)
    busy[:, 128:] += np.indices((128, 128)).sum(axis=0).astype(np.uint8) % 2 * 80
    left, right = busy.copy(), busy.copy()
    left[40:80, 40:80] += 5
    right[40:80, 168:208] += 5
    assert xpsnr(busy, right, white=255) > xpsnr(busy, left, white=255) + 5


def test_psnr_hvs_m_sees_no_masked_error():
    """An error of a high frequency hides in a block with much contrast, not in an even one."""
    rows = np.cos(np.pi * (2 * np.arange(8) + 1) * np.arange(8)[:, None] / 16)
    busy = np.rint(128 + 60 * np.outer(rows[3], rows[3])).astype(np.uint16) * 100
    even = np.full((8, 8), 12800, np.uint16)
    error = np.rint(100 * np.outer(rows[7], rows[7])).astype(int)
    assert psnr_hvs_m(busy, (busy + error).astype(np.uint16), white=25500) is None
    assert psnr_hvs_m(even, (even + error).astype(np.uint16), white=25500) < 80


def test_the_window_is_nine_cosines_wide_and_has_sum_1():
    planes = np.zeros((1, 21, 30), np.float32)
    planes[0, 10, 12] = 1
    (found,) = smooth(planes)
    middle = found[10] / found[10, 12]
    assert found.sum() == pytest.approx(1, abs=1e-4)
    assert np.allclose(found[6:15, 8:17], found[6:15, 8:17].T, atol=1e-6)
    assert np.allclose(middle[8:17], np.exp(-(np.arange(-4, 5) ** 2) / (2 * 1.5**2)), atol=0.02)
    assert np.abs(found[:6]).max() < 1e-5
    assert np.abs(found[:, 17:]).max() < 1e-5


def test_names():
    assert [each.name for each in metrics_of("xpsnr, ms_ssim,psnr")] == ["psnr", "ms-ssim", "xpsnr"]
    assert [each.name for each in metrics_of(None)] == ["psnr", "ssim", "ms-ssim"]
    assert metric_of("butteraugli_3") is METRICS["butteraugli_3"]
    with pytest.raises(
        ParameterError, match=r"--metrics psnr,vmaf: must be all, or some of psnr,ss"
    ):
        metrics_of("psnr,vmaf")
    with pytest.raises(ParameterError, match="metric = 'vmaf': must be one of psnr, ssim, ms-ssim"):
        metric_of("vmaf")


def test_ssimulacra2_needs_numpy_only(waves, monkeypatch):
    for module in ("scipy", "scipy.ndimage", "skimage.metrics"):
        monkeypatch.setitem(sys.modules, module, None)
    metrics = metrics_of("ssimulacra2")
    check_libraries(metrics)
    assert measure(waves, waves, metrics=metrics).values == {"ssimulacra2": 100}
    with pytest.raises(MissingExtra, match="SciPy"):
        check_libraries(metrics_of("ssimulacra2,butteraugli"))
