"""Displaced blocks: decoded blocks that do not lie on the grid of their size, as elements.

What a page repeats seldom repeats on the grid of the segments.
Source: section "Displaced blocks" of ``docs/format/format.md``.
"""

from collections.abc import Iterator

import numpy as np

from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, Scale
from mmpcodec.tools import Tools

MIN_SIDE = 4
MAX_AREA = 128


def takes_displaced(scale: Scale) -> bool:
    """Whether a dictionary of this scale takes displaced blocks."""
    return min(scale.height, scale.width) >= MIN_SIDE and scale.height * scale.width <= MAX_AREA


def displaced_places(
    scale: Scale, row: int, column: int, displaced_blocks: int
) -> Iterator[tuple[int, int]]:
    """Row and column of the displaced blocks that end in the fragment at these samples, in order.

    Parameters
    ----------
    scale : Scale
        Of the blocks.
    row, column : int
        First sample of the fragment.
    displaced_blocks : int
        The tool, above 0.
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
    dictionaries: dict[Scale, Dictionary], samples: np.ndarray, row: int, column: int, tools: Tools
) -> None:
    """Teach the dictionaries the displaced blocks that end in a fragment.

    Parameters
    ----------
    dictionaries : dict of Scale to Dictionary
        Changed in place.
    samples : (H', W') uint8 array
        The padded picture, decoded up to and with the fragment.
    row, column : int
        First sample of the fragment.
    tools : Tools
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
