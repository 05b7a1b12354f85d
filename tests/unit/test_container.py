import zlib

import numpy as np
import pytest

import mmpcodec
from mmpcodec import (
    BadMagic,
    CorruptStream,
    DecodeLimits,
    FormatError,
    LimitExceeded,
    TruncatedStream,
    UnsupportedVersion,
)
from mmpcodec.codec.container import HEADER_SIZE, MAGIC, OFFSETS

PICTURE = np.arange(48 * 20, dtype=np.uint32).reshape(20, 48).astype(np.uint8)


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


def patched(data, field, value, size):
    """The file with another field value and a checksum that fits it."""
    start = OFFSETS[field]
    changed = data[:start] + value.to_bytes(size, "big") + data[start + size :]
    crc = zlib.crc32(changed[HEADER_SIZE:], zlib.crc32(changed[: HEADER_SIZE - 4]))
    return changed[: HEADER_SIZE - 4] + crc.to_bytes(4, "big") + changed[HEADER_SIZE:]


def test_header_layout(data):
    assert data[:8] == b"\x89MMP\r\n\x1a\n" == MAGIC
    assert OFFSETS == {
        "version": 8,
        "profile": 9,
        "width": 10,
        "height": 14,
        "planes": 18,
        "bit depth": 19,
        "fragment size": 20,
        "partition": 21,
        "index classes": 22,
        "flag contexts": 23,
        "copy radius": 24,
        "dictionary limit": 25,
        "displaced blocks": 29,
        "redundancy radius": 30,
        "replacement": 32,
        "tile size": 33,
        "post filter": 37,
        "coding": 38,
        "dictionary": 39,
        "least squares": 40,
        "templates": 41,
        "step": 42,
        "payload size": 44,
        "samples CRC": 52,
        "stream CRC": 56,
    }
    assert HEADER_SIZE == 60
    assert data[10:18] == (48).to_bytes(4, "big") + (20).to_bytes(4, "big")
    assert data[20:29] == bytes([16, 1, 1, 1, 4]) + (4000).to_bytes(4, "big")
    assert data[29:33] == bytes([0, 1, 2, 0])
    assert data[37:44] == bytes([0, 0, 0, 1, 0, 0, 0])
    assert int.from_bytes(data[44:52], "big") == len(data) - 60
    decoded = mmpcodec.decode(data)
    assert int.from_bytes(data[52:56], "big") == zlib.crc32(decoded.tobytes())


def test_inspect_reads_the_header(data):
    header = mmpcodec.inspect(data).header
    assert (header.width, header.height, header.planes, header.bit_depth) == (48, 20, 1, 8)
    assert header.tools == mmpcodec.Tools(
        partition="dyadic", dictionary_limit=4000, redundancy_radius=258, post_filter=False
    )


@pytest.mark.parametrize(
    ("field", "value", "size", "error", "says"),
    [
        ("version", 1, 1, UnsupportedVersion, "version is 1, allowed is 0"),
        ("profile", 9, 1, UnsupportedVersion, "profile is 9, allowed is 0"),
        ("width", 0, 4, CorruptStream, "width is 0, allowed is 1 to 16777216"),
        ("height", 2**32 - 1, 4, CorruptStream, "height is 4294967295"),
        ("width", 1 << 24, 4, LimitExceeded, "picture is 16777216x20, 536870912 pixels"),
        ("planes", 3, 1, CorruptStream, "planes is 3, allowed with trees is 1"),
        ("planes", 5, 1, CorruptStream, "planes is 5, allowed is 1 to 4"),
        ("bit depth", 16, 1, CorruptStream, "bit depth is 16, allowed with trees is 8"),
        ("bit depth", 17, 1, CorruptStream, "bit depth is 17, allowed is 1 to 16"),
        (
            "fragment size",
            32,
            1,
            CorruptStream,
            "fragment size is 32, allowed without prediction is 16",
        ),
        ("coding", 3, 1, CorruptStream, "coding is 3, allowed is 0 to 2"),
        ("dictionary", 2, 1, CorruptStream, "dictionary is 2, allowed is 0 to 1"),
        ("dictionary", 1, 1, CorruptStream, "dictionary is 1, allowed without prediction is 0"),
        ("templates", 5, 1, CorruptStream, "templates is 5, allowed is 0 to 4"),
        ("templates", 1, 1, CorruptStream, "templates is 1, allowed without prediction is 0"),
        ("step", 7, 2, CorruptStream, "step is 7, allowed without prediction is 0"),
        ("partition", 2, 1, CorruptStream, "partition is 2, allowed is 0 to 1"),
        ("index classes", 7, 1, CorruptStream, "index classes is 7"),
        ("flag contexts", 2, 1, CorruptStream, "flag contexts is 2"),
        ("copy radius", 9, 1, CorruptStream, "copy radius is 9, allowed is 0 to 8"),
        ("dictionary limit", 255, 4, CorruptStream, "dictionary limit is 255"),
        ("dictionary limit", 65537, 4, CorruptStream, "allowed is 256 to 65536"),
        ("displaced blocks", 5, 1, CorruptStream, "displaced blocks is 5, allowed is 0 to 4"),
        ("replacement", 2, 1, CorruptStream, "replacement is 2, allowed is 0 to 1"),
        ("tile size", 64, 4, CorruptStream, "tile size is 64, allowed is 0"),
        ("post filter", 16, 1, CorruptStream, "post filter is 16, allowed is 0 to 15"),
        ("payload size", 2**60, 8, TruncatedStream, f"of {2**60} bytes"),
        ("payload size", 1, 8, CorruptStream, "bytes follow the payload"),
    ],
)
def test_every_field_is_checked(data, field, value, size, error, says):
    with pytest.raises(error) as caught:
        mmpcodec.decode(patched(data, field, value, size))
    assert says in str(caught.value)
    assert caught.value.section == "Container"


def test_error_names_section_and_offset(data):
    with pytest.raises(CorruptStream, match=r"^Container at byte 24: copy radius is 9"):
        mmpcodec.decode(patched(data, "copy radius", 9, 1))


@pytest.mark.parametrize("bytes_", [b"P5\n1 1\n255\n\0", b"\x89PNG\r\n\x1a\n" + bytes(60)])
def test_other_files_are_not_ours(bytes_):
    with pytest.raises(BadMagic):
        mmpcodec.decode(bytes_)


def test_wrong_samples_are_not_shown(data):
    with pytest.raises(CorruptStream, match="samples CRC is 00000000"):
        mmpcodec.decode(patched(data, "samples CRC", 0, 4))


@pytest.mark.parametrize(
    "limits", [DecodeLimits(max_pixels=48 * 32 - 1), DecodeLimits(max_dimension=47)]
)
def test_limits(data, limits):
    with pytest.raises(LimitExceeded):
        mmpcodec.decode(data, limits=limits)
    assert mmpcodec.decode(data, limits=DecodeLimits(48 * 32, 48)).shape == (20, 48)


def test_truncation_at_every_length(data):
    for length in range(len(data)):
        with pytest.raises(TruncatedStream):
            mmpcodec.decode(data[:length])


def test_every_single_byte_flip_is_noticed(data):
    for place in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            changed = bytearray(data)
            changed[place] ^= flip
            with pytest.raises(FormatError):
                mmpcodec.decode(bytes(changed))


def test_format_errors_survive_pickling():
    import pickle

    error = CorruptStream("Container", "width is 0", 10)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.offset) == (str(error), 10)
