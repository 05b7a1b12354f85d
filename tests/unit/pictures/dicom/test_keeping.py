"""Attributes of DICOM files are kept on request, and written again."""

import contextlib
import errno
import io
import json
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.picture_files import (
    COLOUR,
    DEEP,
    GRAY,
    compressed,
    dicom_of,
    enhanced,
    group,
    slice_of,
)

import mmpcodec
from mmpcodec import ParameterError, PictureError, pictures
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.dicom import writing
from mmpcodec.pictures.dicom.series import series_of
from mmpcodec.pictures.side.origin import ALONE, Origin

pytestmark = pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
PATIENT = {
    "PatientName": "Müller^Ägidius",
    "PatientID": "4711",
    "SpecificCharacterSet": "ISO_IR 100",
    "SOPClassUID": "1.2.840.10008.5.1.4.1.1.2",
    "SOPInstanceUID": "1.2.3.4",
    "SeriesInstanceUID": "1.2.3",
    "StudyInstanceUID": "1.2",
    "ImageType": ["ORIGINAL", "PRIMARY", "AXIAL"],
}
KEEP = ("dicom",)


def dataset(data):
    import pydicom

    return pydicom.dcmread(io.BytesIO(data))


def again(data, lam=0, **how):
    """A file after encoding and decoding; with the attributes, which are kept."""
    found = pictures.from_bytes(data, keep=KEEP, **how)
    coded = mmpcodec.encode(found.samples, lam, depth=found.depth, metadata=found.metadata)
    return pictures.to_bytes(pictures.from_bytes(coded), "dcm")


def values(file):
    """All elements but the samples, as bytes or text."""
    return {each.tag: str(each.value) for each in file if each.tag != 0x7FE00010}


def book_bytes(given, origin=ALONE, facts=()):
    stream = io.BytesIO()
    writing.write(given, stream, origin, facts)
    return stream.getvalue()


STORED = (np.arange(54).reshape(6, 9) * 70 - 2000).astype(np.int16)
ODD = STORED.copy()
ODD[0] = [-32768, 32767, 2048, -2049, 4095, -4096, 0, 1, -1]
"""Values beyond the 12 bits that are stored, as paddings are."""


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize(
    ("stored", "bits"),
    [
        (STORED, 12),
        (STORED & 0xFFF, 12),
        (ODD, 12),
        (ODD.view(np.uint16), 12),
        (DEEP, 16),
        (GRAY, 8),
        (GRAY, 5),
        ((ODD.astype(np.int32) << 8), 12),
    ],
    ids=["signed", "sign in bit 11", "beyond", "overlays above", "16", "8", "5 of 8", "12 of 32"],
)
def test_stored_samples_come_back_bit_for_bit(kind, stored, bits):
    padding = -2000 if stored.dtype.kind == "i" else 2000
    data = dicom_of(stored, bits, kind, PixelPaddingValue=padding, **PATIENT)
    first, second = dataset(data), dataset(again(data))
    assert second.PixelData == first.PixelData
    assert values(second) == values(first)
    assert second.file_meta.MediaStorageSOPInstanceUID == "1.2.3.4"


def test_colours_come_back():
    data = dicom_of(COLOUR, 8, "RGB", ICCProfile=b"profile ", **PATIENT)
    first, second = dataset(data), dataset(again(data))
    assert (second.PixelData, values(second)) == (first.PixelData, values(first))
    planar = dataset(data)
    planar.PlanarConfiguration = 1
    planar.PixelData = np.moveaxis(COLOUR, 2, 0).tobytes()
    stream = io.BytesIO()
    planar.save_as(stream)
    assert dataset(again(stream.getvalue())).PixelData == first.PixelData


def test_bits_come_back():
    bits = np.random.default_rng(1).integers(0, 2, (6, 9), np.uint8)
    packed = np.packbits(bits.ravel(), bitorder="little")
    data = dicom_of(bits, 1, samples_as=packed, BitsAllocated=1, **PATIENT)
    second = dataset(again(data))
    np.testing.assert_array_equal(second.pixel_array, bits)
    assert values(second) == values(dataset(data))


