"""BMP, JPEG, NPY, DICOM and mmp files."""

import io
import struct
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, DEEP, EXIF, GRAY, dicom_of, file_of

import mmpcodec
from mmpcodec import PictureError, pictures
from mmpcodec.metadata import Metadata, Resolution


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_bmp(mode):
    data = bytearray(file_of(COLOUR, "BMP", mode))
    data[38:46] = struct.pack("<ii", 2835, 2000)
    with Image.open(io.BytesIO(bytes(data))) as image:
        expected = np.asarray(image.convert("RGB" if mode == "P" else mode)).astype(np.uint8)
    found = pictures.from_bytes(bytes(data))
    np.testing.assert_array_equal(found.samples, expected)
    assert found.depth == (1 if mode == "1" else 8)
    resolution = Resolution(Fraction(2835), Fraction(2000), "metre")
    assert found.metadata == Metadata(resolution=resolution)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_jpeg_is_decoded_and_its_metadata_kept(mode):
    data = file_of(
        COLOUR,
        "JPEG",
        mode,
        exif=b"Exif\0\0" + EXIF,
        icc_profile=b"profile" * 20000,  # more than one segment
        xmp=b"<x/>",
        comment="café".encode(),
        dpi=(300, 200),
        quality=97,
    )
    with Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(image)
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, expected)
    assert np.abs(found.samples.astype(int).mean() - COLOUR.mean()) < 20
    resolution = Resolution(Fraction(300), Fraction(200), "inch")
    assert found.metadata == Metadata(
        b"profile" * 20000, EXIF, b"<x/>", resolution, (("Comment", "café"),)
    )


def test_plain_jpeg_says_nothing_besides():
    assert pictures.from_bytes(file_of(GRAY, "JPEG")).metadata == Metadata()


def test_jpeg_of_four_colours_is_refused():
    with pytest.raises(PictureError, match="x: holds CMYK colours; supported are gray and RGB"):
        pictures.from_bytes(file_of(COLOUR, "JPEG", "CMYK"), "x")


def npy_of(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("array", "depth"),
    [
        (GRAY, 8),
        (GRAY > 99, 1),
        (DEEP, 16),
        (DEEP.astype(">u2"), 16),
        (np.asfortranarray(COLOUR), 8),
        (DEEP[:, ::2, None] * np.ones(4, np.uint16), 16),
    ],
)
def test_npy(array, depth):
    found = pictures.from_bytes(npy_of(array))
    np.testing.assert_array_equal(found.samples, array)
    assert (found.depth, found.samples.flags.c_contiguous) == (depth, True)
    assert found.samples.dtype == (np.uint16 if depth == 16 else np.uint8)


def bad_bool():
    data = bytearray(npy_of(GRAY > 99))
    data[-1] = 2
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (npy_of(GRAY.astype(float)), "holds an array of shape .* and type float64; supported are"),
        (npy_of(GRAY.astype(np.int16)), "type int16; supported are"),
        (npy_of(GRAY.ravel()), r"shape \(54,\) and type uint8"),
        (npy_of(GRAY[..., None]), r"shape \(6, 9, 1\)"),
        (npy_of(GRAY[:0]), "is 9x0, a picture without pixels"),
        (npy_of(np.array([[{}]], object), allow_pickle=True), "type object; supported are"),
        (npy_of(GRAY)[:-1], "holds 181 bytes, 182 are needed"),
        (bad_bool(), "holds level 2, allowed is 0 to 1"),
        (npy_of(GRAY).replace(b"(6, 9)", b"(6, -9"), "is damaged or truncated"),
        (npy_of(GRAY)[:6] + b"\3" + npy_of(GRAY)[7:], "is damaged or truncated"),
    ],
)
def test_npy_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: .*{says}"):
        pictures.from_bytes(data, "x")


def test_dicom_of_every_kind():
    deep = (DEEP >> 4).astype(np.uint16)
    plain = pictures.from_bytes(dicom_of(deep, 12))
    np.testing.assert_array_equal(plain.samples, deep)
    assert (plain.depth, plain.white, plain.metadata) == (12, 4095, Metadata())
    inverted = pictures.from_bytes(dicom_of(deep, 12, "MONOCHROME1"))
    np.testing.assert_array_equal(inverted.samples, 4095 - deep)
    signed = pictures.from_bytes(dicom_of(deep.astype(np.int16) - 2048, 12))
    np.testing.assert_array_equal(signed.samples, deep)
    colour = pictures.from_bytes(dicom_of(COLOUR, 8, "RGB"))
    np.testing.assert_array_equal(colour.samples, COLOUR)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(128) + b"DICM" + bytes(9), "is damaged or truncated"),
        (dicom_of(GRAY, 8, "PALETTE COLOR"), "is DICOM of PALETTE COLOR with 8 bits; supported"),
        (dicom_of(GRAY, 8, NumberOfFrames=2), "holds 2 pictures; supported is one per file"),
        (dicom_of(GRAY, 8) + b"1.2.840.10008.1.2.1.99", "is a deflated DICOM file"),
    ],
)
def test_dicom_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: {says}"):
        pictures.from_bytes(data, "x")


def test_mmp_files_keep_depth_and_alpha():
    four = np.dstack([DEEP >> 4] * 4)
    found = pictures.from_bytes(mmpcodec.encode(four, 0, depth=12))
    np.testing.assert_array_equal(found.samples, four)
    assert found.depth == 12
    with pytest.raises(PictureError, match=r"^x: "):
        pictures.from_bytes(mmpcodec.encode(GRAY, 0)[:30], "x")
