"""Pictures at URLs: of a file of several only the index and the picture are read."""

import numpy as np
import pytest
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec import DecodeLimits, PictureError, pictures

pytest.importorskip("fsspec")

RNG = np.random.default_rng(5)
PAGES = [RNG.integers(0, 256, (300, 400), np.uint8) for _ in range(9)]
BOOK = mmpcodec.encode(PAGES, 0, preset="lossless", effort=1)
PICTURE = mmpcodec.encode(PAGES[2], 0, preset="lossless", effort=1)
PNG = mmpcodec.imwrite(None, PAGES[1], "png")
ASIDE = 1 << 17  # bytes of the beginning and the end of a file


@pytest.fixture
def server():
    files = {"book.mmp": BOOK, "one.mmp": PICTURE, "a.png": PNG, "text": b"no picture"}
    with RangeServer(files).running() as found:
        yield found


@pytest.mark.parametrize("page", [1, 6, 9])
def test_of_a_book_the_index_and_the_page_are_read(server, page):
    found = mmpcodec.imread(server.url("book.mmp"), page=page)
    np.testing.assert_array_equal(found, PAGES[page - 1])
    assert len(server.sent) <= 3
    assert PAGES[0].size < sum(server.sent) < PAGES[0].size * 1.1 + ASIDE < len(BOOK) / 2


def test_files_of_one_picture_are_read_too(server):
    np.testing.assert_array_equal(mmpcodec.imread(server.url("one.mmp")), PAGES[2])
    found = pictures.read(server.url("a.png"))
    np.testing.assert_array_equal(found.samples, PAGES[1])


def test_a_server_without_ranges_sends_a_file_once(server):
    server.ranges = False
    np.testing.assert_array_equal(mmpcodec.imread(server.url("a.png")), PAGES[1])
    np.testing.assert_array_equal(mmpcodec.imread(server.url("book.mmp"), page=4), PAGES[3])
    assert server.sent == [len(PNG), len(BOOK)]


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("book.mmp", {}, "the file holds 9 pictures"),
        ("book.mmp", {"page": 10}, "page = 10: must be 1 to 9"),
        ("one.mmp", {"page": 2}, "page = 2: must be 1"),
        ("a.png", {"page": 2}, "page = 2: must be 1"),
        ("text", {}, "is not a picture file of a known format"),
        ("book.mmp", {"page": 2, "limits": DecodeLimits(max_samples=99)}, "max_samples"),
        ("book.mmp", {"page": 2, "limits": DecodeLimits(max_pictures=8)}, "max_pictures"),
        ("a.png", {"limits": DecodeLimits(max_samples=99)}, "max_samples"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_url(server, name, options, text):
    with pytest.raises(PictureError) as caught:
        mmpcodec.imread(server.url(name), **options)
    assert str(caught.value).startswith(f"{server.url(name)}: ")
    assert text in str(caught.value)


def test_a_missing_file_is_one_and_a_wrong_page_is_no_reason_to_ask_the_server(server):
    with pytest.raises(PictureError) as caught:
        mmpcodec.imread(server.url("none.mmp"), page=2)
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(mmpcodec.ParameterError, match="page"):
        mmpcodec.imread(server.url("book.mmp"), page=1.5)
    assert server.sent == []
