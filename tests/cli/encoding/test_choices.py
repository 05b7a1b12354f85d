"""``--lossless``, ``--fast`` and ``--best``: the options that they stand for."""

from pathlib import Path

import pytest

from mmpcodec.cli.encoding.choices import Choice, search_of


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (["--lossless"], ["--lambda", "0"]),
        (["--fast"], ["--effort", "1"]),
        (["--fast", "--preset", "photo"], ["--effort", "1", "--preset", "photo"]),
        (["--fast", "--lossless"], ["--preset", "exact"]),
        (["--best"], ["--preset", "best", "--effort", "9"]),
        (["--best", "--lossless"], ["--preset", "best", "--quality", "100"]),
        (["-q"], ["--quiet"]),
    ],
)
def test_short_options_write_the_file_of_the_long_ones(mmp, picture, short, long):
    assert mmp("encode", picture, *short, "-o", "short.mmp").exit_code == 0
    assert mmp("encode", picture, *long, "-o", "long.mmp").exit_code == 0
    assert Path("short.mmp").read_bytes() == Path("long.mmp").read_bytes()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, Choice("auto", 2)),
        ({"effort": 4, "preset": "photo"}, Choice("photo", 4)),
        ({"fast": True}, Choice("auto", 1)),
        ({"fast": True, "preset": "mixed"}, Choice("mixed", 1)),
        ({"fast": True, "lossless": True}, Choice("exact", 1)),
        ({"fast": True, "lossless": True, "preset": "text"}, Choice("text", 1)),
        ({"best": True, "lossless": True}, Choice("best", 9)),
    ],
)
def test_preset_and_effort(given, found):
    none = {"preset": None, "effort": None, "fast": False, "best": False, "lossless": False}
    assert search_of(**{**none, **given}) == found


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("encode", ["--lossless", "-l", "0"], "--lossless and --lambda"),
        ("encode", ["--lossless", "--quality", "80"], "--lossless and --quality"),
        ("encode", ["--lossless", "--target-size", "9kB"], "--lossless and --target-size"),
        ("encode", ["--lossless", "--target-bpp", "1"], "--lossless and --target-bpp"),
        ("encode", ["--lossless", "--target-psnr", "40"], "--lossless and --target-psnr"),
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
