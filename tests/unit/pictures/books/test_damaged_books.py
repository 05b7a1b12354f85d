"""Damaged and cut files of several pictures give pictures, or errors that name the file."""

import contextlib
import io
import warnings

import numpy as np
import pytest
import tifffile
from PIL import Image, features
from support.picture_files import COLOUR, GRAY, PDF_BOX, PDF_IMAGE, image_of, nifti_of, pdf_of

from mmpcodec import DecodeLimits, PictureWarning
from mmpcodec.errors import MissingExtra, PictureError
from mmpcodec.pictures.books.opening import opened_book

FRAMES = [np.roll(np.tile(COLOUR, (3, 3, 1)), step, axis=1) for step in range(3)]


def animation(format, **options):
    stream = io.BytesIO()
    first, *others = map(Image.fromarray, FRAMES)
    first.save(stream, format, save_all=True, append_images=others, duration=50, **options)
    return stream.getvalue()


def npy():
    stream = io.BytesIO()
    np.save(stream, np.stack([GRAY] * 3))
    return stream.getvalue()


def tiff(**options):
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream) as writer:
        for frame in FRAMES:
            writer.write(frame, photometric="rgb", metadata=None, **options)
    return stream.getvalue()


def pdf():
    height, width = GRAY.shape
    image = image_of(width, height, "/DeviceGray", 8, GRAY.tobytes())
    text = "/XObject<</I 3 0 R>>"
    return pdf_of([(PDF_BOX, PDF_IMAGE, text), (PDF_BOX, b"3 3 9 9 re f", text)], [image])


BOOKS = {
    "gif": animation("GIF"),
    "png": animation("PNG"),
    "webp": animation("WEBP", lossless=True),
    "tiff": tiff(),
    "tiff deflate": tiff(compression="deflate"),
    "npy": npy(),
    "pdf": pdf(),
}
if features.check("avif"):
    BOOKS["avif"] = animation("AVIF")
with contextlib.suppress(ImportError):
    BOOKS["nifti"] = nifti_of(np.stack([GRAY] * 3, axis=2))


def read_all(data):
    """Read all pages; return their number and the errors."""
    errors, count = [], 0
    limits = DecodeLimits(1 << 20, 1 << 11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PictureWarning)
        try:
            book = opened_book(data, "x", limits=limits, dpi=72)
        except MissingExtra as error:
            pytest.skip(str(error))
        except PictureError as error:
            return 0, [str(error)]
        with book:
            for number in range(min(book.count, 20)):
                try:
                    picture = book.read(number)
                except PictureError as error:
                    errors.append(str(error))
                else:
                    count += 1
                    assert picture.samples.size <= 4 << 20
                    assert len(book.facts_of(number)) <= 2
    return count, errors


@pytest.mark.parametrize("kind", BOOKS)
def test_damage_gives_pictures_or_named_errors(kind):
    rng = np.random.default_rng(sorted(BOOKS).index(kind))
    whole, errors = read_all(BOOKS[kind])
    assert (whole, errors) == ((2 if kind == "pdf" else 3), [])
    for number in range(80):
        data = bytearray(BOOKS[kind])
        end = len(data) if number % 2 else min(len(data), 300)
        for place in rng.integers(0, end, rng.integers(1, 4)):
            data[place] = rng.choice([0, 1, 127, 255, rng.integers(256)])
        _, errors = read_all(bytes(data))
        assert all(error.startswith("x: ") and "\n" not in error for error in errors)


@pytest.mark.parametrize("kind", BOOKS)
def test_cut_files_give_pictures_or_named_errors(kind):
    data = BOOKS[kind]
    whole, _ = read_all(data)
    for length in range(1, len(data), max(1, len(data) // 60)):
        count, errors = read_all(data[:length])
        assert count <= whole
        assert all(error.startswith("x: ") for error in errors)
