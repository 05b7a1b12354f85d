"""Parts of pictures as viewers show them: upright, of 8 bits a sample, in any smaller size."""

import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from PIL import Image

from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.analysis.turning import turned, turned_place
from mmpcodec.codec.tiles.reduction import reduced, reduced_depth, reduced_metadata, reduced_side
from mmpcodec.depth import BYTE
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.side.facts import orientation_of

INVERSE = {6: 8, 8: 6}
"""Orientations that undo others; the rest undo themselves."""
MOST_SEEN = 512
"""Height and width up to which a picture is reduced to see which samples it uses."""


class ScaledSource(Protocol):
    """A picture of which parts are read at 1/N of their size, as ``MmpReader`` does."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the picture."""

    @property
    def metadata(self) -> Metadata:
        """Its metadata."""

    def scaled(self, scale: Fraction, region: Sequence[int]) -> Picture:
        """Read a part; see ``MmpReader.scaled``."""


class WholeSource:
    """A ``ScaledSource`` of a picture in memory.

    Parameters
    ----------
    picture : Picture
    """

    def __init__(self, picture: Picture):
        self._picture = picture
        self.shape, self.metadata = picture.samples.shape, picture.metadata

    def scaled(self, scale: Fraction, region: Sequence[int]) -> Picture:
        """Reduce a part; see ``ScaledSource``."""
        x, y, width, height = region
        part, factor = self._picture.samples[y : y + height, x : x + width], scale.denominator
        depth = self._picture.depth
        if factor == 1:
            return Picture(part, depth, self.metadata)
        to_depth = reduced_depth(depth, self.metadata)
        metadata = reduced_metadata(self.metadata, depth, factor)
        return Picture(reduced(part, factor, depth, to_depth), to_depth, metadata)


class UprightPicture:
    """Parts of an upright picture in any size, with 8 bits a sample.

    Parameters
    ----------
    reader : ScaledSource
    """

    def __init__(self, reader: ScaledSource):
        self._reader = reader
        self._turn = orientation_of(reader.metadata)
        self._stored = reader.shape[0], reader.shape[1]
        whole = turned_place(0, 0, *self._stored[::-1], self._stored, self._turn)
        self.width, self.height = whole[2:]
        self._shown: tuple[float, float] | None = None
        self._lock = threading.Lock()

    @property
    def icc(self) -> bytes:
        """The profile of the picture."""
        return self._reader.metadata.icc

    def image(self, region: tuple[int, int, int, int], size: tuple[int, int]) -> Image.Image:
        """Return a part in a size that is not larger.

        Parameters
        ----------
        region : (x, y, width, height)
        size : (width, height)

        Raises
        ------
        MmpError
            If the part cannot be read.
        """
        back = INVERSE.get(self._turn, self._turn)
        stored = turned_place(*region, (self.height, self.width), back)
        if stored[2:] != region[2:]:
            size = size[::-1]
        x, y, width, height = stored
        factor = 1
        while reduced_side(width, 2 * factor) >= size[0] and factor < width:
            if reduced_side(height, 2 * factor) < size[1]:
                break
            factor *= 2
        left, top = x // factor * factor, y // factor * factor
        right = min(-(-(x + width) // factor) * factor, self._stored[1])
        bottom = min(-(-(y + height) // factor) * factor, self._stored[0])
        part = self._reader.scaled(Fraction(1, factor), (left, top, right - left, bottom - top))
        image = Image.fromarray(np.ascontiguousarray(self._eight_bits(part)))
        aligned = (x, y) == (left, top) and (x + width, y + height) == (right, bottom)
        if image.size != size or not aligned:
            end = min((x + width - left) / factor, image.width)
            last = min((y + height - top) / factor, image.height)
            box = (x - left) / factor, (y - top) / factor, end, last
            image = image.resize(size, Image.Resampling.LANCZOS, box=box)
        return Image.fromarray(np.ascontiguousarray(turned(np.asarray(image), self._turn)))

    def _eight_bits(self, picture: Picture) -> np.ndarray:
        colours = picture.without_alpha()
        low, high = 0.0, float(picture.white)
        if picture.depth > BYTE:
            low, high = self._range()
        samples = as_shown(colours.samples, low, high)
        if picture.planes in (2, 4):
            alpha = as_shown(picture.samples[..., -1:], 0, (1 << picture.depth) - 1)
            samples = np.concatenate([np.atleast_3d(samples), alpha], axis=2)
        return samples

    def _range(self) -> tuple[float, float]:
        """Return the samples of a deep picture that are black and white, the same for all parts."""
        with self._lock:
            if self._shown is None:
                factor = 1
                while max(reduced_side(side, factor) for side in self._stored) > MOST_SEEN:
                    factor *= 2
                whole = 0, 0, self._stored[1], self._stored[0]
                small = self._reader.scaled(Fraction(1, factor), whole).without_alpha()
                self._shown = shown_range(small.samples, small.depth, small.metadata)
            return self._shown
