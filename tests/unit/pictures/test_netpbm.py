"""PBM, PGM, PPM and PAM files."""

import io
import tracemalloc

import numpy as np
import pytest
from PIL import Image
from support.picture_files import DEEP, GRAY, file_of

from mmpcodec import ParameterError, PictureError, PictureWarning, pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture

PAM = b"P7\n# c\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n"

KIND = b"TUPLTYPE GRAYSCALE_ALPHA\n"


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
@pytest.mark.parametrize(
    ("data", "samples", "depth", "white"),
    [
        (b"P1\n3 2\n101 0 1 1\n", [[0, 1, 0], [1, 0, 0]], 1, 1),
        (b"P4 9 2\n\x01\x80\xff\x7f", [[1] * 7 + [0, 0], [0] * 8 + [1]], 1, 1),
        (b"P2 # gray\n3 2\n255\n0 1 2\n253 254 255\n", [[0, 1, 2], [253, 254, 255]], 8, 255),
        (b"P2 2 1 1000\n7 1000", [[7, 1000]], 10, 1000),
        (b"P3 1 2 300\n1 2 3 # c\n4 5 300", [[[1, 2, 3]], [[4, 5, 300]]], 9, 300),
        (b"P5 3 1 100\n\x00\x32\x64", [[0, 50, 100]], 7, 100),
        (b"P5 # c\n2 1 4095\n\x01\x02\x0f\xff", [[258, 4095]], 12, 4095),
        (b"P5\t2\r\n1\n# c\n65535\n\x01\x02\xff\x00", [[258, 65280]], 16, 65535),
        (b"P5 1 1 1 \x01", [[1]], 1, 1),
        (b"P6 1 1 65535\n\x00\x01\x02\x03\xff\xff", [[[1, 515, 65535]]], 16, 65535),
        (PAM + b"\x01\x02\x03\x04", [[[1, 2]], [[3, 4]]], 8, 255),
        (PAM.replace(KIND, b"") + b"\x01\x02\x03\x04", [[[1, 2]], [[3, 4]]], 8, 255),
        (
            b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\x00\x01",
            [[0, 1]],
            1,
            1,
        ),
    ],
)  # fmt: skip
def test_reads(data, samples, depth, white):
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, samples)
    assert (found.depth, found.white) == (depth, white)
    assert found.metadata == Metadata(white=None if white == (1 << depth) - 1 else white)


