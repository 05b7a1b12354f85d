"""Displaced blocks: decoded blocks off the grid of their size that become elements.

They help with text: equal letters seldom lie at equal positions in the grid of segments.
Source: section "Displaced blocks" of ``docs/format/format.md``.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, Scale
from mmpcodec.tools import TreeTools

MIN_SIDE = 4
"""Least height and width of a displaced block, in samples."""
MAX_AREA = 128
"""Largest number of samples of a displaced block."""


def takes_displaced(scale: Scale) -> bool:
    """Return whether displaced blocks are inserted into the dictionary of a scale."""
    return min(scale.height, scale.width) >= MIN_SIDE and scale.height * scale.width <= MAX_AREA


def displaced_places(
    scale: Scale, row: int, column: int, displaced_blocks: int
) -> Iterator[tuple[int, int]]:
    """Yield the first samples of the displaced blocks whose last sample is in a fragment.

    Parameters
    ----------
    scale : Scale
        Scale of the blocks.
    row, column : int
        First sample of the fragment.
    displaced_blocks : int
        The tool, above 0: the step between blocks is the side divided by 2**displaced_blocks,
        but at least one sample.

    Yields
    ------
    top, left : int
        Row and column of a block's first sample, in raster order.
    """
    step_down = max(1, scale.height >> displaced_blocks)
    step_right = max(1, scale.width >> displaced_blocks)
    above, before = row - scale.height, column - scale.width
    for top in range(above + step_down, above + FRAGMENT_SIZE + 1, step_down):
        for left in range(before + step_right, before + FRAGMENT_SIZE + 1, step_right):
            aligned = top % scale.height == 0 and left % scale.width == 0
            if top >= 0 and left >= 0 and not aligned:
                yield top, left


def learn_displaced(
    dictionaries: dict[Scale, Dictionary],
    samples: np.ndarray,
    row: int,
    column: int,
    tools: TreeTools,
) -> None:
    """Insert the displaced blocks whose last sample is in a fragment into the dictionaries.

    Parameters
    ----------
    dictionaries : dict of Scale to Dictionary
        Changed in place.
    samples : (H', W') uint8 array
        The padded picture, decoded up to and including the fragment.
    row, column : int
        First sample of the fragment.
    tools : TreeTools
    """
    if tools.displaced_blocks == 0:
        return
    for scale, dictionary in dictionaries.items():
        if not takes_displaced(scale):
            continue
        for top, left in displaced_places(scale, row, column, tools.displaced_blocks):
            block = samples[top : top + scale.height, left : left + scale.width]
            if block.shape == (scale.height, scale.width):
                dictionary.insert(block.ravel(), None)
