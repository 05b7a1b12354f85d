"""The look at a layer: which sets of tools preset "auto" tries."""

import numpy as np
import pytest
from support.strategies import CONTENT, natural

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.codec import classification, tile_choice
from mmpcodec.codec.distortion import squared_error


def kinds(samples, lam=32.0, depth=8):
    lossy = EncodeParams.from_options(lam).each_alone()
    (numbers,) = classification.tried([samples], depth, lam, lossy)
    return {classification.kind_of(lossy[number].tools) for number in numbers}


def picture(content, height=192, width=256):
    return CONTENT[content](np.random.default_rng(1), height, width)


@pytest.mark.parametrize("lam", [2, 32, 512])
def test_a_natural_picture_is_predicted(lam):
    assert kinds(picture("natural"), lam) == {"photo"}


@pytest.mark.parametrize("lam", [8, 32])
def test_text_is_not(lam):
    found = kinds(picture("text"), lam)
    assert found
    assert "photo" not in found


def test_trees_alone_are_tried_where_nearly_all_repeats():
    letter = np.random.default_rng(0).integers(0, 2, (12, 12))
    assert kinds((np.tile(letter, (8, 10)) * 180 + 40).astype(np.uint8), 40.0) >= {"text", "mixed"}
    noise = np.random.default_rng(1).integers(-6, 7, (192, 256))
    scanned = np.clip(picture("text") + noise, 0, 255).astype(np.uint8)
    assert kinds(scanned, 40.0) == {"mixed", "lossless"}


def test_lossless_samples_are_tried_for_a_small_lambda_and_for_flat_drawings():
    assert "lossless" in kinds(picture("natural"), 0.5)
    drawing = np.zeros((128, 128), np.uint8)
    drawing[30:60, 20:90] = 200
    assert "lossless" in kinds(drawing)
    assert kinds(picture("natural"), 0.0) == {"lossless"}
    assert kinds(drawing, 0.0) == {"lossless"}


@pytest.mark.parametrize(("lam", "expected"), [(32, {"photo"}), (1e-3, {"photo", "lossless"})])
def test_deep_samples(lam, expected):
    samples = picture("natural").astype(np.uint16) << 4
    candidates = [
        candidate
        for candidate in EncodeParams.from_options(lam).each_alone()
        if classification.kind_of(candidate.tools) in ("photo", "lossless")
    ]
    (found,) = classification.tried([samples + 7], 12, lam, candidates)
    assert {classification.kind_of(candidates[number].tools) for number in found} == expected


def test_chroma_follows_a_luma_that_is_only_predicted():
    candidates = EncodeParams.from_options(32).each_alone()
    natural, text = picture("natural"), picture("text")
    photo, chroma = classification.tried([natural, text], 8, 32, candidates)
    assert photo == chroma
    page, chroma = classification.tried([text, natural], 8, 32, candidates)
    assert page != chroma


def test_features_of_known_samples():
    samples = np.zeros((8, 8), np.uint8)
    samples[:4, :4] = 100
    samples[4, 4:8] = [0, 255, 0, 255]
    found = classification.features_of(samples, 8, 32 << 16)
    assert found == classification.Features(
        constant=750, repeated=0, extreme=1000, strong=1000, equal=49 * 1000 // 56, common=1000
    )


@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (700, 3), (5, 6)])
@pytest.mark.parametrize("depth", [8, 16])
def test_small_layers_have_features(shape, depth):
    samples = np.full(shape, 9, np.uint8 if depth == 8 else np.uint16)
    found = classification.features_of(samples, depth, 32 << 16)
    assert found.equal == 1000
    assert found.common == 1000


def test_the_look_at_a_large_layer_takes_strips():
    samples = np.zeros((4096, 2048), np.uint8)
    samples[::2] = 255
    found = classification.features_of(samples, 8, 32 << 16)
    assert found.extreme == 1000
    assert found.constant == 0


@pytest.mark.parametrize("content", ["natural", "text", "flat"])
def test_auto_is_near_best(content):
    samples = picture(content, 96, 128)
    auto = mmpcodec.encode_picture(samples, EncodeParams.from_options(24, effort=1))
    best = mmpcodec.encode_picture(samples, EncodeParams.from_options(24, preset="best", effort=1))

    def cost(encoding):
        return squared_error(samples, encoding.samples) + 24 * 8 * len(encoding.data)

    sixteen_bytes = 24 * 8 * 16  # small files differ by their headers
    assert cost(auto) <= 1.02 * cost(best) + sixteen_bytes


