"""GIF, WebP, AVIF, JPEG 2000, JPEG XL and HEIC files: samples, metadata, animations, refusals."""

import io
import struct

import numpy as np
import pytest
from PIL import Image, features
from support.picture_files import COLOUR, DEEP, EXIF, FILES, GRAY, file_of, heic_of

from mmpcodec import DecodeLimits, PictureError, PictureWarning, pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import exif

FRAMES = [Image.fromarray(COLOUR), Image.fromarray(255 - COLOUR)]

avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")


def animation(format, frames=FRAMES, **options):
    stream = io.BytesIO()
    frames[0].save(stream, format, save_all=True, append_images=frames[1:], **options)
    return stream.getvalue()


def test_lossless_files_come_back():
    alpha = np.dstack([COLOUR, GRAY | 1])
    for samples in (COLOUR, alpha):
        data = file_of(samples, "WEBP", lossless=True, exact=True)
        np.testing.assert_array_equal(pictures.from_bytes(data).samples, samples)
        data = file_of(samples, "JPEG2000", irreversible=False)
        np.testing.assert_array_equal(pictures.from_bytes(data).samples, samples)
    data = file_of(GRAY, "JPEG2000", irreversible=False)
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, GRAY)


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [8, 10, 12, 16])
def test_jpeg_xl_of_every_kind(planes, depth):
    codec = pytest.importorskip("imagecodecs")
    samples = np.dstack([DEEP ^ 77 * plane for plane in range(planes)]) >> (16 - depth)
    samples = samples.astype(np.uint8 if depth == 8 else np.uint16)
    samples = samples[..., 0] if planes == 1 else samples
    data = codec.jpegxl_encode(samples, lossless=True, bitspersample=depth)
    if depth > 8:  # which imagecodecs calls linear
        with pytest.warns(PictureWarning, match="x: has a colour profile, which is not read"):
            found = pictures.from_bytes(data, "x")
    else:
        found = pictures.from_bytes(data, "x")
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == depth


@pytest.mark.parametrize("depth", [3, 8, 12, 16])
def test_jpeg_2000_of_every_depth(depth):
    codec = pytest.importorskip("imagecodecs")
    gray = (DEEP >> (16 - depth)).astype(np.uint8 if depth <= 8 else np.uint16)
    for samples in (gray, np.dstack([gray] * 3)):
        options = {"level": 0, "reversible": True, "bitspersample": depth, "mct": False}
        data = codec.jpeg2k_encode(samples, codecformat="jp2", **options)
        found = pictures.from_bytes(data)
        np.testing.assert_array_equal(found.samples, samples)
        assert found.depth == depth


@avif
def test_avif_keeps_its_depth():
    found = pictures.from_bytes(FILES["avif"])
    with Image.open(io.BytesIO(FILES["avif"])) as image:
        np.testing.assert_array_equal(found.samples, np.asarray(image))
    pytest.importorskip("imagecodecs")
    deep = pictures.from_bytes(FILES["avif deep"])
    assert (deep.depth, deep.samples.dtype) == (12, np.uint16)
    assert np.abs(deep.samples.astype(int) - np.dstack([DEEP >> 4] * 3)).max() <= 16


def test_heic_keeps_its_depth():
    pytest.importorskip("pillow_heif")
    np.testing.assert_array_equal(pictures.from_bytes(heic_of(COLOUR)).samples, COLOUR)
    deep = np.dstack([DEEP >> 6] * 3)
    found = pictures.from_bytes(heic_of(deep << 6, "RGB;16"))
    np.testing.assert_array_equal(found.samples, deep)
    assert found.depth == 10


def test_palettes_become_colours_gray_or_alpha():
    gray = Image.fromarray(GRAY)
    assert pictures.from_bytes(file_of(GRAY, "GIF")).samples.tolist() == GRAY.tolist()
    indexed = gray.convert("P")
    indexed.putpalette([value for level in range(256) for value in (level, 0, 255 - level)])
    stream = io.BytesIO()
    indexed.save(stream, "GIF", transparency=int(GRAY[0, 1]))
    found = pictures.from_bytes(stream.getvalue()).samples
    assert found.shape == (*GRAY.shape, 4)
    np.testing.assert_array_equal(found[..., 0][GRAY[0, 1] != GRAY], GRAY[GRAY[0, 1] != GRAY])
    np.testing.assert_array_equal(found[..., 3] == 0, GRAY[0, 1] == GRAY)


