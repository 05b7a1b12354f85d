"""What the levels around a place say about its level.

Source: section "Levels of a stripe", "Sizes", of ``docs/format/format.md``.
"""

from collections.abc import Sequence

from mmpcodec.reference.jpeg.levels.block import BlocksAround, Borders
from mmpcodec.reference.jpeg.levels.scales import logarithm


def row_beside(block: Sequence[int], k: int) -> int:
    """Return the sizes left and right of a place, without the first level."""
    u = k % 8
    west = abs(block[k - 1]) if u and k != 1 else 0
    return west + (abs(block[k + 1]) if u < 7 else 0)


def column_beside(block: Sequence[int], k: int) -> int:
    """Return the sizes above and below a place, without the first level."""
    v = k // 8
    north = abs(block[k - 8]) if v and k != 8 else 0
    return north + (abs(block[k + 8]) if v < 7 else 0)


def all_beside(block: Sequence[int], k: int) -> int:
    """Return the sizes on all four sides of a place."""
    return row_beside(block, k) + column_beside(block, k)


class Near:
    """Sizes and predictions around a place.

    Parameters
    ----------
    around : BlocksAround
    own : sequence of 64 int
        The levels of the block that are known; the others are 0.
    borders : Borders
    kind : int
    k, z, end : int
        Place by rows and in the order of scans, and the end of the block.
    """

    def __init__(
        self,
        around: BlocksAround,
        own: Sequence[int],
        borders: Borders,
        kind: int,
        k: int,
        z: int,
        end: int,
    ):
        self.k, self.z, self.end = k, z, end
        self.v, self.u = v, u = divmod(k, 8)
        self.up, self.side = borders.from_above(k), borders.from_left(k)
        self.continued = self.side
        if v == 0 or (u and abs(self.up) * (8 - v) > abs(self.side) * (8 - u)):
            self.continued = self.up if u else self.side
        self.left, self.above = abs(around.left[k]), abs(around.above[k])
        self.above_left, self.above_right = abs(around.above_left[k]), abs(around.above_right[k])

        def size(down: int, right: int) -> int:
            """Return the size of a level of this block, 0 beyond it and for the first one."""
            row, column = v + down, u + right
            inside = 0 <= row < 8 and 0 <= column < 8 and row + column > 0
            return abs(own[8 * row + column]) if inside else 0

        self.west, self.north = size(0, -1), size(-1, 0)
        self.diagonal = size(-1, -1) + size(-1, 1) + size(1, -1)
        self.far = size(0, -2) + size(-2, 0)
        self.blocks = 6 * (self.left + self.above) + 2 * (self.above_left + self.above_right)
        self.block = 4 * (self.west + self.north) + 3 * self.diagonal + 2 * self.far
        self.luma = self.before = 0
        if kind:
            self.luma = sum(abs(block[k]) for block in around.luma) * 8 // len(around.luma)
            if around.before:
                self.before = abs(around.before[k])
        self.others = self.luma + 6 * self.before
        self.rest = end - z
        self.most_border = max(abs(self.up), abs(self.side))

    def size_inputs(self, around: BlocksAround, difference: int, kind: int) -> list[int]:
        """Return the inputs of the predicted size: logarithms in 1/64."""
        k = self.k
        sizes = (
            self.left,
            self.above,
            self.above_left,
            self.above_right,
            abs(around.left_left[k]),
            abs(around.above_above[k]),
            self.west,
            self.north,
            self.diagonal,
            self.far,
            abs(self.up),
            abs(self.side),
            self.rest,
            around.left_count + around.above_count,
            self.luma // 2 if kind else self.blocks + self.block,
            self.before if around.before else self.most_border,
            None,
            self.end,
            all_beside(around.left, k) + all_beside(around.above, k),
            abs(difference),
        )
        return [64 if size is None else logarithm(size) for size in sizes]


def size_step(predicted: int) -> int:
    """Return the step, 0 to 63, of a predicted logarithm of a size."""
    if predicted < 0:
        return 0
    return predicted >> 2 if predicted < 192 else min(63, 48 + (predicted - 192 >> 4))
