"""Lists of pictures are encoded to one file, and read as one array."""

import io
from fractions import Fraction

import numpy as np
import pytest
import tifffile
from support.books import book, collection, noisy

import mmpcodec
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.books import stacks
from mmpcodec.pictures.books.opening import opened_book

PAGES = [noisy((5, 7), 8, 1).samples, noisy((6, 4, 3), 16, 2).samples, np.eye(4, dtype=bool)]


@pytest.fixture
def opened(tmp_path):
    def of(data):
        path = tmp_path / "a.mmp"
        path.write_bytes(data)
        return mmpcodec.open(path)

    return of


def test_pages_of_any_form_are_a_file(opened):
    found = opened(mmpcodec.encode(PAGES, 0))
    assert [one.role for one in found] == ["page"] * 3
    assert [one.depth for one in found] == [8, 16, 1]
    for one, wanted in zip(found, PAGES, strict=True):
        np.testing.assert_array_equal(one, wanted)


def test_a_list_of_one_is_a_file_of_one_picture_that_may_grow(opened):
    found = opened(mmpcodec.encode([PAGES[0]], 0, durations=[0.04]))
    assert (len(found), found[0].role, found[0].duration) == (1, "frame", Fraction(1, 25))


@pytest.mark.parametrize(
    ("durations", "wanted"),
    [
        (0.1, [Fraction(1, 10)] * 3),
        (Fraction(1, 3), [Fraction(1, 3)] * 3),
        ([0, 1, 1 / 3], [Fraction(0), Fraction(1), Fraction(1, 3)]),
        (np.array([0.5, 0.25, 2]), [Fraction(1, 2), Fraction(1, 4), Fraction(2)]),
    ],
)
def test_durations_make_frames(opened, durations, wanted):
    found = opened(mmpcodec.encode(PAGES, 0, durations=durations))
    assert [one.duration for one in found] == wanted


def test_loops_are_kept():
    with opened_book(mmpcodec.encode(PAGES, 0, durations=1, loops=4)) as book:
        assert book.loops == 4


def test_positions_make_slices(opened):
    found = opened(mmpcodec.encode(PAGES, 0, positions=[-1.5, 0, 1.2345678]))
    assert [one.position for one in found] == [-1.5, 0, 1.234568]
    assert {one.role for one in found} == {"slice"}


def test_each_picture_has_metadata_of_its_own(opened):
    own = [Metadata(text=(("Title", str(number)),)) for number in range(3)]
    found = opened(mmpcodec.encode(PAGES, 0, metadata=own))
    assert [dict(one.metadata.text)["Title"] for one in found] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"durations": [1, 2]}, "durations: has 2 numbers for 3 pictures"),
        ({"positions": [1]}, "positions: has 1 numbers for 3 pictures"),
        ({"durations": [1, -1, 1]}, r"durations\[1\] = -1"),
        ({"durations": float("nan")}, r"durations\[0\] = nan"),
        ({"durations": [1, "x", 1]}, r"durations\[1\] = 'x'"),
        ({"positions": [0, float("inf"), 1]}, r"positions\[1\] = inf"),
        ({"positions": [0, 1e30, 1]}, r"positions\[1\] = 1e\+30"),
        ({"durations": 1, "positions": [0, 1, 2]}, "give only one of them"),
        ({"loops": 2}, "loops = 2: needs durations"),
        ({"durations": 1, "loops": -1}, "loops = -1"),
    ],
)
def test_wrong_numbers_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        mmpcodec.encode(PAGES, 0, **arguments)


@pytest.mark.parametrize("arguments", [{"durations": 1}, {"positions": [0]}, {"loops": 1}])
def test_a_single_picture_takes_no_numbers_of_several(arguments):
    with pytest.raises(ParameterError, match="must be None for a single picture"):
        mmpcodec.encode(PAGES[0], 0, **arguments)


def test_nested_numbers_are_one_picture():
    samples = np.arange(12, dtype=np.uint8).reshape(3, 4)
    rows = list(samples)  # arrays of one axis
    np.testing.assert_array_equal(mmpcodec.decode(mmpcodec.encode(rows, 0)), samples)


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
@pytest.mark.parametrize("by", ["path", "bytes", "stream"])
def test_all_pages_are_one_array(tmp_path, shape, by):
    pages = [noisy(shape, 12, seed) for seed in range(3)]
    data = collection(pages)
    path = tmp_path / "a.mmp"
    path.write_bytes(data)
    source = {"path": path, "bytes": data, "stream": io.BytesIO(data)}[by]
    found = mmpcodec.imread(source, page="all")
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, np.stack([one.samples for one in pages]))


def test_a_file_of_one_picture_is_an_array_of_one(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", PAGES[0])
    np.testing.assert_array_equal(mmpcodec.imread(tmp_path / "a.tif", page="all"), PAGES[0][None])


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (noisy((4, 6), 8), "6x4 gray of 8 bits"),
        (noisy((4, 5), 7), "5x4 gray of 7 bits"),
        (noisy((4, 5, 3), 8), "5x4 RGB of 8 bits"),
    ],
)
def test_the_first_page_that_differs_is_named(other, text):
    same = noisy((4, 5), 8)
    data = collection([same, same, other, other])
    with pytest.raises(PictureError, match=f"page 3: is {text}, page 1 is 5x4 gray of 8 bits"):
        mmpcodec.imread(data, page="all")


def test_an_array_beyond_the_memory_is_refused(monkeypatch):
    pages = book([noisy((40, 50), 8)] * 3)
    monkeypatch.setattr(stacks, "opened_book", lambda *_, **__: pages)
    with pytest.raises(PictureError, match="of 6000 bytes together, the limit is 5999"):
        mmpcodec.imread(b"", page="all", limits=mmpcodec.DecodeLimits(max_memory=5999))
    limits = mmpcodec.DecodeLimits(max_memory=6000)
    assert mmpcodec.imread(b"", page="all", limits=limits).shape == (3, 40, 50)


def test_another_word_is_no_page():
    with pytest.raises(ParameterError, match="page"):
        mmpcodec.imread(collection([noisy((4, 5), 8)]), page="every")


@pytest.mark.parametrize("none", [[], ()])
def test_no_pictures_are_no_file(none):
    with pytest.raises(ParameterError, match="must hold at least one picture"):
        mmpcodec.encode(none)


@pytest.mark.parametrize("shape", [(2, 5, 4, 3), (9, 5, 8)])
def test_an_array_of_several_pictures_names_the_list(shape):
    stack = np.zeros(shape, np.uint8)
    with pytest.raises(ParameterError, match=r"several pictures as a list, list\(array\)$"):
        mmpcodec.encode(stack)
    with pytest.raises(ParameterError, match=r"at least one pixel$"):
        mmpcodec.encode(np.zeros((5, 4), float))
