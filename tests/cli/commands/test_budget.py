"""``mmp budget``."""

import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.books import write_book

import mmpcodec
from mmpcodec import backends, pictures
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import contents_of
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.planning.budget import plans

LADDER = ("--preset", "plain", "-l", "2,8,32,128,512")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A user's cache for each test."""
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    return place / "mmpcodec" / "ladders"


@pytest.fixture
def three(folder):
    """Names of three pictures of other sizes and contents."""
    rng = np.random.default_rng(7)
    rows, columns = np.indices((40, 48))
    made = {
        "noise.png": rng.integers(0, 256, (32, 32)),
        "slope.png": 2 * rows + 3 * columns,
        "mixed.png": np.where(columns[:, :40] > 20, 200, 30) + rng.integers(0, 20, (40, 40)),
    }
    for name, samples in made.items():
        pictures.write(samples.astype(np.uint8), name)
    os.mkdir("out")
    return list(made)


def sizes():
    return {path.name: path.stat().st_size for path in Path("out").iterdir()}


def budget(mmp, *arguments):
    result = mmp("budget", *LADDER, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def bounds(mmp, three):
    """The smallest and the largest total of the ladder."""
    most = budget(mmp, *three, "-n", "--total", "1MB")["plans"]["lambda"]["bytes"]
    result = mmp("budget", *three, "--total", 1, *LADDER)
    return int(result.stderr.split("need ")[1].split()[0]), most


def test_files_are_those_that_were_measured_and_never_more_than_the_budget(mmp, three):
    least, most = bounds(mmp, three)
    for total in np.linspace(least, most + 10, 7).astype(int).tolist():
        found = budget(mmp, *three, "-O", "out", "--total", total, "-f")
        written = sizes()
        assert sum(written.values()) == found["bytes"] <= total
        assert found["left"] == total - found["bytes"]
        for entry in found["pictures"]:
            data = Path(entry["output"]).read_bytes()
            assert len(data) == entry["bytes"]
            samples = pictures.read(entry["input"]).samples
            assert data == mmpcodec.encode(samples, entry["lambda"], preset="plain")
            error = ((mmpcodec.decode(data).astype(int) - samples) ** 2).sum()
            assert error == entry["distortion"]
            if error:
                assert entry["psnr"] == pytest.approx(
                    10 * math.log10(255**2 * samples.size / error)
                )
            else:
                assert entry["psnr"] is None
        plans = found["plans"]
        assert plans["exact"]["proven"]
        assert plans["exact"]["bytes"] == found["bytes"]
        assert plans["exact"]["distortion"] == sum(one["distortion"] for one in found["pictures"])
        assert plans["exact"]["distortion"] <= plans["greedy"]["distortion"]
        if plans["lambda"] is not None:
            assert plans["greedy"]["distortion"] <= plans["lambda"]["distortion"]
            assert plans["lambda"]["left"] == total - plans["lambda"]["bytes"] >= 0


def test_what_json_holds(mmp, three):
    _, most = bounds(mmp, three)
    found = budget(mmp, *three, "-O", "out", "--total", most)
    assert found.keys() == {
        "total", "bytes", "records", "left", "objective", "dry_run", "backend", "solver_seconds",
        "plans", "one_lambda", "pictures", "plot",
    }  # fmt: skip
    assert (found["total"], found["objective"], found["dry_run"]) == (most, "total", False)
    assert (found["backend"], found["plot"]) == ("cpu", None)
    assert found["plans"].keys() == {"lambda", "greedy", "exact"}
    assert found["plans"]["lambda"].keys() == {
        "lambda", "bytes", "left", "distortion", "psnr", "worst_psnr", "proven",
    }  # fmt: skip
    assert found["one_lambda"] == {"best": True, "enough": True, "loss_db": 0.0}
    assert found["pictures"][0].keys() == {
        "input", "output", "form", "depth", "lambda", "bytes", "distortion", "psnr", "weight",
    }  # fmt: skip
    assert [entry["input"] for entry in found["pictures"]] == three
    assert [entry["output"] for entry in found["pictures"]] == [
        "out/noise.mmp", "out/slope.mmp", "out/mixed.mmp",
    ]  # fmt: skip


def test_what_people_read(mmp, three):
    least, most = bounds(mmp, three)
    result = mmp("budget", *three, "-O", "out", "--total", most, *LADDER)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["plan", "bytes", "left", "PSNR", "worst", "distortion"]
    assert lines[1].startswith("lambda 2 ")
    assert lines[2].startswith("greedy fill ")
    assert lines[3].split()[:3] == ["exact", f"{most}", "0"]
    assert lines[4] == "One lambda is enough: with 2 for all nothing is lost."
    assert lines[5].startswith("Nothing better fits: proven in ")
    assert lines[6].startswith("noise.png -> out/noise.mmp: lambda 2, ")
    assert lines[-1] == f"{most} of {most} bytes written, 0 left"
    result = mmp("budget", *three, "-n", "--total", most - 1, *LADDER)
    assert "One lambda for all loses " in result.stdout
    assert "bytes would be written, " in result.stdout
    result = mmp("budget", *three, "-n", "--total", least, *LADDER)
    assert result.exit_code == 0
    assert mmp("budget", *three, "-n", "--total", most, *LADDER, "--quiet").stdout == ""


def test_too_small_a_budget_says_the_least_that_is_possible(mmp, three, files):
    result = mmp("budget", *three, "-O", "out", "--total", "0.02kB", *LADDER)
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: total = 20 bytes: the smallest files of the ladder need ")
    assert sizes() == {}
    least = int(result.stderr.split("need ")[1].split()[0])
    assert budget(mmp, *three, "-O", "out", "--total", least)["bytes"] <= least
    result = mmp("budget", *three, "-n", "--total", least - 1, *LADDER)
    assert f"need {least} bytes together" in result.stderr


def test_dry_run_writes_nothing_but_the_cache(mmp, three, files, cache):
    before = files()
    found = budget(mmp, *three, "-O", "out", "--total", "1MB", "-n", "--plot", "p.png")
    assert (found["dry_run"], found["plot"]) == (True, None)
    assert (files(), sizes()) == (before, {})
    assert len(list(cache.rglob("*.point"))) == 15
    budget(mmp, *three, "--total", "1MB", "-n", "--cache", "none")
    assert files() == before


def test_cache_of_its_own_and_none(mmp, three, cache, tmp_path):
    first = budget(mmp, *three, "-O", "out", "--total", "1MB", "--cache", "kept")
    assert len(list(Path("kept").rglob("*.point"))) == 15
    second = budget(mmp, *three, "-O", "out", "--total", "1MB", "--cache", "none", "-f")
    assert first["pictures"] == second["pictures"]
    assert not cache.exists()
    assert not Path("none").exists()


def test_stopped_run_goes_on(process, mmp, three, cache):
    noise = np.random.default_rng(1).integers(0, 256, (96, 96)).astype(np.uint8)
    pictures.write(noise, "large.png")
    arguments = [
        "noise.png",
        "large.png",
        "--total",
        "1MB",
        "-O",
        "out",
        "-l",
        "2,8",
        "--preset",
        "plain",
    ]
    child = process("budget", *arguments, "--backend", "reference")
    while len(kept := sorted(cache.rglob("*.point"))) < 2 and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (130, b"", b"mmp: interrupted\n")
    assert sizes() == {}
    assert not list(cache.rglob("*.part"))
    times = {path: path.stat().st_mtime_ns for path in kept}
    result = mmp("budget", *arguments, "--json")
    assert result.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == times
    assert len(list(cache.rglob("*.point"))) == 4
    for entry in json.loads(result.stdout)["pictures"]:
        data = mmpcodec.encode(
            pictures.read(entry["input"]).samples, entry["lambda"], preset="plain"
        )
        assert Path(entry["output"]).read_bytes() == data


def test_damaged_cache_is_noticed(mmp, three, cache):
    first = budget(mmp, *three, "-O", "out", "--total", 1500)
    for path in cache.rglob("*.point"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 255
        path.write_bytes(data)
    before = {name: Path("out", name).read_bytes() for name in sizes()}
    second = budget(mmp, *three, "-O", "out", "--total", 1500, "-f")
    assert first["pictures"] == second["pictures"]
    assert {name: Path("out", name).read_bytes() for name in sizes()} == before


def test_cache_that_cannot_be_written(mmp, three):
    Path("file").write_text("")
    result = mmp("budget", *three, "-n", "--total", "1MB", "--cache", "file", *LADDER)
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: file/")


def test_weights_decide(mmp, three):
    _, most = bounds(mmp, three)
    total = 2 * most // 3
    Path("w.csv").write_text("name,weight\nnoise.png,0.001\nslope.png,1\n./mixed.png,0.5\n")
    light = budget(
        mmp, "noise.png", "slope.png", "./mixed.png", "-n", "--total", total, "--weights", "w.csv"
    )
    assert [entry["weight"] for entry in light["pictures"]] == [0.001, 1, 0.5]
    even = budget(mmp, *three, "-n", "--total", total)
    assert light["pictures"][0]["distortion"] > even["pictures"][0]["distortion"]
    assert light["pictures"][2]["distortion"] <= even["pictures"][2]["distortion"]
    weighted = sum(1000 * entry["weight"] * entry["distortion"] for entry in light["pictures"])
    assert light["plans"]["exact"]["distortion"] == pytest.approx(weighted)


def test_worst_picture(mmp, three):
    least, most = bounds(mmp, three)
    total = (2 * least + most) // 3
    worst = budget(mmp, *three, "-n", "--total", total, "--objective", "worst")
    even = budget(mmp, *three, "-n", "--total", total)
    assert worst["plans"]["exact"]["worst_psnr"] > even["plans"]["exact"]["worst_psnr"]
    assert worst["plans"]["exact"]["distortion"] >= even["plans"]["exact"]["distortion"]
    assert worst["objective"] == "worst"


def test_least_psnr(mmp, three):
    least, most = bounds(mmp, three)
    found = budget(mmp, *three, "-n", "--total", most, "--min-psnr", 30)
    assert all(entry["psnr"] is None or entry["psnr"] >= 30 for entry in found["pictures"])
    result = mmp("budget", *three, "-n", "--total", least, "--min-psnr", 30, *LADDER)
    assert result.exit_code == 1
    assert "smallest files of the ladder need" in result.stderr
    result = mmp("budget", *three, "-n", "--total", most, "--min-psnr", 90, *LADDER)
    assert result.exit_code == 1
    assert "noise.png: no lambda of the ladder reaches 90 dB; lambda 2 reaches" in result.stderr


def test_no_time_is_said(mmp, three, monkeypatch):
    least, most = bounds(mmp, three)
    real = plans.multiple_choice

    def without_table(groups, capacities, **more):
        return real(groups, capacities, time_limit=0, backend="cpu", memory_limit=0)

    monkeypatch.setattr(plans, "multiple_choice", without_table)
    hurried = [
        mmp("budget", *three, "-n", "--total", total, *LADDER)
        for total in range(least, most, (most - least) // 20)
    ]
    assert any("Not proven in " in result.stdout for result in hurried)
    for result in hurried:
        assert result.exit_code == 0
        assert "proven in" in result.stdout
        assert "inf" not in result.stdout


def test_plot(mmp, three):
    found = budget(mmp, *three, "-O", "out", "--total", 1500, "--plot", "p.png")
    assert found["plot"] == "p.png"
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    result = mmp("budget", *three, "-n", "--total", 1500, "--plot", "p.png", "-O", "none")
    assert result.exit_code == 0
    result = mmp("budget", *three, "-O", "out", "--total", 1500, "--plot", "p.png")
    assert (result.exit_code, "exists; -f overwrites it" in result.stderr) == (1, True)


def test_the_output_is_not_named_as_a_picture(mmp, three):
    result = mmp("budget", three[0], "-o", "x.png", "--total", 1500)
    assert result.exit_code == 2
    assert result.stderr == "mmp: x.png: names another format; mmp files end in .mmp\n"
    assert not Path("x.png").exists()


def test_a_plot_is_a_png_file(mmp, three):
    result = mmp("budget", *three, "-O", "out", "--total", 1500, "--plot", "p.txt")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: --plot: p.txt must end in .png, or be -\n",
    )


def test_plot_without_its_extra(mmp, three, monkeypatch, cache):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = mmp("budget", *three, "-O", "out", "--total", 1500, "--plot", "p.png")
    assert result.exit_code == 1
    assert result.stderr == (
        "mmp: plot: needs matplotlib; in a checkout of mmpcodec, "
        "pip install '.[bench]' installs it\n"
    )
    assert not cache.exists()
    assert mmp("budget", *three, "-n", "--total", "1MB", "-l", "64").exit_code == 0


def test_one_picture_through_standard_streams(run, three):
    data = Path("noise.png").read_bytes()
    code, out, errors = run("budget", "-", "--total", "1MB", "-l", "8,64", input=data)
    assert code == 0, errors
    assert out == mmpcodec.encode(pictures.read("noise.png").samples, 8)
    assert "stdin -> stdout: lambda 8, " in errors


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_backends_write_the_same(mmp, three, backend):
    arguments = ["noise.png", "-O", "out", "--total", 600, "--cache", "none", "--backend", backend]
    found = budget(mmp, *arguments)
    data = Path("out/noise.mmp").read_bytes()
    assert found["backend"] == backend
    assert data == mmpcodec.encode(
        pictures.read("noise.png").samples, found["pictures"][0]["lambda"], preset="plain"
    )


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="a CUDA device is there")
def test_absent_backend(mmp, three, cache):
    result = mmp("budget", *three, "-n", "--total", "1MB", "--backend", "cuda")
    assert result.exit_code == 4
    assert not cache.exists()


def test_options_of_the_codec(mmp, three):
    found = budget(mmp, *three, "-O", "out", "--total", "1MB", "--preset", "classic")
    for entry in found["pictures"]:
        samples = pictures.read(entry["input"]).samples
        data = mmpcodec.encode(samples, entry["lambda"], preset="classic")
        assert Path(entry["output"]).read_bytes() == data


def test_lossless_is_a_rung_of_auto(mmp, three):
    result = mmp("budget", "slope.png", "-O", "out", "--total", "1MB", "-l", "0,64", "--json")
    assert result.exit_code == 0, result.stderr
    (entry,) = json.loads(result.stdout)["pictures"]
    assert (entry["lambda"], entry["psnr"]) == (0, None)
    decoded = mmpcodec.decode(Path("out/slope.mmp").read_bytes())
    np.testing.assert_array_equal(decoded, pictures.read("slope.png").samples)


def test_all_pictures_must_be_there(mmp, three, cache):
    Path("bad.png").write_bytes(b"no picture")
    result = mmp("budget", *three, "none.png", "bad.png", "-O", "out", "--total", "1MB")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "mmp: none.png: No such file or directory",
        "mmp: bad.png: is not a picture file of a known format; supported are "
        + registry.readable_text(),
        "mmp: nothing was written: the budget is for all pictures",
    ]
    assert sizes() == {}
    assert not cache.exists()


