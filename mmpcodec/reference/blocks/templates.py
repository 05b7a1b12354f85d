"""Prediction of a block by the places whose surroundings look most like its own.

Source: section "Prediction" of ``docs/format/format.md``.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.partition import BlockPlace

WIDTH = 2
"""Rows above and columns left of a block that are its template."""
ROWS, COLUMNS = 48, 64
"""How far above, and how far to either side, a place may begin."""
SLACK = 8
"""Squared error by which a template may be worse, for each sample of a block's height and width."""


def _first_place(place: BlockPlace) -> tuple[int, int]:
    """Row and column of the first place that a block may be predicted from."""
    return max(WIDTH, place.row - ROWS), max(WIDTH, place.column - COLUMNS)


def has_place(decoded: np.ndarray, place: BlockPlace) -> bool:
    """Whether there is a place to predict a block from.

    Parameters
    ----------
    decoded : (H,) int array
        How many samples of each row are decoded: its first ones, and never more than in the row
        above, so that a place is decoded if its last sample is.
    place : BlockPlace
    """
    if min(place.row, place.column) < WIDTH:
        return False
    row, column = _first_place(place)
    return column + place.width <= decoded[row + place.height - 1]


def average_of_places(
    samples: np.ndarray, decoded: np.ndarray, place: BlockPlace, count: int, depth: int = BYTE
) -> np.ndarray:
    """Prediction of a block that has a place.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        The padded picture; what is not decoded is not used.
    decoded : (H,) int array
        As of ``has_place``.
    place : BlockPlace
    count : int
        Most places that are averaged.
    depth : int

    Returns
    -------
    (h, w) int64 array
    """
    height, width = place.height, place.width
    first_row, first_column = _first_place(place)
    rows = np.arange(first_row, len(samples) - height + 1)
    rows = rows[first_column + width <= decoded[rows + height - 1]]
    last = min(place.column + COLUMNS - 1, samples.shape[1] - width)
    columns = np.arange(first_column, last + 1)
    errors = _template_errors(samples >> extra_bits(depth), place, rows, columns)
    there = columns + width <= decoded[rows + height - 1, None]
    best = np.argsort(errors[there], kind="stable")[:count]
    best_errors = errors[there][best]
    best = best[best_errors <= 2 * best_errors[0] + SLACK * (height + width)]
    total = np.zeros((height, width), np.int64)
    for i, j in np.argwhere(there)[best]:
        total += samples[rows[i] : rows[i] + height, columns[j] : columns[j] + width]
    return (total + len(best) // 2) // len(best)


def _template_errors(
    samples: np.ndarray, place: BlockPlace, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Squared errors between a block's template and those of places.

    Parameters
    ----------
    samples : (H, W) integer array
        0 to 255.
    place : BlockPlace
    rows, columns : (R,), (C,) int arrays
        Where the places begin, each one after the one before.

    Returns
    -------
    (R, C) int64 array
    """

    def around(row: int, column: int, height: int, width: int) -> np.ndarray:
        """The block or the places that begin there, with the template."""
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
