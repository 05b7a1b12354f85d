"""Blocks: how a fragment is partitioned into them, and what is known of those decoded.

Source: section "Blocks" of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.trees import fragments
from mmpcodec.reference.trees.scales import COLUMNS, FRAGMENT_SIZE, ROWS, Scale
from mmpcodec.reference.trees.segments import Node, Segment

UNIT = 4
"""Height and width of a unit and of the smallest block, in samples."""
UNIT_LOG2 = 2
MAX_LOG2 = 6
CONSTANT, AVERAGE, PLANAR, FIRST_ANGLE, LEAST_SQUARES, TEMPLATES = 0, 1, 2, 3, 36, 37
MODES = 38
MODE_NAMES = {
    CONSTANT: "constant",
    AVERAGE: "average",
    PLANAR: "planar",
    FIRST_ANGLE: "angle",
    LEAST_SQUARES: "least squares",
    TEMPLATES: "templates",
}
"""What people call the modes, by the first of each name."""
BARE, TRANSFORMED, TREE = 0, 1, 2
KIND_NAMES = ("bare", "transformed", "tree")
"""What people call the kinds: a prediction as it is, one with a residual, and a tree."""
MAX_TREE_LOG2 = 4
SIZES = 2 * (MAX_LOG2 - UNIT_LOG2) + 1
"""Block sizes that models tell apart: by the logarithm of the area, from 16 to 4096."""


def mode_name(mode: int) -> str:
    """What people call a mode; all angles have one name."""
    return MODE_NAMES[max(first for first in MODE_NAMES if first <= mode)]


@dataclass(frozen=True)
class BlockPlace:
    """Where a block lies in the picture.

    Parameters
    ----------
    row, column : int
        Of its first sample.
    height_log2, width_log2 : int
        2 to 6.
    """

    row: int
    column: int
    height_log2: int
    width_log2: int

    @property
    def height(self) -> int:
        return 1 << self.height_log2

    @property
    def width(self) -> int:
        return 1 << self.width_log2

    @property
    def size(self) -> int:
        """Logarithm of the area, counted from that of a unit: 0 to 8."""
        return self.height_log2 + self.width_log2 - 2 * UNIT_LOG2

    @property
    def area_class(self) -> int:
        """0 for areas to 16 samples, 1 to 64, 2 to 256, 3 beyond."""
        return min((self.size + 1) // 2, 3)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Its rows and columns in the picture."""
        return (
            slice(self.row, self.row + self.height),
            slice(self.column, self.column + self.width),
        )

    @property
    def units(self) -> tuple[slice, slice]:
        """Its rows and columns of units."""
        first, left = self.row // UNIT, self.column // UNIT
        return slice(first, first + self.height // UNIT), slice(left, left + self.width // UNIT)

    @property
    def may_be_sine(self) -> bool:
        """Whether its transform is sent."""
        return max(self.height_log2, self.width_log2) <= 4

    @property
    def area(self) -> tuple[int, int]:
        """First row and column of the 16x16 area that its first sample lies in."""
        return self.row - self.row % FRAGMENT_SIZE, self.column - self.column % FRAGMENT_SIZE

    @property
    def segment(self) -> Segment:
        """It as a segment of its area; its sides are at most 16."""
        row, column = self.area
        scale = Scale(MAX_TREE_LOG2 - self.height_log2, MAX_TREE_LOG2 - self.width_log2)
        return Segment(
            scale, (self.row - row) // scale.height, (self.column - column) // scale.width
        )

    def halves(self, flag: int) -> tuple["BlockPlace", "BlockPlace"]:
        """Left and right half for ``COLUMNS``, top and bottom half for ``ROWS``."""
        y, x, a, b = self.row, self.column, self.height_log2, self.width_log2
        if flag == COLUMNS:
            return BlockPlace(y, x, a, b - 1), BlockPlace(y, x + self.width // 2, a, b - 1)
        return BlockPlace(y, x, a - 1, b), BlockPlace(y + self.height // 2, x, a - 1, b)


@dataclass(frozen=True)
class Block:
    """All that is sent of a block that is not split.

    Parameters
    ----------
    mode : int
        0 to 37; of a tree, what its neighbours take it for.
    levels : (R, Q) int array or None
        None unless there is a residual.
    sine : bool
        Whether the transform is the sine rather than the cosine.
    tree : list of tree.Node or None
        Nodes in coding order; None for a predicted block.
    """

    mode: int
    levels: np.ndarray | None = None
    sine: bool = False
    tree: list[Node] | None = None

    @property
    def kind(self) -> int:
        if self.tree is not None:
            return TREE
        return BARE if self.levels is None else TRANSFORMED


@dataclass(frozen=True)
class BlockNode:
    """A place with its flag, and its block where it is not split."""

    place: BlockPlace
    flag: int
    block: Block | None = None


def padded_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width in samples of whole units."""
    return fragments.padded_shape(shape, UNIT)


def pad(plane: np.ndarray) -> np.ndarray:
    """The plane with its last row and column repeated up to whole units."""
    return fragments.pad(plane, UNIT)


def fragment_places(shape: tuple[int, int], fragment_size: int) -> Iterator[BlockPlace]:
    """The fragments of a picture of this height and width, in coding order."""
    log2 = fragment_size.bit_length() - 1
    for row, column in fragments.fragment_origins(*shape, fragment_size):
        yield BlockPlace(row, column, log2, log2)


class Units:
    """What is known of the decoded blocks, for each unit that they cover.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the padded picture in samples.

    Attributes
    ----------
    known : (H / 4, W / 4, 4) uint8 array
        Of the block over each unit: ``height_log2``, ``width_log2``, ``mode`` and ``kind``, which
        are views of it. All are 0 where none is decoded.
    """

    def __init__(self, shape: tuple[int, int]):
        self.shape = shape
        self.known = np.zeros((shape[0] // UNIT, shape[1] // UNIT, 4), np.uint8)
        self.height_log2, self.width_log2, self.mode, self.kind = np.moveaxis(self.known, 2, 0)

    @property
    def decoded(self) -> np.ndarray:
        """(H / 4, W / 4) bool array: whether the unit is decoded."""
        return self.height_log2 > 0

    @property
    def decoded_samples(self) -> np.ndarray:
        """(H,) int array: how many samples of each row are decoded, which are its first ones."""
        return UNIT * self.decoded.sum(axis=1).repeat(UNIT)

    def mark(self, place: BlockPlace, block: Block) -> None:
        """Note a block that is decoded."""
        self.known[place.units] = place.height_log2, place.width_log2, block.mode, block.kind

    def forget(self, place: BlockPlace) -> None:
        """Note that nothing of a block is decoded, after a search has tried it."""
        self.known[place.units] = 0

    def neighbours(self, place: BlockPlace) -> Iterator[tuple[int, int] | None]:
        """Row and column of the unit above a block's first sample, then of that left of it.

        None stands for one beyond the picture.
        """
        row, column = place.row // UNIT, place.column // UNIT
        yield (row - 1, column) if row > 0 else None
        yield (row, column - 1) if column > 0 else None

    def split_context(self, place: BlockPlace) -> int:
        """How many of the neighbours have a smaller area than this block: 0 to 2."""
        return sum(
            int(self.height_log2[unit]) + int(self.width_log2[unit])
            < place.height_log2 + place.width_log2
            for unit in self.neighbours(place)
            if unit
        )

    def direction_context(self, place: BlockPlace) -> int:
        """1 if only the block above is narrower, 2 if only that on the left is lower, else 0."""
        above, left = self.neighbours(place)
        narrower = above is not None and self.width_log2[above] < place.width_log2
        lower = left is not None and self.height_log2[left] < place.height_log2
        return 0 if narrower == lower else 1 if narrower else 2

    def kind_context(self, place: BlockPlace) -> int:
        """How many of the neighbours have a residual: 0 to 2."""
        return self._neighbours_of_kind(place, TRANSFORMED)

    def tree_context(self, place: BlockPlace) -> int:
        """How many of the neighbours are trees: 0 to 2."""
        return self._neighbours_of_kind(place, TREE)

    def _neighbours_of_kind(self, place: BlockPlace, kind: int) -> int:
        return sum(self.kind[unit] == kind for unit in self.neighbours(place) if unit)

    def likely_modes(self, place: BlockPlace) -> tuple[int, int]:
        """Modes of the left and of the upper neighbour; see section "Modes"."""
        modes = [int(self.mode[unit]) if unit else None for unit in self.neighbours(place)]
        known = [mode for mode in modes if mode is not None] or [PLANAR]
        above, left = modes
        return known[-1] if left is None else left, known[0] if above is None else above


def forced_flag(place: BlockPlace, shape: tuple[int, int]) -> int | None:
    """The split of a block that reaches beyond the padded picture; None for any other."""
    if place.column + place.width > shape[1]:
        return COLUMNS
    if place.row + place.height > shape[0]:
        return ROWS
    return None


def is_outside(place: BlockPlace, shape: tuple[int, int]) -> bool:
    """Whether no sample of a block lies in the padded picture."""
    return place.row >= shape[0] or place.column >= shape[1]
