"""The tables of ``DecodeTables`` in ``kernels/cuda/blocks/decode/plane.cuh``, from the reference.

No CuPy here: the layout can be checked where there is no device.
"""

from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from mmpcodec.reference.blocks.levels import scan
from mmpcodec.reference.blocks.partition import MAX_LOG2, UNIT_LOG2
from mmpcodec.reference.blocks.trained_transforms import GROUPS, LOW_SIDE, matrices
from mmpcodec.reference.blocks.transform import MOST_FREQUENCIES, basis
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import kept

SIDES = [1 << log2 for log2 in range(UNIT_LOG2, MAX_LOG2 + 1)]
SHAPES = [(height, width) for height in SIDES for width in SIDES]
MAX_SIDE = SIDES[-1]
MOST_LOW = LOW_SIDE**2
PLAIN = 64
POSITION_BYTES = 16
SCAN_FAMILIES = 3
"""Number of families of modes whose frequencies have directions of their own."""
TABLES_DTYPE = np.dtype(
    [
        ("turned", "i2", (2, len(SIDES), MAX_SIDE, MAX_SIDE)),
        ("positions", f"V{POSITION_BYTES}", (SCAN_FAMILIES, len(SHAPES), MOST_FREQUENCIES**2)),
        ("scan", "u2", (len(SHAPES), MOST_FREQUENCIES**2)),
        ("trained", "i1", (GROUPS, 2, 2, MOST_LOW, MOST_LOW)),
        ("low_rows", "u2", (2, len(SHAPES), MOST_LOW)),
        ("low_scanned", "u2", (2, len(SHAPES), MOST_LOW)),
        ("radii", "u1", (PLAIN, PLAIN)),
    ]
)


def _low_places(height: int, width: int, turned: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the low frequencies of a block: row by row, and in scan order."""
    columns = min(width, MOST_FREQUENCIES)
    own_height, own_width = (width, height) if turned else (height, width)
    rows, across = np.indices((min(own_height, LOW_SIDE), min(own_width, LOW_SIDE))).reshape(2, -1)
    order = np.argsort(rows * own_width + across * own_height, kind="stable")
    places = across * columns + rows if turned else rows * columns + across
    return places, places[order]


@cache
def make_tables() -> np.ndarray:
    """Return the constant tables of the decoding kernels.

    ``positions`` are zeros; the device makes them from ``scan``.

    Returns
    -------
    () array of TABLES_DTYPE
    """
    tables = np.zeros((), TABLES_DTYPE)
    for sine in (False, True):
        for number, side in enumerate(SIDES):
            tables["turned"][int(sine), number, :side, :side] = basis(side, sine).T
    for (group, high, wide), matrix in matrices().items():
        entries = tables["trained"][group, int(high > 4), int(wide > 4)]
        entries[: len(matrix), : len(matrix)] = matrix
    for number, (height, width) in enumerate(SHAPES):
        row, column = np.array(scan(height, width)).T
        tables["scan"][number, : len(row)] = row * min(width, MOST_FREQUENCIES) + column
        for turned in (False, True):
            rows, scanned = _low_places(height, width, turned)
            tables["low_rows"][int(turned), number, : len(rows)] = rows
            tables["low_scanned"][int(turned), number, : len(rows)] = scanned
    tables["radii"] = [[isqrt(u * u + v * v) for v in range(PLAIN)] for u in range(PLAIN)]
    return tables


def _on_device(array: np.ndarray) -> Any:
    import cupy

    return cupy.asarray(array.reshape(-1).view(np.uint8))


@kept
def tables_on(device: int) -> Any:
    """Return the constant tables, on a device."""
    tables = _on_device(make_tables().reshape(1))
    fill = kernels.function("blocks/decode/read", "fill_positions", device, shared_bytes=0)
    fill((len(SHAPES), SCAN_FAMILIES), (tables,))
    return tables


@kept
def states_on(device: int) -> Any:
    """Return the trained initial states of usual and of small planes, on a device."""
    names = "initial_states", "small_initial_states"
    return _on_device(np.concatenate([kernels.table(name) for name in names]))


@kept
def filters_on(device: int) -> Any:
    """Return the trained fixed filters, on a device."""
    return _on_device(kernels.table("fixed_filters"))
