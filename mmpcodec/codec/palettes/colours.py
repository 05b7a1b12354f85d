"""The colours of a palette: clusters of the colours of the pixels that it draws.

Clusters are split one after the other, the best split first, then colours and clusters are fitted
to each other (S. Lloyd, "Least squares quantization in PCM", 1982). All sums are integers, so every
machine finds the same colours.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colours = NDArray[np.int64]
"""(N, C) array: C samples of each colour."""

SAMPLE_BITS = 16
MOST_CLUSTERED = 2048
"""Most colours that are clustered; more are merged first, by leaving out their lowest bits."""
ROUNDS = 6
"""How often colours and clusters are fitted to each other."""
AT_ONCE = 8192
"""Colours that are compared with a palette at once."""


@dataclass(frozen=True)
class Histogram:
    """The different colours of some pixels.

    Parameters
    ----------
    colours : (N, C) int64 array
    places : (P,) unsigned array
        Number of the colour of each pixel, in the smallest type that holds it.
    """

    colours: Colours
    places: NDArray[np.integer]

    @classmethod
    def of(cls, pixels: np.ndarray) -> "Histogram":
        """Return the different colours of (P, C) pixels, in ascending order."""
        planes = pixels.shape[1]
        if planes == 1:
            occur = np.bincount(pixels[:, 0]) > 0
            levels = np.flatnonzero(occur)
            numbers = (np.cumsum(occur) - 1).astype(np.min_scalar_type(len(levels)))
            return cls(levels[:, None], numbers[pixels[:, 0]])
        keys = pixels[:, 0].astype(np.int64)
        for plane in range(1, planes):
            keys = keys << SAMPLE_BITS | pixels[:, plane]
        found, places = np.unique(keys, return_inverse=True)
        shifts = SAMPLE_BITS * np.arange(planes - 1, -1, -1)
        places = places.reshape(-1).astype(np.min_scalar_type(len(found)))
        return cls(found[:, None] >> shifts & (1 << SAMPLE_BITS) - 1, places)

    def clusters(self, pixels: np.ndarray | None = None) -> "Clusters":
        """Return the clusters of the colours of some pixels, by a (P,) bool array; None for all."""
        places = self.places if pixels is None else self.places[pixels]
        counts = np.bincount(places, minlength=len(self.colours))
        occur = counts > 0
        return Clusters.of(self.colours[occur], counts[occur])


@dataclass
class _Part:
    """The members of a cluster, and its best split into two."""

    members: NDArray[np.integer]
    gain: float
    first: NDArray[np.integer]
    second: NDArray[np.integer]


class Clusters:
    """Clusters of colours, split as often as a palette needs.

    Parameters
    ----------
    colours : (N, C) int64 array
    counts : (N,) int64 array
        Pixels of each colour.
    """

    def __init__(self, colours: Colours, counts: NDArray[np.int64]):
        self.colours, self.counts = colours, counts
        self._parts = [self._part(np.arange(len(colours)))]
        self._split_off: list[NDArray[np.integer]] = []  # members of each part after the first

    @classmethod
    def of(cls, colours: Colours, counts: NDArray[Any]) -> "Clusters":
        """Return the clusters of colours, of which at most ``MOST_CLUSTERED`` stay apart."""
        counts = counts.astype(np.int64)
        merged, of_merged = colours, counts
        bits = 0
        while len(merged) > MOST_CLUSTERED:
            bits += 1
            coarse = Histogram.of(colours >> bits)
            merged, of_merged = _means(colours, counts, coarse.places, len(coarse.colours))
        return cls(merged, of_merged)

    def palette(self, size: int) -> Colours:
        """Return at most ``size`` colours, fewer if there are no more, in ascending order."""
        while len(self._parts) < size:
            number = max(range(len(self._parts)), key=lambda one: self._parts[one].gain)
            best = self._parts[number]
            if best.gain <= 0:
                break
            self._parts[number] = self._part(best.first)
            self._parts.append(self._part(best.second))
            self._split_off.append(best.second)
        count = min(size, len(self._parts))
        labels = np.zeros(len(self.colours), np.int64)
        for number, members in enumerate(self._split_off[: count - 1], 1):
            labels[members] = number
        palette, _ = _means(self.colours, self.counts, labels, count)
        for _ in range(ROUNDS):
            fitted = nearest(self.colours, palette)
            if np.array_equal(fitted, labels):
                break
            labels = fitted
            means, members = _means(self.colours, self.counts, labels, count)
            palette = np.where(members[:, None] > 0, means, palette)
        used = np.bincount(labels, minlength=count) > 0
        return np.unique(palette[used], axis=0)

    def _part(self, members: NDArray[np.integer]) -> _Part:
        """Return a cluster with the split along one plane that lowers the squared error most."""
        colours, counts = self.colours[members], self.counts[members]
        best = _Part(members, 0.0, members, members[:0])
        if len(members) < 2:
            return best
        for plane in range(colours.shape[1]):
            order = np.argsort(colours[:, plane], kind="stable")
            sums = np.cumsum(counts[order, None] * colours[order], axis=0)
            before = np.cumsum(counts[order])
            whole, all_counts = sums[-1], before[-1]
            sums, before = sums[:-1], before[:-1]
            gains = _square(sums) / before + _square(whole - sums) / (all_counts - before)
            place = int(gains.argmax())
            gain = float(gains[place] - _square(whole[None])[0] / all_counts)
            if gain > best.gain:
                best = _Part(
                    members, gain, members[order[: place + 1]], members[order[place + 1 :]]
                )
        return best


def _square(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the squared lengths of vectors, plane by plane, so that every machine rounds alike."""
    total = np.zeros(len(sums))
    for plane in sums.T.astype(np.float64):
        total = total + plane * plane
    return total


