"""Pictures of 1 bit: lossless by default in every call, with loss only if that is asked for."""

import io
from functools import partial

import numpy as np
import pytest
from support.books import collection_of

import mmpcodec
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.params import CALIBRATED, DEEP
from mmpcodec.pictures import Picture

BITS = np.random.default_rng(1).choice(2, (40, 53), p=[0.05, 0.95]).astype(np.uint8)


def by_stream(picture, **options):
    stream = io.BytesIO()
    mmpcodec.imwrite(stream, picture, "mmp", **options)
    return stream.getvalue()


@pytest.mark.parametrize("preset", ["auto", "text"])
@pytest.mark.parametrize(
    "call",
    [
        partial(mmpcodec.encode, BITS.astype(bool)),
        partial(mmpcodec.encode, BITS, depth=1),
        partial(mmpcodec.imwrite, None, BITS.astype(bool), "mmp"),
        partial(mmpcodec.imwrite, None, Picture(BITS, 1), "mmp"),
        partial(by_stream, Picture(BITS, 1)),
        lambda **options: mmpcodec.encode_batch([BITS.astype(bool)], **options)[0],
        lambda **options: mmpcodec.encode([BITS.astype(bool)] * 2, **options),
    ],
    ids=["bool", "depth", "imwrite bool", "imwrite picture", "stream", "batch", "book"],
)
def test_every_call_is_lossless_by_default(call, preset):
    data = call(preset=preset)
    assert data == call(preset=preset, lam=0)
    found = mmpcodec.imread(data, page=1)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, BITS)


@pytest.mark.parametrize("spared", [CALIBRATED, DEEP])
@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_without_a_rate_lambda_is_0(spared, planes):
    params = request_of(spared=spared, preset="text").params
    samples = BITS if planes == 1 else np.dstack([BITS, 1 - BITS, BITS, BITS])[..., :planes]
    found = mmpcodec.encode_picture(samples, params, depth=1)
    assert (found.lam, found.max_error) == (0, 0)
    deeper = mmpcodec.encode_picture(np.tile(BITS * 100, (2, 2)), params)
    assert deeper.lam > 0


@pytest.mark.parametrize("rate", [{"lam": 7.0}, {"quality": 60}])
def test_a_rate_that_is_given_counts(rate):
    params = request_of(preset="text", **rate).params
    assert mmpcodec.encode_picture(BITS, params, depth=1).lam > 0


def test_presets_that_are_always_lossy_ask_for_loss():
    params = request_of(preset="photo").params
    assert mmpcodec.encode_picture(BITS, params, depth=1).lam > 0


def test_samples_are_0_and_1_of_uint8_wherever_they_are_read(tmp_path):
    path = tmp_path / "page.mmp"
    path.write_bytes(collection_of([mmpcodec.encode(BITS.astype(bool))]))
    (page,) = mmpcodec.open(path)
    for found in (mmpcodec.imread(path), page[:, :], mmpcodec.imread(path, page="all")[0]):
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, BITS)
