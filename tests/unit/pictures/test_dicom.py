"""DICOM files."""

import numpy as np
import pytest
from support.picture_files import COLOUR, DEEP, GRAY, dicom_of

from mmpcodec import PictureError, pictures
from mmpcodec.metadata import Metadata


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
