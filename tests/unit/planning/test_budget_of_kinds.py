"""Budgets of pictures of every form and depth."""

import math

import numpy as np
import pytest

import mmpcodec
from mmpcodec import ParameterError
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.planning.budget import (
    Ladder,
    LazyPicture,
    Point,
    PointCache,
    budget_curve,
    check_weights,
    compare,
    encoded,
    ladder,
    measure,
)
from mmpcodec.samples import Form

ANY_DEPTH = mmpcodec.EncodeParams.from_options()
"""Preset auto, which codes samples of every depth."""


@pytest.fixture
def calls(monkeypatch):
    """The lambda of each picture that is encoded."""
    found, real = [], ladder.encode_pictures

    def counting(arrays, params, **more):
        found.extend([params.lam] * len(arrays))
        return real(arrays, params, **more)

    monkeypatch.setattr(ladder, "encode_pictures", counting)
    return found


def picture_of(form, depth, metadata=None):
    """A small picture of noise; alpha is noise as well."""
    shape = (20, 24) if form is Form.GRAY else (20, 24, form.planes)
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = np.random.default_rng(form + depth).integers(0, 1 << depth, shape).astype(kind)
    return Picture(samples, depth, metadata or Metadata())


@pytest.mark.parametrize("depth", [1, 5, 8, 12, 16])
@pytest.mark.parametrize("form", Form)
def test_ladders_of_every_form_and_depth(tmp_path, form, depth):
    picture = picture_of(form, depth, Metadata(icc=b"a profile", text=(("Title", "noise"),)))
    cache = PointCache(tmp_path)
    (own,) = measure([LazyPicture("a", lambda: picture)], [0, 64], cache, ANY_DEPTH)
    assert (own.form, own.depth, own.pixels) == (form, depth, 480)
    lossless, coarse = own.points
    for point in own.points:
        made = mmpcodec.encode(picture.samples, point.lam, depth=depth, metadata=picture.metadata)
        assert encoded(own, point, cache, ANY_DEPTH) == made
    assert (lossless.distortion, own.psnr(lossless)) == (0, math.inf)
    decoded = mmpcodec.decode(encoded(own, coarse, cache, ANY_DEPTH)).astype(np.int64)
    colours = np.s_[..., : form.colours] if picture.samples.ndim == 3 else np.s_[...]
    squares = (decoded[colours] - picture.samples[colours].astype(np.int64)) ** 2
    if form.has_alpha:  # colours of hidden pixels are free
        squares[picture.samples[..., -1] == 0] = 0
    error = np.mean(squares)
    psnr = 10 * math.log10((2**depth - 1) ** 2 / error) if error else math.inf
    assert own.psnr(coarse) == pytest.approx(psnr, abs=0.01)


def test_a_cache_tells_forms_depths_and_metadata_apart(tmp_path, calls):
    zeros = np.zeros((16, 16), np.uint8)
    four = np.zeros((8, 8, 4), np.uint8)
    same_bytes = [
        Picture(zeros, 8),
        Picture(zeros, 7),
        Picture(zeros, 8, Metadata(white=200)),
        Picture(zeros, 8, Metadata(icc=b"profile")),
        Picture(np.zeros((16, 8), np.uint16), 16),
        Picture(np.zeros((16, 8), np.uint16), 12),
        Picture(np.zeros((16, 8, 2), np.uint8), 8),
        Picture(four, 8),
    ]
    ladders = measure(
        [LazyPicture(str(i), lambda one=one: one) for i, one in enumerate(same_bytes)],
        [0],
        cache := PointCache(tmp_path),
        ANY_DEPTH,
    )
    assert len(calls) == len({each.picture for each in ladders}) == len(same_bytes)
    for each, one in zip(ladders, same_bytes, strict=True):
        header = mmpcodec.inspect(encoded(each, each.points[0], cache, ANY_DEPTH)).header
        assert (header.form, header.depth) == (each.form, one.depth)
        assert header.metadata == one.metadata


def test_tools_that_cannot_code_a_depth_are_refused_before_anything_is_encoded(tmp_path, calls):
    gray, deep = picture_of(Form.GRAY, 8), picture_of(Form.RGB, 12)
    lazy = [LazyPicture("gray", lambda: gray), LazyPicture("deep", lambda: deep)]
    plain = mmpcodec.EncodeParams.from_options(preset="plain")
    with pytest.raises(ParameterError, match=r"^deep: .*take preset photo or lossless"):
        measure(lazy, [8], PointCache(tmp_path), plain)
    assert calls == []


def test_progress_counts_all_planes(tmp_path):
    kinds = [(Form.GRAY, 8), (Form.RGB, 8), (Form.RGB_ALPHA, 12)]
    made = [picture_of(*kind) for kind in kinds]
    seen = []
    measure(
        [LazyPicture(str(i), lambda one=one: one) for i, one in enumerate(made)],
        [8, 64],
        PointCache(tmp_path),
        ANY_DEPTH,
        progress=lambda *both: seen.append(both) or True,
    )
    assert seen[-1] == (2 * 4 * (1 + 3 + 4), 2 * 4 * (1 + 3 + 4))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_psnr_of_pictures_of_several_depths():
    eight = Ladder("8", 100, (Point(8, 5, 300),))
    twelve = Ladder("12", 300, (Point(8, 5, 500),), depth=12)
    peak = 4095 / 16
    plan = compare([twelve], 10).exact
    assert plan.psnr == pytest.approx(10 * math.log10(peak**2 * 300 / 500))
    assert plan.worst_psnr == pytest.approx(plan.psnr)
    curve = budget_curve([twelve], objective="worst")
    assert curve.psnr[-1] == pytest.approx(plan.psnr)
    both = compare([eight, twelve], 10).exact
    assert both.psnr == pytest.approx(10 * math.log10((255**2 * 100 + peak**2 * 300) / 800))
    assert both.worst_psnr == pytest.approx(10 * math.log10(255**2 * 100 / 300))


def test_weights_count_the_peak_of_the_largest_depth():
    most = (2**61 - 1) // 65535
    check_weights([most], [1], [16])
    check_weights([most + 1], [1], [8])
    with pytest.raises(ParameterError, match=f"must be at most {most}"):
        check_weights([most + 1], [1], [16])
