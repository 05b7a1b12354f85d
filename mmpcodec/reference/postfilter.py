"""The post filter of a decoded picture, and how an encoder fits it.

Source: section "Post filter" of ``docs/format/format.md``. Applying it belongs to the format. The
fit is the encoder's, but in integers all the same, so that every machine writes the same bytes.
"""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mmpcodec.depth import BYTE, extra_bits, most, sample_type
from mmpcodec.params import LAMBDA_FRACTION_BITS

CLASSES = 4
FRACTION_BITS = 7
LEAST, MOST = -64, 63
"""Range of a coefficient, in 2**-7; a byte of a file holds it less ``LEAST``."""
ACTIVITIES = 25 * np.array([2, 6, 16])
"""Activities around a sample, in units of 8-bit samples, from which the next class begins."""
TAPS = ((0, 1), (0, 2), (1, -1), (1, 0), (1, 1), (2, 0))
"""Row and column, counted from the sample, of one of the two samples of a tap."""
REACH = 2
BAND_SAMPLES = 1 << 28
"""Samples whose sums certainly fit int64, as products are at most 2**34."""

Coefficients = tuple[tuple[int, ...], ...]
"""Those of each activity class in 2**-7, one a tap; none where it is not filtered."""

OFF: Coefficients = ((),) * CLASSES


def coefficient_bits(coefficients: Coefficients) -> int:
    """Bits that the coefficients take in a file."""
    return 8 * sum(map(len, coefficients))


def activity_classes(samples: np.ndarray, depth: int = BYTE) -> np.ndarray:
    """Activity class of each sample, 0 to 3, by the activity in the 5x5 samples around it.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
    depth : int

    Returns
    -------
    (H, W) int array
    """
    x = np.pad(samples.astype(np.int32), 1, mode="edge")
    twice = 2 * x[1:-1, 1:-1]
    activity = np.abs(twice - x[1:-1, :-2] - x[1:-1, 2:])
    activity += np.abs(twice - x[:-2, 1:-1] - x[2:, 1:-1])
    around = sliding_window_view(np.pad(activity, 2, mode="edge"), (5, 5)).sum(axis=(2, 3))
    return np.searchsorted(ACTIVITIES, around >> extra_bits(depth), side="right")


def tap_differences(samples: np.ndarray) -> np.ndarray:
    """What each tap is weighted with: the sum of its two samples less twice the sample itself.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array

    Returns
    -------
    (6, H, W) int32 array
    """
    height, width = samples.shape
    padded = np.pad(samples.astype(np.int32), REACH, mode="edge")

    def moved(row: int, column: int) -> np.ndarray:
        top, left = REACH + row, REACH + column
        return padded[top : top + height, left : left + width]

    return np.stack([moved(*tap) + moved(-tap[0], -tap[1]) - 2 * moved(0, 0) for tap in TAPS])


def solved(gram: np.ndarray) -> tuple[int, ...]:
    """Coefficients that leave the least squared error, rounded half up and clipped.

    Parameters
    ----------
    gram : (7, 7) array of int
        Sums of the products of each two of the six tap differences and the error.
    """
    size = len(TAPS)
    rows = [[int(value) for value in row] for row in gram[:size]]
    for i, row in enumerate(rows):
        row[i] += 1  # so that there is exactly one solution
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


class PostFilter:
    """The filter in plain NumPy."""

    def apply(
        self, samples: np.ndarray, coefficients: Coefficients, depth: int = BYTE
    ) -> np.ndarray:
        """The filtered samples.

        Parameters
        ----------
        samples : (H, W) uint8 or uint16 array
            Below 2**depth.
        coefficients : Coefficients
        depth : int

        Returns
        -------
        (H, W) array of the same type
            The same one where no class is filtered.
        """
        if coefficients == OFF:
            return samples
        table = np.zeros((CLASSES, len(TAPS)), np.int16)
        for row, own in zip(table, coefficients, strict=True):
            row[: len(own)] = own
        return self._filtered(samples, table, depth)

    def fit(
        self, source: np.ndarray, samples: np.ndarray, lambda_fixed: int, depth: int = BYTE
    ) -> Coefficients:
        """The coefficients of the activity classes in which less error is worth their rate.

        Parameters
        ----------
        source, samples : (H, W) uint8 or uint16 arrays
            The picture, and what it decodes to before it is filtered.
        lambda_fixed : int
            Squared error of 8-bit samples per bit, in 2**-16; 0 filters nothing.
        depth : int
        """
        if lambda_fixed == 0:
            return OFF
        gram = self._over_bands(self._gram, source, samples, depth=depth)
        fitted = tuple(solved(own) for own in gram)
        shown = self.apply(samples, fitted, depth)
        errors = self._over_bands(self._errors, source, samples, shown, depth=depth)
        gains = [int(own[-1, -1] - error) for own, error in zip(gram, errors, strict=True)]
        price = lambda_fixed * 8 * len(TAPS) << 2 * extra_bits(depth)
        return tuple(
            own if gain << LAMBDA_FRACTION_BITS > price else ()
            for own, gain in zip(fitted, gains, strict=True)
        )

    @staticmethod
    def _over_bands(
        sums: Callable[..., np.ndarray], *pictures: np.ndarray, depth: int
    ) -> np.ndarray:
        """What ``_gram`` or ``_errors`` gives over all rows, in Python's integers."""
        height, width = pictures[0].shape
        rows = max(BAND_SAMPLES // width, 1)
        bands = [(row, min(row + rows, height)) for row in range(0, height, rows)]
        return np.sum([sums(*pictures, *band, depth).astype(object) for band in bands], axis=0)

    def _filtered(self, samples: np.ndarray, table: np.ndarray, depth: int) -> np.ndarray:
        """The samples filtered with a (4, 6) int16 array, all 0 where a class stays as it is."""
        weights = table.T[:, activity_classes(samples, depth)]
        total = (samples.astype(np.int32) << FRACTION_BITS) + (
            weights * tap_differences(samples)
        ).sum(axis=0)
        half = 1 << (FRACTION_BITS - 1)
        filtered = np.clip((total + half) >> FRACTION_BITS, 0, most(depth))
        return filtered.astype(sample_type(depth))

    def _gram(
        self, source: np.ndarray, samples: np.ndarray, first: int, last: int, depth: int
    ) -> np.ndarray:
        """What ``solved`` takes, by class, of rows ``first`` to ``last - 1``: (4, 7, 7) int64."""
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
        """Squared errors of the samples shown, by class of the unfiltered ones: (4,) int64."""
        error = (source.astype(np.int64) - shown)[first:last]
        classes = activity_classes(samples, depth)[first:last]
        return np.array([(error[classes == number] ** 2).sum() for number in range(CLASSES)])
