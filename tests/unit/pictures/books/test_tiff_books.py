"""TIFF files of several pages: each page is read by itself, from a path or from bytes."""

import io
import itertools
import struct
import tracemalloc

import numpy as np
import pytest
import tifffile

from mmpcodec import DecodeLimits, PictureWarning, pictures
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.books.opening import opened_book

GRAY = np.arange(7 * 9, dtype=np.uint8).reshape(7, 9)
DEEP = (np.arange(5 * 4, dtype=np.uint16) * 3000).reshape(5, 4)
COLOUR = np.dstack([np.tile(GRAY, (3, 2))] * 3) // np.array([1, 2, 3], np.uint8)
BITS = np.indices((6, 11)).sum(axis=0) % 3 == 0


def written(*pages, **options):
    """A file of several directories: samples, and options of tifffile."""
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream, **options) as writer:
        for samples, own in pages:
            writer.write(samples, metadata=None, **own)
    return stream.getvalue()


MIXED = (
    (GRAY, {"resolution": (300, 300), "resolutionunit": "INCH"}),
    (DEEP, {"compression": "deflate"}),
    (COLOUR, {"photometric": "rgb", "tile": (16, 16), "compression": "lzw"}),
    (BITS, {"compression": "packbits", "photometric": "minisblack"}),
)


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("options", [{}, {"bigtiff": True}, {"byteorder": ">"}])
def test_pages_of_different_size_depth_and_colour(tmp_path, options, by_path):
    data = written(*MIXED, **options)
    path = tmp_path / "book.tif"
    path.write_bytes(data)
    with opened_book(path if by_path else data) as book:
        assert (len(book), book.role, book.loops) == (4, Role.PAGE, 0)
        for found, (samples, _), depth in zip(book, MIXED, (8, 16, 8, 1), strict=True):
            np.testing.assert_array_equal(found.samples, samples)
            assert found.depth == depth
        assert book.read(0).metadata.resolution.x == 300
        np.testing.assert_array_equal(book.read(2).samples, COLOUR)
        for number in range(4):
            same = pictures.from_bytes(data, page=number + 1)
            np.testing.assert_array_equal(book.read(number).samples, same.samples)
            assert book.read(number).metadata == same.metadata


SMALL = GRAY[::2, ::2]


@pytest.mark.parametrize(
    ("pages", "count"),
    [
        ([(GRAY, {}), (SMALL, {"subfiletype": 1}), (SMALL > 9, {"subfiletype": 5})], 1),
        ([(GRAY, {"subifds": 1}), (SMALL, {"subfiletype": 1})], 1),
        (
            [(GRAY, {}), (SMALL, {"subfiletype": 1}), (DEEP, {}), (SMALL, {"subfiletype": 1})],
            2,
        ),
    ],
    ids=["pyramid and mask", "below", "two pyramids"],
)
def test_overviews_are_left_out_and_said_once(pages, count):
    data = written(*pages)
    with pytest.warns(PictureWarning, match=r"^x: has further directories.*overviews") as said:
        book = opened_book(data, "x")
    assert len(said) == 1
    found = [each.samples for each in book]  # a warning would be an error
    assert len(found) == count
    np.testing.assert_array_equal(found[0], GRAY)
    with pytest.raises(PictureError, match=r"^x: has further directories.*strict"):
        opened_book(data, "x", strict=True)


def test_thousands_of_pages_open():
    count = 5000
    pages = ((np.full((1, 2), number, np.uint16), {}) for number in range(count))
    data = written(*pages)
    with opened_book(data) as book:
        assert len(book) == count
        for number in (0, 999, 1000, 1001, 4999):
            assert book.read(number).samples.tolist() == [[number, number]]
    with pytest.raises(PictureError, match="x: holds 5000 pictures, allowed is 1 to 4999; max_pic"):
        opened_book(data, "x", limits=DecodeLimits(max_pictures=4999))


