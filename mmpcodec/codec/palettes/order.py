"""The order of the colours of a palette: alike colours and neighbours get near numbers.

Lossless samples predict a number from the numbers around it, so a good order saves a tenth of the
bytes. The order is a tour through the colours, the shortest that is found.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmpcodec.codec.palettes.colours import Colours

BRIGHTNESS = (77, 150, 29)
"""Weights of red, green and blue."""
DISTANCE_BITS = 24
"""Fraction of the squared distances, in bits."""
STRIP = 256
"""Rows whose neighbours are counted at a time."""


class Way(NamedTuple):
    """How much neighbours shorten distances: they are divided by (base + bits)**power.

    ``bits`` is the number of binary digits of how often the two colours lie side by side.
    """

    base: int
    power: int


WAYS = (Way(4, 1), Way(1, 2))
"""The ways that an encoder tries; decision 39 has others."""


def beside(numbers: NDArray[np.integer], drawn: NDArray[np.bool_], colours: int) -> np.ndarray:
    """Count how often two colours lie side by side or one above the other.

    Parameters
    ----------
    numbers : (H, W) int array
        Number of the colour of each pixel.
    drawn : (H, W) bool array
        The pixels that count.
    colours : int

    Returns
    -------
    (K, K) int64 array
        Symmetric.
    """
    counts = np.zeros(colours * colours, np.int64)

    def count(one: tuple[slice, slice], other: tuple[slice, slice]) -> None:
        pairs = numbers[one].astype(np.int64) * colours + numbers[other]
        both = drawn[one] & drawn[other]
        counts[:] += np.bincount(pairs[both], minlength=len(counts))

    height, columns = len(numbers), slice(None)
    for top in range(0, height, STRIP):  # whole planes of pairs would take much memory
        rows, end = slice(top, top + STRIP), min(top + STRIP, height - 1)
        count((slice(top, end), columns), (slice(top + 1, end + 1), columns))
        count((rows, slice(None, -1)), (rows, slice(1, None)))
    pairs = counts.reshape(colours, colours)
    return pairs + pairs.T


def order_of(palette: Colours, counts: np.ndarray, way: Way) -> NDArray[np.int64]:
    """Return the colours of a palette in the order of a short tour, the darkest first.

    Parameters
    ----------
    palette : (K, C) int64 array
    counts : (K, K) int64 array
        See ``beside``.
    way : Way
    """
    difference = palette[:, None] - palette[None]
    squared = (difference * difference).sum(axis=2) << DISTANCE_BITS
    # Square roots of doubles are rounded alike everywhere.
    length = np.floor(np.sqrt(squared.astype(np.float64))).astype(np.int64)
    digits = np.frexp(counts.astype(np.float64))[1].astype(np.int64)
    distances = length // (way.base + digits) ** way.power
    weights = BRIGHTNESS if palette.shape[1] == len(BRIGHTNESS) else (1,)
    return _tour(distances, int((palette @ np.array(weights)).argmin()))


def _tour(distances: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """Return a short tour: the nearest place left each time, then parts turned round."""
    count = len(distances)
    tour = np.empty(count, np.int64)
    left = np.ones(count, bool)
    here = start
    far = np.iinfo(np.int64).max
    for place in range(count):
        tour[place] = here
        left[here] = False
        here = int(np.where(left, distances[here], far).argmin())
    turned = True
    while turned:
        turned = False
        for first in range(1, count - 1):
            ends = np.arange(first + 1, count)
            before, begin = tour[first - 1], tour[first]
            change = distances[before, tour[ends]] - distances[before, begin]
            # The last part of a tour has no place after it.
            after = tour[ends[:-1] + 1]
            change[:-1] += distances[begin, after] - distances[tour[ends[:-1]], after]
            best = int(change.argmin())
            if change[best] < 0:
                tour[first : ends[best] + 1] = tour[first : ends[best] + 1][::-1]
                turned = True
    return tour
