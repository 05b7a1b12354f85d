"""``mmp encode`` with a quality, or a target of size, PSNR or SSIMULACRA2."""

import json
import re
import signal
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.denoise import denoise
from mmpcodec.metrics.ssimulacra2 import ssimulacra2
from mmpcodec.presets import DEFAULT_EFFORT


@pytest.fixture
def surface(folder):
    """The name of a 64x72 picture, shaded and a little noisy."""
    rows, columns = np.mgrid[:64, :72]
    noise = np.random.default_rng(2).normal(0, 3, (64, 72))
    samples = 120 + 60 * np.sin(columns / 9) + 40 * np.cos(rows / 14) + noise
    pictures.write(samples.astype(np.uint8), "s.png")
    return "s.png"


@pytest.mark.parametrize(
    ("option", "keyword", "value"),
    [
        ("--quality", "quality", 62.5),
        ("--target-size", "target_size", 800),
        ("--target-bpp", "target_bpp", 1.5),
        ("--target-psnr", "target_psnr", 33.0),
        ("--target-ssimulacra2", "target_ssimulacra2", 71.5),
    ],
)
def test_writes_what_the_library_writes(mmp, surface, option, keyword, value, files):
    result = mmp("encode", surface, option, value, "--preset", "plain")
    assert (result.exit_code, result.stderr) == (0, "")
    samples = pictures.read(surface).samples
    expected = mmpcodec.encode(samples, **{keyword: value}, preset="plain")
    assert Path("s.mmp").read_bytes() == expected
    assert files() == ["s.mmp", "s.png"]


@pytest.mark.parametrize(("text", "size"), [("0.9kB", 900), ("1 KiB", 1024), ("850b", 850)])
def test_sizes_have_units(mmp, surface, text, size):
    mmp("encode", surface, "--target-size", text, "--preset", "plain")
    assert 0.97 * size <= Path("s.mmp").stat().st_size <= size


def test_the_line_says_lambda_and_passes(mmp, surface):
    result = mmp("encode", surface, "--target-psnr", 34, "--preset", "plain")
    assert re.search(r", backend \w+, lambda [\d.]+, \d+ passes\n$", result.stdout)
    quality = mmp("encode", surface, "--quality", 40, "-f").stdout
    assert re.search(r", backend \w+, lambda [\d.]+\n$", quality)
    assert "lambda" not in mmp("encode", surface, "--lossless", "-f").stdout


def test_verbose_shows_each_pass(mmp, surface):
    result = mmp("encode", surface, "-v", "--target-size", "1kB", "--preset", "photo")
    passes = result.stderr.splitlines()[1:]
    assert len(passes) >= 2
    for number, line in enumerate(passes, start=1):
        assert re.fullmatch(
            rf"mmp: s\.png: pass {number}: lambda [\d.]+, effort [12], \d+ bytes, "
            r"PSNR \d\d\.\d\d dB",
            line,
        )
    assert f", {len(passes)} passes\n" in result.stdout


def test_json_has_the_passes(mmp, surface):
    result = mmp("encode", surface, "--json", "--target-size", 10**6)
    facts = json.loads(result.stdout)
    lossless = [
        one for one in facts["passes"] if one["psnr"] is None and one["effort"] == DEFAULT_EFFORT
    ]
    assert facts["output_bytes"] <= min(one["bytes"] for one in lossless)
    assert facts["psnr"] is None
    facts = json.loads(mmp("encode", surface, "--json", "--target-psnr", 43, "-f").stdout)
    (found,) = [
        one
        for one in facts["passes"]
        if one["lam"] == facts["lam"] and one["effort"] == DEFAULT_EFFORT
    ]
    assert (found["bytes"], found["psnr"]) == (facts["output_bytes"], facts["psnr"])
    assert 43 <= facts["psnr"] < 43.5


