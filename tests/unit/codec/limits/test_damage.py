"""Files that are cut or damaged: what is left of them opens."""

import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from support.tiled import samples_of

import mmpcodec
from mmpcodec.format import container
from mmpcodec.metadata import Metadata
from mmpcodec.opening.header import read_any_header
from mmpcodec.runtime.files import LazyBytes

PICTURE = samples_of((150, 210), 3, 8)
METADATA = Metadata(icc=b"profile", text=(("Title", "Grid"),))
TILES = 12


@pytest.fixture(scope="module")
def data():
    return mmpcodec.encode(PICTURE, 0, tile_size=64, preset="lossless", metadata=METADATA)


def opened(data, **options):
    return mmpcodec.inspect(data, decode=True, allow_partial=True, **options)


def expected(header, missing):
    found = PICTURE.copy()
    for number in missing:
        found[header.tiles[number].slices] = 0
    return found


def mended(data, header, change):
    """The file with a changed header whose CRC is right."""
    head = change(data[: header.size - 4])
    return head + zlib.crc32(head).to_bytes(4, "big") + data[header.size :]


@pytest.mark.parametrize(("backend", "whole"), [("cpu", 5), ("reference", 1)])
def test_a_file_cut_at_its_end_opens_as_far_as_it_goes(data, backend, whole):
    header = mmpcodec.inspect(data).header
    found = opened(data[: header.tile_offsets[whole] + 7], backend=backend)
    assert [bad.tile.number for bad in found.bad_tiles] == list(range(whole, TILES))
    assert all(bad.missing for bad in found.bad_tiles)
    tile = header.tiles[whole]
    assert f"tile {whole}, 64x64 at ({tile.x}, {tile.y}): file" in str(found.bad_tiles[0].error)
    assert (found.header, found.faults) == (header, ())
    np.testing.assert_array_equal(found.samples, expected(header, range(whole, TILES)))


def test_a_file_cut_at_its_front_opens_from_the_trailer(data):
    header = mmpcodec.inspect(data).header
    cut = data[header.tile_offsets[3] + 1 :]
    found = opened(cut)
    assert [(bad.tile.number, bad.missing) for bad in found.bad_tiles] == [
        (number, True) for number in range(4)
    ]
    assert "bytes are missing at the front of the file" in str(found.bad_tiles[0].error)
    assert [fault.section for fault in found.faults] == ["Container"]
    assert found.header.metadata == Metadata()
    np.testing.assert_array_equal(found.samples, expected(header, range(4)))
    with pytest.raises(mmpcodec.BadMagic):
        mmpcodec.decode(cut)


def test_a_file_without_its_middle_opens_from_both_ends(data):
    header = mmpcodec.inspect(data).header
    start, end = header.tile_offsets[3] + 1, header.tile_offsets[6] + 1
    found = opened(data[:start] + data[end:])
    assert [bad.tile.number for bad in found.bad_tiles] == [3, 4, 5, 6]
    np.testing.assert_array_equal(found.samples, expected(header, range(3, 7)))
    assert not opened(data[:start] + bytes(50) + data[start:]).samples[:64, 192:].any()
    assert len(opened(data[:start] + bytes(50) + data[start:]).bad_tiles) == 1


def test_each_damaged_byte_of_the_header_leaves_the_samples(data):
    header = mmpcodec.inspect(data).header
    for place in range(header.size):
        changed = bytearray(data)
        changed[place] ^= 85
        with pytest.raises(mmpcodec.FormatError):
            mmpcodec.decode(bytes(changed))
        found = opened(bytes(changed))
        assert len(found.faults) == 1
        np.testing.assert_array_equal(found.samples, PICTURE)
    assert read_any_header(memoryview(bytes(len(data) - header.size) + data))[0] == replace(
        header, metadata=Metadata(), size=len(data)
    )


def test_each_damaged_byte_of_the_trailer_is_found_and_harmless(data):
    header = mmpcodec.inspect(data).header
    for place in range(header.tile_offsets[-1], len(data)):
        changed = bytearray(data)
        changed[place] ^= 85
        with pytest.raises(mmpcodec.CorruptStream, match="trailer differs from the header"):
            mmpcodec.decode(bytes(changed))
        np.testing.assert_array_equal(opened(bytes(changed)).samples, PICTURE)


def test_bad_metadata_are_left_out_by_name(data):
    header = mmpcodec.inspect(data).header
    bad = mended(data, header, lambda head: head.replace(b"Grid", b"Gri\xff"))
    with pytest.raises(mmpcodec.CorruptStream, match="text is not UTF-8"):
        mmpcodec.decode(bad)
    found = opened(bad)
    assert found.header.metadata == replace(METADATA, text=())
    assert ["text is not UTF-8" in str(fault) for fault in found.faults] == [True]
    np.testing.assert_array_equal(found.samples, PICTURE)


def test_damaged_metadata_of_a_file_of_one_tile_leave_the_samples():
    data = mmpcodec.encode(PICTURE, 0, preset="lossless", effort=1, metadata=METADATA)
    found = opened(data.replace(b"Grid", b"Gri\xff"))
    assert found.header.metadata == replace(METADATA, text=())
    assert [fault.section for fault in found.faults] == ["Metadata", "Container"]
    np.testing.assert_array_equal(found.samples, PICTURE)
    assert opened(data.replace(b"profile", b"Profile")).header.metadata.icc == b"Profile"


