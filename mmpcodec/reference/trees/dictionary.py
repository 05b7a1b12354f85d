"""The dictionary of one scale: its elements, their classes and counts, and how it learns.

Source: sections "Dictionary", "Index" and "Learning" of ``docs/format/format.md``.
"""

from collections import defaultdict, deque
from functools import partial

import numpy as np

from mmpcodec.reference.entropy.rates import MAX_TOTAL
from mmpcodec.reference.trees.scales import (
    LEAF,
    MID_LEVEL,
    PIXEL_SCALE,
    SCALES,
    Scale,
    reachable_scales,
    rescale,
    scale_distance,
)
from mmpcodec.tools import Tools

GREY_LEVELS = 256
ZERO_CLASS = 2 * len(SCALES)
DISPLACED_CLASS = ZERO_CLASS + 1
CLASS_COUNT = DISPLACED_CLASS + 2
CELL_SIZE = 16
"""Elements of a cell that a new one is compared with."""
HAND_STEPS = 64
"""Elements that replacement looks at for one that was never used."""


class Dictionary:
    """Elements of one scale in the order of their insertion; the index is their number.

    Parameters
    ----------
    scale : Scale
    tools : Tools

    Attributes
    ----------
    samples : (N, height * width) uint8 array
    count : (N,) int64 array
        Uses of each element as the models count them, at least 1.
    element_class : (N,) uint8 array
    cells : dict of bytes to deque of int
        Elements of each cell, the oldest first.
    start, hand : int
        Elements at the start of a picture; which one replacement looks at next.
    """

    def __init__(self, scale: Scale, tools: Tools):
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
            if level == MID_LEVEL or not self._redundant(constant):
                self._put(self._size, constant, PIXEL_SCALE)
        self.start = self.hand = self._size

    def __len__(self) -> int:
        return self._size

    @property
    def samples(self) -> np.ndarray:
        return self._samples[: self._size]

    @property
    def count(self) -> np.ndarray:
        return self._count[: self._size]

    @property
    def element_class(self) -> np.ndarray:
        return self._element_class[: self._size]

    def block(self, index: int) -> np.ndarray:
        """Element ``index`` as a (height, width) uint8 array."""
        return self._samples[index].reshape(self.scale.height, self.scale.width)

    def insert(self, samples: np.ndarray, origin: Scale | None) -> bool:
        """Add an element unless it is redundant or there is no place.

        Parameters
        ----------
        samples : (height * width,) uint8 array
        origin : Scale or None
            Scale of the segment that the element was made from; None for a displaced block.

        Returns
        -------
        bool
            Whether the element was added.
        """
        if self._redundant(samples):
            return False
        index = self._size if self._size < self.limit else self._replaced()
        if index is None:
            return False
        if index < self._size:
            old = self._samples[index]
            self._known.remove(old.tobytes())
            if index in self.cells[self._cell(old)]:
                self.cells[self._cell(old)].remove(index)
        self._put(index, samples, origin)
        return True

    def use(self, index: int) -> None:
        """Count a use of an element, after its index was coded."""
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
        """Whether an equal element is there, or one within the radius in its cell."""
        if self.radius == 0 or samples.tobytes() in self._known:
            return samples.tobytes() in self._known
        near = self._samples[list(self.cells[self._cell(samples)])]
        difference = near.astype(np.int32) - samples
        return bool(((difference * difference).sum(axis=1) <= self.radius).any())

    def _cell(self, samples: np.ndarray) -> bytes:
        """The cell of an element: the means of its quarters, or halves, in steps of 64."""
        rows, columns = min(self.scale.height, 2), min(self.scale.width, 2)
        height, width = self.scale.height // rows, self.scale.width // columns
        sums = samples.reshape(rows, height, columns, width).sum(axis=(1, 3), dtype=np.int64)
        return (sums // (height * width) // 64).tobytes()

    def _replaced(self) -> int | None:
        """Index of the element that gives way in a full dictionary, the hand going on."""
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
    """The class of an element of this class once it was used."""
    if element_class < len(SCALES):
        return element_class + len(SCALES)
    return DISPLACED_CLASS + 1 if element_class == DISPLACED_CLASS else element_class


def make_dictionaries(tools: Tools) -> dict[Scale, Dictionary]:
    """The dictionaries at the start of a picture, one for each scale that segments can have."""
    return {scale: Dictionary(scale, tools) for scale in reachable_scales(tools.partition)}


def learn(dictionaries: dict[Scale, Dictionary], nodes: list, coded: np.ndarray, tools: Tools):
    """Teach the dictionaries the split segments of a coded fragment.

    Parameters
    ----------
    dictionaries : dict of Scale to Dictionary
        Changed in place.
    nodes : list of tree.Node
        The fragment's tree in coding order.
    coded : (16, 16) uint8 array
        The samples that the elements of the leaves build.
    tools : Tools
    """
    for node in nodes:
        if node.flag == LEAF:
            continue
        block = coded[node.segment.slices]
        for scale, dictionary in dictionaries.items():
            if scale_distance(node.segment.scale, scale) <= tools.copy_radius:
                dictionary.insert(rescale(block, scale).ravel(), node.segment.scale)
