"""DICOM files."""

import importlib.util
import io
import struct
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from support.picture_files import COLOUR, DEEP, GRAY, dicom_of, file_of

from mmpcodec import PictureError, pictures
from mmpcodec.metadata import Calibration, Metadata, Resolution


def test_dicom_of_every_kind():
    deep = (DEEP >> 4).astype(np.uint16)
    plain = pictures.from_bytes(dicom_of(deep, 12))
    np.testing.assert_array_equal(plain.samples, deep)
    assert (plain.depth, plain.white, plain.metadata) == (12, 4095, Metadata())
    inverted = pictures.from_bytes(dicom_of(deep, 12, "MONOCHROME1"))
    np.testing.assert_array_equal(inverted.samples, 4095 - deep)
    signed = pictures.from_bytes(dicom_of(deep.astype(np.int16) - 2048, 12))
    np.testing.assert_array_equal(signed.samples, deep)
    colour = pictures.from_bytes(dicom_of(COLOUR, 8, "RGB"))
    np.testing.assert_array_equal(colour.samples, COLOUR)


STORED = (np.arange(6 * 9).reshape(6, 9) * 70 - 2000).astype(np.int16)
RESCALED = {"RescaleSlope": "2", "RescaleIntercept": "-1024"}


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize("masked", [False, True], ids=["sign extended", "sign in bit 11"])
def test_values_come_back_from_samples(kind, masked):
    stored = STORED & 0xFFF if masked else STORED
    found = pictures.from_bytes(dicom_of(stored, 12, kind, **RESCALED, RescaleType="HU"))
    calibration = found.metadata.calibration
    assert calibration.unit == "HU"
    values = [[calibration.value(sample) for sample in row] for row in found.samples.tolist()]
    np.testing.assert_array_equal(values, 2.0 * STORED - 1024)
    order = 1 if kind == "MONOCHROME2" else -1
    assert (np.diff(found.samples.ravel().astype(int)) * order > 0).all()


@pytest.mark.parametrize(
    ("elements", "calibration"),
    [
        ({}, None),
        ({"Modality": "CT"}, None),
        (RESCALED, Calibration(2.0, -1024.0)),
        ({**RESCALED, "Modality": "CT"}, Calibration(2.0, -1024.0, "HU")),
        ({**RESCALED, "RescaleType": "US"}, Calibration(2.0, -1024.0)),
        ({"RescaleSlope": "0.5"}, Calibration(0.5)),
        ({"WindowCenter": "40", "WindowWidth": "400"}, Calibration(window=(-160.0, 239.0))),
        (
            {"WindowCenter": ["40", "9"], "WindowWidth": ["400", "9"], "VOILUTFunction": "SIGMOID"},
            Calibration(window=(-160.0, 240.0)),
        ),
        ({"WindowCenter": "40", "WindowWidth": "1"}, None),
        ({"WindowCenter": "40"}, None),
    ],
)
def test_rescaling_and_windows_are_read(elements, calibration):
    found = pictures.from_bytes(dicom_of(DEEP >> 4, 12, **elements)).metadata
    assert found.calibration == calibration
    assert len(found.text) == (calibration is not None)


@pytest.mark.parametrize(
    ("elements", "resolution"),
    [
        ({"PixelSpacing": ["0.5", "0.25"]}, (Fraction(4000), Fraction(2000))),
        ({"ImagerPixelSpacing": ["0.2", "0.2"]}, (Fraction(5000), Fraction(5000))),
        ({"PixelSpacing": ["0.143", "0.143"]}, (Fraction(10**6, 143), Fraction(10**6, 143))),
        (
            {"PixelSpacing": ["1", "1"], "ImagerPixelSpacing": ["2", "2"]},
            (Fraction(1000), Fraction(1000)),
        ),
        ({"PixelSpacing": ["0", "1"]}, None),
        ({"PixelSpacing": "1"}, None),
        ({"PixelSpacing": "1", "ImagerPixelSpacing": ["2", "2"]}, (Fraction(500), Fraction(500))),
    ],
)
def test_spacing_becomes_the_resolution(elements, resolution):
    for samples, kind in ((GRAY, "MONOCHROME2"), (COLOUR, "RGB")):
        found = pictures.from_bytes(dicom_of(samples, 8, kind, **elements)).metadata.resolution
        assert found == (None if resolution is None else Resolution(*resolution, "metre"))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(128) + b"DICM" + bytes(9), "is damaged or truncated"),
        (dicom_of(GRAY, 8, "PALETTE COLOR"), "is DICOM of PALETTE COLOR with 8 bits; supported"),
        (dicom_of(GRAY, 8, NumberOfFrames=2), "holds 2 pictures; supported is one per file"),
        (dicom_of(GRAY, 8) + b"1.2.840.10008.1.2.1.99", "is a deflated DICOM file"),
        (
            dicom_of(DEEP, 12, HighBit=15),
            "holds 12 bits up to bit 15; supported are samples whose lowest bit is bit 0$",
        ),
        (dicom_of(GRAY, 8, RescaleSlope="1e308"), "is damaged .*must have numbers of at most 1e"),
    ],
)
def test_dicom_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: {says}"):
        pictures.from_bytes(data, "x")


