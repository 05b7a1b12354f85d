"""Picture files: the only place that reads or writes them.

Reads 8-bit gray PGM, PNG, TIFF and BMP; writes PGM, PNG, TIFF and NPY. Everything that is wrong
with a file is a ``PictureError`` that names it. Leaves ``.mmp`` files to ``codec``.
"""

import contextlib
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import BmpImagePlugin, Image, PngImagePlugin, PpmImagePlugin, TiffImagePlugin

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.params import DecodeLimits

# Called directly, because Image.open has a pixel limit of its own, and that is global.
_READERS = (
    ((b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf"), PpmImagePlugin.PpmImageFile),
    ((b"\x89PNG\r\n\x1a\n",), PngImagePlugin.PngImageFile),
    ((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"), TiffImagePlugin.TiffImageFile),
    ((b"BM",), BmpImagePlugin.BmpImageFile),
)
_SUPPORTED = "supported are 8-bit gray PGM, PNG, TIFF and BMP"
_HOLDS = {
    "1": "1-bit pixels",
    "P": "palette colours",
    "LA": "gray with alpha",
    "RGB": "RGB colours",
    "RGBA": "RGB colours with alpha",
    "I": "gray of more than 8 bits",
    "F": "floating-point gray",
}
_PILLOW_NAMES = {"pgm": "PPM", "png": "PNG", "tif": "TIFF"}

FORMATS = (*_PILLOW_NAMES, "npy")
"""Formats that can be written, by the extension of their files."""


def read(path: str | os.PathLike[str], *, limits: DecodeLimits | None = None) -> np.ndarray:
    """Samples of a picture file; see ``from_bytes``."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PictureError(f"{os.fspath(path)}: {error.strerror}") from error
    return from_bytes(data, os.fspath(path), limits=limits)


def from_bytes(
    data: bytes, name: str = "picture", *, limits: DecodeLimits | None = None
) -> np.ndarray:
    """Samples of a picture file that was read already.

    Parameters
    ----------
    data : bytes
        A whole PGM, PNG, TIFF or BMP file.
    name : str
        What to call it in messages.
    limits : DecodeLimits or None
        Largest picture to accept; checked before its samples are allocated. Pillow's own limit,
        ``PIL.Image.MAX_IMAGE_PIXELS``, holds for TIFF besides.

    Returns
    -------
    (H, W) uint8 array

    Raises
    ------
    PictureError
        When it is empty, damaged, too large, or anything but one picture of 8-bit gray.
    """
    with opened(data, name, limits=limits) as image:
        if image.mode != "L":
            mode = "I" if image.mode.startswith("I;") else image.mode
            raise PictureError(f"{name}: holds {_HOLDS.get(mode, f'mode {mode}')}; {_SUPPORTED}")
        if "transparency" in image.info:
            raise PictureError(f"{name}: holds gray with a transparent level; {_SUPPORTED}")
        return np.array(image)


@contextlib.contextmanager
def opened(
    data: bytes, name: str, *, limits: DecodeLimits | None = None, supported: str = _SUPPORTED
) -> Iterator[Image.Image]:
    """Pillow's view of a picture file of any mode, for as long as the context lasts.

    Raises
    ------
    PictureError
        When it is empty, damaged (also when that shows within the context), too large, or holds
        more than one picture.
    """
    if not data:
        raise PictureError(f"{name}: is empty")
    readers = [reader for magics, reader in _READERS if data.startswith(magics)]
    if not readers:
        raise PictureError(f"{name}: is not a picture file that is known here; {supported}")
    try:
        with readers[0](io.BytesIO(data)) as image:
            _check(image, name, limits or DecodeLimits())
            yield image
    except PictureError:
        raise
    except Exception as error:  # Pillow's readers raise many kinds for a damaged file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise PictureError(f"{name}: is damaged or truncated: {reason}") from error


def _check(image: Image.Image, name: str, limits: DecodeLimits) -> None:
    frames = getattr(image, "n_frames", 1)
    if frames > 1:
        raise PictureError(f"{name}: holds {frames} pictures; supported is one a file")
    check_size(image.size, name, limits)


def check_size(size: tuple[int, int], name: str, limits: DecodeLimits) -> None:
    """Check width and height before samples are allocated.

    Raises
    ------
    PictureError
        When there are no pixels or more than the limits allow.
    """
    width, height = size
    if width < 1 or height < 1:
        raise PictureError(f"{name}: is {width}x{height}, a picture without pixels")
    if max(width, height) > limits.max_dimension or width * height > limits.max_pixels:
        raise PictureError(
            f"{name}: is {width}x{height}, limits are {limits.max_dimension} pixels a side "
            f"and {limits.max_pixels} in all"
        )


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


_PLANES = {"pgm": (1,), "png": (1, 2, 3, 4), "tif": (1, 2, 3, 4), "npy": (1, 2, 3, 4)}
"""How many planes of 8 bits a format can hold; of more bits one, and as many in NPY."""


def to_bytes(samples: np.ndarray, format: str, depth: int | None = None) -> bytes:
    """A whole picture file. Samples stay as they are; only PGM says what is white.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Gray; or gray and alpha, RGB, and RGB and alpha, for PGM neither and for TIFF and PNG only
        as uint8.
    format : {"pgm", "png", "tif", "npy"}
    depth : int or None
        Bits of a sample; None for all that the type has.

    Raises
    ------
    ParameterError
        For another format, or samples that the format cannot hold.
    """
    check_format(format)
    samples = np.ascontiguousarray(samples)
    planes = samples.shape[2] if samples.ndim == 3 else 1
    deep = samples.dtype == np.uint16
    shaped = samples.ndim in (2, 3) and planes in _PLANES[format] and samples.size > 0
    if not (shaped and (samples.dtype == np.uint8 or (deep and (planes == 1 or format == "npy")))):
        raise ParameterError(
            f"picture of shape {samples.shape} and type {samples.dtype} for {format}: must not be "
            "empty, (height, width) of uint8 or uint16, or (height, width, 2 to 4) of uint8 for "
            "png, tif and npy and of uint16 for npy"
        )
    if format == "pgm":
        height, width = samples.shape
        white = (1 << (depth or 8 * samples.itemsize)) - 1
        head = f"P5\n{width} {height}\n{white}\n".encode()
        return head + samples.astype(samples.dtype.newbyteorder(">")).tobytes()
    stream = io.BytesIO()  # np.save needs more than a pipe can do
    if format == "npy":
        np.save(stream, samples, allow_pickle=False)
    else:
        Image.fromarray(samples).save(stream, format=_PILLOW_NAMES[format])
    return stream.getvalue()


def write(
    samples: np.ndarray,
    target: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
) -> None:
    """Write a picture file.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        As ``to_bytes`` takes them.
    target : path or binary stream
        A stream need not be seekable.
    format : {"pgm", "png", "tif", "npy"} or None
        None takes it from the extension of a path; a stream needs it.

    Raises
    ------
    ParameterError
        As ``to_bytes`` does.
    PictureError
        When the file cannot be written.
    """
    if not isinstance(target, (str, os.PathLike)):
        target.write(to_bytes(samples, str(format)))
        return
    data = to_bytes(samples, format or format_of(target))
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise PictureError(f"{os.fspath(target)}: {error.strerror}") from error
