"""Read DICOM files of one frame, with pydicom."""

import io
import struct
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed.frame_size import (
    JPEG2000_START,
    JPEG_START,
    check_jpeg_scans,
    jpeg2000_size,
    jpeg_size,
    packbits_size,
)
from mmpcodec.pictures.limits import check_single, check_size, library

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
_RLE_HEADER = struct.Struct("<16I")
_RLE_PADDING = 2  # most bytes after a segment


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file. Data about the patient are not read.

    MONOCHROME1 is inverted, so that white is the largest level. Signed levels are shifted, so that
    the darkest possible level becomes 0.

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
    file = pydicom.dcmread(io.BytesIO(data))
    check_single(int(file.get("NumberOfFrames", 1) or 1), name)
    bits, kind = int(file.BitsStored), str(file.PhotometricInterpretation)
    planes = int(file.SamplesPerPixel)
    check_size(int(file.Columns), int(file.Rows), planes, name, limits)
    gray = kind in ("MONOCHROME1", "MONOCHROME2") and planes == 1 and 1 <= bits <= 16
    if not gray and not (kind == "RGB" and planes == 3 and bits == 8):
        raise PictureError(
            f"{name}: is DICOM of {kind} with {bits} bits; supported are monochrome up to 16 "
            "bits and RGB of 8 bits"
        )
    stored = _stored(file)
    signed = bool(file.PixelRepresentation)
    if stored.ndim != (2 if gray else 3):
        raise ValueError(f"samples of shape {stored.shape}")
    if not gray:
        return Picture(stored.astype(np.uint8), 8)
    white = (1 << bits) - 1
    levels = stored.astype(np.int64) + ((1 << (bits - 1)) if signed else 0)
    levels = np.clip(levels, 0, white)
    levels = white - levels if kind == "MONOCHROME1" else levels
    return Picture(levels.astype(sample_type(bits)), bits)


def _stored(file: Any) -> np.ndarray:
    """Return the stored samples.

    Raises
    ------
    ValueError
        If a compressed frame has another size than the data set says; its decoder would allocate
        the size that the frame says.
    """
    from pydicom.encaps import encapsulate, get_frame
    from pydicom.pixels import pixel_array

    syntax = file.file_meta.TransferSyntaxUID
    if not syntax.is_encapsulated:
        return pixel_array(file)
    frame = get_frame(file.PixelData, 0, number_of_frames=1)
    if syntax == _RLE:
        _check_rle(frame, int(file.Columns) * int(file.Rows))
    else:
        _check_frame(frame, int(file.Columns), int(file.Rows))
    # What is decoded is what was checked, whatever the tables of offsets say.
    file.PixelData = encapsulate([frame])
    file.pop("ExtendedOffsetTable", None)
    return pixel_array(file, decoding_plugin=_PLUGINS.get(syntax, ""))


def _check_frame(frame: bytes, columns: int, rows: int) -> None:
    if frame.startswith(JPEG_START):
        size = jpeg_size(frame)
        check_jpeg_scans(frame)
    elif frame.startswith(JPEG2000_START):
        size = jpeg2000_size(frame)
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
