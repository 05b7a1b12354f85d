"""Lossless samples: contexts, decisions, streams, round trips and the bound of the error."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmpcodec import CorruptStream, TruncatedStream
from mmpcodec.errors import FormatError
from mmpcodec.reference.lossless.coder import decode_planes, encode_planes
from mmpcodec.reference.lossless.streams import joined, parted
from mmpcodec.tools import LosslessTools


def tools(form=3, max_error=0):
    return LosslessTools(form, max_error)


def silent(done, total):
    pass


def waves(shape, depth):
    """Smooth planes with a little noise."""
    c, i, j = np.indices(shape)
    wave = np.sin(i / 3 + c) + np.cos(j / 4) + np.random.default_rng(1).normal(0, 0.05, shape)
    return np.clip((2.1 + wave) / 4.2 * 2**depth, 0, 2**depth - 1).astype(np.uint16)


@pytest.mark.parametrize(
    ("payload", "error", "message"),
    [
        (b"", TruncatedStream, "payload ends within the size of stream 0"),
        (b"\x80", TruncatedStream, "payload ends within the size of stream 0"),
        (b"\x01", TruncatedStream, "payload ends within the size of stream 1"),
        (b"\x81\x00\x00abc", CorruptStream, "size of stream 0 is not a number in shortest form"),
        (b"\x00" + b"\xff" * 10, CorruptStream, "size of stream 1 is not a number"),
        (b"\x01\x03abc", TruncatedStream, "stream 1 has 3 bytes, the payload has 2 left"),
        (b"\xff" * 8 + b"\x01\x00", TruncatedStream, "the payload has 0 left"),
    ],
)
def test_wrong_sizes_of_streams_are_refused(payload, error, message):
    with pytest.raises(error, match=message) as caught:
        parted(payload, 3)
    assert caught.value.section == "Lossless samples"


@st.composite
def cases(draw):
    depth = draw(st.integers(1, 16))
    shape = draw(st.sampled_from([1, 2, 3, 4])), draw(st.integers(1, 3)), draw(st.integers(1, 20))
    top = 2 ** draw(st.integers(0, depth)) - 1
    samples = np.random.default_rng(draw(st.integers(0, 99))).integers(0, top, shape, endpoint=True)
    own = tools(
        draw(st.sampled_from([1, 2, 3])),
        draw(st.sampled_from([0, 0, 1, 7, 300])),
    )
    return samples.astype(np.uint16), depth, own


@settings(max_examples=10, deadline=None)
@given(cases())
def test_round_trips(case):
    samples, depth, own = case
    payload, decoded, bits, cell_rates = encode_planes(samples, depth, own, silent)
    assert abs(decoded.astype(int) - samples).max() <= own.max_error
    assert decoded.max() < 2**depth
    found, same_bits, same_rates = decode_planes(payload, samples.shape, depth, own, silent)
    assert (found == decoded).all()
    assert found.dtype == decoded.dtype == np.uint16
    assert bits == same_bits
    assert (cell_rates == same_rates).all()
    assert set(bits) == {"map", "residual"}


@pytest.mark.parametrize(
    ("depth", "error"), [(1, 1), (8, 1), (8, 3), (8, 127), (8, 255), (16, 40), (16, 32767)]
)
def test_error_is_bounded(depth, error):
    samples = waves((2, 5, 8), depth)
    payload, decoded, bits, _ = encode_planes(samples, depth, tools(max_error=error), silent)
    assert abs(decoded.astype(int) - samples).max() <= error
    found, *_ = decode_planes(payload, samples.shape, depth, tools(max_error=error), silent)
    assert (found == decoded).all()
    assert bits["map"] == len(samples)  # whether each plane is noisy


def test_progress_is_reported():
    reports = []
    shape = 2, 17, 3
    samples = np.full(shape, 9, np.uint16)
    encode_planes(samples, 4, tools(2), lambda *report: reports.append(report))
    assert reports == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_samples_beyond_the_range_are_refused():
    """Zeros say that the first sample, which is predicted as 1, is 15 lower."""
    with pytest.raises(CorruptStream, match="sample is -14, allowed is -7 to 8"):
        decode_planes(bytes(20), (1, 2, 2), 1, tools(max_error=7), silent)


def test_bytes_left_over_in_a_stream_are_refused():
    samples = waves((2, 3, 4), 8)
    payload, *_ = encode_planes(samples, 8, tools(), silent)
    streams = parted(payload, 2)
    for longer in ([streams[0] + bytes(9), streams[1]], [streams[0], streams[1] + bytes(9)]):
        with pytest.raises(CorruptStream, match="payload has"):
            decode_planes(joined(longer), samples.shape, 8, tools(), silent)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_damage_raises_only_errors_of_the_format(data):
    samples = waves((2, 3, 5), 5)
    own = tools(2, max_error=data.draw(st.sampled_from([0, 1])))
    payload = bytearray(encode_planes(samples, 5, own, silent)[0])
    place = data.draw(st.integers(0, len(payload) - 1))
    if data.draw(st.booleans()):
        payload[place] ^= data.draw(st.integers(1, 255))
    else:
        del payload[place:]
    with contextlib.suppress(FormatError):
        found, *_ = decode_planes(bytes(payload), samples.shape, 5, own, silent)
        assert found.max() < 32