def test_nothing_of_the_patient_is_kept_by_default(tmp_path):
    data = dicom_of(DEEP >> 4, 12, **PATIENT)
    assert pictures.from_bytes(data).metadata == Metadata()
    path = tmp_path / "a.dcm"
    path.write_bytes(data)
    with opened_book(path) as book:
        assert book.read(0).metadata == Metadata()
    kept = pictures.read(path, keep=KEEP).metadata
    assert kept.kinds() == ("dicom",)
    assert "ller" not in repr(kept)
    assert kept.without("dicom") == kept.without("all") == Metadata()
    with opened_book(path, keep=KEEP) as book:
        assert book.read(0).metadata.kinds() == ("dicom",)
    for wrong in (("exif",), "dicom"):
        with pytest.raises(ParameterError, match="must be a collection of 'dicom'"):
            pictures.read(path, keep=wrong)


def test_other_formats_say_that_they_lose_attributes():
    found = pictures.from_bytes(dicom_of(GRAY, 8, **PATIENT), keep=KEEP)
    for format in ("png", "tif", "npy"):
        assert "dicom" in pictures.lost(found, format)
        assert b"4711" not in pictures.to_bytes(found, format)
    assert pictures.lost(found, "dcm") == ()


@pytest.mark.parametrize("implicit", [False, True])
def test_private_elements_and_sequences_stay(implicit):
    from pydicom.dataelem import DataElement
    from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian

    file = dataset(dicom_of(DEEP >> 4, 12, **PATIENT))
    file.add(DataElement(0x00091001, "OW", bytes(range(70)) * 1000))
    file.add(DataElement(0x00090010, "LO", "ACME"))
    file.add(DataElement(0x00091002, "UN", b"\1\2\3\4"))
    file.ReferencedStudySequence = [group(ReferencedSOPInstanceUID="1.2", InstanceNumber="3")]
    file.add(DataElement(0x7FE10010, "LO", "ACME"))
    file.add(DataElement(0x7FE11001, "OB", b"behind the samples"))
    file.file_meta.TransferSyntaxUID = (
        ImplicitVRLittleEndian if implicit else ExplicitVRLittleEndian
    )
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    first, second = dataset(stream.getvalue()), dataset(again(stream.getvalue()))
    np.testing.assert_array_equal(second.pixel_array, first.pixel_array)
    assert values(second) == values(first)
    assert second[0x00091002].value == b"\1\2\3\4"
    assert second[0x00091001].value == bytes(range(70)) * 1000


def test_big_endian_files_become_little_endian():
    from pydicom.data import get_testdata_file

    path = get_testdata_file("MR_small_bigendian.dcm", download=False)
    if path is None:
        pytest.skip("not in this pydicom")
    data = Path(path).read_bytes()
    first, second = dataset(data), dataset(again(data))
    np.testing.assert_array_equal(second.pixel_array, first.pixel_array)
    assert values(second) == values(first)
    assert second.SOPInstanceUID == first.SOPInstanceUID


def test_damaged_values_stay_as_they_are():
    """A decimal that is none is kept, byte for byte."""
    data = dicom_of(DEEP >> 4, 12, SliceThickness="12.50", **PATIENT)
    data = data.replace(b"12.50 ", b"a lot ")
    second = again(data)
    assert b"a lot " in second


@pytest.mark.parametrize("by_path", [False, True])
def test_frames_become_one_file_again(tmp_path, by_path):
    frames = np.stack([np.roll(DEEP >> 4, number, axis=0) for number in range(4)])
    corners = [[0, 0, step] for step in range(4)]
    data = enhanced(frames, corners, [1, 0, 0, 0, 1, 0], slopes=(1, 2, 3, 4), typed=True, **PATIENT)
    path = tmp_path / "a.dcm"
    path.write_bytes(data)
    with opened_book(path if by_path else data, keep=KEEP) as book:
        found = [*book]
    shared = {each.metadata.dicom[2] for each in found}
    assert len(shared) == 1  # a collection holds it once
    assert b"4711" in zlib.decompress(shared.pop()[1:])
    second = dataset(book_bytes(found))
    first = dataset(data)
    assert (second.PixelData, values(second)) == (first.PixelData, values(first))
    one = dataset(writing.to_bytes(found[2], "dcm"))
    np.testing.assert_array_equal(one.pixel_array, frames[2])
    assert (one.NumberOfFrames, one.SOPInstanceUID != "1.2.3.4") == (1, True)
    values_of = one.PerFrameFunctionalGroupsSequence[0].PixelValueTransformationSequence[0]
    assert values_of.RescaleSlope == 3
    assert one.ImageType[0] == "DERIVED"
    assert "LossyImageCompression" not in one
    assert one.DerivationDescription == "1 of 4 frames"
    assert pictures.from_bytes(writing.to_bytes(found[2], "dcm")).metadata.calibration.slope == 3


