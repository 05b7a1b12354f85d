"""Reading pictures of 8 to 16 bits."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import DecodeLimits, ParameterError, PictureError, levels

GRAY = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
DEEP = GRAY.astype(np.uint16) * 200
COLOUR = np.stack([GRAY, 255 - GRAY, GRAY // 2], 2)


def file_of(samples, format, mode=None):
    stream = io.BytesIO()
    image = Image.fromarray(samples)
    (image.convert(mode) if mode else image).save(stream, format)
    return stream.getvalue()


def tiff(samples, tag, value):
    """A TIFF file with another value in a tag."""
    stream = io.BytesIO()
    Image.fromarray(samples).save(stream, "TIFF", tiffinfo={339: 1})
    data = bytearray(stream.getvalue())
    entry = data.index(tag.to_bytes(2, "little") + b"\x03\x00\x01\x00\x00\x00")
    data[entry + 8 : entry + 10] = value.to_bytes(2, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "samples", "white"),
    [
        (file_of(GRAY, "PNG"), GRAY, 255),
        (file_of(GRAY, "PPM"), GRAY, 255),
        (file_of(GRAY, "BMP"), GRAY, 255),
        (file_of(GRAY, "PNG", "LA"), GRAY, 255),
        (file_of(COLOUR, "PNG"), COLOUR, 255),
        (file_of(COLOUR, "PNG", "RGBA"), COLOUR, 255),
        (file_of(COLOUR, "TIFF"), COLOUR, 255),
        (file_of(DEEP, "PNG"), DEEP, 65535),
        (file_of(DEEP, "TIFF"), DEEP, 65535),
        (b"P5 2 1 65535\n\x01\x02\xff\x00", np.array([[0x102, 0xFF00]]), 65535),
        (b"P5 # c\n2 1 4095\n\x01\x02\x0f\xff", np.array([[0x102, 4095]]), 4095),
        (b"P5 3 1 100\n\x00\x32\x64", np.array([[0, 50, 100]]), 100),
        (mmpcodec.encode(GRAY, 0), GRAY, 255),
    ],
)
def test_reads(data, samples, white):
    found = levels.from_bytes(data)
    np.testing.assert_array_equal(found.samples, samples)
    assert found.white == white
    assert found.samples.dtype == (np.uint8 if white <= 255 else np.uint16)


def dicom(samples, bits, kind="MONOCHROME2", **more):
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.7"
    meta.MediaStorageSOPInstanceUID = generate_uid()
    file = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    file.Rows, file.Columns = samples.shape[:2]
    file.SamplesPerPixel = 3 if samples.ndim == 3 else 1
    file.PhotometricInterpretation = kind
    file.BitsAllocated = 8 * samples.dtype.itemsize
    file.BitsStored, file.HighBit = bits, bits - 1
    file.PixelRepresentation = int(samples.dtype.kind == "i")
    if samples.ndim == 3:
        file.PlanarConfiguration = 0
    for name, value in more.items():
        setattr(file, name, value)
    file.PixelData = samples.tobytes()
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def test_reads_dicom_with_its_white():
    deep = (DEEP // 16).astype(np.uint16)
    plain = levels.from_bytes(dicom(deep, 12))
    np.testing.assert_array_equal(plain.samples, deep)
    assert plain.white == 4095
    inverted = levels.from_bytes(dicom(deep, 12, "MONOCHROME1"))
    np.testing.assert_array_equal(inverted.samples, 4095 - deep)
    signed = levels.from_bytes(dicom(deep.astype(np.int16) - 2048, 12))
    np.testing.assert_array_equal(signed.samples, deep)
    colour = levels.from_bytes(dicom(COLOUR, 8, "RGB"))
    np.testing.assert_array_equal(colour.samples, COLOUR)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "x: is empty"),
        (b"hello", "x: is not a picture file that is known here; supported are PGM, PPM"),
        (tiff(GRAY.astype(np.uint16), 262, 0), "x: holds gray of 16 bits whose 0 is white"),
        (tiff(GRAY, 339, 2), "x: holds signed samples"),
        (file_of(GRAY, "PNG")[:45], "x: is damaged or truncated"),
        (file_of(np.float32(GRAY), "TIFF"), "x: holds samples of mode F"),
        (mmpcodec.encode(GRAY, 0)[:30], "x: "),
        (bytes(128) + b"DICM" + bytes(9), "x: is damaged or not supported"),
        (dicom(GRAY, 8, "PALETTE COLOR"), "x: is DICOM of PALETTE COLOR with 8 bits"),
        (dicom(GRAY, 8, NumberOfFrames=2), "x: holds 2 pictures"),
    ],
)
def test_refuses(data, says):
    with pytest.raises(PictureError, match=says):
        levels.from_bytes(data, "x")


@pytest.mark.parametrize("data", [file_of(GRAY, "PNG"), dicom(GRAY, 8), mmpcodec.encode(GRAY)])
def test_limits_hold(data):
    with pytest.raises(PictureError, match=r"x: .*limit"):
        levels.from_bytes(data, "x", limits=DecodeLimits(max_pixels=16))


def test_dicom_without_pydicom_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(PictureError, match=r"x: is a DICOM file; install mmpcodec\[dicom\]"):
        levels.from_bytes(bytes(128) + b"DICM", "x")


def png_of_deep_colours(colour_type, channels):
    """Pillow does not write them."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 2, 1, 16, colour_type, 0, 0, 0)
    body = zlib.compress(bytes(1 + 4 * channels))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "narrowed"),
    [
        (png_of_deep_colours(2, 3), True),
        (png_of_deep_colours(6, 4), True),
        (b"P6 2 1 1023\n" + bytes(12), True),
        (b"P6 2 1 100\n" + bytes(6), False),
        (b"P3 1 1 1023\n1 2 3\n", True),
        (file_of(COLOUR, "PNG"), False),
        (file_of(COLOUR, "BMP"), False),
        (file_of(COLOUR, "PNG", "P"), False),
        (file_of(DEEP, "PNG"), False),
    ],
)
def test_says_where_bits_of_colours_are_left_out(data, narrowed):
    assert levels.from_bytes(data).narrowed == narrowed


