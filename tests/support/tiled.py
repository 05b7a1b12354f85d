"""Tiled mmp files for tests: of every form and depth, large ones of few bytes, damaged ones."""

import zlib
from dataclasses import replace
from functools import cache

import numpy as np

import mmpcodec
from mmpcodec.codec import regions
from mmpcodec.format import container
from mmpcodec.format.tiles import tiles_of

TILE = 64
"""Side of the tiles of the pictures of this module."""
SHAPES = ((1, 1), (64, 64), (130, 200))
"""A picture of one pixel, one of one whole tile, and one with narrow tiles at its edges."""


def samples_of(shape, planes, depth, seed=0):
    """Samples of any level, of shape (H, W) or (H, W, planes)."""
    kind = np.uint8 if depth <= 8 else np.uint16
    full = shape if planes == 1 else (*shape, planes)
    return np.random.default_rng(seed).integers(0, 1 << depth, full).astype(kind)


def tiled(samples, depth=None, **options):
    """The lossless file of some samples, in tiles of 64x64."""
    options = {"preset": "lossless", "effort": 1, "tile_size": TILE, "depth": depth, **options}
    return coded(samples.tobytes(), samples.dtype, samples.shape, *options.items())


@cache
def coded(data, dtype, shape, *options):
    """The file of some samples; many tests read the same one."""
    return mmpcodec.encode(np.frombuffer(data, dtype).reshape(shape), 0, **dict(options))


def damaged(data, number):
    """The file with a wrong byte in the tile of a number."""
    at = mmpcodec.inspect(data).header.tile_offsets[number + 1] - 1
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def with_wrong_samples(data, number):
    """The file with a tile that can be read, but does not decode to its samples."""
    header = mmpcodec.inspect(data).header
    start, stop = header.tile_offsets[number : number + 2]
    place = start + header.crc_bytes[0]
    rest = bytes([data[place] ^ 1]) + data[place + 1 : stop]
    return data[:start] + header.stream_crc(zlib.crc32(rest)) + rest + data[stop:]


@cache
def large(side=20000, tile_size=1000):
    """The file of a gray picture of side x side samples whose tiles are all the same."""
    tile = samples_of((tile_size, tile_size), 1, 1)
    return repeated(mmpcodec.encode(tile, 0, preset="lossless", depth=1), side), tile


def repeated(file, side):
    """The file of a square picture whose tiles are all the one of a square file of one tile."""
    own = mmpcodec.inspect(file).header
    header = replace(own, width=side, height=side, tile_size=own.width)
    # Small tiles have short checksums.
    of_stream, both = own.crc_bytes[0], sum(own.crc_bytes)
    tile = file[own.size :]
    rest = header.samples_crc(int.from_bytes(tile[of_stream:both], "big")) + tile[both:]
    part = header.stream_crc(zlib.crc32(rest)) + rest
    count = len(list(tiles_of(side, side, own.width)))
    return container.write(replace(header, tile_bytes=(len(part),) * count), [part] * count)


def tiles_decoded(monkeypatch):
    """A list that gets the numbers of the tiles that are decoded from now on, in their order."""
    numbers = []
    real = regions.decode_tiles

    def counted(places, *rest, **options):
        numbers.extend(place.tile.number for place in places)
        return real(places, *rest, **options)

    monkeypatch.setattr(regions, "decode_tiles", counted)
    return numbers
