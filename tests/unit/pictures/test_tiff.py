"""TIFF files: kinds of samples, ways to pack them, and tags."""

import io
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
import tifffile
from PIL import Image
from support.picture_files import COLOUR, DEEP, EXIF, FILES, GRAY, file_of, tiff_of

from mmpcodec import MissingExtra, PictureError, PictureWarning, pictures
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.pictures import Picture
from mmpcodec.pictures.exif import Directory, parsed, structure

ALPHA = np.dstack([COLOUR, 255 - GRAY])
DEEP_ALPHA = ALPHA.astype(np.uint16) * 257
WIDE = np.tile(COLOUR, (7, 5, 1))  # 42x45, more than two tiles each way
DEEP_WIDE = WIDE.astype(np.uint16) * 5
RGB = {"photometric": "rgb"}
TILES = {"tile": (16, 16)}


@pytest.mark.parametrize(
    ("samples", "options", "depth"),
    [
        (GRAY, {}, 8),
        (GRAY, {"byteorder": ">"}, 8),
        (DEEP, {}, 16),
        (DEEP, {"byteorder": ">"}, 16),
        (DEEP, {"bigtiff": True}, 16),
        (GRAY > 99, {"photometric": "minisblack"}, 1),
        (GRAY >> 6, {"bitspersample": 2}, 2),
        (GRAY >> 3, {"bitspersample": 5}, 5),
        (DEEP >> 4, {"bitspersample": 12}, 12),
        (np.dstack([DEEP >> 4] * 3), {"bitspersample": 12, **RGB}, 12),
        (ALPHA, {"extrasamples": ["unassalpha"], **RGB}, 8),
        (DEEP_ALPHA, {"extrasamples": ["unassalpha"], "compression": "lzw", **RGB}, 16),
        (ALPHA[..., 2:], {"extrasamples": ["unassalpha"], "planarconfig": "contig"}, 8),
        (COLOUR, {"rowsperstrip": 4, **RGB}, 8),
        (COLOUR, {"compression": "packbits", "rowsperstrip": 4, **RGB}, 8),
        (DEEP, {"compression": "deflate", "predictor": True}, 16),
        (WIDE, {"compression": "lzw", "predictor": True, **TILES, **RGB}, 8),
        (WIDE, {"compression": "zstd", **TILES, **RGB}, 8),
        (WIDE, {**TILES, **RGB}, 8),
        (DEEP_WIDE, {"compression": "deflate", "byteorder": ">", **TILES, **RGB}, 16),
    ],
)  # fmt: skip
def test_reads_what_tifffile_writes(samples, options, depth):
    found = pictures.from_bytes(tiff_of(samples, **options))
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == depth


@pytest.mark.parametrize("options", [{}, {"compression": "lzw", **TILES}])
def test_inks_become_rgb(options):
    inks = np.dstack([255 - COLOUR, np.zeros_like(GRAY)])
    data = tiff_of(inks, photometric="separated", **options)
    with pytest.warns(PictureWarning, match="x: holds CMYK colours, which are converted to RGB"):
        found = pictures.from_bytes(data, "x")
    np.testing.assert_array_equal(found.samples, COLOUR)


@pytest.mark.parametrize("options", [{}, {"compression": "lzw"}, {"compression": "lzw", **TILES}])
def test_reads_plane_after_plane(options):
    planes = np.ascontiguousarray(np.moveaxis(DEEP_ALPHA[..., :3], 2, 0))
    found = pictures.from_bytes(tiff_of(planes, planarconfig="separate", **RGB, **options))
    np.testing.assert_array_equal(found.samples, DEEP_ALPHA[..., :3])


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("1", {"compression": "group3"}),
        ("1", {"compression": "group4"}),
        ("1", {"compression": "tiff_ccitt"}),
        ("1", {"compression": "packbits"}),
        ("L", {"compression": "jpeg"}),
        ("RGB", {"compression": "jpeg"}),
        ("RGB", {"compression": "tiff_adobe_deflate"}),
        ("P", {}),
        ("P", {"compression": "tiff_lzw"}),
        ("LA", {}),
        ("RGBA", {"compression": "tiff_lzw"}),
    ],
)
def test_reads_what_pillow_writes(mode, options):
    data = file_of(COLOUR, "TIFF", mode, **options)
    with Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(image.convert("RGB" if mode == "P" else mode)).astype(np.uint8)
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, expected)
    assert found.depth == (1 if mode == "1" else 8)