@pytest.mark.parametrize("samples", [GRAY, DEEP, COLOUR])
@pytest.mark.parametrize("format", levels.FORMATS)
def test_writes_what_it_reads(samples, format):
    written = levels.Levels(samples, 65535 if samples is DEEP else 255)
    if format == ("ppm" if samples.ndim == 2 else "pgm"):
        with pytest.raises(ParameterError, match=f"format = '{format}' for "):
            levels.to_bytes(written, format)
        return
    found = levels.from_bytes(levels.to_bytes(written, format))
    np.testing.assert_array_equal(found.samples, samples)
    assert (found.samples.dtype, found.white) == (samples.dtype, written.white)
    with pytest.raises(ParameterError, match="format = 'jpg' for"):
        levels.to_bytes(written, "jpg")


def test_gray_of_8_bits_from_wider_samples_is_written_as_such():
    """DICOM files give them."""
    data = levels.to_bytes(levels.Levels(GRAY.astype(np.uint16), 255), "png")
    np.testing.assert_array_equal(levels.from_bytes(data).samples, GRAY)


def test_deep_colours_plane_after_plane_are_refused():
    tifffile = pytest.importorskip("tifffile")  # comes with scikit-image
    file = io.BytesIO()
    planes = np.zeros((3, 6, 7), np.uint16)
    tifffile.imwrite(file, planes, photometric="rgb", planarconfig="separate")
    with pytest.raises(PictureError, match="x: holds 16 bits, plane after plane; supported are 8"):
        levels.from_bytes(file.getvalue(), "x")
