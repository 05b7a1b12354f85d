"""Read GIF files, with Pillow, and compose the frames of animations."""

import io

import numpy as np
from PIL import GifImagePlugin

from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.canvas import Canvas, shows_through
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import gif_size
from mmpcodec.pictures.compressed.gif_frames import PARTS, GifFrame, frames_of
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size, chosen
from mmpcodec.pictures.reading import bytes_of
from mmpcodec.samples import Samples

_COLOURS_AND_ALPHA = 4


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture, or a frame of an animation. A transparent colour gives a plane of alpha.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    found = book(data, name, limits)
    return found.read(chosen(found.count, page, name))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its frames. The compressed file stays in memory.

    All frames of an animation have the same planes: gray if all its colours are gray, and alpha if
    something may be transparent in some frame.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    data = bytes_of(source)
    check_size(*gif_size(data), _COLOURS_AND_ALPHA, name, limits)
    found = frames_of(data)
    if found.fault:
        leave_out(name, "missing pages", found.fault)
    if len(found.frames) == 1:
        return Book(name, 1, lambda _: _still(data, name))
    for frame in found.frames:
        check_size(frame.drawn.width, frame.drawn.height, _COLOURS_AND_ALPHA, name, limits)
    metadata = shown.metadata_of({"comment": b"\n".join(found.comments)}, name)
    drawn = [frame.drawn for frame in found.frames]
    gray = all((frame.colours == frame.colours[:, :1]).all() for frame in found.frames)
    planes = 1 if gray else 3
    # What lies below a transparent pixel is seen, so the canvas always has alpha.
    canvas = Canvas(
        (found.height, found.width, planes + 1),
        8,
        drawn,
        lambda number: _decoded(found.frames[number], planes),
    )
    through = shows_through(
        found.width, found.height, drawn, lambda number: _is_opaque(found.frames[number])
    )

    def read_frame(number: int) -> Picture:
        samples = canvas.frame(number)
        if not through:
            samples = np.ascontiguousarray(samples[..., 0] if gray else samples[..., :3])
        return Picture(samples, 8, metadata)

    durations = [(frame.duration, PARTS) for frame in found.frames]
    return Book(name, len(drawn), read_frame, Role.FRAME, durations, found.loops)


def _still(data: bytes, name: str) -> Picture:
    """Read the only frame of a file."""
    size = gif_size(data)
    with GifImagePlugin.GifImageFile(io.BytesIO(data)) as image:
        if image.size != size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        metadata = shown.metadata_of(image.info, name)
        return Picture(shown.samples_of(image, palette=True), 8, metadata)


def _is_opaque(frame: GifFrame) -> bool:
    """Return whether a frame has no transparent pixel; False if it is damaged."""
    if frame.transparent is None:
        return True
    try:
        return not (_indexes(frame) == frame.transparent).any()
    except (OSError, SyntaxError, ValueError, EOFError):
        return False


def _indexes(frame: GifFrame) -> np.ndarray:
    with GifImagePlugin.GifImageFile(io.BytesIO(frame.file())) as image:
        return np.array(image)


def _decoded(frame: GifFrame, planes: int) -> Samples:
    """Decode a frame to gray or RGB, and alpha."""
    colours = np.full((256, planes + 1), 255, np.uint8)
    colours[:, :planes] = frame.colours[:, :planes]
    if frame.transparent is not None:
        colours[frame.transparent, planes] = 0
    return colours[_indexes(frame)]
