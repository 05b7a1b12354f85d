"""Targets of SSIMULACRA2: scores of decoded files, the pictures that are shown, and the search."""

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams, Infeasible, Target, pictures
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.rate_control.scores import Scores
from mmpcodec.codec.rate_control.search import Attempt, reach
from mmpcodec.metadata import Metadata
from mmpcodec.metrics.ssimulacra2 import ssimulacra2
from mmpcodec.presets import DEFAULT_EFFORT
from mmpcodec.quality import LEAST_LAMBDA

BYTES = Levels(8, (0, 255), 8)
IMAGES = Path(__file__).parents[4] / "images"
WHOLE = pictures.read(IMAGES / "camera.pgm").samples[100:356, 150:406]
WOVEN = pictures.read(IMAGES / "brick.pgm").samples
WHOLE_COLOUR = np.dstack([WHOLE, WHOLE // 2 + WOVEN // 2, 255 - WHOLE])
CAMERA, BRICK, COLOUR = WHOLE[90:190, 90:210], WOVEN[:100, :120], WHOLE_COLOUR[90:190, 90:210]
NATURAL = natural(np.random.default_rng(0), 96, 112)
PHOTO = {"preset": "photo", "effort": 1}


def encoded(picture, score, **options):
    """File and passes."""
    passes = []
    data = mmpcodec.encode(picture, target_ssimulacra2=score, on_pass=passes.append, **options)
    return data, passes


def is_settled(passes, least, effort):
    """Whether a score is near the least one, or it lies between two lambdas that differ by 1 %."""
    tried = sorted((one.lam, one.ssimulacra2) for one in passes if one.effort == effort)
    near = any(least <= score <= least + 0.5 for _, score in tried)
    return near or any(
        good >= least > bad and more <= 1.01 * lam for (lam, good), (more, bad) in pairwise(tried)
    )


@pytest.mark.parametrize("picture", [WHOLE, WHOLE_COLOUR], ids=["gray", "colour"])
@pytest.mark.parametrize("least", [60, 85.0])
def test_scores_of_real_pictures(picture, least):
    data, passes = encoded(picture, least, preset="photo", effort=2)
    assert least <= ssimulacra2(picture, mmpcodec.decode(data), white=255) <= least + 2.5
    assert is_settled(passes, least, 2)


@pytest.mark.parametrize("picture", [CAMERA, COLOUR], ids=["gray", "colour"])
@pytest.mark.parametrize(
    "options",
    [{}, PHOTO, {"tune": "eye"}, {**PHOTO, "tile_size": 64}],
    ids=str,
)
def test_scores_of_small_pictures_jump(picture, options):
    data, passes = encoded(picture, 80, **options)
    score = ssimulacra2(picture, mmpcodec.decode(data), white=255)
    effort = options.get("effort", DEFAULT_EFFORT)
    assert 80 <= score < 82
    assert is_settled(passes, 80, effort)
    fitting = [one for one in passes if one.ssimulacra2 >= 80 and one.effort == effort]
    found = min(fitting, key=lambda one: one.bytes)
    assert (len(data), score) == (found.bytes, found.ssimulacra2)
    assert len(passes) <= 14


def test_the_file_is_that_of_a_lambda_and_knows_its_score():
    params = EncodeParams.from_options(**PHOTO, tune="auto")
    found = mmpcodec.encode_picture(CAMERA, params, target=Target("ssimulacra2", 70))
    assert found.data == mmpcodec.encode(CAMERA, found.lam, **PHOTO, tune="eye")
    assert found.data == encoded(CAMERA, 70, **PHOTO)[0]
    assert found.ssimulacra2 == ssimulacra2(CAMERA, found.samples, white=255)
    by_psnr = mmpcodec.encode_picture(CAMERA, params, target=Target("psnr", 30))
    assert by_psnr.ssimulacra2 is None
    assert {one.ssimulacra2 for one in by_psnr.passes} == {None}


def test_better_files_are_larger():
    sizes = [len(encoded(CAMERA, least, **PHOTO)[0]) for least in (-60, 40, 75, 93)]
    assert all(a < b for a, b in pairwise(sizes))


def test_a_batch_has_a_search_each():
    planes = [CAMERA, BRICK]
    files = mmpcodec.encode_batch(planes, target_ssimulacra2=60, **PHOTO)
    assert files == [encoded(one, 60, **PHOTO)[0] for one in planes]


def test_100_is_lossless():
    passes = encoded(CAMERA, 100)[1]
    assert [(one.lam, one.psnr, one.ssimulacra2) for one in passes] == [(0, math.inf, 100)]
    data = encoded(COLOUR, 100, preset="plain")[0]
    np.testing.assert_array_equal(mmpcodec.decode(data), COLOUR)


def test_lossless_is_taken_where_it_is_smallest():
    flat = np.full((40, 50), 77, np.uint8)
    flat[10:20, 10:20] = 200
    data, passes = encoded(flat, 60)
    assert len(data) == min(one.bytes for one in passes if one.effort == DEFAULT_EFFORT)
    assert ssimulacra2(flat, mmpcodec.decode(data), white=255) >= 60


@pytest.mark.parametrize("least", [96, 100])
def test_scores_that_no_lossy_file_reaches(least):
    message = rf"target_ssimulacra2 = {least}: the best file, at lambda \S+, has (\S+); preset"
    with pytest.raises(Infeasible, match=message) as caught:
        encoded(NATURAL, least, **PHOTO, step=500)
    # No lambda of these options comes nearer.
    best = mmpcodec.encode(NATURAL, LEAST_LAMBDA, **PHOTO, step=500, tune="eye")
    score = ssimulacra2(NATURAL, mmpcodec.decode(best), white=255)
    assert f", has {score:.2f}; preset lossless is lossless" in str(caught.value)
    assert 40 < score < 96


def test_small_pictures_have_no_score():
    message = (
        r"^target_ssimulacra2: a picture of 20x7 pixels has no score, .* at least 8x8; lam = 0"
    )
    for least in (60, 100):
        with pytest.raises(Infeasible, match=message):
            encoded(CAMERA[:7, :20], least)
    with pytest.raises(Infeasible, match=r"^number 1: target_ssimulacra2: a picture of 7x20 "):
        mmpcodec.encode_batch([CAMERA, CAMERA[:20, :7]], target_ssimulacra2=60, **PHOTO)
    data = encoded(CAMERA[:8, :8], 60, preset="plain")[0]
    assert ssimulacra2(CAMERA[:8, :8], mmpcodec.decode(data), white=255) >= 60


@pytest.mark.parametrize(("depth", "white"), [(12, None), (12, 3000), (16, None), (4, None)])
def test_white_is_that_of_the_picture(depth, white):
    level = white or (1 << depth) - 1
    samples = np.rint(CAMERA * (level / 255)).astype(np.uint8 if depth <= 8 else np.uint16)
    options = {"depth": depth, "metadata": Metadata(white=white), "preset": "photo", "effort": 1}
    data, passes = encoded(samples, 70, **options)
    decoded = mmpcodec.decode(data)
    score = ssimulacra2(samples, decoded, white=level)
    assert score in [one.ssimulacra2 for one in passes if one.ssimulacra2 >= 70]
    assert is_settled(passes, 70, 1)
    assert abs(ssimulacra2(samples, decoded, white=level // 2) - 70) > 1


def shown(samples, background):
    """The colours over a gray level, as a share of white, in float64."""
    alpha = samples[..., 3:] / 255
    return samples[..., :3] * alpha + 255 * background * (1 - alpha)


def test_alpha_is_shown_on_dark_and_bright():
    alpha = np.clip(np.arange(120) * 4 - 100, 0, 255).astype(np.uint8)
    picture = np.dstack([COLOUR, np.broadcast_to(alpha, COLOUR.shape[:2])])
    data, passes = encoded(picture, 70, **PHOTO)
    decoded = mmpcodec.decode(data)
    scores = [
        ssimulacra2(shown(picture, level), shown(decoded, level), white=255) for level in (0.1, 0.9)
    ]
    assert 70 <= min(scores) < 72
    assert min(scores) in [pytest.approx(one.ssimulacra2, abs=1e-9) for one in passes]
    # Without regard to alpha the score is another one.
    assert abs(ssimulacra2(picture[..., :3], decoded[..., :3], white=255) - min(scores)) > 1


def test_what_alpha_hides_does_not_count():
    picture = np.dstack([CAMERA, np.full(CAMERA.shape, 255, np.uint8)])
    picture[:50, :, 1] = 0
    changed = picture.copy()
    changed[:50, :, 0] = 255 - changed[:50, :, 0]
    scores = Scores(picture, BYTES)
    assert scores.of(changed) == scores.of(picture) == 100
    changed[60:, :, 0] ^= 8
    hidden = picture.copy()
    hidden[60:, :, 0] ^= 8
    assert scores.of(changed) == scores.of(hidden) < 95
    opaque = np.dstack([CAMERA, np.full(CAMERA.shape, 255, np.uint8)])
    coarse = opaque.copy()
    coarse[..., 0] &= 0xF0
    expected = ssimulacra2(CAMERA, coarse[..., 0], white=255)
    assert Scores(opaque, BYTES).of(coarse) == Scores(CAMERA, BYTES).of(coarse[..., 0]) == expected


@dataclass(frozen=True)
class Made:
    """What a made-up codec gives in place of an encoding."""

    data: bytes
    lam: float
    passes: tuple = ()
    ssimulacra2: float | None = None


@settings(max_examples=60)
@given(st.floats(0.3, 20), st.floats(0.5, 1.0), st.floats(-99, 97), st.floats(0, 0.5))
def test_scores_are_kept_to_half_a_point(scale, power, least, gain):
    """Also far from the usual scores; or to the least difference of lambdas where these fall fast.

    More effort adds up to half a point.
    """

    def codec(candidates):
        (candidate,) = candidates
        score = 100 - scale * candidate.lam**power + gain * (candidate.effort > 1)
        size = 10**6 / (1 + candidate.lam)
        made = Made(bytes(round(size)), candidate.lam)
        asked.append(candidate)
        return Attempt(made, 5, (0.0,), frozenset([0]), min(score, 99.99))

    asked = []
    candidates = EncodeParams.from_options(preset="photo").each_alone()
    found = reach(
        Target("ssimulacra2", least), np.zeros((64, 64), np.uint8), BYTES, candidates, codec
    )
    assert least <= found.ssimulacra2 <= least + 0.51 + power * (100 - least) / 128
    assert len(asked) <= 24
    assert len(set(asked)) == len(asked)
