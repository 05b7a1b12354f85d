"""PDF files: pages that are an image give its samples, other pages are rendered."""

import io
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms
from support.picture_files import PDF_BOX as BOX
from support.picture_files import PDF_IMAGE as IMAGE
from support.picture_files import form_of, image_of, page_of, pdf_of

from mmpcodec import DecodeLimits, PictureWarning, pictures
from mmpcodec.errors import MissingExtra, ParameterError, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.tiff import group4

pytest.importorskip("pypdfium2")

RNG = np.random.default_rng(4)
GRAY = RNG.integers(0, 256, (6, 8), np.uint8)
COLOUR = RNG.integers(0, 256, (6, 8, 3), np.uint8)
DEEP = RNG.integers(0, 65536, (6, 8), np.uint16)
BITS = RNG.integers(0, 2, (6, 8), np.uint8)
SMOOTH = np.add.outer(np.arange(48), 3 * np.arange(64)).astype(np.uint8)


def gray_image(samples=GRAY, **options):
    height, width = samples.shape
    return image_of(width, height, "/DeviceGray", 8, samples.tobytes(), **options)


def packed(samples, bits):
    """Samples as PDF packs them, each row in whole bytes."""
    rows = samples.reshape(len(samples), -1)
    single = (rows[..., None] >> np.arange(bits)[::-1] & 1).reshape(len(rows), -1)
    return np.packbits(single.astype(np.uint8), axis=1).tobytes()


def only(data, name="x", **options):
    with opened_book(data, name, **options) as book:
        assert (len(book), book.role) == (1, Role.PAGE)
        return book.read(0)


@pytest.mark.parametrize(
    ("image", "samples", "depth"),
    [
        (gray_image(), GRAY, 8),
        (image_of(8, 6, "/DeviceGray", 16, DEEP.astype(">u2").tobytes()), DEEP, 16),
        (image_of(8, 6, "/DeviceGray", 4, packed(GRAY >> 4, 4)), GRAY >> 4, 4),
        (image_of(8, 6, "/DeviceGray", 2, packed(GRAY >> 6, 2)), GRAY >> 6, 2),
        (image_of(8, 6, "/DeviceGray", 1, packed(BITS, 1)), BITS, 1),
        (image_of(8, 6, "/DeviceGray", 1, packed(BITS, 1), more="/Decode[1 0]"), 1 - BITS, 1),
        (gray_image(more="/Decode[1 0]"), 255 - GRAY, 8),
        (image_of(8, 6, "/DeviceRGB", 8, COLOUR.tobytes()), COLOUR, 8),
        (image_of(5, 6, "/DeviceRGB", 4, packed(COLOUR[:, :5] >> 4, 4)), COLOUR[:, :5] >> 4, 4),
        (
            image_of(8, 6, "[/Indexed/DeviceRGB 1<ff0000 00ff40>]", 1, packed(BITS, 1)),
            np.array([[255, 0, 0], [0, 255, 64]], np.uint8)[BITS],
            8,
        ),
    ],
)
def test_a_page_that_is_an_image_gives_its_samples(image, samples, depth):
    found = only(page_of(image))
    assert found.depth == depth
    np.testing.assert_array_equal(found.samples, samples)
    dpi = found.samples.shape[1] * 72 / 40
    assert float(found.metadata.resolution.x) == pytest.approx(dpi, rel=1e-4)
    assert found.metadata.resolution.unit == "inch"


def test_a_stencil_gives_its_samples():
    entries = "/ImageMask true/Decode[0 1]"
    image = image_of(8, 6, " null", 1, packed(BITS, 1), more=entries)
    found = only(page_of(image.replace(b"/ColorSpace null", b"")))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, BITS)


PAGE = np.random.default_rng(5).choice(2, (45, 37), p=[0.1, 0.9]).astype(np.uint8)
FAX = "/DecodeParms<</K -1/Columns 37/Rows 45{}>>"
PNG_ROWS = "/DecodeParms<</Predictor 15/Colors 1/BitsPerComponent 1/Columns 37>>"
INVERTED = "/Decode[1 0]"


