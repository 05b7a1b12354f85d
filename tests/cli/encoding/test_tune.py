"""mmp encode --tune."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def picture(tmp_path):
    rows, columns = np.indices((64, 80))
    path = tmp_path / "a.png"
    samples = (rows * columns % 251).astype(np.uint8)
    path.write_bytes(pictures.to_bytes(pictures.Picture(samples, 8), "png"))
    return path


def test_tuned_for_the_eye(mmp, picture):
    options = ("--format", 2, "--preset", "photo")
    assert mmp("encode", picture, *options, "--tune", "eye").exit_code == 0
    data = picture.with_suffix(".mmp").read_bytes()
    assert mmpcodec.inspect(data).layers[0].tools.frequency_weights == 6
    assert "frequency weights 6" in mmp("info", picture.with_suffix(".mmp")).stdout
    assert mmp("encode", picture, *options, "--tune", "psnr", "-f").exit_code == 0
    tuned = picture.with_suffix(".mmp").read_bytes()
    assert mmp("encode", picture, *options, "-f").exit_code == 0
    assert picture.with_suffix(".mmp").read_bytes() == tuned


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune", "eye"], "tune = 'eye': needs version 2 of the format; version is 1"),
        (["--tune", "nose", "--format", 2], "tune = 'nose': must be one of psnr, eye"),
    ],
)
def test_wrong_aims(mmp, picture, options, message):
    found = mmp("encode", picture, *options)
    assert found.exit_code == 2
    assert message in found.stderr
    assert not picture.with_suffix(".mmp").exists()
