"""JPEG files."""

import io
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, EXIF, GRAY, file_of

from mmpcodec import PictureError, pictures
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


def test_jpeg_of_four_colours_is_refused():
    with pytest.raises(PictureError, match="x: holds CMYK colours; supported are gray and RGB"):
        pictures.from_bytes(file_of(COLOUR, "JPEG", "CMYK"), "x")


def test_jpeg_with_two_sizes_is_refused():
    """Pillow takes the last frame header before the samples, libjpeg the first."""
    data = file_of(GRAY, "JPEG")
    frame = data.index(b"\xff\xc0")
    size = 2 + int.from_bytes(data[frame + 2 : frame + 4], "big")
    header = data[frame : frame + 5] + b"\x7f\xff\x7f\xff" + data[frame + 9 : frame + size]
    with pytest.raises(PictureError, match=r"x: .* two sizes, \(32767, 32767\) and \(9, 6\)"):
        pictures.from_bytes(data[:frame] + header + data[frame:], "x")
