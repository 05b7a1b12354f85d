"""Quality: predicted visible errors, and the lambda that follows from them."""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams, pictures
from mmpcodec.codec.rate_control.quality import ScoreForecast, lambda_of_quality
from mmpcodec.codec.rate_control.visible_error import VisibleErrors
from mmpcodec.codec.sources import Kind, params_of
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.codec.weighting.areas import MOST_AREAS, areas_in
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.metrics.ssimulacra2 import ssimulacra2
from mmpcodec.quality import lambdas_of_quality, usual_lambda, usual_score
from mmpcodec.tools import BlockTools

IMAGES = Path(__file__).parents[4] / "images"
NATURAL = natural(np.random.default_rng(4), 96, 128)
COLOURS = np.stack([NATURAL, NATURAL // 2 + 60, 255 - NATURAL], axis=2)


def kind_of(samples):
    return Kind(samples.shape, 8, Metadata())


def parts_of(samples):
    return lambda parts: [samples[part] for part in parts]


def scores(lossy, qualities, **options):
    for quality in qualities:
        decoded = mmpcodec.decode(mmpcodec.encode(lossy, quality=quality, **options))
        yield ssimulacra2(lossy, decoded, white=255)


@pytest.mark.parametrize("name", ["camera.pgm", "page.pgm", "brick.pgm"])
def test_the_score_is_near_the_quality(name):
    samples = pictures.read(IMAGES / name).samples[:256, :256]
    found = list(scores(samples, (60, 75, 85)))
    # Drawn pictures, and those that repeat, have fewer errors than photographs.
    assert found == pytest.approx([60, 75, 85], abs=7 if name == "camera.pgm" else 14)
    assert found[-1] == pytest.approx(85, abs=5)
    assert all(a < b for a, b in pairwise(found))


def test_pictures_differ_less_than_with_one_lambda():
    camera = pictures.read(IMAGES / "camera.pgm").samples
    sources = [
        camera[rows, columns]
        for rows in (np.s_[:256], np.s_[-256:])
        for columns in (np.s_[:256], np.s_[-256:])
    ]
    sources.append(COLOURS)
    by_quality = [next(scores(samples, [60])) for samples in sources]
    by_lambda = [
        ssimulacra2(samples, mmpcodec.decode(mmpcodec.encode(samples, usual_lambda(60))), white=255)
        for samples in sources
    ]
    assert np.ptp(by_quality) < 0.6 * np.ptp(by_lambda)


def test_usual_lambdas_fall():
    qualities = np.linspace(0, 100, 401).tolist()
    lambdas = [usual_lambda(quality) for quality in qualities]
    assert all(a > b for a, b in pairwise(lambdas[:390]))
    assert (lambdas[0], lambdas[-1]) == (pytest.approx(504.77, abs=0.01), 0)
    assert [usual_score(lam) for lam in lambdas[:390]] == pytest.approx(qualities[:390])


@given(st.floats(0, 99.9))
def test_lambdas_of_a_quality_lie_around_the_usual_one(quality):
    lambdas = lambdas_of_quality(quality)
    assert all(a < b for a, b in pairwise(lambdas))
    assert lambdas[0] == pytest.approx(usual_lambda(quality) / 4, rel=0.1)
    assert lambdas[-1] == pytest.approx(usual_lambda(quality) * 4, rel=0.1)
    assert all(float(f"{lam:.4g}") == lam for lam in lambdas)


@given(st.integers(1, 700), st.integers(1, 700))
@settings(max_examples=30)
def test_areas_are_different_parts_of_the_picture(height, width):
    areas = areas_in(height, width)
    covered = np.zeros((height, width), int)
    for area in areas:
        covered[area] += 1
        assert 0 < covered[area].size <= 32 * 32
    assert covered.max() == 1
    assert len(areas) <= MOST_AREAS
    if -(-height // 32) * -(-width // 32) <= MOST_AREAS:
        assert covered.min() == 1


def test_areas_of_a_large_picture_are_spread():
    areas = areas_in(4000, 6000)
    assert len(areas) == MOST_AREAS
    for axis, side in enumerate((4000, 6000)):
        quarters = np.bincount([4 * area[axis].start // side for area in areas])
        assert quarters.min() > MOST_AREAS / 6


@pytest.mark.parametrize("samples", [NATURAL, COLOURS])
@pytest.mark.parametrize("tune", ["psnr", "eye"])
def test_errors_rise_with_lambda(samples, tune):
    areas = parts_of(samples)(areas_in(*samples.shape[:2]))
    errors = VisibleErrors(areas, 8, tune, samples.shape[0] * samples.shape[1])
    found = [errors.at(lam) for lam in (0.1, 1, 4, 16, 64, 256, 1024)]
    assert all(a < b for a, b in pairwise(found))
    assert 0 < found[0] < 0.1
    assert 5 < found[-1] < 60


def test_errors_do_not_change():
    """A change of these numbers changes the files of all qualities."""
    areas = parts_of(COLOURS)(areas_in(*COLOURS.shape[:2]))
    found = [VisibleErrors(areas, 8, tune, 96 * 128).at(30) for tune in ("psnr", "eye")]
    assert found == [3.003418946936403, 1.4072758459919779]


def test_errors_of_deeper_samples_are_those_of_8_bits():
    areas = [NATURAL[:32, :32], NATURAL[40:60, 50:82]]
    wide = [area.astype(np.uint16) << 8 for area in areas]
    for lam in (2, 40):
        shallow, deep = (
            VisibleErrors(areas, 8, "psnr", 1664).at(lam),
            VisibleErrors(wide, 16, "psnr", 1664).at(lam),
        )
        assert deep == pytest.approx(shallow, rel=0.02)


def test_gray_as_colour_has_no_more_error():
    area = NATURAL[:32, :32]
    gray, colour = (
        ScoreForecast([area], 8, "psnr", 1024),
        ScoreForecast([np.dstack([area] * 3)], 8, "psnr", 1024),
    )
    assert gray.at(20) == colour.at(20)


def lambda_of(quality, *areas, pixels=1024):
    return lambda_of_quality(quality, ScoreForecast(areas, 8, "psnr", pixels))


def test_blank_pictures_take_the_largest_lambda():
    assert lambda_of(70, np.full((9, 9), 77, np.uint8)) == lambdas_of_quality(70)[-1]
    assert lambda_of(70) == lambdas_of_quality(70)[-1]
    noise = np.random.default_rng(0).integers(0, 256, (32, 32)).astype(np.uint8)
    flat = noise // 128 + 100
    assert [lambda_of(70, area) for area in (flat, noise)] == [76.11, 58.69]


@pytest.mark.parametrize("quality", [60, 75, 85, 90])
def test_the_nearest_lambda_is_taken(quality):
    areas = parts_of(NATURAL)(areas_in(*NATURAL.shape))
    forecast = ScoreForecast(areas, 8, "eye", NATURAL.size)
    misses = {lam: abs(forecast.at(lam) - quality) for lam in lambdas_of_quality(quality)}
    assert misses[lambda_of_quality(quality, forecast)] == min(misses.values()) < 1


def test_flat_ground_of_large_pictures_takes_points():
    """The window of SSIMULACRA2 adds its rounding errors up: 0.17 to 0.27 in 4 to 12 megapixels."""
    bright = np.full((32, 32), 230, np.uint8)
    found = [VisibleErrors([bright], 8, "eye", pixels).at(1) for pixels in (1 << 18, 12_000_000)]
    assert found == [pytest.approx(0.1136, abs=1e-4), 0.4]
    busy = np.random.default_rng(0).integers(0, 256, (32, 32)).astype(np.uint8)
    ground = VisibleErrors([busy], 8, "eye", 12_000_000).at(1)
    assert ground - VisibleErrors([busy], 8, "eye", 1).at(1) < 0.11
    dark = np.full((32, 32), 20, np.uint8)
    assert VisibleErrors([dark], 8, "eye", 12_000_000).at(1) == pytest.approx(0.0452, abs=1e-4)


def test_parameters_of_a_picture():
    params = EncodeParams.from_options(usual_lambda(70), quality=70, preset="photo")
    found, levels = params_of(params, kind_of(NATURAL), parts_of(NATURAL))
    assert levels == (0, 255)
    assert found.lam in lambdas_of_quality(70)
    assert found.quality is None
    assert found == params_of(found, kind_of(NATURAL), None)[0]
    exact = EncodeParams.from_options(usual_lambda(70), quality=70, preset="lossless")
    assert params_of(exact, kind_of(NATURAL), None)[0].quality is None


def test_batches_tiles_and_streams_have_equal_bytes(tmp_path):
    options = {"quality": 65, "preset": "photo", "effort": 1}
    sources = [NATURAL, 255 - NATURAL // 4, NATURAL]
    files = mmpcodec.encode_batch(sources, **options)
    assert files == [mmpcodec.encode(samples, **options) for samples in sources]
    assert len(set(files)) == 2
    tiled = mmpcodec.encode(COLOURS, **options, tile_size=64)
    pictures.write(COLOURS, tmp_path / "a.ppm")
    params = EncodeParams.from_options(
        usual_lambda(65), quality=65, preset="photo", effort=1, tune="auto"
    )
    stream = io.BytesIO()
    with pictures.opened(tmp_path / "a.ppm") as reader:
        found = encode_large(reader, stream, params, tile_size=64)
    assert stream.getvalue() == tiled
    assert found.lam == mmpcodec.encode_picture(COLOURS, params, tile_size=64).lam


def test_a_printed_lambda_writes_the_same_file():
    options = {"preset": "photo", "effort": 1, "tune": "eye"}
    params = EncodeParams.from_options(usual_lambda(65), quality=65, **options)
    found = mmpcodec.encode_picture(COLOURS, params)
    assert mmpcodec.encode(COLOURS, float(f"{found.lam:.4g}"), **options) == found.data


def test_hidden_colours_do_not_count():
    noise = np.random.default_rng(1).integers(0, 256, NATURAL.shape).astype(np.uint8)
    alpha = np.full(NATURAL.shape, 255, np.uint8)
    alpha[:, 64:] = 0
    mixed = np.where(alpha > 0, NATURAL, noise)
    params = EncodeParams.from_options(usual_lambda(65), quality=85, preset="photo")
    both = np.dstack([mixed, alpha])
    found, _ = params_of(params, kind_of(both), parts_of(both))
    assert found == params_of(params, kind_of(both[:, :64]), parts_of(both[:, :64]))[0]
    assert found != params_of(params, kind_of(mixed), parts_of(mixed))[0]


@pytest.mark.parametrize(
    ("samples", "options", "eye"),
    [
        (NATURAL, {}, True),
        (COLOURS, {"quality": 50}, True),
        (NATURAL, {"lam": 20}, False),
        (NATURAL, {"tune": "psnr"}, False),
        (NATURAL, {"lam": 20, "tune": "eye"}, True),
        (NATURAL, {"lam": 20, "tune": "auto"}, False),
        (NATURAL.astype(np.uint16) << 4, {"depth": 12}, False),
        (NATURAL >> 4, {"depth": 4}, True),
        (NATURAL, {"metadata": Metadata(text=(Calibration(2.0, -1000.0, "HU").text(),))}, False),
    ],
)
def test_who_is_tuned_for_the_eye(samples, options, eye):
    data = mmpcodec.encode(samples, **options, preset="photo", effort=1)
    layer = mmpcodec.inspect(data).layers[0]
    assert isinstance(layer.tools, BlockTools)
    assert (layer.tools.quantisation_matrix > 0) == eye
