"""Dependent quantisation: two quantisers, and the states that choose between them.

Source: section "Dependent quantisation" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.reference.blocks import transform
from mmpcodec.reference.blocks.levels import next_state, quantiser_of, scan
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.transform import MOST_COEFFICIENT
from mmpcodec.tools import BlockTools


def value_of(size: int, quantiser: int, step: int) -> int:
    """Return the size of the coefficient that a level of this size stands for.

    Quantiser 0 has the even multiples of half a step, quantiser 1 the odd multiples and 0.

    Examples
    --------
    >>> from mmpcodec.reference.blocks.dependent import value_of
    >>> [value_of(size, 0, 16) for size in range(4)], [value_of(size, 1, 16) for size in range(4)]
    ([0, 8, 16, 24], [0, 4, 12, 20])
    """
    halves = 2 * size - quantiser if size else 0
    return min((halves * step + 2) >> 2, MOST_COEFFICIENT)


def dequantised(levels: np.ndarray, place: BlockPlace, tools: BlockTools) -> np.ndarray:
    """Return the coefficients of the levels of a block.

    Parameters
    ----------
    levels : (R, Q) int array
    place : BlockPlace
    tools : BlockTools

    Returns
    -------
    (R, Q) int64 array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    """
    if not tools.dependent:
        return transform.dequantised(levels, tools.step)
    coefficients = np.zeros(levels.shape, np.int64)
    order = scan(place.height, place.width)
    last = max((number for number, at in enumerate(order) if levels[at]), default=-1)
    state = 0
    for at in order[last::-1] if last >= 0 else ():
        level = int(levels[at])
        size = value_of(abs(level), quantiser_of(state), tools.step)
        coefficients[at] = -size if level < 0 else size
        state = next_state(state, level)
    return coefficients