def _means(
    colours: Colours, counts: NDArray[np.int64], labels: NDArray[np.integer], clusters: int
) -> tuple[Colours, NDArray[np.int64]]:
    """Return the rounded mean colour of each cluster, and its number of pixels."""
    members = np.zeros(clusters, np.int64)
    sums = np.zeros((clusters, colours.shape[1]), np.int64)
    np.add.at(members, labels, counts)
    np.add.at(sums, labels, counts[:, None] * colours)
    of_one = np.maximum(members, 1)[:, None]
    return (2 * sums + of_one) // (2 * of_one), members


def nearest(colours: Colours, palette: Colours) -> NDArray[np.int64]:
    """Return the number of the nearest colour of a palette; the first among equals.

    Parameters
    ----------
    colours : (N, C) int64 array
    palette : (K, C) int64 array
    """
    found = np.empty(len(colours), np.int64)
    # Products of integers below 2**53 are exact in doubles, in any order of summation.
    factors = -2.0 * palette.T
    squares = (palette * palette).sum(axis=1).astype(np.float64)
    for first in range(0, len(colours), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        found[part] = (colours[part].astype(np.float64) @ factors + squares).argmin(axis=1)
    return found


@dataclass(frozen=True)
class Drawing:
    """Pixels drawn with a palette.

    Parameters
    ----------
    palette : (K, C) int64 array
    histogram : Histogram
        Of the pixels.
    """

    palette: Colours
    histogram: Histogram

    @cached_property
    def _of_colours(self) -> NDArray[np.int64]:
        return nearest(self.histogram.colours, self.palette)

    @property
    def numbers(self) -> NDArray[np.uint16]:
        """Number of the colour of each pixel in the palette."""
        return self._of_colours.astype(np.uint16)[self.histogram.places]

    @property
    def errors(self) -> NDArray[np.int64]:
        """Squared error of each pixel, the sum over its planes."""
        difference = self.histogram.colours - self.palette[self._of_colours]
        return (difference * difference).sum(axis=1)[self.histogram.places]
