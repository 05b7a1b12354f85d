"""Pictures become files: formats by name, what each can hold, and what it loses."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.picture import Picture
from mmpcodec.pictures import netpbm, npy, png, tiff
from mmpcodec.pictures.png import chunks
from mmpcodec.pictures.tiff import tags

_PLANES = {
    "pgm": (1,),
    "ppm": (3,),
    "pam": (1, 2, 3, 4),
    "png": (1, 2, 3, 4),
    "tif": (1, 2, 3, 4),
    "npy": (1, 2, 3, 4),
}

FORMATS = tuple(_PLANES)
"""Formats that can be written, by the extension of their files."""

_NETPBM = ("pgm", "ppm", "pam")


def format_of(path: str | os.PathLike[str], formats: Sequence[str] = FORMATS) -> str:
    """The format that a file's extension names, one of ``formats``.

    Raises
    ------
    ParameterError
        When it names none of them.
    """
    extension = Path(path).suffix.lower()
    format = "tif" if extension == ".tiff" else extension.removeprefix(".")
    if format not in formats:
        raise ParameterError(
            f"{os.fspath(path)}: extension {extension!r} must be one of .{', .'.join(formats)}"
        )
    return format


def check_format(name: str) -> str:
    """The name of a format, if it is one of ``FORMATS``.

    Raises
    ------
    ParameterError
        When it is not.
    """
    if name not in FORMATS:
        raise ParameterError(f"format = {name!r}: must be one of {', '.join(FORMATS)}")
    return name


def to_bytes(picture: Picture | np.ndarray, format: str) -> bytes:
    """A whole picture file, which reads to the same picture but for what ``lost`` names.

    Parameters
    ----------
    picture : Picture or array
        Of an array the samples have all bits of their type.
    format : {"pgm", "ppm", "pam", "png", "tif", "npy"}
        PGM for gray only, PPM for RGB only.

    Raises
    ------
    ParameterError
        For another format, or a picture that the format cannot hold.
    MissingExtra
        When 16-bit colours or alpha in PNG need imagecodecs, and it is not installed.
    """
    check_format(format)
    picture = _picture(picture)
    if picture.planes not in _PLANES[format]:
        fits = ", ".join(name for name, planes in _PLANES.items() if picture.planes in planes)
        raise ParameterError(f"format = {format!r} for {picture.kind}: must be one of {fits}")
    if format in _NETPBM:
        return netpbm.to_bytes(picture, format)
    return {"png": png, "tif": tiff, "npy": npy}[format].to_bytes(picture)


def lost(picture: Picture | np.ndarray, format: str) -> tuple[str, ...]:
    """What a format cannot hold of a picture, or only in part.

    Parameters
    ----------
    picture : Picture or array
    format : str
        As ``to_bytes`` takes them.

    Returns
    -------
    tuple of str
        Of "depth", "white", "icc", "exif", "xmp", "resolution" and "text".

    Raises
    ------
    ParameterError
        For another format.
    """
    check_format(format)
    picture = _picture(picture)
    metadata = picture.metadata
    held: set[str] = set()
    if format != "npy" or picture.depth in (1, 8, 16):
        held.add("depth")
    if picture.white == (1 << picture.depth) - 1 or (
        format in _NETPBM and netpbm.holds_white(picture)
    ):
        held.add("white")
    if format in ("png", "tif"):
        held |= {"icc", "xmp"}
        of_texts, of_resolution = (
            (chunks.holds_text, chunks.holds_resolution)
            if format == "png"
            else (tags.holds_text, tags.holds_resolution)
        )
        if metadata.resolution is not None and of_resolution(metadata.resolution):
            held.add("resolution")
        keywords = [keyword for keyword, _ in metadata.text]
        # A TIFF file has one of each tag.
        single = format == "png" or len(set(keywords)) == len(keywords)
        if single and all(of_texts(keyword, said) for keyword, said in metadata.text):
            held.add("text")
        if format == "png" or tags.holds_exif(metadata.exif):
            held.add("exif")
    there = ("depth", "white", *metadata.kinds())
    return tuple(name for name in there if name not in held)


def write(
    picture: Picture | np.ndarray,
    target: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
) -> None:
    """Write a picture file.

    Parameters
    ----------
    picture : Picture or array
        As ``to_bytes`` takes them.
    target : path or binary stream
        A stream need not be seekable.
    format : {"pgm", "ppm", "pam", "png", "tif", "npy"} or None
        None takes it from the extension of a path; a stream needs it.

    Raises
    ------
    ParameterError, MissingExtra
        As ``to_bytes`` does.
    PictureError
        When the file cannot be written.
    """
    if not isinstance(target, (str, os.PathLike)):
        target.write(to_bytes(picture, str(format)))
        return
    data = to_bytes(picture, format or format_of(target))
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise PictureError(f"{os.fspath(target)}: {error.strerror}") from error


def _picture(picture: Picture | np.ndarray) -> Picture:
    return picture if isinstance(picture, Picture) else Picture.of(picture)
