"""JPEG files."""

import io
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
