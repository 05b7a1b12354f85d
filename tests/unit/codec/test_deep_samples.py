"""Samples of more than 8 bits: rate, error, and which backends code them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.strategies import CONTENT, natural

from mmpcodec import BackendUnavailable, EncodeParams, backends, pictures
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.presets import PRESETS
from mmpcodec.tools import TreeTools

CPU = CpuBackend()
CAMERA = pictures.read(Path(__file__).parents[3] / "images" / "camera.pgm").samples[
    100:260, 180:340
]
DEPTHS = (9, 10, 12, 16)


def photo(lam, effort=3):
    return EncodeParams.from_options(lam, preset="photo", effort=effort, cross_component=0)


def psnr(picture, samples, depth):
    error = np.square(picture.astype(float) - samples).mean()
    return 10 * np.log10(((1 << depth) - 1) ** 2 / error)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("lam", [2, 8, 60])
def test_a_shifted_picture_costs_as_much_and_looks_as_well(depth, lam):
    shifted = CAMERA.astype(np.uint16) << (depth - 8)
    coded, deep = (
        CPU.encode(PlaneTask(CAMERA, photo(lam))),
        CPU.encode(PlaneTask(shifted, photo(lam), depth=depth)),
    )
    assert len(deep.payload) == pytest.approx(len(coded.payload), rel=0.03)
    expected = psnr(CAMERA, coded.samples, 8)
    # Its peak is not quite the shifted one, and lambda 2 is steep.
    assert psnr(shifted, deep.samples, depth) == pytest.approx(expected, abs=0.3)


def test_a_smooth_picture_comes_back_better_than_8_bits_could_tell():
    """Rounding to 8 bits alone leaves 58.9 dB."""
    i, j = np.indices((96, 110))
    surface = 2000 + 1500 * np.sin(i / 40) * np.cos(j / 55) + 3 * j
    picture = np.round(surface).astype(np.uint16)
    coded = CPU.encode(PlaneTask(picture, photo(0.005), depth=12))
    assert psnr(picture, coded.samples, 12) > 70
    # In 8 bits the same takes more: what rounding adds is noise.
    rounded = (picture >> 4).astype(np.uint8)
    assert len(coded.payload) < len(CPU.encode(PlaneTask(rounded, photo(0.005))).payload)


@pytest.mark.parametrize("depth", DEPTHS)
def test_smaller_lambda_is_a_smaller_error_and_more_bytes(depth):
    """Also where a bit costs far less than 1/16 of an 8-bit level's squared error."""
    rng = np.random.default_rng(1)
    surface = natural(rng, 64, 64) + rng.normal(0, 0.3, (64, 64))
    picture = (np.clip(surface, 0, 255) * (1 << (depth - 8))).astype(np.uint16)
    coded = [
        CPU.encode(PlaneTask(picture, photo(lam), depth=depth)) for lam in (0.01, 0.03, 0.1, 1, 10)
    ]
    sizes = [len(each.payload) for each in coded]
    quality = [psnr(picture, each.samples, depth) for each in coded]
    assert sizes == sorted(sizes, reverse=True)
    assert quality == sorted(quality, reverse=True)
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("backend", [CPU, ReferenceBackend()], ids=lambda each: each.name)
def test_what_is_lacking(backend):
    for depth in (8, *DEPTHS):
        assert backend.lacks(PRESETS["photo"], depth) is None
        assert backend.lacks(PRESETS["lossless"], depth) is None
    assert backend.lacks(PRESETS["plain"]) is None
    for preset in ("plain", "text", "mixed"):
        assert backend.lacks(PRESETS[preset], 12) == "trees of samples of 12 bits"
    assert backend.lacks(PRESETS["photo"], 7) == "predicted blocks of samples of 7 bits"


@pytest.mark.parametrize("backend", [CPU, ReferenceBackend()], ids=lambda each: each.name)
@pytest.mark.parametrize("preset", ["plain", "mixed"])
def test_trees_of_deep_samples_are_refused(backend, preset):
    params = EncodeParams.from_options(preset=preset)
    picture = np.zeros((8, 8), np.uint16)
    message = f"backend {backend.name} cannot run here: it has no trees of samples of 10 bits"
    with pytest.raises(BackendUnavailable, match=message):
        backend.encode(PlaneTask(picture, params, depth=10))
    with pytest.raises(BackendUnavailable, match=message):
        backend.encode_batch([PlaneTask(picture, params, depth=10)])
    with pytest.raises(BackendUnavailable, match=message):
        backend.decode(b"", (8, 8), params.coded_tools, depth=10)


def test_cuda_codes_deep_samples_and_auto_takes_the_processor(monkeypatch):
    cuda = CudaBackend()
    assert cuda.lacks(PRESETS["photo"], 12) is None
    for preset in ("mixed", "plain", "text"):
        assert cuda.lacks(PRESETS[preset], 12) == "trees of samples of 12 bits"
    assert cuda.lacks(PRESETS["lossless"], 12) == "lossless samples"
    monkeypatch.setattr(backends.Row, "is_installed", lambda row: True)
    assert backends.get("auto", 1 << 30, PRESETS["photo"], 12).name == "cpu"
    with pytest.raises(BackendUnavailable, match="trees of samples of 12 bits"):
        backends.get("auto", 1, TreeTools(), 12)


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_post_filter_mends_deep_samples(depth):
    """Its price is in units of 8-bit samples, so it pays where it pays for 8 bits."""
    rng = np.random.default_rng(3)
    picture = CONTENT["natural"](rng, 128, 128)
    shifted = picture.astype(np.uint16) << (depth - 8)
    params = photo(60, effort=6)
    coded = CPU.encode(PlaneTask(shifted, params, depth=depth))
    own = CPU.post_filter
    fitted = own.fit_and_apply(shifted, coded.samples, params.lambda_fixed, depth)[0]
    assert any(fitted)
    shown = own.apply(coded.samples, fitted, depth)
    assert shown.dtype == np.uint16
    assert psnr(shifted, shown, depth) > psnr(shifted, coded.samples, depth) + 0.05
    dear = replace(params, lam=2.0**20).lambda_fixed
    assert not any(own.fit_and_apply(shifted, coded.samples, dear, depth)[0])
