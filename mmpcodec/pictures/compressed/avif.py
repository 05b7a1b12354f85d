"""Read AVIF files, with Pillow; more than 8 bits with imagecodecs."""

import io
import math
import threading
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.compressed import heif_items, shown
from mmpcodec.pictures.compressed.tracks import times_of
from mmpcodec.pictures.limits import check_size, chosen, library
from mmpcodec.pictures.reading import bytes_of
from mmpcodec.pictures.side.facts import consistent, orientation_of
from mmpcodec.samples import Samples


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture, or a frame of a sequence. A rotation stays in EXIF.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    MissingExtra
        If more than 8 bits need imagecodecs, and it is not installed.
    """
    with book(data, name, limits) as found:
        return found.read(chosen(found.count, page, name))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its frames. The compressed file stays in memory.

    Raises
    ------
    PictureError, MissingExtra
        See ``read``.
    """
    data = bytes_of(source)
    coded = heif_items.check_coded_sizes(data, name, limits)
    opened = shown.plugin("AvifImagePlugin", "avif", "AVIF", name)
    with ExitStack() as stack:
        image = stack.enter_context(opened(io.BytesIO(data)))
        planes = len(image.getbands())
        width, height = image.size
        check_size(width, height, planes, name, limits)
        heif_items.check_agreement((width, height), coded)
        metadata = shown.metadata_of(image.info, name)
        # Pillow has put what the boxes irot and imir say into EXIF; XMP does not count.
        turned = orientation_of(replace(metadata, xmp=b""))
        metadata = consistent(metadata, name, orientation=turned)
        heif_items.say_auxiliary(data, name)
        if not metadata.icc:
            metadata = replace(metadata, colours=heif_items.colours_of(data))
        depth, count = heif_items.av1_depth(data), image.n_frames
        frames: shown.PillowFrames | _DeepFrames = shown.PillowFrames(image)
        if depth > 8:
            shape = (count, height, width, planes)[: 3 + (planes > 1)]
            _check_together(shape, depth, name, limits)
            frames = _DeepFrames(data, shape, depth, name)
        close = stack.pop_all().close

    def read_frame(number: int) -> Picture:
        return Picture(frames.samples(number), depth, metadata)

    if count == 1:
        return Book(name, 1, read_frame, close=close)
    try:
        times = times_of(data, count)
    except BaseException:
        close()
        raise
    return Book(name, count, read_frame, Role.FRAME, times.durations, times.loops, close=close)


class _DeepFrames:
    """Gives pictures of more than 8 bits, which imagecodecs decodes, all of a sequence together.

    It crashes if it is asked for a frame that is not the last one.

    Parameters
    ----------
    data : bytes
    shape : tuple of int
        Number of pictures, and shape of each.
    depth : int
    name : str

    Raises
    ------
    MissingExtra
        If imagecodecs is not installed.
    """

    def __init__(self, data: bytes, shape: tuple[int, ...], depth: int, name: str):
        self._codec = library("imagecodecs", "AVIF of more than 8 bits", name, extra="formats")
        self._data, self._shape, self._depth = data, shape, depth
        self._decoded: np.ndarray | None = None
        self._lock = threading.Lock()

    def samples(self, number: int) -> Samples:
        """Return the samples of a picture, counted from 0."""
        with self._lock:
            if self._decoded is None:
                decoded = np.empty(self._shape, sample_type(self._depth))
                # The decoder fails if it finds another shape than the one that was checked.
                out = decoded if len(decoded) > 1 else decoded[0]
                self._codec.avif_decode(self._data, out=out)
                self._decoded = decoded
        return self._decoded[number].copy()


def _check_together(shape: tuple[int, ...], depth: int, name: str, limits: DecodeLimits) -> None:
    """Check the samples of all frames, which are decoded together."""
    samples = math.prod(shape)
    if samples > limits.max_samples:
        raise PictureError(
            f"{name}: holds {shape[0]} frames of {depth} bits, which are decoded together: "
            f"{limits.fault('max_samples', samples, 'samples')}"
        )
