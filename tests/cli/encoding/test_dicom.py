"""``mmp encode`` and ``mmp decode`` of DICOM: series, attributes that are kept, DICOM again."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import DEEP, GRAY, dicom_of, enhanced, file_of, slice_of

import mmpcodec
from mmpcodec import pictures
from mmpcodec.format.collection import Role
from mmpcodec.opening.contents import contents_of

STORED = (DEEP >> 5).astype(np.int16) - 1000
PATIENT = {
    "PatientName": "Doe^Jane",
    "PatientID": "4711",
    "StudyInstanceUID": "1.2",
    "SeriesNumber": 2,
    "SeriesDescription": "Head",
    "RescaleIntercept": "-1024",
    "RescaleSlope": "1",
}
NOT_KEPT = (
    "mmp: DICOM: nothing about patient and study is kept; --keep dicom keeps all attributes, and "
    "mmp decode then writes the DICOM files again"
)


def values(path):
    import pydicom

    return {each.tag: str(each.value) for each in pydicom.dcmread(path)}


@pytest.fixture
def slices(folder):
    """A folder of five slices, an x-ray and a picture."""
    Path("in").mkdir()
    for number in (3, 1, 4, 0, 2):
        data = slice_of(
            STORED + number, 2.5 * number, **PATIENT, SOPInstanceUID=f"1.2.3.{number}",
            InstanceNumber=number,
        )  # fmt: skip
        Path(f"in/im{9 - number}.dcm").write_bytes(data)
    Path("in/xray").write_bytes(dicom_of(STORED, 12, Modality="DX", PatientName="Doe^Jane"))
    Path("in/photo.png").write_bytes(file_of(GRAY, "PNG"))
    return "in"


def test_a_folder_of_slices_is_one_file(mmp, slices):
    found = mmp("encode", slices, "-O", "out")
    assert found.exit_code == 0
    assert found.stderr.splitlines() == [
        "mmp: series-002-Head: 5 files of one series",
        "mmp: 1 DICOM file is in no series and is taken alone: in/xray",
        NOT_KEPT,
    ]
    assert sorted(each.name for each in Path("out").iterdir()) == [
        "photo.mmp",
        "series-002-Head.mmp",
        "xray.mmp",
    ]
    series = mmpcodec.open("out/series-002-Head.mmp")
    assert [each.position for each in series] == [0, 2.5, 5, 7.5, 10]
    for number, picture in enumerate(series):
        np.testing.assert_array_equal(np.asarray(picture), STORED + number + 2048)
        assert picture.metadata.calibration.value(2048) == -1024
    whole = b"".join(each.read_bytes() for each in Path("out").iterdir())
    assert b"Doe" not in whole
    assert "dicom" not in series[0].metadata.kinds()


def test_a_series_lies_beside_its_files_and_runs_again(mmp, slices):
    Path(f"{slices}/photo.png").unlink()
    assert mmp("encode", slices).exit_code == 0
    assert Path("in/series-002-Head.mmp").exists()
    again = mmp("encode", slices)
    assert again.exit_code == 1
    assert "series-002-Head.mmp" in again.stderr
    assert mmp("encode", slices, "--skip-existing").exit_code == 0


def test_files_are_a_series_too_and_page_and_split_keep_them_apart(mmp, slices):
    files = [f"in/im{9 - number}.dcm" for number in (2, 0, 1)]
    found = mmp("encode", *files, "-o", "a.mmp", "--json")
    assert found.exit_code == 0
    assert [each.position for each in mmpcodec.open("a.mmp")] == [0, 2.5, 5]
    assert json.loads(found.stdout)["input"]
    assert mmp("encode", *files, "-O", "apart", "--split").exit_code == 0
    assert sorted(each.name for each in Path("apart").iterdir()) == [
        "im7.mmp", "im8.mmp", "im9.mmp",
    ]  # fmt: skip
    assert mmp("encode", *files, "-o", "b.mmp", "--pages", "2-3").exit_code == 0
    assert [each.position for each in mmpcodec.open("b.mmp")] == [2.5, 5]


def test_gaps_are_said_once(mmp, slices):
    Path("in/im8.dcm").unlink()
    found = mmp("encode", slices, "-O", "out", "--jobs", "2")
    assert found.stderr.count("about 1 slice is missing") == 1
    assert "has gaps: 5 mm between in/im9.dcm and in/im7.dcm, elsewhere 2.5 mm" in found.stderr


def test_kept_attributes_come_back_as_the_same_files(mmp, slices):
    found = mmp("encode", slices, "-O", "kept", "--keep", "dicom")
    assert found.exit_code == 0
    assert "nothing about patient" not in found.stderr
    coded = Path("kept/series-002-Head.mmp")
    with coded.open("rb") as stream:
        assert {each.role for each in contents_of(memoryview(stream.read())).entries} == {
            Role.SLICE
        }
    assert mmp("decode", coded, "-O", "back", "--format", "dcm").exit_code == 0
    for number in range(5):
        first, second = f"in/im{9 - number}.dcm", f"back/series-002-Head-00{number + 1}.dcm"
        assert values(second) == values(first)
    refused = mmp("decode", coded, "-o", "one.dcm")
    assert refused.exit_code != 0
    assert "of several DICOM files; -O DIR --format dcm writes them" in refused.stderr
    assert not Path("one.dcm").exists()
    assert mmp("decode", "kept/xray.mmp", "-o", "x.dcm").exit_code == 0
    assert values("x.dcm") == values("in/xray")
    assert mmp("decode", coded, "--page", "2", "-o", "two.dcm").exit_code == 0
    assert values("two.dcm") == values("in/im8.dcm")


def test_other_formats_and_strip_leave_attributes_out(mmp, slices):
    mmp("encode", "in/xray", "-o", "x.mmp", "--keep", "dicom")
    found = mmp("decode", "x.mmp", "-o", "x.png")
    assert found.stderr == "mmp: x.mmp: png cannot hold all of: dicom\n"
    assert b"Doe" not in Path("x.png").read_bytes()
    assert mmp("decode", "x.mmp", "-o", "x.dcm", "--strip", "dicom").exit_code == 0
    assert b"Doe" not in Path("x.dcm").read_bytes()
    np.testing.assert_array_equal(pictures.read("x.dcm").samples, pictures.read("in/xray").samples)


@pytest.mark.parametrize("option", [[], ["--header-only"], ["--json"]])
def test_info_says_that_attributes_are_held_and_shows_none(mmp, slices, option):
    mmp("encode", slices, "-O", "kept", "--keep", "dicom")
    for name in ("series-002-Head", "xray"):
        found = mmp("info", f"kept/{name}.mmp", *option)
        assert found.exit_code == 0
        assert "Doe" not in found.stdout
        says = "may name the patient"
        if option == ["--json"] and name != "xray":
            assert json.loads(found.stdout)["with_dicom"] == 5
        else:
            assert says in found.stdout


def test_frames_go_to_one_file_and_back(mmp, folder):
    frames = np.stack([np.roll(DEEP >> 4, number, axis=0) for number in range(4)])
    corners = [[0, 0, step] for step in range(4)]
    data = enhanced(frames, corners, [1, 0, 0, 0, 1, 0], slopes=(1, 2, 3, 4),
                    PatientName="Doe^Jane", SOPInstanceUID="1.2.3")  # fmt: skip
    Path("a.dcm").write_bytes(data)
    assert mmp("encode", "a.dcm", "--keep", "dicom").exit_code == 0
    assert mmp("decode", "a.mmp", "-o", "b.dcm").exit_code == 0
    assert values("b.dcm") == values("a.dcm")
    assert (
        mmp("encode", "a.dcm", "-o", "lossy.mmp", "--keep", "dicom", "--quality", "20").exit_code
        == 0
    )
    assert mmp("decode", "lossy.mmp", "-o", "c.dcm").exit_code == 0
    import pydicom

    file = pydicom.dcmread("c.dcm")
    assert (file.LossyImageCompression, file.NumberOfFrames) == ("01", 4)
    assert file.SOPInstanceUID != "1.2.3"
    assert file.SourceImageSequence[0].ReferencedSOPInstanceUID == "1.2.3"
    assert float(file.LossyImageCompressionRatio) > 0
    assert mmp("decode", "lossy.mmp", "-o", "d.dcm", "--strip", "dicom").exit_code == 0
    file = pydicom.dcmread("d.dcm")
    assert (file.LossyImageCompression, file.PatientName) == ("01", "")
    assert mmp("decode", "a.mmp", "-O", "apart", "--format", "dcm", "--strip", "dicom")
    series = {pydicom.dcmread(each).SeriesInstanceUID for each in Path("apart").iterdir()}
    assert len(series) == 1
    shutil.rmtree("apart")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--keep", "exif"], "--keep exif: must be dicom"),
        (["--keep", "dicom", "--strip", "dicom"], "--keep dicom and --strip dicom: give only one"),
        (["--keep", "dicom", "--strip", "all"], "--keep dicom and --strip all: give only one of"),
    ],
)
def test_wrong_use(mmp, slices, arguments, says):
    found = mmp("encode", "in/xray", "-o", "x.mmp", *arguments)
    assert found.exit_code == 2
    assert says in found.stderr


def test_other_pictures_have_no_remark(mmp, picture):
    assert mmp("encode", picture).stderr == ""


def test_attributes_of_an_mmp_file_are_kept_and_said(mmp, slices):
    """They may name the patient, and nobody asked for them this time."""
    said = (
        "has attributes of a DICOM file, which may name the patient, and keeps them; "
        "--strip dicom leaves them out\n"
    )
    mmp("encode", "in/xray", "-o", "x.mmp", "--keep", "dicom")
    mmp("encode", slices, "-O", "kept", "--keep", "dicom")
    book = next(Path("kept").glob("series*.mmp"))
    for name, which in (("x.mmp", ""), (str(book), "slices 1 to 5: ")):
        for options, remarked in (
            ([], True),
            (["--keep", "dicom"], False),
            (["--strip", "dicom"], False),
        ):
            found = mmp("encode", name, "-o", "again.mmp", "-f", *options)
            assert found.exit_code == 0
            assert found.stderr == (f"mmp: {name}: {which}{said}" if remarked else "")
            kept = [bool(one.metadata.dicom) for one in mmpcodec.open("again.mmp")]
            assert set(kept) == {options != ["--strip", "dicom"]}