def fax_of(samples):
    """Samples by Group 4, in which ink is 0."""
    return group4.encoded(samples, "x", "PDF")


def jbig2_of(samples):
    """Samples by JBIG2: a page with one generic region, which Group 4 codes; ink is 0.

    Source: ITU-T T.88, 7.2, 7.4.6 and 7.4.8.
    """
    height, width = samples.shape
    page = struct.pack(">IIIIBH", width, height, 0, 0, 0, 0)
    region = struct.pack(">IIIIBB", width, height, 0, 0, 0, 1) + fax_of(samples)
    segments = enumerate(((48, page), (38, region)))
    return b"".join(
        struct.pack(">IBBBI", number, kind, 0, 1, len(data)) + data
        for number, (kind, data) in segments
    )


def png_rows(samples):
    """Samples by Flate, with a byte for the predictor before each row."""
    rows = np.packbits(samples, axis=1)
    return zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes())


@pytest.mark.parametrize("stencil", [False, True])
@pytest.mark.parametrize("white", ["some", "none", "all"])
@pytest.mark.parametrize(
    ("coded", "kind", "more", "inverted"),
    [
        (fax_of, "CCITTFaxDecode", FAX.format(""), False),
        (fax_of, "CCITTFaxDecode", "/DecodeParms<</K -1/Columns 37>>", False),
        (fax_of, "CCITTFaxDecode", FAX.format("/BlackIs1 true"), True),
        (fax_of, "CCITTFaxDecode", FAX.format("") + INVERTED, True),
        (fax_of, "CCITTFaxDecode", FAX.format("/BlackIs1 true") + INVERTED, False),
        (jbig2_of, "JBIG2Decode", "", False),
        (jbig2_of, "JBIG2Decode", INVERTED, True),
        (lambda samples: zlib.compress(packed(samples, 1)), "FlateDecode", "", False),
        (lambda samples: zlib.compress(packed(samples, 1)), "FlateDecode", INVERTED, True),
        (png_rows, "FlateDecode", PNG_ROWS, False),
    ],
)
def test_scans_of_1_bit_keep_it(coded, kind, more, inverted, white, stencil):
    shown = {"some": PAGE, "none": 0 * PAGE, "all": 0 * PAGE + 1}[white]
    stored = coded(1 - shown if inverted else shown)
    space = " null" if stencil else "/DeviceGray"
    image = image_of(37, 45, space, 1, stored, kind, more + "/ImageMask true" * stencil)
    found = only(page_of(image.replace(b"/ColorSpace null", b"")))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, shown)


def test_gray_of_two_levels_stays_of_8_bits():
    found = only(page_of(gray_image(255 * PAGE)))
    assert found.depth == 8
    np.testing.assert_array_equal(found.samples, 255 * PAGE)


def test_jpeg_is_decoded_by_the_library():
    for samples, space in (
        (SMOOTH, "/DeviceGray"),
        (np.dstack([SMOOTH, SMOOTH[::-1], SMOOTH]), "/DeviceRGB"),
    ):
        data = pictures.to_bytes(samples, "jpg")
        found = only(page_of(image_of(64, 48, space, 8, data, "DCTDecode")))
        np.testing.assert_array_equal(found.samples, pictures.from_bytes(data).samples)


def test_ccitt_and_jpeg_2000():
    stream = io.BytesIO()
    Image.fromarray(BITS.astype(bool)).save(stream, "TIFF", compression="group4")
    with Image.open(io.BytesIO(stream.getvalue())) as file:
        place, size = (file.tag_v2[tag][0] for tag in (273, 279))
        black = file.tag_v2[262] == 1
    data = stream.getvalue()[place : place + size]
    more = f"/DecodeParms<</K -1/Columns 8/Rows 6/BlackIs1 {'true' if black else 'false'}>>"
    found = only(page_of(image_of(8, 6, "/DeviceGray", 1, data, "CCITTFaxDecode", more)))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, BITS)
    codec = pytest.importorskip("imagecodecs")
    data = codec.jpeg2k_encode(SMOOTH, level=0, reversible=True)
    found = only(page_of(image_of(64, 48, "/DeviceGray", 8, data, "JPXDecode")))
    np.testing.assert_array_equal(found.samples, SMOOTH)