def test_metadata_are_kept():
    webp = pictures.from_bytes(FILES["webp"]).metadata
    assert webp == Metadata(icc=b"profile", exif=EXIF)
    assert pictures.from_bytes(FILES["webp lossy"]).metadata == Metadata(xmp=b"<x/>")
    assert pictures.from_bytes(FILES["gif"]).metadata == Metadata(text=(("Comment", "c"),))
    if "avif" in FILES:
        assert pictures.from_bytes(FILES["avif"]).metadata == Metadata(icc=b"profile", exif=EXIF)


def test_what_a_decoder_turned_has_no_orientation_left():
    pytest.importorskip("pillow_heif")
    found = pictures.from_bytes(FILES["heic"])
    np.testing.assert_array_equal(found.samples, np.rot90(COLOUR, -1))
    _, directory = exif.parsed(found.metadata.exif)
    assert directory.entries[exif.ORIENTATION][2] in (b"\1\0", b"\0\1")
    assert exif.parsed(EXIF)[1].entries[exif.ORIENTATION][2] in (b"\6\0", b"\0\6")


@pytest.mark.parametrize("format", ["GIF", "WEBP", pytest.param("AVIF", marks=avif), "PNG"])
def test_a_frame_of_an_animation_is_read_by_its_number(format):
    data = animation(format, **({} if format == "PNG" else {"quality": 100}))
    with pytest.raises(
        PictureError, match=r"^x: holds 2 frames; --page N, or page=N in .*, 1 to 2"
    ):
        pictures.from_bytes(data, "x")
    for page, frame in enumerate((COLOUR, 255 - COLOUR), start=1):
        found = pictures.from_bytes(data, page=page).samples
        assert np.abs(found.astype(int) - frame).mean() < 30
    for page in (0, 3):
        with pytest.raises(PictureError, match=f"^x: page = {page}: must be 1 to 2"):
            pictures.from_bytes(data, "x", page=page)


def test_a_still_picture_has_a_single_page():
    data = pictures.to_bytes(COLOUR, "png")
    np.testing.assert_array_equal(pictures.from_bytes(data, page=1).samples, COLOUR)
    for format in ("png", "ppm"):
        with pytest.raises(PictureError, match=r"^x: page = 2: must be 1, .* holds 1 pict"):
            pictures.from_bytes(pictures.to_bytes(COLOUR, format), "x", page=2)


def test_a_frame_of_jpeg_xl_is_read_by_its_number():
    codec = pytest.importorskip("imagecodecs")
    frames = np.stack([COLOUR, 255 - COLOUR, 0 * COLOUR])
    data = codec.jpegxl_encode(frames, lossless=True)
    with pytest.raises(PictureError, match=r"^x: is an animation; --page N, or page=N"):
        pictures.from_bytes(data, "x")
    for page, frame in enumerate(frames, start=1):
        np.testing.assert_array_equal(pictures.from_bytes(data, page=page).samples, frame)
    for page in (0, 4, 99):
        with pytest.raises(PictureError, match=f"^x: page = {page}: must be the number of a frame"):
            pictures.from_bytes(data, "x", page=page)


def test_the_main_picture_of_heic_is_read_with_a_word():
    pillow_heif = pytest.importorskip("pillow_heif")
    file = pillow_heif.HeifFile()
    for frame in FRAMES:
        file.add_from_pillow(frame)
    stream = io.BytesIO()
    file.save(stream, quality=-1, chroma=444, matrix_coefficients=0, primary_index=1)
    with pytest.warns(PictureWarning, match=r"x: holds several pictures, of .* \(2 pict"):
        found = pictures.from_bytes(stream.getvalue(), "x").samples
    np.testing.assert_array_equal(found, 255 - COLOUR)
    found = pictures.from_bytes(stream.getvalue(), page=1).samples
    assert np.abs(found.astype(int) - COLOUR).max() <= 2


