"""Decoding of many files at once."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from mmpcodec import backends
from mmpcodec.codec.decoder import How, OpenedPicture, checked_limits, opened_picture, viewed
from mmpcodec.codec.tiles.decoding import decode_tiles, found_in_tiles, tiles_task
from mmpcodec.errors import ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, errors_named, picture_of
from mmpcodec.params import check_progress, check_threads
from mmpcodec.runtime.progress import Progress, report_progress

PART = 128
"""Files whose decoding begins at once, while those before them are decoded."""
PARTS = 4
"""Most parts that a device decodes while the next one is read."""


def decode_batch(
    files: Sequence[Any],
    /,
    *,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    out: Sequence[Any] | None = None,
) -> list[Any]:
    """Decode files of one picture each.

    On a device all files are decoded at once, which takes far less time than one after the other.

    Parameters
    ----------
    files : sequence of bytes-like
        Whole files.
    limits
        See ``decode``; the limits are those of each file.
    backend : {"auto", "cpu", "cuda", "reference"}
        See ``decode``. Without ``out``, "cuda" makes arrays of CuPy, others make those of NumPy.
    threads
        See ``decode``.
    progress : callable or None
        ``progress(done, total) -> bool`` gets numbers of files. Returning False cancels.
    out : sequence of arrays or None
        An array for each file, as ``decode`` takes them. An array of one dimension more than the
        pictures have is such a sequence.

    Returns
    -------
    list of arrays

    Raises
    ------
    FormatError, ParameterError, BackendUnavailable, Cancelled
        See ``decode``. The first file that does not decode raises its error.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> files = [mmpcodec.encode(np.full((20, 30), gray, np.uint8)) for gray in (7, 99)]
    >>> [picture.mean() for picture in mmpcodec.decode_batch(files)]
    [np.float64(7.0), np.float64(99.0)]
    """
    places = [None] * len(files) if out is None else list(out)
    if len(places) != len(files):
        raise ParameterError(
            f"out has {len(places)} arrays: must be {len(files)}, one for each file"
        )
    threads, limits = check_threads(threads), checked_limits(limits)
    check_progress(progress)
    on_device = out is None and backends.reads_device_arrays(backend)
    waiting: deque[_Part] = deque()
    found: list[Any] = []

    def finish() -> None:
        found.extend(waiting.popleft().finished())
        report_progress(progress, len(found), len(files))

    for first in range(0, len(files), PART):
        part = slice(first, first + PART)
        how = [
            How(None, False, limits, backend, threads, None, place, True, False, on_device)
            for place in places[part]
        ]
        waiting.append(_Part([_opened(*each) for each in zip(files[part], how, strict=True)]))
        if len(waiting) > PARTS:
            finish()
    while waiting:
        finish()
    return found if out is None else places


def _opened(file: Any, how: How) -> OpenedPicture:
    """Read a file of one picture, without decoding it."""
    view = picture_of(viewed(file), None, how.limits, None)
    if isinstance(view, PictureBytes):
        view.fetch()
    with errors_named(view):
        opened = opened_picture(view, how)
    assert isinstance(opened, OpenedPicture)
    return opened


class _Part:
    """Pictures whose decoding has begun."""

    def __init__(self, pictures: Sequence[OpenedPicture]):
        self.pictures = pictures
        by_tiles = [one for one in pictures if one.is_tiles and one.backend.decodes_tiles]
        self.waits: Callable[[], list] = list
        if by_tiles:
            tasks = [tiles_task(one.places, one.header, False) for one in by_tiles]
            how = by_tiles[0].how
            self.waits = by_tiles[0].backend.start_pictures(tasks, threads=how.threads)

    def finished(self) -> list[Any]:
        """Wait for the pictures, and return their samples."""
        decoded, found = iter(self.waits()), []
        for one in self.pictures:
            with errors_named(one.view):
                if one.is_tiles and one.backend.decodes_tiles:
                    own = found_in_tiles(one.places, one.header, one.backend, next(decoded))
                else:
                    how = one.backend, one.how.threads, None
                    own = decode_tiles(one.places, one.header, *how, chain=one.chain)
                found.append(one.finished(own).samples)
        return found