def test_a_profile_is_kept_with_its_samples():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    space = b"<</N 3/Filter/FlateDecode/Length %d>>stream\n%b\nendstream"
    packed_profile = zlib.compress(profile)
    other = space % (len(packed_profile), packed_profile)
    image = image_of(8, 6, "[/ICCBased 4 0 R]", 8, COLOUR.tobytes())
    found = only(page_of(image, IMAGE, BOX, other))
    np.testing.assert_array_equal(found.samples, COLOUR)
    assert found.metadata.icc == profile


@pytest.mark.parametrize(
    ("matrix", "turn"),
    [
        ("40 0 0 30 0 0", lambda samples: samples),
        ("-40 0 0 30 40 0", lambda samples: samples[:, ::-1]),
        ("40 0 0 -30 0 30", lambda samples: samples[::-1]),
        ("-40 0 0 -30 40 30", lambda samples: np.rot90(samples, 2)),
        ("0 30 -40 0 40 0", lambda samples: np.rot90(samples, 1)),
        ("0 -30 40 0 0 30", lambda samples: np.rot90(samples, -1)),
        ("0 30 40 0 0 0", lambda samples: np.rot90(samples[:, ::-1], -1)),
        ("0 -30 -40 0 40 30", lambda samples: np.rot90(samples[:, ::-1], 1)),
    ],
)
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_turned_images_and_pages(matrix, turn, turned):
    contents = f"q {matrix} cm /I Do Q".encode()
    found = only(page_of(gray_image(), contents, f"{BOX}/Rotate {turned}"))
    wanted = np.rot90(turn(GRAY), -turned // 90)
    np.testing.assert_array_equal(found.samples, wanted)
    sides = (40, 30) if turned % 180 == 0 else (30, 40)
    resolution = found.metadata.resolution
    assert float(resolution.x) == pytest.approx(wanted.shape[1] * 72 / sides[0], rel=1e-3)
    assert float(resolution.y) == pytest.approx(wanted.shape[0] * 72 / sides[1], rel=1e-3)


def test_an_image_in_a_form_and_in_a_cropped_page():
    form = form_of(
        b"q 20 0 0 10 0 0 cm /I Do Q", "/BBox[0 0 20 10]/Resources<</XObject<</I 3 0 R>>>>"
    )
    contents = b"q 2 0 0 3 5 7 cm /F Do Q"
    data = pdf_of(
        [("/MediaBox[0 0 60 50]/CropBox[5 7 45 37]", contents, "/XObject<</F 4 0 R>>")],
        [gray_image(), form],
    )
    np.testing.assert_array_equal(only(data).samples, GRAY)


FONT = "/XObject<</I 3 0 R>>/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"


def test_invisible_text_beside_an_image_is_said():
    contents = IMAGE + b" BT 3 Tr /F 9 Tf 2 2 Td (words) Tj ET"
    data = pdf_of([(BOX, contents, FONT)], [gray_image()])
    with pytest.warns(PictureWarning, match="x: has invisible text") as said:
        found = only(data)
    assert said[0].message.left_out == ("text layer",)
    np.testing.assert_array_equal(found.samples, GRAY)


NOTE = b"<</Type/Annot/Subtype/Square/Rect[5 5 7 7]/C[1 0 0]/IC[1 0 0]/F 4>>"


@pytest.mark.parametrize(
    "data",
    [
        pdf_of([(BOX, IMAGE + b" BT /F 9 Tf 2 2 Td (words) Tj ET", FONT)], [gray_image()]),
        page_of(gray_image(), IMAGE + b" 1 0 0 rg 3 3 9 9 re f"),
        page_of(gray_image(), IMAGE + b" q 10 0 0 10 0 0 cm /I Do Q"),
        page_of(gray_image(), b"q 30 0 0 30 0 0 cm /I Do Q"),
        page_of(gray_image(), b"q 39 3 -3 29 1 0 cm /I Do Q"),
        page_of(gray_image(), b"q 0 0 20 30 re W n 40 0 0 30 0 0 cm /I Do Q"),
        page_of(gray_image(more="/SMask 4 0 R"), IMAGE, BOX, gray_image(GRAY[:3])),
        page_of(gray_image(more="/SMask 4 0 R"), IMAGE, BOX, gray_image(GRAY, more="/Matte[0]")),
        page_of(
            gray_image(more="/SMask 4 0 R"),
            b"q 0 0 20 30 re W n 40 0 0 30 0 0 cm /I Do Q",
            BOX,
            gray_image(GRAY | 128),
        ),
        page_of(gray_image(more="/Mask[0 120]")),
        page_of(gray_image(), IMAGE, BOX + "/Annots[4 0 R]", NOTE),
        pdf_of([(BOX, b"1 0 0 rg 3 3 9 9 re f", "")]),
        pdf_of([(BOX, b"", "")]),
    ],
    ids=[
        "text", "drawing", "two images", "smaller", "slanted", "clipped", "smaller soft mask",
        "mixed soft mask", "clipped soft mask", "mask of colours", "note", "no image", "blank",
    ],
)  # fmt: skip
def test_other_pages_are_rendered_and_said(data):
    with pytest.warns(PictureWarning, match=r"x: is more .* rendered \(at 72 dpi\)") as said:
        found = only(data, dpi=72)
    assert said[0].message.left_out == ("rendered",)
    assert found.samples.shape[:2] == (30, 40)
    assert (found.depth, found.metadata.resolution.x, found.metadata.resolution.y) == (8, 72, 72)


def test_rendered_pages_show_what_is_drawn():
    data = pdf_of(
        [(BOX, b"1 0 0 rg 0 0 20 30 re f", ""), (BOX + "/Rotate 90", b"0 g 0 0 40 15 re f", "")]
    )
    with warnings.catch_warnings(record=True), opened_book(data, dpi=144) as book:
        warnings.simplefilter("always")
        red, gray = (page.samples for page in book)
    assert red.shape == (60, 80, 3)
    assert red[30, 10].tolist() == [255, 0, 0]
    assert red[30, 70].tolist() == [255, 255, 255]
    assert gray.shape == (80, 60)
    assert (gray[40, 10], gray[40, 50]) == (0, 255)


def test_scans_of_pages_in_points_that_are_no_integers():
    # A page of A4 in 1 bit, a tenth of its size: noise would not survive another grid.
    bits = RNG.integers(0, 2, (351, 248), np.uint8)
    image = image_of(248, 351, "/DeviceGray", 1, packed(bits, 1))
    contents = b"q 59.52 0 0 84.192 0 0 cm /I Do Q"
    found = only(page_of(image, contents, "/MediaBox[0 0 59.52 84.192]"))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, bits)
    with pytest.warns(PictureWarning, match="rendered"):
        found = only(pdf_of([("/MediaBox[0 0 595.2 841.92]", b"", "")]), dpi=300)
    assert found.samples.shape == (3508, 2480)


