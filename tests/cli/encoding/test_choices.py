"""``--lossless``, ``--fast`` and ``--best``: what they stand for; options without effect."""

from pathlib import Path

import numpy as np
import pytest

from mmpcodec import PRESETS, pictures
from mmpcodec.cli.encoding.choices import EFFECTS, preset_and_effort


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["--lossless"], ["--lambda", "0"]),
        (["--fast"], ["--effort", "1"]),
        (["--fast", "--preset", "photo"], ["--effort", "1", "--preset", "photo"]),
        (["--fast", "--lossless"], ["--preset", "lossless", "--effort", "1"]),
        (["--best"], ["--preset", "best", "--effort", "9"]),
        (["--best", "--lossless"], ["--preset", "best", "--effort", "9", "--quality", "100"]),
        (["-q"], ["--quiet"]),
    ],
)
def test_short_options_write_the_file_of_the_long_ones(mmp, picture, short, long):
    assert mmp("encode", picture, *short, "-o", "short.mmp").exit_code == 0
    assert mmp("encode", picture, *long, "-o", "long.mmp").exit_code == 0
    assert Path("short.mmp").read_bytes() == Path("long.mmp").read_bytes()


@pytest.mark.parametrize(
    ("given", "lossless", "found"),
    [
        ({}, False, ("auto", 2)),
        ({"effort": 4, "preset": "photo"}, False, ("photo", 4)),
        ({"fast": True}, False, ("auto", 1)),
        ({"fast": True, "preset": "mixed"}, False, ("mixed", 1)),
        ({"fast": True}, True, ("lossless", 1)),
        ({"fast": True, "preset": "text"}, True, ("text", 1)),
        ({"best": True}, True, ("best", 9)),
    ],
)
def test_preset_and_effort(given, lossless, found):
    assert preset_and_effort(**given, lossless=lossless) == found


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("encode", ["--lossless", "-l", "0"], "--lossless and --lambda"),
        ("encode", ["--lossless", "--quality", "80"], "--lossless and --quality"),
        ("encode", ["--lossless", "--target-size", "9kB"], "--lossless and --target-size"),
        ("encode", ["--lossless", "--target-bpp", "1"], "--lossless and --target-bpp"),
        ("encode", ["--lossless", "--target-psnr", "40"], "--lossless and --target-psnr"),
        (
            "encode",
            ["--lossless", "--target-ssimulacra2", "80"],
            "--lossless and --target-ssimulacra2",
        ),
        ("encode", ["--fast", "--best"], "--fast and --best"),
        ("encode", ["--fast", "--effort", "3"], "--fast and --effort"),
        ("encode", ["--best", "--effort", "9"], "--best and --effort"),
        ("encode", ["--best", "--preset", "best"], "--best and --preset"),
        ("budget", ["--total", "1kB", "--fast", "--best"], "--fast and --best"),
    ],
)
def test_contradictions_are_wrong_use(mmp, picture, files, command, arguments, message):
    result = mmp(command, picture, *arguments)
    assert (result.exit_code, result.stderr) == (2, f"mmp: {message}: give only one of them\n")
    assert files() == ["a.png"]


@pytest.fixture
def rich(folder):
    """A picture on which every option has an effect that can have one."""
    rows, columns = np.indices((96, 96))
    waves = 120 + 60 * np.sin(rows / 5) + 40 * np.sin(columns / 3 + rows / 9)
    noise = np.random.default_rng(3).integers(0, 40, (96, 96))
    letters = np.where(np.random.default_rng(4).integers(0, 3, (12, 12)), 240, 15).repeat(3, 0)
    page = np.tile(letters.repeat(3, 1), (3, 2))[:96, :48]
    pictures.write(
        np.hstack([page, (waves + noise)[:, 48:]]).clip(0, 255).astype(np.uint8), "r.png"
    )
    return "r.png"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("option", "value", "other"),
    [
        ("--lambda", 8, 64),
        ("--quality", 50, 80),
        ("--target-psnr", 30, 40),
        ("--target-ssimulacra2", 40, 80),
        ("--effort", 1, 5),
        ("--rate-model", "adaptive", "log2"),
    ],
)
def test_an_option_without_effect_is_said(mmp, rich, preset, option, value, other):
    files = set()
    for given in (value, other):
        result = mmp("encode", rich, "--preset", preset, option, given, "-f")
        files.add(Path("r.mmp").read_bytes())
    said = f"mmp: {option}: has no effect with preset {preset}; take preset "
    assert result.exit_code == 0
    assert result.stderr.startswith(said) == (len(files) == 1)
    assert (result.stderr == "") == (len(files) == 2)