def test_scores_are_shown(mmp, surface):
    arguments = ["encode", surface, "--target-ssimulacra2", 70, "--preset", "photo", "-f"]
    result = mmp(*arguments, "-v")
    passes = result.stderr.splitlines()[1:]
    assert len(passes) >= 2
    score = r"PSNR \d\d\.\d\d dB, SSIMULACRA2 (-?\d+\.\d\d)"
    reported = [
        re.fullmatch(
            rf"mmp: s\.png: pass {number}: lambda [\d.]+, effort [12], \d+ bytes, {score}", line
        )[1]
        for number, line in enumerate(passes, start=1)
    ]
    facts = json.loads(mmp(*arguments, "--json").stdout)
    assert reported == [f"{one['ssimulacra2']:.2f}" for one in facts["passes"]]
    line = rf", {score}, largest error \d+, \d+\.\d\d s, backend"
    assert re.search(line, result.stdout)[1] in reported
    decoded = mmpcodec.decode(Path("s.mmp").read_bytes())
    found = ssimulacra2(pictures.read(surface).samples, decoded, white=255)
    assert facts["ssimulacra2"] == found >= 70
    other = json.loads(mmp("encode", surface, "--json", "--target-psnr", 30, "-f").stdout)
    assert other["ssimulacra2"] is None
    assert {one["ssimulacra2"] for one in other["passes"]} == {None}


def test_a_score_compares_with_the_filtered_picture(mmp, surface):
    specks = pictures.read(surface).samples.copy()
    specks[::9, ::8] = 255
    pictures.write(specks, surface)
    options = ["--denoise", 2, "--target-ssimulacra2", 90, "--preset", "photo", "--json"]
    facts = json.loads(mmp("encode", surface, *options).stdout)
    filtered = denoise(specks, 2)
    decoded = mmpcodec.decode(Path("s.mmp").read_bytes())
    score = ssimulacra2(filtered, decoded, white=255)
    assert facts["ssimulacra2"] == score >= 90
    assert ssimulacra2(specks, decoded, white=255) < 50


def test_100_is_lossless(mmp, surface):
    result = mmp("encode", surface, "--target-ssimulacra2", 100)
    assert re.search(r" bpp, lossless, .* backend \w+, lambda 0, 1 passes\n", result.stdout)
    decoded = mmpcodec.decode(Path("s.mmp").read_bytes())
    np.testing.assert_array_equal(decoded, pictures.read(surface).samples)


def test_a_picture_without_a_score_does_not_stop_the_others(mmp, surface, files):
    pictures.write(np.zeros((7, 30), np.uint8), "t.png")
    result = mmp("encode", "t.png", surface, "--target-ssimulacra2", 60, "--preset", "plain")
    assert result.exit_code == 3
    assert "mmp: t.png: target_ssimulacra2: a picture of 30x7 pixels has no score" in result.stderr
    assert files() == ["s.mmp", "s.png", "t.png"]


def test_verify_and_denoise_go_with_it(mmp, surface):
    result = mmp(
        "encode", surface, "--verify", "--denoise", 1, "--target-size", 900, "--preset", "plain"
    )
    assert result.exit_code == 0
    assert ", verified" in result.stdout
    assert Path("s.mmp").stat().st_size <= 900


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_of_several_pictures_has_its_own_search(mmp, surface, picture, samples, jobs):
    pictures.write(255 - pictures.read(surface).samples[:40], "t.png")
    result = mmp(
        "encode", surface, "t.png", picture, "--target-size", 500, "--json", "-j", jobs,
        "--preset", "plain",
    )  # fmt: skip
    assert result.exit_code == 0
    facts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["input"] for one in facts] == [surface, "t.png", picture]
    assert all(one["output_bytes"] <= 500 for one in facts)
    assert facts[0]["output_bytes"] > 480
    assert facts[0]["lam"] != facts[1]["lam"]
    assert facts[2]["psnr"] is None