def test_slices_of_a_series_share_what_they_have_alike(tmp_path):
    paths = []
    for number in range(5):
        path = tmp_path / f"{number}.dcm"
        own = {**PATIENT, "SOPInstanceUID": f"1.2.3.4.{number}", "InstanceNumber": number}
        del own["SOPClassUID"], own["SeriesInstanceUID"]
        path.write_bytes(slice_of(STORED + number, number, StudyComments=200 * "x ", **own))
        paths.append(str(path))
    (series,) = series_of(paths, keep=KEEP)
    target = tmp_path / "a.mmp"
    with open(target, "wb") as stream:
        writer = CollectionWriter(stream)
        for number, picture in enumerate(series.book):
            data = mmpcodec.encode(
                picture.samples, 0, depth=picture.depth, metadata=picture.metadata
            )
            writer.add(data, Role.SLICE, series.book.facts_of(number))
        writer.close()
    coded = target.read_bytes()
    shared = pictures.read(target, page=1).metadata.dicom[-1]
    assert coded.count(shared) == 1
    assert b"4711" in zlib.decompress(shared[1:])
    for number, path in enumerate(paths):
        first = dataset((tmp_path / path).read_bytes())
        second = dataset(pictures.to_bytes(pictures.read(target, page=number + 1), "dcm"))
        assert (second.PixelData, values(second)) == (first.PixelData, values(first))
    with pytest.raises(ParameterError, match="several DICOM files; -O DIR --format dcm"):
        book_bytes([*series.book])


def test_files_with_loss_are_derived():
    smooth = np.add.outer(np.arange(64), np.arange(64)).astype(np.int16) * 9 - 900
    before = {"": "01", "Ratio": "7", "Method": "ISO_10918_1"}
    before = {f"LossyImageCompression{name}": value for name, value in before.items()}
    data = dicom_of(smooth, 12, **PATIENT, **before)
    found = pictures.from_bytes(data, keep=KEEP)
    coded = mmpcodec.encode(found.samples, 30, depth=12, metadata=found.metadata)
    decoded = pictures.from_bytes(coded)
    made = writing.to_bytes(decoded, "dcm", Origin(coded_bytes=len(coded)))
    second = dataset(made)
    np.testing.assert_array_equal(second.pixel_array, decoded.samples.astype(int) - 2048)
    assert second.SOPInstanceUID == second.file_meta.MediaStorageSOPInstanceUID != "1.2.3.4"
    assert second.SeriesInstanceUID != "1.2.3"
    assert second.StudyInstanceUID == "1.2"
    assert second.PatientName == "Müller^Ägidius"
    assert [*second.ImageType] == ["DERIVED", "PRIMARY", "AXIAL"]
    assert second.LossyImageCompression == "01"
    assert [*second.LossyImageCompressionMethod] == ["ISO_10918_1", "MMP"]
    assert second.LossyImageCompressionRatio == [7, float(f"{8192 / len(coded):.4g}")]
    assert second.DerivationDescription == "compressed by mmpcodec with loss"
    assert second.DerivationCodeSequence[0].CodeValue == "113040"
    assert second.SourceImageSequence[0].ReferencedSOPInstanceUID == "1.2.3.4"
    assert writing.to_bytes(decoded, "dcm", Origin(coded_bytes=len(coded))) == made


