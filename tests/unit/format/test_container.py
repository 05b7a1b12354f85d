"""The container: every field is checked, and every damage is noticed."""

import itertools
import tracemalloc
import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mutate import number, places, repaired, with_number

import mmpcodec
from mmpcodec import (
    CorruptStream,
    DecodeLimits,
    FormatError,
    LimitExceeded,
    ParameterError,
    TruncatedStream,
)
from mmpcodec.format import chunks, container
from mmpcodec.format.container import MAGIC
from mmpcodec.format.numbers import Fields
from mmpcodec.format.numbers import number as coded_number
from mmpcodec.metadata import Metadata, Resolution

PICTURE = np.arange(48 * 20, dtype=np.uint32).reshape(20, 48).astype(np.uint8)
METADATA = Metadata(
    icc=b"profile",
    exif=b"II*\0",
    xmp=b"<x/>",
    resolution=Resolution(Fraction(300), Fraction(1000, 3), "centimetre"),
    text=(("Title", "Größe"), ("Title", "")),
    white=200,
)


@pytest.fixture(scope="module")
def data():
    return mmpcodec.encode(
        PICTURE,
        lam=8,
        preset="plain",
        partition="dyadic",
        dictionary_limit=4000,
        redundancy_radius=258,
    )


@pytest.fixture(scope="module")
def colours():
    return mmpcodec.encode(np.dstack([PICTURE] * 3), lam=8, preset="photo", metadata=METADATA)


def test_layout_of_a_file(data):
    decoded = mmpcodec.decode(data)
    tools = [1, 1, 1, 4, 4000 % 128 + 128, 4000 // 128, 0, 258 % 128 + 128, 2, 0]
    payload = data[places(data)["payload"] :]
    tile = b"".join(
        [
            zlib.crc32(decoded.tobytes()).to_bytes(4, "big"),
            bytes([0, *tools]),  # coding and tools
            bytes([0]),  # post filter
            payload,
        ]
    )
    tile = zlib.crc32(tile).to_bytes(4, "big") + tile
    # version, form, depth, width, height, tile size, tool sets, chunks
    head = b"\x89MMP\r\n\x1a\n" + bytes([3, 0, 8, 48, 20, 0, 0, 0]) + number(len(tile))
    assert head.startswith(MAGIC)
    assert data == head + zlib.crc32(head).to_bytes(4, "big") + tile


def test_metadata_is_kept(colours):
    assert mmpcodec.inspect(colours).header.metadata == METADATA
    assert mmpcodec.inspect(colours).header.white == 200


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16383, 16384, 2**56, 2**62 - 1])
def test_numbers(value):
    coded = coded_number(value)
    assert coded == number(value)
    fields = Fields(memoryview(coded), "Container")
    assert (fields.number("width"), fields.place) == (value, len(coded))


@pytest.mark.parametrize(
    ("coded", "error", "says"),
    [
        (b"", TruncatedStream, "only 0 of 1 bytes of width"),
        (b"\x80", TruncatedStream, "only 0 of 1 bytes of width"),
        (b"\x80\0", CorruptStream, "width is not a number in shortest form"),
        (b"\xff" * 9 + b"\1", CorruptStream, "width is not a number in shortest form"),
        (b"\xff" * 8 + b"\x7f", CorruptStream, f"width is {2**63 - 1}, allowed is 0 to"),
    ],
)
def test_bad_numbers(coded, error, says):
    with pytest.raises(error, match=says):
        Fields(memoryview(coded), "Container").number("width")


@pytest.mark.parametrize(
    ("field", "value", "error", "says"),
    [
        ("depth", 12, CorruptStream, "gray: depth is 12, allowed with trees is 1 to 8"),
        ("height", 2**32, CorruptStream, "height is 4294967296, allowed is 1 to 16777216"),
        ("width", 1 << 24, LimitExceeded, "picture is 16777216x20: 536870912 samples"),
        ("tile size", 5, CorruptStream, "tile size is 5, allowed is 0 or 64 to 16777216"),
        ("partition", 2, CorruptStream, "partition is 2, allowed is 0 to 1"),
        ("index classes", 7, CorruptStream, "index classes is 7"),
        ("flag contexts", 2, CorruptStream, "flag contexts is 2"),
        ("copy radius", 9, CorruptStream, "Layers at byte 34: copy radius is 9, allowed is 0 to"),
        ("dictionary limit", 255, CorruptStream, "dictionary limit is 255"),
        ("dictionary limit", 65537, CorruptStream, "allowed is 256 to 65536"),
        ("displaced blocks", 5, CorruptStream, "displaced blocks is 5, allowed is 0 to 4"),
        ("redundancy radius", 65536, CorruptStream, "redundancy radius is 65536"),
        ("replacement", 2, CorruptStream, "replacement is 2, allowed is 0 to 1"),
    ],
)
def test_every_field_is_checked(data, field, value, error, says):
    with pytest.raises(error) as caught:
        mmpcodec.decode(with_number(data, field, value))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("chunk", "says"),
    [
        (b"\1\2\0", "EXIF has no bytes"),
        (b"\1\4\5\1\1\0\1\1", "units is 0, allowed is 1 to 4294967295"),
        (b"\1\4\4\1\1\1\1", "only 0 of 1 bytes of units"),
        (b"\1\5\1\2", "only 0 of 2 bytes of key"),
        (b"\1\6\1\0", "white is 0, allowed is 1 to 255"),
        (b"\1\6\2\x80\2", "white is 256, allowed is 1 to 255"),
        (b"\1\6\2\5\5", "1 bytes follow in white"),
        (b"\1\1\x7f", "only 0 of 127 bytes of chunk"),
    ],
)
def test_chunks_are_checked(chunk, says):
    with pytest.raises(FormatError) as caught:
        chunks.read(Fields(memoryview(chunk), "Container"), 8)
    assert says in str(caught.value)


