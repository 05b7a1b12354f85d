"""Tuned for the eye: importance by masking, errors that are seen, and the tools of the files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams, ParameterError, backends, pictures
from mmpcodec.codec.layers.tasks import LOSSLESS
from mmpcodec.codec.tile_choice import encode_tiles
from mmpcodec.codec.tile_coding import TileSource
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.codec.weighting.maps import Weighting
from mmpcodec.codec.weighting.masking import eye_weighting, masking
from mmpcodec.metrics.ssimulacra2 import ssimulacra2
from mmpcodec.pictures.readers import WholeReader
from mmpcodec.presets import PRESETS, for_eye
from mmpcodec.reference.blocks.search.seen_errors import seen_errors

ROOT = Path(__file__).parents[3]
EYE = {"preset": "photo", "effort": 1, "tune": "eye"}


def masked(roi, samples, depth):
    return eye_weighting(roi, samples, depth, None).of_pixels


def cell_weights(samples, depth):
    return eye_weighting(None, samples, depth, None).cells


@pytest.fixture(scope="module")
def picture():
    """A flat half beside a busy half."""
    samples = natural(np.random.default_rng(5), 96, 128).clip(0, 255).astype(np.uint8)
    samples[:, :64] = 120
    samples[:, 64:] ^= (np.indices((96, 64)).sum(axis=0) % 2 * 64).astype(np.uint8)
    return samples


def test_busy_areas_count_less(picture):
    found = masking(picture, 8)
    assert found.shape == (3, 4)
    assert (found[:, :2] == 1).all()
    assert (found[:, 2:] <= -2).all()


def test_roi_depends_on_levels_not_on_bits(picture):
    expected = masking(picture, 8)
    deep = picture.astype(np.uint16)
    assert np.array_equal(masking(deep << 8 | deep, 16), expected)
    assert np.array_equal(masking(deep << 2, 10), expected)
    assert np.array_equal(masking(np.dstack([picture] * 3), 8), expected)
    alpha = np.arange(picture.size).reshape(picture.shape).astype(np.uint8)
    assert np.array_equal(masking(np.dstack([picture, alpha]), 8), expected)


def test_the_last_areas_may_be_small(picture):
    assert np.array_equal(masking(picture[:72, :104], 8), masking(picture, 8))
    assert masking(np.full((1, 1), 200, np.uint8), 8).tolist() == [[1]]
    assert masking(np.full((9, 41), 200, np.uint8), 8).tolist() == [[1, 1]]
    assert masked(None, picture[:65, :97], 8).shape == (65, 97)


def test_cells_beside_an_edge_count_less():
    edge = np.full((40, 72), 100, np.uint8)
    edge[:, 20:40] = 200
    found = cell_weights(edge, 8)
    assert found.shape == (5, 9)
    # Cells of the first area, of the second one, whose edge lies between cells, and of the last.
    assert found[0].tolist() == [21, 21, 7, 21, 16, 16, 16, 16, 16]
    assert (found == found[0]).all()
    deep = edge.astype(np.uint16)
    assert np.array_equal(cell_weights(deep << 8 | deep, 16), found)
    assert np.array_equal(cell_weights(np.dstack([edge] * 3), 8), found)
    extreme = np.random.default_rng(1).integers(0, 2, (32, 32)).astype(np.uint8) * 255
    extreme[:, 8:] = 0
    assert cell_weights(extreme, 8)[0].tolist() == [4, 25, 25, 25]


def test_cells_weigh_errors_that_are_compared():
    numpy, cells = backends.get("reference"), np.array([[4, 16, 64], [8, 20, 10]], np.uint8)
    source, roi = np.full((16, 24), 90), np.zeros((16, 24), np.int8)
    errors = [
        Weighting(roi, strength=6, cells=each).seen_cells(source, source + 3, numpy)
        for each in (None, cells)
    ]
    assert errors[1][0, 0] == pytest.approx(errors[0][0, 0] * (4 + 16 + 8 + 20) / 64)
    assert errors[1][0, 1] == pytest.approx(errors[0][0, 1] * (64 + 10) / 32)


def test_cells_count_where_errors_are_weighed_by_frequency(picture):
    cells = cell_weights(picture, 8)
    weighting = Weighting(masked(None, picture, 8), strength=6, cells=cells)
    tools = for_eye(PRESETS["photo"])
    assert weighting.fragments(tools, picture.shape).cells is cells
    still = replace(tools, delta_step=False)
    assert weighting.fragments(still, picture.shape).cells is cells
    assert weighting.fragments(for_eye(PRESETS["mixed"]), picture.shape).cells is None
    assert weighting.fragments(PRESETS["text"], picture.shape) is None


def test_masking_is_added_to_the_importance_of_pixels(picture):
    inside = np.zeros(picture.shape, np.int8)
    inside[10:20, 100:110] = 24
    found = masked(inside, picture, 8)
    own = masked(None, picture, 8)
    assert (found[inside == 0] == own[inside == 0]).all()
    assert (found[10:20, 100:110] == 24 + own[10, 100]).all()
    assert (masked(np.full_like(inside, -24), picture, 8)[:, 64:] == -24).all()


def test_errors_of_high_frequencies_count_less():
    flat, none = np.full((32, 16), 3), np.zeros((32, 16), int)
    chequered = flat * (1 - 2 * (np.indices(flat.shape).sum(axis=0) % 2))
    for strength, expected in ((0, 9 * 256), (6, 9 * 256)):
        assert seen_errors(flat, none, strength) / 64 == pytest.approx(expected, rel=0.01)
    assert seen_errors(chequered, none, 0) / 64 == pytest.approx(9 * 256, rel=0.01)
    # Most of it lies at the highest frequency of both directions, whose weight is 310/64.
    assert (seen_errors(chequered, none, 6) / 64 < 9 * 256 / 15).all()
    assert seen_errors(flat[:20, :9], none[:20, :9], 6).shape == (2, 1)


def test_candidates_are_compared_by_errors_that_are_seen(picture):
    roi = masked(None, picture, 8)
    weighting, numpy = Weighting(roi, strength=6), backends.get("reference")

    def error_of(source, error):
        return weighting.squared_error(source, source.astype(int) + error, numpy)

    error = np.full(picture.shape, 2)
    flat = error_of(picture, error)
    weight = 2.0 ** (roi.astype(float) / 2)
    assert flat == pytest.approx((4 * weight).sum(), rel=0.01)
    error[1::2] = -2
    assert error_of(picture, error) < flat / 8
    colours = np.dstack([picture] * 3)
    assert error_of(colours, 2) == pytest.approx(3 * flat)


def test_costs_of_candidates_have_one_lambda(picture):
    """A candidate with quantisation matrix has a finer step, but pays as much for a bit."""
    params = EncodeParams.from_options(30, **{**EYE, "preset": "best"}, palette=False)
    tile = TileSource(picture, picture, 8)
    chosen = dict.fromkeys([LOSSLESS, *params.sets], backends.get("cpu"))
    (made,) = encode_tiles([tile], params.each_alone(), chosen, 1, None)
    alone = mmpcodec.encode_picture(picture, params.each_alone()[0], backend="cpu")
    size = alone.layers[0].payload_bytes
    cells = cell_weights(picture, 8)
    weighting = Weighting(masked(None, picture, 8), strength=6, cells=cells)
    seen = weighting.squared_error(picture, alone.samples, backends.get("cpu"))
    assert made.costs[0] == pytest.approx(4 * seen + 30 * 8 * size, rel=0.05)


def test_regions_of_interest_are_finer_still(picture):
    inside = np.zeros(picture.shape, bool)
    inside[32:64, 64:96] = True

    def error(data):
        return np.square(mmpcodec.decode(data).astype(int) - picture)[inside].sum()

    plain = mmpcodec.encode(picture, 30, **EYE)
    assert error(mmpcodec.encode(picture, 30, roi=inside * 12, **EYE)) < error(plain) / 5


def test_equal_files_look_better():
    camera = pictures.read(ROOT / "images" / "camera.pgm").samples[128:384, 128:384]

    def score(data):
        return ssimulacra2(camera, mmpcodec.decode(data), white=255)

    plain = mmpcodec.encode(camera, 30, **{**EYE, "tune": "psnr"})
    tuned = mmpcodec.encode(camera, target_size=len(plain), **EYE)
    assert score(tuned) > score(plain) + 1


def test_tools_of_the_files(picture):
    colours = np.dstack([picture, picture[::-1], 255 - picture])
    layers = mmpcodec.inspect(mmpcodec.encode(colours, 20, **EYE)).layers
    assert [layer.tools.quantisation_matrix for layer in layers] == [6, 6, 6]
    assert all(layer.tools.delta_step for layer in layers)
    assert {layer.tools.fragment_size for layer in layers} == {32}
    plain = mmpcodec.inspect(mmpcodec.encode(colours, 20, **{**EYE, "tune": "psnr"})).layers
    assert layers[0].tools.step == pytest.approx(plain[0].tools.step / 2, rel=0.01)
    assert layers[1].tools.step > 1.15 * plain[1].tools.step / 2
    page = mmpcodec.inspect(mmpcodec.encode(picture, 20, **{**EYE, "preset": "mixed"})).layers
    assert page[0].tools.quantisation_matrix == 0
    assert page[0].tools.step == plain[0].tools.step


@pytest.mark.parametrize("depth", [1, 4, 8, 12, 16])
def test_any_kind_of_picture(picture, depth):
    samples = np.dstack([picture, picture[::-1], 255 - picture, np.roll(picture, 9)]).astype(int)
    samples = ((samples << 8 | samples) >> (16 - depth)).astype(
        np.uint8 if depth < 9 else np.uint16
    )
    for planes in (samples[..., 0], samples[..., :3], samples[..., [0, 3]], samples):
        found = mmpcodec.encode(planes, 30, depth=depth, **EYE)
        decoded = mmpcodec.decode(found)
        assert decoded.shape == planes.shape
        if planes.shape[2:] in ((2,), (4,)):
            assert np.array_equal(decoded[..., -1], planes[..., -1])


def test_tiles_in_turn_give_the_same_file(picture, tmp_path):
    params = EncodeParams.from_options(20, **EYE)
    whole = mmpcodec.encode_picture(picture, params, tile_size=64).data
    with (tmp_path / "a.mmp").open("w+b") as file:
        reader = WholeReader(pictures.Picture(picture, 8), "a")
        encode_large(reader, file, params, tile_size=64)
        file.seek(0)
        assert file.read() == whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tune": "nose"}, "tune = 'nose': must be one of auto, psnr, eye"),
        ({"lam": 0, "preset": "auto"}, "needs predicted blocks and lambda above 0"),
        ({"preset": "text"}, "tune = 'eye': needs predicted blocks .*; take preset photo or mixed"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ParameterError, match=message):
        EncodeParams.from_options(**{"lam": 20, **EYE, **options})


def test_wrong_parameters():
    with pytest.raises(ParameterError, match="tune = 3: must be one of auto, psnr, eye"):
        EncodeParams(tune=3)