@pytest.mark.parametrize("kind", ["palette", "YBR_FULL"])
def test_converted_colours_are_derived_without_loss(kind):
    if kind == "palette":
        tables = {
            f"{colour}PaletteColorLookupTable{part}": value
            for colour in ("Red", "Green", "Blue")
            for part, value in (
                ("Descriptor", [256, 0, 16]),
                ("Data", (np.arange(256) * 257).astype("<u2").tobytes()),
            )
        }
        data = dicom_of(GRAY, 8, "PALETTE COLOR", **PATIENT, **tables)
    else:
        data = dicom_of(COLOUR, 8, kind, **PATIENT)
    second = dataset(again(data))
    np.testing.assert_array_equal(second.pixel_array, pictures.from_bytes(data).samples)
    assert (second.PhotometricInterpretation, second.SOPInstanceUID == "1.2.3.4") == ("RGB", False)
    assert "LossyImageCompression" not in second
    assert not any("Palette" in each.keyword for each in second)
    assert second.DerivationDescription == "colours converted to RGB"


def test_compressed_files_are_written_without_compression_and_keep_their_uid():
    data = compressed(np.stack([GRAY]), **PATIENT)
    second = dataset(again(data))
    assert second.SOPInstanceUID == "1.2.3.4"
    assert second.file_meta.TransferSyntaxUID == "1.2.840.10008.1.2.1"
    np.testing.assert_array_equal(second.pixel_array, GRAY)


def test_other_sizes_and_depths_are_refused():
    found = pictures.from_bytes(dicom_of(DEEP >> 4, 12, **PATIENT), keep=KEEP)
    cut = pictures.Picture(found.samples[:3], 12, found.metadata)
    with pytest.raises(
        ParameterError, match=r"9x3, its DICOM attributes are those of 9x6; --strip"
    ):
        pictures.to_bytes(cut, "dcm")
    narrow = pictures.Picture((found.samples >> 4).astype(np.uint8), 8, found.metadata)
    with pytest.raises(ParameterError, match=r"gray of 8 bits, its DICOM .* of 12 bits; --strip"):
        pictures.to_bytes(narrow, "dcm")


@pytest.mark.parametrize(
    "parts",
    [
        (b"\0",),
        (b"\0x\x9c",),
        (b"\0" + zlib.compress(b"\x08\0\x16\0UI\xff\xff1.2"), ),
        (b"\1short",),
        (b"\0" + zlib.compress(b""), b"\1" + bytes(16) + b"x"),
        (b"\0" + zlib.compress(b""),),
        (b"\0" + zlib.compress(bytes(1 << 27)),),
        (b"\7unknown",),
    ],
)  # fmt: skip
def test_damaged_attributes_are_errors(parts):
    picture = pictures.Picture(GRAY, 8, Metadata(dicom=parts))
    with pytest.raises((ParameterError, PictureError)):
        pictures.to_bytes(picture, "dcm")


def test_a_difference_of_another_size_is_damage():
    found = pictures.from_bytes(dicom_of(ODD, 12, **PATIENT), keep=KEEP)
    own, samples = found.metadata.dicom
    wrong = samples[:17] + zlib.compress(b"123456")
    picture = pictures.Picture(found.samples, 12, Metadata(dicom=(own, wrong)))
    with pytest.raises(PictureError, match="damaged"):
        pictures.to_bytes(picture, "dcm")


