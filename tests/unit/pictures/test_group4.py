"""Gray of 1 bit in TIFF and PDF: CCITT Group 4, alone and as pages of a book."""

import io
from fractions import Fraction

import numpy as np
import pytest
import tifffile
from PIL import Image
from support.books import book, noisy

from mmpcodec import PictureWarning, pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture
from mmpcodec.pictures.book_files import multipage_tiff
from mmpcodec.pictures.book_files.writing import write_book
from mmpcodec.pictures.exif import with_orientation

PAGE = np.random.default_rng(1).integers(0, 2, (31, 45), np.uint8)


def written(pages, format):
    """A file of these pages, and what it loses."""
    stream = io.BytesIO()
    lost = write_book(book(pages), stream, format)
    return stream.getvalue(), lost


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (64, 8), (37, 45)])
@pytest.mark.parametrize("white", [0, 0.1, 0.9, 1])
def test_group_4_keeps_pixels_and_resolution(shape, white):
    samples = (np.random.default_rng(1).random(shape) < white).astype(np.uint8)
    dpi = Resolution(Fraction(300), Fraction(200), "inch")
    metadata = Metadata(resolution=dpi, text=(("Title", "page"),))
    data = pictures.to_bytes(Picture(samples, 1, metadata), "tif")
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        page = file.pages[0]
        assert (page.compression, page.photometric, len(page.dataoffsets)) == (4, 0, 1)
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image), samples)
        assert image.info["dpi"] == (300, 200)
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, samples)
    assert (found.depth, found.metadata) == (1, metadata)


def test_without_libtiff_1_bit_is_not_compressed_and_this_is_said(monkeypatch):
    monkeypatch.setattr("PIL.features.check", lambda feature: False)
    with pytest.warns(PictureWarning, match="without libtiff, so TIFF is written without Group 4"):
        data = pictures.to_bytes(Picture(PAGE, 1), "tif")
    with Image.open(io.BytesIO(data)) as image:
        assert (image.mode, image.info["compression"]) == ("1", "raw")
        np.testing.assert_array_equal(np.asarray(image), PAGE)


@pytest.mark.parametrize("classic", [True, False])
def test_pages_of_1_bit_of_a_tiff_keep_their_exif(monkeypatch, classic):
    exif = with_orientation(b"", 6)
    pages = [
        noisy((20, 30), 8, 1, exif=exif),
        noisy((21, 33), 1, 2, exif=exif),
        noisy((9, 1), 1, 3),
    ]
    if not classic:
        monkeypatch.setattr(multipage_tiff, "MOST_CLASSIC", 0)
    data, lost = written(pages, "tif")
    assert lost == {}
    found = [pictures.from_bytes(data, page=page) for page in (1, 2, 3)]
    for one, wanted in zip(found, pages, strict=True):
        np.testing.assert_array_equal(one.samples, wanted.samples)
        assert (one.depth, one.metadata.exif) == (wanted.depth, wanted.metadata.exif)


@pytest.mark.parametrize(("format", "title"), [("tif", "TIFF"), ("pdf", "PDF")])
def test_without_libtiff_pages_of_1_bit_are_larger_and_this_is_said(monkeypatch, format, title):
    if format == "pdf":
        pytest.importorskip("pikepdf")
        pytest.importorskip("pypdfium2")
    monkeypatch.setattr("PIL.features.check", lambda feature: False)
    page = noisy((31, 45), 1, 2)
    said = f"book.*: Pillow was built without libtiff, so {title} is written without Group 4 and"
    with pytest.warns(PictureWarning, match=said):
        data, _ = written([page], format)
    monkeypatch.undo()
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, page.samples)
    assert found.depth == 1
