"""DICOM files of several frames as books: slices with positions, cine with durations."""

import struct
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from support.picture_files import DEEP, GRAY, compressed, dicom_of, enhanced

import mmpcodec
from mmpcodec import PictureError, PictureWarning
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Calibration
from mmpcodec.pictures.books.opening import opened_book

pytestmark = pytest.mark.filterwarnings("ignore:Invalid value for VR:UserWarning")
FRAMES = np.stack([np.roll(DEEP >> 4, number, axis=0) for number in range(4)])
TILTED = [1, 0, 0, 0, 0.8, 0.6]
"""Rows along x, columns between y and z: the normal is (0, -0.6, 0.8)."""


@pytest.mark.parametrize("by_path", [False, True])
def test_frames_of_functional_groups_are_slices(tmp_path, by_path):
    """Positions lie along the normal; each frame has its own values."""
    corners = [[3, -0.6 * step, 0.8 * step] for step in (0, 2.5, 5, -1.25)]
    data = enhanced(FRAMES, corners, TILTED, slopes=(1, 2, 3, 4))
    path = tmp_path / "ct.dcm"
    path.write_bytes(data)
    with opened_book(str(path) if by_path else data, "ct.dcm") as book:
        assert (len(book), book.role, book.measured) == (4, Role.SLICE, True)
        assert [*book.facts] == [(0,), (2_500_000,), (5_000_000,), (-1_250_000,)]
        for number in (2, 0, 3, 1):
            found = book.read(number)
            np.testing.assert_array_equal(found.samples, FRAMES[number])
            assert found.metadata.calibration == Calibration(number + 1.0, -1024.0, "HU")


def test_samples_stay_in_the_file(tmp_path):
    frames = np.zeros((64, 512, 512), np.uint16)
    frames[:] = np.arange(64)[:, None, None]
    path = tmp_path / "long.dcm"
    path.write_bytes(dicom_of(frames[0], 12, samples_as=frames, NumberOfFrames=64))
    tracemalloc.start()
    with opened_book(path) as book:
        for number, found in enumerate(book):
            assert found.samples.min() == found.samples.max() == number
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 << 20  # the file has 32 MiB


@pytest.mark.parametrize("long", [False, True])
def test_compressed_frames_are_read_one_at_a_time(tmp_path, long):
    size = 400 if long else 6
    frames = np.random.default_rng(1).integers(0, 256, (3, size, size), np.uint8)
    path = tmp_path / "a.dcm"
    path.write_bytes(compressed(frames))
    with opened_book(path) as book:
        for number in (2, 0, 1):
            np.testing.assert_array_equal(book.read(number).samples, frames[number])


def test_frames_of_one_bit_begin_within_bytes(tmp_path):
    frames = np.random.default_rng(1).integers(0, 2, (9, 333, 777), np.uint8)
    packed = np.packbits(frames.ravel(), bitorder="little")
    data = dicom_of(frames[0], 1, samples_as=packed, NumberOfFrames=9, BitsAllocated=1)
    path = tmp_path / "bits.dcm"
    path.write_bytes(data)
    with opened_book(path) as book:
        for number in (8, 3):
            np.testing.assert_array_equal(book.read(number).samples, frames[number])