def test_files_that_exist_stay(mmp, three, cache):
    Path("out/slope.mmp").write_bytes(b"old")
    result = mmp("budget", *three, "-O", "out", "--total", "1MB", *LADDER)
    assert (result.exit_code, result.stderr) == (
        1,
        "mmp: out/slope.mmp: exists; -f overwrites it\n",
    )
    assert Path("out/slope.mmp").read_bytes() == b"old"
    assert not cache.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--total", "20M"], "total = '20M': must be bytes, or a number with kB"),
        (["--total", "0"], "total = '0': must be from 1 to"),
        (["--total", "-1"], "total = '-1': must be bytes"),
        (["--total", "nan"], "total = 'nan'"),
        (["--total", "1MB", "--objective", "mean"], "objective = 'mean': must be one of total, w"),
        (["--total", "1MB", "-l", "8,x"], "lambda"),
        (["--total", "1MB", "-l", "-8"], "lambda"),
        (["--total", "1MB", "--min-psnr", "nan"], "min_psnr = nan: must be a finite number"),
        (["--total", "1MB", "--preset", "good"], "preset = 'good'"),
        (["--total", "1MB", "--backend", "gpu"], "backend = 'gpu'"),
        (["--total", "1MB", "-o", "one.mmp"], "-o one.mmp: is one output for 3 inputs"),
        (["--total", "1MB", "--weights", "none.csv"], "none.csv: No such file or directory"),
        (["--total", "1MB", "--weights", "few.csv"], "few.csv: has no weight for 'slope.png'"),
        (["--total", "1MB", "--weights", "zero.csv"], "zero.csv: no weight is above 0"),
        (
            ["--total", "1MB", "--weights", "far.csv"],
            "far.csv: weights in lowest terms times pixels add up to 1023999999998976003520: "
            "must be at most 35460869038272; weights of fewer digits have a smaller sum",
        ),
        (["--total", "1MB", "--weights", "minus.csv"], "minus.csv:1: weight = '-1': must be a n"),
    ],
)
def test_wrong_use(mmp, three, cache, arguments, says):
    Path("few.csv").write_text("noise.png,1\n")
    Path("zero.csv").write_text("noise.png,0\nslope.png,0\nmixed.png,0.0\n")
    Path("far.csv").write_text("noise.png,999999999999\nslope.png,0.000001\nmixed.png,0.000001\n")
    Path("minus.csv").write_text("noise.png,-1\n")
    result = mmp("budget", *three, "-n", *arguments)
    assert result.exit_code == (1 if "none.csv" in arguments else 2)
    assert result.stderr.startswith(f"mmp: {says}")
    assert result.stderr.count("\n") == 1
    assert not cache.exists()


