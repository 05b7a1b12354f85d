"""The dictionary of one scale: its elements, their classes and counts, and how it learns.

Source: sections "Dictionary", "Index" and "Learning" of ``docs/format.md``.
"""

import numpy as np

from mmpcodec.codec.fragments import MID_LEVEL
from mmpcodec.codec.scales import (
    LEAF,
    PIXEL_SCALE,
    SCALES,
    Scale,
    reachable_scales,
    rescale,
    scale_distance,
)
from mmpcodec.params import Tools

GREY_LEVELS = 256
CLASS_COUNT = 2 * len(SCALES) + 1
ZERO_CLASS = CLASS_COUNT - 1
MAX_TOTAL = 1 << 17
"""A model is halved when its total passes this. Totals stay below 2**18, see the format."""


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
    """

    def __init__(self, scale: Scale, tools: Tools):
        self.scale = scale
        self.limit = tools.dictionary_limit
        self.classes = tools.index_classes
        self.increment = 2 if tools.index_classes else 1
        area = scale.height * scale.width
        self._size = 0
        self._samples = np.zeros((GREY_LEVELS, area), np.uint8)
        self._count = np.zeros(GREY_LEVELS, np.int64)
        self._element_class = np.zeros(GREY_LEVELS, np.uint8)
        self._known: set[bytes] = set()
        for level in range(GREY_LEVELS):
            self.insert(np.full(area, level, np.uint8), PIXEL_SCALE)

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

    def insert(self, samples: np.ndarray, origin: Scale) -> bool:
        """Add an element unless an equal one exists or the dictionary is full.

        Parameters
        ----------
        samples : (height * width,) uint8 array
        origin : Scale
            Scale of the block that the element was made from.

        Returns
        -------
        bool
            Whether the element was added.
        """
        key = samples.tobytes()
        if key in self._known or self._size == self.limit:
            return False
        if self._size == len(self._samples):
            self._grow()
        self._known.add(key)
        self._samples[self._size] = samples
        self._count[self._size] = 1
        self._element_class[self._size] = self._first_class(samples, origin)
        self._size += 1
        return True

    def use(self, index: int) -> None:
        """Count a use of an element, after its index was coded."""
        if self.classes and self.element_class[index] < len(SCALES):
            self.element_class[index] += len(SCALES)
        self.count[index] += self.increment
        members = self.element_class == self.element_class[index]
        if self.count[members].sum() > MAX_TOTAL:
            self.count[members] = (self.count[members] + 1) // 2

    def _grow(self) -> None:
        self._samples = np.concatenate([self._samples, np.zeros_like(self._samples)])
        self._count = np.concatenate([self._count, np.zeros_like(self._count)])
        self._element_class = np.concatenate(
            [self._element_class, np.zeros_like(self._element_class)]
        )

    def _first_class(self, samples: np.ndarray, origin: Scale) -> np.uint8:
        if not self.classes:
            return np.uint8(0)
        if (samples == MID_LEVEL).all():
            return np.uint8(ZERO_CLASS)
        return np.uint8(origin.number)


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
        The residual that the leaves' elements build.
    tools : Tools
    """
    for node in nodes:
        if node.flag == LEAF:
            continue
        block = coded[node.segment.slices]
        for scale, dictionary in dictionaries.items():
            if scale_distance(node.segment.scale, scale) <= tools.copy_radius:
                dictionary.insert(rescale(block, scale).ravel(), node.segment.scale)
