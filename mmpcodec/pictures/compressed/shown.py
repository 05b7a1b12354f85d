"""Convert pictures that Pillow has decoded to samples and metadata."""

import io
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from PIL import Image, features

from mmpcodec.errors import MissingExtra
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import Unpacker

_PLAIN = ("L", "LA", "RGB", "RGBA")


def plugin(module: str, feature: str, title: str, name: str) -> Any:
    """Return the class that reads a format, from Pillow's module of it.

    Parameters
    ----------
    module : str
        Name of the module: "WebPImagePlugin".
    feature : str
        Name of the part that Pillow may have been built without: "webp".
    title : str
        Name of the format, for the message.
    name : str
        Name of the file, for the message.

    Raises
    ------
    MissingExtra
        If the installed Pillow cannot read the format.
    """
    try:
        found = import_module(f"PIL.{module}")
    except ImportError:
        found = None
    if found is None or not features.check(feature):
        raise MissingExtra(f"{name}: {title} needs a Pillow that reads it; pip install -U pillow")
    return getattr(found, f"{module.removesuffix('Plugin')}File")


def samples_of(image: Any, *, palette: bool = False) -> np.ndarray:
    """Return the samples of a Pillow image of 8 bits, (H, W) or (H, W, C).

    A palette is replaced by its colours, or by gray if all of them are gray; a transparent entry
    gives a plane of alpha. ``palette`` says that Pillow may have replaced it already.
    """
    if image.mode in _PLAIN and not (palette and image.mode in ("RGB", "RGBA")):
        return np.array(image)
    through = image.mode in ("PA", "RGBA") or "transparency" in image.info
    samples = np.array(image.convert("RGBA" if through else "RGB"))
    colours = samples[..., :3]
    if (colours == colours[..., :1]).all():
        samples = np.ascontiguousarray(samples[..., [0, 3] if through else 0])
    return samples


class PillowFrames:
    """Gives the frames of an animation that Pillow decodes. Threads may share it.

    Reading in order decodes each frame once.

    Parameters
    ----------
    image : PIL.Image.Image
        The opened file.
    """

    def __init__(self, image: Any):
        self._image, self._lock = image, threading.Lock()

    def samples(self, number: int) -> np.ndarray:
        """Return the samples of a frame, counted from 0."""
        with self._lock:
            self._image.seek(number)
            return samples_of(self._image)


def of_cmyk(image: Any, metadata: Metadata, name: str) -> Picture:
    """Return a CMYK image as a picture in sRGB, without the ICC profile of the inks."""
    leave_out(name, "cmyk")
    return Picture(rgb_of_cmyk(image, metadata.icc), 8, metadata.without("icc"))


def rgb_of_cmyk(image: Any, icc: bytes) -> np.ndarray:
    """Convert a CMYK image to sRGB, (H, W, 3): by its ICC profile, or as inks that only absorb."""
    from PIL import ImageCms

    if icc:
        try:
            inks = ImageCms.ImageCmsProfile(io.BytesIO(icc))
            srgb = ImageCms.createProfile("sRGB")
            return np.array(ImageCms.profileToProfile(image, inks, srgb, outputMode="RGB"))
        except (ImageCms.PyCMSError, OSError):
            pass  # a profile that lcms cannot use
    return np.array(image.convert("RGB"))


def cmyk_image(samples: np.ndarray) -> Any:
    """Return an (H, W, 4) array of inks as a Pillow image."""
    height, width = samples.shape[:2]
    return Image.frombytes("CMYK", (width, height), np.ascontiguousarray(samples).tobytes())


def metadata_of(info: Mapping[Any, Any], name: str) -> Metadata:
    """Return the ICC profile, EXIF, XMP and comment that a plugin of Pillow has found.

    Raises
    ------
    PictureError
        If they exceed ``limits.MAX_METADATA`` bytes.
    """
    unpacker = Unpacker(name)
    icc, exif, xmp = (
        unpacker.count(_bytes(info.get(key))) for key in ("icc_profile", "exif", "xmp")
    )
    comment = unpacker.count(_bytes(info.get("comment"))).rstrip(b"\0")
    return Metadata(
        icc,
        exif.removeprefix(PREFIX),
        xmp,
        text=(("Comment", text_of(comment)),) if comment else (),
    )


def text_of(said: bytes) -> str:
    """Decode a text of a file: UTF-8, or Latin-1 if it is none."""
    said = said.rstrip(b"\0")
    try:
        return said.decode()
    except UnicodeDecodeError:
        return said.decode("latin-1")


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")
