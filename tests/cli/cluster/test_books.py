"""Books over the workers of a cluster: the files are those of one machine."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import tifffile

import mmpcodec
from mmpcodec import pictures

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

CLUSTER = ("--cluster", "local", "--workers", 2)
FAST = ("--quality", 60, "--effort", 1)


@pytest.fixture
def book(folder):
    """The name of a TIFF of seven pages, with tags that are not read."""
    noise = np.random.default_rng(5).integers(0, 99, (7, 48, 64)).astype(np.uint8)
    with tifffile.TiffWriter("book.tif") as stream:
        for page in noise:
            tags = [(40000, "s", 0, "private", False)]
            stream.write(page, photometric="minisblack", metadata=None, extratags=tags)
    return "book.tif"


def test_pages_are_tasks(run, book):
    assert run("encode", book, *FAST, "-o", "alone.mmp")[0] == 0
    code, out, errors = run("encode", book, *FAST, *CLUSTER, "-o", "spread.mmp", "--json")
    assert code == 0, errors
    assert "mmp: pages are the tasks\n" in errors
    assert errors.count("book.tif: pages 1 to 7: has tags that are not read") == 1
    assert Path("spread.mmp").read_bytes() == Path("alone.mmp").read_bytes()
    start, row, end = map(json.loads, out.splitlines())
    assert (start["workers"], end["pictures"], end["failed"]) == (2, 1, 0)
    assert [page["page"] for page in row["pages"]] == list(range(1, 8))
    assert row["left_out"] == ["other tags"]


def test_files_together_and_pages_apart(run, book):
    pictures.write(np.full((20, 30), 90, np.uint8), "a.png")
    options = ("--together", *FAST, "a.png", book)
    assert run("encode", *options, "-o", "alone.mmp")[0] == 0
    code, _, errors = run("encode", *options, *CLUSTER, "-o", "spread.mmp")
    assert code == 0, errors
    assert Path("spread.mmp").read_bytes() == Path("alone.mmp").read_bytes()
    code, _, errors = run("encode", book, "--split", *FAST, *CLUSTER, "-O", "o")
    assert code == 0, errors
    assert len(os.listdir("o")) == 7


def test_a_damaged_page_is_named_as_on_the_command_line(run, book):
    assert run("encode", book, "-o", "good.mmp", *FAST)[0] == 0
    data = bytearray(Path("good.mmp").read_bytes())
    from mmpcodec.opening.contents import contents_of

    entry = contents_of(memoryview(bytes(data))).pictures[3]
    data[entry.place + entry.size - 5] ^= 255
    Path("bad.mmp").write_bytes(data)
    code, _, errors = run("encode", "bad.mmp", *FAST, *CLUSTER, "-o", "x.mmp")
    assert code == 1
    assert "mmp: bad.mmp: " in errors
    assert "page 4: " in errors
    assert not os.path.exists("x.mmp")
    assert len(mmpcodec.open("good.mmp")) == 7


def test_standard_output_is_refused_by_name(run, book):
    code, _, errors = run("encode", book, *FAST, *CLUSTER, "-o", "-")
    assert code == 1
    assert "--cluster needs files that its workers can reach" in errors
