"""Profiles of another number of colours, and what JPEG files hold besides samples."""

import io
import struct

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageCms
from support.picture_files import COLOUR, GRAY, png_of, rows_of

from mmpcodec import PictureError, PictureWarning, pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
OF_GRAY = SRGB[:16] + b"GRAY" + SRGB[20:]
OF_INKS = SRGB[:16] + b"CMYK" + SRGB[20:]


def jpeg_of(samples, **options):
    stream = io.BytesIO()
    Image.fromarray(samples).save(stream, "JPEG", **options)
    return stream.getvalue()


def with_segment(data, marker, contents):
    return (
        data[:2] + bytes([255, marker]) + struct.pack(">H", len(contents) + 2) + contents + data[2:]
    )


def read(data):
    """Read a file; also return the keys of what is left out."""
    with pytest.warns(PictureWarning) as said:
        found = pictures.from_bytes(data, "x")
    assert len(said) == 1
    return found, said[0].message.left_out


@pytest.mark.parametrize(
    ("samples", "profile"),
    [(GRAY, SRGB), (GRAY, OF_INKS), (COLOUR, OF_GRAY), (COLOUR, OF_INKS)],
    ids=["gray-srgb", "gray-inks", "colour-gray", "colour-inks"],  # profiles hold the time
)
def test_a_profile_of_other_colours_goes_and_is_named(samples, profile):
    found, left_out = read(jpeg_of(samples, icc_profile=profile))
    assert left_out == ("profile of other colours",)
    assert found.metadata.icc == b""
    picture = Picture(samples, 8, Metadata(profile))
    for format in ("png", "tif", "jpg"):
        assert pictures.lost(picture, format) == ("icc",)
        assert pictures.from_bytes(pictures.to_bytes(picture, format)).metadata.icc == b""


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}])
@pytest.mark.parametrize(
    ("samples", "profile"), [(GRAY, SRGB), (COLOUR, OF_GRAY)], ids=["gray", "colour"]
)
def test_a_tiff_that_is_read_in_parts_loses_it_too(tmp_path, samples, profile, options):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, samples, iccprofile=profile, **options)
    with pytest.warns(PictureWarning) as said:
        opened = pictures.opened(path)
    with opened as reader:
        assert reader.metadata.icc == b""
        assert (reader.read(slice(None), slice(None)) == samples).all()
    assert [each.message.left_out for each in said] == [("profile of other colours",)]
    with pytest.warns(PictureWarning) as said:
        assert pictures.read(path).metadata.icc == b""
    assert [each.message.left_out for each in said] == [("profile of other colours",)]
    for refuses in (pictures.opened, pictures.read):
        with pytest.raises(PictureError, match="of another number of colours, which is left out"):
            refuses(path, strict=True)


@pytest.mark.parametrize(
    ("samples", "profile"), [(GRAY, OF_GRAY), (COLOUR, SRGB)], ids=["gray", "colour"]
)
def test_a_profile_of_these_colours_stays(samples, profile):
    alpha = np.dstack([samples, GRAY])
    for each in (samples, alpha):
        picture = Picture(each, 8, Metadata(profile))
        for format in ("png", "tif"):
            assert pictures.lost(picture, format) == ()
            assert pictures.from_bytes(pictures.to_bytes(picture, format)).metadata.icc == profile


def test_gray_in_webp_is_rgb():
    picture = Picture(GRAY, 8, Metadata(OF_GRAY))
    assert pictures.lost(picture, "webp") == ("icc",)
    assert pictures.from_bytes(pictures.to_bytes(picture, "webp")).metadata.icc == b""


def test_a_palette_of_grays_loses_a_profile_of_rgb():
    import zlib

    chunks = [(b"iCCP", b"x\0\0" + zlib.compress(SRGB)), (b"PLTE", bytes([7, 7, 7, 9, 9, 9]))]
    found, left_out = read(png_of((2, 1, 8, 3), [*chunks, rows_of([0, 1])]))
    assert left_out == ("profile of other colours",)
    assert found.samples.tolist() == [[7, 9]]
    assert found.metadata == Metadata()


def test_captions_and_missing_parts_of_a_jpeg_are_said():
    captions = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0\0\0\0\x05hello"
    whole = jpeg_of(COLOUR)
    for marker, contents, key in (
        (0xED, captions, "iptc"),
        (0xE1, b"http://ns.adobe.com/xmp/extension/\0" + bytes(50), "extended xmp"),
        (0xE2, b"ICC_PROFILE\0\2\3" + SRGB, "damaged profile"),
    ):
        found, left_out = read(with_segment(whole, marker, contents))
        assert left_out == (key,)
        np.testing.assert_array_equal(found.samples, pictures.from_bytes(whole).samples)


def test_a_cut_jpeg_opens_with_a_word_and_keeps_what_is_there():
    ramp = np.add.outer(np.arange(256), np.arange(64)).astype(np.uint8)
    data = jpeg_of(ramp, quality=95)
    whole = pictures.from_bytes(data).samples
    found, left_out = read(data[: len(data) * 3 // 4])
    assert left_out == ("end",)
    np.testing.assert_array_equal(found.samples[:128], whole[:128])
    assert found.samples.shape == whole.shape
    with pytest.raises(PictureError, match=r"x: is cut off; .* strict"):
        pictures.from_bytes(data[: len(data) // 2], "x", strict=True)


@pytest.mark.parametrize(
    ("marker", "bits", "says"),
    [
        (0xC1, 12, "samples of 12 bits"),
        (0xC3, 8, "lossless JPEG"),
        (0xC5, 8, "hierarchical JPEG"),
        (0xF7, 8, "JPEG-LS"),
    ],
)
def test_unsupported_kinds_are_not_called_damaged(marker, bits, says):
    data = bytearray(jpeg_of(GRAY))
    place = data.index(b"\xff\xc0")
    data[place + 1], data[place + 4] = marker, bits
    with pytest.raises(PictureError, match=f"^x: holds {says}; supported are") as refused:
        pictures.from_bytes(bytes(data), "x")
    assert "damaged" not in str(refused.value)


def test_a_gain_map_is_said_and_xmp_promises_none():
    xmp = (
        b"<rdf:Description xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0' "
        b"dc:title='sea'><Container:Directory><rdf:Seq><rdf:li Item:Semantic='GainMap'/></rdf:Seq>"
        b"</Container:Directory></rdf:Description>"
    )
    found, left_out = read(jpeg_of(COLOUR, xmp=xmp))
    assert left_out == ("gain map",)
    assert found.metadata.xmp == (
        b"<rdf:Description xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' dc:title='sea'>"
        b"</rdf:Description>"
    )
    marked = with_segment(jpeg_of(COLOUR), 0xE2, b"urn:iso:std:iso:ts:21496:-1\0\0\0\0\0")
    assert read(marked)[1] == ("gain map",)


def test_boxes_of_jpeg_2000_that_are_not_read_are_said():
    stream = io.BytesIO()
    Image.fromarray(COLOUR).save(stream, "JPEG2000", irreversible=False)
    for uuid, key in ((bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38"), "iptc"),):
        box = struct.pack(">I4s", 8 + 16 + 5, b"uuid") + uuid + b"hello"
        found, left_out = read(stream.getvalue() + box)
        assert left_out == (key,)
        np.testing.assert_array_equal(found.samples, COLOUR)
