"""JPEG files."""

import io
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image, ImageCms
from support.picture_files import COLOUR, EXIF, GRAY, file_of

from mmpcodec import PictureError, PictureWarning, pictures
from mmpcodec.metadata import Metadata, Resolution


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


def test_jpeg_of_inks_becomes_rgb():
    data = file_of(COLOUR, "JPEG", "CMYK", quality=100)
    with pytest.warns(PictureWarning, match="^x: holds CMYK colours, which are converted to RGB$"):
        found = pictures.from_bytes(data, "x").samples
    assert np.abs(found.astype(int) - COLOUR).max() <= 12


def test_inks_are_converted_by_their_profile():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = file_of(COLOUR, "JPEG", "CMYK", quality=100, icc_profile=profile)
    with pytest.warns(PictureWarning):  # a profile of RGB does not fit: the plain way
        found = pictures.from_bytes(data)
    assert np.abs(found.samples.astype(int) - COLOUR).max() <= 12
    assert found.metadata.icc == b""


def test_jpeg_with_two_sizes_is_refused():
    """Pillow takes the last frame header before the samples, libjpeg the first."""
    data = file_of(GRAY, "JPEG")
    frame = data.index(b"\xff\xc0")
    size = 2 + int.from_bytes(data[frame + 2 : frame + 4], "big")
    header = data[frame : frame + 5] + b"\x7f\xff\x7f\xff" + data[frame + 9 : frame + size]
    with pytest.raises(PictureError, match=r"x: .* two sizes, \(32767, 32767\) and \(9, 6\)"):
        pictures.from_bytes(data[:frame] + header + data[frame:], "x")


HALF = np.repeat(np.arange(0, 256, 8, np.uint8)[None], 32, axis=0)
SMOOTH = np.dstack([HALF, HALF.T, 255 - HALF])


def test_writes_gray_and_colour():
    for samples in (HALF, SMOOTH):
        found = pictures.from_bytes(pictures.to_bytes(samples, "jpg", quality=95)).samples
        assert np.abs(found.astype(int) - samples).max() <= 6
    seven = pictures.Picture(HALF >> 1, 7)
    found = pictures.from_bytes(pictures.to_bytes(seven, "jpg")).samples
    assert np.abs(found.astype(int) - HALF).max() <= 8
    assert pictures.lost(seven, "jpg") == ("depth",)


def test_colours_keep_their_resolution_from_quality_90_on():
    for quality, subsampled in ((90, False), (89, True)):
        data = pictures.to_bytes(SMOOTH, "jpg", quality=quality)
        with Image.open(io.BytesIO(data)) as image:
            assert (image.layer[0][1] == 2) is subsampled


@pytest.mark.parametrize(
    "resolution",
    [
        Resolution(Fraction(300), Fraction(200), "inch"),
        Resolution(Fraction(118), Fraction(59), "centimetre"),
        Resolution(Fraction(4), Fraction(3), "none"),
        Resolution(Fraction(11800), Fraction(5900), "metre"),
    ],
)
def test_metadata_are_written(resolution):
    metadata = Metadata(b"profile" * 20000, EXIF, b"<x/>", resolution, (("Comment", "é€"),))
    picture = pictures.Picture(SMOOTH, 8, metadata)
    assert pictures.lost(picture, "jpg") == ()
    found = pictures.from_bytes(pictures.to_bytes(picture, "jpg")).metadata
    if resolution.unit == "metre":
        assert found.resolution.per_metre() == resolution.per_metre()
        found = replace(found, resolution=resolution)
    assert found == metadata


def test_what_jpeg_cannot_hold_is_named():
    whole = Metadata(exif=bytes(65527), xmp=bytes(65504), icc=bytes(255 * 65519))
    assert pictures.lost(pictures.Picture(GRAY, 8, whole), "jpg") == ()
    assert pictures.to_bytes(pictures.Picture(GRAY, 8, whole), "jpg")
    many = Metadata(
        bytes(255 * 65519 + 1),
        bytes(65528),
        bytes(65505),
        Resolution(Fraction(65536), Fraction(1), "inch"),
        (("Comment", "a"), ("Title", "b")),
        white=200,
    )
    picture = pictures.Picture(GRAY // 2, 8, many)
    assert pictures.lost(picture, "jpg") == ("white", "icc", "exif", "xmp", "resolution", "text")
    found = pictures.from_bytes(pictures.to_bytes(picture, "jpg")).metadata
    assert found == Metadata(text=(("Comment", "a"),))
