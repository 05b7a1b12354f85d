"""``mmp highlight`` of pages and of series of slices."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage
from support.books import collection_of, write_book
from support.picture_files import slice_of

import mmpcodec
from mmpcodec import pictures
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Calibration, Metadata, Resolution

MILLIMETRE = 10**6
BOX = (slice(3, 7), slice(10, 19), slice(20, 25))


@pytest.fixture
def volume(folder):
    """A series of 9 slices of 0.5x0.25 mm, 3 mm apart, in Hounsfield units, with a bright box."""
    rng = np.random.default_rng(4)
    found = rng.integers(900, 1100, (9, 32, 40)).astype(np.uint16)
    found[BOX] += 1500
    write_series("ct.mmp", found, [3 * MILLIMETRE * k for k in range(9)])
    return found


def write_series(name, volume, positions, **other):
    text = (Calibration(2.0, -1024.0, "HU").text(),)
    metadata = Metadata(resolution=Resolution(Fraction(20), Fraction(40), "centimetre"), text=text)
    files = [
        mmpcodec.encode(
            each, 0, preset="lossless", depth=12, metadata=other.get(str(number), metadata)
        )
        for number, each in enumerate(volume)
    ]
    Path(name).write_bytes(collection_of(files, Role.SLICE, [(each,) for each in positions]))


def test_the_box_of_a_series(mmp, volume):
    result = mmp("highlight", "ct.mmp", "--offset", "1800", "--json", "-k", 2, "--csv", "r.csv")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    (box,) = facts["boxes"]
    names = ("first_slice", "last_slice", "top", "bottom", "left", "right")
    assert [box[name] for name in names] == [4, 7, 10, 18, 20, 24]
    inside = volume[BOX].astype(float)
    assert box["sum"] == (inside - 1800).sum()
    assert (box["mean"], box["volume"]) == (pytest.approx(inside.mean()), 4 * 9 * 5)
    assert box["value_mean"] == pytest.approx(2 * inside.mean() - 1024)
    assert (box["value_min"], box["unit"]) == (2 * inside.min() - 1024, "HU")
    sides = [box[name] for name in ("width_mm", "height_mm", "depth_mm")]
    assert sides == pytest.approx([2.5, 2.25, 12])
    places = [box[name] for name in ("left_mm", "top_mm", "front_mm")]
    assert places == pytest.approx([10, 2.5, 7.5])
    assert (facts["slice_distance_mm"], facts["evenly_spaced"]) == (3, True)
    assert (facts["slices"], facts["height"], facts["width"]) == volume.shape
    (row,) = csv.DictReader(Path("r.csv").read_text().splitlines())
    assert (row["first_slice"], row["depth_mm"], row["input"]) == ("4", "12.0", "ct.mmp")


def test_the_box_is_drawn_on_its_slices(mmp, volume):
    result = mmp("highlight", "ct.mmp", "--offset", "1800", "--sheet", "sheet.png")
    assert result.exit_code == 0, result.stderr
    names = [f"ct.mmp-00{number}.regions.png" for number in (4, 5, 6, 7)]
    assert sorted(path.name for path in Path().glob("*.regions.png")) == names
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ct.mmp: 9 slices of 40x32, 1 box beyond level 1800 of 4095")
    assert lines[1] == f"  drawn in {names[0]} to {names[-1]}"
    assert "1: 5x9x4 at column 20, row 10, slices 4 to 7" in result.stdout
    assert "2.5x2.2x12.0 mm" in result.stdout
    drawn = pictures.read(names[0]).samples
    assert (drawn[8, 18:27] == (230, 60, 50)).all()  # the outline lies around the box
    assert Path("sheet.png").exists()
    again = mmp("highlight", "ct.mmp", "--offset", "1800")
    assert (again.exit_code, f"{names[0]}: exists" in again.stderr) == (1, True)


def test_uneven_and_unequal_slices(mmp, volume):
    positions = [3 * MILLIMETRE * k for k in range(9)]
    positions[-1] += 20 * MILLIMETRE
    write_series("gap.mmp", volume, positions)
    result = mmp("highlight", "gap.mmp", "--offset", "1800")
    assert "the slices are not evenly spaced" in result.stdout
    write_series("mixed.mmp", [*volume[:2], volume[2, :30]], positions[:3])
    result = mmp("highlight", "mixed.mmp")
    assert result.exit_code == 1
    assert "mixed.mmp: slice 3: size is 40x30 of gray" in result.stderr
    other = Metadata(text=(Calibration(1.0, 0.0, "HU").text(),))
    write_series("scaled.mmp", volume[:3], positions[:3], **{"1": other})
    result = mmp("highlight", "scaled.mmp")
    assert "scaled.mmp: slice 2: calibration is 1 x + 0 HU" in result.stderr
    result = mmp("highlight", "ct.mmp", "--max-samples", 9 * 32 * 40 - 1)
    assert result.exit_code == 1
    assert "11520 samples of all slices together, the limit is 11519" in result.stderr


def test_one_slice_is_a_picture(mmp, volume):
    pictures.write(pictures.Picture(volume[4], 12), "slice.png")
    alone = json.loads(mmp("highlight", "slice.png", "--offset", "1800", "--json").stdout)
    found = mmp("highlight", "ct.mmp", "--page", 5, "--offset", "1800", "--json", "-o", "d.png")
    (one,), (two,) = alone["regions"], json.loads(found.stdout)["regions"]
    assert [one[name] for name in ("left", "top", "sum")] == [
        two[name] for name in ("left", "top", "sum")
    ]
    result = mmp("highlight", "ct.mmp", "--page", 10)
    assert (result.exit_code, "page = 10: must be 1 to 9" in result.stderr) == (1, True)


def test_pages_are_searched_one_by_one(mmp, folder):
    pages = [np.full((20, 30), 10, np.uint8) for _ in range(3)]
    pages[1] = np.full((25, 22, 3), 10, np.uint8)
    pages[0][2:5, 3:9], pages[1][4:9, 6:8] = 250, 240
    write_book("book.mmp", pages)
    result = mmp("highlight", "book.mmp", "-O", "out", "--json", "--csv", "r.csv")
    assert result.exit_code == 0, result.stderr
    first, second, third = json.loads(result.stdout)["pages"]
    assert [page["input"] for page in (first, second, third)] == [
        f"book.mmp: page {number}" for number in (1, 2, 3)
    ]
    (region,) = first["regions"]
    assert [region[name] for name in ("left", "top", "width", "height")] == [3, 2, 6, 3]
    assert (len(second["regions"]), third["regions"]) == (1, [])
    assert [page["output"] for page in (first, third)] == [
        "out/book.mmp-001.regions.png",
        "out/book.mmp-003.regions.png",
    ]
    assert pictures.read("out/book.mmp-002.regions.png").samples.shape == (25, 22, 3)
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [row["input"] for row in rows] == ["book.mmp: page 1", "book.mmp: page 2"]
    result = mmp("highlight", "book.mmp", "-o", "-")
    assert (result.exit_code, "holds 3 pictures" in result.stderr) == (1, True)


@pytest.fixture
def series(folder, volume):
    """DICOM files of the slices, 3 mm apart, in no order."""
    pytest.importorskip("pydicom")
    Path("series").mkdir()
    for number, samples in enumerate(volume):
        more = {"RescaleSlope": "2", "RescaleIntercept": "-1024", "RescaleType": "HU"}
        data = slice_of(samples, 3 * number, PixelSpacing=[0.25, 0.5], **more)
        Path("series", f"{(5 * number) % 9}.dcm").write_bytes(data)
    return volume


def test_dicom_files_of_one_series_are_a_volume(mmp, series):
    result = mmp("highlight", "series", "-O", "out", "--offset", "1800", "--json")
    assert result.exit_code == 0, result.stderr
    assert "9 files of one series" in result.stderr
    facts = json.loads(result.stdout)
    (box,) = facts["boxes"]
    assert (box["first_slice"], box["last_slice"], box["left"], box["top"]) == (4, 7, 20, 10)
    sides = [box[name] for name in ("width_mm", "height_mm", "depth_mm")]
    assert sides == pytest.approx([2.5, 2.25, 12])
    assert box["value_min"] == 2 * int(series[BOX].min()) - 1024
    assert len(facts["outputs"]) == len(list(Path("out").iterdir())) == 4
    result = mmp("highlight", "series", "-O", "alone", "--offset", "1800", "--page", 1)
    assert result.exit_code == 0, result.stderr
    assert len(list(Path("alone").iterdir())) == 9


def test_medians_over_dicom_files(mmp, series):
    result = mmp("median", "series", "-r1", "--slices", 1, "-O", "out")
    assert result.exit_code == 0, result.stderr
    expected = ndimage.median_filter(series, (3, 3, 3), mode="reflect")
    for path, each in zip(sorted(Path("out").iterdir()), expected, strict=True):
        np.testing.assert_array_equal(pictures.read(path).samples, each)
