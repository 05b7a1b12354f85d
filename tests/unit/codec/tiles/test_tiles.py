"""Pictures in tiles: threads, regions, damaged tiles, progress."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import Cancelled, DecodeLimits, LimitExceeded, ParameterError
from mmpcodec.codec import encoder
from mmpcodec.presets import preset_of
from mmpcodec.tools import BlockTools

PICTURE = np.stack([natural(np.random.default_rng(n), 150, 210) for n in range(3)], axis=2)
OPTIONS = {"preset": "photo", "effort": 1}


@pytest.fixture(scope="module")
def data():
    return mmpcodec.encode(PICTURE, 30, tile_size=64, **OPTIONS)


def test_each_tile_is_coded_as_if_alone():
    data = mmpcodec.encode(PICTURE, 30, tile_size=64, preset="plain")
    header = mmpcodec.inspect(data).header
    assert header.tile_size == 64
    for tile in header.tiles:
        alone = mmpcodec.encode(np.ascontiguousarray(PICTURE[tile.slices]), 30, preset="plain")
        own = data[header.tile_offsets[tile.number] : header.tile_offsets[tile.number + 1]]
        assert alone.endswith(own[sum(header.crc_bytes) :])


@pytest.mark.parametrize("threads", [1, 3, 16])
def test_threads_change_no_byte(data, threads):
    assert mmpcodec.encode(PICTURE, 30, tile_size=64, threads=threads, **OPTIONS) == data
    np.testing.assert_array_equal(
        mmpcodec.decode(data, threads=threads), mmpcodec.decode(data, backend="reference")
    )


def test_a_tile_as_large_as_the_picture_is_none():
    whole = mmpcodec.encode(PICTURE, 30, **OPTIONS)
    assert mmpcodec.encode(PICTURE, 30, tile_size=210, **OPTIONS) == whole
    assert mmpcodec.inspect(whole).header.tile_size == 0


@given(st.data())
def test_any_region_is_that_of_the_picture(data, draw):
    x, y = draw.draw(st.integers(0, 209)), draw.draw(st.integers(0, 149))
    width, height = draw.draw(st.integers(1, 210 - x)), draw.draw(st.integers(1, 150 - y))
    whole = mmpcodec.decode(data)
    np.testing.assert_array_equal(
        mmpcodec.decode(data, region=(x, y, width, height)), whole[y : y + height, x : x + width]
    )


def test_a_region_reads_only_its_tiles(data):
    """All other tiles are overwritten, and nobody notices."""
    header = mmpcodec.inspect(data).header
    kept = header.tile_offsets[5:7]
    changed = bytearray(data)
    for start, end in ((header.size, kept[0]), (kept[1], len(data))):
        changed[start:end] = bytes(end - start)
    x, y, width, height = header.tiles[5].x + 8, header.tiles[5].y + 8, 48, 48
    found = mmpcodec.inspect(bytes(changed), decode=True, region=(x, y, width, height))
    whole = mmpcodec.decode(data)
    np.testing.assert_array_equal(found.samples, whole[y : y + height, x : x + width])
    assert {layer.tile for layer in found.layers} == {5}
    for wider in ((x - 1, y, 48, 48), (x, y - 1, 48, 48), (x, y, 49, 48), (x, y, 48, 49)):
        with pytest.raises(mmpcodec.FormatError):
            mmpcodec.decode(bytes(changed), region=wider)


def test_limits_are_those_of_the_region(data):
    small = DecodeLimits(max_samples=64 * 64 * 3, max_dimension=64)
    assert mmpcodec.decode(data, region=(72, 72, 48, 48), limits=small).shape == (48, 48, 3)
    with pytest.raises(
        LimitExceeded,
        match="region with the tiles that it touches is 48x48: 24576 samp",
    ):
        mmpcodec.decode(data, region=(71, 72, 48, 48), limits=small)
    with pytest.raises(LimitExceeded):
        mmpcodec.decode(data, limits=small)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_bad_tiles_are_reported_and_the_others_shown(data, backend):
    header = mmpcodec.inspect(data).header
    changed = bytearray(data)
    for number in (1, 4):
        changed[header.tile_offsets[number] + 30] ^= 1
    found = mmpcodec.inspect(bytes(changed), decode=True, allow_partial=True, backend=backend)
    assert [bad.tile.number for bad in found.bad_tiles] == [1, 4]
    assert "tile 4, 64x64 at (0, 64): stream CRC is" in str(found.bad_tiles[1].error)
    expected = mmpcodec.decode(data)
    near = np.zeros(expected.shape[:2], bool)
    for tile in (header.tiles[1], header.tiles[4]):
        expected[tile.slices] = 0
        assert not found.samples[tile.slices].any()
        near[max(0, tile.y - 8) : tile.y + 72, max(0, tile.x - 8) : tile.x + 72] = True
    np.testing.assert_array_equal(found.samples[~near], expected[~near])
    with pytest.raises(mmpcodec.CorruptStream, match=r"tile 1, 64x64 at \(64, 0\)"):
        mmpcodec.decode(bytes(changed), backend=backend)


def test_a_region_of_a_cut_file_needs_its_own_tiles_only(data):
    header = mmpcodec.inspect(data).header
    cut = data[: header.tile_offsets[3] - 1]
    np.testing.assert_array_equal(
        mmpcodec.decode(cut, region=(0, 0, 120, 56)), mmpcodec.decode(data)[:56, :120]
    )
    with pytest.raises(mmpcodec.TruncatedStream, match=r"tile 2, 64x64 at \(128, 0\)"):
        mmpcodec.decode(cut, region=(0, 0, 121, 56))


def test_a_file_without_a_good_tile_is_refused(data):
    header = mmpcodec.inspect(data).header
    with pytest.raises(mmpcodec.TruncatedStream, match=r"tile 0, 64x64 at \(0, 0\)"):
        mmpcodec.inspect(data[: header.size], decode=True, allow_partial=True)
    found = mmpcodec.inspect(data[: header.size], allow_partial=True)
    assert [bad.tile.number for bad in found.bad_tiles] == list(range(12))
    assert (found.tools, found.trace) == (None, None)


def test_what_follows_the_last_tile(data):
    with pytest.raises(mmpcodec.CorruptStream, match="3 bytes follow the trailer"):
        mmpcodec.inspect(data + b"end")
    found = mmpcodec.inspect(data + b"end", decode=True, allow_partial=True)
    assert not found.bad_tiles
    np.testing.assert_array_equal(found.samples, mmpcodec.decode(data))


def test_progress_counts_all_tiles_and_cancels(data):
    reported = []
    mmpcodec.encode(
        PICTURE, 30, tile_size=64, progress=lambda *both: reported.append(both) or True, **OPTIONS
    )
    assert reported[-1] == (
        3 * (4 * 4 + 4 * 4 + 4 * 4 + 4 * 2) * 2 + 3 * (12 * 2 + 2 * 2),
        reported[0][1],
    )
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)
    with pytest.raises(Cancelled):
        mmpcodec.encode(PICTURE, 30, tile_size=64, progress=lambda done, _: done < 30, **OPTIONS)
    with pytest.raises(Cancelled):
        mmpcodec.decode(data, progress=lambda done, _: done < 30)


def test_groups_change_no_byte(data, monkeypatch):
    monkeypatch.setattr(encoder, "GROUP_SAMPLES", 20000)
    assert mmpcodec.encode(PICTURE, 30, tile_size=64, **OPTIONS) == data


@pytest.mark.parametrize("tile_size", [1, 63, -64, 64.0, True, (1 << 24) + 1])
def test_wrong_tile_sizes(tile_size):
    with pytest.raises(ParameterError, match=r"tile_size = "):
        mmpcodec.encode(PICTURE, tile_size=tile_size)


def test_each_tile_has_the_tools_that_suit_it():
    letters = text_like(np.random.default_rng(0), 64, 64)
    both = np.hstack([letters, PICTURE[:64, :64, 0]])
    found = mmpcodec.inspect(mmpcodec.encode(both, 30, tile_size=64, effort=1))
    left, right = (layer.tools for layer in found.layers)
    assert (preset_of(left), type(right)) == ("lossless", BlockTools)
