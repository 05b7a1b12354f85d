"""Cells of 16x16 pixels: sums over them, and how they look."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mmpcodec.codec.classification import strips_of
from mmpcodec.depth import most
from mmpcodec.reference.entropy.cell_rates import CELL
from mmpcodec.samples import form_of

FEW_COLOURS = 48
"""Most colours of a cell that chooses the colours of the first trial."""
EQUAL_SHARE, LEAST_REACH = 2, 8
"""A cell looks drawn if the share 1 / EQUAL_SHARE of its samples equal the sample before in the
row, and the largest difference of two samples is at least white / LEAST_REACH."""
LEAST_CELLS = 64
"""A picture looks drawn if the share 1 / LEAST_CELLS of its cells does."""
LOOKED_AT = 1 << 18
"""About how many pixels, in strips, show whether a picture looks drawn."""
EACH_ROW = 16
"""Rows of which one is looked at first for many colours."""


def looks_drawn(samples: np.ndarray, depth: int) -> bool:
    """Return whether text or flat drawings may fill a part of a tile; photographs rarely look so.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.
    """
    height, width = samples.shape[:2]
    part = colours_of(samples)[strips_of(height, width, LOOKED_AT)].astype(np.int32)
    equal = np.ones(part.shape[:2], bool)
    equal[:, 1:] = (part[:, 1:] == part[:, :-1]).all(axis=2)
    counts, sizes = cell_sums(equal), cell_sums(np.ones(equal.shape, bool))
    reach = _by_cells(np.maximum, part) - _by_cells(np.minimum, part)
    drawn = (EQUAL_SHARE * counts >= sizes) & (LEAST_REACH * reach.max(axis=2) >= most(depth))
    return int(drawn.sum()) * LEAST_CELLS >= drawn.size


def has_few_colours(samples: np.ndarray, most: int) -> bool:
    """Return whether a tile has at most ``most`` different pixels; alpha counts as a colour."""
    planes = samples[..., None] if samples.ndim == 2 else samples
    for part in (planes[::EACH_ROW], planes):  # of a photograph, the first rows show it
        numbers = np.zeros(part.shape[:2], np.int64)
        for plane in np.moveaxis(part, 2, 0):
            own, levels = _numbered(plane)
            if levels > most:
                return False
            numbers, count = _numbered(numbers * levels + own)
            if count > most:
                return False
    return True


def _numbered(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the number of each value among those that occur, and how many occur."""
    used = np.bincount(values.ravel()) > 0
    return (np.cumsum(used) - 1)[values], int(np.count_nonzero(used))


def cell_sums(values: np.ndarray) -> NDArray[np.int64]:
    """Sum an (H, W) array over cells."""
    return _by_cells(np.add, values.astype(np.int64))


def _by_cells(reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
    """Reduce an array to one value for each cell."""
    rows = reduce.reduceat(values, np.arange(0, values.shape[0], CELL), axis=0)
    return reduce.reduceat(rows, np.arange(0, values.shape[1], CELL), axis=1)


def pixels_of(cells: NDArray[np.bool_], shape: Sequence[int]) -> NDArray[np.bool_]:
    """Return the pixels of cells."""
    return cells.repeat(CELL, 0).repeat(CELL, 1)[: shape[0], : shape[1]]


def few_colours(places: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return the cells with few colours, from the number of the colour of each pixel."""
    height, width = places.shape
    whole = np.pad(places, ((0, -height % CELL), (0, -width % CELL)), mode="edge")
    rows, columns = (side // CELL for side in whole.shape)
    cells = np.sort(
        whole.reshape(rows, CELL, columns, CELL).swapaxes(1, 2).reshape(rows, columns, -1), axis=2
    )
    return np.count_nonzero(cells[..., 1:] != cells[..., :-1], axis=2) < FEW_COLOURS


def colours_of(samples: np.ndarray) -> np.ndarray:
    """Return the (H, W, C) colours of samples, without alpha."""
    return samples[..., None] if samples.ndim == 2 else samples[..., : form_of(samples).colours]