def test_tiles_and_strips_that_were_left_out_are_zero():
    first = WIDE[:16, :16]
    tiles = iter([first, *[None] * 8])
    found = pictures.from_bytes(
        tiff_of(tiles, shape=WIDE.shape, dtype=WIDE.dtype, compression="deflate", **TILES, **RGB)
    )
    expected = np.zeros_like(WIDE)
    expected[:16, :16] = first
    np.testing.assert_array_equal(found.samples, expected)
    data = bytearray(tiff_of(GRAY))
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as file:
        place = file.pages.first.tags[273].valueoffset
    data[place : place + 4] = bytes(4)
    assert (pictures.from_bytes(bytes(data)).samples == 0).all()


def test_white_is_zero_is_turned_round():
    for samples, options in ((GRAY, {}), (DEEP, {}), (GRAY >> 4, {"bitspersample": 4})):
        depth = options.get("bitspersample", 8 * samples.itemsize)
        found = pictures.from_bytes(tiff_of(samples, photometric="miniswhite", **options))
        np.testing.assert_array_equal(found.samples, (1 << depth) - 1 - samples)
    tag = (50717, "H", 1, 127, True)
    counted = tiff_of(GRAY >> 1, photometric="miniswhite", extratags=[tag])
    assert pictures.from_bytes(counted).depth == 8
    bilevel = pictures.from_bytes(tiff_of(GRAY > 99, photometric="miniswhite"))
    np.testing.assert_array_equal(bilevel.samples, GRAY <= 99)


def test_palettes_of_8_and_16_bits():
    deep = np.random.default_rng(1).integers(0, 65536, (3, 256), np.uint16)
    for colours, depth, shift in (
        (deep, 16, 0), ((deep >> 8) * 257, 8, 8), (deep >> 8 << 8, 8, 8), (deep >> 8, 8, 0),
    ):  # fmt: skip
        found = pictures.from_bytes(tiff_of(GRAY, photometric="palette", colormap=colours))
        np.testing.assert_array_equal(found.samples, (colours >> shift).T[GRAY])
        assert found.depth == depth


def test_white_level_says_the_bits():
    data = pictures.to_bytes(Picture(DEEP >> 4, 12), "tif")
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        assert file.pages.first.tags[50717].value == 4095
        assert file.pages.first.bitspersample == 16
        np.testing.assert_array_equal(file.asarray(), DEEP >> 4)
    for value, depth in ((4095, 12), (4000, 16), (255, 16), (0, 16), (65535, 16)):
        tag = (50717, "H", 1, value, True)
        samples = np.minimum(DEEP, value) if depth == 12 else DEEP
        assert pictures.from_bytes(tiff_of(samples, extratags=[tag])).depth == depth
    wrong = tiff_of(DEEP, extratags=[(50717, "H", 1, 4095, True)])
    with pytest.warns(
        PictureWarning,
        match=r"x: names a white level below its samples, .*\(4095 of a sample \d+\)",
    ):
        found = pictures.from_bytes(wrong, "x")
    np.testing.assert_array_equal(found.samples, DEEP)
    assert found.depth == 16


@pytest.mark.parametrize("samples", [GRAY >> 1, DEEP >> 4, np.dstack([DEEP >> 4] * 3)])
def test_statistics_change_no_brightness(samples):
    """MinSampleValue, MaxSampleValue, SMinSampleValue and SMaxSampleValue."""
    planes = samples.shape[2] if samples.ndim > 2 else 1
    low, high = int(samples.min()), (1 << int(samples.max()).bit_length()) - 1
    kinds = {280: low, 281: high, 340: low, 341: high}
    extra = [(tag, "H", planes, (level,) * planes, True) for tag, level in kinds.items()]
    found = pictures.from_bytes(tiff_of(samples, extratags=extra))
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == 8 * samples.itemsize


