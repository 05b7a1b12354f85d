"""Copies: leaves that repeat a block of the decoded picture.

A copy is coded by the area in which it ends and by its place there. The index of its leaf is
negative. Source: section "Copies" of ``docs/format/format.md``.
"""

from functools import cache

import numpy as np

from mmpcodec.reference.entropy.rates import SymbolCoder
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, Scale
from mmpcodec.tools import TreeTools

MIN_SIDE = 4
"""Least height and width of a copy, in samples."""
MAX_AREA = 128
"""Largest number of samples of a copy."""
MAX_PLACES = 256
"""Largest number of places of a scale in an area."""
MAX_AREAS = 65536
"""Number of areas that copies reach, the newest."""
EDGE = 4
"""Factor of the squared difference of two samples at an edge, which exceeds the radius."""


def are_copies(tools: TreeTools) -> bool:
    """Return whether leaves can be copies."""
    return tools.displaced_blocks > 0 and tools.index_classes


def copy_index(area: int, place: int) -> int:
    """Return the index of a leaf that is a copy, from the numbers of its area and place."""
    return -1 - (area * MAX_PLACES + place)


def copy_place(index: int) -> tuple[int, int]:
    """Return the numbers of area and place, from the index of a copy."""
    return divmod(-1 - index, MAX_PLACES)


class Copies:
    """The areas in which copies can end, and their edges.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the padded picture in samples.
    tools : TreeTools

    Attributes
    ----------
    samples : (H, W) uint8 array
        Decoded samples of all areas so far.
    edges : (H, W) bool array
        Whether a sample differs much from that above or that to its left.
    areas : list of (int, int)
        First row and column of each area with edges, in order of decoding.
    """

    def __init__(self, shape: tuple[int, int], tools: TreeTools):
        self.shape = shape
        self.tools = tools
        self.samples = np.zeros(shape, np.uint8)
        self.edges = np.zeros(shape, bool)
        self.areas: list[tuple[int, int]] = []
        self.places = cache(self._places)

    def takes(self, scale: Scale) -> bool:
        """Return whether leaves of a scale can be copies, in a picture that has areas."""
        height, width = self.shape
        large = min(scale.height, scale.width) >= MIN_SIDE
        small = scale.height * scale.width <= MAX_AREA
        return large and small and scale.height <= height and scale.width <= width

    def possible(self, scale: Scale) -> bool:
        """Return whether a leaf of a scale can be a copy."""
        return bool(self.areas) and self.takes(scale)

    @property
    def area_count(self) -> int:
        """Number of areas that copies reach."""
        return min(len(self.areas), MAX_AREAS)

    def add_area(self, row: int, column: int, samples: np.ndarray) -> None:
        """Find the edges of a decoded 16x16 area; copies can end in it if it has any.

        Parameters
        ----------
        row, column : int
            First sample of the area.
        samples : (H, W) uint8 array
            The padded picture, decoded up to and including the area.
        """
        here = np.s_[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]
        self.samples[here] = samples[here]
        around = np.s_[max(row - 1, 0) : here[0].stop, max(column - 1, 0) : here[1].stop]
        block = self.samples[around].astype(np.int64)
        for axis in range(2):
            difference = np.diff(block, axis=axis, prepend=np.take(block, [0], axis=axis))
            edge = EDGE * difference**2 > self.tools.redundancy_radius
            self.edges[here] |= edge[min(row, 1) :, min(column, 1) :]
        if self.edges[here].any():
            self.areas.append((row, column))

    def first_sample(self, scale: Scale, area: int, place: int) -> tuple[int, int]:
        """Return the row and column of the first sample of a copy."""
        v = self.tools.displaced_blocks
        step_down, step_right = max(1, scale.height >> v), max(1, scale.width >> v)
        i, j = divmod(place, FRAGMENT_SIZE // step_right)
        row, column = self.areas[area]
        top = row + (i + 1) * step_down - scale.height
        left = column + (j + 1) * step_right - scale.width
        height, width = self.shape
        return (
            min(max(top, 0), height - scale.height),
            min(max(left, 0), width - scale.width),
        )

    def block(self, scale: Scale, index: int) -> np.ndarray:
        """Return the samples of a copy, a (height, width) uint8 view."""
        top, left = self.first_sample(scale, *copy_place(index))
        return self.samples[top : top + scale.height, left : left + scale.width]

    def _places(self, scale: Scale, area: int) -> list[int]:
        """Return the numbers of the places in an area whose blocks have edges, in order."""
        v = self.tools.displaced_blocks
        down = FRAGMENT_SIZE // max(1, scale.height >> v)
        across = FRAGMENT_SIZE // max(1, scale.width >> v)
        found = []
        for place in range(down * across):
            top, left = self.first_sample(scale, area, place)
            if self.edges[top : top + scale.height, left : left + scale.width].any():
                found.append(place)
        return found

    def code(self, coder: SymbolCoder, scale: Scale, index: int | None) -> int:
        """Code the index of a copy: its area, counted back from the newest, then its place.

        Parameters
        ----------
        coder : SymbolCoder
        scale : Scale
        index : int or None
            The index to encode; None decodes.

        Returns
        -------
        int
            The index.
        """
        newest = len(self.areas) - 1
        area, place = (None, None) if index is None else copy_place(index)
        back = coder.code(
            "element", np.ones(self.area_count, int), None if area is None else newest - area
        )
        places = self.places(scale, newest - back)
        rank = coder.code(
            "element", np.ones(len(places), int), None if place is None else places.index(place)
        )
        return copy_index(newest - back, places[rank])