def test_a_total_is_needed(mmp, three):
    assert mmp("budget", *three).exit_code == 2
    assert mmp("budget", "--total", "1MB").exit_code == 2
    assert mmp("budget", *three, "--total", "1MB", "--seconds", "-1").exit_code == 2


@pytest.fixture
def kinds(folder):
    """Names of an RGB picture with alpha and metadata, one of 12 bits and one of 1 bit."""
    rng = np.random.default_rng(3)
    made = {
        "rgba.png": Picture(
            rng.integers(0, 256, (24, 32, 4)).astype(np.uint8), 8, Metadata(text=(("Title", "x"),))
        ),
        "deep.tif": Picture(rng.integers(0, 4096, (24, 32)).astype(np.uint16), 12),
        "bits.pbm.png": Picture(rng.integers(0, 2, (24, 32)).astype(np.uint8), 1),
    }
    for name, picture in made.items():
        Path(name).write_bytes(pictures.to_bytes(picture, Path(name).suffix[1:4]))
    os.mkdir("out")
    return made


def test_pictures_of_all_kinds_share_a_budget(mmp, kinds):
    options = ("-O", "out", "--total", "3kB", "-l", "0,8,64,512,4096")
    result = mmp("budget", *kinds, *options, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    entries = {entry["input"]: entry for entry in found["pictures"]}
    assert [(entry["form"], entry["depth"]) for entry in entries.values()] == [
        ("RGB with alpha", 8), ("gray", 12), ("gray", 1),
    ]  # fmt: skip
    assert found["bytes"] == sum(sizes().values()) <= 3000
    pixels, power, error = 24 * 32, 0.0, 0.0
    for name, picture in kinds.items():
        entry = entries[name]
        data = Path(entry["output"]).read_bytes()
        kept = pictures.read(entry["output"])
        assert data == mmpcodec.encode(
            picture.samples, entry["lambda"], depth=picture.depth, metadata=picture.metadata
        )
        assert kept.metadata == picture.metadata
        first, second = (one.without_alpha().samples.astype(float) for one in (picture, kept))
        errors = ((first - second) ** 2).reshape(pixels, -1)
        if picture.planes == 4:
            errors = errors[picture.samples[..., 3].ravel() > 0]  # others are not seen
        own = errors.mean(axis=1).sum() / 4.0 ** (picture.depth - 8)
        peak = (2**picture.depth - 1) / 2.0 ** (picture.depth - 8)
        assert entry["distortion"] == math.ceil(own - 1e-9)
        if own:
            peak = (2**picture.depth - 1) / 2.0 ** (picture.depth - 8)
            assert entry["psnr"] == pytest.approx(
                10 * math.log10(peak**2 * 24 * 32 / own), abs=0.01
            )
        else:
            assert entry["psnr"] is None
        power += peak**2 * pixels
        error += entry["distortion"]
    assert found["plans"]["exact"]["psnr"] == pytest.approx(10 * math.log10(power / error))
    text = mmp("budget", *kinds, *options, "-n").stdout
    assert "rgba.png -> out/rgba.mmp: RGB with alpha of 8 bits, lambda " in text
    assert "deep.tif -> out/deep.mmp: gray of 12 bits, lambda " in text


def test_depth_effort_and_strip_are_those_of_encode(mmp, kinds):
    np.save("deep.npy", kinds["deep.tif"].samples)
    options = ("-l", "8", "--depth", "12", "--effort", "1", "--cache", "none")
    result = mmp("budget", "deep.npy", *options, "--total", "1MB", "-o", "deep.mmp")
    assert result.exit_code == 0, result.stderr
    assert Path("deep.mmp").read_bytes() == mmpcodec.encode(
        kinds["deep.tif"].samples, 8, depth=12, effort=1
    )
    result = mmp("budget", "rgba.png", "-l", "8", "--strip", "text", "--total", "1MB", "-O", "out")
    assert result.exit_code == 0, result.stderr
    assert pictures.read("out/rgba.mmp").metadata == Metadata()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["deep.tif", "--preset", "text"], 2, "deep.tif: "),
        (["deep.tif", "--depth", "9"], 1, "deep.tif: depth = 9: the picture has a sample of "),
        (["deep.tif", "--depth", "17"], 2, "depth = 17: must be from 1 to 16"),
        (["deep.tif", "--strip", "colour"], 2, "metadata 'colour': must be one of all, icc"),
    ],
)
def test_wrong_depths_and_kinds_of_metadata(mmp, kinds, cache, arguments, code, says):
    result = mmp("budget", *arguments, "--total", "1MB", "-n")
    assert (result.exit_code, result.stderr.count("mmp: " + says)) == (code, 1), result.stderr
    assert "Traceback" not in result.stderr
    assert not cache.exists()


