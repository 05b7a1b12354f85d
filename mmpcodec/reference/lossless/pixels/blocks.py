"""Which blocks of the picture repeat, so that their pixels are coded whole.

Source: section "Repeating pixels", "Blocks", of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.entropy.binary import BinaryModels, BitCoder

BLOCK = 32
"""Rows and columns of a block."""


class Blocks:
    """Whether each block repeats.

    Attributes
    ----------
    repeats : (ceil(H / 32), ceil(W / 32)) bool array
    """

    def __init__(self, height: int, width: int):
        self.width = width
        self.repeats = np.zeros((-(-height // BLOCK), -(-width // BLOCK)), bool)

    def at(self, row: int, column: int) -> bool:
        """Return whether the block of a pixel repeats."""
        return bool(self.repeats[row // BLOCK, column // BLOCK])

    def end_of(self, row: int, column: int) -> int:
        """Return the column after the last block in a row of blocks of one kind."""
        kind = self.at(row, column)
        column = (column // BLOCK + 1) * BLOCK
        while column < self.width and self.at(row, column) == kind:
            column += BLOCK
        return min(column, self.width)

    def code(self, coder: BitCoder, given: bool) -> None:
        """Code which blocks repeat; they are ``given`` if they are encoded."""
        models = BinaryModels("map", (4,))
        for (i, j), repeats in np.ndenumerate(self.repeats):
            left = self.repeats[i, j - 1] if j else True
            above = self.repeats[i - 1, j] if i else True
            context = int(left) + 2 * int(above)
            self.repeats[i, j] = models.code(coder, (context,), int(repeats) if given else None)
