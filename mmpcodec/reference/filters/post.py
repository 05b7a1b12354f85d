"""Post filter of a decoded plane: applying its coefficients, and fitting them to the source.

Source: section "Post filter" of ``docs/format/format.md``. The fit is *encoder only*; it uses
integers, so that every machine writes equal bytes.
"""

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.quality import LAMBDA_FRACTION_BITS
from mmpcodec.reference.filters.base import (
    FRACTION_BITS,
    LEAST,
    LEAST_GAIN,
    MOST,
    InBands,
    filtered,
    price_of,
    second_difference,
    variations,
)

CLASSES = 4
"""Number of activity classes."""
ACTIVITIES = 49 * np.array([2, 6, 16])
"""Least activity of the classes 1, 2 and 3, in the units of ``variations``."""
TAPS = ((0, 1), (0, 2), (1, -1), (1, 0), (1, 1), (2, 0))
"""Row and column offset of one of the two samples of each tap; the other one is opposite."""
Coefficients = tuple[tuple[int, ...], ...]
"""Coefficients of the four activity classes: for each six integers in 1/128, or () if it is off."""

OFF: Coefficients = ((),) * CLASSES
"""Coefficients that filter no class."""


def activity_classes(samples: np.ndarray, depth: int = BYTE) -> np.ndarray:
    """Return the activity class of each sample: how much the samples around its block vary.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        Unfiltered samples.
    depth : int
        Bits of a sample, 8 to 16.

    Returns
    -------
    (H, W) int array
        0 (smooth) to 3.
    """
    across, down = variations(samples, depth, ((0, 1), (1, 0)))
    return np.searchsorted(ACTIVITIES, across + down, side="right")


def tap_differences(samples: np.ndarray) -> np.ndarray:
    """Return the second difference of each tap, a (6, H, W) int32 array."""
    return np.stack([second_difference(samples, *tap) for tap in TAPS])


def solved(gram: np.ndarray) -> tuple[int, ...]:
    """Return the coefficients of least squared error, rounded half up and clipped to their range.

    Parameters
    ----------
    gram : (7, 7) array of int
        Sums of products of each two of seven terms: the six tap differences, and the error
        (source minus sample).

    Returns
    -------
    tuple of 6 int
        In 1/128.
    """
    size = len(TAPS)
    rows = [[int(value) for value in row] for row in gram[:size]]
    for i, row in enumerate(rows):
        row[i] += 1  # makes the matrix regular
        row[size] <<= FRACTION_BITS
    # Gauss-Jordan elimination after Bareiss: every quotient is exact, every pivot positive.
    last = 1
    for k in range(size):
        pivot = rows[k]
        rows = [
            row
            if row is pivot
            else [(pivot[k] * a - row[k] * b) // last for a, b in zip(row, pivot, strict=True)]
            for row in rows
        ]
        last = pivot[k]
    rounded = ((2 * row[size] + last) // (2 * last) for row in rows)
    return tuple(min(max(value, LEAST), MOST) for value in rounded)


class PostFilter(InBands):
    """Post filter in plain NumPy; backends override the private methods."""

    def apply(
        self,
        samples: np.ndarray,
        coefficients: Coefficients,
        depth: int = BYTE,
        *,
        threads: int | None = 1,
    ) -> np.ndarray:
        """Filter a plane.

        Parameters
        ----------
        samples : (H, W) uint8 or uint16 array
            Below ``2**depth``.
        coefficients : Coefficients
        depth : int
            Bits of a sample, 8 to 16.
        threads : int or None
            Number of threads of backends that have threads; None takes all processors.

        Returns
        -------
        (H, W) array
            Filtered samples, with the dtype of ``samples``. If no class is filtered, this is
            ``samples`` itself.
        """
        if coefficients == OFF:
            return samples
        table = np.zeros((CLASSES, len(TAPS)), np.int16)
        for row, own in zip(table, coefficients, strict=True):
            row[: len(own)] = own
        return self._filtered(samples, table, depth, threads)

    def fit_and_apply(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        lambda_fixed: int,
        depth: int = BYTE,
        *,
        threads: int | None = 1,
    ) -> tuple[Coefficients, np.ndarray]:
        """Fit coefficients to a source plane, and filter with them.

        A class is filtered only if this reduces the squared error by more than lambda times the
        bits of its coefficients. None is if all gain less than ``LEAST_GAIN`` says.

        Parameters
        ----------
        source, samples : (H, W) uint8 or uint16 arrays
            Source samples, and decoded samples before the filter.
        lambda_fixed : int
            lambda in 1/65536 squared error of 8-bit samples per bit; 0 filters no class.
        depth, threads
            As in ``apply``.

        Returns
        -------
        coefficients : Coefficients
        shown : (H, W) array
            What ``apply`` returns for them.
        """
        if lambda_fixed == 0:
            return OFF, samples
        gram = self._total(self._gram, source, samples, depth=depth, threads=threads)
        fitted = tuple(solved(own) for own in gram)
        shown = self.apply(samples, fitted, depth, threads=threads)
        errors = self._total(self._errors, source, samples, shown, depth=depth, threads=threads)
        gains = [int(own[-1, -1] - error) for own, error in zip(gram, errors, strict=True)]
        price = price_of(len(TAPS), lambda_fixed, depth)
        chosen = tuple(
            own if gain << LAMBDA_FRACTION_BITS > price else ()
            for own, gain in zip(fitted, gains, strict=True)
        )
        gained = sum(gain for own, gain in zip(chosen, gains, strict=True) if own)
        if gained * LEAST_GAIN < sum(int(own[-1, -1]) for own in gram):
            return OFF, samples
        if chosen != fitted:
            shown = self.apply(samples, chosen, depth, threads=threads)
        return chosen, shown

    def _filtered(
        self, samples: np.ndarray, table: np.ndarray, depth: int, threads: int | None
    ) -> np.ndarray:
        """Filter with a (4, 6) int16 array of coefficients; they are 0 for classes that are off."""
        weights = table.T[:, activity_classes(samples, depth)]
        weighted = (weights * tap_differences(samples)).sum(axis=0)
        return filtered(samples, weighted, FRACTION_BITS, depth)

    def _gram(
        self, source: np.ndarray, samples: np.ndarray, first: int, last: int, depth: int
    ) -> np.ndarray:
        """Return the Gram matrices for ``solved``, over rows ``first`` to ``last - 1``.

        Returns
        -------
        (4, 7, 7) int64 array
            One matrix for each activity class.
        """
        error = source.astype(np.int32) - samples
        values = np.concatenate([tap_differences(samples), error[None]])[:, first:last]
        classes = activity_classes(samples, depth)[first:last]
        gram = np.empty((CLASSES, len(values), len(values)), np.int64)
        for number, own in enumerate(gram):
            chosen = values[:, classes == number].astype(np.int64)
            own[:] = chosen @ chosen.T
        return gram

    def _errors(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        shown: np.ndarray,
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        """Return the squared errors of filtered samples, over rows ``first`` to ``last - 1``.

        Parameters
        ----------
        source, samples, shown : (H, W) uint8 or uint16 arrays
            Source samples, decoded samples before the filter, and after it.
        first, last : int
        depth : int

        Returns
        -------
        (4,) int64 array
            Sum for each activity class of the unfiltered samples.
        """
        error = (source.astype(np.int64) - shown)[first:last]
        classes = activity_classes(samples, depth)[first:last]
        return np.array([(error[classes == number] ** 2).sum() for number in range(CLASSES)])