def test_deep_sequences_are_no_crash():
    nested = b""
    for _ in range(5000):
        item = struct.pack("<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF) + nested
        item += struct.pack("<HHI", 0xFFFE, 0xE00D, 0)
        nested = struct.pack("<HH2sHI", 0x0008, 0x1110, b"SQ", 0, 0xFFFFFFFF) + item
        nested += struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
    picture = pictures.Picture(GRAY, 8, Metadata(dicom=(b"\0" + zlib.compress(nested),)))
    with pytest.raises(PictureError, match="nested too deep"):
        pictures.to_bytes(picture, "dcm")


def _files():
    calibrated = pictures.from_bytes(
        dicom_of(STORED, 12, RescaleSlope="2", RescaleIntercept="-1024", RescaleType="HU",
                 WindowCenter="40", WindowWidth="400", PixelSpacing=["0.5", "0.25"])
    )  # fmt: skip
    frames = [pictures.Picture(DEEP + number, 16) for number in range(3)]
    slices = Origin(role=Role.SLICE)
    cine = Origin(role=Role.FRAME)
    kept = dicom_of(ODD, 12, "MONOCHROME1", **PATIENT)
    return {
        "calibrated": pictures.to_bytes(calibrated, "dcm"),
        "gray": pictures.to_bytes(GRAY, "dcm"),
        "colours": pictures.to_bytes(COLOUR, "dcm"),
        "slices": book_bytes(frames, slices, [(0,), (5,), (10**7,)]),
        "frames": book_bytes(frames, cine, [(1, 25), (1, 25), (1, 10)]),
        "calibrated frames": book_bytes([calibrated] * 3, cine, [(1, 25)] * 3),
        "calibrated slices": book_bytes([calibrated] * 3, slices, [(0,), (5,), (10**7,)]),
        "again": again(kept),
        "with loss": again(dicom_of(np.tile(GRAY, (9, 9)), 8, **PATIENT), 400),
    }


@pytest.mark.parametrize("tool", ["dcmdump", "gdcminfo", "pydicom"])
def test_other_programs_open_what_is_written(tmp_path, tool):
    for name, data in _files().items():
        path = tmp_path / f"{name}.dcm"
        path.write_bytes(data)
        if tool == "pydicom":
            file = dataset(data)
            assert file.pixel_array.size == len(file.PixelData) * 8 // file.BitsAllocated
            continue
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
        options = ["+E", "-q"] if tool == "dcmdump" else []
        found = subprocess.run([tool, *options, str(path)], capture_output=True, encoding="latin-1")
        assert (found.returncode, found.stderr) == (0, ""), (name, found.stderr)
        words = {"dcmdump": "SOPInstanceUID", "gdcminfo": "Dimensions: (9,6"}[tool]
        assert words in found.stdout or name == "with loss"


def test_secondary_captures_say_what_they_can():
    """Reading them gives the same picture."""
    calibrated = pictures.from_bytes(
        dicom_of(STORED, 12, "MONOCHROME1", RescaleSlope="2", RescaleIntercept="-1024",
                 RescaleType="HU", WindowCenter="40", WindowWidth="400", PixelPaddingValue=-2000,
                 PixelSpacing=["0.5", "0.25"])
    )  # fmt: skip
    data = pictures.to_bytes(calibrated, "dcm")
    found = pictures.from_bytes(data)
    np.testing.assert_array_equal(found.samples, calibrated.samples)
    assert found.metadata == calibrated.metadata
    assert pictures.lost(calibrated, "dcm") == ()
    file = dataset(data)
    assert (file.SOPClassUID, file.PatientName) == ("1.2.840.10008.5.1.4.1.1.7", "")
    assert (file.BitsStored, file.BitsAllocated) == (12, 16)
    assert file.SOPInstanceUID.startswith("2.25.")
    assert pictures.to_bytes(calibrated, "dcm") == data
    other = pictures.Picture(calibrated.samples ^ 1, 12)
    assert dataset(pictures.to_bytes(other, "dcm")).SOPInstanceUID != file.SOPInstanceUID
    lossy = writing.to_bytes(other, "dcm", Origin(coded_bytes=54, lossless=False))
    assert dataset(lossy).LossyImageCompression == "01"
    assert dataset(lossy).LossyImageCompressionRatio == 2


def test_slices_and_frames_without_attributes_become_one_file():
    samples = [DEEP + number for number in range(3)]
    metadata = Metadata(text=(mmpcodec.metadata.Calibration(2.0, -1000.0, "HU").text(),))
    given = [pictures.Picture(each, 16, metadata) for each in samples]
    places = [(-5,), (2_500_000,), (10**7,)]
    data = book_bytes(given, Origin(role=Role.SLICE), places)
    with opened_book(data) as book:
        assert (book.role, [*book.facts]) == (Role.SLICE, places)
        for found, picture in zip(book, given, strict=True):
            np.testing.assert_array_equal(found.samples, picture.samples)
            assert found.metadata == picture.metadata
    times = [(1, 25), (1, 10), (1, 10)]
    data = book_bytes(given, Origin(role=Role.FRAME), times)
    with opened_book(data) as book:
        assert (book.role, [*book.facts]) == (Role.FRAME, times)
    with pytest.raises(ParameterError, match="one size"):
        book_bytes([given[0], pictures.Picture(GRAY, 8)])


def test_files_of_a_series_share_uids():
    one, two, three = (
        dataset(writing.to_bytes(pictures.Picture(GRAY, 8), "dcm", Origin(
            series=name, number=number, role=Role.SLICE, facts=(number * 10**6,))))
        for name, number in (("a", 0), ("a", 1), ("b", 0))
    )  # fmt: skip
    assert one.SeriesInstanceUID == two.SeriesInstanceUID != three.SeriesInstanceUID
    assert one.SOPInstanceUID != two.SOPInstanceUID
    assert (two.InstanceNumber, two.ImagePositionPatient) == (2, [0, 0, 1])


def test_metadata_of_attributes_are_checked():
    for wrong in (("text",), [b"x"], (b"",), b"x"):
        with pytest.raises(ParameterError, match=r"^dicom: must be a tuple of bytes"):
            Metadata(dicom=wrong)
    coded = mmpcodec.encode(GRAY, 0, metadata=Metadata(dicom=(b"one", b"two")))
    assert pictures.from_bytes(coded).metadata.dicom == (b"one", b"two")
    assert json.dumps(pictures.from_bytes(coded).metadata.kinds()) == '["dicom"]'


def _mutated(data, random):
    """A file with some of its bytes changed, removed and put in."""
    found = bytearray(data)
    for _ in range(random.choice([1, 2, 4, 20])):
        place, kind = random.randrange(128, len(found)), random.random()
        if kind < 0.6:
            found[place] = random.choice([0, 255, 1, random.randrange(256)])
        else:
            many = random.randrange(8)
            found[place : place + (many if kind < 0.8 else 0)] = random.randbytes(
                0 if kind < 0.8 else many
            )
    return bytes(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_any_file_gives_pictures_or_errors(tmp_path, seed):
    """Damaged files are read, kept, sorted and written, or are errors that name them."""
    frames = np.stack([DEEP >> 4] * 4)
    uids = {"SOPInstanceUID": "1.2.3", "PatientName": "A^B"}
    data = (
        enhanced(frames, [[0, 0, k] for k in range(4)], [1, 0, 0, 0, 1, 0], slopes=(1, 2, 3, 4)),
        slice_of(DEEP >> 5, 4, WindowCenter="40", WindowWidth="400", **uids),
        dicom_of(DEEP >> 4, 12, samples_as=frames, NumberOfFrames=4, FrameTime="4", **uids),
        compressed(np.stack([GRAY] * 3), **uids),
    )[seed]
    random, path, other = Random(seed), tmp_path / "a.dcm", tmp_path / "b.dcm"
    other.write_bytes(slice_of(DEEP >> 5, 5))
    for _ in range(40):
        path.write_bytes(_mutated(data, random))
        with contextlib.suppress(PictureError, ParameterError):
            with opened_book(path, keep=KEEP) as book:
                found = [book.read(0), book.read(book.count - 1)][: book.count]
            writing.write(found, io.BytesIO())
        for series in series_of([str(path), str(other)], keep=KEEP):
            with contextlib.suppress(PictureError):
                series.book.read(0)


def test_a_full_disk_is_no_damage():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as found:
        writing.write([pictures.Picture(GRAY, 8)], Full())
    assert found.value.errno == errno.ENOSPC


@pytest.mark.parametrize(("role", "facts"), [(Role.PAGE, ()), (Role.FRAME, ((1, 25),) * 2),
                                             (Role.SLICE, ((0,), (5000,)))])  # fmt: skip
def test_frames_keep_spacing_and_calibration(role, facts):
    calibrated = pictures.from_bytes(
        dicom_of(STORED, 12, RescaleSlope="2", RescaleIntercept="-1024", RescaleType="HU",
                 WindowCenter="40", WindowWidth="400", PixelSpacing=["0.5", "0.25"])
    )  # fmt: skip
    data = book_bytes([calibrated] * 2, Origin(role=role), list(facts))
    with opened_book(data, "x") as found:
        for picture in found:
            assert picture.metadata == calibrated.metadata
