"""``mmp encode``."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.devices import FakeDevice

import mmpcodec
from mmpcodec import PRESETS, backends, pictures
from mmpcodec.backends.reference import ReferenceBackend

KEYS = {
    "input",
    "output",
    "width",
    "height",
    "form",
    "depth",
    "tiles",
    "input_bytes",
    "output_bytes",
    "bits_per_pixel",
    "psnr",
    "range",
    "max_error",
    "ssimulacra2",
    "spared",
    "lam",
    "seconds",
    "backend",
    "tools_left_out",
    "verified",
    "bits",
    "leaves",
    "blocks",
    "modes",
    "passes",
    "chain_saved_bytes",
}


def test_writes_what_the_library_writes(mmp, picture, samples, files):
    result = mmp("encode", picture, "-l", 20)
    assert result.exit_code == 0
    assert Path("a.mmp").read_bytes() == mmpcodec.encode(samples, 20)
    assert files() == ["a.mmp", "a.png"]


def test_defaults_are_quality_85_and_the_cheapest_preset(mmp, picture, samples):
    mmp("encode", picture)
    assert Path("a.mmp").read_bytes() == mmpcodec.encode(samples, quality=85, preset="auto")


def test_prints_one_line(mmp, picture):
    result = mmp("encode", picture)
    size = Path("a.mmp").stat().st_size
    expected = (
        rf"a\.png -> a\.mmp: 20x16, {Path(picture).stat().st_size} -> {size} bytes, "
        rf"{8 * size / 320:.3f} bpp, PSNR \d\d\.\d\d dB, largest error \d+, "
        r"\d+\.\d\d s, backend (cpu|reference), lambda [\d.]+\n"
    )
    assert re.fullmatch(expected, result.stdout)
    assert result.stderr == ""


def test_json_has_the_same_facts(mmp, picture, samples):
    options = ["-l", 32, "--json", "--verify", "--preset", "plain"]
    facts = json.loads(mmp("encode", picture, *options).stdout)
    assert set(facts) == KEYS | {"left_out"}
    data = Path("a.mmp").read_bytes()
    found = mmpcodec.inspect(data, decode=True)
    mean_square = np.mean((samples.astype(float) - found.samples) ** 2)
    assert facts["psnr"] == pytest.approx(10 * np.log10(255**2 / mean_square))
    assert facts["output_bytes"] == len(data)
    assert facts["bits_per_pixel"] == pytest.approx(8 * len(data) / samples.size)
    assert (facts["width"], facts["height"]) == (20, 16)
    assert facts["lam"] == 32
    assert facts["verified"] is True
    assert facts["bits"] == found.trace.bits
    assert facts["leaves"] == sum(found.trace.leaves())
    assert facts["blocks"] == {"bare": 0, "transformed": 0, "tree": 0}
    assert set(facts["modes"].values()) == {0}
    assert facts["passes"] == []
    assert facts["seconds"] > 0
    assert facts["backend"] in backends.names()


def test_lossless(mmp, picture, samples):
    result = mmp("encode", picture, "--lambda", 0)
    assert ", lossless, " in result.stdout
    np.testing.assert_array_equal(mmpcodec.decode(Path("a.mmp").read_bytes()), samples)
    assert json.loads(mmp("encode", picture, "-l0", "-f", "--json").stdout)["psnr"] is None


def test_tools_reach_the_header(mmp, picture):
    mmp("encode", picture, "--preset", "classic", "--partition", "dyadic", "-o", "c.mmp")
    mmp("encode", picture, "--preset", "plain", "--dictionary-limit", 300, "-o", "d.mmp")
    classic = mmpcodec.inspect(Path("c.mmp").read_bytes()).tools
    assert classic == mmpcodec.TreeTools("dyadic", False, False, 8, post_filter=False)
    mmp("encode", picture, "--preset", "text", "-l", 10, "-o", "t.mmp")
    text = mmpcodec.inspect(Path("t.mmp").read_bytes()).tools
    filtered = text.post_filter
    assert text == dataclasses.replace(PRESETS["text"], redundancy_radius=40, post_filter=filtered)
    limited = mmpcodec.inspect(Path("d.mmp").read_bytes()).tools
    assert limited == mmpcodec.TreeTools(dictionary_limit=300, post_filter=limited.post_filter)


def test_rate_model_is_used(mmp, picture, samples):
    mmp("encode", picture, "--rate-model", "log2", "--preset", "plain")
    assert Path("a.mmp").read_bytes() == mmpcodec.encode(samples, rate_model="log2", preset="plain")


def test_quiet_prints_nothing(mmp, picture, files):
    result = mmp("encode", picture, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert files() == ["a.mmp", "a.png"]


def test_verbose_prints_backend_tools_and_bits(mmp, picture):
    options = ["-l", 32, "--preset", "plain", "--backend", "reference"]
    result = mmp("encode", picture, "-v", *options)
    notes = result.stderr.splitlines()
    assert notes[0].startswith("mmp: backend reference: NumPy ")
    assert notes[1] == (
        "mmp: lambda 32, tune psnr, trees, partition flexible, index classes on, flag contexts on, "
        "copy radius 4, dictionary limit 16384, displaced blocks 0, redundancy radius 0, "
        "replacement off, post filter on"
    )
    assert re.search(
        r"\n  \d+ leaves; bits: filter \d+, flag \d+, class \d+, element \d+\n$", result.stdout
    )
    result = mmp("encode", picture, "-v", "-f", "--preset", "photo")
    reported = "mmp: quality 85, usual lambda 5.318, tune auto, predicted blocks, fragment size 32"
    assert result.stderr.splitlines()[1].startswith(reported)
    assert result.stderr.splitlines()[1].endswith("quantisation matrix 6, post filter on")
    result = mmp("encode", picture, "-v", "-f", "--quality", 60, "--preset", "plain")
    assert result.stderr.splitlines()[1].startswith(
        "mmp: quality 60, usual lambda 55.98, tune auto, trees, part"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", "-3"], "lam = -3.0: must be finite and not negative"),
        (["-l", "nan"], "lam = nan: must be finite and not negative"),
        (["--dictionary-limit", "5"], "dictionary_limit = 5: must be from 256 to 65536"),
        (["--tile", "63"], "tile = 63: must be from 64 to 16777216, or 0 for one tile"),
        (
            ["--preset", "fast"],
            "preset = 'fast': must be one of auto, best, photo, text, mixed, lossless, plain, "
            "classic",
        ),
        (["-o", "a.PNG"], "a.PNG: names another format; mmp files end in .mmp"),
        (["--partition", "quad"], "partition = 'quad': must be one of flexible, dyadic"),
        (
            ["--preset", "photo", "--partition", "dyadic"],
            "partition = 'dyadic': has no effect with preset photo; take preset text, mixed, plain "
            "or classic",
        ),
        (
            ["--preset", "lossless", "--dictionary-limit", "512"],
            "dictionary_limit = 512: has no effect with preset lossless; take preset text, mixed, "
            "plain or classic",
        ),
        (["--quiet", "--verbose"], "--quiet and --verbose: give only one of them"),
        (["--rate-model", "x"], "rate_model = 'x': must be one of adaptive, log2"),
        (["--backend", "tpu"], "backend = 'tpu': must be one of auto, cpu, cuda, reference"),
    ],
)
def test_wrong_values_are_wrong_use(mmp, picture, arguments, message, files):
    result = mmp("encode", picture, *arguments)
    assert result.exit_code == 2
    assert result.stderr == f"mmp: {message}\n"
    assert result.stdout == ""
    assert files() == ["a.png"]


@pytest.mark.parametrize(
    "arguments", [["-l", "much"], ["--threads", "0"], ["-j", "0"], ["--nonsense"]]
)
def test_what_typer_refuses_is_wrong_use(mmp, picture, arguments, files):
    result = mmp("encode", picture, *arguments)
    assert result.exit_code == 2
    assert arguments[0] in result.stderr
    assert files() == ["a.png"]


def test_no_input_is_wrong_use(mmp):
    assert mmp("encode").exit_code == 2


class AbsentBackend(ReferenceBackend):
    name = "cpu"

    def unavailable(self):
        return "not on this machine"


def test_named_backend_that_is_absent(mmp, picture, monkeypatch, files):
    monkeypatch.setitem(backends.ROWS, "cpu", backends.Row(AbsentBackend))
    result = mmp("encode", picture, "--backend", "cpu")
    assert result.exit_code == 4
    assert result.stderr == "mmp: backend cpu cannot run here: not on this machine\n"
    assert files() == ["a.png"]
    result = mmp("encode", picture, "-l", 0, "--backend", "auto")
    assert (result.exit_code, result.stdout[-18:]) == (0, "backend reference\n")


def test_verify_stops_what_does_not_decode_the_same(mmp, picture, monkeypatch, files):
    right = mmpcodec.decode

    def wrong(data, **options):
        samples = right(data, **options)
        samples[3, 7:9] ^= 1
        return samples

    monkeypatch.setattr(mmpcodec, "decode", wrong)
    result = mmp("encode", picture, "--verify")
    assert result.exit_code == 1
    assert result.stderr == (
        "mmp: a.png: verification failed, nothing was written: "
        "2 samples differ, the first in row 3, column 7\n"
    )
    assert files() == ["a.png"]


def test_verify_stops_what_does_not_decode(mmp, picture, monkeypatch, files):
    def fail(data, **options):
        raise mmpcodec.CorruptStream("Payload", "it is broken")

    monkeypatch.setattr(mmpcodec, "decode", fail)
    result = mmp("encode", picture, "--verify")
    assert result.exit_code == 1
    assert "verification failed, nothing was written: Payload: it is broken" in result.stderr
    assert files() == ["a.png"]


def test_verified_is_said(mmp, picture):
    assert mmp("encode", picture, "--verify").stdout.endswith(", verified\n")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.pgm", b"", "is empty"),
        ("cut.pgm", b"P5 4 4 255\nabc", "is damaged or truncated: "),
        ("text.png", b"hello", "is not a picture file of a known format; supported are "),
        ("large.pgm", b"P5 40000 40000 255\n", "is 40000x40000: 1600000000 samples, the limit is"),
    ],
)
def test_bad_pictures_give_one_line(mmp, name, data, reason, files):
    Path(name).write_bytes(data)
    result = mmp("encode", name)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"mmp: {name}: {reason}")
    assert result.stderr.count("\n") == 1
    assert files() == [name]


def test_missing_input_and_folder(mmp, folder):
    assert mmp("encode", "no.png").stderr == "mmp: no.png: No such file or directory\n"
    Path("sub").mkdir()
    result = mmp("encode", "sub")
    assert result.exit_code == 1
    assert result.stderr == "mmp: sub: holds no picture, nor any other file\n"


def test_not_enough_memory(mmp, picture, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(mmpcodec, "encode_pictures", fail)
    result = mmp("encode", picture)
    assert (result.exit_code, result.stderr) == (1, "mmp: a.png: not enough memory\n")


@pytest.mark.parametrize("suffix", ["pgm", "tif"])
def test_other_picture_formats(mmp, samples, suffix):
    pictures.write(samples, f"b.{suffix}")
    assert mmp("encode", f"b.{suffix}", "-l", 0, "--quiet").exit_code == 0
    np.testing.assert_array_equal(mmpcodec.decode(Path("b.mmp").read_bytes()), samples)


def test_the_command_writes_the_bytes_of_the_library(mmp, picture):
    found = mmp("encode", picture, "-o", "a.mmp", "--preset", "photo", "-l", 20)
    assert (found.exit_code, found.stderr) == (0, "")
    samples = pictures.read(picture).samples
    assert Path("a.mmp").read_bytes() == mmpcodec.encode(samples, 20, preset="photo")
    reported = mmp("info", "a.mmp")
    assert "format   version 3, 1 tile" in reported.stdout
    assert "pdpc on" in reported.stdout
    assert mmp("decode", "a.mmp", "-o", "b.png").exit_code == 0


def test_tools_that_the_named_backend_lacks_are_counted_wherever_the_file_is_coded(
    mmp, monkeypatch, folder
):
    """Lossless samples, which the device lacks, win; a tool of text was left out on it."""
    monkeypatch.setitem(backends.ROWS, "cuda", backends.Row(FakeDevice))
    noise = np.random.default_rng(0).integers(0, 256, (32, 32)).astype(np.uint8)
    pictures.write(noise, "noise.png")
    options = "noise.png", "--preset", "best", "--effort", 1, "--lambda", 0.05, "-f"
    said = mmp("encode", *options, "--backend", "cuda").stdout
    assert "backend cpu, cuda lacks 1 tool of the preset" in said
    facts = json.loads(mmp("encode", *options, "--backend", "cuda", "--json").stdout)
    assert facts["backend"] == "cpu"
    assert facts["tools_left_out"] == ["displaced blocks"]
    assert json.loads(mmp("encode", *options, "--json").stdout)["tools_left_out"] == []
