"""The viewer shows kept JPEG files as their JPEG files: turned, alone, in books and from a disk."""

import re

import numpy as np
import pytest
from support.books import collection_of
from support.web.decoder import real_decoder, until_drawn
from support.web.kept import FILES, SHAPE, exif, jpeg, mmp_of
from support.web.pages import DESK

import mmpcodec
from mmpcodec.analysis.turning import turned
from mmpcodec.metadata import Metadata
from mmpcodec.web.pages import PageEntry, page

pytestmark = pytest.mark.browser


def place_of(viewer, column, row, size):
    """Point of the window over the middle of a sample of a picture that is fitted into its pane."""
    box = viewer.locator("#canvas").bounding_box()
    high, wide = size
    scale = min(box["width"] / wide, box["height"] / high)
    left = box["x"] + (box["width"] - scale * wide) / 2
    top = box["y"] + (box["height"] - scale * high) / 2
    return left + scale * (column + 0.5), top + scale * (row + 0.5)


def check_shown(viewer, expected):
    """Point at several places, and compare the samples of each picture with those of Python."""
    high, wide = expected.shape[:2]
    for column, row in ((0, 0), (wide - 1, 0), (0, high - 1), (wide - 1, high - 1), (30, 45)):
        viewer.mouse.move(*place_of(viewer, column, row, (high, wide)))
        text = viewer.locator("#values").text_content()
        assert f"column {column}, row {row} " in text
        said = re.sub(r"[\w.]+\.(mmp|jpg): ", "", text).split(" · ")[2:]
        for each in said:
            found = [int(sample) for sample in each.split()]
            assert found == pytest.approx(np.atleast_1d(expected[row, column]).tolist(), abs=3)
    return len(said)


@pytest.mark.parametrize("turn", [1, 6, 7])
def test_a_kept_file_lies_on_its_jpeg_file(viewing, served, tmp_path, turn):
    data = jpeg(exif=exif(turn), quality=95)
    (tmp_path / "a.jpg").write_bytes(data)
    (tmp_path / "a.mmp").write_bytes(mmp_of(data))
    viewer = viewing(served(tmp_path / "a.jpg", tmp_path / "a.mmp").address, **DESK)
    viewer.locator("#wipe").click()
    until_drawn(viewer)
    expected = turned(mmpcodec.decode(mmp_of(data)), turn)
    assert check_shown(viewer, expected) == 2
    captions = viewer.locator("#captions").text_content()
    assert captions.count(f"turned upright (orientation {turn})") == (0 if turn == 1 else 2)
    assert captions.count(f"a JPEG file, kept, {len(data):,} bytes") == 1


@pytest.mark.parametrize("name", ["gray", "progressive", "thumbnail"])
def test_a_page_from_a_disk_shows_it(viewing, tmp_path, name):
    data = mmp_of(FILES[name])
    entry = PageEntry("a.mmp", len(data), True, data=lambda: data)
    path = tmp_path / "page.html"
    path.write_text("".join(page([entry], real_decoder(), "a page", asks=False)))
    viewer = viewing(path.as_uri(), **DESK)
    expected = mmpcodec.decode(data)
    check_shown(viewer, turned(expected, 6) if name == "thumbnail" else expected)
    form = "gray" if name == "gray" else "RGB"
    assert f"{form}, 8 bits · a JPEG file, kept," in viewer.locator("#captions").text_content()


def test_regions_are_turned_as_the_picture(viewing, served, tmp_path):
    own = np.zeros(SHAPE, np.uint8)
    own[8:24, 40:72] = 250
    (tmp_path / "a.mmp").write_bytes(mmp_of(jpeg(of=own, quality=100, exif=exif(6))))
    viewer = viewing(served(tmp_path / "a.mmp").address, **DESK)
    viewer.locator("#regions").check()
    viewer.wait_for_selector("#region-table tbody tr")
    rows, columns = np.nonzero(turned(own, 6))
    cells = viewer.locator("#region-table tbody").text_content()
    assert f"{columns.min()} to {columns.max()}{rows.min()} to {rows.max()}" in cells


@pytest.mark.parametrize(
    ("metadata", "turn"),
    [(None, 6), (Metadata(icc=bytes(200)), 1), (Metadata(exif=exif(8)[6:]), 8)],
)
def test_pages_of_a_book_are_turned_as_their_metadata_say(
    viewing, served, tmp_path, metadata, turn
):
    """Metadata of the mmp file count in place of those of the JPEG file."""
    data = mmp_of(FILES["thumbnail"], metadata=metadata)
    (tmp_path / "book.mmp").write_bytes(collection_of([data, mmp_of(FILES["gray"])]))
    viewer = viewing(served(tmp_path / "book.mmp").address, **DESK)
    check_shown(viewer, turned(mmpcodec.decode(data), turn))
    assert "a JPEG file, kept," in viewer.locator("#captions").text_content()


def test_files_that_are_given_are_shown(viewing, served, tmp_path):
    data = mmp_of(FILES["thumbnail"])
    (tmp_path / "gray.mmp").write_bytes(mmp_of(FILES["gray"]))
    (tmp_path / "book.mmp").write_bytes(collection_of([data, data]))
    viewer = viewing(served(tmp_path / "gray.mmp").address, **DESK)
    viewer.locator("#open").set_input_files(tmp_path / "book.mmp")
    viewer.wait_for_selector("#book:not([hidden])")
    until_drawn(viewer)
    check_shown(viewer, turned(mmpcodec.decode(data), 6))


def test_a_damaged_file_and_one_that_no_browser_shows_are_named(viewing, served, tmp_path):
    data = mmp_of(FILES["thumbnail"])
    (tmp_path / "a.mmp").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    (tmp_path / "b.mmp").write_bytes(mmp_of(FILES["colour"][: FILES["colour"].index(b"\xff\xda")]))
    viewer = viewing(served(tmp_path / "a.mmp", tmp_path / "b.mmp").address, **DESK)
    assert "a.mmp: CorruptStream: Layers" in viewer.locator("#problem").text_content()
    viewer.locator("#side-a").select_option("b.mmp")
    until_drawn(viewer)
    text = viewer.locator("#problem").text_content()
    assert "b.mmp: UnreadableJpeg: Kept JPEG files" in text
