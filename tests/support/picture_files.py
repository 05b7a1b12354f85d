"""Small picture files, made by other libraries where they can."""

import contextlib
import io
import struct
import zlib
from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import tifffile
from PIL import Image, features

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import exif

GRAY = (np.arange(6 * 9).reshape(6, 9) * 5 % 256).astype(np.uint8)
COLOUR = np.dstack([GRAY, GRAY // 2, 255 - GRAY])
DEEP = GRAY.astype(np.uint16) * 257 ^ 0x35


def file_of(samples, format, mode=None, **options):
    """A file by Pillow."""
    image = Image.fromarray(samples)
    stream = io.BytesIO()
    (image if mode is None else image.convert(mode)).save(stream, format, **options)
    return stream.getvalue()


def tiff_of(samples, **options):
    """A file by tifffile; by ``packed_tiff`` if ``bitspersample`` is among the options."""
    if "bitspersample" in options:
        return packed_tiff(samples, **options)
    stream = io.BytesIO()
    tifffile.imwrite(stream, samples, metadata=None, software=False, **options)
    return stream.getvalue()


def packed_tiff(samples, bitspersample, photometric="minisblack", rowsperstrip=None):
    """A file of samples of 1 to 16 bits without padding, gray or RGB, in strips."""
    height, width = samples.shape[:2]
    planes, rows = samples.size // (height * width), rowsperstrip or height
    single = samples.reshape(height, -1, 1) >> np.arange(bitspersample)[::-1] & 1
    packed = np.packbits(single.reshape(height, -1).astype(np.uint8), axis=1)
    strips = [packed[top : top + rows].tobytes() for top in range(0, height, rows)]
    starts = 8 + np.cumsum([0, *map(len, strips)])
    colours = {"miniswhite": 0, "minisblack": 1, "rgb": 2}[photometric]
    numbers = {256: [width], 257: [height], 258: [bitspersample] * planes, 262: [colours]}
    numbers |= {273: starts[:-1], 277: [planes], 278: [rows], 279: [*map(len, strips)]}
    entries = {
        tag: (4, len(values), struct.pack(f"<{len(values)}I", *values))
        for tag, values in numbers.items()
    }
    place = int(starts[-1]) + int(starts[-1]) % 2
    head = b"II*\0" + struct.pack("<I", place) + b"".join(strips)
    return head.ljust(place, b"\0") + exif.packed("<", exif.Directory(entries), place)


def png_of(head, chunks):
    """A PNG file of the fields of IHDR (width, height, depth, colour type) and chunks."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", *head, 0, 0, 0)), *chunks, (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def rows_of(*rows):
    """The chunk of samples of a PNG file, its rows not filtered."""
    return b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))


def dicom_of(samples, bits, kind="MONOCHROME2", samples_as=None, **more):
    """A file by pydicom; ``samples_as`` are the samples as they are stored, if not as they are."""
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.7"
    meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["mmpcodec tests"])
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
        if name.isidentifier() and name[0].isupper():
            setattr(file, name, value)
        else:
            file.add(value)
    file.PixelData = (samples if samples_as is None else samples_as).tobytes()
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def _exif():
    found = Image.Exif()
    found[271], found[274] = "Maker", 6
    found.get_ifd(34665).update({33434: (1, 50), 36867: "2020:01:01 00:00:00"})
    found.get_ifd(34853)[1] = "N"
    return found


EXIF = _exif().tobytes().removeprefix(b"Exif\0\0")
"""Camera, orientation 6, exposure, date and a place, as Pillow writes them."""


def heic_of(samples, mode="RGB", **options):
    """A file by pillow-heif, without loss."""
    import pillow_heif

    file = pillow_heif.from_bytes(mode, samples.shape[1::-1], samples.tobytes())
    stream = io.BytesIO()
    file.save(stream, quality=-1, chroma=444, matrix_coefficients=0, **options)
    return stream.getvalue()


def nifti_of(samples):
    """A file by nibabel, of signed samples: a slice, or several along the third axis."""
    import nibabel

    return nibabel.Nifti1Image(samples.swapaxes(0, 1).astype(np.int16), np.eye(4)).to_bytes()


PDF_IMAGE = b"q 40 0 0 30 0 0 cm /I Do Q"
"""Draws the image I, of 40 x 30 points."""
PDF_BOX = "/MediaBox[0 0 40 30]"


def pdf_of(
    pages: Sequence[tuple[str, bytes, str]], objects: Sequence[bytes] = (), more: bytes = b""
) -> bytes:
    """Return a file.

    Parameters
    ----------
    pages : sequence of (str, bytes, str)
        Entries of the page, its contents, and its resources.
    objects : sequence of bytes
        Further objects, from number 3 on.
    more : bytes
        Entries of the trailer.
    """
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"", *objects]
    kids = []
    for entries, contents, resources in pages:
        parts.append(_pdf_stream(b"", contents))
        page = f"/Parent 2 0 R/Contents {len(parts)} 0 R/Resources<<{resources}>>{entries}"
        parts.append(f"<</Type/Page{page}>>".encode())
        kids.append(f"{len(parts)} 0 R")
    parts[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>".encode()
    data, table = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, part in enumerate(parts, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    end = b"<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (len(parts) + 1, more, len(data))
    return data + b"xref\n0 %d\n%btrailer%b" % (len(parts) + 1, table, end)


def image_of(
    width: int, height: int, space: str, bits: int, data: bytes, kind: str = "", more: str = ""
) -> bytes:
    """Return an image; without a ``kind`` of compression, it is compressed by Flate."""
    entries = f"/Width {width}/Height {height}/BitsPerComponent {bits}/ColorSpace{space}{more}"
    data, kind = (data, kind) if kind else (zlib.compress(data), "FlateDecode")
    return _pdf_stream(f"/Type/XObject/Subtype/Image/Filter/{kind}{entries}".encode(), data)


def form_of(contents: bytes, entries: str) -> bytes:
    """Return a form, which draws what a page may draw."""
    return _pdf_stream(f"/Type/XObject/Subtype/Form{entries}".encode(), contents)


def page_of(
    image: bytes, contents: bytes = PDF_IMAGE, entries: str = PDF_BOX, *others: bytes
) -> bytes:
    """Return a file of a page that draws an image."""
    return pdf_of([(entries, contents, "/XObject<</I 3 0 R>>")], [image, *others])


def _pdf_stream(entries: bytes, data: bytes) -> bytes:
    return b"<<%b/Length %d>>stream\n%b\nendstream" % (entries, len(data), data)


def _by_imagecodecs():
    import imagecodecs

    deep = np.dstack([DEEP >> 4] * 3)
    return {
        "avif deep": imagecodecs.avif_encode(deep, level=100, bitspersample=12),
        "jpeg 2000 deep": imagecodecs.jpeg2k_encode(
            deep, level=0, reversible=True, bitspersample=12, codecformat="jp2"
        ),
        "jpeg xl": imagecodecs.jpegxl_encode(COLOUR, lossless=True),
        "jpeg xl deep": imagecodecs.jpegxl_encode(DEEP, lossless=True, usecontainer=True),
    }


_WIDE = np.tile(COLOUR, (2, 1, 1))
FILES = {
    "pgm": pictures.to_bytes(GRAY, "pgm"),
    "pgm plain": b"P2\n6 6\n255\n" + b"0 1 2 253 255 9\n" * 6,
    "ppm deep": pictures.to_bytes(np.dstack([DEEP] * 3), "ppm"),
    "pbm": file_of(GRAY > 99, "PPM"),
    "pam": pictures.to_bytes(np.dstack([GRAY, GRAY]), "pam"),
    "png": file_of(GRAY, "PNG", exif=_exif(), icc_profile=b"profile", dpi=(72, 72)),
    "png palette": file_of(COLOUR, "PNG", "P", transparency=3),
    "png deep": pictures.to_bytes(np.dstack([DEEP] * 4), "png"),
    "tiff": tiff_of(GRAY),
    "tiff lzw": tiff_of(COLOUR, compression="lzw", predictor=True, photometric="rgb"),
    "tiff tiles": tiff_of(_WIDE, compression="deflate", tile=(16, 16), photometric="rgb"),
    "tiff jpeg": tiff_of(COLOUR, compression="jpeg", photometric="rgb"),
    "tiff 12 bits": tiff_of(DEEP >> 4, bitspersample=12),
    "bmp": file_of(COLOUR, "BMP"),
    "bmp palette": file_of(COLOUR, "BMP", "P"),
    "jpeg": file_of(COLOUR, "JPEG", exif=_exif(), icc_profile=b"profile", comment=b"c"),
    "jpeg cmyk": file_of(COLOUR, "JPEG", "CMYK"),
    "gif": file_of(COLOUR, "GIF", "P", transparency=3, comment=b"c"),
    "webp": file_of(COLOUR, "WEBP", lossless=True, exif=_exif(), icc_profile=b"profile"),
    "webp lossy": file_of(COLOUR, "WEBP", xmp=b"<x/>"),
    "jpeg 2000": file_of(COLOUR, "JPEG2000"),
    "jpeg 2000 stream": file_of(GRAY, "JPEG2000", no_jp2=True),
    "npy": pictures.to_bytes(DEEP, "npy"),
    "dicom": dicom_of(GRAY, 8),
    "mmp": mmpcodec.encode(GRAY, 0, preset="plain"),
}
"""One file of each way to read."""

if features.check("avif"):
    FILES["avif"] = file_of(COLOUR, "AVIF", quality=100, exif=_exif(), icc_profile=b"profile")
with contextlib.suppress(ImportError):
    FILES |= _by_imagecodecs()
with contextlib.suppress(ImportError):
    FILES["heic"] = heic_of(COLOUR, exif=b"Exif\0\0" + EXIF)
with contextlib.suppress(ImportError):
    FILES["nifti"] = nifti_of(GRAY)
if find_spec("pypdfium2"):
    _HEIGHT, _WIDTH = COLOUR.shape[:2]
    FILES["pdf"] = page_of(image_of(_WIDTH, _HEIGHT, "/DeviceRGB", 8, COLOUR.tobytes()))


METADATA = Metadata(
    icc=b"\0" * 36 + b"acsp" + b"\0" * 88,
    xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
    resolution=Resolution(Fraction(2835), Fraction(2835), "metre"),
    text=(("Title", "Shade"),),
)


def shade(planes, depth, height=70, width=90):
    """A picture with a gradient in each plane."""
    i, j = np.indices((height, width))
    samples = np.stack([(2 * i + (n + 1) * j) % (1 << depth) for n in range(planes)], axis=2)
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    return samples[..., 0] if planes == 1 else samples


def group(**elements):
    """A data set of these elements; a data set among them becomes a sequence of one item."""
    from pydicom.dataset import Dataset

    found = Dataset()
    for name, value in elements.items():
        setattr(found, name, [value] if isinstance(value, Dataset) else value)
    return found


def enhanced(frames, corners, orientation, turned=None, slopes=(), typed=False, **more):
    """An enhanced file of 12 bits; ``turned`` has the orientation of some frames."""
    own = []
    for number, corner in enumerate(corners):
        of_frame = {}
        if corner is not None:
            of_frame["PlanePositionSequence"] = group(ImagePositionPatient=corner)
        if turned and number in turned:
            of_frame["PlaneOrientationSequence"] = group(ImageOrientationPatient=turned[number])
        if slopes:
            of_frame["PixelValueTransformationSequence"] = of_values(slopes[number])
        own.append(group(**of_frame))
    shared = {
        "PlaneOrientationSequence": group(ImageOrientationPatient=orientation),
        "PixelValueTransformationSequence": of_values(1),
    }
    if typed:
        shared["CTImageFrameTypeSequence"] = group(FrameType=["ORIGINAL", "PRIMARY"])
    return dicom_of(
        frames[0], 12, samples_as=frames, NumberOfFrames=len(frames),
        SharedFunctionalGroupsSequence=[group(**shared)],
        PerFrameFunctionalGroupsSequence=own, **more,
    )  # fmt: skip


def of_values(slope):
    """The item that makes Hounsfield units of stored levels."""
    return group(RescaleSlope=str(slope), RescaleIntercept="-1024", RescaleType="HU")


def compressed(frames, syntax="1.2.840.10008.1.2.4.90", bits=8, **more):
    """A file of frames that are compressed by JPEG 2000 without loss."""
    from pydicom import dcmread
    from pydicom.encaps import encapsulate

    file = dcmread(io.BytesIO(dicom_of(frames[0], bits, NumberOfFrames=len(frames), **more)))
    file.file_meta.TransferSyntaxUID = syntax
    coded = [file_of(each, "JPEG2000", no_jp2=True, irreversible=False) for each in frames]
    file.PixelData = encapsulate(coded)
    file["PixelData"].VR = "OB"
    file["PixelData"].is_undefined_length = True
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def slice_of(samples, position, orientation=(1, 0, 0, 0, 1, 0), uid="1.2.3", **more):
    """A CT slice of 12 bits at a place along z, or of a whole position."""
    if position is not None:
        corner = position if isinstance(position, (list, tuple)) else [0, 0, position]
        placed = {"ImagePositionPatient": corner, "ImageOrientationPatient": list(orientation)}
        more = {**placed, **more}
    usual = {"Modality": "CT", "SOPClassUID": "1.2.840.10008.5.1.4.1.1.2"}
    return dicom_of(samples, 12, SeriesInstanceUID=uid, **{**usual, **more})
