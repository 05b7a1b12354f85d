"""Template matching: predicts a block by the mean of the places with the most similar template.

A place is a rectangle of decoded samples of the block's size. A template holds samples of the two
rows above and the two columns left of a block or place.
Source: "Templates" in section "Prediction" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.partition import BlockPlace

WIDTH = 2
"""Number of rows, and of columns, in a template."""
ROWS, COLUMNS = 32, 32
"""Largest distance of a place from the block: rows above, columns to either side."""
STEPS = 8
"""Largest number of samples that each row and column of a template has beside the corner."""


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
    """Predict a block by the mean of the best places of the best columns (mode 37).

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
    errors[~is_place] = np.iinfo(np.int64).max
    columns = columns[is_place.any(axis=0)]
    best_rows = errors.argmin(axis=0)[: len(columns)]
    best_errors = errors.min(axis=0)[: len(columns)]
    order = np.lexsort((columns, best_rows, best_errors))[:count]
    least = int(best_errors[order[0]])
    order = order[best_errors[order] <= least + least // 2 + 2 * (height + width)]
    total = np.zeros((height, width), np.int64)
    for row, column in zip(rows[best_rows[order]], columns[order], strict=True):
        total += samples[row : row + height, column : column + width]
    return (total + len(order) // 2) // len(order)


def template_of(height: int, width: int) -> list[tuple[int, int]]:
    """Return the rows and columns of the samples of a template, relative to the block."""
    down, across = max(1, height // STEPS), max(1, width // STEPS)
    before = range(-WIDTH, 0)
    above = [(i, j) for i in before for j in (*before, *range(0, width, across))]
    return above + [(i, j) for i in range(0, height, down) for j in before]


def _template_errors(
    samples: np.ndarray, place: BlockPlace, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return the absolute differences of the template of a block and those of candidates, summed.

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
    errors = np.zeros((len(rows), len(columns)), np.int64)
    for i, j in template_of(place.height, place.width):
        top, left = int(rows[0]) + i, int(columns[0]) + j
        there = samples[top : top + len(rows), left : left + len(columns)].astype(np.int64)
        errors += abs(there - int(samples[place.row + i, place.column + j]))
    return errors