def written(*pages):
    """A file of several directories: samples, and options of tifffile."""
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream) as writer:
        for samples, options in pages:
            writer.write(samples, metadata=None, **options)
    return stream.getvalue()


SMALL, REDUCED, MASK = GRAY[::2, ::2], {"subfiletype": 1}, {"subfiletype": 4}


@pytest.mark.parametrize(
    "pages",
    [
        [(DEEP, {}), (SMALL, REDUCED)],
        [(DEEP, {}), (GRAY > 99, MASK), (SMALL > 99, {"subfiletype": 5})],
        [(SMALL, REDUCED), (DEEP, {})],
        [(DEEP, {"subifds": 2}), (SMALL, REDUCED), (SMALL[::2], REDUCED)],
        [(SMALL, {"subifds": 1, **REDUCED}), (DEEP, {})],
        [(DEEP, {"tile": (16, 16)}), (SMALL, {"tile": (16, 16), **REDUCED})],
    ],
    ids=["overview", "masks", "thumbnail first", "below", "main below a thumbnail", "tiles"],
)
@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_overviews_and_masks_are_no_pages(pages):
    np.testing.assert_array_equal(pictures.from_bytes(written(*pages)).samples, DEEP)


def test_pages_are_counted_without_overviews():
    data = written((DEEP, {}), (SMALL, REDUCED), (GRAY, {}))
    with pytest.raises(PictureError, match=r"^x: holds 2 pages; --page N, or page=N"):
        pictures.from_bytes(data, "x")


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_pages_are_read_by_number(tmp_path):
    options = {"compression": "lzw", "photometric": "rgb"}
    data = written((DEEP, {}), (SMALL, REDUCED), (GRAY, {}), (WIDE, options))
    path = tmp_path / "a.tif"
    path.write_bytes(data)
    for page, samples in enumerate((DEEP, GRAY, WIDE), 1):
        np.testing.assert_array_equal(pictures.from_bytes(data, page=page).samples, samples)
        with pictures.opened(path, page=page) as reader:
            assert reader.shape == samples.shape
            part = reader.read(slice(1, 5), slice(2, 8))
        np.testing.assert_array_equal(part, samples[1:5, 2:8])
    for page in (0, 4):
        with pytest.raises(PictureError, match=f"x: page = {page}: must be 1 to 3"):
            pictures.from_bytes(data, "x", page=page)


GEOGRAPHIC = [(33550, "d", 3, (1.0, 1.0, 0.0), True), (34735, "H", 4, (1, 1, 0, 0), True)]


@pytest.mark.parametrize(
    ("data", "key", "says"),
    [
        (written((DEEP, {}), (SMALL, REDUCED)), "further directories", r"\(overviews\)"),
        (written((DEEP, {}), (GRAY > 99, MASK)), "further directories", r"\(masks\)"),
        (tiff_of(DEEP, extratags=GEOGRAPHIC), "geotiff", r"\(tags 33550, 34735\)"),
        (tiff_of(GRAY, extratags=[(42113, "s", 0, "0", True)]), "geotiff", r"\(tags 42113\)"),
        (tiff_of(GRAY, extratags=[(285, "s", 0, "p", True)]), "other tags", r"\(tags 285\)"),
        (tiff_of(GRAY, resolution=(0, 1)), "damaged resolution", r"\(tags 282, 283, 296\)"),
    ],
)
def test_what_is_left_out_is_said_once(data, key, says):
    with pytest.warns(PictureWarning, match=rf"^x: .*{says}$") as reported:
        pictures.from_bytes(data, "x")
    assert [each.message.left_out for each in reported] == [(key,)]
    with pytest.raises(PictureError, match=rf"^x: .*{says}; strict reading refuses"):
        pictures.from_bytes(data, "x", strict=True)


