"""Orientation and resolution, which stand in several places of a file, agree."""

import io
import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, EXIF, heic_of

from mmpcodec import PictureWarning, pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture, exif
from mmpcodec.pictures.side.facts import consistent, orientation_of, stripped

DPI = Resolution(Fraction(300), Fraction(300), "inch")


def xmp_of(orientation, form="attribute"):
    said = f"tiff:Orientation='{orientation}'/>"
    if form == "element":
        said = f"><tiff:Orientation>{orientation}</tiff:Orientation></rdf:Description>"
    return b"<rdf:Description xmlns:tiff='http://ns.adobe.com/tiff/1.0/' " + said.encode()


def exif_of(orientation=None, dpi=None):
    found = Image.Exif()
    found[271] = "a maker of cameras"
    if orientation is not None:
        found[274] = orientation
    if dpi is not None:
        found[282] = found[283] = float(dpi)
        found[296] = 2
    return found.tobytes().removeprefix(exif.PREFIX)


def jpeg_of(**options):
    stream = io.BytesIO()
    Image.fromarray(COLOUR).save(stream, "JPEG", **options)
    return stream.getvalue()


def without_jfif(data):
    place = data.index(b"\xff\xe0")
    (size,) = struct.unpack_from(">H", data, place + 2)
    return data[:place] + data[place + 2 + size :]


def asked(data):
    """The orientation that Pillow finds in a file."""
    return Image.open(io.BytesIO(data)).getexif().get(274, 1)


@pytest.mark.parametrize("form", ["attribute", "element"])
@pytest.mark.parametrize(
    ("in_exif", "in_xmp", "found"), [(6, 3, 6), (1, 6, 1), (None, 8, 8), (6, None, 6), (None, 1, 1)]
)
def test_exif_decides_then_xmp(in_exif, in_xmp, found, form):
    xmp = b"" if in_xmp is None else xmp_of(in_xmp, form)
    data = jpeg_of(exif=exif.PREFIX + exif_of(in_exif), xmp=xmp)
    metadata = pictures.from_bytes(data).metadata
    assert metadata.xmp == (b"" if in_xmp is None else xmp_of(found, form))
    assert orientation_of(replace(metadata, xmp=b"")) == found
    for format in ("jpg", "png", "tif", "webp"):
        coded = pictures.to_bytes(Picture(COLOUR, 8, metadata), format)
        assert asked(coded) == found
        assert orientation_of(pictures.from_bytes(coded).metadata) == found


@pytest.mark.parametrize("made", ["heic", "jxl"])
def test_what_the_decoder_has_turned_is_upright_in_both_places(made):
    if made == "heic":
        pytest.importorskip("pillow_heif")
        data = heic_of(COLOUR, exif=exif.PREFIX + exif_of(6), xmp=xmp_of(6))
        metadata = pictures.from_bytes(data).metadata
        assert metadata.xmp == xmp_of(1)
        coded = pictures.to_bytes(Picture(COLOUR, 8, metadata.without("exif")), "jpg")
        assert asked(coded) == 1
    else:
        metadata = consistent(Metadata(exif=exif_of(6), xmp=xmp_of(6)), "x", orientation=1)
    assert orientation_of(metadata) == orientation_of(metadata.without("xmp")) == 1


def test_exif_without_orientation_gets_the_one_of_xmp_and_loses_nothing():
    found = consistent(Metadata(exif=exif_of(), xmp=xmp_of(6)), "x").exif
    image = Image.Exif()
    image.load(found)
    assert (image[271], image[274]) == ("a maker of cameras", 6)
    _, old = exif.parsed(EXIF)
    _, new = exif.parsed(exif.changed(EXIF, {274: None}))
    assert new.entries == {tag: value for tag, value in old.entries.items() if tag != 274}
    assert new.below == old.below


def test_stripped_exif_keeps_the_orientation_and_nothing_else():
    for kinds in (("exif",), ("all",), ("exif", "xmp")):
        found = stripped(Metadata(exif=EXIF, xmp=b"<x/>"), *kinds)
        _, entries = exif.first_entries(found.exif)
        assert set(entries) == {274}
        assert orientation_of(found) == 6
    upright = Metadata(exif=exif_of(1), xmp=xmp_of(1))
    assert stripped(upright, "all") == Metadata()
    only_xmp = stripped(Metadata(xmp=xmp_of(6)), "xmp")
    assert orientation_of(only_xmp) == 6


@pytest.mark.parametrize("format", ["jpg", "png", "tif"])
def test_a_resolution_in_exif_alone_arrives_without_loss(format):
    picture = pictures.from_bytes(without_jfif(jpeg_of(exif=exif.PREFIX + exif_of(dpi=300))))
    assert picture.metadata.resolution == DPI
    assert pictures.lost(picture, format) == ()
    coded = pictures.to_bytes(picture, format)
    assert Image.open(io.BytesIO(coded)).info["dpi"] == pytest.approx((300, 300), abs=0.01)


def test_300_an_inch_goes_from_png_to_jpeg():
    picture = Picture(COLOUR, 8, Metadata(resolution=DPI))
    found = pictures.from_bytes(pictures.to_bytes(picture, "png"))
    assert found.metadata.resolution == Resolution(Fraction(11811), Fraction(11811), "metre")
    assert pictures.lost(found, "jpg") == pictures.lost(picture, "png") == ()
    again = pictures.from_bytes(pictures.to_bytes(found, "jpg"))
    assert again.metadata.resolution == DPI


def test_the_field_of_the_format_decides_and_exif_follows():
    data = jpeg_of(exif=exif.PREFIX + exif_of(dpi=72), dpi=(300, 300))
    metadata = pictures.from_bytes(data).metadata
    assert metadata.resolution == DPI
    image = Image.Exif()
    image.load(metadata.exif)
    assert (image[282], image[283], image[271]) == (300, 300, "a maker of cameras")
    bare = stripped(metadata, "resolution")
    assert consistent(bare, "x").resolution is None


def test_resolution_of_jpeg_2000_is_read():
    stream = io.BytesIO()
    Image.fromarray(COLOUR).save(stream, "JPEG2000", irreversible=False)
    data = stream.getvalue()
    resc = struct.pack(">I4s4H2b", 18, b"resc", 118, 1, 236, 1, 2, 2)
    box = struct.pack(">I4s", 26, b"res ") + resc
    place = data.index(b"jp2h") - 4
    (size,) = struct.unpack_from(">I", data, place)
    head = struct.pack(">I", size + len(box)) + data[place + 4 : place + size] + box
    data = data[:place] + head + data[place + size :]
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, COLOUR)
    assert found.metadata.resolution == Resolution(Fraction(23600), Fraction(11800), "metre")


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_damaged_exif_and_xmp_cost_no_samples():
    data = jpeg_of()
    bad = exif.PREFIX + b"MM\0*\0\0\0\x08\xff\xff", b"http://ns.adobe.com/xap/1.0/\0<x>\xff</x>"
    for said in bad:
        data = data[:2] + b"\xff\xe1" + struct.pack(">H", len(said) + 2) + said + data[2:]
    with pytest.warns(PictureWarning, match="damaged EXIF.*damaged XMP") as said:
        found = pictures.from_bytes(data, "x")
    assert found.metadata == Metadata()
    keys = [each.message.left_out for each in said if each.category is PictureWarning]
    assert keys == [("damaged exif", "damaged xmp")]
