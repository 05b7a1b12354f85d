"""Read DICOM files of one frame, with pydicom."""

import io

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.limits import check_single, check_size, library

_DEFLATED = b"1.2.840.10008.1.2.1.99"


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
    check_size(int(file.Columns), int(file.Rows), name, limits)
    check_single(int(file.get("NumberOfFrames", 1) or 1), name)
    bits, kind = int(file.BitsStored), str(file.PhotometricInterpretation)
    planes = int(file.SamplesPerPixel)
    gray = kind in ("MONOCHROME1", "MONOCHROME2") and planes == 1 and 1 <= bits <= 16
    if not gray and not (kind == "RGB" and planes == 3 and bits == 8):
        raise PictureError(
            f"{name}: is DICOM of {kind} with {bits} bits; supported are monochrome up to 16 "
            "bits and RGB of 8 bits"
        )
    stored = file.pixel_array
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