def test_a_damaged_page_is_named_and_the_others_open():
    data = bytearray(written(*[(GRAY + number, {"compression": "deflate"}) for number in range(3)]))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        place = file.pages[1].dataoffsets[0]
    data[place : place + 8] = bytes(8)
    with opened_book(bytes(data), "book.tif") as book:
        np.testing.assert_array_equal(book.read(0).samples, GRAY)
        np.testing.assert_array_equal(book.read(2).samples, GRAY + 2)
        with pytest.raises(PictureError, match=r"^book\.tif: page 2: is damaged"):
            book.read(1)


def test_a_page_of_a_kind_that_is_not_supported_is_named():
    data = written((GRAY, {}), (GRAY.astype(np.float32), {}), (DEEP, {}))
    with opened_book(data, "a.tif") as book:
        with pytest.raises(PictureError, match=r"^a\.tif: page 2: holds floating-point samples"):
            book.read(1)
        np.testing.assert_array_equal(book.read(2).samples, DEEP)


def test_missing_directories_are_said():
    data = written((GRAY, {}), (DEEP, {}))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        second = file.pages[1].offset
    linked = data.index(struct.pack("<I", second))
    broken = data[:linked] + struct.pack("<I", len(data) + 9) + data[linked + 4 :]
    with pytest.warns(PictureWarning, match=r"x: .*no directory is at byte \d+") as said:
        book = opened_book(broken, "x")
    assert said[0].message.left_out == ("missing pages",)
    np.testing.assert_array_equal(book.read(0).samples, GRAY)


def test_a_circle_of_directories_ends():
    data = written((GRAY, {}), (DEEP, {}))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        first, second = (page.offset for page in file.pages)
    entries = int.from_bytes(data[second : second + 2], "little")
    linked = second + 2 + 12 * entries
    circle = data[:linked] + struct.pack("<I", first) + data[linked + 4 :]
    with opened_book(circle) as book:
        np.testing.assert_array_equal(book.read(1).samples, DEEP)
        assert len(book) == 2


def test_many_directories_are_refused_in_bounded_time():
    # Directories without entries, of 6 bytes each, which lead to the next one.
    places = itertools.count(8 + 6, 6)
    count = 400
    chain = b"".join(struct.pack("<HI", 0, next(places)) for _ in range(count))
    data = b"II*\0" + struct.pack("<I", 8) + chain
    with pytest.raises(PictureError, match="x: has more than 4 directories for each picture"):
        opened_book(data, "x", limits=DecodeLimits(max_pictures=90))


@pytest.mark.parametrize("compression", [None, "deflate"])
def test_a_file_is_not_loaded(tmp_path, compression):
    path, count, side = tmp_path / "book.tif", 24, 1024
    with tifffile.TiffWriter(path) as writer:
        for number in range(count):
            noise = np.random.default_rng(number).integers(0, 256, (side, side), np.uint8)
            writer.write(noise, metadata=None, compression=compression)
    assert path.stat().st_size > (count - 1) * side**2
    with opened_book(path) as book:
        book.read(0)
        tracemalloc.start()
        for page in book:
            assert page.samples.shape == (side, side)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 6 * side**2


def test_limits_hold_for_each_page():
    data = written((GRAY, {}), (np.zeros((40, 50), np.uint8), {}))
    book = opened_book(data, "x", limits=DecodeLimits(max_samples=100))
    np.testing.assert_array_equal(book.read(0).samples, GRAY)
    with pytest.raises(PictureError, match=r"x: page 2: .*50x40.*2000 samples, the limit is 100"):
        book.read(1)


def test_stacks_of_imagej_are_books():
    stream = io.BytesIO()
    stack = np.stack([DEEP, DEEP + 1, DEEP // 2])
    tifffile.imwrite(stream, stack, imagej=True, truncate=True)
    with opened_book(stream.getvalue()) as book:
        np.testing.assert_array_equal([page.samples for page in book], stack)
