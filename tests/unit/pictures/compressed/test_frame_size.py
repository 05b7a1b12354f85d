"""Sizes of compressed frames against the libraries that make them, and hostile frames."""

import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.picture_files import COLOUR, GRAY, file_of

from mmpcodec.pictures.compressed.frame_size import (
    MAX_SCANS,
    check_jpeg_scans,
    jpeg2000_size,
    jpeg_frame,
    packbits_size,
)

BASELINE, PROGRESSIVE = 0xC0, 0xC2


def jpeg_size(data):
    frame = jpeg_frame(data)
    return frame.width, frame.height


def frame_header(marker, width, height):
    return b"\xff" + struct.pack(">BHBHHBBBB", marker, 11, 8, height, width, 1, 1, 0x11, 0)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 1}])
@pytest.mark.parametrize("samples", [GRAY, COLOUR], ids=["gray", "colour"])
def test_size_of_jpeg(samples, options):
    assert jpeg_size(file_of(samples, "JPEG", **options)) == (9, 6)


def test_bytes_before_a_marker_are_skipped():
    """Of 0xFF bytes in a row the last begins the marker, and 0xFF 0x00 is no marker."""
    for before in (b"\xff" * 7, b"any bytes", b"\xff\0\xff\0", b"\xff\x01", b"\xff\xd0"):
        data = b"\xff\xd8" + before + frame_header(PROGRESSIVE, 40000, 30000)
        assert jpeg_size(data + frame_header(BASELINE, 16, 16)) == (40000, 30000)


def test_segments_are_skipped_by_their_length():
    inside = frame_header(BASELINE, 1, 2)
    comment = b"\xff\xfe" + struct.pack(">H", 2 + len(inside)) + inside
    assert jpeg_size(b"\xff\xd8" + comment + frame_header(BASELINE, 3, 4)) == (3, 4)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "does not begin with the marker SOI"),
        (b"\xff\xd8", "ends before its frame header"),
        (b"\xff\xd8\xff\xc0\0\x0b\x08", "ends before its frame header"),
        (b"\xff\xd8\xff\xd9" + frame_header(BASELINE, 1, 1), "has the marker EOI before"),
        (b"\xff\xd8\xff\xda" + frame_header(BASELINE, 1, 1), "has the marker SOS before"),
        (b"\xff\xd8\xff\xd8" + frame_header(BASELINE, 1, 1), "has the marker SOI before"),
    ],
)
def test_jpeg_without_a_size(data, says):
    with pytest.raises(ValueError, match=says):
        jpeg_size(data)


def test_long_fill_takes_little_time():
    started = time.process_time()
    assert jpeg_size(b"\xff\xd8" + b"\xff" * (1 << 23) + frame_header(BASELINE, 5, 6)) == (5, 6)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("samples", [GRAY, COLOUR], ids=["gray", "colour"])
def test_size_of_jpeg_2000(samples):
    assert jpeg2000_size(file_of(samples, "JPEG2000", no_jp2=True)) == (9, 6)


def test_area_of_jpeg_2000_may_begin_inside_its_grid():
    data = bytearray(file_of(GRAY, "JPEG2000", no_jp2=True))
    data[16:24] = struct.pack(">2I", 4, 5)
    assert jpeg2000_size(bytes(data)) == (5, 1)


@pytest.mark.parametrize("data", [b"", b"\xff\x4f\xff\x51" + bytes(9), file_of(GRAY, "JPEG2000")])
def test_jpeg_2000_without_a_size(data):
    with pytest.raises(ValueError, match="does not begin with the markers SOC and SIZ"):
        jpeg2000_size(data)


@given(st.binary(max_size=300))
def test_size_of_packbits_is_that_of_the_decoder(data):
    rle = pytest.importorskip("pydicom.pixels.decoders.rle")
    expected = len(rle._rle_decode_segment(data))
    assert packbits_size(data, 1 << 20) == expected
    assert (packbits_size(data, expected // 2) > expected // 2) == (expected > expected // 2)


def test_count_of_packbits_stops():
    bomb = b"\x81\0" * (1 << 22)
    started = time.process_time()
    assert 1000 < packbits_size(bomb, 1000) < 1200
    assert time.process_time() - started < 1


def scan(contents=b"\x00"):
    return b"\xff\xda" + struct.pack(">H", 8) + bytes(6) + contents


def test_scans_of_jpeg_are_bounded():
    head = b"\xff\xd8" + frame_header(PROGRESSIVE, 40000, 30000)
    entropy_coded = b"\x12\xff\0\xff\xd0\x34\xff\0"
    for count, allowed in ((MAX_SCANS, True), (MAX_SCANS + 1, False)):
        data = head + count * scan(entropy_coded)
        if allowed:
            check_jpeg_scans(data)
            check_jpeg_scans(data + b"\xff\xd9" + 1000 * scan())  # of what follows the picture
        else:
            with pytest.raises(ValueError, match="JPEG has more than 256 scans"):
                check_jpeg_scans(data)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 1}])
def test_scans_inside_of_other_segments_do_not_count(options):
    comment = b"\xff\xfe" + struct.pack(">H", 60002) + 5000 * scan()
    data = file_of(COLOUR, "JPEG", **options)
    check_jpeg_scans(data[:2] + comment[: 2 + 60002] + data[2:])
