"""Pictures of 8 to 16 bits, gray or colour, with the level of white, for the picture tools.

Reads PGM, PPM, PNG, TIFF, BMP, mmp files, and DICOM where pydicom is installed; writes PNG, TIFF,
PGM and PPM. Leaves 8-bit gray pictures for the codec to ``pictures``.
"""

import io
import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from mmpcodec import pictures
from mmpcodec.errors import MmpError, ParameterError, PictureError
from mmpcodec.params import DecodeLimits

SUFFIXES = (".png", ".pgm", ".ppm", ".tif", ".tiff", ".bmp", ".mmp", ".dcm", ".dicom")
"""What files in a folder are called that are taken for pictures."""

_PILLOW_NAMES = {"png": "PNG", "tif": "TIFF", "ppm": "PPM"}

FORMATS = ("png", "tif", "pgm", "ppm")
"""Formats that can be written, by the extension of their files."""

MMP_MAGIC = b"\x89MMP"
_SUPPORTED = "supported are PGM, PPM, PNG, TIFF, BMP, mmp and DICOM"

# TIFF tags and their values.
BITS_PER_SAMPLE = 258
PHOTOMETRIC, WHITE_IS_ZERO = 262, 0
PLANAR_CONFIGURATION, SEPARATE = 284, 2
SAMPLE_FORMAT, UNSIGNED, FLOATING = 339, 1, 3

_GRAY_OF = {"L": "L", "LA": "L", "1": "L"}
_COLOUR_OF = {"RGB": "RGB", "RGBA": "RGB", "P": "RGB"}


@dataclass(frozen=True)
class Levels:
    """A picture's samples.

    Parameters
    ----------
    samples : (H, W) or (H, W, 3) array of uint8 or uint16
        Gray, or red, green and blue. Bright is large.
    white : int
        Level of white: 255, 65535, or what the file says.
    narrowed : bool
        Whether the file's colours have more bits, which were left out.
    """

    samples: np.ndarray
    white: int
    narrowed: bool = False


def from_bytes(data: bytes, name: str = "picture", *, limits: DecodeLimits | None = None) -> Levels:
    """The picture in a file that was read already.

    Transparency is left out. Pillow gives 16-bit colours as 8-bit ones.

    Parameters
    ----------
    data : bytes
    name : str
        What to call it in messages.
    limits : DecodeLimits or None
        Largest picture to accept.

    Raises
    ------
    PictureError
        When it is empty, damaged, too large, or of a kind that is not supported.
    """
    limits = limits or DecodeLimits()
    if data.startswith(MMP_MAGIC):
        return _from_mmp(data, name, limits)
    if data[128:132] == b"DICM":
        return _from_dicom(data, name, limits)
    with pictures.opened(data, name, limits=limits, supported=_SUPPORTED) as image:
        mode = image.mode
        _check_tiff(image, name)
        if mode in ("L", "I", "I;16") and image.format == "PPM":
            return _from_pgm(np.array(image), data)
        if mode in _GRAY_OF:
            return Levels(np.array(image.convert("L")), 255)
        if mode in _COLOUR_OF:
            narrowed = _is_narrowed(image)
            return Levels(np.array(image.convert("RGB")), 255, narrowed)
        if mode == "I" or mode.startswith("I;16"):
            return _deep(np.array(image), name)
    raise PictureError(
        f"{name}: holds samples of mode {mode}; supported are gray of 1 to 16 bits, palette and RGB"
    )


def _check_tiff(image: Image.Image, name: str) -> None:
    """Pillow reads these as if they were something else."""
    tags = getattr(image, "tag_v2", {})
    if tags.get(PLANAR_CONFIGURATION) == SEPARATE and _bits(tags) > 8:
        raise PictureError(
            f"{name}: holds {_bits(tags)} bits, plane after plane; supported are 8 bits, "
            "or samples side by side"
        )
    if set(np.atleast_1d(tags.get(SAMPLE_FORMAT, UNSIGNED)).tolist()) - {UNSIGNED, FLOATING}:
        raise PictureError(f"{name}: holds signed samples; supported are unsigned ones")
    if image.mode.startswith("I;16") and tags.get(PHOTOMETRIC) == WHITE_IS_ZERO:
        raise PictureError(f"{name}: holds gray of 16 bits whose 0 is white; supported is black")


def _bits(tags: Any) -> int:
    """Most bits of a sample, as a TIFF file says."""
    return int(np.max(tags.get(BITS_PER_SAMPLE, 1)))


