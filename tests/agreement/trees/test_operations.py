"""Every native operation against the reference, on random input.

On a difference the message shows the first differing place with both values.
"""

import numpy as np
import pytest
from support.strategies import CONTENT

from mmpcodec.backends.cpu import CpuBackend, _cpu
from mmpcodec.errors import TruncatedStream
from mmpcodec.reference.entropy.rangecoder import RangeDecoder, RangeEncoder
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.trees.costs import cost_map, map_region
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import SCALES, rescale
from mmpcodec.tools import Tools

LEVELS = CpuBackend.levels()


def same(name, expected, found, **where):
    if np.array_equal(expected, found):
        return
    expected, found = np.asarray(expected), np.asarray(found)
    place = tuple(int(i) for i in np.argwhere(expected != found)[0])
    pytest.fail(f"{name} {where} at {place}: reference {expected[place]}, native {found[place]}")


def test_generic_level_is_always_there():
    assert LEVELS[-1] == "generic"


def test_log2_rate():
    same("log2_rate", LOG2[1:], [_cpu.log2_rate(i) for i in range(1, len(LOG2))])


@pytest.mark.parametrize("source", SCALES, ids=lambda s: f"{s.height}x{s.width}")
def test_rescale(source):
    rng = np.random.default_rng(source.number)
    for kind in ("any", "extremes"):
        block = rng.integers(0, 256, (source.height, source.width), dtype=np.uint8)
        if kind == "extremes":
            block = np.where(block > 127, 255, 0).astype(np.uint8)
        for target in SCALES:
            found = _cpu.rescale(block, source.number, target.number)
            same("rescale", rescale(block, target), found, source=source, target=target)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("size", [256, 257, 700])
def test_search(level, content, size):
    rng = np.random.default_rng(size)
    fragment = CONTENT[content](rng, 16, 16)
    for scale in SCALES:
        dictionary = Dictionary(scale, Tools(dictionary_limit=size))
        area = scale.height * scale.width
        while len(dictionary) < size and area > 1:
            source = CONTENT[content](rng, 16, 16)
            dictionary.insert(rescale(source, scale).ravel(), scale)
            noisy = rng.integers(0, 256, area, dtype=np.uint8)
            dictionary.insert(noisy, scale)
        costs = rng.integers(0, 20000, len(dictionary))
        costs[rng.random(len(dictionary)) < 0.5] = 640  # ties
        expected = cost_map(fragment, {scale: dictionary}, {scale: costs})
        found = _cpu.search_scale(
            fragment, scale.number, dictionary.samples, costs.astype(np.int32), level
        )
        for name, wanted, got in zip(("cost", "index"), expected, found, strict=True):
            same(name, wanted[map_region(scale)], got, scale=scale, level=level)


def test_search_gives_the_lowest_of_equal_elements():
    samples = np.repeat(np.array([[9, 9], [7, 7]], np.uint8), 40, axis=0)
    fragment = np.full((16, 16), 8, np.uint8)
    for level in LEVELS:
        cost, index = _cpu.search_scale(fragment, 23, samples, np.zeros(80, np.int32), level)
        assert (cost == 2 << 4).all()
        assert (index == 0).all()


def test_range_encoder():
    rng = np.random.default_rng(11)
    ours, native = RangeEncoder(), _cpu.RangeEncoder()
    for _ in range(20000):
        total = int(rng.integers(1, 1 << int(rng.integers(1, 18))))
        cumulative = int(rng.integers(total))
        frequency = int(rng.integers(1, total - cumulative + 1))
        ours.encode(cumulative, frequency, total)
        native.encode(cumulative, frequency, total)
    same("payload", list(ours.finish()), list(native.finish()))


def decode_to_the_end(ours, native, rng, targets, last):
    """Random symbols until the reference is out of bytes; ``last`` holds what it choked on."""
    while True:
        total = int(rng.integers(1, 1 << int(rng.integers(1, 18))))
        target = ours.target(total)
        targets.append((target, native.target(total)))
        last[:] = target, min(1 + total // 3, total - target)
        ours.consume(*last)
        native.consume(*last)


@pytest.mark.parametrize("payload", [b"\xff" * 60, bytes(60), None], ids=["ff", "00", "any"])
def test_range_decoder(payload):
    """Also on bytes that no encoder writes: there the offset can pass the range."""
    rng = np.random.default_rng(12)
    payload = rng.bytes(60) if payload is None else payload
    ours, native = RangeDecoder(payload), _cpu.RangeDecoder(payload)
    targets, last = [], []
    with pytest.raises(TruncatedStream) as expected:
        decode_to_the_end(ours, native, rng, targets, last)
    same("target", *zip(*targets, strict=True))
    with pytest.raises(TruncatedStream) as found:
        native.consume(*last)
    assert str(found.value) == str(expected.value)