@pytest.fixture
def book(folder):
    """A book of three slices of other contents, and an animation's worth of facts."""
    rng = np.random.default_rng(8)
    rows, columns = np.indices((40, 48))
    made = (rng.integers(0, 256, (40, 48)), 2 * rows + 3 * columns, rng.integers(90, 99, (40, 48)))
    pages = [page.astype(np.uint8) for page in made]
    write_book("book.mmp", pages, Role.SLICE, [(k * 10**6,) for k in range(3)])
    return pages


def test_the_pages_of_a_book(mmp, book, three):
    room = 3300
    arguments = ("budget", "book.mmp", "noise.png", "--total", room, "-O", "out", *LADDER)
    result = mmp(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert [each.get("page") for each in facts["pictures"]] == [1, 2, 3, None]
    assert len({each["lambda"] for each in facts["pictures"]}) > 1
    written = Path("out/book.mmp").read_bytes()
    whole = len(written) + Path("out/noise.mmp").stat().st_size
    assert facts["bytes"] <= whole <= facts["bytes"] + facts["records"] <= room
    assert facts["left"] == room - facts["bytes"] - facts["records"]
    assert facts["plans"]["exact"]["left"] == facts["left"]
    entries = contents_of(memoryview(written)).entries
    assert [(entry.role, entry.facts) for entry in entries] == [
        (Role.SLICE, (k * 10**6,)) for k in range(3)
    ]
    for number, (page, row) in enumerate(zip(book, facts["pictures"], strict=False), 1):
        decoded = mmpcodec.decode(written, page=number).astype(int)
        assert ((decoded - page) ** 2).sum() == row["distortion"]
    lines = mmp(*arguments, "-n", "-f").stdout
    assert "book.mmp: page 2 -> out/book.mmp: lambda" in lines
    assert f"at most {facts['records']} for the records of books" in lines


def test_books_of_no_room_and_standard_output(mmp, book):
    result = mmp("budget", "book.mmp", "--total", 300, "-o", "x.mmp", *LADDER)
    assert (result.exit_code, "the records of the books' pages" in result.stderr) == (2, True)
    result = mmp("budget", "book.mmp", "--total", "9kB", "-o", "-", *LADDER)
    assert (result.exit_code, "book.mmp holds 3 pictures; name a file" in result.stderr) == (
        2,
        True,
    )
    result = mmp("budget", "book.mmp", "--total", "9kB", "-o", "one.mmp", "--page", 2, *LADDER)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(mmpcodec.decode(Path("one.mmp").read_bytes()).shape, (40, 48))
    assert not Path("x.mmp").exists()
