"""NPY files of several pictures: the first axis is that of pages, unless the last is of planes."""

import io
import tracemalloc

import numpy as np
import pytest
from support.picture_files import FILES

from mmpcodec import DecodeLimits, PictureWarning, pictures
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.books.opening import opened_book

RNG = np.random.default_rng(8)


def npy_of(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["u1", "<u2", ">u2", "?"])
@pytest.mark.parametrize("shape", [(5, 6, 9), (5, 6, 9, 1), (5, 6, 9, 3), (2, 6, 9, 4), (1, 6, 9)])
def test_pages_lie_along_the_first_axis(tmp_path, shape, kind, order, by_path):
    array = np.asarray(RNG.integers(0, 2 if kind == "?" else 250, shape), kind, order=order)
    path = tmp_path / "a.npy"
    path.write_bytes(npy_of(array))
    with opened_book(path if by_path else path.read_bytes()) as book:
        assert (len(book), book.role, book.measured) == (shape[0], Role.PAGE, True)
        wanted = array[..., 0] if shape[-1] == 1 else array
        for number in (shape[0] - 1, 0):
            found = book.read(number)
            np.testing.assert_array_equal(found.samples, wanted[number])
            assert found.depth == {"?": 1, "u1": 8}.get(kind, 16)
            with pictures.opened(path, page=number + 1) as reader:
                part = reader.read(slice(1, 4), slice(2, 8))
            np.testing.assert_array_equal(part, wanted[number, 1:4, 2:8])


def test_a_last_axis_of_planes_is_one_picture():
    for shape in ((9, 6, 3), (6, 9), (3, 6, 1)):
        assert len(opened_book(npy_of(np.zeros(shape, np.uint8)))) == 1


def test_what_may_be_planes_is_said():
    array = RNG.integers(0, 250, (3, 6, 9)).astype(np.uint8)
    with pytest.warns(PictureWarning, match=r"x: .*\(3, 6, 9\).* 3 pages of 9x6; .*moveaxis"):
        book = opened_book(npy_of(array), "x")
    np.testing.assert_array_equal([page.samples for page in book], array)


def test_a_page_of_wrong_levels_is_named():
    array = np.zeros((5, 6, 9), bool)
    data = bytearray(npy_of(array))
    data[-60] = 7
    with opened_book(bytes(data), "a.npy") as book:
        assert book.read(4).samples.max() == 0
        with pytest.raises(PictureError, match=r"^a\.npy: page 4: .*holds level 7"):
            book.read(3)


def test_limits_and_short_files():
    data = npy_of(np.zeros((5, 6, 9), np.uint8))
    with pytest.raises(PictureError, match="x: is 9x6: 54 samples, the limit is 53"):
        opened_book(data, "x", limits=DecodeLimits(max_samples=53))
    with pytest.raises(PictureError, match="x: holds 5 pictures, allowed is 1 to 4"):
        opened_book(data, "x", limits=DecodeLimits(max_pictures=4))
    with pytest.raises(PictureError, match=r"x: is damaged.*bytes, 398 are needed"):
        opened_book(data[:-1], "x")
    with pytest.raises(PictureError, match=r"x: holds an array of shape \(0, 6, 9\), without pict"):
        opened_book(npy_of(np.zeros((0, 6, 9), np.uint8)), "x")
    assert len(opened_book(FILES["npy"])) == 1


def test_a_file_is_not_loaded(tmp_path):
    path, side = tmp_path / "a.npy", 512
    np.save(path, np.zeros((40, side, side), np.uint16))
    with opened_book(path) as book:
        tracemalloc.start()
        for page in book:
            assert page.samples.shape == (side, side)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 3 * 2 * side**2
