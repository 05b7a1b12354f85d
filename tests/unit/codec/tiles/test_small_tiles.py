"""Tool sets and short checksums of small tiles, and the initial states of small pictures."""

from dataclasses import replace

import numpy as np
import pytest
from independent.container import decode as independent_decode
from support.strategies import natural

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams, FormatError
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.reference.blocks.coder import BlockPicture
from mmpcodec.reference.blocks.models import independent_step, initial_states, start_class

PHOTO = {"preset": "photo", "effort": 1}


@pytest.fixture(scope="module")
def picture():
    return natural(np.random.default_rng(8), 70, 90)


@pytest.mark.parametrize("colours", [False, True])
def test_tiles_share_their_tools(picture, colours):
    picture = np.stack([picture, picture[::-1], 255 - picture], 2) if colours else picture
    found = mmpcodec.encode_picture(
        picture, EncodeParams.from_options(30, **PHOTO), tile_size=64, backend="cpu"
    )
    assert len(found.header.tool_sets) == (3 if colours else 1)
    assert found.header.crc_bytes == (1, 1)
    size = sum(layer.payload_bytes for layer in found.layers)
    tiles = len(found.header.tile_bytes)
    more = 8 if colours else 2  # checksums, codings, layout, sizes of two payloads
    assert sum(found.header.tile_bytes) - size < (more + 9 * (3 if colours else 1)) * tiles
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)
    np.testing.assert_array_equal(independent_decode(found.data)[0], found.samples)


def test_damage_of_a_small_tile_is_found(picture):
    data = mmpcodec.encode(picture, 30, tile_size=64, **PHOTO)
    start = mmpcodec.inspect(data).header.size
    for place in range(start, len(data), 7):
        with pytest.raises(FormatError):
            mmpcodec.decode(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])


@pytest.mark.parametrize(
    ("tile_size", "bytes_"),
    [
        (0, (4, 4)),
        (127, (1, 1)),
        (128, (2, 1)),
        (256, (2, 1)),
        (257, (4, 4)),
    ],
)
def test_smaller_tiles_have_shorter_checksums(tile_size, bytes_):
    header = Header(600, 600, tile_size=tile_size)
    assert header.crc_bytes == bytes_
    assert header.least_tile_bytes == sum(bytes_) + 1


@pytest.mark.parametrize("width", [4093, 4097])
def test_all_decoders_agree_which_pictures_are_small(width):
    picture = (np.arange(width) // 17 % 200 + np.arange(3)[:, None]).astype(np.uint8)
    data = mmpcodec.encode(picture, 100, backend="cpu", **PHOTO)
    samples = mmpcodec.decode(data)
    np.testing.assert_array_equal(samples, independent_decode(data)[0])
    np.testing.assert_array_equal(samples, mmpcodec.decode(data, backend="reference"))
    tools = EncodeParams.from_options(100, **PHOTO).coded_tools
    decoded = BlockPicture(picture.shape, tools)
    small = width == 4093
    assert (decoded.small, decoded.tools.border_sines) == (small, small)
    table = initial_states(small)[start_class(independent_step(tools))]
    assert decoded.models.mode.frequency[8, 1] == max(table[2 * 547 + 8 * 37 + 1], 1)


def test_a_tool_set_that_is_not_there():
    data = mmpcodec.encode(np.zeros((64, 128), np.uint8), 30, tile_size=64, **PHOTO)
    header = container.read_header(memoryview(data))
    tiles = data[header.size : header.tile_offsets[-1]]
    bad = container.write(replace(header, tool_sets=()), [tiles])
    with pytest.raises(CorruptStream, match="coding is 8, allowed is 0 to 3"):
        mmpcodec.decode(bad)
