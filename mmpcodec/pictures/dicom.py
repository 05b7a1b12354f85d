"""DICOM files of one frame, by pydicom."""

import io

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.limits import check_single, check_size, library

MAGIC, PREAMBLE = b"DICM", 128

_DEFLATED = b"1.2.840.10008.1.2.1.99"


def is_dicom(data: bytes) -> bool:
    """Whether a file begins as DICOM files do."""
    return data[PREAMBLE : PREAMBLE + len(MAGIC)] == MAGIC


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a whole file; of what the file says of the patient nothing is taken.

    Signed levels are shifted, so that the darkest possible is 0.

    Raises
    ------
    PictureError
        When it is damaged, too large, of more than one frame or of a kind that is not supported.
    MissingExtra
        When pydicom is not installed.
    """
    pydicom = library("pydicom", "DICOM", name, extra="dicom")
    if _DEFLATED in data:
        # pydicom would unpack all of it, whatever that comes to.
        raise PictureError(f"{name}: is a deflated DICOM file; supported are others")
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
