"""What the filters of decoded planes share: neighbours of samples, sums over bands, numbers.

Beyond the border of a plane, values repeat the nearest ones inside.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, most
from mmpcodec.runtime.arrays import bands

FRACTION_BITS = 7
"""Coefficients are in 1/128."""
LEAST, MOST = -64, 63
"""Range of a coefficient in 1/128; its byte in a file is the coefficient minus ``LEAST``."""
PRICE_BITS = 16
"""Prices are in 2**-16 squared error."""
BAND_SAMPLES = 1 << 28
"""Number of samples whose sums of products, each at most 2**34, fit int64."""

LEAST_GAIN = 256
"""A filter is off if it lowers the squared error of a plane by less than this part of it, since
decoding it takes time."""
BLOCK = 4
"""Rows and columns of the samples that share a class."""
WEIGHTS = (1, 2, 3, 4, 4, 4, 4, 3, 2, 1)
"""How much the variations of a row or column count, from three before a block to three after it."""
VARIATION_BITS = 10
"""Depth to which the variations of deeper samples are shifted."""

Tap = tuple[int, int]
"""Row and column offset of a tap."""
DIRECTIONS: tuple[Tap, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Directions in which samples vary: across, down, along falling and along rising diagonals."""


def moved(samples: np.ndarray, row: int, column: int) -> np.ndarray:
    """Return the sample at an offset from each, an (H, W) int32 array."""
    height, width = samples.shape
    reach = max(abs(row), abs(column))
    padded = np.pad(samples.astype(np.int32), reach, mode="edge")
    return padded[reach + row :, reach + column :][:height, :width]


def second_difference(samples: np.ndarray, row: int, column: int) -> np.ndarray:
    """Return the sum of the two samples at opposite offsets, minus twice the one in the middle.

    Returns
    -------
    (H, W) int32 array
    """
    return moved(samples, row, column) + moved(samples, -row, -column) - 2 * moved(samples, 0, 0)


def variations(
    samples: np.ndarray, depth: int = BYTE, directions: Sequence[Tap] = DIRECTIONS
) -> np.ndarray:
    """Return how much a plane varies around the block of each sample, by direction.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        Unfiltered samples.
    depth : int
        Bits of a sample, 8 to 16.
    directions : sequence of (int, int)
        Row and column offset of each direction.

    Returns
    -------
    (N, H, W) int64 array
        Weighted sums around the block of 4x4 samples that a sample lies in, in units of 8-bit
        samples and 1/16, of the N directions.
    """
    finer = max(depth - VARIATION_BITS, 0)
    own = (np.abs(second_difference(samples, *each)) >> finer for each in directions)
    return np.stack([_around_blocks(each) >> depth - finer - 4 for each in own])


def _around_blocks(values: np.ndarray) -> np.ndarray:
    """Return the weighted sum of the values around the block of each."""
    for axis, length in enumerate(values.shape):
        places = np.arange(0, length, BLOCK)[:, None] + np.arange(len(WEIGHTS)) - 3
        values = np.take(values, np.clip(places, 0, length - 1), axis)
        values = np.moveaxis(values, axis + 1, -1) @ np.array(WEIGHTS)
        values = np.repeat(values, BLOCK, axis).take(range(length), axis)
    return values


def filtered(samples: np.ndarray, weighted: np.ndarray, bits: int, depth: int) -> np.ndarray:
    """Return samples plus weighted differences in 1/2**bits, rounded and limited to the depth."""
    shown = samples + ((weighted + (1 << (bits - 1))) >> bits)
    return np.clip(shown, 0, most(depth)).astype(samples.dtype)


def price_of(taps: int, lambda_fixed: int, depth: int) -> int:
    """Return lambda times the bits of coefficients, in 1/65536 squared error at a depth.

    Parameters
    ----------
    taps : int
        Number of coefficients.
    lambda_fixed : int
        lambda in 1/65536 squared error of 8-bit samples per bit.
    depth : int
    """
    return lambda_fixed * 8 * taps << 2 * extra_bits(depth)


class InBands:
    """Base of filters, whose sums over a plane are sums over bands of rows."""

    band_samples = BAND_SAMPLES

    def _by_bands(
        self, work: Callable[[int, int], Any], shape: tuple[int, int], threads: int | None
    ) -> list[Any]:
        """Return the results of ``work(first, last)`` for bands of rows that cover a plane."""
        return [work(*rows) for rows in bands(shape, self.band_samples)]

    def _total(
        self, sums: Callable[..., np.ndarray], *planes: Any, depth: int, threads: int | None
    ) -> np.ndarray:
        """Return the sum over all bands of ``sums(*planes, first, last, depth)``.

        Returns
        -------
        array of Python's integers
        """
        parts = self._by_bands(
            lambda *rows: sums(*planes, *rows, depth).astype(object), planes[0].shape, threads
        )
        return np.sum(parts, axis=0)
