"""Write picture files: formats by name, what each format keeps, and what it loses."""

import os
from pathlib import Path
from typing import BinaryIO

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.samples import SamplesLike


def format_of(path: str | os.PathLike[str]) -> str:
    """Find the format that the extension of a path names.

    Parameters
    ----------
    path : path
        ``.tif`` and ``.tiff`` both name "tif". Case does not matter.

    Returns
    -------
    str
        One of ``pictures.FORMATS``.

    Raises
    ------
    ParameterError
        If no format with this extension can be written.
    """
    extension = Path(path).suffix.lower()
    formats = registry.written()
    for name, row in formats.items():
        if extension in row.suffixes:
            return name
    raise ParameterError(
        f"{os.fspath(path)}: extension {extension!r} must be one of .{', .'.join(formats)}"
    )


def check_format(name: str) -> str:
    """Check the name of a format, one of ``pictures.FORMATS``, and return it.

    Raises
    ------
    ParameterError
        If no such format can be written.
    """
    formats = registry.written()
    if name not in formats:
        raise ParameterError(f"format = {name!r}: must be one of {', '.join(formats)}")
    return name


def to_bytes(picture: Picture | SamplesLike, format: str) -> bytes:
    """Encode a picture as the bytes of a picture file.

    Reading the bytes gives the same samples, and the same depth and metadata except what ``lost``
    names.

    Parameters
    ----------
    picture : Picture, or (H, W) or (H, W, 1 to 4) array of bool, uint8 or uint16
        The samples of an array use all bits of their type: depth 1, 8 or 16.
    format : {"pgm", "ppm", "pam", "png", "tif", "npy"}
        "pgm" takes gray only and "ppm" RGB only. The others take gray and RGB, with and without
        alpha.

    Returns
    -------
    bytes

    Raises
    ------
    ParameterError
        If the format is unknown or cannot hold the picture.
    MissingExtra
        If PNG with colours or alpha of more than 8 bits needs imagecodecs, or TIFF needs tifffile,
        and the package is not installed.
    """
    check_format(format)
    picture = _picture(picture)
    formats = registry.written()
    row = formats[format]
    if picture.planes not in row.planes:
        fits = ", ".join(name for name, each in formats.items() if picture.planes in each.planes)
        raise ParameterError(f"format = {format!r} for {picture.kind}: must be one of {fits}")
    return row.load().to_bytes(picture, format)


def lost(picture: Picture | SamplesLike, format: str) -> tuple[str, ...]:
    """Name what a file of a format would not keep of a picture, or keep only in part.

    Parameters
    ----------
    picture : Picture or array
        As for ``to_bytes``.
    format : str
        As for ``to_bytes``.

    Returns
    -------
    tuple of str
        Some of "depth", "white", "icc", "exif", "xmp", "resolution" and "text", in this order;
        empty if the file keeps everything.

    Raises
    ------
    ParameterError
        If the format is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec import pictures
    >>> picture = pictures.Picture(np.zeros((4, 4), np.uint16), depth=12)
    >>> pictures.lost(picture, "png"), pictures.lost(picture, "npy")
    ((), ('depth',))
    """
    check_format(format)
    picture = _picture(picture)
    row = registry.written()[format]

    def keeps(kind: str) -> bool:
        if kind == "depth":
            return picture.depth in row.depths
        if kind == "white" and picture.white == (1 << picture.depth) - 1:
            return True
        return kind in row.keeps and row.load().holds(picture, kind)

    there = ("depth", "white", *picture.metadata.kinds())
    return tuple(kind for kind in there if not keeps(kind))


def write(
    picture: Picture | SamplesLike,
    target: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
) -> None:
    """Write a picture file.

    Parameters
    ----------
    picture : Picture or array
        As for ``to_bytes``.
    target : path or binary stream
        A stream need not be seekable.
    format : str or None
        As for ``to_bytes``. None takes the format from the extension of a path; a stream needs a
        format.

    Raises
    ------
    ParameterError, MissingExtra
        As ``to_bytes`` raises them.
    PictureError
        If the file cannot be written.
    """
    if not isinstance(target, (str, os.PathLike)):
        target.write(to_bytes(picture, str(format)))
        return
    data = to_bytes(picture, format or format_of(target))
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise PictureError(f"{os.fspath(target)}: {error.strerror}") from error


def _picture(picture: Picture | SamplesLike) -> Picture:
    return picture if isinstance(picture, Picture) else Picture.of(picture)
