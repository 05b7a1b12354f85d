"""The orientation in metadata, and what is turned by it."""

import io
import struct

import numpy as np
import pytest
from PIL import Image, ImageOps

from mmpcodec.analysis.turning import turned, turned_place
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.side.facts import orientation_of


def exif(turn, order="<"):
    """EXIF with an orientation only."""
    start = b"II*\0" if order == "<" else b"MM\0*"
    entry = struct.pack(f"{order}HHIHH", 274, 3, 1, turn, 0)
    return start + struct.pack(f"{order}IH", 8, 1) + entry + bytes(4)


def xmp(turn):
    return (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description '
        b'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="%d"/></x:xmpmeta>' % turn
    )


@pytest.mark.parametrize(
    ("data", "turn"),
    [
        *((b"", 1), (b"junk", 1), (exif(6), 6), (exif(8, ">"), 8), (exif(6)[:12], 1)),
        *((exif(0), 1), (exif(9), 1), (exif(1)[:8] + bytes(6), 1)),
    ],
)
def test_in_exif(data, turn):
    assert orientation_of(Metadata(exif=data)) == turn


@pytest.mark.parametrize(
    ("data", "turn"),
    [
        *((xmp(1), 1), (xmp(6), 6), (xmp(9), 1), (xmp(12), 1)),
        (b"<tiff:Orientation>8</tiff:Orientation>", 8),
        (b"tiff:Orientation = '3'", 3),
    ],
)
def test_in_xmp(data, turn):
    assert orientation_of(Metadata(xmp=data)) == turn


def test_exif_decides():
    assert orientation_of(Metadata(exif=exif(6), xmp=xmp(3))) == 6
    assert orientation_of(Metadata(exif=exif(1), xmp=xmp(3))) == 1
    assert orientation_of(Metadata(exif=exif(0), xmp=xmp(3))) == 3


@pytest.mark.parametrize("turn", range(1, 9))
def test_samples_are_turned_as_pillow_turns_them(turn):
    samples = np.arange(4 * 7 * 3, dtype=np.uint8).reshape(4, 7, 3)
    stream = io.BytesIO()
    found = Image.Exif()
    found[274] = turn
    Image.fromarray(samples).save(stream, "PNG", exif=found)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(stream)))
    np.testing.assert_array_equal(turned(samples, turn), expected)
    np.testing.assert_array_equal(turned(samples[..., 0], turn), expected[..., 0])


@pytest.mark.parametrize("turn", range(1, 9))
def test_places_are_turned_as_samples(turn):
    inside = np.zeros((9, 14), bool)
    inside[2:5, 3:10] = True
    left, top, width, height = turned_place(3, 2, 7, 3, inside.shape, turn)
    found = np.zeros(turned(inside, turn).shape, bool)
    found[top : top + height, left : left + width] = True
    np.testing.assert_array_equal(found, turned(inside, turn))
