"""``mmp thumbnail``."""

from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata


def test_draws_a_small_png_over_what_is_there(mmp, encoded, samples):
    Path("out").write_bytes(b"a file of the thumbnailer")
    result = mmp("thumbnail", encoded, "out", 10)
    assert (result.exit_code, result.output) == (0, "")
    drawn = pictures.from_bytes(Path("out").read_bytes(), "out")
    assert (drawn.samples.shape, drawn.depth) == ((8, 10), 8)
    assert mmp("thumbnail", encoded, "out", 64).exit_code == 0
    np.testing.assert_array_equal(pictures.read("out").samples, samples)


def test_standard_output_and_profile(mmp, colours):
    Path("c.mmp").write_bytes(
        mmpcodec.encode(colours.samples, 0, metadata=colours.metadata, preset="lossless")
    )
    result = mmp("thumbnail", "c.mmp", "-", 8)
    drawn = pictures.from_bytes(result.stdout_bytes, "stdout")
    assert max(drawn.samples.shape[:2]) == 8
    assert drawn.metadata.icc == colours.metadata.icc is not None
    assert drawn.metadata.without("icc") == Metadata()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.mmp", "a.mmp", "9"], 2, "a.mmp: is an input, and would be overwritten"),
        (["a.mmp", "b.png", "0"], 2, "SIZE"),
        (["none.mmp", "b.png", "9"], 1, "none.mmp: No such file or directory"),
        (["a.mmp", "no/b.png", "9"], 1, "no: is no such folder"),
        (["a.mmp", "b.png", "9", "--max-samples", "10"], 1, "max_samples (--max-samples) raises"),
    ],
)
def test_errors(mmp, encoded, files, arguments, code, message):
    result = mmp("thumbnail", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert files() == ["a.mmp"]