def encapsulated(frame, syntax, samples=GRAY, rest=(), tables=None, **more):
    """A file with a compressed frame, and the rest of the fragments; ``tables`` are elements."""
    from pydicom import dcmread
    from pydicom.encaps import encapsulate

    file = dcmread(io.BytesIO(dicom_of(samples, 8, **more)))
    file.file_meta.TransferSyntaxUID = syntax
    file.PixelData = encapsulate([frame, *rest], has_bot=not rest)
    file["PixelData"].VR = "OB"
    file["PixelData"].is_undefined_length = True
    for name, value in (tables or {}).items():
        setattr(file, name, value)
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


JPEG, JPEG_2000, RLE = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.5"


def rle_frame(*segments):
    starts = [64 + sum(map(len, segments[:number])) for number in range(len(segments))]
    header = struct.pack("<16I", len(segments), *starts, *[0] * (15 - len(segments)))
    return header + b"".join(segments)


def rle_segment(samples):
    """PackBits data of literal runs of one row each."""
    return b"".join(bytes([len(row) - 1]) + bytes(row) for row in samples)


def test_compressed_frames():
    lossless = file_of(GRAY, "JPEG2000", no_jp2=True, irreversible=False)
    found = pictures.from_bytes(encapsulated(lossless, JPEG_2000)).samples
    np.testing.assert_array_equal(found, GRAY)
    jpeg = file_of(GRAY, "JPEG", quality=100)
    found = pictures.from_bytes(encapsulated(jpeg, JPEG)).samples
    assert np.abs(found.astype(int) - GRAY).max() <= 3
    rle = rle_frame(rle_segment(GRAY))
    np.testing.assert_array_equal(pictures.from_bytes(encapsulated(rle, RLE)).samples, GRAY)


def test_compressions_without_a_decoder_are_named():
    with pytest.raises(PictureError, match=r"^x: is compressed by MPEG2 Main .*, which is not su"):
        pictures.from_bytes(encapsulated(bytes(8), "1.2.840.10008.1.2.4.100"), "x")
    if importlib.util.find_spec("pylibjpeg") or importlib.util.find_spec("gdcm"):
        pytest.skip("decodes lossless JPEG")
    data = encapsulated(file_of(GRAY, "JPEG"), "1.2.840.10008.1.2.4.70")
    says = r"^x: is compressed by JPEG Lossless, .*, which needs gdcm.* or pylibjpeg.*libjpeg>="
    with pytest.raises(PictureError, match=says):
        pictures.from_bytes(data, "x")


LARGE = np.zeros((3000, 3000), np.uint8)


@pytest.mark.parametrize(
    ("frame", "syntax", "says"),
    [
        (file_of(LARGE, "JPEG"), JPEG, "frame of 3000x3000 in a picture of 9x6"),
        (file_of(LARGE, "JPEG2000", no_jp2=True), JPEG_2000, "frame of 3000x3000 in a picture"),
        (file_of(LARGE, "JPEG2000"), JPEG_2000, "its frame is neither JPEG nor JPEG 2000"),
        (file_of(LARGE, "JPEG2000", no_jp2=True), JPEG, "frame of 3000x3000 in a picture of 9x6"),
        (
            file_of(GRAY, "JPEG2000", no_jp2=True).replace(b"\xff\x64", b"\xff\x70", 1),
            JPEG_2000,
            "JPEG 2000 has the marker 0xff70",
        ),
        (rle_frame(b"\x81\0" * 70000), RLE, "RLE segment of more than 54 bytes"),
        (rle_frame(rle_segment(GRAY), b"\x81\0" * 70000), RLE, "RLE segment of more than 54"),
    ],
)
def test_frames_larger_than_the_picture_are_refused(frame, syntax, says):
    data = encapsulated(frame, syntax)
    tracemalloc.start()
    with pytest.raises(PictureError, match=rf"^x: is damaged or truncated: {says}"):
        pictures.from_bytes(data, "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 + 8 * len(data)


def test_only_the_checked_frame_is_decoded():
    """A table of offsets that names another frame is left out."""
    small, large = (
        file_of(each, "JPEG2000", no_jp2=True, irreversible=False) for each in (GRAY, LARGE)
    )
    tables = {
        "ExtendedOffsetTable": struct.pack("<Q", 8 + len(small) + len(small) % 2),
        "ExtendedOffsetTableLengths": struct.pack("<Q", len(large)),
    }
    data = encapsulated(small, JPEG_2000, rest=[large], tables=tables)
    np.testing.assert_array_equal(pictures.from_bytes(data, "x").samples, GRAY)