@pytest.mark.parametrize(
    ("elements", "durations"),
    [
        ({"FrameTime": "40"}, ["1/25"] * 4),
        ({"FrameTime": "33.333"}, ["33333/1000000"] * 4),
        ({"FrameTimeVector": ["0", "10", "20", "40"]}, ["1/100", "1/50", "1/25", "1/25"]),
        ({"CineRate": "30"}, ["1/30"] * 4),
        ({"RecommendedDisplayFrameRate": "12"}, ["1/12"] * 4),
        ({"FrameTime": "40", "CineRate": "10"}, ["1/25"] * 4),
        ({"FrameTime": "0", "CineRate": "10"}, ["1/10"] * 4),
        ({"FrameTimeVector": ["0", "10"]}, None),
        ({"FrameTimeVector": ["0", "10", "-4", "2"]}, None),
        ({"FrameTime": "1e-99999999"}, None),
        ({"FrameTime": "nan"}, None),
        ({"FrameTime": "1e12"}, None),
        ({"CineRate": "0"}, None),
        ({}, None),
    ],
)
def test_cine_has_durations(elements, durations):
    data = dicom_of(FRAMES[0], 12, samples_as=FRAMES, NumberOfFrames=4, **elements)
    with opened_book(data) as book:
        wanted = [Fraction(each) for each in durations or ()]
        assert [Fraction(*each) for each in book.facts] == wanted
        assert book.role == (Role.FRAME if durations else Role.PAGE)
        assert book.loops == 0


def test_what_the_pointer_names_decides():
    """A file may have positions and times."""
    corners = [[0, 0, step] for step in range(4)]
    for pointer, role in ((0x00181063, Role.FRAME), (0x0020000E, Role.SLICE)):
        more = {"FrameIncrementPointer": pointer, "FrameTime": "40"}
        with opened_book(enhanced(FRAMES, corners, [1, 0, 0, 0, 1, 0], **more)) as book:
            assert book.role == role


def test_vectors_place_frames_of_grids_and_of_nuclear_medicine():
    placed = {
        "ImageOrientationPatient": [1, 0, 0, 0, 1, 0],
        "ImagePositionPatient": [0, 0, 10],
    }
    grid = {"GridFrameOffsetVector": ["0", "1.5", "3", "4.5"], **placed}
    rotated = {"SliceVector": [1, 2, 3, 4], "SpacingBetweenSlices": "-2"}
    for elements, wanted in (
        (grid, [10_000_000, 11_500_000, 13_000_000, 14_500_000]),
        ({**rotated, **placed}, [10_000_000, 8_000_000, 6_000_000, 4_000_000]),
        (rotated, [0, -2_000_000, -4_000_000, -6_000_000]),
    ):
        data = dicom_of(FRAMES[0], 12, samples_as=FRAMES, NumberOfFrames=4, **elements)
        with opened_book(data) as book:
            assert [each for (each,) in book.facts] == wanted


@pytest.mark.parametrize(
    "wrong",
    [[], [1, 2], ["nan", 0, 0], ["inf", 0, 0], ["1e300", 0, 0], "none"],
    ids=["none", "two", "nan", "inf", "huge", "no group"],
)
def test_positions_that_are_none_make_pages(wrong):
    corners = [[0, 0, 0], [0, 0, 1], None if wrong == "none" else wrong, [0, 0, 3]]
    with opened_book(enhanced(FRAMES, corners, [1, 0, 0, 0, 1, 0])) as book:
        assert (book.role, [*book.facts]) == (Role.PAGE, [])
        np.testing.assert_array_equal(book.read(2).samples, FRAMES[2])


@pytest.mark.parametrize("turned", [[0] * 6, [1, 0, 0, 1, 0, 0], ["nan"] * 6, [1, 0, 0]])
def test_orientations_that_are_none_make_pages(turned):
    with opened_book(enhanced(FRAMES, [[0, 0, step] for step in range(4)], turned)) as book:
        assert book.role == Role.PAGE


def test_frames_of_several_directions_are_pages_and_it_is_said():
    data = enhanced(FRAMES, [[0, 0, 1]] * 4, [1, 0, 0, 0, 1, 0], {2: TILTED})
    with pytest.warns(PictureWarning, match=r"^x: has frames that are no stack of slices, whose"):
        book = opened_book(data, "x")
    assert book.role == Role.PAGE


