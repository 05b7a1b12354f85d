"""Samples of more than 8 bits: what they cost, how well they come back, and who codes them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.strategies import CONTENT, natural

from mmpcodec import BackendUnavailable, EncodeParams, Tools, backends, pictures
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.reference.blocks import prediction
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    CONSTANT,
    FIRST_ANGLE,
    PLANAR,
    Block,
    BlockPlace,
    Units,
)
from mmpcodec.reference.blocks.prediction import References, predict_from, solved, training_sums
from mmpcodec.reference.blocks.templates import average_of_places
from mmpcodec.reference.blocks.transform import basis, forward, inverse
from mmpcodec.tools import PRESETS

CPU = CpuBackend()
CAMERA = pictures.read(Path(__file__).parents[3] / "images" / "camera.pgm").samples[
    100:260, 180:340
]
DEPTHS = (9, 10, 12, 16)


def photo(lam, effort=3):
    return EncodeParams.from_options(lam, preset="photo", effort=effort)


def psnr(picture, samples, depth):
    error = np.square(picture.astype(float) - samples).mean()
    return 10 * np.log10(((1 << depth) - 1) ** 2 / error)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("lam", [2, 8, 60])
def test_a_shifted_picture_costs_as_much_and_looks_as_well(depth, lam):
    shifted = CAMERA.astype(np.uint16) << (depth - 8)
    coded, deep = CPU.encode(CAMERA, photo(lam)), CPU.encode(shifted, photo(lam), depth=depth)
    assert len(deep.payload) == pytest.approx(len(coded.payload), rel=0.03)
    expected = psnr(CAMERA, coded.samples, 8)
    # Its peak is not quite the shifted one.
    assert psnr(shifted, deep.samples, depth) == pytest.approx(expected, abs=0.25)


def test_a_smooth_picture_comes_back_better_than_8_bits_could_tell():
    """Rounding to 8 bits alone leaves 58.9 dB."""
    i, j = np.indices((96, 110))
    surface = 2000 + 1500 * np.sin(i / 40) * np.cos(j / 55) + 3 * j
    picture = np.round(surface).astype(np.uint16)
    coded = CPU.encode(picture, photo(0.01), depth=12)
    assert psnr(picture, coded.samples, 12) > 70
    # In 8 bits the same takes more: what rounding adds is noise.
    rounded = (picture >> 4).astype(np.uint8)
    assert len(coded.payload) < len(CPU.encode(rounded, photo(0.01)).payload)


@pytest.mark.parametrize("depth", DEPTHS)
def test_smaller_lambda_is_a_smaller_error_and_more_bytes(depth):
    """Also where a bit costs far less than 1/16 of an 8-bit level's squared error."""
    rng = np.random.default_rng(1)
    surface = natural(rng, 64, 64) + rng.normal(0, 0.3, (64, 64))
    picture = (np.clip(surface, 0, 255) * (1 << (depth - 8))).astype(np.uint16)
    coded = [CPU.encode(picture, photo(lam), depth=depth) for lam in (0.01, 0.03, 0.1, 1, 10)]
    sizes = [len(each.payload) for each in coded]
    quality = [psnr(picture, each.samples, depth) for each in coded]
    assert sizes == sorted(sizes, reverse=True)
    assert quality == sorted(quality, reverse=True)
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("depth", [8, *DEPTHS])
def test_inverse_undoes_forward_at_every_depth(depth):
    rng = np.random.default_rng(depth)
    limit = 60 << (depth - 8)
    residual = rng.integers(-limit, limit + 1, (16, 32))
    coefficients = forward(residual, False, depth)
    left = np.abs(inverse(coefficients, 16, 32, False, depth) - residual).max()
    # Coefficients are in 1/8 of an 8-bit sample's unit.
    assert left <= max(1, 1 << (depth - 8) >> 1)


def test_sums_of_the_largest_residuals_stay_within_32_bits():
    for side in (4, 8, 16, 32, 64):
        for sine in (False, True):
            weights = int(np.abs(basis(side, sine)).sum(axis=1).max())
            # 15 bits and 1 of sign: what the forward transform sees of samples of 16 bits.
            assert weights * 32768 + (1 << 15) < 1 << 31
            assert weights * 32767 + (1 << 14) < 1 << 31
    black_to_white = np.full((64, 64), 65535)
    assert forward(black_to_white, False, 16)[0, 0] == 32767
    assert forward(-black_to_white, False, 16)[0, 0] == -32767


@pytest.mark.parametrize("depth", DEPTHS)
def test_modes_of_flat_and_of_extreme_surroundings(depth):
    most = (1 << depth) - 1
    flat = References(np.full(32, most), np.full(32, most), most)
    for mode in (AVERAGE, PLANAR, FIRST_ANGLE + 3, FIRST_ANGLE + 20):
        assert (predict_from(mode, flat, 16, 16, depth) == most).all()
    assert (predict_from(CONSTANT, flat, 16, 16, depth) == 1 << (depth - 1)).all()
    rng = np.random.default_rng(0)
    lines = most * rng.integers(0, 2, (2, 8))
    for angle in range(33):
        block = predict_from(FIRST_ANGLE + angle, References(*lines, 0), 4, 4, depth)
        assert block.min() >= 0
        assert block.max() <= most


