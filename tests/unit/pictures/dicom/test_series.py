"""Files of single slices are sorted into series."""

import numpy as np
import pytest
from support.picture_files import DEEP, GRAY, dicom_of, file_of, slice_of

from mmpcodec import DecodeLimits, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.dicom.series import series_of

pytestmark = pytest.mark.filterwarnings("ignore:Invalid value for VR:UserWarning")
STORED = DEEP >> 5
TILTED = (1, 0, 0, 0, 0.8, 0.6)


class Folder:
    """A folder of files; writing one returns its path."""

    def __init__(self, path):
        self.path, self.paths = path, []

    def write(self, name, data):
        self.paths.append(str(self.path / name))
        (self.path / name).write_bytes(data)
        return self.paths[-1]

    def slices(self, positions, **more):
        return [
            self.write(f"{len(self.paths):03}.dcm", slice_of(STORED + number, place, **more))
            for number, place in enumerate(positions)
        ]


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_slices_are_ordered_by_their_position(folder):
    paths = folder.slices([30, -10, 10, 0, 20], SeriesNumber=3, SeriesDescription="Thorax / 5 mm")
    (found,) = series_of(paths)
    order = [1, 3, 2, 4, 0]
    assert found.paths == tuple(paths[each] for each in order)
    assert (found.title, found.remarks) == ("series-003-Thorax-5-mm", ())
    assert (found.book.role, found.book.measured) == (Role.SLICE, True)
    assert [*found.book.facts] == [(-(10**7),), (0,), (10**7,), (2 * 10**7,), (3 * 10**7,)]
    for picture, number in zip(found.book, order, strict=True):
        np.testing.assert_array_equal(picture.samples, STORED + number)


def test_positions_are_those_along_the_normal(folder):
    corners = [[3, -0.6 * step, 0.8 * step] for step in (2, 0, 1)]
    (found,) = series_of(folder.slices(corners, orientation=TILTED))
    assert [*found.book.facts] == [(0,), (10**6,), (2 * 10**6,)]


def test_each_series_is_a_book_and_others_are_in_none(folder):
    """Files of one slice, of no slice, and of other formats are left to the caller."""
    one = folder.slices([0, 1], uid="1.2.3", SeriesNumber=1)
    two = folder.slices([0, 1, 2], uid="1.2.4", SeriesNumber=1)
    folder.slices([0], uid="1.2.5")
    folder.write("x-ray.dcm", dicom_of(STORED, 12, SeriesInstanceUID="1.2.3", Modality="DX"))
    folder.write("cine.dcm", slice_of(STORED, 5, NumberOfFrames=3))
    folder.write("report.dcm", slice_of(STORED, 5)[:200])
    folder.write("a.png", file_of(GRAY, "PNG"))
    folder.write("empty", b"")
    found = series_of([*folder.paths, str(folder.path / "absent")])
    assert [each.paths for each in found] == [tuple(one), tuple(two)]
    assert [each.title for each in found] == ["series-001", "series-001-124"]
    assert [each.remarks for each in found] == [(), ()]


def test_other_sizes_and_directions_are_apart_and_named(folder):
    scout = folder.write("scout.dcm", slice_of(np.tile(STORED, 2), 7))
    side = folder.write("side.dcm", slice_of(STORED, [0, 0, 0], (0, 1, 0, 0, 0, -1)))
    paths = folder.slices([0, 1, 2])
    (found,) = series_of(folder.paths)
    assert found.paths == tuple(paths)
    (remark,) = found.remarks
    assert remark == (
        "holds pictures of several sizes or directions (3 of 9x6, 1 of 18x6, 1 of 9x6); apart "
        f"from the others: {scout}, {side}"
    )


def test_gaps_are_said_with_names(folder):
    paths = folder.slices([0, 2.5, 5, 12.5, 15])
    (found,) = series_of(paths)
    assert found.remarks == (
        f"has gaps: 7.5 mm between {paths[2]} and {paths[3]}, elsewhere 2.5 mm; about 2 slices are "
        "missing",
    )


def test_uneven_distances_are_said(folder):
    (found,) = series_of(folder.slices([0, 2.5, 5, 7.6]))
    assert found.remarks == ("has slices at uneven distances, 2.5 to 2.6 mm",)


def test_equal_positions_are_said_and_all_are_kept(folder):
    late = folder.slices([0, 1, 2], InstanceNumber=2)
    early = folder.slices([0, 1, 2], InstanceNumber=1)
    (found,) = series_of(folder.paths)
    assert found.paths == tuple(path for pair in zip(early, late, strict=True) for path in pair)
    assert found.remarks == (
        f"has equal positions: 2 slices at 0 mm ({early[0]}, {late[0]}), and 2 more positions; "
        "these are in the order of AcquisitionNumber and InstanceNumber",
    )


@pytest.mark.parametrize("wrong", [None, ["nan", 0, 0], [0, 1]])
def test_without_positions_numbers_decide_then_names(folder, wrong):
    numbers = [3, 1, 2, 2]
    paths = [
        folder.write(f"{name}.dcm", slice_of(STORED, wrong, InstanceNumber=number))
        for name, number in zip("dcba", numbers, strict=True)
    ]
    (found,) = series_of(paths)
    assert found.paths == tuple(paths[each] for each in (1, 3, 2, 0))
    assert (found.book.role, [*found.book.facts]) == (Role.PAGE, [])
    assert found.remarks == (
        "its pictures have no position; they are in the order of InstanceNumber, then name, as "
        "numbers repeat",
    )


@pytest.mark.parametrize(
    ("elements", "title"),
    [
        ({}, "series-123"),
        ({"SeriesNumber": 12}, "series-012"),
        ({"SeriesDescription": "../..\\a:b\0"}, "series-a-b"),
        ({"SeriesNumber": 4, "SeriesDescription": "Schädel " + 50 * "x"}, None),
    ],
)
def test_titles_are_safe_names(folder, elements, title):
    (found,) = series_of(folder.slices([0, 1], SpecificCharacterSet="ISO_IR 192", **elements))
    assert found.title == title or found.title == "series-004-Schädel-" + 32 * "x"


def test_the_number_of_slices_is_limited(folder):
    with pytest.raises(PictureError, match=r"^series-123: holds 3 pictures, allowed is 1 to 2"):
        series_of(folder.slices([0, 1, 2]), DecodeLimits(max_pictures=2))