def changed(data, tag, **fields):
    """A file whose entry of a tag has other fields: kind, count or value."""
    data = bytearray(data)
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as file:
        place, order = file.pages.first.tags[tag].offset, file.byteorder
    for at, name, form in ((2, "kind", "H"), (4, "count", "I"), (8, "value", "I")):
        if name in fields:
            struct.pack_into(order + form, data, place + at, fields[name])
    return bytes(data)


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_damaged_tags_cost_only_themselves():
    metadata = Metadata(
        b"profile" * 9, EXIF, b"<x:xmpmeta/>", Resolution(Fraction(300), Fraction(301, 2)),
        (("Title", "a title"), ("Software", "a program")),
    )  # fmt: skip
    data = pictures.to_bytes(Picture(GRAY, 8, metadata), "tif")
    for tag, gone in (
        (34675, {"icc": b""}),
        (700, {"xmp": b""}),
        (269, {"text": (("Software", "a program"),)}),
        (282, {"resolution": None}),
        (34665, {}),
    ):
        found = pictures.from_bytes(changed(data, tag, value=1 << 30))
        np.testing.assert_array_equal(found.samples, GRAY)
        for kind in ("icc", "xmp", "text", "resolution"):
            assert getattr(found.metadata, kind) == gone.get(kind, getattr(metadata, kind))
        assert bool(found.metadata.exif) is True
    found = pictures.from_bytes(changed(data, 282, kind=4))
    assert found.metadata.resolution is None
    stack = tiff_of(GRAY, description="ImageJ=1\nimages=x\n")
    np.testing.assert_array_equal(pictures.from_bytes(stack).samples, GRAY)


@pytest.mark.parametrize(
    ("samples", "text", "options", "padding"),
    [
        (DEEP, "0", {}, (0, 0)),
        (DEEP, "65535 ", {}, (65535, 65535)),
        (DEEP, "0", {"photometric": "miniswhite"}, (65535, 65535)),
        (DEEP, "-9999", {}, None),
        (DEEP, "nan", {}, None),
        (DEEP, "0.5", {}, None),
        (GRAY, "0", {}, None),
    ],
)
@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_levels_without_a_value_are_padding(samples, text, options, padding):
    tag = (42113, "s", 0, text, True)
    found = pictures.from_bytes(tiff_of(samples, extratags=[tag], **options))
    calibration = found.metadata.calibration
    assert calibration == (None if padding is None else Calibration(padding=padding))
    if padding is not None:
        assert pictures.lost(found, "tif") == ()
        again = pictures.from_bytes(pictures.to_bytes(found, "tif"))
        assert again.metadata.calibration == calibration


@pytest.mark.parametrize("options", [{"extrasamples": ["unspecified"]}, {}])
def test_alpha_that_is_not_said_opens_with_a_word(options):
    data = tiff_of(ALPHA, **RGB, extrasamples=["unspecified"])
    if not options:
        data = without(data, 338)
    with pytest.warns(PictureWarning, match="has a plane of unspecified kind, which is read as al"):
        found = pictures.from_bytes(data, "x")
    np.testing.assert_array_equal(found.samples, ALPHA)


def without(data, tag):
    """A file whose entry of a tag has a number that no reader knows."""
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        place = file.pages.first.tags[tag].offset
    return data[:place] + struct.pack("<H", 65000) + data[place + 2 :]


def test_deep_jpeg_is_not_supported():
    codecs = pytest.importorskip("imagecodecs")
    deep = (DEEP >> 4).astype(np.uint16)
    frames = codecs.jpeg8_encode(deep, bitspersample=12), codecs.jpeg8_encode(GRAY, lossless=True)
    for frame in frames:
        data = tiff_of(iter([frame]), shape=GRAY.shape, dtype=GRAY.dtype, compression="jpeg")
        with pytest.raises(
            PictureError, match=r"x: is compressed by JPEG with .*; supported are base"
        ):
            pictures.from_bytes(data, "x")


def test_one_bit_is_written_as_such():
    data = pictures.to_bytes(Picture((GRAY > 99).astype(np.uint8), 1), "tif")
    with Image.open(io.BytesIO(data)) as image:
        assert (image.mode, image.info["compression"]) == ("1", "group4")
        np.testing.assert_array_equal(np.asarray(image), GRAY > 99)


