"""Scales (sizes of segments), the flags that they allow, and the scale transform.

A segment of scale (n, m) is ``16 >> n`` samples high and ``16 >> m`` samples wide. Its scale
number is m + 5 n.
Source: sections "Scales and partition" and "Scale transform" of ``docs/format/format.md``.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from mmpcodec.tools import Partition

FRAGMENT_SIZE = 16
"""Height and width of a fragment, in samples."""
LEVELS = FRAGMENT_SIZE.bit_length()
"""Number of heights, and of widths, that segments can have: 5."""

MID_LEVEL = 128
"""The middle of the range of 8-bit samples."""

LEAF, COLUMNS, ROWS = 0, 1, 2
"""Values of a node's flag: not split, split into left and right, split into top and bottom."""

OUTSIDE = -1
"""Scale number of samples that no leaf covers: beyond the picture, and in predicted blocks."""


@dataclass(frozen=True)
class Scale:
    """Size of a segment.

    Parameters
    ----------
    n, m : int
        Number of times that the height and the width of a fragment are halved, 0 to 4.
    """

    n: int
    m: int

    @property
    def number(self) -> int:
        """Scale number, 0 to 24."""
        return self.m + LEVELS * self.n

    @property
    def height(self) -> int:
        """Height of a segment in samples, 1 to 16."""
        return FRAGMENT_SIZE >> self.n

    @property
    def width(self) -> int:
        """Width of a segment in samples, 1 to 16."""
        return FRAGMENT_SIZE >> self.m

    def child(self, flag: int) -> "Scale":
        """Scale of the two halves of a segment that is split by ``COLUMNS`` or ``ROWS``."""
        return Scale(self.n + (flag == ROWS), self.m + (flag == COLUMNS))


SCALES = tuple(Scale(n, m) for n in range(LEVELS) for m in range(LEVELS))
ROOT_SCALE = SCALES[0]
PIXEL_SCALE = SCALES[-1]


@cache
def allowed_flags(scale: Scale, partition: Partition) -> tuple[int, ...]:
    """Return the flags that a segment of a scale may have, in ascending order.

    The flexible partition allows both splits of every side above 1 sample. The dyadic partition
    alternates between columns and rows, and begins with columns.
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
    """Return the scales that occur in a partition, by ascending scale number."""
    reached = {ROOT_SCALE}
    for scale in SCALES:
        if scale in reached:
            reached |= {scale.child(f) for f in allowed_flags(scale, partition) if f != LEAF}
    return tuple(scale for scale in SCALES if scale in reached)


def scale_distance(a: Scale, b: Scale) -> int:
    """Return the number of halvings or doublings between two scales, summed over both axes."""
    return abs(a.n - b.n) + abs(a.m - b.m)


def resize_rows(block: np.ndarray, width: int) -> np.ndarray:
    """Scale the rows of a block to another width.

    A smaller width takes the rounded mean of the samples that one new sample covers. A larger width
    interpolates linearly between neighbours. Both round half up.

    Parameters
    ----------
    block : (h, w) integer array
        w is a power of two.
    width : int
        New width, a power of two.

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
    """Scale a block to the size of a scale: first its rows, then its columns.

    Parameters
    ----------
    block : (h, w) uint8 array
        h and w are powers of two.
    scale : Scale

    Returns
    -------
    (scale.height, scale.width) uint8 array
    """
    wide = resize_rows(block, scale.width)
    return resize_rows(wide.T, scale.height).T.astype(np.uint8)