def test_weights_are_fitted_to_the_first_eight_bits():
    rng = np.random.default_rng(2)
    place = BlockPlace(16, 16, 3, 3)
    units = Units((40, 40))
    for row in range(0, 16, 4):
        for column in range(0, 40, 4):
            units.mark(BlockPlace(row, column, 2, 2), Block(0))
    picture = natural(rng, 40, 40)
    deep = (picture.astype(np.uint16) << 4) + rng.integers(0, 16, (40, 40), np.uint16)
    expected = solved(training_sums(picture, units, place))
    assert solved(training_sums(deep, units, place, 12)) == expected


@pytest.mark.parametrize("limit", ["MOST_VALUE", "MOST_FACTOR"])
def test_weights_are_limited_where_the_equations_have_no_solution(monkeypatch, limit):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(3600).integers(-(2**23), 2**23, (6, 7))
    sums[:, :6] = np.triu(sums[:, :6]) + np.triu(sums[:, :6], 1).T
    assert solved(sums) == [16384, 16384, -16384, 0, 0, 4096]
    monkeypatch.setattr(prediction, limit, 1 << 400)
    assert solved(sums) == [16384, 16384, -16384, -16384, 16384, 16384]


def test_templates_compare_eight_bits_and_average_all():
    rng = np.random.default_rng(5)
    tile = rng.integers(0, 256, (8, 8), np.uint8)
    picture = np.tile(tile, (6, 6)).astype(np.uint16) << 4
    picture += rng.integers(0, 16, picture.shape, np.uint16)
    place = BlockPlace(32, 32, 3, 3)
    decoded = np.full(48, 48)
    decoded[32:] = 32
    predicted = average_of_places(picture, decoded, place, 1, 12)
    # The first place that looks alike is the first of the tiles there.
    assert (predicted == picture[8:16, 8:16]).all()


@pytest.mark.parametrize("backend", [CPU, ReferenceBackend()], ids=lambda each: each.name)
def test_what_is_lacking(backend):
    for depth in (8, *DEPTHS):
        assert backend.lacks(PRESETS["photo"], depth) is None
        assert backend.lacks(PRESETS["exact"], depth) is None
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
        backend.encode(picture, params, depth=10)
    with pytest.raises(BackendUnavailable, match=message):
        backend.encode_batch([picture], params, depth=10)
    with pytest.raises(BackendUnavailable, match=message):
        backend.decode(b"", (8, 8), params.coded_tools, depth=10)


def test_cuda_refuses_deep_samples_and_auto_takes_the_processor(monkeypatch):
    cuda = CudaBackend()
    for preset in ("photo", "mixed", "plain"):
        assert cuda.lacks(PRESETS[preset], 12) == "samples of 12 bits"
    with pytest.raises(BackendUnavailable, match="it has no samples of 12 bits"):
        cuda.encode(np.zeros((8, 8), np.uint16), photo(3), depth=12)
    monkeypatch.setattr(backends.Row, "is_installed", lambda row: True)
    assert backends.get("auto", 1 << 30, PRESETS["photo"], 12).name == "cpu"
    with pytest.raises(BackendUnavailable, match="trees of samples of 12 bits"):
        backends.get("auto", 1, Tools(), 12)


def test_a_batch_is_as_each_alone():
    rng = np.random.default_rng(7)
    several = [natural(rng, 20, 20 + i).astype(np.uint16) << 2 for i in range(3)]
    together = CPU.encode_batch(several, photo(5), depth=10)
    alone = [CPU.encode(picture, photo(5), depth=10) for picture in several]
    assert [each.payload for each in together] == [each.payload for each in alone]


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_post_filter_mends_deep_samples(depth):
    """Its price is in units of 8-bit samples, so it pays where it pays for 8 bits."""
    rng = np.random.default_rng(3)
    picture = CONTENT["natural"](rng, 128, 128)
    shifted = picture.astype(np.uint16) << (depth - 8)
    params = photo(60)
    coded = CPU.encode(shifted, params, depth=depth)
    own = CPU.post_filter
    fitted = own.fit(shifted, coded.samples, params.lambda_fixed, depth)
    assert any(fitted)
    shown = own.apply(coded.samples, fitted, depth)
    assert shown.dtype == np.uint16
    assert psnr(shifted, shown, depth) > psnr(shifted, coded.samples, depth) + 0.05
    dear = replace(params, lam=2.0**20).lambda_fixed
    assert not any(own.fit(shifted, coded.samples, dear, depth))
