"""Partition of a fragment into blocks, and the record of decoded blocks.

Source: section "Blocks" of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.trees import fragments
from mmpcodec.reference.trees.scales import COLUMNS, FRAGMENT_SIZE, LEAF, ROWS, Scale
from mmpcodec.reference.trees.segments import Node, Segment

UNIT = 4
"""Height and width of a unit and of the smallest block, in samples."""
UNIT_LOG2 = 2
MAX_LOG2 = 6
"""Binary logarithm of the largest height and width of a block."""
CONSTANT, AVERAGE, PLANAR, FIRST_ANGLE, TEMPLATES = 0, 1, 2, 3, 36
THREE_COLUMNS, THREE_ROWS = 3, 4
"""Flags of ternary splits, beside ``LEAF``, ``COLUMNS`` and ``ROWS``."""
TERNARY = {COLUMNS: THREE_COLUMNS, ROWS: THREE_ROWS}
"""The ternary split in the direction of a split into halves."""
MODES = 37
"""Number of modes in the list of modes."""
CROSS_COMPONENT, WIDE_CROSS_COMPONENT = 37, 38
"""Modes from earlier planes, which are coded ahead of the list."""
MODE_NAMES = {
    CONSTANT: "constant",
    AVERAGE: "average",
    PLANAR: "planar",
    FIRST_ANGLE: "angle",
    TEMPLATES: "templates",
    CROSS_COMPONENT: "cross-component",
    WIDE_CROSS_COMPONENT: "wide cross-component",
}
"""Names of the modes. All angles share the name of angle 0."""
BARE, TRANSFORMED, TREE = 0, 1, 2
"""Kinds of blocks: prediction only, prediction with residual, tree."""
KIND_NAMES = ("bare", "transformed", "tree")
"""Name of each kind."""
MAX_TREE_LOG2 = 4
"""Binary logarithm of the largest height and width of a block that is a tree."""
SIZES = 2 * (MAX_LOG2 - UNIT_LOG2) + 1
"""Number of values of ``BlockPlace.size``: the areas are the powers of two from 16 to 4096."""


def mode_name(mode: int) -> str:
    """Name of a mode, such as "planar"; all angles share one name."""
    return MODE_NAMES[max(first for first in MODE_NAMES if first <= mode)]


@dataclass(frozen=True)
class BlockPlace:
    """Position and size of a block in the picture.

    Parameters
    ----------
    row, column : int
        First sample of the block.
    height_log2, width_log2 : int
        Binary logarithms of height and width in samples, 2 to 6.
    """

    row: int
    column: int
    height_log2: int
    width_log2: int

    @property
    def height(self) -> int:
        """Height in samples, 4 to 64."""
        return 1 << self.height_log2

    @property
    def width(self) -> int:
        """Width in samples, 4 to 64."""
        return 1 << self.width_log2

    @property
    def size(self) -> int:
        """Binary logarithm of the number of units that the block covers, 0 to 8."""
        return self.height_log2 + self.width_log2 - 2 * UNIT_LOG2

    @property
    def area_class(self) -> int:
        """Context of the area: 0 up to 16 samples, 1 up to 64, 2 up to 256, 3 above."""
        return min((self.size + 1) // 2, 3)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns of samples that the block covers in the picture."""
        return (
            slice(self.row, self.row + self.height),
            slice(self.column, self.column + self.width),
        )

    @property
    def units(self) -> tuple[slice, slice]:
        """Rows and columns of units that the block covers in the picture."""
        first, left = self.row // UNIT, self.column // UNIT
        return slice(first, first + self.height // UNIT), slice(left, left + self.width // UNIT)

    @property
    def may_be_sine(self) -> bool:
        """Whether the type of the transform is coded; larger blocks always have cosines."""
        return max(self.height_log2, self.width_log2) <= 4

    @property
    def area(self) -> tuple[int, int]:
        """First row and column of the 16x16 area that contains the block's first sample."""
        return self.row - self.row % FRAGMENT_SIZE, self.column - self.column % FRAGMENT_SIZE

    @property
    def segment(self) -> Segment:
        """The block as a segment of its 16x16 area; its height and width are at most 16."""
        row, column = self.area
        scale = Scale(MAX_TREE_LOG2 - self.height_log2, MAX_TREE_LOG2 - self.width_log2)
        return Segment(
            scale, (self.row - row) // scale.height, (self.column - column) // scale.width
        )

    @property
    def is_aligned(self) -> bool:
        """Whether the block begins at multiples of its height and width. Ternary parts may not."""
        return self.row % self.height == 0 and self.column % self.width == 0

    def parts(self, flag: int) -> tuple["BlockPlace", ...]:
        """Return the parts of a split block, from left to right or from top to bottom.

        ``COLUMNS`` and ``ROWS`` make two halves; ``THREE_COLUMNS`` and ``THREE_ROWS`` make a
        quarter, a half and a quarter.
        """
        y, x, a, b = self.row, self.column, self.height_log2, self.width_log2
        # The start of each part in quarters of the side, and the logarithm of side / part.
        cuts = ((0, 2), (1, 1), (3, 2)) if flag in TERNARY.values() else ((0, 1), (2, 1))
        if flag in (COLUMNS, THREE_COLUMNS):
            return tuple(BlockPlace(y, x + n * self.width // 4, a, b - m) for n, m in cuts)
        return tuple(BlockPlace(y + n * self.height // 4, x, a - m, b) for n, m in cuts)

    def flags(self, *, ternary: bool = False) -> tuple[int, ...]:
        """Return the flags that a block inside the picture may have, in ascending order.

        Parameters
        ----------
        ternary : bool
            Whether ternary splits are allowed. They need a side of at least 16 samples.
        """
        sides = ((COLUMNS, self.width_log2), (ROWS, self.height_log2))
        halved = [flag for flag, log2 in sides if log2 > UNIT_LOG2]
        thirds = [TERNARY[flag] for flag, log2 in sides if ternary and log2 > UNIT_LOG2 + 1]
        return LEAF, *halved, *thirds


@dataclass(frozen=True)
class Block:
    """Coded content of a block that is not split.

    Parameters
    ----------
    mode : int
        Prediction mode, 0 to 38; 0 for a tree.
    levels : (R, Q) int array or None
        Quantised coefficients; None for a block without residual.
    sine : bool
        True if the transform has sines as its basis, False if cosines.
    tree : list of Node or None
        Nodes of the tree in coding order; None for a predicted block.
    trained : bool
        True if a trained transform follows the cosines.
    skipped : bool
        True if there is no transform: the levels are those of samples.
    """

    mode: int
    levels: np.ndarray | None = None
    sine: bool = False
    tree: list[Node] | None = None
    trained: bool = False
    skipped: bool = False

    @property
    def kind(self) -> int:
        """Kind of the block: ``BARE``, ``TRANSFORMED`` or ``TREE``."""
        if self.tree is not None:
            return TREE
        return BARE if self.levels is None else TRANSFORMED


@dataclass(frozen=True)
class BlockNode:
    """Node of a fragment's partition.

    Parameters
    ----------
    place : BlockPlace
    flag : int
        ``LEAF``, ``COLUMNS``, ``ROWS``, ``THREE_COLUMNS`` or ``THREE_ROWS``.
    block : Block or None
        Content of a leaf; None if the node is split.
    """

    place: BlockPlace
    flag: int
    block: Block | None = None


SMALL = 1 << 14
"""Most samples of a small padded picture."""


def is_small(shape: tuple[int, int]) -> bool:
    """Return whether a padded picture is small, so that much of it lies at its borders."""
    return shape[0] * shape[1] <= SMALL


def padded_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return the height and width in samples, each rounded up to a multiple of 4."""
    return fragments.padded_shape(shape, UNIT)


def pad(plane: np.ndarray) -> np.ndarray:
    """Pad a plane to multiples of 4 samples by repeating its last column and its last row."""
    return fragments.pad(plane, UNIT)


def fragment_places(shape: tuple[int, int], fragment_size: int) -> Iterator[BlockPlace]:
    """Yield the fragments of a picture in coding order.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the picture in samples.
    fragment_size : int
        16, 32 or 64.
    """
    log2 = fragment_size.bit_length() - 1
    for row, column in fragments.fragment_origins(*shape, fragment_size):
        yield BlockPlace(row, column, log2, log2)


class Units:
    """Record of the decoded blocks, by the units of 4x4 samples that they cover.

    Parameters
    ----------
    shape : (int, int)
        Height H and width W of the padded picture in samples.

    Attributes
    ----------
    known : (H / 4, W / 4, 4) uint8 array
        For each unit the ``height_log2``, ``width_log2``, ``mode`` and ``kind`` of the block that
        covers it. All four are 0 in a unit that is not decoded.
    height_log2, width_log2, mode, kind : (H / 4, W / 4) uint8 arrays
        Views of ``known``.
    """

    def __init__(self, shape: tuple[int, int]):
        self.shape = shape
        self.known = np.zeros((shape[0] // UNIT, shape[1] // UNIT, 4), np.uint8)
        self.height_log2, self.width_log2, self.mode, self.kind = np.moveaxis(self.known, 2, 0)

    @property
    def decoded(self) -> np.ndarray:
        """Whether each unit is decoded, a (H / 4, W / 4) bool array."""
        return self.height_log2 > 0

    @property
    def decoded_samples(self) -> np.ndarray:
        """Number of decoded samples in each row, a (H,) int array.

        The decoded samples of a row are always its first samples.
        """
        return UNIT * self.decoded.sum(axis=1).repeat(UNIT)

    def mark(self, place: BlockPlace, block: Block) -> None:
        """Record a decoded block."""
        self.known[place.units] = place.height_log2, place.width_log2, block.mode, block.kind

    def forget(self, place: BlockPlace) -> None:
        """Erase the record of a block, after a search has tried it."""
        self.known[place.units] = 0

    def neighbours(self, place: BlockPlace) -> Iterator[tuple[int, int] | None]:
        """Yield the position of the unit above a block's first sample, then of the unit left of it.

        A position is a row and a column of units, or None beyond the picture.
        """
        row, column = place.row // UNIT, place.column // UNIT
        yield (row - 1, column) if row > 0 else None
        yield (row, column - 1) if column > 0 else None

    def split_context(self, place: BlockPlace) -> int:
        """Return the number of neighbours that have a smaller area than the block, 0 to 2."""
        return sum(
            int(self.height_log2[unit]) + int(self.width_log2[unit])
            < place.height_log2 + place.width_log2
            for unit in self.neighbours(place)
            if unit
        )

    def direction_context(self, place: BlockPlace) -> int:
        """Return the context of the direction of a split.

        1 if only the upper neighbour is narrower than the block, 2 if only the left neighbour is
        less high than the block, else 0.
        """
        above, left = self.neighbours(place)
        narrower = above is not None and self.width_log2[above] < place.width_log2
        lower = left is not None and self.height_log2[left] < place.height_log2
        return 0 if narrower == lower else 1 if narrower else 2

    def kind_context(self, place: BlockPlace) -> int:
        """Return the number of neighbours that have a residual, 0 to 2."""
        return self._neighbours_of_kind(place, TRANSFORMED)

    def tree_context(self, place: BlockPlace) -> int:
        """Return the number of neighbours that are trees, 0 to 2."""
        return self._neighbours_of_kind(place, TREE)

    def _neighbours_of_kind(self, place: BlockPlace, kind: int) -> int:
        return sum(self.kind[unit] == kind for unit in self.neighbours(place) if unit)

    def planes_context(self, place: BlockPlace) -> int:
        """Return the number of neighbours that are predicted from earlier planes, 0 to 2."""
        return sum(self.mode[unit] >= CROSS_COMPONENT for unit in self.neighbours(place) if unit)

    def likely_modes(self, place: BlockPlace) -> tuple[int, int]:
        """Return the modes of the left and of the upper neighbour.

        If one neighbour does not exist, the mode of the other stands for it. If neither exists,
        both modes are planar. Planar also stands for a mode from earlier planes.
        """
        modes = [
            None
            if not unit
            else PLANAR
            if self.mode[unit] >= CROSS_COMPONENT
            else int(self.mode[unit])
            for unit in self.neighbours(place)
        ]
        known = [mode for mode in modes if mode is not None] or [PLANAR]
        above, left = modes
        return known[-1] if left is None else left, known[0] if above is None else above

    def far_modes(self, place: BlockPlace) -> list[int]:
        """Return the modes left of a block's last row and above its last column, if they exist."""
        rows, columns = place.units
        places = []
        if columns.start:
            places.append((rows.stop - 1, columns.start - 1))
        if rows.start:
            places.append((rows.start - 1, columns.stop - 1))
        return [int(self.mode[unit]) for unit in places]


def forced_flag(place: BlockPlace, shape: tuple[int, int]) -> int | None:
    """Return the flag of a block that reaches beyond the padded picture; None for any other block.

    Parameters
    ----------
    place : BlockPlace
    shape : (int, int)
        Height and width of the padded picture in samples.
    """
    if place.column + place.width > shape[1]:
        return COLUMNS
    if place.row + place.height > shape[0]:
        return ROWS
    return None


def is_outside(place: BlockPlace, shape: tuple[int, int]) -> bool:
    """Return whether no sample of a block lies in the padded picture."""
    return place.row >= shape[0] or place.column >= shape[1]