def test_others_read_deep_colours_and_metadata():
    text = (("Title", "t"), ("Description", "café"), ("Software", "s"))
    resolution = Resolution(Fraction(300), Fraction(301, 2), "inch")
    metadata = Metadata(b"profile" * 9, EXIF, b"<x:xmpmeta/>", resolution, text)
    data = pictures.to_bytes(Picture(DEEP_ALPHA, 16, metadata), "tif")
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        page = file.pages.first
        np.testing.assert_array_equal(page.asarray(), DEEP_ALPHA)
        assert [int(kind) for kind in page.extrasamples] == [2]
        assert page.iccprofile == b"profile" * 9
        tags = page.tags
        assert [tags[tag].value for tag in (269, 270, 305)] == ["t", "café", "s"]
        assert (tags[282].value, tags[283].value, tags[296].value) == ((300, 1), (301, 2), 2)
        assert (tags[271].value, tags[274].value) == ("Maker", 6)
        assert tags[34665].value == {
            "ExposureTime": (1, 50),
            "DateTimeOriginal": "2020:01:01 00:00:00",
        }
        assert bytes(tags[700].value) == b"<x:xmpmeta/>"
    with Image.open(io.BytesIO(pictures.to_bytes(Picture(GRAY, 8, metadata), "tif"))) as image:
        assert image.getexif().get_ifd(34853) == {1: "N"}
        assert image.info["dpi"] == (300, 150.5)
        assert image.info["icc_profile"] == b"profile" * 9


def test_reads_the_metadata_of_others():
    data = file_of(
        GRAY,
        "TIFF",
        tiffinfo={270: "d", 305: "s", 274: 3, 315: "a"},
        dpi=(300, 200),
        icc_profile=b"p",
    )
    found = pictures.from_bytes(data).metadata
    assert found.icc == b"p"
    assert found.text == (("Description", "d"), ("Software", "s"))
    assert found.resolution == Resolution(Fraction(300), Fraction(200), "inch")
    exif = Image.Exif()
    exif.load(found.exif)
    assert dict(exif) == {274: 3, 315: "a"}
    big = pictures.from_bytes(tiff_of(GRAY, bigtiff=True, description="big", resolution=(5, 7)))
    assert big.metadata.text == (("Description", "big"),)
    assert big.metadata.resolution.y == 7


def test_exif_comes_back_with_all_directories():
    """Values of every size, of which those of more than four bytes lie at even places."""
    for order in "<>":
        below = {40965: Directory({1: (2, 4, b"R98\0"), 2: (7, 5, b"0100\0")})}
        values = {37500: (7, 7, b"maker's"), 33434: (5, 1, struct.pack(f"{order}II", 1, 50))}
        entries = {271: (2, 5, b"Four\0"), 274: (3, 1, struct.pack(f"{order}H", 6))}
        whole = Directory(entries, {34665: Directory(values, below)})
        data = structure(order, whole)
        assert parsed(data) == (order, whole)
        assert len(data) % 2 == 0
        assert all(data.index(value) % 2 == 0 for value in (b"Four", b"maker's", b"0100"))
        picture = Picture(GRAY, 8, Metadata(exif=data))
        assert pictures.lost(picture, "tif") == ()
        assert pictures.from_bytes(pictures.to_bytes(picture, "tif")).metadata.exif == data


def test_a_resolution_in_exif_goes_to_the_tags():
    rational = struct.pack("<II", 300, 1)
    entries = {271: (2, 5, b"Four\0"), 282: (5, 1, rational), 283: (5, 1, rational)}
    resolution = Resolution(Fraction(300), Fraction(300), "inch")
    data = structure("<", Directory(entries))
    for given, lost in ((resolution, ()), (None, ("exif",))):
        picture = Picture(GRAY, 8, Metadata(exif=data, resolution=given))
        assert pictures.lost(picture, "tif") == lost
        found = pictures.from_bytes(pictures.to_bytes(picture, "tif")).metadata
        assert found.resolution == given
        assert parsed(found.exif)[1].entries == {271: (2, 5, b"Four\0")}


