"""Which blocks of the picture repeat, so that their pixels are coded whole.

Source: section "Repeating pixels", "Blocks", of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.entropy.binary import BinaryModels, BitCoder
from mmpcodec.reference.lossless.pixels.colours import folded
from mmpcodec.reference.lossless.pixels.mixing import hash_of

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


def repeating_blocks(colours: np.ndarray) -> Blocks:
    """Return the blocks that repeat. *Encoder only*.

    A pixel is new if it has the colour of none of its four nearest neighbours, and another one than
    the last pixel with these neighbours. A block repeats if at most 2/5 of its pixels are new; no
    block does if more than 1/5 of the pixels of all these blocks are new.

    Parameters
    ----------
    colours : (H, W) uint64 array
    """
    height, width = colours.shape
    found = Blocks(height, width)
    last: dict[int, int] = {}
    fresh = np.zeros(found.repeats.shape, int)
    pixels = np.zeros(found.repeats.shape, int)
    rows = colours.tolist()
    for row, here in enumerate(rows):
        above = rows[row - 1] if row else here
        for column, own in enumerate(here):
            block = row // BLOCK, column // BLOCK
            pixels[block] += 1
            left, right = max(column - 1, 0), min(column + 1, width - 1)
            w = here[left] if column else above[0]
            around = w, above[column], above[left], above[right]
            if all(own == colour for colour in around):
                continue
            key = hash_of(*map(folded, around)) >> 16
            fresh[block] += own not in around and own != last.get(key, 0)
            last[key] = own
    repeats = 5 * fresh <= 2 * pixels
    if 5 * fresh[repeats].sum() <= pixels[repeats].sum():
        found.repeats = repeats
    return found
