"""``mmp sweep``."""

import json
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import PRESETS, pictures

QUICK = ("--codec", "mmp:preset=plain,lambda=16/64", "--peers", "jpeg:quality=20/80")


def rows(folder="out"):
    return [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]


def test_measures_and_goes_on(mmp, picture):
    result = mmp("sweep", picture, "--out", "out", *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "a.png: jpeg, quality 20: " in result.stdout
    assert "jpeg: gray, optimised Huffman tables, progressive" in result.stderr
    assert "out: 4 results measured, 0 failed; 0 were there" in result.stderr
    assert [(row["codec"], row["point"]) for row in rows()] == [
        ("mmp:preset=plain", 16),
        ("mmp:preset=plain", 64),
        ("jpeg", 20),
        ("jpeg", 80),
    ]
    again = mmp("sweep", picture, "--out", "out", *QUICK)
    assert (again.exit_code, again.stdout) == (0, "")
    assert "0 results measured, 0 failed; 4 were there" in again.stderr


def test_json_lines_are_those_of_the_file(mmp, picture):
    result = mmp("sweep", picture, "--out", "out", *QUICK, "--json", "--quiet")
    assert result.stdout == ""
    result = mmp("sweep", picture, "--out", "other", *QUICK, "--json")
    assert [json.loads(line) for line in result.stdout.splitlines()] == rows("other")


def test_every_preset_by_default(mmp, picture):
    mmp("sweep", picture, "--out", "out", "-l", "64", "--peers", "none")
    assert [row["codec"] for row in rows()] == [
        f"mmp:preset={name}" for name, tools in PRESETS.items() if not tools.exact
    ]
    assert rows()[0]["point"] == 64


def test_failures_are_rows_and_an_exit_code(mmp, picture):
    Path("peers.toml").write_text(
        '[bad]\nencode = "false {input} {coded} {point}"\ndecode = "true {coded} {output}"\n'
        "points = [1]\n"
    )
    arguments = ("sweep", picture, "--out", "out", "--peers", "none", "--commands", "peers.toml")
    result = mmp(*arguments, "--codec", "mmp:lambda=64")
    assert result.exit_code == 3
    assert "a.png: bad, point 1: failed: MmpError: false: exit code 1" in result.stdout
    assert rows()[1]["error"] == "MmpError: false: exit code 1"
    assert mmp(*arguments, "--codec", "none", "--retry").exit_code == 1


def test_unreadable_pictures_do_not_stop_the_others(mmp, picture, samples):
    pictures.write(np.stack([samples] * 3, axis=2), "rgb.png")
    result = mmp("sweep", "rgb.png", "missing.png", picture, "--out", "out", *QUICK)
    assert result.exit_code == 3
    assert "rgb.png: holds RGB of 8 bits; must be 8-bit gray" in result.stderr
    assert "missing.png: No such file" in result.stderr
    assert len(rows()) == 4
    assert mmp("sweep", "missing.png", "--out", "none", *QUICK).exit_code == 1
    assert not Path("none").exists()


def test_colour_is_turned_to_gray_where_asked(mmp, picture, samples):
    pictures.write(np.stack([samples] * 3, axis=2), "rgb.png")
    result = mmp("sweep", "rgb.png", picture, "--out", "out", *QUICK, "--gray")
    assert result.exit_code == 0
    assert [row["name"] for row in rows()] == ["rgb.png"] * 4  # the other has the same samples


def test_options_of_several_peers(mmp, picture):
    """A comma parts options as well as names."""
    peers = "jpeg2000:ratio=20,webp:quality=30/60,jpeg:quality=50"
    result = mmp("sweep", picture, "--out", "out", "--codec", "none", "--peers", peers, "--json")
    assert result.exit_code == 0, result.stderr
    assert "4 results measured, 0 failed" in result.stderr
    both = mmp("sweep", picture, "--out", "out", "--codec", "none", "--peers", "jpeg:quality=3,x=4")
    assert both.exit_code == 2
    assert "jpeg: unknown option 'x'" in both.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--peers", "gif"], 2, "peer 'gif': must be one of jpeg"),
        (["-l", "8,x"], 2, "lambda = '8,x': 'x' must be a finite number from 0"),
        (["--codec", "jpeg"], 2, "--codec jpeg: must begin with mmp"),
        (["--codec", "mmp:preset=good"], 2, "preset = 'good': must be one of"),
        (["--codec", "mmp", "--codec", "mmp:preset=auto"], 2, "is named twice"),
        (["--codec", "none", "--peers", "none"], 2, "no codec to measure"),
        (["--peers", "jpeg,jpeg"], 2, "codec jpeg: is named twice"),
        (["--commands", "missing.toml"], 1, "missing.toml: No such file"),
        (["--repeat", "0"], 2, "Invalid value"),
        (["--out", "a.png"], 1, "a.png: "),
    ],
)
def test_errors(mmp, picture, files, arguments, code, message):
    before = files()
    result = mmp("sweep", picture, "--out", "out", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert files() == before


def test_absent_backend(mmp, picture, monkeypatch):
    monkeypatch.setattr(
        "mmpcodec.backends.cuda.backend.CudaBackend.unavailable", lambda self: "no device"
    )
    result = mmp("sweep", picture, "--out", "out", "--codec", "mmp:backend=cuda")
    assert result.exit_code == 4
    assert "no device" in result.stderr


def test_a_full_disk_is_named(mmp, picture, monkeypatch):
    def full(path, samples):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("mmpcodec.bench.sweep.save_png", full)
    result = mmp("sweep", picture, "--out", "out", *QUICK)
    assert result.exit_code == 1
    assert "out/pictures/" in result.stderr
    assert ".png: No space left on device" in result.stderr
