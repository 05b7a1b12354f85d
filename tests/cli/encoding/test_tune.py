"""mmp encode --tune."""

import numpy as np
import pytest
from support.picture_files import dicom_of

import mmpcodec
from mmpcodec import pictures
from mmpcodec.tools import BlockTools


@pytest.fixture
def picture(tmp_path):
    rows, columns = np.indices((64, 80))
    path = tmp_path / "a.png"
    samples = (rows * columns % 251).astype(np.uint8)
    path.write_bytes(pictures.to_bytes(pictures.Picture(samples, 8), "png"))
    return path


def test_tuned_for_the_eye(mmp, picture):
    options = ("--preset", "photo")
    assert mmp("encode", picture, *options, "--tune", "eye").exit_code == 0
    data = picture.with_suffix(".mmp").read_bytes()
    assert mmpcodec.inspect(data).layers[0].tools.quantisation_matrix == 6
    assert "quantisation matrix 6" in mmp("info", picture.with_suffix(".mmp")).stdout
    assert mmp("encode", picture, *options, "--tune", "psnr", "-f").exit_code == 0
    measured = picture.with_suffix(".mmp").read_bytes()
    assert mmpcodec.inspect(measured).layers[0].tools.quantisation_matrix == 0
    assert mmp("encode", picture, *options, "-f").exit_code == 0
    assert picture.with_suffix(".mmp").read_bytes() == data


@pytest.mark.parametrize("rate", [["-l", 5], ["--target-psnr", 30], ["--tune", "auto", "-l", 5]])
def test_measurements_are_tuned_for_psnr(mmp, picture, rate):
    assert mmp("encode", picture, "--preset", "photo", *rate).exit_code == 0
    layer = mmpcodec.inspect(picture.with_suffix(".mmp").read_bytes()).layers[0]
    assert (isinstance(layer.tools, BlockTools), layer.tools.quantisation_matrix) == (True, 0)


def test_deep_pictures_are_tuned_for_psnr(mmp, picture):
    deep = picture.with_name("deep.png")
    samples = pictures.read(picture).samples.astype(np.uint16) << 8
    pictures.write(samples, deep)
    assert mmp("encode", deep, "--preset", "photo").exit_code == 0
    layer = mmpcodec.inspect(deep.with_suffix(".mmp").read_bytes()).layers[0]
    assert (isinstance(layer.tools, BlockTools), layer.tools.quantisation_matrix) == (True, 0)


def test_dicom_is_tuned_for_psnr(mmp, picture):
    """Also if its samples are not calibrated."""
    pytest.importorskip("pydicom", reason="needs pydicom, of the extra dicom")
    samples = pictures.read(picture).samples
    file = picture.with_name("a.dcm")
    file.write_bytes(dicom_of(samples, 8))
    assert mmp("encode", file, "--preset", "photo", "-f").exit_code == 0
    layer = mmpcodec.inspect(file.with_suffix(".mmp").read_bytes()).layers[0]
    assert (isinstance(layer.tools, BlockTools), layer.tools.quantisation_matrix) == (True, 0)


@pytest.mark.parametrize("rate", [["--quality", 60], ["--target-bpp", 1]])
def test_other_rates_are_tuned_for_the_eye(mmp, picture, rate):
    assert mmp("encode", picture, "--preset", "photo", *rate).exit_code == 0
    layer = mmpcodec.inspect(picture.with_suffix(".mmp").read_bytes()).layers[0]
    assert layer.tools.quantisation_matrix == 6


def test_a_wrong_aim(mmp, picture):
    found = mmp("encode", picture, "--tune", "nose")
    assert found.exit_code == 2
    assert "tune = 'nose': must be one of auto, psnr, eye" in found.stderr
    assert not picture.with_suffix(".mmp").exists()