def test_another_number_of_groups_is_said_and_frames_are_read():
    data = enhanced(FRAMES, [[0, 0, step] for step in range(3)], [1, 0, 0, 0, 1, 0])
    says = r"^x: .*\(PerFrameFunctionalGroupsSequence = 3 items for 4 frames\)$"
    with pytest.warns(PictureWarning, match=says):
        book = opened_book(data, "x")
    assert book.role == Role.PAGE
    np.testing.assert_array_equal(book.read(3).samples, FRAMES[3])


def test_what_all_frames_lack_is_said_once():
    data = enhanced(FRAMES, [[0, 0, step] for step in range(4)], [1, 0, 0, 0, 1, 0], typed=True)
    with pytest.warns(PictureWarning) as reported, opened_book(data, "x") as book:
        assert len([*book]) == 4
    assert [str(each.message) for each in reported] == [
        "x: has functional groups, of which only slope, window, spacing and place are read "
        "(CTImageFrameTypeSequence)"
    ]
    with pytest.raises(PictureError, match="strict reading refuses"):
        opened_book(data, "x", strict=True)


def test_tiles_of_slides_are_said():
    data = dicom_of(GRAY, 8, samples_as=np.stack([GRAY] * 4), NumberOfFrames=4,
                    TotalPixelMatrixColumns=18, TotalPixelMatrixRows=12)  # fmt: skip
    with pytest.warns(PictureWarning, match="frames that are tiles of a larger picture"):
        assert opened_book(data).role == Role.PAGE


def test_the_number_of_frames_is_checked():
    huge = dicom_of(GRAY, 8, NumberOfFrames=2**31 - 1)
    with pytest.raises(PictureError, match=r"^x: holds 2147483647 pictures, allowed is 1 to 65536"):
        opened_book(huge, "x")
    with pytest.raises(PictureError, match=r"^x: holds -3 pictures"):
        opened_book(dicom_of(GRAY, 8, NumberOfFrames=-3), "x")
    with opened_book(dicom_of(GRAY, 8, NumberOfFrames=1000, FrameTime="40"), "x") as book:
        np.testing.assert_array_equal(book.read(0).samples, GRAY)
        with pytest.raises(PictureError, match=r"^x: frame 2: .*frame 2 ends behind the samples"):
            book.read(1)


def test_a_damaged_frame_is_named_and_the_others_open():
    data = bytearray(compressed(np.stack([GRAY, GRAY, GRAY])))
    place = data.index(b"\xff\x51", data.index(b"\xff\x51") + 2)
    data[place + 8] ^= 255
    with opened_book(bytes(data), "x") as book:
        np.testing.assert_array_equal(book.read(2).samples, GRAY)
        with pytest.raises(PictureError, match=r"^x: page 2: is damaged"):
            book.read(1)


def test_deep_sequences_cost_nothing():
    nested = b""
    for _ in range(5000):
        item = struct.pack("<HHI", 0xFFFE, 0xE000, len(nested)) + nested
        nested = struct.pack("<HH2sHI", 0x0008, 0x1110, b"SQ", 0, len(item)) + item
    data = dicom_of(GRAY, 8)
    place = data.index(struct.pack("<HH2s", 0x0028, 0x0002, b"US"))
    with opened_book(data[:place] + nested + data[place:], "x") as book:  # nobody looks inside
        np.testing.assert_array_equal(book.read(0).samples, GRAY)


def test_slices_are_encoded_with_their_positions(tmp_path):
    corners = [[0, 0, 2.5 * step] for step in range(4)]
    book = opened_book(enhanced(FRAMES, corners, [1, 0, 0, 0, 1, 0]))
    path = tmp_path / "ct.mmp"
    with open(path, "wb") as stream, book:
        writer = CollectionWriter(stream)
        for number, picture in enumerate(book):
            data = mmpcodec.encode(picture.samples, 0, depth=12, metadata=picture.metadata)
            writer.add(data, book.role, book.facts_of(number))
        writer.close()
    found = mmpcodec.open(path)
    assert [each.position for each in found] == [0, 2.5, 5, 7.5]
    assert found[3].metadata.calibration.unit == "HU"