def test_a_mask_of_a_few_pixels_counts():
    mask = np.full((60, 80), 255, np.uint8)
    mask[5, 7] = 0
    image = gray_image(np.full((60, 80), 9, np.uint8), more="/SMask 4 0 R")
    found = only(page_of(image, IMAGE, BOX, gray_image(mask)))
    np.testing.assert_array_equal(found.samples[..., 1], mask)
    assert (found.samples[..., 0] == 9).all()


ALPHA = np.array([[0, 255, 128, 77, 200, 255, 1, 254]] * 6, np.uint8)
DEEP_ALPHA = RNG.integers(0, 65536, (6, 8), np.uint16)


@pytest.mark.parametrize(
    ("image", "mask", "samples", "depth"),
    [
        (gray_image(more="/SMask 4 0 R"), gray_image(ALPHA), np.dstack([GRAY, ALPHA]), 8),
        (
            image_of(8, 6, "/DeviceRGB", 8, COLOUR.tobytes(), more="/SMask 4 0 R"),
            gray_image(255 - ALPHA, more="/Decode[1 0]"),
            np.dstack([COLOUR, ALPHA]),
            8,
        ),
        (
            image_of(8, 6, "/DeviceGray", 16, DEEP.astype(">u2").tobytes(), more="/SMask 4 0 R"),
            image_of(8, 6, "/DeviceGray", 16, DEEP_ALPHA.astype(">u2").tobytes()),
            np.dstack([DEEP, DEEP_ALPHA]),
            16,
        ),
        (
            image_of(8, 6, "/DeviceGray", 1, packed(BITS, 1), more="/SMask 4 0 R"),
            gray_image(ALPHA),
            np.dstack([BITS * 255, ALPHA]),
            8,
        ),
        (
            image_of(8, 6, "/DeviceGray", 1, packed(BITS, 1), more="/SMask 4 0 R"),
            image_of(8, 6, "/DeviceGray", 1, packed(BITS[::-1], 1)),
            np.dstack([BITS, BITS[::-1]]),
            1,
        ),
        (
            gray_image(more="/Mask 4 0 R"),
            image_of(8, 6, " null", 1, packed(BITS, 1), more="/ImageMask true").replace(
                b"/ColorSpace null", b""
            ),
            np.dstack([GRAY, 255 * (1 - BITS)]),
            8,
        ),
        (
            gray_image(more="/SMask 4 0 R"),
            gray_image(np.full_like(GRAY, 255)),
            np.dstack([GRAY, np.full_like(GRAY, 255)]),
            8,
        ),
    ],
    ids=["gray", "inverted", "deep", "8 and 1 bit", "1 bit", "stencil", "opaque"],
)
@pytest.mark.parametrize("turned", [0, 90])
def test_soft_masks_are_alpha(image, mask, samples, depth, turned):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = only(page_of(image, IMAGE, f"{BOX}/Rotate {turned}", mask))
    assert found.depth == depth
    np.testing.assert_array_equal(found.samples, np.rot90(samples, -turned // 90))


def test_alpha_of_pages_in_a_form_and_of_written_files():
    form = form_of(
        b"q 20 0 0 10 0 0 cm /I Do Q", "/BBox[0 0 20 10]/Resources<</XObject<</I 3 0 R>>>>"
    )
    data = pdf_of(
        [("/MediaBox[0 0 40 30]", b"q 2 0 0 3 0 0 cm /F Do Q", "/XObject<</F 5 0 R>>")],
        [gray_image(more="/SMask 4 0 R"), gray_image(ALPHA), form],
    )
    np.testing.assert_array_equal(only(data).samples, np.dstack([GRAY, ALPHA]))
    jpeg = pictures.to_bytes(SMOOTH, "jpg")
    image = image_of(64, 48, "/DeviceGray", 8, jpeg, "DCTDecode", "/SMask 4 0 R")
    mask = image_of(64, 48, "/DeviceGray", 8, jpeg, "DCTDecode")
    decoded = pictures.from_bytes(jpeg).samples
    found = only(page_of(image, IMAGE, BOX, mask)).samples
    np.testing.assert_array_equal(found, np.dstack([decoded, decoded]))


def test_masks_that_unpack_to_more_than_they_are_take_little_memory():
    bomb = image_of(8, 6, "/DeviceGray", 8, bytes(1 << 27))
    form = form_of(IMAGE, "/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R/I 3 0 R>>>>")
    data = pdf_of(
        [(BOX, IMAGE, "/XObject<</I 3 0 R/F 5 0 R>>")],
        [gray_image(more="/SMask 4 0 R"), bomb, form],  # the form holds itself
    )
    tracemalloc.start()
    try:
        with pytest.warns(PictureWarning, match="rendered"):
            only(data, dpi=72)
        assert (only(page_of(bomb)).samples == 0).all()  # what follows the image is not copied
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_without_pikepdf_pages_with_alpha_are_rendered(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pikepdf", None)
    data = page_of(gray_image(more="/SMask 4 0 R"), IMAGE, BOX, gray_image(ALPHA))
    with pytest.warns(PictureWarning, match="rendered"):
        assert only(data).planes == 1
    np.testing.assert_array_equal(only(page_of(gray_image())).samples, GRAY)


def test_black_and_white_of_a_palette_stays_of_one_bit():
    space = "[/Indexed/DeviceGray 1<ff00>]"
    found = only(page_of(image_of(8, 6, space, 1, packed(BITS, 1))))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, 1 - BITS)


def test_cmyk_is_converted_and_said():
    ink = np.zeros((6, 8, 4), np.uint8)
    ink[:, :4, 0], ink[:, 4:, 3] = 255, 255
    with pytest.warns(PictureWarning, match="CMYK colours, which are converted to RGB"):
        found = only(page_of(image_of(8, 6, "/DeviceCMYK", 8, ink.tobytes())))
    assert found.samples.shape == (6, 8, 3)
    assert found.samples[:, 4:].max() < 60
    assert found.samples[0, 0, 0] < 60 < found.samples[0, 0, 2]


def test_the_default_is_300_dpi():
    data = pdf_of([("/MediaBox[0 0 72 36]", b"", "")])
    with pytest.warns(PictureWarning, match="at 300 dpi"):
        assert pictures.from_bytes(data).samples.shape == (150, 300)


def test_pages_are_read_one_at_a_time(tmp_path):
    names = [f"/XObject<</I {3 + number} 0 R>>" for number in range(3)]
    images = [gray_image(GRAY + number) for number in range(3)]
    path = tmp_path / "book.pdf"
    path.write_bytes(pdf_of([(BOX, IMAGE, name) for name in names], images))
    with opened_book(path) as book:
        assert len(book) == 3
        for number in (2, 0, 1):
            np.testing.assert_array_equal(book.read(number).samples, GRAY + number)
            found = pictures.read(path, page=number + 1)
            np.testing.assert_array_equal(found.samples, GRAY + number)
    with pytest.raises(PictureError, match="holds 3 pages; --page N"):
        pictures.read(path)


def test_texts_of_a_file_are_kept():
    pages = [(BOX, IMAGE, "/XObject<</I 3 0 R>>")]
    data = pdf_of(pages, [gray_image(), b"<</Title(A b)>>"], b"/Info 4 0 R")
    assert only(data).metadata.text == (("Title", "A b"),)


def test_limits_hold_before_samples_are_made():
    limits = DecodeLimits(max_samples=40)
    with pytest.raises(PictureError, match="x: is 8x6: 48 samples, the limit is 40"):
        only(page_of(gray_image()), limits=limits)
    blank = pdf_of([("/MediaBox[0 0 14400 14400]", b"", "")])
    with pytest.raises(PictureError, match=r"x: is 60000x60000: .* the limit is"):
        only(blank)


@pytest.mark.parametrize("dpi", [0, 4801, 1.5])
def test_wrong_dpi(dpi):
    with pytest.raises(ParameterError, match="dpi = "):
        opened_book(page_of(gray_image()), dpi=dpi)


def test_damage_and_passwords_are_named():
    data = page_of(gray_image())
    for broken in (data[:40], b"%PDF-1.7\n" + bytes(99)):
        with pytest.raises(PictureError, match=r"^a\.pdf: is damaged or truncated"):
            opened_book(broken, "a.pdf")
    two = pdf_of([(BOX, IMAGE, "/XObject<</I 3 0 R>>")] * 2, [gray_image()])
    with opened_book(two.replace(b"Kids[5 0 R", b"Kids[9 0 R"), "a.pdf") as book:
        with pytest.raises(PictureError, match=r"^a\.pdf: page 1: is damaged"):
            book.read(0)
        np.testing.assert_array_equal(book.read(1).samples, GRAY)
    pikepdf = pytest.importorskip("pikepdf")
    stream = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as file:
        file.save(stream, encryption=pikepdf.Encryption(user="secret", owner="other"))
    with pytest.raises(PictureError, match=r"^a\.pdf: is protected by a password; save a copy"):
        opened_book(stream.getvalue(), "a.pdf")


def test_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtra, match=r"x: PDF needs pypdfium2; .*\[pdf\]"):
        opened_book(page_of(gray_image()), "x")
