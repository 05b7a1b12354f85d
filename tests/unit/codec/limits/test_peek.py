"""The look at beginnings of lossless samples reads few bits, however many tiles a file has."""

from dataclasses import replace

import numpy as np
import pytest

import mmpcodec
from mmpcodec.codec.limits.peek import MOST_BITS, UNKNOWN, Beginning, Peek
from mmpcodec.errors import LimitExceeded
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout
from mmpcodec.presets import PRESETS
from mmpcodec.reference.entropy.rangecoder import RangeDecoder
from mmpcodec.samples import Form

LOSSLESS = PRESETS["lossless"]
SHAPE = (200, 200)


@pytest.fixture
def symbols(monkeypatch):
    """The symbols that range decoders in Python have read."""
    read, consume = [], RangeDecoder.consume

    def counted(self, cumulative, frequency):
        read.append(frequency)
        consume(self, cumulative, frequency)

    monkeypatch.setattr(RangeDecoder, "consume", counted)
    return read


def layer_of(samples, **options):
    data = mmpcodec.encode(samples, preset="lossless", tile_size=0, **({"lam": 0} | options))
    header = mmpcodec.inspect(data).header
    tile = memoryview(data)[slice(*header.tile_offsets)]
    return layers.read(tile, header.tile_offsets[0], header).layers[0]


def nearly_blank(number):
    """A plane of two values of 16 bits, which differ by the number."""
    samples = np.full(SHAPE, 65535, np.uint16)
    samples[5, 5] -= 1 + number
    return samples


def file_of(payloads, side):
    """A file of gray tiles of 16 bits, 1024x1024 each."""
    header = Header(side, side, Form.GRAY, 16, tile_size=1024)
    tiles = [
        layers.write(header, Layout.TOGETHER, [Layer("gray", LOSSLESS, payload)], 0)
        for payload in payloads
    ]
    return container.write(replace(header, tile_bytes=tuple(map(len, tiles))), tiles)


def test_a_file_of_many_tiles_is_refused_quickly(symbols):
    payloads = [layer_of(nearly_blank(number)).payload for number in range(16)]
    data = file_of(payloads, 4096)
    assert len(data) < 1000
    with pytest.raises(LimitExceeded, match="decoding can take"):
        mmpcodec.decode(data)
    assert MOST_BITS / 2 < len(symbols) < MOST_BITS + 100


def test_equal_streams_are_read_once(symbols):
    data = file_of(16 * [layer_of(nearly_blank(0)).payload], 4096)
    with pytest.raises(LimitExceeded, match="decoding can take"):
        mmpcodec.decode(data)
    assert len(symbols) < 65536 + 100


def test_blank_planes_of_16_bits_are_flat():
    levels = np.array([1, 300, 65535, 40000], np.uint16)
    layer = layer_of(np.tile(levels, (*SHAPE, 1)))
    peek = Peek()
    assert peek.at(layer, SHAPE, 4, 16).flat == 4
    # All bits are spent.
    assert peek.at(layer_of(nearly_blank(0)), SHAPE, 1, 16) == UNKNOWN
    assert peek.at(layer, SHAPE, 4, 16).flat == 4


def test_a_look_finds_values_and_natural_pixels():
    rows, columns = np.indices(SHAPE)
    noise = np.random.default_rng(0).integers(0, 9, (*SHAPE, 3)).astype(np.uint8)
    slope = (3 * rows + 5 * columns + noise[..., 0]).astype(np.uint8)
    found = Peek().at(layer_of(slope), SHAPE, 1, 8)
    assert found == Beginning(0, 256, True)
    assert Peek().at(layer_of(np.eye(200, dtype=np.uint8)), SHAPE, 1, 8).values == 2
    first_flat = noise * np.array([1, 0, 1], np.uint8)  # green is the first plane
    assert Peek().at(layer_of(first_flat), SHAPE, 3, 8).flat == 1
    assert Peek().at(layer_of(slope, max_error=1, lam=None), SHAPE, 1, 8) == UNKNOWN


@pytest.mark.parametrize("payload", [b"", b"\xff", b"\xff" * 3, bytes(5)])
def test_payloads_that_the_decoder_refuses_are_unknown_or_have_a_value(payload):
    for planes, depth in ((1, 8), (3, 8), (4, 16)):
        found = Peek().at(Layer("any", LOSSLESS, payload), SHAPE, planes, depth)
        assert found.values is None or found.values > 0
