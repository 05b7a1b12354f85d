"""Periods of the columns and rows at which an enlarged scan has edges.

Source: section "Two values" of ``docs/format/format.md``.
"""

from typing import NamedTuple

import numpy as np

MOST = 4
"""Largest period."""
PERIOD_BITS = 2
"""Binary digits of a coded period."""
SPARSE = 8
"""A class is sparse if it has this part of the mean number of edges at most."""


FEWEST_EDGES = 64
"""Fewest edges with which a period is known."""


class Periods(NamedTuple):
    """Periods of columns and of rows, each from 1 to ``MOST``."""

    columns: int = 1
    rows: int = 1


def periods_of(pixels: np.ndarray) -> Periods:
    """Return the periods of pixels, an (H, W) array of two values. *Encoder only*."""
    columns = (pixels[:, 1:] != pixels[:, :-1]).sum(0)
    rows = (pixels[1:] != pixels[:-1]).sum(1)
    return Periods(period_of(columns), period_of(rows))


def period_of(edges: np.ndarray) -> int:
    """Return the period with the largest share of sparse classes, the least one of equals.

    Parameters
    ----------
    edges : array of int
        Edges at columns or rows 1, 2 and so on; there is none at 0.

    Examples
    --------
    >>> from mmpcodec.reference.lossless.two_values.periods import period_of
    >>> period_of([0, 90, 0, 70, 0, 80]), period_of([50, 60, 0, 50, 70, 0]), period_of(8 * [50])
    (2, 3, 1)
    """
    all_edges = int(np.sum(edges))
    found, most = 1, 0
    for period in range(2, MOST + 1) if all_edges >= FEWEST_EDGES else ():
        classes = [int(np.sum(edges[(first - 1) % period :: period])) for first in range(period)]
        sparse = sum(SPARSE * period * own <= all_edges for own in classes)
        if sparse * found > most * period:
            found, most = period, sparse
    return found
