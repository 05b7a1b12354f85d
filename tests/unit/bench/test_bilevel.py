"""scripts/bench/codec/bilevel.py: programs as codecs, ratios, rows of a data file."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures

SCRIPT = Path(__file__).parents[3] / "scripts" / "bench" / "codec" / "bilevel.py"

pytestmark = pytest.mark.skipif(
    not SCRIPT.is_file() or os.name != "posix", reason="the scripts and a POSIX shell are needed"
)

COPY = 'shift $(($# - 2)); cp "$1" "$2"'
DAMAGE = f'{COPY}; printf x | dd of="$2" bs=1 seek=20 conv=notrunc 2>&1'
NAMES = ("cjb2", "ddjvu", "pbmtojbg", "jbgtopbm", "jbig2", "jbig2dec", "paq8px")


@pytest.fixture
def bilevel(monkeypatch):
    pytest.importorskip("bjontegaard")
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("bilevel", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bilevel", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EFFORTS", (1,))
    monkeypatch.setattr(module, "RUNS", 1)
    monkeypatch.setattr(module, "MADE_SIDE", 24)
    return module


@pytest.fixture
def page(bilevel):
    return bilevel.Page("page", np.random.default_rng(0).random((20, 37)) < 0.3)


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a shell script and returns its path."""

    def put(name, script=COPY):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return str(path)

    return put


def codec_of(bilevel, key, paths):
    (codec,) = (codec for codec in bilevel.all_codecs(paths) if codec.key == key)
    return codec


def test_each_codec_codes_a_page(bilevel, page, program):
    paths = {name: program(name) for name in NAMES}
    program("jbig2", 'shift $(($# - 1)); cat "$1"')
    program("jbig2dec", 'cp "$5" "$4"')
    codecs = bilevel.available(paths)
    results = bilevel.measured(page, codecs)
    assert list(results) == [codec.key for codec in bilevel.all_codecs(paths)]
    for key in ("cjb2", "jbig1", "jbig2", "jbig2_s", "paq8px"):
        assert results[key].size == len(page.pbm) == len("P4\n37 20\n") + 5 * 20
        np.testing.assert_array_equal(results[key].decoded, page.ink)
    sizes, times = bilevel.rows_of(page, bilevel.PAGES, results)
    assert sizes["mmp_1_ratio"] == results["mmp_1"].size / len(page.pbm)
    assert "cjb2_ratio" not in sizes
    assert sizes["ink_percent"] == 100 * page.ink.mean()
    assert sizes["jbig2_s_changed"] == 0
    assert times["group4_decode_s"] == results["group4"].decode_seconds
    (sizes,) = bilevel.rows_of(page, bilevel.MADE, results)
    assert sizes["cjb2_ratio"] == 1
    assert "jbig1_ratio" not in sizes


def test_a_codec_that_is_not_lossless_is_found(bilevel, page, program):
    paths = {"cjb2": program("cjb2"), "ddjvu": program("ddjvu", DAMAGE)}
    with pytest.raises(ValueError, match="page: cjb2 is not lossless"):
        bilevel.measured(page, [codec_of(bilevel, "cjb2", paths)])


def test_pixels_that_symbols_change_are_counted(bilevel, page, program):
    paths = {"jbig2": program("jbig2", 'shift $(($# - 1)); cat "$1"')}
    change = 'cp "$5" "$4"; printf "\\000" | dd of="$4" bs=1 seek=9 conv=notrunc 2>&1'
    paths["jbig2dec"] = program("jbig2dec", change)
    results = bilevel.measured(page, [codec_of(bilevel, "jbig2_s", paths)])
    sizes, _ = bilevel.rows_of(page, bilevel.PAGES, results)
    assert sizes["jbig2_s_changed"] == page.ink[0, :8].sum() > 0


def test_a_program_that_fails_leaves_its_cells_empty(bilevel, page, program, capsys):
    paths = {"cjb2": program("cjb2", "echo no memory >&2; exit 3"), "ddjvu": program("ddjvu")}
    codecs = [codec_of(bilevel, key, paths) for key in ("cjb2", "group4")]
    assert list(bilevel.measured(page, codecs)) == ["group4"]
    assert capsys.readouterr().err == "page: cjb2 failed: no memory\n"


def test_a_codec_without_its_program_is_left_out(bilevel, program, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    program("cjb2")
    program("pbmtojbg")
    elsewhere = program("old-jbgtopbm")
    paths = bilevel.found([f"jbgtopbm={elsewhere}"])
    assert paths["jbgtopbm"] == elsewhere
    assert [codec.key for codec in bilevel.available(paths)] == ["mmp_1", "jbig1", "group4"]
    assert capsys.readouterr().err == (
        "cjb2 is left out: no program ddjvu\n"
        "JBIG2, generic is left out: no program jbig2\n"
        "JBIG2, symbols, not lossless is left out: no program jbig2\n"
        "paq8px -6 is left out: no program paq8px\n"
    )
    with pytest.raises(SystemExit, match="--program jbig2=none: must be a program"):
        bilevel.found(["jbig2=none"])


def test_made_pictures_are_as_said(bilevel):
    made = {page.name: page.ink for page in bilevel.made_pages(160)}
    assert len(made) == 4
    assert all(ink.shape == (160, 160) and 0.3 < ink.mean() < 0.7 for ink in made.values())
    dots = bilevel.clustered(np.full((64, 64), 128, np.uint8))
    assert dots.mean() == 0.5
    # At 45 degrees, the second dot of a cell lies 4 rows and 4 columns from the first.
    np.testing.assert_array_equal(dots, np.roll(dots, (4, 4), (0, 1)))
    np.testing.assert_array_equal(dots, ~np.roll(dots, 4, 0))
    np.testing.assert_array_equal(bilevel.clustered(np.full((9, 9), 255, np.uint8)), True)


def test_a_folder_becomes_a_data_file(bilevel, page, program, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.pbm").write_bytes(page.pbm)
    (folder / "note.txt").write_text("no picture")
    pictures.write(pictures.Picture(np.zeros((4, 4), np.uint8), 8), folder / "gray.pgm")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program("pbmtojbg")
    program("jbgtopbm")
    monkeypatch.setattr(bilevel, "VERSION_ARGUMENTS", {"cjb2": ()})
    monkeypatch.setattr(
        bilevel, "found", lambda given: {name: program(name) for name in ("pbmtojbg", "jbgtopbm")}
    )
    out = tmp_path / "rows.jsonl"
    monkeypatch.setattr(sys, "argv", ["bilevel.py", str(folder), "--out", str(out)])
    bilevel.main()
    said = capsys.readouterr()
    assert "note.txt is left out" in said.err
    assert "gray.pgm is left out: it is not of one bit a pixel" in said.err
    assert "| a | 37x20 |" in said.out
    assert "**made pictures, mean of 4**" in said.out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    runs = ["bilevel", "bilevel-times", "bilevel-made"]
    assert [row["run"] for row in rows] == [*runs, *runs[:2], *["bilevel-made"] * 4]
    assert all(set(head["columns"]) >= {"page", "mmp_1_bytes"} for head in (rows[0], rows[2]))
