"""Tiles that backend cpu decodes by one call: checksums, threads, progress, places of samples."""

import time
import zlib

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import _cpu, backends
from mmpcodec.codec.decoder import read_tile
from mmpcodec.codec.tiles import decoding
from mmpcodec.codec.tiles.decoding import TilePlace, decode_tiles
from mmpcodec.errors import Cancelled
from mmpcodec.format.tiles import tiles_of
from mmpcodec.opening.header import read_header

CPU = backends.get("cpu")
BYTES = np.random.default_rng(1).integers(0, 256, 1 << 12, np.uint8).tobytes()


@pytest.fixture(scope="module")
def tiled():
    """A picture in eight tiles."""
    rng = np.random.default_rng(5)
    samples = np.dstack([natural(rng, 120, 250) for _ in range(3)])
    return mmpcodec.encode(samples, 60, tile_size=64, preset="photo", effort=1)


@pytest.mark.parametrize("start", [0, 1, 7])
def test_crc_is_that_of_zlib(start):
    for size in [*range(200), 4000]:
        data = BYTES[start : start + size]
        assert _cpu.crc32(0, data) == zlib.crc32(data)
        assert _cpu.crc32(77, data) == zlib.crc32(data, 77)


@pytest.mark.parametrize("size", [0, 1, 3, 100, 1000])
def test_crcs_of_two_pieces_join(size):
    first, second = BYTES[size:], BYTES[:size]
    assert _cpu.joined_crc(zlib.crc32(first), zlib.crc32(second), size) == zlib.crc32(
        first + second
    )


@pytest.mark.parametrize("threads", [2, 3, 8, 40])
def test_threads_change_no_sample(tiled, threads):
    expected = mmpcodec.decode(tiled, threads=1)
    for _ in range(5):
        np.testing.assert_array_equal(mmpcodec.decode(tiled, threads=threads), expected)
    np.testing.assert_array_equal(mmpcodec.decode(tiled, backend="reference"), expected)


@pytest.mark.parametrize("threads", [1, 5])
def test_progress_is_called_at_both_ends_and_seldom_between(tiled, threads):
    calls, began = [], time.perf_counter()
    mmpcodec.decode(tiled, threads=threads, progress=lambda *call: calls.append(call) or True)
    total = 3 * 8 * 16
    assert calls[0] == (0, total)
    assert calls[-1] == (total, total)
    assert calls == sorted(calls)
    assert len(calls) <= 2 + (time.perf_counter() - began) / 0.03


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("last", [0, 1])
def test_progress_cancels(tiled, threads, last):
    calls = []

    def stop(done, total):
        calls.append(done)
        return len(calls) <= last

    with pytest.raises(Cancelled, match=r"of 384 fragments"):
        mmpcodec.decode(tiled, threads=threads, progress=stop)
    assert len(calls) == last + 1


def test_an_error_of_the_callback_passes(tiled):
    def fail(done, total):
        raise KeyError(done)

    with pytest.raises(KeyError):
        mmpcodec.decode(tiled, threads=3, progress=fail)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_part_of_a_tile_goes_to_its_place(tiled, backend):
    """Pixels and rows of the place lie apart, rows in reversed order."""
    data = memoryview(tiled)
    header = read_header(data)
    tile = list(tiles_of(header.height, header.width, header.tile_size))[5]
    stream = read_tile(data, header, tile)
    room = np.full((90, 50, 7), 9, np.uint8)
    place = TilePlace(tile, stream, room[80:20:-3, 10:40:2, 2:5], (11, 30))
    assert decode_tiles([place], header, backends.get(backend), 1, None) == [[]]
    expected = mmpcodec.decode(tiled)[tile.slices][11:31, 30:45]
    np.testing.assert_array_equal(place.samples, expected)
    place.samples[...] = 9
    assert (room == 9).all()


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_damaged_tile_leaves_zeros(tiled, backend):
    damaged = bytearray(tiled)
    header = read_header(memoryview(tiled))
    damaged[header.tile_offsets[3] + header.crc_bytes[0]] ^= 1  # CRC of the samples
    crc = zlib.crc32(damaged[slice(*header.tile_offsets[3:5])][header.crc_bytes[0] :])
    damaged[header.tile_offsets[3] :][: header.crc_bytes[0]] = header.stream_crc(crc)
    first = header.tile_offsets[3]
    damaged[first : first + header.crc_bytes[0]] = header.stream_crc(crc)
    out = np.full((120, 250, 3), 7, np.uint8)
    found = mmpcodec.inspect(
        bytes(damaged), decode=True, allow_partial=True, backend=backend, out=out
    )
    assert found.samples is out
    expected = mmpcodec.decode(tiled)
    expected[:64, 192:] = 0
    # Samples beside the bad tile are not smoothed.
    for shown in (out, expected):
        shown[:72, 184:192], shown[64:72, 192:] = 7, 7
    np.testing.assert_array_equal(out, expected)
    ((bad),) = found.bad_tiles
    assert bad.tile.number == 3
    assert "samples CRC is" in str(bad.error)


def test_layers_are_described_on_demand_only(tiled, monkeypatch):
    def described(*arguments):
        raise AssertionError

    monkeypatch.setattr(decoding, "_codings", described)
    mmpcodec.decode(tiled)
    with pytest.raises(AssertionError):
        mmpcodec.inspect(tiled, decode=True)
