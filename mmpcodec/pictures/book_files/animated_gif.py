"""Write frames as an animated GIF file, with Pillow's encoder of frames."""

import struct
from typing import Any, BinaryIO

import numpy as np
from PIL import GifImagePlugin, Image

from mmpcodec.errors import PictureError
from mmpcodec.picture import Picture
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.png.file import stretched

MOST_COLOURS = 256
_TRANSPARENT = 0
"""Index of the transparent colour of a frame that has one."""
_KEEP, _CLEAR = 1, 2
"""What becomes of a frame before the next one."""
_MOST = 65535


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each frame whole, with colours of its own, as it comes.

    Colours are exact up to 256 in a frame, with a transparent pixel up to 255; Pillow's median cut
    chooses of more. Samples have 8 bits. Alpha below half is transparent, and its colours are lost.
    Durations are rounded to hundredths of a second.

    Raises
    ------
    PictureError
        If the frames are too large for the format.
    """
    height, width = pages.first.samples.shape[:2]
    if max(height, width) > _MOST:
        raise PictureError(
            f"{pages.book.name}: is {width}x{height}; a gif file holds at most {_MOST} pixels in a "
            "row or column"
        )
    stream.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0x70, 0, 0))
    loops = pages.book.loops
    if len(pages) > 1 and loops != 1:
        repeats = 0 if loops == 0 else min(loops - 1, _MOST)
        stream.write(b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", repeats) + b"\0")
    first = pages.first
    picture: Picture | None = next(pages)
    while picture is not None:
        number, hundredths = pages.number, _hundredths(pages)
        pages.lose_metadata(picture.metadata)
        pages.lose_white(picture)
        after = next(pages, None)
        # What lies below the transparent pixels of the next frame is cleared. Decoders take the
        # colour for that from a frame that has a transparent one.
        clears = _is_through(after or first)
        frame, through, lost = _indexed(picture, clears)
        pages.lose_at(number, *lost)
        how: dict[str, Any] = {"transparency": _TRANSPARENT} if through else {}
        how |= {"duration": 10 * hundredths, "disposal": _CLEAR if clears else _KEEP}
        for part in GifImagePlugin.getdata(frame, include_color_table=True, **how):
            stream.write(part)
        picture = after
    pages.lose_loops(_MOST + 1)
    stream.write(b";")


def _hundredths(pages: Pages) -> int:
    """Return the duration of a frame as the file holds it."""
    found = min(round(pages.duration * 100), _MOST)
    if pages.duration * 100 != found:
        pages.lose("durations")
    return found


def _is_through(picture: Picture) -> bool:
    """Return whether a picture has pixels that are transparent in a file."""
    if picture.planes not in (2, 4):
        return False
    return bool((picture.samples[..., -1] < 1 << (picture.depth - 1)).any())


def _indexed(picture: Picture, clears: bool) -> tuple[Image.Image, bool, list[str]]:
    """Return a picture by a palette, whether index 0 is transparent, and what is lost.

    It is so if the picture has transparent pixels, or if ``clears`` asks for it.
    """
    lost = []
    samples, depth = picture.samples, picture.depth
    if depth > 8:
        lost.append("depth")
        samples = (samples >> (depth - 8)).astype(np.uint8)
    elif depth < 8:
        lost.append("depth")
        samples = stretched(samples, depth, 8)
    through = None
    if picture.planes in (2, 4):
        alpha = samples[..., -1]
        if ((alpha > 0) & (alpha < 255)).any():
            lost.append("alpha levels")
        through = alpha < 128 if (alpha < 128).any() else None
        if through is not None and samples[through, :-1].any():
            lost.append("colours of transparent pixels")
        samples = samples[..., 0] if picture.planes == 2 else samples[..., :3]
    colours = samples.reshape(*samples.shape[:2], -1)
    colours = np.repeat(colours, 3, axis=2) if colours.shape[2] == 1 else colours
    first = int(clears or through is not None)
    packed = colours.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    seen = packed if through is None else packed[~through]
    used = np.unique(seen)
    if len(used) > MOST_COLOURS - first:
        lost.append("colours")
        image = Image.fromarray(np.ascontiguousarray(colours), "RGB")
        image = image.quantize(MOST_COLOURS - first, Image.Quantize.MEDIANCUT)
        indexes = np.asarray(image)
        table = np.array(image.getpalette(), np.uint8).reshape(-1, 3)
    else:
        indexes = np.searchsorted(used, packed).clip(0, max(len(used) - 1, 0))
        table = np.stack([used >> 16, used >> 8 & 255, used & 255], axis=1).astype(np.uint8)
    indexes = indexes.astype(np.int32) + first
    if through is not None:
        indexes[through] = _TRANSPARENT
    if first:
        table = np.vstack([np.zeros((1, 3), np.uint8), table])
    found = Image.fromarray(np.ascontiguousarray(indexes.astype(np.uint8)), "L")
    found.putpalette(table.tobytes())
    return found, bool(first), lost
