"""Read DICOM files of one frame, with pydicom."""

import io
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed.codestream import check_parts
from mmpcodec.pictures.compressed.frame_size import (
    JPEG2000_START,
    JPEG_START,
    check_jpeg_scans,
    jpeg2000_size,
    jpeg_size,
    packbits_size,
)
from mmpcodec.pictures.limits import check_single, check_size, damaged, library, one_line
from mmpcodec.pictures.registry import listed

_DEFLATED = b"1.2.840.10008.1.2.1.99"
_RLE = "1.2.840.10008.1.2.5"
_PLUGINS = {
    _RLE: "pydicom",
    "1.2.840.10008.1.2.4.50": "pillow",  # JPEG baseline
    "1.2.840.10008.1.2.4.51": "pillow",  # JPEG extended
    "1.2.840.10008.1.2.4.90": "pillow",  # JPEG 2000 lossless
    "1.2.840.10008.1.2.4.91": "pillow",  # JPEG 2000
}
"""The decoders whose sizes are checked here; other compressions take any decoder of pydicom."""
_SPACINGS = ("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing")
_LEAST_SPACING, _MOST_SPACING = 1e-9, 1e9  # mm
_UNSPECIFIED = "US"  # unit of rescaled values
_RLE_HEADER = struct.Struct("<16I")
_RLE_PADDING = 2  # most bytes after a segment


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file. Data about the patient are not read.

    MONOCHROME1 is inverted, so that white is the largest level. Signed levels are shifted, so that
    the darkest possible level becomes 0. ``metadata.calibration`` leads from the samples to the
    values of the file, such as Hounsfield units, and has the window. The pixel spacing becomes the
    resolution.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, of several frames, or of a kind that is not
        supported.
    MissingExtra
        If pydicom is not installed.
    """
    pydicom = library("pydicom", "DICOM", name, extra="dicom")
    if _DEFLATED in data:
        # pydicom would unpack all of it, without a bound on its size.
        raise PictureError(f"{name}: is a deflated DICOM file, which is not supported")
    try:
        file = pydicom.dcmread(io.BytesIO(data))
    except RecursionError:
        raise damaged(name, "its sequences are nested too deep") from None
    check_single(int(file.get("NumberOfFrames", 1) or 1), name)
    bits, kind = int(file.BitsStored), str(file.PhotometricInterpretation)
    planes = int(file.SamplesPerPixel)
    check_size(int(file.Columns), int(file.Rows), planes, name, limits)
    gray = kind in ("MONOCHROME1", "MONOCHROME2") and planes == 1 and 1 <= bits <= 16
    if not gray and not (kind == "RGB" and planes == 3 and bits == 8):
        raise PictureError(
            f"{name}: is DICOM of {one_line(kind)} with {bits} bits; supported are monochrome up "
            "to 16 bits and RGB of 8 bits"
        )
    stored = _stored(file, name)
    signed = bool(file.PixelRepresentation)
    if stored.ndim != (2 if gray else 3):
        raise ValueError(f"samples of shape {stored.shape}")
    resolution = _resolution(file)
    if not gray:
        return Picture(stored.astype(np.uint8), 8, Metadata(resolution=resolution))
    white = (1 << bits) - 1
    offset = 1 << (bits - 1) if signed else 0
    levels = np.clip(stored.astype(np.int64) + offset, 0, white)
    inverted = kind == "MONOCHROME1"
    levels = white - levels if inverted else levels
    calibration = _calibration(file, offset, white if inverted else None)
    text = () if calibration is None else (calibration.text(),)
    metadata = Metadata(resolution=resolution, text=text)
    return Picture(levels.astype(sample_type(bits)), bits, metadata)


def _calibration(file: Any, offset: int, inverted_from: int | None) -> Calibration | None:
    """Return what samples measure; None if the file says neither values nor a window.

    Parameters
    ----------
    file : pydicom.Dataset
    offset : int
        Number that was added to the stored levels.
    inverted_from : int or None
        Level that the levels were subtracted from.

    Raises
    ------
    ValueError
        If a number is missing or not finite.
    """
    rescaled = file.get("RescaleSlope") is not None
    slope = float(file.RescaleSlope) if rescaled else 1.0
    intercept = float(file.get("RescaleIntercept") or 0) if rescaled else 0.0
    window = _window(file)
    if not (rescaled or offset or window):
        return None
    unit = str(file.get("RescaleType") or "")
    if rescaled and not unit and file.get("Modality") == "CT":
        unit = "HU"
    # Stored level = sample - offset, or inverted_from - sample - offset.
    intercept -= slope * offset
    if inverted_from is not None:
        intercept, slope = intercept + slope * inverted_from, -slope
    return Calibration(slope, intercept, "" if unit == _UNSPECIFIED else unit, window)


def _window(file: Any) -> tuple[float, float] | None:
    """Return the values that the first window shows black and white. Source: PS3.3, C.11.2.1.2."""
    centre, width = (_first(file.get(name)) for name in ("WindowCenter", "WindowWidth"))
    if centre is None or width is None:
        return None
    if str(file.get("VOILUTFunction") or "LINEAR") == "LINEAR":
        centre, width = centre - 0.5, width - 1
    return (centre - width / 2, centre + width / 2) if width > 0 else None


def _resolution(file: Any) -> Resolution | None:
    """Return the pixels per metre, from the spacing of rows and columns in mm."""
    for name in _SPACINGS:
        spacing = file.get(name)
        # A file may break the rule that there are two.
        if isinstance(spacing, Sequence) and not isinstance(spacing, str) and len(spacing) == 2:
            said = [str(number).strip() for number in spacing]
            # A fraction of 1e99999999 would have as many digits.
            if all(_LEAST_SPACING < float(number) < _MOST_SPACING for number in said):
                rows, columns = map(Fraction, said)
                return Resolution(1000 / columns, 1000 / rows, "metre")
    return None


def _first(value: Any) -> float | None:
    """Return the first number of an element that may hold several, or none."""
    if value is None or value == "":
        return None
    return float(value[0] if hasattr(value, "__len__") and not isinstance(value, str) else value)


def _stored(file: Any, name: str) -> np.ndarray:
    """Return the stored samples.

    Raises
    ------
    PictureError
        If the samples are compressed in a way that no decoder here knows, or lie in the high bits.
    ValueError
        If a compressed frame has another size than the data set says; its decoder would allocate
        the size that the frame says.
    """
    from pydicom.encaps import encapsulate, get_frame
    from pydicom.pixels import pixel_array

    syntax = file.file_meta.TransferSyntaxUID
    if not syntax.is_encapsulated:
        bits = int(file.BitsStored)
        high = int(file.get("HighBit", bits - 1))
        if high != bits - 1:  # pydicom takes the lowest bits
            raise PictureError(
                f"{name}: holds {bits} bits up to bit {high}; supported are samples whose lowest "
                "bit is bit 0"
            )
        return pixel_array(file)
    _check_decoder(syntax, name)
    frame = get_frame(file.PixelData, 0, number_of_frames=1)
    if syntax == _RLE:
        _check_rle(frame, int(file.Columns) * int(file.Rows))
    else:
        _check_frame(frame, int(file.Columns), int(file.Rows))
    # What is decoded is what was checked, whatever the tables of offsets say.
    file.PixelData = encapsulate([frame])
    file.pop("ExtendedOffsetTable", None)
    return pixel_array(file, decoding_plugin=_PLUGINS.get(syntax, ""))


def _check_decoder(syntax: Any, name: str) -> None:
    """Check that pydicom can decode a compression.

    Raises
    ------
    PictureError
        If it cannot, or only with packages that are not installed.
    """
    from pydicom.pixels import get_decoder

    title = one_line(syntax.name)
    try:
        decoder = get_decoder(syntax)
    except NotImplementedError:
        raise PictureError(f"{name}: is compressed by {title}, which is not supported") from None
    if not decoder.is_available:
        packages = [each.partition(" requires ")[2] for each in decoder.missing_dependencies]
        raise PictureError(
            f"{name}: is compressed by {title}, which needs {listed(packages, 'or')}"
        )


def _check_frame(frame: bytes, columns: int, rows: int) -> None:
    if frame.startswith(JPEG_START):
        size = jpeg_size(frame)
        check_jpeg_scans(frame)
    elif frame.startswith(JPEG2000_START):
        size = jpeg2000_size(frame)
        check_parts(frame)
    else:
        raise ValueError("its frame is neither JPEG nor JPEG 2000")
    if size != (columns, rows):
        raise ValueError(f"frame of {size[0]}x{size[1]} in a picture of {columns}x{rows}")


def _check_rle(frame: bytes, area: int) -> None:
    """Check the size of each segment, which holds one byte of each sample of a plane."""
    count, *starts = _RLE_HEADER.unpack_from(frame)
    ends = [*starts[1:count], len(frame)]
    for start, end in zip(starts[:count], ends, strict=False):
        size = packbits_size(frame[start:end], area + _RLE_PADDING)
        if size > area + _RLE_PADDING:
            raise ValueError(f"RLE segment of more than {area} bytes")
