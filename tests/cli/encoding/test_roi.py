"""Regions of interest: ``mmp encode --roi``."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.strategies import woven

import mmpcodec
from mmpcodec import pictures

OPTIONS = ("--tune", "psnr", "--preset", "photo", "--effort", "1", "-f")
MASK = np.zeros((128, 192), np.uint8)
MASK[70:100, 70:120] = 255
RECTANGLE = "70,70,50,30"


@pytest.fixture
def picture():
    samples = woven(np.random.default_rng(5), 128, 192)
    pictures.write(samples, "a.png")
    pictures.write(samples, "b.png")
    pictures.write(samples[:64], "low.png")
    pictures.write(MASK, "mask.png")
    return "a.png"


def changes_in(name="a.mmp"):
    found = mmpcodec.inspect(Path(name).read_bytes(), decode=True)
    trace = found.layers[0].trace
    return None if trace.changes is None else trace.changes.tolist()


def test_a_mask_and_rectangles(mmp, picture):
    assert mmp("encode", picture, *OPTIONS).exit_code == 0
    assert changes_in() is None
    for roi in ("mask.png", RECTANGLE):
        result = mmp("encode", picture, *OPTIONS, "--roi", roi, "--verify")
        assert result.exit_code == 0
        assert changes_in() == [[0, 0, 0], [0, -4, 0]]
    two = f"{RECTANGLE}:0,0,10,10"
    assert mmp("encode", picture, *OPTIONS, "--roi", two, "--roi-steps", "9").exit_code == 0
    assert changes_in() == [[-9, 0, 0], [0, -9, 0]]


def test_masks_of_equal_names_in_other_folders(mmp, picture, monkeypatch, tmp_path):
    assert mmp("encode", picture, *OPTIONS, "--roi", "mask.png").exit_code == 0
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    pictures.write(np.full((64, 192), 30, np.uint8), "a.png")
    pictures.write(MASK[64:], "mask.png")
    result = mmp("encode", "a.png", *OPTIONS, "--roi", "mask.png")
    assert result.exit_code == 0, result.stderr


def test_gray_levels_of_a_mask_are_steps_between(mmp, picture):
    pictures.write(np.where(MASK, 128, 0).astype(np.uint8), "gray.png")
    pictures.write(MASK > 0, "bits.pgm")
    for mask, change in (("gray.png", -5), ("bits.pgm", -10)):
        assert mmp("encode", picture, *OPTIONS, "--roi", mask, "--roi-steps", "10").exit_code == 0
        assert changes_in() == [[0, 0, 0], [0, change, 0]]


def test_the_regions_of_highlight(mmp, picture):
    region = [{"left": 70, "top": 70, "width": 50, "height": 30}]
    rows = [{"input": "a.png", "regions": region}, {"input": "x/b.png", "regions": []}]
    Path("r.json").write_text("\n".join(map(json.dumps, rows)))
    assert mmp("encode", "a.png", "b.png", *OPTIONS, "--roi", "r.json").exit_code == 0
    assert changes_in() == [[0, 0, 0], [0, -4, 0]]
    assert changes_in("b.mmp") is None
    assert mmp("highlight", "a.png", "--csv", "r.csv", "--max-width", "30").exit_code == 0
    result = mmp("encode", "a.png", "b.png", *OPTIONS, "--roi", "r.csv")
    assert "b.png: --roi r.csv: has no picture of the name b.png" in result.stderr
    assert -4 in np.array(changes_in())


def test_tiles_and_targets(mmp, picture):
    pictures.write(pictures.read(picture).samples, "a.pgm")
    result = mmp("encode", "a.pgm", *OPTIONS, "--roi", RECTANGLE, "--tile", "64", "--verify")
    assert result.exit_code == 0
    found = mmpcodec.inspect(Path("a.mmp").read_bytes())
    assert [layer.tools.delta_step for layer in found.layers] == [False] * 4 + [True, False]
    size = "--target-size", "4kB"
    assert mmp("encode", "a.pgm", *OPTIONS, "--roi", RECTANGLE, *size).exit_code == 0
    assert changes_in() == [[0, 0, 0], [0, -4, 0]]


def test_info_counts_the_steps(mmp, picture):
    mmp("encode", picture, *OPTIONS, "--roi", RECTANGLE)
    lines = mmp("info", "a.mmp").stdout.splitlines()
    assert any("delta step on" in line for line in lines)
    place = lines.index("  fragments by step change, in quarters of a doubling of the step")
    assert [line.split() for line in lines[place + 1 :]] == [["-4", "1"], ["0", "5"]]
    assert json.loads(mmp("info", "a.mmp", "--json").stdout)["delta_step"] == {"-4": 1, "0": 5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--preset", "text", "--roi", RECTANGLE),
            "--roi: has no effect with preset text; take preset photo or mixed",
        ),
        (("--lossless", "--roi", RECTANGLE), "has no effect on lossless files"),
        ((*OPTIONS, "--roi-steps", "3"), "--roi-steps: needs --roi"),
        (
            (*OPTIONS, "--palette", "--roi", RECTANGLE),
            "--palette and --roi: give only one of them",
        ),
        ((*OPTIONS, "--roi", RECTANGLE, "--roi-steps", "25"), "roi_steps = 25: must be from -24"),
        ((*OPTIONS, "--roi", "1,2,3"), "--roi '1,2,3': must be a file, or rectangles"),
        ((*OPTIONS, "--roi", ""), "--roi '': must be a file, or rectangles"),
        ((*OPTIONS, "--roi", "none.png"), "none.png"),
        ((*OPTIONS, "--roi", "deep.png"), "deep.png: has samples of 16 bits; a mask has 1 to 8"),
        ((*OPTIONS, "--roi", "small.png"), "small.png: has 192x9 pixels, the picture has 192x128"),
        ((*OPTIONS, "--roi", "0,0,193,1"), "a.png: --roi 0,0,193,1: must lie within the picture"),
        ((*OPTIONS, "--roi", "other.csv"), "--roi other.csv: is not a table of `mmp highlight"),
        ((*OPTIONS, "--roi", "other.json"), "--roi other.json: is not a table of `mmp highlight"),
        ((*OPTIONS, "--roi", "nested.json"), "--roi nested.json: is not a table of `mmp highlight"),
        ((*OPTIONS, "--roi", "huge.json"), "--roi huge.json: is not a table of `mmp highlight"),
        ((*OPTIONS, "--roi", "mask.png", "b.png"), "is the mask of one picture, not of 2"),
        (
            (*OPTIONS, "--roi", "mask.png", "--cluster", "local"),
            "--roi with --cluster: takes rectangles or a table, not a mask",
        ),
    ],
)
def test_what_does_not_fit_is_refused(mmp, picture, options, message):
    pictures.write(MASK.astype(np.uint16) * 257, "deep.png")
    pictures.write(MASK[:9], "small.png")
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("other.json").write_text("[]")
    Path("nested.json").write_text("[" * 200_000)
    region = '{"x": 1e999, "y": 0, "width": 1, "height": 1}'
    Path("huge.json").write_text(f'{{"input": "a.png", "regions": [{region}]}}')
    result = mmp("encode", picture, *options)
    assert result.exit_code != 0
    assert message in result.stderr
    assert not Path("a.mmp").exists()


def test_one_picture_that_a_rectangle_does_not_fit_leaves_the_others(mmp, picture):
    result = mmp("encode", "a.png", "low.png", *OPTIONS, "--roi", RECTANGLE)
    assert "low.png: --roi 70,70,50,30: must lie within the picture" in result.stderr
    assert Path("a.mmp").exists()
    assert not Path("low.mmp").exists()
