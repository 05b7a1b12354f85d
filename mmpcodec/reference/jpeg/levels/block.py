"""What is known of a block before its levels: the blocks around it, and its borders.

Source: section "Levels of a stripe", "BlocksAround a block", of ``docs/format/format.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mmpcodec.reference.integers import limited

BLOCK = 64
BORDER = (1448, 2048, 2048, 2048, 2048, 2048, 2048, 2048)
SLOPE = (1448, 2162, 2446, 2754, 2896, 2711, 2122, 1168)
"""Cosines of each frequency at the border of a block, in 1/4096, and continued by their slope."""
KINDS = (0, 1, 2, 0)
"""Kind of each component."""
MOST_VALUE = 32767
NONE = [0] * BLOCK


@dataclass
class StripeComponent:
    """Rows of blocks of a component.

    Parameters
    ----------
    levels : (R, C, 64) int array
        By rows of frequencies. A decoder fills it.
    steps : sequence of 64 int
        Quantisation steps, by rows of frequencies.
    across, down : int
        Sampling factors.
    """

    levels: np.ndarray
    steps: Sequence[int]
    across: int = 1
    down: int = 1
    counts: np.ndarray = field(init=False)
    ends: np.ndarray = field(init=False)
    differences: np.ndarray = field(init=False)

    def __post_init__(self):
        self.steps = [max(1, int(step)) for step in self.steps]
        self.counts, self.ends, self.differences = (
            np.zeros(self.levels.shape[:2], int) for _ in range(3)
        )

    def block(self, row: int, column: int) -> list[int]:
        """Return the levels of a block, or zeros beyond the stripe."""
        rows, columns = self.levels.shape[:2]
        if not (0 <= row < rows and 0 <= column < columns):
            return NONE
        return self.levels[row, column].tolist()


class BlocksAround:
    """The blocks around one.

    Parameters
    ----------
    stripe : sequence of StripeComponent
    number : int
        Component of the block.
    row, column : int
        Place of the block in the stripe.
    """

    def __init__(self, stripe: Sequence[StripeComponent], number: int, row: int, column: int):
        own = stripe[number]
        self.row, self.column = row, column
        self.has_left, self.has_above = column > 0, row > 0
        self.left = own.block(row, column - 1)
        self.above = own.block(row - 1, column)
        if not self.has_left:
            self.left = self.above
        self.above_left = own.block(row - 1, column - 1)
        self.above_right = own.block(row - 1, column + 1)
        if not self.has_above:
            self.above = self.above_left = self.above_right = self.left
        self.left_left = own.block(row, column - 2)
        self.above_above = own.block(row - 2, column)
        self.left_count, self.above_count = self._beside(own.counts)
        self.left_end, self.above_end = self._beside(own.ends)
        self.luma: list[list[int]] = []
        self.luma_place: tuple[int, int] | None = None
        self.before: list[int] | None = None
        self.hint = 0
        if number:
            self._look_at_luma(stripe[0], own)
        if number == 2 and stripe[1].levels.shape == own.levels.shape:
            self.before = stripe[1].block(row, column)
            self.hint = min(63, self.hint + 3 * int(stripe[1].counts[row, column]) >> 2)

    def _beside(self, of: np.ndarray) -> tuple[int, int]:
        """Return a number of the blocks left and above, each of which stands in for the other."""
        above = int(of[self.row - 1, self.column]) if self.has_above else 0
        left = int(of[self.row, self.column - 1]) if self.has_left else above
        return left, above if self.has_above else left

    def _look_at_luma(self, first: StripeComponent, own: StripeComponent) -> None:
        across, down = max(1, first.across // own.across), max(1, first.down // own.down)
        rows, columns = first.levels.shape[:2]
        counted = 0
        for j in range(min(down, 2)):
            for i in range(min(across, 2)):
                row = min(self.row * down + j, rows - 1)
                column = min(self.column * across + i, columns - 1)
                self.luma_place = self.luma_place or (row, column)
                self.luma.append(first.block(row, column))
                counted += int(first.counts[row, column])
        self.hint = counted // len(self.luma)


class Borders:
    """The borders of the blocks of a component, and the levels that continue them.

    Parameters
    ----------
    component : StripeComponent
    basis : sequence of 8 int
    """

    def __init__(self, component: StripeComponent, basis: Sequence[int]):
        self.basis, self.steps = basis, component.steps
        self._bottoms = np.zeros((component.levels.shape[1], 8), int).tolist()
        self._right = [0] * 8

    def begin(self, around: BlocksAround) -> None:
        """Begin a block."""
        self._column = around.column
        self._above = list(self._bottoms[around.column]) if around.has_above else [0] * 8
        self._left = list(self._right) if around.has_left else [0] * 8
        self._bottom, self._right = [0] * 8, [0] * 8

    def add(self, place: int, level: int) -> None:
        """Add a level of the block."""
        value = limited(level * self.steps[place], -MOST_VALUE, MOST_VALUE)
        v, u = divmod(place, 8)
        self._above[u] -= self.basis[v] * value
        self._left[v] -= self.basis[u] * value
        self._bottom[u] += (-1) ** v * self.basis[v] * value
        self._right[v] += (-1) ** u * self.basis[u] * value

    def end(self) -> None:
        """End the block."""
        self._bottoms[self._column] = self._bottom

    def from_above(self, place: int, shift: int = 32) -> int:
        """Return the level that continues the border above, in 1/4; in 1/8 with a shift of 31."""
        v, u = divmod(place, 8)
        return self._above[u] * (2**34 // (self.basis[v] * self.steps[place])) >> shift

    def from_left(self, place: int, shift: int = 32) -> int:
        """Return the level that continues the border at the left, likewise."""
        v, u = divmod(place, 8)
        return self._left[v] * (2**34 // (self.basis[u] * self.steps[place])) >> shift