@pytest.mark.parametrize("depth", [1, 2, 4, 6])
def test_files_of_few_bits_are_never_above_lossless_ones(depth):
    """The look takes widened samples; where exact ones are smaller, the file has them."""
    samples = natural(np.random.default_rng(depth), 48, 64) >> (8 - depth)
    options = {"depth": depth, "effort": 1}
    lossless = len(mmpcodec.encode(samples, 0, **options))
    assert len(mmpcodec.encode(samples, 1, **options)) <= lossless


@pytest.mark.parametrize("count", [1, 3])
def test_lossless_files_are_lossless_samples_alone(count):
    flat = np.zeros((64, 64), np.uint8)
    flat[5:9, ::7] = 200
    ways = EncodeParams.from_options(0).each_alone()
    found = classification.tried([flat] * count, 8, 0, ways)
    kinds = [{classification.kind_of(ways[number].tools) for number in each} for each in found]
    assert kinds == [{"lossless"}] * count


@pytest.mark.parametrize("form", ["blank", "one pixel", "narrow"])
def test_small_pictures_are_no_larger_than_without_loss(form):
    """A look says little of them, so lossless samples are tried too."""
    waves = 40 * np.sin(np.arange(300)[:, None] / (3, 5, 9)) + 120
    samples = {
        "blank": np.full((64, 70, 3), 90, np.uint8),
        "one pixel": np.full((1, 1), 7, np.uint8),
        "narrow": np.tile(waves.astype(np.uint8), (10, 1))[None],
    }[form]
    lossy = mmpcodec.encode(samples, quality=95)
    assert len(lossy) <= len(mmpcodec.encode(samples, lam=0))


def slope_with_lines(height, width):
    """A smooth slope with a few sharp lines, for which the classification wants trees."""
    i, j = np.indices((height, width))
    picture = (60 + (1.1 * i + 0.45 * j) * 255 / (1.8 * width)).clip(0, 255).astype(np.uint8)
    picture[10::80], picture[50::80] = 255, 0
    picture[:, width // 2] = 0
    return picture


@pytest.mark.parametrize(
    ("shape", "lam", "preset"), [((128, 160), 300, "photo"), ((192, 256), 40, "mixed")]
)
def test_smooth_pictures_with_trees_are_also_tried_without(shape, lam, preset):
    picture = slope_with_lines(*shape)
    assert kinds(picture, lam) == {"mixed"}
    done = []
    found = mmpcodec.encode(
        picture, lam, palette=False, threads=1, progress=lambda *counts: done.append(counts)
    )
    assert found == mmpcodec.encode(picture, lam, preset=preset)
    assert done == sorted(done)
    assert done[-1][0] == done[-1][1]
    # A target needs the costs of both.
    aimed = mmpcodec.encode(picture, target_size=len(found) + 3, palette=False)
    assert 0.9 * len(found) < len(aimed) <= len(found) + 3


@pytest.mark.parametrize(("content", "exactly"), [("natural", False), ("text", True)])
def test_gray_in_rgb_is_tried_without_loss_only_where_it_looks_drawn(monkeypatch, content, exactly):
    """A photograph in gray has at most 256 colours, as a drawing."""
    tried = []
    real = tile_choice.code_layers

    def noted(tiles, candidates, *rest):
        tried.extend(one.tools for one in candidates if tiles)
        return real(tiles, candidates, *rest)

    monkeypatch.setattr(tile_choice, "code_layers", noted)
    gray = picture(content, 96, 128)
    mmpcodec.encode(np.dstack([gray, gray, gray]), 20)
    assert any(tools.lossless and tools.max_error == 0 for tools in tried[4:]) == exactly


def test_pictures_with_an_importance_are_not_tried_without_trees():
    """The cost that compares both ways counts all errors alike."""
    picture = slope_with_lines(128, 160)
    roi = np.zeros(picture.shape, np.int8)
    roi[:64] = 4
    found = mmpcodec.encode(picture, 300, roi=roi)
    assert found == mmpcodec.encode(picture, 300, roi=roi, preset="mixed")