def test_no_directory_can_be_too_large():
    """Many entries that lie at the same place in the file come to more than it holds."""
    data = bytearray(tiff_of(np.zeros((2048, 2048), np.uint8), description="d"))
    place = len(data)
    entries = [struct.pack("<HHII", 271, 7, 1 << 22, 8)] * 40
    data += struct.pack("<H", len(entries)) + b"".join(entries) + bytes(4)
    pointer = (34665, "I", 1, place, True)
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as file:
        start = file.pages.first.tags[270].offset
    data[start : start + 12] = struct.pack("<HHII", pointer[0], 4, 1, place)
    with pytest.raises(PictureError, match=r"x: .* EXIF holds values of more than 67108864 bytes"):
        pictures.from_bytes(bytes(data), "x")


PREDICTOR, FLOATS = (struct.pack("<HHIHH", 317, 3, 1, each, 0) for each in (2, 3))
FLOAT, SIGNED = GRAY.astype(np.float32), GRAY.astype(np.int16)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (tiff_of(FLOAT), "holds floating-point samples; supported are unsigned integers of 1"),
        (tiff_of(SIGNED), "holds signed samples; .* so scale the samples"),
        (tiff_of(GRAY.astype(np.uint32)), "holds 32 bits per sample; supported are 1 to 16"),
        (
            tiff_of(ALPHA, photometric="separated", compression="jpeg"),
            "holds SEPARATED samples",
        ),
        (tiff_of(ALPHA, extrasamples=["assocalpha"], **RGB), "holds alpha that is multiplied in"),
        (
            tiff_of(GRAY, predictor=True, compression="lzw").replace(PREDICTOR, FLOATS),
            "predictor 3",
        ),
        (tiff_of(np.dstack([ALPHA, GRAY]), extrasamples=[2, 0], **RGB), "holds 5 planes"),
        (tiff_of(COLOUR, compression="webp", **RGB), "is compressed by WEBP; supported are none"),
        (tiff_of(np.stack([GRAY, GRAY])), "holds 2 pages; --page N, or page=N in Python"),
        (tiff_of(GRAY)[:-3], "bytes, .* are needed"),
        (b"II*\0" + bytes(8), "is damaged or truncated"),
    ],
)
def test_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: .*{says}"):
        pictures.from_bytes(data, "x")


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_stacks_of_imagej_have_pages():
    stream = io.BytesIO()
    stack = np.stack([DEEP, DEEP + 1, DEEP // 2])
    tifffile.imwrite(stream, stack, imagej=True, truncate=True)
    with tifffile.TiffFile(io.BytesIO(stream.getvalue())) as file:
        assert len(file.pages) == 1
    with pytest.raises(PictureError, match="x: holds 3 pages"):
        pictures.from_bytes(stream.getvalue(), "x")
    for page in (1, 2, 3):
        found = pictures.from_bytes(stream.getvalue(), page=page).samples
        np.testing.assert_array_equal(found, stack[page - 1])


def test_jpeg_that_says_more_inside_is_refused():
    data = bytearray(tiff_of(COLOUR, compression="jpeg", **RGB))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", 60000, 60000)
    with pytest.raises(PictureError, match=r"x: .* JPEG of 60000x60000 in a strip of 9x6"):
        pictures.from_bytes(bytes(data), "x")


@pytest.mark.parametrize("before", [b"\xff", b"\xff" * 9, b"anything", b"\xff\0"])
def test_jpeg_that_hides_its_size_is_refused(before):
    """libjpeg skips fill bytes and foreign bytes before a marker, and so does the check."""
    data = tiff_of(COLOUR, compression="jpeg", **RGB)
    frame = data.index(b"\xff\xc0")
    header = data[frame : frame + 5] + struct.pack(">HH", 60000, 60000) + data[frame + 9 :]
    place = len(data) + len(data) % 2
    stream = data[data.index(b"\xff\xd8") : frame] + before + header
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        offset, size = (file.pages.first.tags[tag] for tag in (273, 279))
    changed = bytearray(data.ljust(place, b"\0") + stream)
    changed[offset.valueoffset : offset.valueoffset + 4] = struct.pack("<I", place)
    changed[size.valueoffset : size.valueoffset + 4] = struct.pack("<I", len(stream))
    with pytest.raises(PictureError, match=r"x: .* JPEG of 60000x60000 in a strip of 9x6"):
        pictures.from_bytes(bytes(changed), "x")


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_nothing_is_printed(capfd):
    for samples in (GRAY, COLOUR):
        data = tiff_of(samples, compression="lzw", description="x")
        for place in range(4, len(data), 3):
            damaged = bytearray(data)
            damaged[place] ^= 0x41
            try:
                pictures.from_bytes(bytes(damaged))
            except PictureError:
                continue
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["tiff lzw", "tiff tiles", "tiff jpeg", "tiff 12 bits"])
def test_pillow_without_libtiff_is_named(kind, monkeypatch):
    monkeypatch.setattr("PIL.features.check", lambda feature: False)
    if kind == "tiff 12 bits":  # packed, not compressed
        assert pictures.from_bytes(FILES[kind]).depth == 12
        return
    with pytest.raises(MissingExtra, match="x: compressed TIFF needs a Pillow with libtiff; pip"):
        pictures.from_bytes(FILES[kind], "x")


@pytest.mark.parametrize("photometric", [0, 1], ids=["white is 0", "black is 0"])
@pytest.mark.parametrize("order", [1, 2], ids=["high bits first", "low bits first"])
@pytest.mark.parametrize("compression", ["group3", "group4", "tiff_ccitt"])
def test_fax_is_read(compression, order, photometric):
    stream = io.BytesIO()
    samples = np.tile(GRAY > 99, (4, 5))
    tags = {262: photometric, 266: order}
    Image.fromarray(samples).save(stream, "TIFF", compression=compression, tiffinfo=tags)
    with tifffile.TiffFile(io.BytesIO(stream.getvalue())) as file:
        assert file.pages[0].photometric == photometric
    found = pictures.from_bytes(stream.getvalue())
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == 1


@pytest.mark.parametrize("photometric", ["rgb", "ycbcr"])
@pytest.mark.parametrize("subsampling", [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("options", [{}, TILES, {"rowsperstrip": 16}])
def test_jpeg_is_decoded_as_tifffile_does(photometric, subsampling, options):
    pytest.importorskip("imagecodecs")
    colours = {"compression": "jpeg", "photometric": photometric, "subsampling": subsampling}
    data = tiff_of(WIDE, **colours, **options)
    expected = tifffile.imread(io.BytesIO(data))
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, expected)


def test_strips_may_share_their_bytes_but_not_without_bound():
    strip = zlib.compress(bytes(9))

    def of_strips(rows, padding):
        return tiff_of_strips(rows, strip + bytes(padding))

    assert pictures.from_bytes(of_strips(2000, 0)).samples.tolist() == [[0] * 9] * 2000
    with pytest.raises(PictureError, match=r"^x: .*strips or tiles of \d+ bytes overlap in 116\d+"):
        pictures.from_bytes(of_strips(2000, 100_000), "x")


def tiff_of_strips(rows, data):
    """A file of 9 columns whose strips of one row all are the same bytes."""
    data += bytes(-len(data) % 2)
    at = 8 + len(data)
    entries = {
        256: (1, 9), 257: (1, rows), 258: (1, 8), 259: (1, 8), 262: (1, 1),
        273: (rows, at), 277: (1, 1), 278: (1, 1), 279: (rows, at + 4 * rows),
    }  # fmt: skip
    lists = struct.pack(f"<{2 * rows}I", *[8] * rows, *[len(data)] * rows)
    directory = b"".join(struct.pack("<HHII", tag, 4, *rest) for tag, rest in entries.items())
    start = b"II*\0" + struct.pack("<I", at + len(lists))
    return start + data + lists + struct.pack("<H", len(entries)) + directory + bytes(4)


def test_bits_of_bytes_may_be_turned_round():
    turned = np.packbits(np.unpackbits(GRAY, bitorder="little")).reshape(GRAY.shape)
    stream = io.BytesIO()
    Image.fromarray(turned).save(stream, "TIFF", tiffinfo={266: 2})
    assert np.array_equal(pictures.from_bytes(stream.getvalue(), "x").samples, GRAY)