def test_remarks(mmp, picture):
    def said(*arguments, command="encode"):
        return mmp(command, picture, *arguments, "-f").stderr.replace("mmp: ", "").splitlines()

    assert said("--effort", 3, "--preset", "plain") == [
        "--effort: has no effect with preset plain; take preset photo, mixed or lossless"
    ]
    assert said("--fast", "--preset", "text", "--rate-model", "log2") == [
        "--fast: has no effect with preset text; take preset photo, mixed or lossless"
    ]
    assert said("--lossless", "--effort", 3) == []
    assert said("--quality", 80, "--preset", "lossless", "--rate-model", "log2") == [
        "--quality: has no effect with preset lossless; take preset photo, text, mixed, plain or "
        "classic",
        "--rate-model: has no effect with preset lossless; take preset text, mixed, plain or "
        "classic",
    ]
    arguments = ["--total", "9kB", "--lambdas", "8,16", "--preset", "lossless", "--dry-run"]
    assert said(*arguments, command="budget") == [
        "--lambdas: has no effect with preset lossless; take preset photo, text, mixed, plain or "
        "classic"
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fast"],
        ["--fast", "--lossless"],
        ["--best", "--lossless"],
        ["--effort", "3"],
        ["--lossless", "--preset", "lossless"],
        ["--quality", "100", "--preset", "lossless"],
        ["--lambda", "0", "--preset", "lossless"],
        ["--effort", "3", "--preset", "plain", "--quiet"],
    ],
)
def test_no_remark(mmp, picture, arguments):
    assert mmp("encode", picture, *arguments).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--preset", "photo", "--lossless"],
            2,
            "lam = 0, which is lossless: preset photo is always lossy; take preset text, lossless, "
            "plain or classic",
        ),
        (
            ["--preset", "lossless", "--partition", "dyadic"],
            2,
            "partition = 'dyadic': has no effect with preset lossless; take preset text, mixed, "
            "plain or classic",
        ),
        (
            ["--preset", "text", "--depth", "12", "deep.png"],
            1,
            "deep.png: depth is 12, allowed with preset text is 1 to 8; take preset photo or "
            "lossless",
        ),
        (
            ["--preset", "text", "--depth", "12", "deep.png", "--lossless"],
            1,
            "deep.png: depth is 12, allowed with preset text is 1 to 8; take preset lossless",
        ),
        (
            ["--preset", "photo", "--target-psnr", "120", "--depth", "12", "deep.png"],
            1,
            "dB; preset lossless is lossless",
        ),
        (
            ["--preset", "lossless", "--target-size", "99"],
            1,
            "bytes; preset photo, text, mixed, plain or classic makes smaller files",
        ),
    ],
)
def test_errors_name_a_preset_that_can(mmp, rich, arguments, code, message):
    if "deep.png" in arguments:
        noise = np.random.default_rng(5).integers(0, 4096, (32, 32)).astype(np.uint16)
        pictures.write(pictures.Picture(noise, 12), "deep.png")
        rich = "deep.png"
        arguments = [argument for argument in arguments if argument != rich]
    result = mmp("encode", rich, *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.endswith(f"{message}\n")
    assert result.stderr.count("\n") == 1


def test_every_option_of_the_table_is_one_of_a_command(mmp):
    shown = mmp("encode", "--help").stdout + mmp("budget", "--help").stdout
    assert all(option in shown for option in EFFECTS)
