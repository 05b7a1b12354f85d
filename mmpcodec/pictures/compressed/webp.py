"""Read and write WebP files, with Pillow."""

import io
import struct
from contextlib import ExitStack

import numpy as np
from PIL import Image

from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import webp_size
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.limits import check_size, chosen
from mmpcodec.pictures.png.file import stretched
from mmpcodec.pictures.reading import bytes_of
from mmpcodec.pictures.side.facts import consistent

_FIRST_CHUNK = 12  # byte at which the chunks begin
_PARTS = 1000  # of a second, which durations count
_LOSSLESS = 100  # quality from which on no sample changes


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture, or a frame of an animation.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    with book(data, name, limits) as found:
        return found.read(chosen(found.count, page, name))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its frames. The compressed file stays in memory.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    data = bytes_of(source)
    size = webp_size(data)
    # Pillow allocates the frame when it opens the file.
    check_size(*size, 3, name, limits)
    opened = shown.plugin("WebPImagePlugin", "webp", "WebP", name)
    with ExitStack() as stack:
        image = stack.enter_context(opened(io.BytesIO(data)))
        if image.size != size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        check_size(*size, len(image.getbands()), name, limits)
        metadata = consistent(shown.metadata_of(image.info, name), name)
        frames, count = shown.PillowFrames(image), image.n_frames
        role, facts, loops = Role.PAGE, [], 0
        if count > 1:
            role, facts, loops = Role.FRAME, _durations(data), image.info["loop"]
        if len(facts) != count * (count > 1):
            raise ValueError(f"has {count} frames, and durations of {len(facts)}")
        close = stack.pop_all().close

    def read_frame(number: int) -> Picture:
        return Picture(frames.samples(number), 8, metadata)

    return Book(name, count, read_frame, role, facts, loops, close=close)


def _durations(data: bytes) -> list[tuple[int, int]]:
    """Return the duration of each frame, and the parts of a second that it counts."""
    found, place = [], _FIRST_CHUNK
    while place + 8 <= len(data):
        kind, size = struct.unpack_from("<4sI", data, place)
        if kind == b"ANMF":
            found.append((int.from_bytes(data[place + 20 : place + 23], "little"), _PARTS))
        place += 8 + size + size % 2
    return found


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps this kind of the picture's metadata unchanged."""
    return kind != "exif" or not picture.metadata.exif.startswith(PREFIX)


def to_bytes(picture: Picture, format: str, quality: int) -> bytes:
    """Encode a WebP file with ICC profile, EXIF and XMP, of up to 8 bits per sample.

    Parameters
    ----------
    picture : Picture
        Gray is written as RGB.
    format : str
    quality : int
        1 to 99, as libwebp counts; 100 is without loss.

    Raises
    ------
    MissingExtra
        If the installed Pillow was built without WebP.
    """
    shown.plugin("WebPImagePlugin", "webp", "WebP", "picture")
    metadata = picture.metadata
    stream = io.BytesIO()
    Image.fromarray(shown_samples(picture)).save(
        stream,
        "WEBP",
        quality=quality,
        lossless=quality >= _LOSSLESS,
        exact=quality >= _LOSSLESS,
        icc_profile=metadata.icc,
        exif=metadata.exif,
        xmp=metadata.xmp,
    )
    return stream.getvalue()


def shown_samples(picture: Picture) -> np.ndarray:
    """Return the samples as a file holds them: of 8 bits, and gray as RGB."""
    samples = (
        picture.samples if picture.depth == 8 else stretched(picture.samples, picture.depth, 8)
    )
    if picture.planes < 3:
        gray = samples if picture.planes == 1 else samples[..., 0]
        samples = np.dstack([gray] * 3 + [samples[..., 1]] * (picture.planes - 1))
    return np.ascontiguousarray(samples)