def test_what_is_impossible_for_one_does_not_stop_the_others(mmp, surface, picture, files):
    result = mmp("encode", surface, picture, "--target-bpp", 1, "--preset", "plain")
    assert result.exit_code == 3
    assert re.fullmatch(
        r"mmp: a\.png: target_bpp = 1\.0: the smallest file, at lambda \S+, has \d+ bytes\n"
        r"mmp: 1 of 2 inputs failed\n",
        result.stderr,
    )
    assert files() == ["a.png", "s.mmp", "s.png"]


ONLY = (
    "give only one of --lambda, --quality, --target-size, --target-bpp, --target-psnr, "
    "--target-ssimulacra2"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", 5, "--quality", 75], f"--lambda and --quality: {ONLY}"),
        (["-l", 0, "--target-size", "1kB"], f"--lambda and --target-size: {ONLY}"),
        (["--quality", 5, "--target-psnr", 30], f"--quality and --target-psnr: {ONLY}"),
        (
            ["--target-size", 900, "--target-bpp", 1, "--target-psnr", 30],
            f"--target-size and --target-bpp and --target-psnr: {ONLY}",
        ),
        (["--quality", 101], "quality = 101.0: must be from 0 to 100"),
        (["--quality", -1], "quality = -1.0: must be from 0 to 100"),
        (["--quality", "nan"], "quality = nan: must be from 0 to 100"),
        (["--target-size", 0], "target_size = '0': must be from 1 to 4611686018427387904 bytes"),
        (
            ["--target-size", "-5"],
            "target_size = '-5': must be bytes, or a number with kB, MB, GB, TB (powers of 1000) "
            "or KiB, MiB, GiB, TiB (powers of 1024)",
        ),
        (["--target-bpp", 0], "target_bpp = 0.0: must be finite and above 0"),
        (["--target-bpp", "nan"], "target_bpp = nan: must be finite and above 0"),
        (["--target-psnr", -30], "target_psnr = -30.0: must be finite and above 0"),
        (["--target-psnr", "inf"], "target_psnr = inf: must be finite and above 0"),
        (["--target-ssimulacra2", 101], "target_ssimulacra2 = 101.0: must be from -100 to 100"),
        (["--target-ssimulacra2", 80, "-l", 3], f"--lambda and --target-ssimulacra2: {ONLY}"),
        (
            ["--quality", 100, "--preset", "photo"],
            "lam = 0, which is lossless: preset photo is always lossy; "
            "take preset text, lossless, plain or classic",
        ),
    ],
)
def test_wrong_use(mmp, picture, arguments, message, files):
    result = mmp("encode", picture, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"mmp: {message}\n"
    assert files() == ["a.png"]


@pytest.mark.parametrize(
    "option", ["--quality", "--target-bpp", "--target-psnr", "--target-ssimulacra2"]
)
def test_what_is_no_number_is_wrong_use(mmp, picture, option, files):
    result = mmp("encode", picture, option, "much")
    assert result.exit_code == 2
    assert option in result.stderr
    assert files() == ["a.png"]


def test_help_says_what_quality_is(mmp):
    text = re.sub(r"[\s│]+", " ", mmp("encode", "--help").stdout)
    assert "Visible quality from 0 to 100, 85 by default: the score of SSIMULACRA2" in text


def test_signal_during_the_search_leaves_nothing(process, files):
    noise = np.random.default_rng(3).integers(0, 256, (48, 48)).astype(np.uint8)
    pictures.write(noise, "a.png")
    child = process(
        "encode", "a.png", "-v", "--preset", "plain", "--backend", "reference",
        "--target-size", "750",
    )  # fmt: skip
    assert child.stderr.readline().startswith(b"mmp: backend reference")
    assert child.stderr.readline().startswith(b"mmp: a.png: pass 1: lambda")
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b"")
    assert errors.endswith(b"mmp: interrupted\n")
    assert files() == ["a.png"]