def test_a_cut_file_of_one_tile_says_that_it_opens_whole_only():
    data = mmpcodec.encode(PICTURE, 0, preset="lossless", effort=1)
    with pytest.raises(mmpcodec.TruncatedStream, match="is one tile: it opens whole only"):
        opened(data[:-1])


def test_a_wrong_header_of_one_tile_is_told_and_shows_nothing():
    data = mmpcodec.encode(PICTURE, 0, preset="lossless", effort=1)
    changed = bytearray(data)
    changed[11] ^= 1  # width
    with pytest.raises(mmpcodec.CorruptStream, match="header CRC is"):
        opened(bytes(changed))


def test_one_tile_has_no_trailer():
    data = mmpcodec.encode(PICTURE, 0, preset="lossless", effort=1)
    header = mmpcodec.inspect(data).header
    assert header.trailer == b""
    assert header.file_bytes == header.tile_offsets[-1] == len(data)


def lying(data, **changes):
    """A file without front whose trailer says something else."""
    header = replace(mmpcodec.inspect(data).header, **changes)
    own = mmpcodec.inspect(data).header
    return data[own.size : own.tile_offsets[-1]] + container.write_trailer(header)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 1 << 24, "height": 1 << 24},
        {"width": 64},
        {"tile_bytes": (1 << 40,) * TILES},
        {"tile_bytes": (9,) * TILES},
        {"depth": 16},
        {"tile_size": 4096, "tile_bytes": (500,)},
    ],
)
def test_a_trailer_that_lies_is_refused(data, changes):
    with pytest.raises(mmpcodec.FormatError):
        opened(lying(data, **changes))


@pytest.mark.parametrize("size", [0, 13, 14, 1 << 39])
def test_a_trailer_of_a_wrong_size_is_refused(data, size):
    checked = bytes(100) + size.to_bytes(5, "big")
    end = checked + zlib.crc32(checked).to_bytes(4, "big") + b"MMP\x1a"
    with pytest.raises(mmpcodec.BadMagic):
        opened(b"x" + end)


def test_the_front_wins_where_both_are_valid(data):
    header = mmpcodec.inspect(data).header
    other = container.write_trailer(replace(header, depth=7))
    found = opened(data[: header.tile_offsets[-1]] + other)
    assert (found.header.depth, found.bad_tiles, found.faults) == (8, (), ())
    np.testing.assert_array_equal(found.samples, PICTURE)


class Counted(LazyBytes):
    """Bytes that count how often they are read."""

    def __init__(self, data):
        self.data, self.reads = memoryview(data), []

    def __len__(self):
        return len(self.data)

    def __getitem__(self, part):
        self.reads.append(part)
        return self.data[part]


def test_regions_do_not_read_the_trailer(data):
    source = Counted(data)
    header = mmpcodec.inspect(source, decode=True, region=(0, 0, 1, 1)).header
    assert len(source.reads) == 2
    assert source.reads[1] == slice(*header.tile_offsets[:2])


def test_the_trailer_is_short():
    picture = np.add.outer(np.arange(1024), np.arange(1024)).astype(np.uint8)
    picture ^= samples_of((1024, 1024), 1, 2)
    data = mmpcodec.encode(picture, 0, preset="lossless", effort=1, tile_size=256)
    assert len(mmpcodec.inspect(data).header.trailer) < len(data) / 1000


def test_headers_of_too_many_tiles_are_not_described(data, monkeypatch):
    monkeypatch.setattr("mmpcodec.codec.tiles.limits.MOST_DESCRIBED", TILES - 1)
    with pytest.raises(mmpcodec.LimitExceeded, match="12 tiles to describe, at most 11 are"):
        mmpcodec.inspect(data)
    assert len(mmpcodec.inspect(data, region=(0, 0, 128, 64)).layers) == 2
    assert mmpcodec.decode(data).shape == PICTURE.shape


def test_a_region_that_is_missing_at_the_front_says_so(data):
    header = mmpcodec.inspect(data).header
    rest = data[header.tile_offsets[1] :]
    with pytest.raises(mmpcodec.TruncatedStream, match="missing at the front"):
        mmpcodec.inspect(rest, decode=True, region=(0, 0, 5, 5), allow_partial=True)


def test_the_trailer_has_the_levels():
    samples = np.random.default_rng(0).integers(0, 256, (130, 130)).astype(np.uint8)
    data = mmpcodec.encode(samples, 0, tile_size=64, effort=1)
    header = mmpcodec.inspect(data).header
    places = pairwise(header.tile_offsets)
    levels = replace(header, depth=16, level_bits=8, first=1000)
    data = container.write(levels, [data[start:end] for start, end in places])
    found = mmpcodec.inspect(data[40:], decode=True, allow_partial=True)
    assert (found.header.level_bits, found.header.first) == (8, 1000)
    last = found.header.tiles[-1].slices
    np.testing.assert_array_equal(found.samples[last], samples[last].astype(np.uint16) + 1000)
