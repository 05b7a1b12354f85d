"""``mmp sweep``."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import PRESETS, pictures
from mmpcodec.bench.metrics import DEFAULT
from mmpcodec.cli.commands.sweep.chosen import CodecChoice
from mmpcodec.cli.commands.sweep.measuring import MeasurePictures
from mmpcodec.cli.jobs import Job
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures import Picture

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


def test_options_of_codecs_without_effect_are_said(mmp, picture):
    codecs = [
        "mmp:preset=plain,effort=5,lambda=64",
        "mmp:preset=photo,rate_model=log2,lambda=64",
        "mmp:preset=photo,effort=1,lambda=64",
    ]
    given = [part for codec in codecs for part in ("--codec", codec)]
    result = mmp("sweep", picture, "--out", "out", *given, "--peers", "none")
    assert [line for line in result.stderr.splitlines() if "no effect" in line] == [
        f"mmp: {codecs[0]}: effort has no effect with preset plain; take preset photo, mixed or "
        "lossless",
        f"mmp: {codecs[1]}: rate_model has no effect with preset photo; take preset text, mixed, "
        "plain or classic",
    ]


def test_without_scikit_image_nothing_is_measured(mmp, picture, monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.metrics", None)
    result = mmp("sweep", picture, "--out", "out", *QUICK)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("mmp: metrics of pictures need scikit-image; ")
    assert not Path("out").exists()


def test_every_preset_by_default(mmp, picture):
    mmp("sweep", picture, "--out", "out", "-l", "64", "--peers", "none")
    assert [row["codec"] for row in rows()] == [
        f"mmp:preset={name}" for name, tools in PRESETS.items() if not tools.lossless
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
    quiet = mmp(*arguments, "--codec", "none", "--retry", "--quiet")
    assert (quiet.exit_code, quiet.stdout) == (1, "")
    assert quiet.stderr.startswith("mmp: a.png: bad, point 1: failed: MmpError: false: exit code 1")
    assert quiet.stderr.count("\n") == 1
    assert mmp(*arguments, "--codec", "none", "--retry").exit_code == 1


def test_unreadable_pictures_do_not_stop_the_others(mmp, picture, samples):
    Path("bad.png").write_bytes(b"no picture")
    result = mmp("sweep", "bad.png", "missing.png", picture, "--out", "out", *QUICK)
    assert result.exit_code == 3
    assert "bad.png: is not a picture file of a known format" in result.stderr
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


def test_pictures_of_every_kind(mmp, picture, samples):
    made = {
        "rgb.png": Picture(np.dstack([samples, samples[::-1], 255 - samples]), 8),
        "alpha.png": Picture(np.dstack([samples, samples[::-1]]), 8),
        "deep.png": Picture(samples.astype(np.uint16) << 4, 12),
    }
    for name, each in made.items():
        pictures.write(each, name)
    result = mmp("sweep", picture, *made, "--out", "out", *QUICK)
    assert result.exit_code == 3
    found = {}
    for row in rows():
        kind = found.setdefault((row["name"], row["form"], row["depth"]), {})
        kind.setdefault(row["codec"], []).append(row.get("error"))
    plain, good = "mmp:preset=plain", [None, None]
    assert found == {
        ("a.png", "gray", 8): {plain: good, "jpeg": good},
        ("rgb.png", "RGB", 8): {
            plain: good,
            "jpeg:chroma=444": good,
            "jpeg:chroma=420": good,
        },
        ("alpha.png", "gray with alpha", 8): {
            plain: good,
            "jpeg": ["ParameterError: jpeg: codes no alpha"],
        },
        ("deep.png", "gray", 12): {
            plain: [found["deep.png", "gray", 12][plain][0]],
            "jpeg": ["ParameterError: jpeg: codes at most 8 bits a sample, not 12"],
        },
    }
    assert "take preset photo or lossless" in found["deep.png", "gray", 12][plain][0]
    assert "rgb.png: RGB of 8 bits, jpeg:chroma=420, quality 20: " in result.stdout
    assert "mmp: gray of 12 bits, jpeg: codes at most 8 bits" in result.stderr
    assert "out: 15 results measured, 3 failed; 0 were there" in result.stderr
    again = mmp("sweep", picture, *made, "--out", "out", *QUICK)
    assert "0 results measured, 0 failed; 15 were there" in again.stderr


def test_deep_pictures_by_default_are_measured_with_the_presets_that_can(mmp, samples):
    pictures.write(Picture(samples.astype(np.uint16) << 4, 12), "deep.png")
    result = mmp("sweep", "deep.png", "--out", "out", "-l", "64", "--peers", "none")
    assert result.exit_code == 0, result.stderr
    assert [row["codec"] for row in rows()] == ["mmp:preset=photo"]


def test_gray_and_depth_of_deep_colours(mmp, samples):
    deep = np.dstack([samples, samples[::-1], 255 - samples]).astype(np.uint16) << 4
    np.save("deep.npy", deep)
    arguments = ("--codec", "mmp:lambda=64", "--peers", "none", "--depth", "12")
    assert mmp("sweep", "deep.npy", "--out", "out", *arguments, "--gray").exit_code == 0
    (row,) = rows()
    assert (row["form"], row["depth"], row["white"]) == ("gray", 12, 4095)
    stored = pictures.read(f"out/pictures/{row['picture']}.png")
    red, green, blue = np.moveaxis(deep.astype(float), 2, 0)
    expected = 0.299 * red + 0.587 * green + 0.114 * blue
    assert stored.depth == 12
    assert np.abs(stored.samples - expected).max() < 1
    result = mmp("sweep", "deep.npy", "--out", "out", *arguments[:-1], "11")
    assert result.exit_code == 1
    assert "deep.npy: depth = 11: the picture has a sample of " in result.stderr


def test_chroma_named_twice_is_one_codec_of_gray(mmp, picture, samples):
    pictures.write(np.dstack([samples] * 3), "rgb.png")
    peers = "jpeg:chroma=420,quality=50,jpeg:chroma=444,quality=50"
    result = mmp("sweep", picture, "rgb.png", "--out", "out", "--codec", "none", "--peers", peers)
    assert result.exit_code == 0, result.stderr
    assert [row["codec"] for row in rows()] == ["jpeg", "jpeg:chroma=420", "jpeg:chroma=444"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--depth", "17"], 2, "depth = 17: must be from 1 to 16"),
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


def test_threads_of_a_worker_measure_no_point_twice(mmp, picture):
    """Locks of files do not part the threads of a process."""
    codecs = CodecChoice("8,16,32,64", ("mmp:preset=plain",), "none")
    work = MeasurePictures(codecs, "out", "run", False, None, DecodeLimits(), 1, False, DEFAULT)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda job: work(job, lambda *_: True), [Job(picture)] * 4))
    assert sorted(row["point"] for row in rows()) == [8, 16, 32, 64]
    assert sorted(row["point"] for each in found for (row,) in each.rows) == [8, 16, 32, 64]
    assert {each.expected for each in found} == {4}


def test_a_folder_of_results_that_is_made_again_is_measured_again(mmp, picture):
    """Workers outlive a run; what they know of its results must not."""
    for _ in range(2):
        result = mmp("sweep", picture, "--out", "out", *QUICK)
        assert "4 results measured" in result.stderr
        Path("out/results.jsonl").unlink()


def test_unreadable_pictures_are_rows_of_json(mmp, picture):
    result = mmp("sweep", "missing.png", picture, "--out", "out", *QUICK, "--json")
    last = json.loads(result.stdout.splitlines()[-1])
    assert last == {
        "input": "missing.png",
        "output": None,
        "error": "missing.png: No such file or directory",
    }
    assert "mmp: 1 of 2 inputs failed" in result.stderr
