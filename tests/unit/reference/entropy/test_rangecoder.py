"""The range coder: round trip, length, carries, truncation."""

import math

import numpy as np
import pytest
from hypothesis import given
from support.strategies import symbol_streams

from mmpcodec import CorruptStream, TruncatedStream
from mmpcodec.reference.entropy.rangecoder import BOTTOM, TOP, RangeDecoder, RangeEncoder


def encode(stream):
    coder = RangeEncoder()
    for interval in stream:
        coder.encode(*interval)
    return coder.finish()


def decode(payload, stream):
    coder = RangeDecoder(payload)
    for cumulative, frequency, total in stream:
        assert cumulative <= coder.target(total) < cumulative + frequency
        coder.consume(cumulative, frequency)
    coder.finish()


def ideal_bits(stream):
    return sum(math.log2(total / frequency) for _, frequency, total in stream)


@given(symbol_streams())
def test_round_trip_and_length(stream):
    payload = encode(stream)
    decode(payload, stream)
    assert 8 * len(payload) <= 1.001 * ideal_bits(stream) + 64


def test_carry_runs_through_ff_bytes():
    total = (1 << 17) + 1
    coder = RangeEncoder()
    stream = []
    # The symbols that a half decodes to keep low just under a half, and its end above.
    half = RangeDecoder(b"\x80" + bytes(99))
    for _ in range(40):
        stream.append((half.target(total), 1, total))
        half.consume(*stream[-1][:2])
        coder.encode(*stream[-1])
    assert coder.payload == b"\x7f".ljust(len(coder.payload), b"\xff")
    stream.append((total - 1, 1, total))
    coder.encode(*stream[-1])
    assert coder.payload[:80] == b"\x80".ljust(80, b"\0")
    decode(coder.finish(), stream)


def test_carry_into_ff_is_added_to_the_byte_before():
    coder = RangeEncoder()
    coder.payload = bytearray([0x12, 0xFF, 0xFF])
    coder.low, coder.range = TOP - 1, BOTTOM
    coder.encode(1, 1, 2)
    assert coder.payload[:3] == bytes([0x13, 0, 0])


@pytest.mark.parametrize(
    ("low", "width", "end"),
    [
        (0, BOTTOM, b""),
        (1, TOP >> 1, b"\x80"),
        (1, TOP >> 17, b"\0\0\x80"),
        (1, BOTTOM, b"\0\0\0\1"),
    ],
)
def test_end_takes_the_fewest_bytes(low, width, end):
    coder = RangeEncoder()
    coder.low, coder.range = low, width
    assert coder.finish() == end


def test_state_stays_within_its_invariants():
    rng = np.random.default_rng(2)
    coder = RangeEncoder()
    for _ in range(5000):
        total = int(rng.integers(1, 1 << 18))
        cumulative = int(rng.integers(total))
        coder.encode(cumulative, int(rng.integers(1, total - cumulative + 1)), total)
        assert BOTTOM <= coder.range < TOP
        assert 0 <= coder.low < TOP


@pytest.mark.parametrize("alphabet", [2, 3, 53, 1000])
def test_adaptive_length_against_ideal_and_constriction(alphabet):
    constriction = pytest.importorskip("constriction")
    rng = np.random.default_rng(alphabet)
    symbols = rng.choice(alphabet, 3000, p=rng.dirichlet(np.full(alphabet, 0.3)))
    frequency = np.ones(alphabet, np.int64)
    stream = []
    oracle = constriction.stream.queue.RangeEncoder()
    for symbol in symbols:
        total = int(frequency.sum())
        stream.append((int(frequency[:symbol].sum()), int(frequency[symbol]), total))
        model = constriction.stream.model.Categorical(frequency / total, perfect=False)
        oracle.encode(int(symbol), model)
        frequency[symbol] += 1
    payload = encode(stream)
    decode(payload, stream)
    assert 8 * len(payload) <= 1.001 * ideal_bits(stream) + 64
    assert 8 * len(payload) >= ideal_bits(stream) - 1
    assert abs(8 * len(payload) - oracle.num_bits()) <= 0.001 * oracle.num_bits() + 64


def test_nothing_coded_takes_no_bytes():
    assert encode([]) == b""
    decode(b"", [])


def test_truncation_is_noticed():
    stream = [(i % 200, 1, 256) for i in range(400)]
    payload = encode(stream)
    with pytest.raises(TruncatedStream, match=f"payload ends after {len(payload) - 20} bytes"):
        decode_any(payload[:-20], [256] * 400)


def decode_any(payload, totals):
    coder = RangeDecoder(payload)
    for total in totals:
        coder.consume(coder.target(total), 1)
    coder.finish()


def test_bytes_left_over_are_noticed():
    stream = [(3, 1, 7)] * 5
    with pytest.raises(CorruptStream, match="the picture ends after"):
        decode(encode(stream) + bytes(10), stream)
