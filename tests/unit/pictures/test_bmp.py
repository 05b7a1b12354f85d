"""BMP files."""

import io
import struct
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, file_of

from mmpcodec import pictures
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
