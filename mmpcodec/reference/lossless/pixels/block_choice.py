"""The choice of the blocks that repeat. *Encoder only*.

Source: section "Repeating pixels", "Blocks", of ``docs/format/format.md``; decision 83 has the
measurements behind the weights.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.lossless.pixels.blocks import BLOCK, Blocks
from mmpcodec.reference.lossless.pixels.colours import ColourShape, folded
from mmpcodec.reference.lossless.pixels.mixing import hash_of

COLOUR_BITS = 20
"""Bits of the hashes by which colours are counted."""
UNIT = 4
"""Parts of a unit, so that a quarter of it is whole."""
MANY_COLOURS = 12
"""Binary digits of the number of colours, above which nearly only fresh pixels are noise."""
LEARNING = 10000
"""Units a plane that natural blocks must save among blocks that repeat."""


@dataclass(frozen=True)
class BlockCounts:
    """What is counted in blocks to compare whole pixels with planes.

    Attributes
    ----------
    pixels : (R, C) int array
    known : (R, C) int array
        Pixels with the colour of a neighbour, but not that of the last pixel between these.
    fresh : (R, C) int array
        Pixels of another colour than both.
    digits : (R, C) int array
        Binary digits of the residuals of all samples.
    colour_digits : int
        Binary digits of the number of colours of the picture.
    """

    pixels: np.ndarray
    known: np.ndarray
    fresh: np.ndarray
    digits: np.ndarray
    colour_digits: int

    @classmethod
    def of(cls, colours: np.ndarray, shape: ColourShape) -> "BlockCounts":
        """Count in the blocks of (H, W) uint64 colours."""
        height, width = colours.shape
        pixels, known, fresh, digits = np.zeros((4, *Blocks(height, width).repeats.shape), int)
        last: dict[int, int] = {}
        found: set[int] = set()
        rows = colours.tolist()
        for row, here in enumerate(rows):
            above = rows[row - 1] if row else None
            for column, own in enumerate(here):
                block = row // BLOCK, column // BLOCK
                pixels[block] += 1
                w = here[column - 1] if column else above[0] if above else 0
                n = above[column] if above else w
                nw = above[max(column - 1, 0)] if above else w
                ne = above[min(column + 1, width - 1)] if above else w
                around = w, n, nw, ne
                if all(own == colour for colour in around):
                    continue
                key = hash_of(*map(folded, around)) >> 16
                if own != last.get(key, 0):
                    (known if own in around else fresh)[block] += 1
                    found.add(hash_of(0, folded(own)) >> (32 - COLOUR_BITS))
                digits[block] += _residual_digits(shape, own, w, n, nw)
                last[key] = own
        return cls(pixels, known, fresh, digits, len(found).bit_length())


def _residual_digits(shape: ColourShape, own: int, w: int, n: int, nw: int) -> int:
    """Return the digits of the residuals of a pixel, each without that of the plane before."""
    digits, before = 0, 0
    for plane in shape.planes:
        left, above = shape.sample(w, plane), shape.sample(n, plane)
        predicted = left + above - shape.sample(nw, plane)
        predicted = min(max(predicted, min(left, above)), max(left, above))
        residual = shape.sample(own, plane) - predicted
        digits += abs(residual - before).bit_length()
        before = residual
    return digits


def repeating_blocks(colours: np.ndarray, shape: ColourShape, form: int) -> Blocks:
    """Return the blocks whose whole pixels need fewer bits than their planes, by counts.

    Parameters
    ----------
    colours : (H, W) uint64 array
    shape : ColourShape
    form : int
        Number of the lossless form, 1 to 3.
    """
    blocks, counts = Blocks(*colours.shape), BlockCounts.of(colours, shape)
    planes = (5 if form == 1 else 4) * (6 * counts.pixels + 2 * counts.digits)
    saved = planes - UNIT * (12 * counts.known + 3 * counts.colour_digits * counts.fresh)
    gain, loss = int(saved[saved >= 0].sum()), -int(saved[saved < 0].sum())
    pixels = int(counts.pixels[saved >= 0].sum())
    least = 614 if form == 1 else 768
    mean = 64 * gain // pixels if pixels else 0
    if mean == 0 or mean * gain < least * (loss + UNIT * pixels):
        return blocks
    fresh = int(counts.fresh[saved >= 0].sum())
    if counts.colour_digits > MANY_COLOURS and 4 * fresh > 3 * pixels:
        return blocks  # noise would save little and take ten times as long
    bias = (2 if form == 1 else 1) * len(shape.planes) * UNIT
    repeats = saved + bias * counts.pixels >= 0
    if -int(saved[~repeats].sum()) < UNIT * LEARNING * len(shape.planes):
        repeats[:] = True
    elif form == 3 and mean < 5 * 64 * UNIT:
        return blocks  # natural blocks would lose a predictor
    blocks.repeats = repeats
    return blocks
