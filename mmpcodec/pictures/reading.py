"""Picture files are told apart by how they begin, and read whole.

Whatever a library raises for a damaged file becomes a ``PictureError`` here.
"""

import os
from collections.abc import Callable
from pathlib import Path

from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import bmp_jpeg, dicom, mmp, netpbm, npy, png, tiff
from mmpcodec.pictures.limits import damage_told

SUFFIXES = (
    ".png", ".pbm", ".pgm", ".ppm", ".pnm", ".pam", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg",
    ".npy", ".mmp", ".dcm", ".dicom",
)  # fmt: skip
"""What files in a folder are called that are taken for pictures."""

_READERS: tuple[tuple[tuple[bytes, ...], Callable[[bytes, str, DecodeLimits], Picture]], ...] = (
    (netpbm.MAGICS, netpbm.read),
    (png.MAGICS, png.read),
    (tiff.MAGICS, tiff.read),
    (bmp_jpeg.BMP_MAGICS, bmp_jpeg.read_bmp),
    (bmp_jpeg.JPEG_MAGICS, bmp_jpeg.read_jpeg),
    (npy.MAGICS, npy.read),
    (mmp.MAGICS, mmp.read),
)


def read(path: str | os.PathLike[str], *, limits: DecodeLimits | None = None) -> Picture:
    """The picture in a file; see ``from_bytes``."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PictureError(f"{os.fspath(path)}: {error.strerror}") from error
    return from_bytes(data, os.fspath(path), limits=limits)


def from_bytes(
    data: bytes, name: str = "picture", *, limits: DecodeLimits | None = None
) -> Picture:
    """The picture in a file that was read already.

    Parameters
    ----------
    data : bytes
        A whole PBM, PGM, PPM, PAM, PNG, TIFF, BMP, JPEG, NPY, DICOM or mmp file; how it begins
        says which.
    name : str
        What to call it in messages.
    limits : DecodeLimits or None
        Largest picture to accept; checked before its samples are allocated.

    Returns
    -------
    Picture
        An orientation that the file asks for is kept in its EXIF and never applied.

    Raises
    ------
    PictureError
        When it is empty, damaged, too large, of more than one picture, or of a kind that is not
        supported.
    MissingExtra
        When a library that it needs is not installed.
    """
    limits = limits or DecodeLimits()
    if not data:
        raise PictureError(f"{name}: is empty")
    with damage_told(name):
        for magics, reader in _READERS:
            if data.startswith(magics):
                return reader(data, name, limits)
        if dicom.is_dicom(data):
            return dicom.read(data, name, limits)
    raise PictureError(
        f"{name}: is not a picture file that is known here; supported are PBM, PGM, PPM, PAM, PNG, "
        "TIFF, BMP, JPEG, NPY, mmp and DICOM"
    )
