"""``mmp highlight``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.picture_files import dicom_of

import mmpcodec
from mmpcodec import backends, pictures


@pytest.fixture
def scan(folder):
    """A dark picture with two bright rectangles."""
    samples = np.full((48, 64), 30, np.uint8)
    samples[10:20, 5:25], samples[30:36, 40:50] = 220, 200
    pictures.write(samples, "scan.png")
    return samples


def pixels_of(name):
    with Image.open(name) as image:
        return np.array(image)


def regions_of(result):
    return [
        (r["left"], r["top"], r["right"], r["bottom"]) for r in json.loads(result.stdout)["regions"]
    ]


def test_deep_colours_with_alpha(mmp):
    samples = np.full((20, 30, 4), 900, np.uint16)
    samples[5:9, 10:13, :3] = 3800
    pictures.write(pictures.Picture(samples, 12), "deep.png")
    result = mmp("highlight", "deep.png", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["white"] == 4095
    (region,) = facts["regions"]
    assert [region[name] for name in ("left", "top", "width", "height")] == [10, 5, 3, 4]


def test_draws_and_tells(mmp, scan):
    result = mmp("highlight", "scan.png", "-k", 2)
    assert result.exit_code == 0, result.stderr
    assert "scan.png -> scan.png.regions.png: 64x48, 2 regions" in result.stdout
    assert "1: 20x10 at column 5, row 10; mean 220.0, sum 18500" in result.stdout
    drawn = pixels_of("scan.png.regions.png")
    assert drawn.shape == (48, 64, 3)
    assert (drawn[30:36, 40:50] == 200).all()
    assert (drawn != scan[..., None]).any()


def test_json_and_csv_have_the_corners(mmp, scan):
    result = mmp("highlight", "scan.png", "-k", 5, "--json", "--csv", "r.csv", "-o", "d.png")
    assert regions_of(result) == [(5, 10, 24, 19), (40, 30, 49, 35)]
    facts = json.loads(result.stdout)
    assert (facts["offset"], facts["scale"], facts["white"]) == (127.5, 2, 255)
    assert facts["regions"][1]["area"] == 60
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [(row["input"], row["rank"], row["left"]) for row in rows] == [
        ("scan.png", "1", "5"),
        ("scan.png", "2", "40"),
    ]
    assert float(rows[0]["mean"]) == 220


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--offset", "210"], [(5, 10, 24, 19)]),
        (["--offset", "otsu"], [(5, 10, 24, 19)]),
        (["--exclude-border", "25%"], [(12, 12, 24, 19)]),
        (["--max-width", "50%", "--max-height", 4], None),
        (["--dark", "--max-width", "10"], None),
        (["--mask", "mask.png"], [(40, 30, 49, 35)]),
        (["--offset", "250"], []),
    ],
)
def test_options(mmp, scan, arguments, expected):
    mask = np.full(scan.shape, 255, np.uint8)
    mask[:25] = 0
    pictures.write(mask, "mask.png")
    result = mmp("highlight", "scan.png", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    if expected is not None:
        assert regions_of(result) == expected
    else:
        assert len(regions_of(result)) == 1


def test_backends_agree(mmp, scan):
    results = [
        regions_of(mmp("highlight", "scan.png", "--json", "-k", 3, "-f", "--backend", backend))
        for backend in ("cpu", "reference", "auto")
    ]
    assert results[0] == results[1] == results[2]


@pytest.mark.gpu
@pytest.mark.parametrize("options", [[], ["--max-width", "20", "--dark"], ["--offset", "otsu"]])
def test_the_device_finds_the_same(mmp, scan, options):
    results = [
        regions_of(mmp("highlight", "scan.png", "--json", "-k", 3, "-f", *options, "--backend", b))
        for b in ("cpu", "cuda")
    ]
    assert results[0] == results[1]


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="there is a device")
def test_without_a_device(mmp, scan):
    result = mmp("highlight", "scan.png", "--backend", "cuda")
    assert result.exit_code == 4
    assert "backend cuda cannot run here: " in result.stderr


def test_folders_many_files_and_one_that_is_bad(mmp, scan, files):
    Path("in/deep").mkdir(parents=True)
    Path("out").mkdir()
    pictures.write(scan, "in/a.png")
    Path("in/deep/b.mmp").write_bytes(mmpcodec.encode(scan, 0))
    Path("in/c.pgm").write_bytes(b"P5 broken")
    Path("in/notes.txt").write_text("not a picture")
    result = mmp("highlight", "in", "-O", "out", "--sheet", "sheet.png", "-j", 2)
    assert result.exit_code == 3
    assert "in/c.pgm: is damaged" in result.stderr
    assert "1 of 3 inputs failed" in result.stderr
    assert "pictures: 2, regions: 2" in result.stderr
    assert sorted(map(str, Path("out").rglob("*.png"))) == [
        "out/a.png.regions.png",
        "out/deep/b.mmp.regions.png",
    ]
    assert pixels_of("sheet.png").ndim == 3


def test_white_is_asked_for_where_a_deep_picture_looks_dark(mmp):
    deep = np.full((20, 30), 300, np.uint16)
    deep[4:8, 5:9] = 4000
    Image.fromarray(deep).save("deep.png")
    result = mmp("highlight", "deep.png")
    assert "0 regions beyond level 32767.5 of 65535" in result.stdout
    assert "the highest level is 4000; set the level of white with --white" in result.stdout
    assert regions_of(mmp("highlight", "deep.png", "--white", 4095, "--json", "-f")) == [
        (5, 4, 8, 7)
    ]


def test_pipe(mmp, scan):
    data = Path("scan.png").read_bytes()
    result = mmp("highlight", "-", "--json", input=data)
    assert result.exit_code == 0
    assert result.stdout_bytes.startswith(b"\x89PNG")
    assert '"left": 5' in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["scan.png", "--offset", "much"], 2, "offset = 'much': must be a part of"),
        (["scan.png", "--min-width", "wide"], 2, "min_width = 'wide': must be pixels (40) or per"),
        (["scan.png", "--min-width", "101%"], 2, "min_width = '101%'"),
        (["scan.png", "--min-width", "nan%"], 2, "min_width = 'nan%'"),
        (["scan.png", "--offset", "300"], 1, "scan.png: offset = '300'"),
        (["scan.png", "--min-width", "65"], 1, "scan.png: min_width = 65: must be from 1 to 64"),
        (["scan.png", "--exclude-border", "24"], 1, "scan.png: border = 24: leaves no pixel"),
        (["scan.png", "--backend", "gpu"], 2, "backend = 'gpu': must be one of auto, cpu"),
        (["scan.png", "--mask", "none.png"], 1, "none.png: No such file"),
        (["scan.png", "-O", "scan.png/no"], 1, "scan.png: is not a folder"),
        (["scan.png", "-o", "scan.png"], 2, "scan.png: is an input"),
        (["scan.png", "-o", "scan.jpg"], 2, "-o: scan.jpg must end in .png"),
        (["scan.png", "--sheet", "s"], 2, "--sheet: s must end in .png"),
        (["scan.png", "-o", "a.png", "--sheet", "a.png"], 2, "scan.png and --sheet: both would"),
        (["empty"], 1, "empty: holds no picture"),
        (["none.png"], 1, "none.png: No such file"),
    ],
)
def test_wrong_use(mmp, scan, arguments, code, message):
    Path("empty").mkdir()
    result = mmp("highlight", *arguments)
    assert message in result.stderr
    assert result.exit_code == code
    assert result.stderr.count("\n") == 1


def test_nothing_is_overwritten_unasked(mmp, scan):
    Path("scan.png.regions.png").write_bytes(b"mine")
    assert mmp("highlight", "scan.png").exit_code == 1
    assert Path("scan.png.regions.png").read_bytes() == b"mine"
    Path("r.csv").write_text("mine")
    assert mmp("highlight", "scan.png", "-f", "--csv", "r.csv").exit_code == 0


def test_the_mask_is_an_input(mmp, scan):
    pictures.write(scan, "mask.png")
    for arguments in (["-o", "mask.png"], ["--csv", "mask.png"]):
        result = mmp("highlight", "scan.png", "--mask", "mask.png", *arguments, "-f")
        assert result.exit_code == 2
        assert "mask.png: is an input, and would be overwritten" in result.stderr
    np.testing.assert_array_equal(pixels_of("mask.png"), scan)


def test_a_table_stays_where_all_failed(mmp):
    Path("bad.png").write_bytes(b"nothing")
    Path("t.csv").write_text("mine")
    assert mmp("highlight", "bad.png", "--csv", "t.csv", "-f").exit_code == 1
    assert Path("t.csv").read_text() == "mine"


def test_names_may_be_any_bytes(mmp, scan):
    Path("scan.png").rename("\udcff.png")
    result = mmp("highlight", "\udcff.png", "--csv", "t.csv", "--quiet")
    assert result.exit_code == 0
    assert b"\xff.png,1,5,10" in Path("t.csv").read_bytes()


def test_drawings_in_a_folder_are_not_its_pictures(mmp, scan):
    Path("in").mkdir()
    pictures.write(scan, "in/a.png")
    for _ in range(2):
        result = mmp("highlight", "in", "-f", "--json")
        assert [json.loads(line)["input"] for line in result.stdout.splitlines()] == ["in/a.png"]
    assert sorted(path.name for path in Path("in").iterdir()) == ["a.png", "a.png.regions.png"]


def test_hounsfield_units_and_millimetres(mmp, folder):
    """Of DICOM, and of an mmp file that was made of it."""
    pytest.importorskip("pydicom")
    stored = np.full((40, 60), -1000, np.int16)
    stored[10:20, 30:50] = 60
    stored[10:20, 30:40] = 40
    elements = {"RescaleSlope": "1", "RescaleIntercept": "-10", "Modality": "CT"}
    data = dicom_of(stored, 12, **elements, PixelSpacing=["0.5", "0.25"])
    Path("ct.dcm").write_bytes(data)
    assert mmp("encode", "ct.dcm", "-l", 0, "-o", "ct.mmp").exit_code == 0
    for name in ("ct.dcm", "ct.mmp"):
        arguments = ("highlight", name, "--offset", 2000, "--csv", "r.csv", "-f")
        text = mmp(*arguments).stdout
        assert "mean 40.0 HU, SD 10.0, min 30, max 50\n" in text
        assert "5.0x5.0 mm, 7.5 mm from the left, 5.0 mm from the top\n" in text
        (region,) = json.loads(mmp(*arguments, "--json").stdout)["regions"]
        wanted = {
            "mean": 2098, "deviation": 10, "min": 2088, "max": 2108, "unit": "HU", "value_mean": 40,
            "value_deviation": 10, "value_min": 30, "value_max": 50, "left_mm": 7.5, "top_mm": 5,
            "width_mm": 5, "height_mm": 5,
        }  # fmt: skip
        assert {key: region[key] for key in wanted} == wanted
        with open("r.csv", newline="") as stream:
            (row,) = csv.DictReader(stream)
        assert {key: float(row[key]) for key in wanted if key != "unit"} == {
            key: value for key, value in wanted.items() if key != "unit"
        }
        assert row["unit"] == "HU"


def test_what_a_picture_does_not_say_is_empty(mmp, scan):
    result = mmp("highlight", "scan.png", "--json", "--csv", "r.csv")
    (region,) = json.loads(result.stdout)["regions"]
    assert region["deviation"] == 0
    assert region["unit"] is region["value_mean"] is region["width_mm"] is None
    assert Path("r.csv").read_text().splitlines()[1].endswith(",0.0,220.0,220.0,,,,,,,,,,,,,")


def test_a_limit_of_time(mmp, files):
    board = np.indices((1024, 1024)).sum(axis=0).astype(np.uint8) % 2 * 255
    pictures.write(board, "board.png")
    pictures.write(np.full((20, 30), 200, np.uint8), "white.png")
    result = mmp("highlight", "board.png", "white.png", "-k", "3", "--seconds", "0.1")
    assert result.exit_code == 3
    assert result.stderr.splitlines()[0] == (
        "mmp: board.png: Regions: no answer in --seconds 0.1; more seconds, fewer regions or "
        "limits of their sides give one"
    )
    assert files() == ["board.png", "white.png", "white.png.regions.png"]
    assert mmp("highlight", "white.png", "--seconds", "-1").exit_code == 2
