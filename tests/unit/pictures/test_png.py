"""PNG files: every kind of samples, transparency, bits that are said to count, and metadata."""

import io
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, DEEP, EXIF, GRAY, file_of, png_of, rows_of

from mmpcodec import PictureError, PictureWarning, pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture
from mmpcodec.pictures.limits import MAX_METADATA
from mmpcodec.pictures.png import deep
from mmpcodec.pictures.png.chunks import joined

COLOURS = (b"PLTE", bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]))
GRAYS = (b"PLTE", bytes([7, 7, 7, 9, 9, 9]))
TWELVE = (b"sBIT", b"\x0c")
DEEP_ROW = struct.pack(">6H", 1, 2, 3, 256, 515, 65535)


@pytest.mark.parametrize(
    ("head", "chunks", "samples", "depth"),
    [
        ((4, 1, 1, 0), [rows_of([0b01010000])], [[0, 1, 0, 1]], 1),
        ((4, 1, 2, 0), [rows_of([0b00011011])], [[0, 1, 2, 3]], 2),
        ((3, 1, 4, 0), [rows_of([0x07, 0xF0])], [[0, 7, 15]], 4),
        ((2, 1, 8, 0), [rows_of([3, 250])], [[3, 250]], 8),
        ((2, 1, 16, 0), [rows_of([1, 2, 255, 0])], [[258, 65280]], 16),
        ((1, 1, 8, 4), [rows_of([3, 250])], [[[3, 250]]], 8),
        ((1, 1, 16, 4), [rows_of([0, 3, 2, 1])], [[[3, 513]]], 16),
        ((1, 1, 8, 2), [rows_of([1, 2, 3])], [[[1, 2, 3]]], 8),
        ((2, 1, 16, 2), [rows_of(DEEP_ROW)], [[[1, 2, 3], [256, 515, 65535]]], 16),
        ((1, 1, 8, 6), [rows_of([1, 2, 3, 4])], [[[1, 2, 3, 4]]], 8),
        ((1, 1, 16, 6), [rows_of(DEEP_ROW[4:])], [[[3, 256, 515, 65535]]], 16),
        # palettes
        ((2, 1, 2, 3), [COLOURS, rows_of([0b10010000])], [[[70, 80, 90], [40, 50, 60]]], 8),
        ((2, 1, 1, 3), [GRAYS, rows_of([0b10000000])], [[9, 7]], 8),
        ((2, 1, 8, 3), [GRAYS, (b"tRNS", b"\x05"), rows_of([1, 0])], [[[9, 255], [7, 5]]], 8),
        (
            (2, 1, 8, 3),
            [COLOURS, (b"tRNS", b"\x05\x06"), rows_of([2, 1])],
            [[[70, 80, 90, 255], [40, 50, 60, 6]]],
            8,
        ),
        # one transparent level or colour
        ((2, 1, 2, 0), [(b"tRNS", b"\xff\xfe"), rows_of([0b01100000])], [[[1, 3], [2, 0]]], 2),
        ((2, 1, 1, 0), [(b"tRNS", b"\0\0"), rows_of([0b01000000])], [[[0, 0], [1, 1]]], 1),
        ((2, 1, 16, 0), [(b"tRNS", b"\1\2"), rows_of([1, 2, 0, 4])], [[[258, 0], [4, 65535]]], 16),
        (
            (2, 1, 8, 2),
            [(b"tRNS", b"\0\1\0\2\0\3"), rows_of([1, 2, 3, 1, 2, 4])],
            [[[1, 2, 3, 0], [1, 2, 4, 255]]],
            8,
        ),
        (
            (2, 1, 16, 2),
            [(b"tRNS", DEEP_ROW[6:]), rows_of(DEEP_ROW)],
            [[[1, 2, 3, 65535], [256, 515, 65535, 0]]],
            16,
        ),
        # bits that count: where the others are filled, empty, or say something
        ((3, 1, 8, 0), [(b"sBIT", b"\3"), rows_of([0, 0b01001001, 255])], [[0, 2, 7]], 3),
        ((2, 1, 16, 0), [TWELVE, rows_of([0x12, 0x30, 0xFF, 0xF0])], [[0x123, 0xFFF]], 12),
        ((2, 1, 16, 0), [TWELVE, rows_of([0x12, 0x31, 0xFF, 0xFF])], [[0x123, 0xFFF]], 12),
        ((2, 1, 16, 0), [TWELVE, rows_of([0x12, 0x35, 0xFF, 0xFF])], [[0x1235, 0xFFFF]], 16),
        ((1, 1, 8, 2), [(b"sBIT", b"\5\6\5"), rows_of([8, 8, 8])], [[[8, 8, 8]]], 8),
        ((1, 1, 8, 0), [(b"sBIT", b"\0"), rows_of([0])], [[0]], 8),
    ],
)  # fmt: skip
def test_reads(head, chunks, samples, depth):
    found = pictures.from_bytes(png_of(head, chunks))
    np.testing.assert_array_equal(found.samples, samples)
    assert found.depth == depth


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_reads_what_others_write(mode):
    data = file_of(COLOUR, "PNG", mode)
    shown = "RGB" if mode == "P" else mode
    with Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(image.convert(shown)).astype(np.uint8)
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, expected)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 8, 12, 16])
def test_others_see_the_right_brightness(depth):
    most = (1 << depth) - 1
    samples = np.array([[0, most // 2, most]], np.uint8 if depth <= 8 else np.uint16)
    data = pictures.to_bytes(Picture(samples, depth), "png")
    assert data[24] == {3: 4, 5: 8, 12: 16}.get(depth, depth)
    assert (b"sBIT" + bytes([depth]) in data) == (depth in (3, 5, 12))
    with Image.open(io.BytesIO(data)) as image:
        shown = np.asarray(image).astype(float)[0]
        assert shown[0] == 0
        top = 1 if image.mode == "1" else 255 if image.mode == "L" else 65535
        assert shown[2] == top
        assert shown[1] / top == pytest.approx(most // 2 / most, abs=0.004 if depth > 3 else 0.03)


def test_others_read_deep_colours():
    imagecodecs = pytest.importorskip("imagecodecs")
    samples = np.dstack([DEEP, 65535 - DEEP, DEEP >> 3, DEEP | 1])
    for planes in (2, 3, 4):
        data = pictures.to_bytes(samples[..., :planes].copy(), "png")
        np.testing.assert_array_equal(imagecodecs.png_decode(data), samples[..., :planes])


@pytest.mark.parametrize("planes", [2, 3, 4])
@pytest.mark.parametrize("width", [1, 7, 70000])
def test_deep_colours_of_every_width_come_back(planes, width):
    """One pixel a row, several bands of rows, and rows longer than a band."""
    rng = np.random.default_rng(planes)
    height = 3 if width > 1000 else 20000
    samples = rng.integers(0, 65536, (height, width, planes)).astype(np.uint16)
    samples[::2] >>= 9
    found = pictures.from_bytes(pictures.to_bytes(samples, "png"))
    np.testing.assert_array_equal(found.samples, samples)


def test_each_filter_is_chosen_where_it_is_best():
    rng = np.random.default_rng(1)
    above, small = rng.integers(0, 256, (40, 6)), rng.integers(-2, 2, (40, 6))
    for number in range(5):
        row = np.zeros((40, 6), np.int64)
        for x in range(40):
            left, corner = (row[x - 1], above[x - 1]) if x else (row[0], row[0])
            near = [
                min(around, key=lambda level: abs(sum(around[:2]) - around[2] - level))
                for around in zip(left.tolist(), above[x].tolist(), corner.tolist(), strict=True)
            ]
            guess = (np.zeros(6, int), left, above[x], (left + above[x]) // 2, near)[number]
            row[x] = (np.asarray(guess) + small[x]) % 256
        rows = [each.astype(np.uint8).reshape(1, -1) for each in (row, above)]
        filtered = deep._filtered(*rows, 6)
        assert filtered[0, 0] == number
        np.testing.assert_array_equal(filtered[0, 1:].view(np.int8), small.ravel())


def test_interlaced_deep_colours_are_read():
    """A file of 1x1 pixels per pass: the second pass holds the pixel at column 4."""
    pixels = (np.arange(8 * 3) * 2500).astype(">u2").reshape(1, 8, 3)
    passes = [
        pixels[:, at] for at in (slice(0, 1), slice(4, 5), slice(2, None, 4), slice(1, None, 2))
    ]
    head = struct.pack(">IIBBBBB", 8, 1, 16, 2, 0, 0, 1)
    body = zlib.compress(b"".join(b"\0" + each.tobytes() for each in passes))
    data = joined([(b"IHDR", head), (b"IDAT", body), (b"IEND", b"")])
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, pixels)


def test_others_read_the_metadata():
    resolution = Resolution(Fraction(2835), Fraction(2835), "metre")
    text = (("Title", "plain"), ("Author", "Łukasz"))
    metadata = Metadata(b"profile", EXIF, b"<x/>", resolution, text)
    with Image.open(io.BytesIO(pictures.to_bytes(Picture(GRAY, 8, metadata), "png"))) as image:
        image.load()
        assert image.info["icc_profile"] == b"profile"
        assert image.info["exif"].removeprefix(b"Exif\0\0") == EXIF
        assert image.info["dpi"] == pytest.approx((72, 72), abs=0.1)
        assert image.text["XML:com.adobe.xmp"] == "<x/>"
        assert {key: image.text[key] for key in ("Title", "Author")} == dict(text)


def test_reads_the_metadata_of_others():
    packed = b"Note\0\0" + zlib.compress(b"na\xefve")
    international = b"Key\0\1\0en\0Name\0" + zlib.compress("€".encode())
    data = png_of(
        (1, 1, 8, 0),
        [
            (b"iCCP", b"any name\0\0" + zlib.compress(b"profile")),
            (b"pHYs", struct.pack(">IIB", 3, 2, 0)),
            (b"zTXt", packed),
            (b"iTXt", international),
            (b"tEXt", b"Raw\0x\xe9"),
            (b"eXIf", b"Exif\0\0" + EXIF),
            rows_of([0]),
        ],
    )
    assert pictures.from_bytes(data).metadata == Metadata(
        b"profile",
        EXIF,
        b"",
        Resolution(Fraction(3), Fraction(2), "none"),
        (("Note", "naïve"), ("Key", "€"), ("Raw", "xé")),
    )


def test_shapes_of_pixels_are_whole_numbers():
    for shape, stored in (
        ((Fraction(1, 2), Fraction(1, 3)), (3, 2)),
        ((Fraction(4), Fraction(6)), (4, 6)),
    ):
        picture = Picture(GRAY, 8, Metadata(resolution=Resolution(*shape, "none")))
        found = pictures.from_bytes(pictures.to_bytes(picture, "png")).metadata.resolution
        assert found == Resolution(*map(Fraction, stored), "none")
    assert pictures.lost(picture, "png") == ()


def test_packed_metadata_are_bounded():
    bomb = zlib.compress(bytes(MAX_METADATA + 1))
    half = zlib.compress(bytes(MAX_METADATA // 2 + 1))
    assert len(bomb) < 70000
    for chunks in (
        [(b"iCCP", b"p\0\0" + bomb)],
        [(b"zTXt", b"k\0\0" + bomb)],
        [(b"iTXt", b"k\0\1\0\0\0" + bomb)],
        [(b"zTXt", b"k\0\0" + half)] * 2,
    ):
        with pytest.raises(PictureError, match="x: holds metadata of more than 67108864 bytes"):
            pictures.from_bytes(png_of((1, 1, 8, 0), [*chunks, rows_of([0])]), "x")


LARGER = b"IHDR", struct.pack(">IIBBBBB", 12000, 12000, 8, 0, 0, 0, 0)
SAMPLES = rows_of([0])
PACKED = b"k\0\0" + zlib.compress(b"abc")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (png_of((0, 4, 8, 0), [SAMPLES]), "is 0x4, a picture without pixels"),
        (png_of((1, 1, 3, 0), [SAMPLES]), "colour type 0 with 3 bits"),
        (png_of((1, 1, 16, 3), [GRAYS, SAMPLES]), "colour type 3 with 16 bits"),
        (png_of((1, 1, 8, 5), [SAMPLES]), "colour type 5 with 8 bits"),
        (png_of((1, 1, 8, 3), [SAMPLES]), "its palette is missing or cut off"),
        (png_of((1, 1, 8, 3), [GRAYS, rows_of([2])]), "uses colour 2 of a palette of 2 colours"),
        (png_of((1, 1, 8, 3), [GRAYS, (b"tRNS", bytes(3)), SAMPLES]), "tRNS has 3 entries for 2"),
        (png_of((1, 1, 8, 0), [(b"tRNS", b"\0"), SAMPLES]), "tRNS has 1 bytes, not 2"),
        (png_of((1, 1, 8, 0), [LARGER, SAMPLES]), "is damaged or truncated: has two chunks IHDR"),
        (png_of((1, 1, 8, 0), []), "is damaged or truncated: "),
        (png_of((40000, 40000, 8, 0), [SAMPLES]), "40000x40000: 1600000000 samples, the limit is"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "x00.x00 at byte 8 has a wrong checksum"),
        (b"\x89PNG\r\n\x1a\n", "ends at byte 8 before the chunk IEND"),
        (png_of((1, 1, 8, 0), [SAMPLES]).replace(b"IDAT", b"IDAt"), "IDAt at byte 33 has a wrong"),
        (png_of((1, 1, 8, 0), [SAMPLES])[:50], "the chunk IDAT at byte 33 is cut off"),
    ],
)  # fmt: skip
def test_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: .*{says}"):
        pictures.from_bytes(data, "x")


@pytest.mark.parametrize(
    ("kind", "contents", "key", "says"),
    [
        (b"pHYs", b"\0", "damaged resolution", "pHYs has 1 bytes, 9 are needed"),
        (b"tEXt", b"key", "damaged text", "the chunk tEXt lacks a field"),
        (b"iTXt", b"k\0\0\0\0\0\xff", "damaged text", "invalid start byte"),
        (b"zTXt", PACKED[:-4], "damaged text", "compressed metadata end early"),
        (b"zTXt", b"k\0\0abc", "damaged text", "incorrect header check"),
        (b"iCCP", b"k\0\0abc", "damaged profile", "incorrect header check"),
        (b"eXIf", b"MM\0*", "damaged exif", "unpack"),
        (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0\xff", "damaged xmp", "no UTF-8 at byte 0"),
    ],
)
def test_damaged_side_information_costs_no_samples(kind, contents, key, says):
    good = (b"tEXt", b"Title\0hello")
    data = png_of((1, 1, 8, 0), [(kind, contents), good, rows_of([77])])
    with pytest.warns(PictureWarning, match=rf"^x: has .*(?i:{key.split()[1]}).*{says}") as said:
        found = pictures.from_bytes(data, "x")
    assert found.samples.tolist() == [[77]]
    assert found.metadata == Metadata(text=(("Title", "hello"),))
    assert [each.message.left_out for each in said] == [(key,)]
    with pytest.raises(PictureError, match="strict reading refuses"):
        pictures.from_bytes(data, "x", strict=True)


@pytest.mark.parametrize(
    ("kind", "key"),
    [(b"tEXt", "text"), (b"iCCP", "profile"), (b"gAMA", "colours"), (b"tIME", "chunk")],
)
def test_a_wrong_checksum_costs_only_its_chunk(kind, key):
    data = png_of((1, 1, 8, 0), [(kind, b"abcd\0efg"), rows_of([77])])
    data = data.replace(b"abcd", b"abcx")
    with pytest.warns(PictureWarning, match="at byte 33 has a wrong checksum") as said:
        found = pictures.from_bytes(data, "x")
    assert found.samples.tolist() == [[77]]
    assert found.metadata == Metadata()
    assert said[0].message.left_out == (f"damaged {key}",)


def test_a_wrong_checksum_of_transparency_is_refused():
    data = png_of((1, 1, 8, 0), [(b"tRNS", b"\0\7"), SAMPLES]).replace(b"\0\7", b"\0\6")
    with pytest.raises(PictureError, match="tRNS at byte 33 has a wrong checksum"):
        pictures.from_bytes(data, "x")
