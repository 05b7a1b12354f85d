"""Limits of pictures that commands read."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.limits import UNLIMITED

COMMANDS = [
    ("encode", "a.png"),
    ("encode", "a.png", "--verify"),
    ("compare", "a.png", "a.png"),
    ("median", "a.png", "-r", "1"),
    ("highlight", "a.png"),
    ("highlight", "a.png", "--mask", "a.png"),
    ("budget", "a.png", "--total", "1MB", "-l", "8", "--cache", "none", "--preset", "plain"),
    ("sweep", "a.png", "--out", "out", "--codec", "mmp:preset=plain,lambda=64", "--peers", "none"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("option", "least", "message"),
    [
        ("--max-samples", 320, "320 samples, the limit is 319; max_samples (--max-samples) raises"),
        (
            "--max-dimension",
            20,
            "20 pixels in a row or column, the limit is 19; max_dimension (--max-dimension) raises",
        ),
    ],
)
def test_limits(mmp, picture, arguments, option, least, message):
    result = mmp(*arguments, option, least - 1)
    assert result.exit_code == 1
    assert message in result.stderr
    assert (
        mmp(*arguments, option, least, *(() if arguments[0] == "sweep" else ("-f",))).exit_code == 0
    )


def test_tiles_have_limits_of_their_own(mmp, folder):
    for name in ("a.png", "a.pgm"):
        pictures.write(np.zeros((64, 128), np.uint8), name)
    arguments = ("--tile", 64, "-o", "a.mmp", "-f", "--max-samples")
    assert mmp("encode", "a.png", *arguments, 4096).exit_code == 1  # PNG is read whole
    assert mmp("encode", "a.pgm", *arguments, 4096).exit_code == 0
    result = mmp("encode", "a.pgm", *arguments, 4095)
    assert "4096 samples, the limit is 4095" in result.stderr


def test_verification_has_no_limits(mmp, picture, monkeypatch):
    """Decoding counts whole fragments, which may be more samples than the limit of reading."""
    decode, seen = mmpcodec.decode, []

    def watched(*arguments, limits=None, **options):
        seen.append(limits)
        return decode(*arguments, limits=limits, **options)

    monkeypatch.setattr(mmpcodec, "decode", watched)
    assert mmp("encode", picture, "--verify", "--max-samples", 320).exit_code == 0
    assert seen == [UNLIMITED]
