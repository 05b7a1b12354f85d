"""Targets: on curves made up for it, and on real small pictures."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import Cancelled, EncodeParams, Infeasible, ParameterError, Target, pictures
from mmpcodec.codec.distortion import psnr_of, squared_error
from mmpcodec.codec.encoding import Pass
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.rate_control.forecast import Forecast
from mmpcodec.codec.rate_control.search import QUICK_EFFORT, Attempt, reach
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.presets import DEFAULT_EFFORT, lossless_tools
from mmpcodec.quality import LEAST_LAMBDA

BYTES = Levels(8, (0, 255), 8)
PICTURE = natural(np.random.default_rng(0), 96, 112)
CAMERA = pictures.read(Path(__file__).parents[4] / "images" / "camera.pgm").samples[
    100:228, 150:294
]
SHAPE = (256, 256)
PIXELS = SHAPE[0] * SHAPE[1]


@dataclass(frozen=True)
class Made:
    """What a made-up codec gives in place of an encoding."""

    data: bytes
    samples: np.ndarray
    lam: float
    tools: object = None
    passes: tuple = ()
    ssimulacra2: float | None = None


class Codec:
    """Sizes and errors by formula; counts what it is asked for.

    Parameters
    ----------
    size : callable
        Of lambda.
    """

    def __init__(self, size):
        self.size = size
        self.asked = []

    def __call__(self, candidates):
        self.asked += candidates
        (made,) = (self.encoded(candidate) for candidate in candidates)
        return Attempt(made, error_of(made), (0.0,), frozenset([0]))

    def encoded(self, candidate):
        size = self.size(candidate.lam) * (1 if candidate.effort > 1 else 1.03)
        # The samples are as far from zeros as the lambda is large.
        error = round(candidate.lam / 17 * PIXELS)
        each = math.isqrt(error // PIXELS)
        samples = np.full(PIXELS, each, np.uint8)
        samples[: (error - each * each * PIXELS) // (2 * each + 1)] += 1
        return Made(
            bytes(max(1, round(size))), samples.reshape(SHAPE), candidate.lam, candidate.tools
        )


def error_of(made):
    return squared_error(np.zeros(SHAPE, np.uint8), made.samples)


def reached(codec, target, preset="photo", **options):
    params = EncodeParams.from_options(preset=preset)
    return reach(target, np.zeros(SHAPE, np.uint8), BYTES, params.each_alone(), codec, **options)


@settings(max_examples=60)
@given(
    st.floats(0.15, 1.0),
    st.floats(0.15, 1.0),
    st.floats(1, 1000),
    st.floats(4e4, 4e6),
    st.floats(0.001, 0.6),
)
def test_size_is_kept_to_two_percent(one, other, bend, scale, share):
    def size(lam):
        lam = max(lam, 1e-9)
        return 60 + scale * (lam**-one if lam < bend else bend ** (other - one) * lam**-other)

    smallest, largest = size(2.0**20), size(LEAST_LAMBDA)
    target = Target("size", math.ceil(1.1 * smallest * (largest / smallest) ** share))
    codec = Codec(size)
    found = reached(codec, target)
    assert 0.979 * target.value - 1 <= len(found.data) <= target.value
    assert len(codec.asked) <= 20
    assert len(set(codec.asked)) == len(codec.asked)
    assert [one.lam for one in found.passes] == [candidate.lam for candidate in codec.asked]


@settings(max_examples=60)
@given(st.integers(1, 40000), st.integers(0, 2**32 - 1), st.floats(0, 0.5))
def test_size_is_never_exceeded_whatever_the_codec_does(limit, seed, ripple):
    def size(lam):
        noise = np.random.default_rng([seed, int(lam * 1000)]).normal(0, ripple)
        steps = 1000 * math.floor(20 / (1 + lam / 50))
        return 200 + steps * math.exp(noise)

    codec = Codec(size)
    try:
        found = reached(codec, Target("size", limit))
    except Infeasible as error:
        least = min(
            len(codec.encoded(candidate).data) for candidate in codec.asked if candidate.effort > 1
        )
        assert re.fullmatch(rf"target_size = {limit}: the .* has {least} bytes", str(error))  # noqa: PT017
        assert all(size(candidate.lam) > limit for candidate in codec.asked if candidate.effort > 1)
        return
    assert len(found.data) <= limit
    # Of all files at the effort asked for that keep the target it is the best.
    fitting = [codec.encoded(candidate) for candidate in codec.asked if candidate.effort > 1]
    errors = [error_of(file) for file in fitting if len(file.data) <= limit]
    assert error_of(found) == min(errors)
    assert len(codec.asked) <= 50


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("size", 0, "target_size = 0: must be from 1 to 4611686018427387904"),
        ("size", -5, "target_size = -5: must be from 1"),
        ("size", 1e4, r"target_size = 10000.0: must be an integer"),
        ("size", True, "target_size = True: must be an integer"),
        ("bpp", 0, "target_bpp = 0: must be finite and above 0"),
        ("bpp", math.nan, "target_bpp = nan: must be finite and above 0"),
        ("bpp", "1", "target_bpp = '1': must be a number"),
        ("psnr", -3.0, "target_psnr = -3.0: must be finite and above 0"),
        ("psnr", math.inf, "target_psnr = inf: must be finite and above 0"),
        ("ssimulacra2", 100.5, "target_ssimulacra2 = 100.5: must be from -100 to 100"),
        ("ssimulacra2", -101, "target_ssimulacra2 = -101: must be from -100 to 100"),
        ("ssimulacra2", math.nan, "target_ssimulacra2 = nan: must be from -100 to 100"),
        ("ssimulacra2", "80", "target_ssimulacra2 = '80': must be a number"),
        ("ssim", 0.9, "name = 'ssim': must be one of size, bpp, psnr, ssimulacra2"),
    ],
)
def test_wrong_targets_are_named(name, value, error):
    with pytest.raises(ParameterError, match=error):
        Target(name, value)
    if name != "ssim":
        with pytest.raises(ParameterError, match=error):
            mmpcodec.encode(PICTURE, **{f"target_{name}": value})


@pytest.mark.parametrize("quality", [-0.1, 100.5, math.nan, math.inf, "75", True])
def test_wrong_qualities_are_named(quality):
    with pytest.raises(ParameterError, match=r"quality = .*: must be .*from 0 to 100"):
        mmpcodec.encode(PICTURE, quality=quality)


@pytest.mark.parametrize(
    "given",
    [
        {"lam": 32, "quality": 75},
        {"lam": 0, "target_size": 900},
        {"quality": 75, "target_psnr": 30},
        {"target_size": 900, "target_bpp": 1},
        {"target_psnr": 30, "target_ssimulacra2": 80},
    ],
)
def test_only_one_may_be_given(given):
    first, second = given
    for function, argument in ((mmpcodec.encode, PICTURE), (mmpcodec.encode_batch, [PICTURE])):
        with pytest.raises(ParameterError, match=f"^{first} and {second}: give only one of lam, "):
            function(argument, **given)


@pytest.mark.parametrize(
    ("options", "lam", "quality", "target", "tune"),
    [
        ({}, 0.008 * 15**2.4, 85, None, "auto"),
        ({"lam": 0}, 0, None, None, "psnr"),
        ({"lam": 7}, 7, None, None, "psnr"),
        ({"lam": 7, "tune": "eye", "preset": "photo"}, 7, None, None, "eye"),
        ({"quality": 90}, 0.008 * 10**2.4, 90, None, "auto"),
        ({"quality": 90, "max_error": 2}, 32, None, None, "psnr"),
        ({"quality": 100}, 0, None, None, "psnr"),
        ({"max_error": 2}, 32, None, None, "psnr"),
        ({"target_bpp": 0.5}, 32, None, Target("bpp", 0.5), "auto"),
        ({"target_psnr": 30}, 32, None, Target("psnr", 30), "psnr"),
        ({"target_ssimulacra2": -3}, 32, None, Target("ssimulacra2", -3), "auto"),
    ],
)
def test_what_was_asked_for(options, lam, quality, target, tune):
    params, found = request_of(**options)
    assert found == target
    assert params.lam == pytest.approx(lam)
    assert (params.quality, params.tune) == (quality, tune)
    assert params.spared == ("" if options else "deep")


def encoded(picture=PICTURE, **options):
    """File, PSNR of what it decodes to, and passes."""
    passes = []
    data = mmpcodec.encode(picture, **options, on_pass=passes.append)
    error = squared_error(picture, mmpcodec.decode(data))
    return data, psnr_of(error, picture.size), passes


@pytest.mark.parametrize("preset", ["plain", "text", "photo"])
@pytest.mark.parametrize("size", [900, 3000])
def test_size_of_real_pictures(preset, size):
    data, psnr, passes = encoded(CAMERA, preset=preset, target_size=size)
    assert 0.98 * size <= len(data) <= size
    assert len(passes) <= 8
    # The file is that of a lambda that was tried, at the effort that was asked for.
    (found,) = {one for one in passes if (one.bytes, one.psnr) == (len(data), psnr)}
    assert (found.effort, found.picture) == (DEFAULT_EFFORT, 0)
    tune = "eye" if preset == "photo" else "psnr"
    assert data == mmpcodec.encode(CAMERA, found.lam, preset=preset, tune=tune)


@pytest.mark.parametrize("target", [28, 36.0])
@pytest.mark.parametrize("preset", ["plain", "photo"])
def test_psnr_of_real_pictures(preset, target):
    data, psnr, passes = encoded(CAMERA, preset=preset, target_psnr=target)
    assert target <= psnr <= target + 0.2
    assert len(passes) <= 10
    fitting = [one.bytes for one in passes if one.psnr >= target and one.effort == DEFAULT_EFFORT]
    assert len(data) == min(fitting)


def test_bpp_is_the_size_of_so_many_bits_a_pixel():
    pixels = PICTURE.size
    by_bits = mmpcodec.encode(PICTURE, target_bpp=0.8, preset="plain")
    assert by_bits == mmpcodec.encode(PICTURE, target_size=pixels // 10, preset="plain")
    assert 0.98 * pixels / 10 <= len(by_bits) <= pixels / 10


def test_auto_keeps_the_target_with_fewer_encodings_each_pass(monkeypatch):
    candidates = []
    real = mmpcodec.codec.devices.encode_tiles

    def counting(tiles, tried, *rest):
        candidates.append(len(tried))
        return real(tiles, tried, *rest)

    monkeypatch.setattr(mmpcodec.codec.devices, "encode_tiles", counting)
    data, psnr, passes = encoded(target_size=1600)
    assert 0.98 * 1600 <= len(data) <= 1600
    assert psnr > 30
    assert candidates[0] == 4
    assert candidates[-1] < 4
    assert len(candidates) == len(passes) <= 10


def test_lossless_is_taken_where_it_fits():
    page = text_like(np.random.default_rng(1), 60, 90)
    lossless = mmpcodec.encode(page, 0)
    data, psnr, passes = encoded(page, target_size=len(lossless) + 1)
    assert psnr == math.inf
    assert len(data) <= len(lossless) + 1
    assert len(passes) <= 3
    plenty = encoded(page, target_size=10**9)
    assert plenty[1] == math.inf
    smaller = encoded(page, target_size=len(lossless) // 2)
    assert len(smaller[0]) <= len(lossless) // 2
    assert smaller[1] < math.inf


@pytest.mark.usefixtures("plain_search")
def test_psnr_that_only_lossless_reaches():
    assert encoded(target_psnr=120)[1] == math.inf
    message = r"target_psnr = 60: the best file, at lambda 0\.\d+, has 40\.93 dB"
    with pytest.raises(Infeasible, match=message):
        mmpcodec.encode(PICTURE, target_psnr=60, preset="photo", step=500, effort=1)


def test_impossible_sizes_say_what_is_possible():
    smallest = len(mmpcodec.encode(PICTURE, 2.0**20, preset="plain"))
    message = rf"the smallest file, at lambda \S*e\+06, has {smallest} bytes"
    with pytest.raises(Infeasible, match=rf"^target_size = 9: {message}"):
        mmpcodec.encode(PICTURE, target_size=9, preset="plain")
    with pytest.raises(Infeasible, match=rf"^target_bpp = 1e-06: {message}"):
        mmpcodec.encode(PICTURE, target_bpp=1e-6, preset="plain")
    assert len(mmpcodec.encode(PICTURE, target_size=smallest, preset="plain")) == smallest


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (17, 3)])
@pytest.mark.parametrize("target", [{"target_size": 70}, {"target_psnr": 30}])
def test_tiny_pictures(shape, target):
    picture = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
    data, psnr, passes = encoded(picture, **target, preset="plain")
    assert psnr >= 30 or len(data) <= 70
    assert len(passes) <= 24
    flat = np.full(shape, 77, np.uint8)
    data, psnr, _ = encoded(flat, **target)
    assert psnr == math.inf if "target_size" in target else psnr >= 30


def test_alpha_has_the_effort_that_was_asked_for():
    """Not that of the first, quick passes."""
    picture = np.dstack([natural(np.random.default_rng(n), 48, 64) for n in range(4)])
    data = mmpcodec.encode(picture, target_size=4000, preset="photo", effort=2)
    *_, alpha = mmpcodec.inspect(data).layers
    assert alpha.name == "alpha"
    assert alpha.tools == lossless_tools(2)


def test_a_batch_has_a_search_each():
    planes = [PICTURE, PICTURE[:64, :64]]
    passes = []
    files = mmpcodec.encode_batch(planes, target_bpp=1.0, preset="plain", on_pass=passes.append)
    assert files == [mmpcodec.encode(one, target_bpp=1.0, preset="plain") for one in planes]
    assert {one.picture for one in passes} == {0, 1}
    assert [one.picture for one in passes] == sorted(one.picture for one in passes)
    noise = np.random.default_rng(4).integers(0, 256, (256, 256)).astype(np.uint8)
    with pytest.raises(Infeasible, match=r"^number 1: target_size = 44: "):
        mmpcodec.encode_batch([PICTURE[:8, :8], noise], target_size=44, preset="plain")


def test_progress_counts_each_pass_anew_and_cancels():
    reported, passes = [], []
    options = {"target_size": 1200, "preset": "plain"}
    mmpcodec.encode(
        PICTURE,
        **options,
        progress=lambda *args: reported.append(args) or True,
        on_pass=passes.append,
    )
    assert {total for _, total in reported} == {42}
    assert reported.count((42, 42)) == reported.count((0, 42)) == len(passes)
    with pytest.raises(Cancelled):
        mmpcodec.encode(PICTURE, **options, progress=lambda done, total: len(reported) < 0)


def test_what_a_callback_raises_comes_through():
    def fail(one):
        raise KeyError(one.lam)

    with pytest.raises(KeyError):
        mmpcodec.encode(PICTURE, target_size=1200, on_pass=fail)


def test_passes_are_with_the_encoding():
    params = EncodeParams.from_options(preset="plain")
    found = mmpcodec.encode_picture(PICTURE, params, target=Target("psnr", 33))
    assert found.passes
    assert found.lam in [one.lam for one in found.passes]
    assert mmpcodec.encode_picture(PICTURE, replace(params, lam=7.0)).passes == ()
    assert all(isinstance(one, Pass) for one in found.passes)


def test_threads_and_backends_find_the_same_file():
    small = PICTURE[:40, :48]
    found = {
        mmpcodec.encode(small, target_size=300, preset="plain", backend=backend, threads=threads)
        for backend, threads in (("cpu", 1), ("cpu", 3), ("reference", 1))
    }
    assert len(found) == 1


@pytest.mark.parametrize("lam", [2.0, 30.0, 500.0])
def test_forecast_is_near_on_what_looks_natural(lam):
    guessed = Forecast([PICTURE], [1.0]).at(lam)
    params = EncodeParams.from_options(lam, preset="photo", effort=QUICK_EFFORT)
    real = mmpcodec.encode_picture(PICTURE, params)
    assert guessed.bytes == pytest.approx(len(real.data), rel=1.1)
    error = squared_error(PICTURE, real.samples)
    assert abs(psnr_of(error, 1) - psnr_of(guessed.distortion, 1)) < 5


def test_forecast_falls_with_lambda_and_takes_any_shape():
    rng = np.random.default_rng(5)
    for shape in ((1, 1), (8, 8), (13, 30), (1030, 1030)):
        forecast = Forecast([rng.integers(0, 256, shape).astype(np.uint8)], [1.0])
        points = [forecast.at(lam) for lam in (0.02, 1, 40, 1e3, 1e6)]
        sizes = [point.bytes for point in points]
        assert sizes == sorted(sizes, reverse=True)
        errors = [point.distortion for point in points]
        assert errors == sorted(errors)
