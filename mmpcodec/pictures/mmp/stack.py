"""All pictures of an mmp file as one array, of which parts are read."""

import os
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.mmp.series import Pictures, SeriesPicture
from mmpcodec.samples import Samples

MOST_OPEN = 4
"""Pictures whose headers and tiles are kept for the next part."""


class MmpStack:
    """Reads parts of all pictures of a file, (N, H, W) or (N, H, W, C).

    Sizes are known from the index of the file; a part decodes the tiles that it touches, of the
    pictures that it touches. Any number of threads may read at once. A pickled stack opens the file
    again when it is first used.

    Parameters
    ----------
    source : path or str
        Path, or URL that fsspec opens.
    limits : DecodeLimits or None
        Limits of the part of each picture; None for the default limits.
    backend : {"auto", "cpu", "reference"}
    threads : int or None
        Threads that decode the tiles of a part.

    Raises
    ------
    PictureError
        If the file cannot be opened, is damaged or empty, or for the first picture of another size,
        form or depth.

    Attributes
    ----------
    pictures : Pictures
        The pictures as a sequence.
    shape : tuple of int
    dtype : dtype
    depth : int
        Bits per sample.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        limits: DecodeLimits | None = None,
        backend: str = "auto",
        threads: int | None = None,
    ):
        self.pictures = Pictures(source, limits=limits, backend=backend, threads=threads)
        if not len(self.pictures):
            raise PictureError(f"{self.name}: holds no pictures")
        first = self.pictures[0]
        for number, other in enumerate(self.pictures):
            if (other.shape, other.depth) != (first.shape, first.depth):
                raise PictureError(
                    f"{self.name}: {other.role} {number + 1} is {_form(other)}, {first.role} 1 is "
                    f"{_form(first)}; an array of all needs one size, form and depth, page=N reads "
                    "one"
                )
        self.shape = (len(self.pictures), *first.shape)
        self.dtype, self.depth = first.dtype, first.depth
        self._state = first.state
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[int, SeriesPicture] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_open")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return what tells this file from others and from its earlier contents."""
        return type(self).__name__, len(self), self.pictures[0].__dask_tokenize__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def name(self) -> str:
        """Path or URL."""
        return self.pictures.name

    @property
    def ndim(self) -> int:
        """Number of axes, 3 or 4."""
        return len(self.shape)

    @property
    def metadata(self) -> Metadata:
        """The metadata of the first picture."""
        return self._picture(0).metadata

    @property
    def role(self) -> str:
        """What the pictures are; see ``Pictures.role``."""
        return self.pictures.role

    def __getitem__(self, index: Any) -> Samples:
        """Read the samples at an index of integers, slices and ``...``, as of an array.

        Raises
        ------
        IndexError
            If the index is of another kind or out of range.
        PictureError
            If a tile is damaged, or the file has changed.
        """
        index = index if isinstance(index, tuple) else (index,)
        for each in index:
            integral = isinstance(each, int | np.integer) and not isinstance(each, bool)
            if not (integral or isinstance(each, slice) or each is Ellipsis):
                raise IndexError(f"index {each!r}: must be an integer, a slice or ...")
        # Of no memory; checks the index.
        found = np.broadcast_to(np.empty(1, self.dtype), self.shape)[index]
        if Ellipsis in index:
            gap = index.index(Ellipsis)
            filled = (slice(None),) * (self.ndim - len(index) + 1)
            index = (*index[:gap], *filled, *index[gap + 1 :])
        index = index or (slice(None),)
        chosen = range(len(self))[index[0]]
        if isinstance(chosen, int):
            return self._picture(chosen)[index[1:] or ...]
        result = np.empty(found.shape, self.dtype)
        for place, number in enumerate(chosen):
            result[place] = self._picture(number)[index[1:] or ...]
        return result

    def _picture(self, number: int) -> SeriesPicture:
        """Return a picture, whose header and tiles stay for the next part.

        Raises
        ------
        PictureError
            If the file has changed.
        """
        with self._lock:
            found = self._open.pop(number, None) or self.pictures[number]
            self._open[number] = found
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        if found.state != self._state:
            raise PictureError(f"{self.name}: has changed since it was opened; open it again")
        return found


def _form(picture: SeriesPicture) -> str:
    """Return size, form and depth of a picture in words."""
    height, width = picture.shape[:2]
    return f"{width}x{height} {picture.form.title} of {picture.depth} bits"
