"""Filter of a decoded plane by the planes before it: applying its coefficients, and fitting them.

Source: section "Cross-component filter" of ``docs/format/format.md``. The fit is *encoder only*; it
uses integers, so that every machine writes equal bytes.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.quality import LAMBDA_FRACTION_BITS
from mmpcodec.reference.blocks.planes import MOST_VALUE, solved
from mmpcodec.reference.filters.base import (
    FRACTION_BITS,
    LEAST,
    LEAST_GAIN,
    MOST,
    InBands,
    filtered,
    moved,
    price_of,
)

REACH = 2
"""Largest sum of the row and the column offset of a tap, without sign."""
TAPS = tuple(
    (row, column)
    for row in range(-REACH, REACH + 1)
    for column in range(-REACH, REACH + 1)
    if 0 < abs(row) + abs(column) <= REACH
)
"""Row and column offset of each tap, in the order of the file."""
MOST_PLANES = 2
"""Number of earlier planes that the filter can read."""

CrossComponentCoefficients = tuple[tuple[int, ...], ...]
"""For each earlier plane twelve integers in 1/128, or () if the filter does not read it."""

NO_CROSS_COMPONENT: CrossComponentCoefficients = ((),) * MOST_PLANES
"""Coefficients that read no plane."""


def tap_differences(plane: np.ndarray) -> np.ndarray:
    """Return the sample of each tap minus the sample in the middle, a (12, H, W) int32 array."""
    return np.stack([moved(plane, *tap) - plane for tap in TAPS])


class CrossComponentFilter(InBands):
    """The filter in plain NumPy; backends override the private methods."""

    def apply(
        self,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        coefficients: CrossComponentCoefficients,
        depth: int = BYTE,
        *,
        threads: int | None = 1,
    ) -> np.ndarray:
        """Filter a plane.

        Parameters
        ----------
        samples : (H, W) uint8 or uint16 array
            Below ``2**depth``.
        planes : sequence of (H, W) arrays
            The earlier planes, of the dtype of ``samples``: at least those that have coefficients.
        coefficients : CrossComponentCoefficients
        depth : int
            Bits of a sample, 8 to 16.
        threads : int or None
            Number of threads of backends that have threads; None takes all processors.

        Returns
        -------
        (H, W) array
            Filtered samples, with the dtype of ``samples``. If no plane has coefficients, this is
            ``samples`` itself.
        """
        read = [number for number, own in enumerate(coefficients) if own]
        if not read:
            return samples
        table = np.array([coefficients[number] for number in read], np.int16)
        return self._filtered(samples, [planes[number] for number in read], table, depth, threads)

    def fit_and_apply(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        lambda_fixed: int,
        depth: int = BYTE,
        *,
        threads: int | None = 1,
    ) -> tuple[CrossComponentCoefficients, np.ndarray]:
        """Fit coefficients to a source plane, and filter with them.

        The filter reads those planes that lower the squared error the most, less lambda times the
        bits of their coefficients. It reads none that gain less than ``LEAST_GAIN`` says.

        Parameters
        ----------
        source, samples : (H, W) uint8 or uint16 arrays
            Source samples, and decoded samples before the filter.
        planes : sequence of at most two (H, W) arrays
            The earlier planes.
        lambda_fixed : int
            lambda in 1/65536 squared error of 8-bit samples per bit; 0 reads no plane.
        depth, threads
            As in ``apply``.

        Returns
        -------
        coefficients : CrossComponentCoefficients
        shown : (H, W) array
            What ``apply`` returns for them.
        """
        if lambda_fixed == 0 or not planes:
            return NO_CROSS_COMPONENT, samples
        gram = self._total(self._gram, source, samples, planes, depth=depth, threads=threads)
        price = price_of(len(TAPS), lambda_fixed, depth)
        # Gains are in 1/65536 squared error in 1/2**14.
        least = (int(gram[-1, -1]) << LAMBDA_FRACTION_BITS + 2 * FRACTION_BITS) // LEAST_GAIN
        best, chosen = least, NO_CROSS_COMPONENT
        for read in ((0,), (1,), (0, 1)) if len(planes) > 1 else ((0,),):
            terms = [number * len(TAPS) + tap for number in read for tap in range(len(TAPS))]
            fitted, gain = _fitted(gram[np.ix_([*terms, -1], [*terms, -1])])
            gain = (gain << LAMBDA_FRACTION_BITS) - (price * len(read) << 2 * FRACTION_BITS)
            if gain > best:
                best, left = gain, iter(fitted)
                chosen = tuple(
                    tuple(islice(left, len(TAPS))) if number in read else ()
                    for number in range(MOST_PLANES)
                )
        return chosen, self.apply(samples, planes, chosen, depth, threads=threads)

    def _filtered(
        self,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        table: np.ndarray,
        depth: int,
        threads: int | None,
    ) -> np.ndarray:
        """Filter by these planes, with a (planes, 12) int16 array of coefficients."""
        differences = np.concatenate([*map(tap_differences, planes)])
        weighted = np.tensordot(table.ravel().astype(np.int32), differences, axes=1)
        return filtered(samples, weighted, FRACTION_BITS, depth)

    def _gram(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        planes: Sequence[np.ndarray],
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        """Return the sums of products of each two terms, over rows ``first`` to ``last - 1``.

        Returns
        -------
        (n, n) int64 array
            The terms are the twelve tap differences of each plane, and the error (source minus
            sample).
        """
        error = source.astype(np.int32) - samples
        values = np.concatenate([*map(tap_differences, planes), error[None]])[:, first:last]
        chosen = values.reshape(len(values), -1).astype(np.int64)
        return chosen @ chosen.T


def _fitted(gram: np.ndarray) -> tuple[list[int], int]:
    """Return the coefficients of least squared error, and how much they lower it, in 1/2**14.

    Parameters
    ----------
    gram : (n + 1, n + 1) array of int
        Sums of products of each two of the n tap differences and the error.
    """
    largest = 2 * max(int(gram.diagonal().max()), 1)
    up = max(MOST_VALUE // largest, 1)
    down = largest // MOST_VALUE + 1 if largest > MOST_VALUE else 1
    equations = [[int(value) * up // down for value in row] for row in gram[:-1]]
    rounded = [(weight + 16) >> 5 for weight in solved(equations)]
    fitted = [min(max(weight, LEAST), MOST) for weight in rounded]
    squares = sum(
        weight * sum(other * int(value) for other, value in zip(fitted, row, strict=False))
        for weight, row in zip(fitted, gram[:-1], strict=True)
    )
    product = sum(weight * int(row[-1]) for weight, row in zip(fitted, gram[:-1], strict=True))
    return fitted, (product << FRACTION_BITS + 1) - squares
