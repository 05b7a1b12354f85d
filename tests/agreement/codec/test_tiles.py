"""Tiles that backend cpu decodes by one call, and that the reference decodes layer by layer."""

import zlib
from dataclasses import replace

import numpy as np
import pytest
from palettes import file_of
from support.pairs import every_pair
from support.same import assert_same
from support.strategies import natural

import mmpcodec
from mmpcodec.codec.decoder import read_tile
from mmpcodec.errors import FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.layouts import Layout
from mmpcodec.format.tiles import Tile, tiles_of
from mmpcodec.opening.header import read_header

OPTIONS = [
    {"preset": "photo", "effort": 1, "tune": None},
    {"preset": "photo", "effort": 1, "delta_step": True, "tune": "eye"},
    {"preset": "photo", "effort": 1, "lam": 3000},  # above lambdas of the fine layout
    {"preset": "photo", "effort": 1, "cross_component": 0},
    {"preset": "plain"},
    {"preset": "lossless", "effort": 1},
    {"preset": "lossless", "effort": 1, "max_error": 2},
]


def picture(planes, depth, height=70, width=45):
    rng = np.random.default_rng(planes)
    channels = [natural(rng, height, width).astype(np.uint32) for _ in range(planes)]
    samples = np.dstack(channels) * ((1 << depth) - 1) // 255
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    return samples[..., 0] if planes == 1 else samples


def described(data, backend, threads=None):
    """Samples and layers of a file, or its error; without the name of the backend."""
    try:
        found = mmpcodec.inspect(data, decode=True, backend=backend, threads=threads)
    except FormatError as error:
        return type(error), str(error), error.section, error.offset
    return found.samples, [replace(layer, backend="") for layer in found.layers]


def assert_agree(data):
    expected = described(data, "reference")
    for threads in (1, 3):
        assert_same(expected, described(data, "cpu", threads))
    return expected


@every_pair(planes=[1, 2, 3, 4], depth=[3, 8, 12, 16], options=OPTIONS, tile_size=[0, 64])
def test_samples_and_traces(planes, depth, options, tile_size):
    if options["preset"] == "plain" and depth > 8:
        options = OPTIONS[0]
    options = {"lam": 30, "depth": depth, "tile_size": tile_size, **options}
    data = mmpcodec.encode(picture(planes, depth), **options)
    samples, _ = assert_agree(data)
    part = mmpcodec.decode(data, region=(7, 50, 30, 18), backend="cpu")
    np.testing.assert_array_equal(part, samples[50:68, 7:37])


@pytest.mark.parametrize("bits", [8, 10])
def test_levels(bits):
    """A picture that uses few of its levels."""
    samples = picture(3, bits).astype(np.uint16) + 3000
    data = mmpcodec.encode(samples, 4, depth=16, **OPTIONS[0])
    header = mmpcodec.inspect(data).header
    assert (header.level_bits, header.first) == (bits, samples.min())
    found, _ = assert_agree(data)
    assert np.abs(found.astype(int) - samples).mean() < 1 << bits - 6


@every_pair(planes=[1, 2, 3, 4], depth=[3, 8, 12], transparent=[True, False])
def test_palettes(planes, depth, transparent):
    layouts = (Layout.TOGETHER, Layout.APART, Layout.LUMA, Layout.FINE_LUMA)
    samples = picture(planes, depth, 17, 24) >> max(depth - 4, 0) << max(depth - 4, 0)
    options = {"layout": layouts[planes - 1]} if transparent else {"transparent": False}
    data, shown = file_of(samples, depth=depth, **options)
    found, coded = assert_agree(data)
    np.testing.assert_array_equal(found, shown)
    assert coded[0].trace.drawn.any()
    damaged = bytearray(data)
    palette = read_tile(memoryview(data), read_header(memoryview(data)), Tile(0, 0, 24, 17)).palette
    for at in (palette.offset + 2, palette.offset + len(palette.payload) // 2):
        damaged[at] ^= 255
        assert isinstance(assert_agree(with_right_crc(damaged))[0], type)


def with_right_crc(data):
    """The file of one tile with the CRC of its changed bytes."""
    data, header = bytearray(data), read_header(memoryview(data))
    start, size = header.tile_offsets[0], header.crc_bytes[0]
    data[start : start + size] = header.stream_crc(zlib.crc32(data[start + size :]))
    return bytes(data)


def with_parts(data, change):
    """The file with other parts of its first tile, and right CRCs of its bytes."""
    header = read_header(memoryview(data))
    tile = next(iter(tiles_of(header.height, header.width, header.tile_size)))
    stream = read_tile(memoryview(data), header, tile)
    parts = [
        replace(layer, payload=change(bytes(layer.payload), number))
        for number, layer in enumerate(stream.layers)
    ]
    body = layers.write(header, stream.layout, parts, stream.samples_crc, stream.rotation)
    return container.write(replace(header, tile_bytes=(len(body),)), [body])


def garbage(size):
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


CHANGES = [
    lambda payload, number: payload[: len(payload) // 3] if number == 1 else payload,
    lambda payload, number: payload[: len(payload) // 3] if number in (1, 2) else payload,
    lambda payload, number: payload + garbage(40) if number == 3 else payload,
    lambda payload, number: garbage(300) if number in (2, 3) else payload,
    lambda payload, number: garbage(len(payload)),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[3], OPTIONS[4]])
def test_errors_of_layers(options, change):
    data = mmpcodec.encode(picture(4, 8), **{"lam": 30, **options})
    assert isinstance(assert_agree(with_parts(data, change))[0], type)


def test_error_of_the_checksum():
    data = bytearray(mmpcodec.encode(picture(3, 8), 30, **OPTIONS[0]))
    header = read_header(memoryview(data))
    data[header.tile_offsets[0] + header.crc_bytes[0]] ^= 255
    kind, text, *_ = assert_agree(with_right_crc(data))
    assert kind is mmpcodec.CorruptStream
    assert "samples CRC is" in text
