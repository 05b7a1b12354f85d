"""Template matching: predicts a block by the mean of the places with the most similar template.

A place is a rectangle of decoded samples of the block's size. A template is the two rows above
and the two columns left of a block or place.
Source: "Templates" in section "Prediction" of ``docs/format/format.md``.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.partition import BlockPlace

WIDTH = 2
"""Number of rows, and of columns, in a template."""
ROWS, COLUMNS = 32, 32
"""Largest distance of a place from the block: rows above, columns to either side."""
SLACK = 8
"""Squared error that is added to twice the least error, for each row and column of the block."""


def _first_place(place: BlockPlace) -> tuple[int, int]:
    """Return the row and column of the first candidate for a place, in raster order."""
    return max(WIDTH, place.row - ROWS), max(WIDTH, place.column - COLUMNS)


def has_place(decoded: np.ndarray, place: BlockPlace) -> bool:
    """Return whether a block has a place, so that mode 37 is available.

    Parameters
    ----------
    decoded : (H,) int array
        Number of decoded samples in each row, which are its first samples. The number never
        exceeds the number in the row above, so a rectangle is decoded if its last sample is.
    place : BlockPlace
        The block.
    """
    if min(place.row, place.column) < WIDTH:
        return False
    row, column = _first_place(place)
    return column + place.width <= decoded[row + place.height - 1]


def average_of_places(
    samples: np.ndarray, decoded: np.ndarray, place: BlockPlace, count: int, depth: int = BYTE
) -> np.ndarray:
    """Predict a block by the mean of the places with the least template errors (mode 37).

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        The padded picture; only decoded samples are read.
    decoded : (H,) int array
        Number of decoded samples in each row, as in ``has_place``.
    place : BlockPlace
        The block, which has a place.
    count : int
        Largest number of places in the mean: the tool *templates*.
    depth : int
        Bits of a sample.

    Returns
    -------
    (h, w) int64 array
        Predicted samples.
    """
    height, width = place.height, place.width
    first_row, first_column = _first_place(place)
    rows = np.arange(first_row, place.row + 1)
    rows = rows[first_column + width <= decoded[rows + height - 1]]
    last = min(place.column + COLUMNS - 1, samples.shape[1] - width)
    columns = np.arange(first_column, last + 1)
    errors = _template_errors(samples >> extra_bits(depth), place, rows, columns)
    is_place = columns + width <= decoded[rows + height - 1, None]
    best = np.argsort(errors[is_place], kind="stable")[:count]
    best_errors = errors[is_place][best]
    best = best[best_errors <= 2 * best_errors[0] + SLACK * (height + width)]
    total = np.zeros((height, width), np.int64)
    for i, j in np.argwhere(is_place)[best]:
        total += samples[rows[i] : rows[i] + height, columns[j] : columns[j] + width]
    return (total + len(best) // 2) // len(best)


def _template_errors(
    samples: np.ndarray, place: BlockPlace, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return the squared errors between the template of a block and the templates of candidates.

    Parameters
    ----------
    samples : (H, W) integer array
        Samples in 8 bits.
    place : BlockPlace
        The block.
    rows, columns : (R,), (C,) int arrays
        First rows and first columns of the candidates; each is a range of successive integers.

    Returns
    -------
    (R, C) int64 array
        Error of the candidate at each row and column.
    """

    def around(row: int, column: int, height: int, width: int) -> np.ndarray:
        """Return the samples of a rectangle together with its template."""
        top, left = row - WIDTH, column - WIDTH
        return samples[top : row + height, left : column + width].astype(np.int64)

    wanted = around(place.row, place.column, place.height, place.width)
    searched = around(
        rows[0], columns[0], len(rows) - 1 + place.height, len(columns) - 1 + place.width
    )
    above = sliding_window_view(searched[: len(rows) + WIDTH - 1], (WIDTH, wanted.shape[1]))
    left = sliding_window_view(searched[WIDTH:, : len(columns) + WIDTH - 1], (place.height, WIDTH))
    error = ((above - wanted[:WIDTH]) ** 2).sum(axis=(2, 3))
    return error + ((left - wanted[WIDTH:, :WIDTH]) ** 2).sum(axis=(2, 3))
