"""Dictionaries: elements of one scale with their classes and counts, and how they learn.

Source: sections "Dictionary", "Index" and "Learning" of ``docs/format/format.md``.
"""

from collections import defaultdict, deque
from functools import partial

import numpy as np

from mmpcodec.reference.entropy.rates import MAX_TOTAL
from mmpcodec.reference.trees.scales import (
    MID_LEVEL,
    PIXEL_SCALE,
    SCALES,
    Scale,
    reachable_scales,
)
from mmpcodec.tools import TreeTools

GREY_LEVELS = 256
ZERO_CLASS = 2 * len(SCALES)
"""Class of the element whose samples are all 128."""
DISPLACED_CLASS = ZERO_CLASS + 1
"""Class of displaced blocks before their first use; after it, one more."""
CLASS_COUNT = DISPLACED_CLASS + 2
"""Number of classes, 53."""
CELL_SIZE = 16
"""Largest number of elements in a cell."""
HAND_STEPS = 64
"""Number of elements that one replacement examines at most."""


class Dictionary:
    """Elements of one scale. The index of an element is its position in order of insertion.

    A new dictionary holds the constant elements with which a picture starts.

    Parameters
    ----------
    scale : Scale
    tools : TreeTools

    Attributes
    ----------
    samples : (N, height * width) uint8 array
        Samples of the N elements, row by row.
    count : (N,) int64 array
        Frequency of each element in its model, at least 1.
    element_class : (N,) uint8 array
        Class of each element, 0 to 52.
    cells : dict of bytes to deque of int
        Indices of the elements of each cell, the first inserted first; empty without a radius.
    start : int
        Number of elements at the start of the picture; these are never replaced.
    hand : int
        Index of the element that replacement examines next.
    """

    def __init__(self, scale: Scale, tools: TreeTools):
        self.scale = scale
        self.limit = tools.dictionary_limit
        self.classes = tools.index_classes
        self.increment = 2 if tools.index_classes else 1
        self.radius = 0 if scale == PIXEL_SCALE else tools.redundancy_radius
        self.replacement = tools.replacement
        area = scale.height * scale.width
        self._size = 0
        self._samples = np.zeros((GREY_LEVELS, area), np.uint8)
        self._count = np.zeros(GREY_LEVELS, np.int64)
        self._element_class = np.zeros(GREY_LEVELS, np.uint8)
        self._known: set[bytes] = set()
        self.cells: dict[bytes, deque[int]] = defaultdict(partial(deque, maxlen=CELL_SIZE))
        for level in range(GREY_LEVELS):
            constant = np.full(area, level, np.uint8)
            if not self._redundant(constant):
                self._put(self._size, constant, PIXEL_SCALE)
        self.start = self.hand = self._size

    def __len__(self) -> int:
        return self._size

    @property
    def samples(self) -> np.ndarray:
        """Samples of the elements, a (N, height * width) uint8 view."""
        return self._samples[: self._size]

    @property
    def count(self) -> np.ndarray:
        """Frequencies of the elements, a (N,) int64 view."""
        return self._count[: self._size]

    @property
    def element_class(self) -> np.ndarray:
        """Classes of the elements, a (N,) uint8 view."""
        return self._element_class[: self._size]

    def block(self, index: int) -> np.ndarray:
        """Return the samples of an element as a (height, width) uint8 array."""
        return self._samples[index].reshape(self.scale.height, self.scale.width)

    def insert(self, samples: np.ndarray, origin: Scale | None, used: bool = False) -> int | None:
        """Insert an element, unless it is redundant or the dictionary has no room.

        Parameters
        ----------
        samples : (height * width,) uint8 array
        origin : Scale or None
            Scale of the segment that the element was made from; None for a copy.
        used : bool
            Whether the element begins with the class that it has after its first use.

        Returns
        -------
        int or None
            Index of the element; None if it was not inserted.
        """
        if self._redundant(samples):
            return None
        index = self._size if self._size < self.limit else self._replaced()
        if index is None:
            return None
        if index < self._size:
            old = self._samples[index]
            self._known.remove(old.tobytes())
            if self.radius and index in (cell := self.cells[self._cell(old)]):
                cell.remove(index)
        self._put(index, samples, origin)
        if used:
            self._element_class[index] = used_class(self._element_class[index])
        return index

    def use(self, index: int) -> None:
        """Raise the count of an element and change its class, after its index was coded."""
        if self.classes:
            self.element_class[index] = used_class(self.element_class[index])
        self.count[index] += self.increment
        members = self.element_class == self.element_class[index]
        if self.count[members].sum() > MAX_TOTAL:
            self.count[members] = (self.count[members] + 1) // 2

    def _put(self, index: int, samples: np.ndarray, origin: Scale | None) -> None:
        if index == len(self._samples):
            self._grow()
        self._size = max(self._size, index + 1)
        self._known.add(samples.tobytes())
        if self.radius:
            self.cells[self._cell(samples)].append(index)
        self._samples[index] = samples
        self._count[index] = 1
        self._element_class[index] = self._first_class(samples, origin)

    def _grow(self) -> None:
        self._samples = np.concatenate([self._samples, np.zeros_like(self._samples)])
        self._count = np.concatenate([self._count, np.zeros_like(self._count)])
        self._element_class = np.concatenate(
            [self._element_class, np.zeros_like(self._element_class)]
        )

    def _redundant(self, samples: np.ndarray) -> bool:
        """Return whether the dictionary has an equal element, or its cell one within the radius."""
        known = samples.tobytes() in self._known
        if known or not self.radius:
            return known
        near = self._samples[list(self.cells[self._cell(samples)])]
        difference = near.astype(np.int32) - samples
        return bool(((difference * difference).sum(axis=1) <= self.radius).any())

    def _cell(self, samples: np.ndarray) -> bytes:
        """Return the key of a cell: the means of an element's quarters or halves, divided by 64."""
        rows, columns = min(self.scale.height, 2), min(self.scale.width, 2)
        height, width = self.scale.height // rows, self.scale.width // columns
        sums = samples.reshape(rows, height, columns, width).sum(axis=(1, 3), dtype=np.int64)
        return (sums // (height * width) // 64).tobytes()

    def _replaced(self) -> int | None:
        """Return the index of the element that a new one replaces, or None; advances the hand."""
        if not self.replacement or self.start == self.limit:
            return None
        for _ in range(HAND_STEPS):
            index = self.hand
            self.hand = index + 1 if index + 1 < self.limit else self.start
            if self.count[index] == 1:
                return index
        return None

    def _first_class(self, samples: np.ndarray, origin: Scale | None) -> np.uint8:
        if not self.classes:
            return np.uint8(0)
        if (samples == MID_LEVEL).all():
            return np.uint8(ZERO_CLASS)
        return np.uint8(DISPLACED_CLASS if origin is None else origin.number)


def used_class(element_class: int) -> int:
    """Return the class of an element after its first use, from its class before it."""
    if element_class < len(SCALES):
        return element_class + len(SCALES)
    return DISPLACED_CLASS + 1 if element_class == DISPLACED_CLASS else element_class


def make_dictionaries(tools: TreeTools) -> dict[Scale, Dictionary]:
    """Make the dictionaries for the start of a picture, one for each scale that occurs."""
    return {scale: Dictionary(scale, tools) for scale in reachable_scales(tools.partition)}