def test_others_read_what_is_written():
    for samples in (GRAY, DEEP, np.dstack([GRAY] * 3)):
        format = "ppm" if samples.ndim == 3 else "pgm"
        with Image.open(io.BytesIO(pictures.to_bytes(samples, format))) as image:
            np.testing.assert_array_equal(np.asarray(image), samples)
    assert pictures.to_bytes(Picture(GRAY[:1, :2], 8), "pgm") == b"P5\n2 1\n255\n\x00\x05"
    pam = pictures.to_bytes(Picture(np.dstack([DEEP >> 4] * 4), 12), "pam")
    assert pam.startswith(
        b"P7\nWIDTH 9\nHEIGHT 6\nDEPTH 4\nMAXVAL 4095\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    )


@pytest.mark.parametrize("shape", [(1, 1), (3, 8), (5, 9), (2, 31)])
@pytest.mark.parametrize("format", ["pbm", "pnm"])
def test_others_read_1_bit(shape, format):
    samples = np.random.default_rng(1).integers(0, 2, shape).astype(np.uint8)
    data = pictures.to_bytes(Picture(samples, 1), format)
    assert data.startswith(b"P4\n%d %d\n" % shape[::-1])
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "1"
        np.testing.assert_array_equal(np.asarray(image), samples)
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == 1
    assert pictures.to_bytes(Picture(np.array([[0, 1] * 5], np.uint8), 1), format) == (
        b"P4\n10 1\n\xaa\x80"
    )


def test_pnm_is_what_the_picture_needs():
    for samples, format in ((GRAY, "pgm"), (DEEP, "pgm"), (np.dstack([GRAY] * 3), "ppm")):
        assert pictures.to_bytes(samples, "pnm") == pictures.to_bytes(samples, format)
    colours = Picture(np.dstack([(GRAY > 99).astype(np.uint8)] * 3), 1)
    assert pictures.to_bytes(colours, "pnm") == pictures.to_bytes(colours, "ppm")


def test_pbm_of_other_depths_is_refused_with_the_formats_that_do():
    says = "format = 'pbm' for 8 bits per sample, more than 1: must be one of pgm, pnm, pam, png"
    with pytest.raises(ParameterError, match=says):
        pictures.to_bytes(GRAY, "pbm")
    colours = Picture(np.dstack([(GRAY > 99).astype(np.uint8)] * 3), 1)
    with pytest.raises(ParameterError, match="format = 'pbm' for RGB: must be one of ppm, pnm"):
        pictures.to_bytes(colours, "pbm")


def test_reads_what_others_write():
    for mode in ("1", "L", "RGB"):
        data = file_of(GRAY, "PPM", mode)
        expected = np.asarray(Image.fromarray(GRAY).convert(mode))
        np.testing.assert_array_equal(pictures.from_bytes(data).samples, expected)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"P5 0 4 255\n", "is 0x4, a picture without pixels"),
        (b"P5 4 4\n", "the header lacks width, height or maxval"),
        (b"P5 4 4 0\n" + bytes(16), "maxval = 0: must be from 1 to 65535"),
        (b"P5 4 4 65536\n" + bytes(32), "maxval = 65536: must be from 1 to 65535"),
        (b"P5 4 4 255x" + bytes(16), "the header does not end in white space"),
        (b"P5 4 4 255", "the header does not end in white space"),
        (b"P5 4 4 255\n" + bytes(15), "holds 26 bytes, 27 are needed"),
        (b"P5 4 4 100\n" + bytes(15) + b"e", "holds level 101, allowed is 0 to 100"),
        (b"P4 9 2\n" + bytes(3), "holds 10 bytes, 11 are needed"),
        (b"P2 2 2 255\n1 2 x 4", "a sample is not a number"),
        (b"P2 2 2 255\n1 2 -3 4", "a sample is not a number"),
        (b"P2 2 2 255\n1 2 3", "holds 3 samples, the header says 4"),
        (b"P2 2 2 255\n1 2 3 4 5", "holds 5 samples, the header says 4"),
        (b"P2 1 1 255\n", "holds 0 samples, the header says 1"),
        (b"P3 1 1 255\n \t\n", "holds 0 samples, the header says 3"),
        (b"P1 1 1\n# 1\n", "holds 0 samples, the header says 1"),
        (b"P2 2 2 255\n1 2 3 300", "holds level 300, allowed is 0 to 255"),
        (b"P2 1 1 255\n99999999999999999999999", "holds level 9223372036854775807"),
        (b"P1 2 1\n1 2", "a sample is neither 0 nor 1"),
        (b"P7\nWIDTH 1\n", "the header lacks ENDHDR"),
        (PAM.replace(b"WIDTH 1", b"WIDTH -1"), "WIDTH = '-1': must be an integer"),
        (PAM.replace(b"DEPTH 2\n", b""), "DEPTH = None: must be an integer"),
        (PAM.replace(b"DEPTH 2", b"DEPTH 5"), "holds 5 planes of kind 'GRAYSCALE_ALPHA'; supp"),
        (PAM.replace(b"GRAYSCALE_ALPHA", b"CMYK"), "holds 2 planes of kind 'CMYK'"),
        (b"P5 1 1 255\n\0P5 1 1 255\n\0", "holds more than one picture; supported is one per file"),
        (b"P5 60000 60000 255\n", "is 60000x60000: 3600000000 samples, the limit is"),
    ],
)
def test_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: .*{says}"):
        pictures.from_bytes(data, "x")


@pytest.mark.parametrize(("head", "sample"), [(b"P1 1 1\n", b"1"), (b"P2 1 1 255\n", b"1 ")])
def test_surplus_samples_take_no_memory(head, sample):
    data = head + sample * (1 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(PictureError, match=r"holds 1048576 samples, the header says 1$"):
            pictures.from_bytes(data)
        assert tracemalloc.get_traced_memory()[1] < 6 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [
        b"P2 # gray\n1 1\n255\n7",
        b"P3 1 1 9\n1 2 3 # c",
        b"P5 # c\n1 1 255\n\1",
        b"P7\n# c\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n\1",
    ],
)
def test_comments_are_left_out_with_a_word(data):
    with pytest.warns(PictureWarning, match="^x: has comments, which are not read$"):
        pictures.from_bytes(data, "x")
