"""``mmp encode --chain-pages``: what is said, what is written, what goes on after an end."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile

import mmpcodec
from mmpcodec.format.collection import bytes_of_chain
from mmpcodec.opening.contents import contents_of


def pages_of(count):
    """Pages of black and white with glyphs that come again."""
    glyphs = np.random.default_rng(1).random((4, 8, 6)) < 0.5
    found = []
    for number in range(count):
        order, page = np.random.default_rng(number), np.zeros((60, 90), bool)
        for row in range(2, 50, 11):
            for column in range(2, 80, 8):
                page[row : row + 8, column : column + 6] = glyphs[order.integers(4)]
        found.append(page)
    return found


@pytest.fixture
def book(folder):
    """The name of a TIFF of seven pages."""
    with tifffile.TiffWriter("book.tif") as stream:
        for page in pages_of(7):
            stream.write(page, photometric="minisblack", metadata=None)
    return "book.tif"


def entries_of(name):
    return contents_of(memoryview(Path(name).read_bytes())).pictures


def assert_pages(name, wanted):
    for page, samples in zip(mmpcodec.open(name), wanted, strict=True):
        np.testing.assert_array_equal(page[...], samples)


def test_pages_continue_others_and_that_is_said(mmp, book):
    plain = mmp("encode", book, "-o", "plain.mmp").stdout
    assert "continue" not in plain
    result = mmp("encode", book, "--chain-pages", 3, "--verify")
    assert result.exit_code == 0
    entries = entries_of("book.mmp")
    assert [entry.continues for entry in entries] == [None, 0, 1, None, 3, 4, None]
    saved = sum(entry.saved for entry in entries)
    assert f", 4 pages continue others, which saves {saved} bytes, verified" in result.stdout
    sizes = [[entry.size for entry in entries_of(name)] for name in ("plain.mmp", "book.mmp")]
    fields = sum(bytes_of_chain(1, entry.saved) for entry in entries if entry.saved)
    assert sum(sizes[0]) - sum(sizes[1]) - fields == saved > 0
    assert_pages("book.mmp", pages_of(7))


def test_json_and_info_have_the_bytes_saved(mmp, book):
    facts = json.loads(mmp("encode", book, "--chain-pages", 4, "--json").stdout)
    entries = entries_of("book.mmp")
    rows = [(row["output_bytes"], row["chain_saved_bytes"]) for row in facts["pages"]]
    assert rows == [(entry.size, entry.saved) for entry in entries]
    assert (facts["chain_pages"], facts["chained"]) == (4, 5)
    assert facts["chain_saved_bytes"] == sum(entry.saved for entry in entries)
    lines = mmp("info", "book.mmp").stdout
    saved = facts["chain_saved_bytes"]
    assert f"chains   5 pictures continue others, which saves {saved} bytes" in lines
    assert f"continues 2, -{entries[2].saved} bytes" in lines
    pictures = json.loads(mmp("info", "book.mmp", "--json").stdout)["pictures"]
    assert [each.get("continues") for each in pictures] == [None, 1, 2, 3, None, 5, 6]
    assert pictures[3]["chain_saved_bytes"] == entries[3].saved


def test_a_page_of_a_chain_is_described(mmp, book):
    rows = json.loads(mmp("encode", book, "--chain-pages", 4, "--json").stdout)["pages"]
    facts = json.loads(mmp("info", "book.mmp", "--page", 2, "--json").stdout)
    assert facts["continues"] == 1
    assert facts["bits"] == rows[1]["bits"]
    assert "chain    continues page 1\n" in mmp("info", "book.mmp", "--page", 2).stdout
    assert "continues page" not in mmp("info", "book.mmp", "--page", 5).stdout


def test_info_names_the_pages_that_continue_a_broken_one(mmp, book):
    mmp("encode", book, "--chain-pages", 4)
    data, entry = bytearray(Path("book.mmp").read_bytes()), entries_of("book.mmp")[1]
    data[entry.place + entry.size - 3] ^= 1
    Path("book.mmp").write_bytes(data)
    result = mmp("info", "book.mmp", "--json")
    errors = [each["error"] for each in json.loads(result.stdout)["pictures"]]
    assert "stream CRC" in errors[1]
    assert errors[2:4] == [f"continues page {number}, which is broken" for number in (2, 3)]
    assert errors[0] is errors[4] is errors[6] is None


def test_any_number_of_jobs_gives_the_same_file(mmp, book):
    for jobs in (1, 2, 5):
        mmp("encode", book, "--chain-pages", 3, "-j", jobs, "-o", f"{jobs}.mmp")
    files = {Path(f"{jobs}.mmp").read_bytes() for jobs in (1, 2, 5)}
    assert len(files) == 1


def test_books_of_other_pictures_say_that_no_page_continues_others(mmp, folder):
    with tifffile.TiffWriter("gray.tif") as stream:
        for page in pages_of(2):
            stream.write(page * np.arange(90, dtype=np.uint8), metadata=None)
    result = mmp("encode", "gray.tif", "--chain-pages", 8, "--lossless", "--effort", 1)
    assert ", no page continues others" in result.stdout


def test_slices_and_frames_continue_others(mmp, folder):
    Path("a.mmp").write_bytes(mmpcodec.encode(pages_of(3), positions=[0, 1.5, 3]))
    mmp("encode", "a.mmp", "--chain-pages", 8, "-o", "b.mmp")
    entries = entries_of("b.mmp")
    assert [entry.role.name for entry in entries] == ["SLICE"] * 3
    assert [entry.continues for entry in entries] == [None, 0, 1]
    assert [page.position for page in mmpcodec.open("b.mmp")] == [0, 1.5, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--chain-pages", 0], "0 is not in the range 1<=x<=64"),
        (["--chain-pages", 65], "65 is not in the range 1<=x<=64"),
        (["--chain-pages", 4, "--split"], "--chain-pages and --split: give only one of them"),
        (["--chain-pages", 4, "--page", 2], "--chain-pages and --page: give only one of them"),
    ],
)
def test_wrong_values(mmp, book, options, words):
    result = mmp("encode", book, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_run_that_was_ended_goes_on_with_whole_chains(mmp, book, monkeypatch):
    mmp("encode", book, "--chain-pages", 3, "-o", "whole.mmp")
    from mmpcodec.cli.encoding import books

    own = books.PageCoder.__call__

    def interrupted(self, pages, progress):
        if pages[0].number == 6:
            raise KeyboardInterrupt
        return own(self, pages, progress)

    with monkeypatch.context() as patched:
        patched.setattr(books.PageCoder, "__call__", interrupted)
        result = mmp("encode", book, "--chain-pages", 3, "-o", "out.mmp", "--threads", 1)
    assert result.exit_code != 0
    result = mmp("encode", book, "--chain-pages", 3, "-o", "out.mmp", "--threads", 1)
    assert "goes on behind page 3 of 7" in result.stderr
    assert Path("out.mmp").read_bytes() == Path("whole.mmp").read_bytes()


def test_decoding_writes_all_pages_and_one(mmp, book):
    mmp("encode", book, "--chain-pages", 8)
    mmp("decode", "book.mmp", "-o", "all.tif")
    with tifffile.TiffFile("all.tif") as found:
        for page, wanted in zip(found.pages, pages_of(7), strict=True):
            assert page.photometric == tifffile.PHOTOMETRIC.MINISWHITE
            np.testing.assert_array_equal(page.asarray() == 0, wanted)
    mmp("decode", "book.mmp", "--page", 6, "-o", "six.png")
    found = mmpcodec.pictures.read("six.png").samples
    np.testing.assert_array_equal(found.astype(bool), pages_of(6)[5])