def _is_narrowed(image: Image.Image) -> bool:
    """Whether Pillow is about to give colours of more than 8 bits as 8-bit ones."""
    if _bits(getattr(image, "tag_v2", {})) > 8:
        return True
    for codec, _, _, arguments in getattr(image, "tile", ()):
        raw_mode, *more = arguments if isinstance(arguments, tuple) else (arguments,)
        if ";16" in str(raw_mode) or (codec.startswith("ppm") and more[-1] > 255):
            return True
    return False


def _from_pgm(samples: np.ndarray, data: bytes) -> Levels:
    """Levels as the file has them: Pillow stretches them to 255 or 65535."""
    words = re.sub(rb"#[^\n]*", b"", data[:4096]).split()
    white = int(words[3]) if data[1:2] in b"25" else 255
    stretched = 65535 if white > 255 else 255
    levels = (samples.astype(np.int64) * white + stretched // 2) // stretched
    return Levels(levels.astype(np.uint8 if white <= 255 else np.uint16), white)


def _deep(samples: np.ndarray, name: str) -> Levels:
    lowest, highest = int(samples.min()), int(samples.max())
    if lowest < 0 or highest > 65535:
        raise PictureError(f"{name}: holds levels {lowest} to {highest}; supported are 0 to 65535")
    return Levels(samples.astype(np.uint16), 65535)


def _from_mmp(data: bytes, name: str, limits: DecodeLimits) -> Levels:
    import mmpcodec

    try:
        found = mmpcodec.inspect(data, decode=True, limits=limits)
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error
    samples = found.samples
    assert samples is not None
    if samples.ndim == 3:
        samples = samples[..., :3] if samples.shape[2] > 2 else samples[..., 0]
    return Levels(samples, (1 << found.header.bit_depth) - 1)


def _from_dicom(data: bytes, name: str, limits: DecodeLimits) -> Levels:
    try:
        import pydicom
    except ImportError as error:
        raise PictureError(
            f"{name}: is a DICOM file; install mmpcodec[dicom] to read it"
        ) from error
    try:
        file = pydicom.dcmread(io.BytesIO(data))
        pictures.check_size((int(file.Columns), int(file.Rows)), name, limits)
        frames = int(file.get("NumberOfFrames", 1) or 1)
        if frames > 1:
            raise PictureError(f"{name}: holds {frames} pictures; supported is one a file")
        samples = file.pixel_array
        bits, kind = int(file.BitsStored), str(file.PhotometricInterpretation)
        signed = bool(file.PixelRepresentation)
    except PictureError:
        raise
    except Exception as error:  # pydicom raises many kinds for a damaged file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise PictureError(f"{name}: is damaged or not supported: {reason}") from error
    white = (1 << bits) - 1
    if kind.startswith("MONOCHROME") and samples.ndim == 2 and bits <= 16:
        # Signed levels are shifted, so that the darkest possible is 0.
        levels = samples.astype(np.int64) + ((1 << (bits - 1)) if signed else 0)
        levels = np.clip(levels, 0, white)
        return Levels(
            (white - levels if kind == "MONOCHROME1" else levels).astype(np.uint16), white
        )
    if kind == "RGB" and samples.ndim == 3 and bits == 8:
        return Levels(samples.astype(np.uint8), 255)
    raise PictureError(
        f"{name}: is DICOM of {kind} with {bits} bits; supported are monochrome up to 16 bits "
        "and RGB of 8 bits"
    )


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that a file's extension names, one of ``FORMATS``.

    Raises
    ------
    ParameterError
        When it names none of them.
    """
    return pictures.format_of(path, FORMATS)


def to_bytes(picture: Levels, format: str) -> bytes:
    """A whole picture file. Its levels stay as they are; only PGM says which one is white.

    Parameters
    ----------
    picture : Levels
    format : {"png", "tif", "pgm", "ppm"}
        PGM for gray only, PPM for colours of 8 bits only.

    Raises
    ------
    ParameterError
        For another format, or samples that the format cannot hold.
    """
    deep = picture.white > 255
    samples = picture.samples.astype(np.uint16 if deep else np.uint8)
    kinds = {"png": (1, 3), "tif": (1, 3), "pgm": (1,), "ppm": (3,)}
    channels = samples[0, 0].size
    if channels not in kinds.get(format, ()) or (deep and channels == 3):
        kind = f"{'colours' if channels == 3 else 'gray'} of {16 if deep else 8} bits"
        raise ParameterError(
            f"format = {format!r} for {kind}: must be png or tif, pgm for gray, ppm for colours of "
            "8 bits"
        )
    if format == "pgm":
        height, width = samples.shape
        head = f"P5\n{width} {height}\n{picture.white}\n".encode()
        return head + samples.astype(samples.dtype.newbyteorder(">")).tobytes()
    stream = io.BytesIO()
    Image.fromarray(samples).save(stream, _PILLOW_NAMES[format])
    return stream.getvalue()
