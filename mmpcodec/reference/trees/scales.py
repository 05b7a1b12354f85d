"""Block sizes (scales) and the integer scale transform between them.

A fragment is ``FRAGMENT_SIZE`` samples wide and high. Segments of scale (n, m) are
``FRAGMENT_SIZE >> n`` high and ``FRAGMENT_SIZE >> m`` wide; the scale number is m + LEVELS * n.
Source: section "Scales" and "Scale transform" of ``docs/format/format.md``.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from mmpcodec.tools import Partition

FRAGMENT_SIZE = 16
LEVELS = FRAGMENT_SIZE.bit_length()

MID_LEVEL = 128
"""The middle of the range of 8-bit samples."""

LEAF, COLUMNS, ROWS = 0, 1, 2
"""Values of a node's flag: not split, split into left and right, split into top and bottom."""

OUTSIDE = -1
"""Leaf scale number where no tree is: beyond the picture, and in blocks that are predicted."""


@dataclass(frozen=True)
class Scale:
    """A block size: ``n`` halvings of the height and ``m`` of the width."""

    n: int
    m: int

    @property
    def number(self) -> int:
        return self.m + LEVELS * self.n

    @property
    def height(self) -> int:
        return FRAGMENT_SIZE >> self.n

    @property
    def width(self) -> int:
        return FRAGMENT_SIZE >> self.m

    def child(self, flag: int) -> "Scale":
        """Scale of the two children of a split segment."""
        return Scale(self.n + (flag == ROWS), self.m + (flag == COLUMNS))


SCALES = tuple(Scale(n, m) for n in range(LEVELS) for m in range(LEVELS))
ROOT_SCALE = SCALES[0]
PIXEL_SCALE = SCALES[-1]


@cache
def allowed_flags(scale: Scale, partition: Partition) -> tuple[int, ...]:
    """The flags that a segment of this scale may have, in coding order.

    The flexible partition splits either way while there is something to split; the dyadic one
    alternates, columns first. A single allowed flag is not coded.
    """
    flags = [LEAF]
    dyadic = partition == Partition.DYADIC
    if scale.m < LEVELS - 1 and (not dyadic or scale.n == scale.m):
        flags.append(COLUMNS)
    if scale.n < LEVELS - 1 and (not dyadic or scale.n < scale.m):
        flags.append(ROWS)
    return tuple(flags)


@cache
def reachable_scales(partition: Partition) -> tuple[Scale, ...]:
    """The scales that segments of this partition can have, by number."""
    reached = {ROOT_SCALE}
    for scale in SCALES:
        if scale in reached:
            reached |= {scale.child(f) for f in allowed_flags(scale, partition) if f != LEAF}
    return tuple(scale for scale in SCALES if scale in reached)


def scale_distance(a: Scale, b: Scale) -> int:
    """Halvings or doublings between two scales, over both axes."""
    return abs(a.n - b.n) + abs(a.m - b.m)


def resize_rows(block: np.ndarray, width: int) -> np.ndarray:
    """Each row of a block brought to another width.

    Shrinking takes the rounded mean of the samples that fall together; growing interpolates
    between neighbours, rounding half up.

    Parameters
    ----------
    block : (h, w) integer array
    width : int
        A power of two, as w is.

    Returns
    -------
    (h, width) int32 array
    """
    block = block.astype(np.int32)
    height, old = block.shape
    if width <= old:
        ratio = old // width
        return (block.reshape(height, width, ratio).sum(axis=2) + ratio // 2) // ratio
    position = np.arange(width) * (old - 1)
    left = position // width
    right = np.minimum(left + 1, old - 1)
    weight = position - left * width
    step = block[:, right] - block[:, left]
    return block[:, left] + (weight * step + width // 2) // width


def rescale(block: np.ndarray, scale: Scale) -> np.ndarray:
    """A block brought to another scale: first along its rows, then along its columns.

    Parameters
    ----------
    block : (h, w) uint8 array
    scale : Scale

    Returns
    -------
    (scale.height, scale.width) uint8 array
    """
    wide = resize_rows(block, scale.width)
    return resize_rows(wide.T, scale.height).T.astype(np.uint8)
