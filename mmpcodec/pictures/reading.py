"""Read whole picture files. The first bytes of a file tell its format, whatever its name."""

import os
from pathlib import Path

from mmpcodec.errors import PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.pictures.limits import damage_told


def read(path: str | os.PathLike[str], *, limits: DecodeLimits | None = None) -> Picture:
    """Read a picture file.

    Parameters
    ----------
    path : path
    limits : DecodeLimits or None
        Largest picture to accept; None for the default limits.

    Returns
    -------
    Picture

    Raises
    ------
    PictureError
        If the file cannot be opened, and as ``from_bytes`` raises it.
    MissingExtra
        If the format needs a package that is not installed.

    Examples
    --------
    >>> from mmpcodec import pictures
    >>> picture = pictures.read("images/camera.pgm")       # doctest: +SKIP
    >>> picture.samples.shape, picture.depth               # doctest: +SKIP
    ((512, 512), 8)
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PictureError(f"{os.fspath(path)}: {error.strerror}") from error
    return from_bytes(data, os.fspath(path), limits=limits)


def from_bytes(
    data: bytes, name: str = "picture", *, limits: DecodeLimits | None = None
) -> Picture:
    """Read a picture from the bytes of its file.

    Parameters
    ----------
    data : bytes
        A whole PBM, PGM, PPM, PAM, PNG, TIFF, BMP, JPEG, NPY, mmp or DICOM file. The first bytes
        tell the format.
    name : str
        Name of the file in error messages.
    limits : DecodeLimits or None
        Largest picture to accept, checked before the samples are allocated; None for the default
        limits.

    Returns
    -------
    Picture
        Samples, depth and metadata as the file has them. An orientation in EXIF stays in EXIF: the
        samples are not turned.

    Raises
    ------
    PictureError
        If the file is empty, damaged, beyond the limits, of an unknown format, of a kind that is
        not supported, or if it holds several pictures. The message begins with ``name``.
    MissingExtra
        If the format needs a package that is not installed.
    """
    limits = limits or DecodeLimits()
    if not data:
        raise PictureError(f"{name}: is empty")
    row = registry.format_at(data)
    if row is None:
        raise PictureError(
            f"{name}: is not a picture file of a known format; supported are "
            f"{registry.readable_text()}"
        )
    module = row.load()
    with damage_told(name):
        return module.read(data, name, limits)
