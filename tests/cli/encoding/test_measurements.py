"""Measurements on the command line: lossless unless loss is asked for, and errors in their unit."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import dicom_of

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.pictures import Picture

SIDE = 80


def values(seed=0):
    """Hounsfield units: air, and tissue with noise of 12."""
    rows, columns = np.mgrid[:SIDE, :SIDE]
    tissue = 40 + 60 * np.sin(columns / 9) * np.cos(rows / 7)
    found = np.where((rows - 40) ** 2 + (columns - 40) ** 2 < 900, tissue, -1000)
    found = found + np.random.default_rng(seed).normal(0, 12, found.shape)
    return found.clip(-1024, None).round().astype(int)


@pytest.fixture
def ct(folder):
    """A CT of 16 bits whose samples are its values plus 1024, and what its file decodes to."""
    stored = (values() + 1024).astype(np.uint16)
    more = {"RescaleSlope": "1", "RescaleIntercept": "-1024", "RescaleType": "HU"}
    Path("ct.dcm").write_bytes(dicom_of(stored, 16, **more))
    return stored


def reported(result):
    """The only result that --json printed."""
    (line,) = result.stdout.splitlines()
    return json.loads(line)


def test_a_ct_is_lossless_by_default(mmp, ct):
    result = mmp("encode", "ct.dcm")
    assert result.exit_code == 0, result.output
    assert "lossless, as measurements are without --quality" in result.stdout
    assert np.array_equal(mmpcodec.decode(Path("ct.mmp").read_bytes()), ct)


@pytest.mark.parametrize("tile", [(), ("--tile", 64)])
def test_measurements_of_all_kinds_are_lossless_by_default(mmp, folder, tile):
    deep = (values() + 1024).astype(np.uint16)
    shallow = ((values() + 1024) // 16).clip(0, 255).astype(np.uint8)
    calibrated = Metadata(text=(Calibration(0.5, -10.0, "mGy").text(),))
    np.save("deep.npy", deep)
    np.save("shallow.npy", shallow)
    pictures.write(Picture(shallow, 8, calibrated), "calibrated.png")
    pictures.write(Picture(deep, 12, calibrated), "deep.png")
    for name, samples in (
        ("deep.npy", deep),
        ("shallow.npy", shallow),
        ("calibrated.png", shallow),
        ("deep.png", deep),
    ):
        facts = reported(mmp("encode", name, "--json", "-f", *tile))
        assert (facts["spared"], facts["max_error"], facts["psnr"]) == (True, 0, None), name
        coded = Path(name).with_suffix(".mmp").read_bytes()
        assert np.array_equal(mmpcodec.decode(coded), samples), name


def test_a_range_without_samples_is_remarked_on(mmp, folder):
    pictures.write(Picture((values() + 32768).astype(np.uint16), 16), "ct.png")
    result = mmp("encode", "ct.png", "--range", "0:4095", "--quality", "70")
    assert "ct.png: has no sample from 0 to 4095, the range to which" in result.stderr
    assert "a --range within 31744 to 33791 has samples" in result.stderr


def test_a_deep_photograph_is_coded_with_loss_in_its_range(mmp, folder):
    deep = (values() + 1024).astype(np.uint16)
    pictures.write(Picture(deep, 16), "photo.png")
    result = mmp("encode", "photo.png")
    assert "of levels 0 to 2047, largest error " in result.stdout
    assert "photo.png: uses few of its levels, 0 to 2047 of 0 to 65535" in result.stderr
    facts = reported(mmp("encode", "photo.png", "--json", "-f", "--range", "0:4095"))
    assert facts["range"] == [0, 4095]
    assert 0 < facts["max_error"] < 460
    shown = mmp("info", "photo.mmp").stdout
    assert "range    levels 0 to 4095, to which lambda and quality refer" in shown
    assert "levels   11 bits are coded; level 0 is sample " in shown
    assert reported(mmp("info", "photo.mmp", "--json"))["range"] == [0, 4095]


@pytest.mark.parametrize(
    ("asked", "most"), [("3", 3), ("2HU", 2), ("2.7 hu", 2), ("0.4HU", 0), ("0", 0)]
)
def test_a_maximal_error_in_samples_or_units(mmp, ct, asked, most):
    result = mmp("encode", "ct.dcm", "--max-error", asked, "--json")
    assert result.exit_code == 0, result.output
    assert reported(result)["max_error"] == most
    error = np.abs(mmpcodec.decode(Path("ct.mmp").read_bytes()).astype(int) - ct).max()
    assert error == most


def test_the_line_has_the_error_in_the_unit(mmp, folder):
    stored = (values() + 1024).astype(np.uint16)
    more = {"RescaleSlope": "0.25", "RescaleIntercept": "-256", "RescaleType": "HU"}
    Path("ct.dcm").write_bytes(dicom_of(stored, 12, **more))
    result = mmp("encode", "ct.dcm", "--max-error", "1HU")
    assert ", largest error 4 (1 HU), " in result.stdout
    compared = mmp("compare", "ct.dcm", "ct.mmp")
    assert "largest error 4 (1 HU) of 4095" in compared.stdout


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("2SUV", "ct.dcm: max_error = 2SUV: the picture has the unit HU"),
        ("2,5HU", "max_error = '2,5HU': must be a whole number of samples"),
        ("1e3", "max_error = '1e3': must be written without an exponent, such as 1000 for 1e3"),
        ("1.5E-3HU", "max_error = '1.5E-3HU': must be written without an exponent"),
        ("32768", "max_error = 32768: must be from 0 to 32767"),
    ],
)
def test_other_maximal_errors_are_refused(mmp, ct, asked, says):
    result = mmp("encode", "ct.dcm", f"--max-error={asked}")
    assert result.exit_code != 0
    assert says in result.stderr
    assert not Path("ct.mmp").exists()


@pytest.mark.parametrize("levels", ["4095", "0:", ":9", "9:3", "0:70000", "a:b", "0:4095:9"])
def test_wrong_ranges_are_refused(mmp, ct, levels):
    result = mmp("encode", "ct.dcm", "--range", levels, "--quality", 80)
    assert result.exit_code == 2
    assert "range = " in result.stderr
    assert not Path("ct.mmp").exists()


def test_compare_measures_in_the_range_of_the_file(mmp, ct):
    facts = reported(mmp("encode", "ct.dcm", "--quality", 85, "--json", "--range", "824:1224"))
    compared = reported(mmp("compare", "ct.dcm", "ct.mmp", "--json"))
    assert compared["range"] == [824, 1224]
    assert compared["psnr"] == pytest.approx(facts["psnr"], abs=1e-6)
    assert compared["max_error"] == facts["max_error"]
    wide = reported(mmp("compare", "ct.dcm", "ct.mmp", "--json", "--range", "0:4000"))
    assert wide["psnr"] == pytest.approx(facts["psnr"] + 20, abs=1e-6)


def test_tiles_of_a_file_have_its_range_however_they_are_coded(mmp, folder):
    deep = np.pad((values() + 31744).astype(np.uint16), ((0, 70), (0, 60)), mode="reflect")
    pictures.write(Picture(deep, 16), "slide.pgm")
    result = mmp("encode", "slide.pgm", "--tile", 64, "--quality", 85)
    assert result.exit_code == 0, result.output
    by_tiles = Path("slide.mmp").read_bytes()
    assert by_tiles == mmpcodec.encode(deep, quality=85, tile_size=64)
    assert mmpcodec.inspect(by_tiles).header.metadata.range[1] < 65535


def test_a_budget_of_deep_pictures_measures_in_their_range(mmp, folder):
    for number in range(2):
        deep = (values(number) + 31744).astype(np.uint16)
        pictures.write(Picture(deep, 16), f"{number}.pgm")
    result = mmp("budget", "0.pgm", "1.pgm", "--total", "6kB", "-O", "out", "--json")
    assert result.exit_code == 0, result.output
    assert 25 < json.loads(result.stdout)["plans"]["exact"]["psnr"] < 60
