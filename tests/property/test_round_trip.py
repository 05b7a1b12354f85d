"""Any picture and any tree tools: what a decoder shows, and how large its error is."""

import numpy as np
from hypothesis import given
from support.strategies import encode_params, pictures

import mmpcodec
from mmpcodec import EncodeParams


@given(pictures(), encode_params())
def test_decoder_shows_what_the_encoder_saw(picture, params):
    encoding = mmpcodec.encode_picture(picture, params)
    assert encoding.samples.shape == picture.shape
    assert np.array_equal(mmpcodec.decode(encoding.data), encoding.samples)


@given(pictures(), encode_params())
def test_lambda_zero_is_lossless(picture, params):
    lossless = EncodeParams(0, params.tools, params.rate_model)
    encoding = mmpcodec.encode_picture(picture, lossless)
    assert np.array_equal(mmpcodec.decode(encoding.data), picture)


@given(pictures())
def test_error_is_bounded_by_the_price_of_grey_levels(picture):
    # A tree of single samples has no error, so no tree costs more than its rate.
    encoding = mmpcodec.encode_picture(picture, EncodeParams(4))
    error = (picture.astype(int) - encoding.samples) ** 2
    fragments = -(-picture.shape[0] // 16) * -(-picture.shape[1] // 16)
    assert error.sum() <= 4 * 40 * 256 * fragments