def test_floating_jpeg_xl_is_refused():
    codec = pytest.importorskip("imagecodecs")
    data = codec.jpegxl_encode(GRAY.astype(np.float32), lossless=True)
    with pytest.raises(PictureError, match="x: holds floating-point samples of 32 bits; supported"):
        pictures.from_bytes(data, "x")


def test_signed_jpeg_2000_is_refused():
    data = bytearray(FILES["jpeg 2000 stream"])
    data[42] |= 128
    with pytest.raises(PictureError, match="x: holds 1 planes of 8 signed bits; supported are 1"):
        pictures.from_bytes(bytes(data), "x")


def with_size(data, width, height):
    """An AVIF or HEIC file whose box of the size, ispe, says another one."""
    assert data.count(b"ispe") == 1
    place = data.index(b"ispe") + 8
    return data[:place] + struct.pack(">II", width, height) + data[place + 8 :]


LARGE = np.zeros((1152, 1152), np.uint8)
WIDE_2000 = struct.pack(">II", *COLOUR.shape[1::-1])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (FILES["gif"][:6] + b"\xff\xff\xff\xff" + FILES["gif"][10:], "65535x65535"),
        (FILES["webp"][:24] + b"\xff\x1f\0\xff\x1f\0" + FILES["webp"][30:], "8192x8192"),
        (FILES["jpeg 2000"].replace(WIDE_2000, bytes([0, 0, 96, 0] * 2), 1), "24576x24576"),
    ],
)
def test_sizes_inside_of_files_are_checked_before_anything_is_allocated(data, says):
    with pytest.raises(PictureError, match=f"^x: is {says}"):
        pictures.from_bytes(data, "x", limits=DecodeLimits(1 << 19))


@avif
def test_the_size_in_the_stream_of_avif_counts():
    data = with_size(file_of(LARGE, "AVIF"), 9, 6)
    with pytest.raises(PictureError, match=r"^x: is 1089x1089: 1185921 samples"):
        pictures.from_bytes(data, "x", limits=DecodeLimits(1 << 20))
    frames = [Image.fromarray(LARGE), Image.fromarray(LARGE + 1)]
    with pytest.raises(PictureError, match=r"^x: is 1089x1089: 1185921 samples"):
        pictures.from_bytes(animation("AVIF", frames), "x", limits=DecodeLimits(1 << 20))


def test_the_size_in_the_stream_of_heic_counts():
    pytest.importorskip("pillow_heif")
    data = with_size(heic_of(np.dstack([LARGE] * 3)), 9, 6)
    with pytest.raises(PictureError, match=r"^x: is 1089x1089: 1185921 samples"):
        pictures.from_bytes(data, "x", limits=DecodeLimits(1 << 20))


def test_the_shape_in_the_header_of_jpeg_xl_counts():
    codec = pytest.importorskip("imagecodecs")
    data = codec.jpegxl_encode(LARGE, lossless=True)
    with pytest.raises(PictureError, match=r"^x: is 1152x1152: 1327104 samples"):
        pictures.from_bytes(data, "x", limits=DecodeLimits(1 << 20))


def test_webp_is_written():
    alpha = np.dstack([COLOUR, GRAY])
    for samples in (COLOUR, alpha):
        data = pictures.to_bytes(samples, "webp", quality=100)
        np.testing.assert_array_equal(pictures.from_bytes(data).samples, samples)
    for samples in (GRAY, alpha[..., 2:]):
        found = pictures.from_bytes(pictures.to_bytes(samples, "webp", quality=100)).samples
        colours = samples if samples.ndim == 2 else samples[..., 0]
        np.testing.assert_array_equal(found[..., :3], np.dstack([colours] * 3))
        assert found.shape[2] == (3 if samples.ndim == 2 else 4)
    metadata = Metadata(b"profile", EXIF, b"<x/>", text=(("Title", "t"),))
    picture = pictures.Picture(COLOUR, 8, metadata)
    assert pictures.lost(picture, "webp") == ("text",)
    found = pictures.from_bytes(pictures.to_bytes(picture, "webp"))
    assert found.metadata == metadata.without("text")
    assert np.abs(found.samples.astype(int) - COLOUR).mean() < 30
