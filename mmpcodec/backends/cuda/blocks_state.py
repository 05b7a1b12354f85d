"""The structures of ``kernels/cuda/blocks/state.cuh``, and a plan of the memory they point to.

No CuPy here: the layout can be checked where there is no device.
"""

from dataclasses import fields
from functools import cache
from math import isqrt, prod

import numpy as np

from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.levels import frequency_class, scan
from mmpcodec.reference.blocks.partition import MAX_LOG2, UNIT, UNIT_LOG2, padded_shape
from mmpcodec.reference.blocks.search.effort import EFFORTS, Effort
from mmpcodec.reference.blocks.transform import MOST_FREQUENCIES, basis
from mmpcodec.tools import BLOCK_TOOLS

SIDES = [1 << log2 for log2 in range(UNIT_LOG2, MAX_LOG2 + 1)]
MAX_SIDE = SIDES[-1]
SHAPES = [(height, width) for height in SIDES for width in SIDES]
MAX_CODED = MOST_FREQUENCIES**2
HEAP = 2 * (MAX_SIDE // UNIT) - 1
BLOCKS = HEAP**2
"""Blocks of a fragment, of all sizes at all places."""
PLAN_NODES = 2 * (MAX_SIDE // UNIT) ** 2 - 1
MOST_ROUGH = 4
ALIGNMENT = 256

TABLES_DTYPE = np.dtype(
    [
        ("basis", "i2", (2, len(SIDES), MAX_SIDE, MAX_SIDE)),
        ("turned", "i2", (2, len(SIDES), MAX_SIDE, MAX_SIDE)),
        ("scan", "u4", (len(SHAPES), MAX_CODED)),
        ("order", "u2", (len(SHAPES), MAX_CODED)),
        ("by_area", "u2", BLOCKS),
        ("unused", "u2"),
    ]
)
POINTERS = (
    "tables",
    "rates",
    "source",
    "coarse",
    "samples",
    "units",
    "modes",
    "energies",
    "coefficients",
    "levels",
    "magnitudes",
    "rough_costs",
    "plan_nodes",
    "plan_counts",
    "plan_levels",
    "findings",
)
NUMBERS = (
    "height",
    "width",
    *BLOCK_TOOLS,
    "fragment_log2",
    "root",
    "surveyed",
    "tried",
    "rough",
    "slack",
    "matching",
)
PICTURE_DTYPE = np.dtype(
    [
        *((name, "u8") for name in POINTERS),
        ("worker_bytes", "i8"),
        ("lambda_fixed", "i8"),
        *((name, "i4") for name in NUMBERS),
    ],
    align=True,
)


@cache
def make_tables() -> np.ndarray:
    """Return the constant tables of the device.

    Returns
    -------
    () array of TABLES_DTYPE
    """
    tables = np.zeros((), TABLES_DTYPE)
    for type_, sine in enumerate((False, True)):
        for number, side in enumerate(SIDES):
            tables["basis"][type_, number, :side, :side] = basis(side, sine)
            tables["turned"][type_, number, :side, :side] = basis(side, sine).T
    for number, (height, width) in enumerate(SHAPES):
        columns = min(width, MOST_FREQUENCIES)
        row, column = np.array(scan(height, width)).T
        places, margins = row * columns + column, row * (columns + 2) + column
        frequencies = [frequency_class(*at) for at in scan(height, width)]
        tables["scan"][number, : len(places)] = places | margins << 10 | np.array(frequencies) << 21
        tables["order"][number, places] = np.arange(len(places))
    sides = np.array([MAX_SIDE >> ((heap + 1).bit_length() - 1) for heap in range(HEAP)])
    coded = np.minimum(sides, MOST_FREQUENCIES)
    tables["by_area"] = np.argsort(-np.outer(coded, coded).ravel(), kind="stable")
    return tables


def arrays_of(
    shape: tuple[int, int], params: EncodeParams, chunk: int, workers: int, worker_bytes: int
) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Return the types and shapes of the device's arrays of a picture.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the picture.
    params : EncodeParams
    chunk : int
        Fragments of one launch.
    workers : int
        CUDA blocks that search the picture.
    worker_bytes : int
        Bytes of device memory for the results of each of these CUDA blocks.
    """
    height, width = padded_shape(shape)
    rough = EFFORTS[params.effort].rough
    fragments = fragments_of(shape, params)
    area = MAX_SIDE**2
    sizes = {
        "source": ("u1", (height, width)),
        "coarse": ("u1", (height, width)),
        "samples": ("u1", (height, width)),
        "units": ("u1", (height // UNIT, width // UNIT, 4)),
        "modes": ("u8", (chunk, BLOCKS)),
        "energies": ("i4", (chunk, BLOCKS, rough)),
        "coefficients": ("i2", (chunk, rough, len(SHAPES), area)),
        "levels": ("i2", (rough, len(SHAPES), area)),
        "magnitudes": ("u1", (rough, len(SHAPES), area // UNIT**2 * (UNIT + 2) ** 2)),
        "rough_costs": ("i8", (BLOCKS, MOST_ROUGH)),
        "plan_nodes": ("u2", (fragments, PLAN_NODES)),
        "plan_counts": ("u4", (fragments,)),
        "plan_levels": ("i2", (fragments, area)),
        "findings": ("u1", (workers, worker_bytes)),
    }
    return {name: (np.dtype(kind), size) for name, (kind, size) in sizes.items()}


def place_arrays(
    arrays: dict[str, tuple[np.dtype, tuple[int, ...]]],
) -> tuple[dict[str, int], int]:
    """Return the byte offset of each array in one piece of memory, and the size of the piece."""
    offsets, end = {}, 0
    for name, (dtype, shape) in arrays.items():
        offsets[name] = end
        end += -(-dtype.itemsize * prod(shape) // ALIGNMENT) * ALIGNMENT
    return offsets, end


def fragments_of(shape: tuple[int, int], params: EncodeParams) -> int:
    """Return the number of fragments of a picture that is coded by blocks."""
    side = params.tools.fragment_size
    return -(-shape[0] // side) * -(-shape[1] // side)


def make_picture(shape: tuple[int, int], params: EncodeParams, worker_bytes: int) -> np.ndarray:
    """Return the constant part of a picture's state; its pointers are not set yet.

    Returns
    -------
    () array of PICTURE_DTYPE
    """
    picture = np.zeros((), PICTURE_DTYPE)
    tools, effort = params.coded_tools, EFFORTS[params.effort]
    picture["worker_bytes"] = worker_bytes
    picture["lambda_fixed"] = params.lambda_fixed
    picture["height"], picture["width"] = padded_shape(shape)
    picture["fragment_log2"] = tools.fragment_size.bit_length() - 1
    for name in BLOCK_TOOLS:
        picture[name] = getattr(tools, name)
    picture["root"] = max(isqrt(params.lambda_fixed), 1)
    for name in (field.name for field in fields(Effort)):
        picture[name] = getattr(effort, name)
    return picture
