"""Quantisation matrix: coarser steps for high frequencies, as the eye sees errors there less.

Source: section "Quantisation matrix" of ``docs/format/format.md``. Weighting before quantisation,
and errors of weighted coefficients, are *encoder only*.
"""

from functools import cache
from math import isqrt
from typing import NamedTuple

import numpy as np

from mmpcodec.reference.blocks.transform import MOST_COEFFICIENT, coefficient_shape

PLAIN = 64
"""Weight of frequency 0. It is also the number of steps from frequency 0 to the highest one."""
INVERSE_BITS = 16


@cache
def weights(height: int, width: int, strength: int) -> np.ndarray:
    """Return the weights of the coefficients of a block.

    Parameters
    ----------
    height, width : int
        Size of the block in samples.
    strength : int
        The tool *quantisation matrix*, 0 to 15.

    Returns
    -------
    (R, Q) int64 array
        In 1/64, 64 to 731.

    Examples
    --------
    >>> from mmpcodec.reference.blocks.quantisation_matrix import weights
    >>> weights(4, 4, 6).tolist()
    [[64, 112, 160, 208], [112, 130, 169, 214], [160, 169, 199, 235], [208, 214, 235, 265]]
    """
    rows, columns = coefficient_shape(height, width)
    down = [PLAIN * i // height for i in range(rows)]
    across = [PLAIN * j // width for j in range(columns)]
    radius = np.array([[isqrt(u * u + v * v) for v in across] for u in down], np.int64)
    return PLAIN + (strength * radius + 1 >> 1)


def unweighted(coefficients: np.ndarray, height: int, width: int, strength: int) -> np.ndarray:
    """Return the coefficients that weighted ones stand for.

    Parameters
    ----------
    coefficients : (R, Q) int array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    height, width, strength : int
        See ``weights``.

    Returns
    -------
    (R, Q) int64 array
    """
    if not strength:
        return coefficients
    size = np.abs(coefficients) * weights(height, width, strength)
    size = np.minimum((size + PLAIN // 2) // PLAIN, MOST_COEFFICIENT)
    return np.sign(coefficients) * size


class Weighted(NamedTuple):
    """The weighted coefficients of a residual.

    Parameters
    ----------
    coefficients : (R, Q) int array
    rest : int
        Sum of the squares of the coefficients that are not coded, each divided by its weight, as
        far as the energy of the residual tells: in 1/64 squared error of 8-bit samples.
    """

    coefficients: np.ndarray
    rest: int

    def error(self, found: np.ndarray) -> int:
        """Return the squared error of coefficients that are found instead, in the same unit."""
        difference = self.coefficients - found
        return int((difference * difference).sum()) + self.rest


def weighted(
    coefficients: np.ndarray, height: int, width: int, strength: int, energy: int
) -> Weighted:
    """Weight the coefficients of a residual.

    Parameters
    ----------
    coefficients : (R, Q) int array
        In 1/8 of a unit of 8-bit samples, -32767 to 32767.
    height, width, strength : int
        See ``weights``.
    energy : int
        Sum of the squares of the residual, in 1/64 squared error of 8-bit samples.
    """
    own = weights(height, width, strength)
    inverse = ((PLAIN << INVERSE_BITS) + own // 2) // own
    size = (np.abs(coefficients) * inverse + (1 << INVERSE_BITS >> 1)) >> INVERSE_BITS
    rest = 0
    if own.size < height * width:
        left = max(energy - int((coefficients * coefficients).sum()), 0)
        rest = left * PLAIN * PLAIN // int(own[-1, -1]) ** 2
    return Weighted(np.sign(coefficients) * size, rest)