def test_chunks_of_other_kinds_are_skipped(data):
    place = places(data)["chunks"]
    changed = repaired(data[:place] + b"\3\x0a\3abc\x81\1\0\0\1z" + data[place + 1 :])
    assert mmpcodec.inspect(changed).header.metadata == Metadata()
    np.testing.assert_array_equal(mmpcodec.decode(changed), mmpcodec.decode(data))


def test_metadata_that_does_not_fit():
    large = Metadata(resolution=Resolution(Fraction(1 << 32), Fraction(1)))
    with pytest.raises(ParameterError, match="must be fractions of integers up to 4294967295"):
        mmpcodec.encode(PICTURE, metadata=large)
    with pytest.raises(ParameterError, match="white = 300: must be from 1 to 255 at a depth of 8"):
        mmpcodec.encode(PICTURE, metadata=Metadata(white=300))
    many = Metadata(text=(("a", "b"),) * 65537)
    with pytest.raises(ParameterError, match="metadata of 65537 chunks: at most 65536"):
        mmpcodec.encode(PICTURE, metadata=many)


def test_wrong_samples_are_not_shown(data):
    place = places(data)["samples CRC"]
    with pytest.raises(CorruptStream, match="samples CRC is 00000000"):
        mmpcodec.decode(repaired(data[:place] + bytes(4) + data[place + 4 :]))


@pytest.mark.parametrize(
    "limits", [DecodeLimits(max_samples=48 * 32 - 1), DecodeLimits(max_dimension=47)]
)
def test_limits(data, limits):
    with pytest.raises(LimitExceeded):
        mmpcodec.decode(data, limits=limits)
    assert mmpcodec.decode(data, limits=DecodeLimits(48 * 32, 48)).shape == (20, 48)


def test_more_tiles_than_bytes_are_refused_at_once():
    head = MAGIC + b"\3\0\x08" + 2 * number(1 << 24) + b"\x40\0\0\0" + bytes(20)
    with pytest.raises(TruncatedStream, match="only 20 bytes for the sizes of 68719476736 tiles"):
        mmpcodec.decode(head)


def test_sizes_of_one_bit_do_not_take_memory_for_more_tiles_than_the_file_can_hold():
    """1 MB of sizes for 2^23 tiles; what they decode to would take half a GB."""
    fields = MAGIC + bytes([3]) + b"".join(map(number, (0, 8, 1 << 24, 2048, 64, 0, 0, 0)))
    tracemalloc.start()
    with pytest.raises(TruncatedStream, match="its 8388608 tiles have at least 25165824"):
        mmpcodec.inspect(fields + bytes(1 << 20) + bytes(4))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 23


def test_truncation_at_every_length(data, colours):
    for file in (data, colours):
        for length in range(len(file)):
            with pytest.raises(TruncatedStream):
                mmpcodec.decode(file[:length])


def test_every_single_byte_flip_is_noticed(data, colours):
    for file, flip in itertools.product((data, colours), (1, 0x80, 0xFF)):
        for place in range(len(file)):
            changed = bytearray(file)
            changed[place] ^= flip
            with pytest.raises(FormatError):
                mmpcodec.decode(bytes(changed))


def test_format_errors_survive_pickling():
    import pickle

    error = CorruptStream("Container", "width is 0", 10)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.offset) == (str(error), 10)


def test_the_border_step_is_checked():
    tiled = mmpcodec.encode(np.zeros((70, 70), np.uint8), 0, preset="lossless", tile_size=64)
    for step in (0, 1, 65535):
        header = mmpcodec.inspect(with_number(tiled, "border step", step)).header
        assert header.border_step == step
    with pytest.raises(CorruptStream, match="border step is 65536, allowed is 0 to 65535"):
        mmpcodec.decode(with_number(tiled, "border step", 65536))


def test_a_border_step_of_one_tile_does_nothing():
    samples = np.arange(40, dtype=np.uint8).reshape(5, 8)
    data = mmpcodec.encode(samples, 0, preset="lossless")
    found = mmpcodec.inspect(data).header
    header = replace(found, tile_size=64, border_step=400)
    tile = data[found.size :]
    rest = header.samples_crc(int.from_bytes(tile[4:8], "big")) + tile[8:]
    part = header.stream_crc(zlib.crc32(rest)) + rest
    file = container.write(replace(header, tile_bytes=(len(part),)), [part])
    np.testing.assert_array_equal(mmpcodec.decode(file), samples)
    np.testing.assert_array_equal(mmpcodec.decode(file, region=(2, 1, 3, 2)), samples[1:3, 2:5])
