"""The structures of ``kernels/cuda/blocks/state.cuh``, and a plan of the memory they point to.

No CuPy here: the layout can be checked where there is no device.
"""

from collections.abc import Sequence
from dataclasses import astuple, fields
from functools import cache
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from mmpcodec.backends.block_efforts import BlockEffort
from mmpcodec.backends.cuda.decoding import tables as decoding
from mmpcodec.backends.cuda.decoding.tables import MOST_LOW
from mmpcodec.backends.cuda.native_tools import TOOLS_DTYPE, native_tools
from mmpcodec.depth import BYTE, sample_type
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.levels import (
    ANGLES,
    AROUND,
    direction_of,
    fine_frequency,
    frequency_class,
    scan,
)
from mmpcodec.reference.blocks.models import COARSE
from mmpcodec.reference.blocks.partition import MAX_LOG2, UNIT, UNIT_LOG2, padded_shape
from mmpcodec.reference.blocks.search.cell_weights import CELL
from mmpcodec.reference.blocks.steps import fragments_across
from mmpcodec.reference.blocks.trained_transforms import GROUPS
from mmpcodec.reference.blocks.transform import MOST_FREQUENCIES, basis
from mmpcodec.tools import BlockTools

SIDES = [1 << log2 for log2 in range(UNIT_LOG2, MAX_LOG2 + 1)]
MAX_SIDE = SIDES[-1]
SHAPES = [(height, width) for height in SIDES for width in SIDES]
MAX_CODED = MOST_FREQUENCIES**2
MOST_PLANES = 2
"""Most earlier planes that predict a plane."""
INTERVALS = [
    (start, side)
    for side in reversed(SIDES)
    for start in range(0, MAX_SIDE - side + 1, max(side // 2, UNIT))
]
"""First sample and length of each side that a block of a fragment can have."""
BLOCKS = len(INTERVALS) ** 2
"""Blocks of a fragment, of all sizes at all places."""
PLAN_NODES = 2 * (MAX_SIDE // UNIT) ** 2 - 1
MOST_ROUGH = 4
MOST_LINES = 94
MARGINS = (MOST_FREQUENCIES + 2) ** 2
"""Most magnitudes of a block, with the padding."""
THREADS = 128
"""Threads of a CUDA block of the search."""
ALIGNMENT = 256
LAG = 2 << MAX_LOG2
"""Number of samples that a row of fragments is behind the row above."""

TRELLIS_DTYPE = np.dtype(
    [
        ("distances", "u1", 4),
        ("distance", "u4"),
        ("fine", "u1", 4),
        ("coarse", "u4"),
    ]
)
TABLES_DTYPE = np.dtype(
    [
        ("trellis", TRELLIS_DTYPE, (len(SHAPES), MAX_CODED)),
        ("basis", "i2", (2, len(SIDES), MAX_SIDE, MAX_SIDE)),
        ("turned", "i2", (2, len(SIDES), MAX_SIDE, MAX_SIDE)),
        ("scan", "u4", (len(SHAPES), MAX_CODED)),
        ("order", "u2", (len(SHAPES), MAX_CODED)),
        ("lines", "u2", (len(SHAPES), MOST_LINES + 1)),
        ("by_area", "u2", BLOCKS),
        ("trained", "i1", (GROUPS, 2, 2, MOST_LOW, MOST_LOW)),
        ("low_rows", "u2", (2, len(SHAPES), MOST_LOW)),
        ("low_scanned", "u2", (2, len(SHAPES), MOST_LOW)),
        ("radii", "u1", (decoding.PLAIN, decoding.PLAIN)),
        ("unused", "u1", 10),
    ]
)
POINTERS = (
    "tables",
    "rates",
    "states",
    "source",
    "earlier",
    "changes",
    "lambdas",
    "weights",
    "coarse",
    "coarse_bytes",
    "samples",
    "units",
    "models",
    "done",
    "reported",
    "plan_nodes",
    "plan_counts",
    "plan_levels",
)
DEPTH_DTYPE = np.dtype([("bits", "i4"), ("finer", "i4")])
EFFORT_DTYPE = np.dtype([(field.name, "i4") for field in fields(BlockEffort)])
PICTURE_DTYPE = np.dtype(
    [
        *((name, "u8", MOST_PLANES if name == "earlier" else ()) for name in POINTERS),
        ("lambda_fixed", "i8"),
        ("height", "i4"),
        ("width", "i4"),
        ("shown_height", "i4"),
        ("shown_width", "i4"),
        ("depth", DEPTH_DTYPE),
        ("tools", TOOLS_DTYPE),
        ("root", "i4"),
        ("effort", EFFORT_DTYPE),
    ],
    align=True,
)
TICKET_DTYPE = np.dtype([("picture", "i4"), ("row", "i4"), ("column", "i4")])
ROUGH_DTYPE = np.dtype([("best", "u1", 2), ("count", "u1"), ("settled", "u1")])
RESIDUAL_DTYPE = np.dtype([("kept", "i8"), ("energy", "i8"), ("bits", "i4"), ("unused", "i4")])
ROOM_POINTERS = (
    "tickets",
    "taken",
    "stop",
    "full",
    "modes",
    "rough_modes",
    "residuals",
    "coefficients",
    "levels",
    "magnitudes",
    "own",
)
ROOM_DTYPE = np.dtype([*((name, "u8") for name in ROOM_POINTERS), ("worker_bytes", "i8")])


class DeviceBytes(NamedTuple):
    """Sizes in bytes of what only the device's compiler knows."""

    models: int
    worker: int
    least_shared: int
    """Least shared memory of a worker."""
    shared: int
    """Shared memory of a worker without that of the modes that it tries in full."""
    candidate: int
    """Shared memory for each of these modes."""


class Crew(NamedTuple):
    """What a launch of the search runs on."""

    workers: int
    """CUDA blocks, each of which searches a fragment."""
    chunk: int
    """Fragments of a launch."""


def _trellis(height: int, width: int) -> np.ndarray:
    """Return the scan positions of a block as the trellis sees them.

    Returns
    -------
    (N,) array of TRELLIS_DTYPE
    """
    rows, columns = np.array(scan(height, width)).T
    found = np.zeros(len(rows), TRELLIS_DTYPE)
    numbers = np.zeros((MAX_SIDE, MAX_SIDE), np.int64)
    numbers[rows, columns] = np.arange(len(rows))
    distances = np.array(
        [numbers[rows + down, columns + right] - numbers[rows, columns] for down, right in AROUND]
    )
    # Levels outside the block are no neighbours: their number is 0.
    distances = np.maximum(distances, 0)
    found["distances"], found["distance"] = distances[:4].T, distances[4]
    found["coarse"] = [frequency_class(i, j) for i, j in zip(rows, columns, strict=True)]
    for family, of in enumerate((0, *ANGLES)):
        found["fine"][:, family] = [
            len(COARSE) * direction_of(of, i, j) + fine_frequency(i, j)
            for i, j in zip(rows, columns, strict=True)
        ]
    return found


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
        # Places of equal frequency form a line.
        line = np.unique(row * width + column * height, return_inverse=True)[1]
        packed = places | margins << 10 | np.array(frequencies) << 21 | line << 23
        tables["scan"][number, : len(places)] = packed
        ends = np.bincount(line).cumsum()
        tables["lines"][number, 1 : 1 + len(ends)] = ends
        tables["order"][number, places] = np.arange(len(places))
        tables["trellis"][number, : len(places)] = _trellis(height, width)
    for name in ("trained", "low_rows", "low_scanned", "radii"):
        tables[name] = decoding.make_tables()[name]
    coded = np.minimum([side for _, side in INTERVALS], MOST_FREQUENCIES)
    tables["by_area"] = np.argsort(-np.outer(coded, coded).ravel(), kind="stable")
    return tables


def rough_steps(tools: BlockTools, effort: BlockEffort) -> list[np.ndarray]:
    """Return the numbers of the blocks that each launch of the rough search examines.

    Unless the rough search tests every angle, the modes of oblong blocks are those of less oblong
    ones, and the modes of blocks that only ternary splits create are those of others. The parts of
    a square that is settled are skipped.

    Returns
    -------
    list of (N,) uint16 arrays
    """
    starts, sides = np.array(INTERVALS).T
    inside = starts + sides <= tools.fragment_size
    aligned = starts % sides == 0
    logs = np.log2(sides).astype(int)
    apart = np.abs(np.subtract.outer(logs, logs))
    possible = np.outer(inside, inside) & (apart <= effort.elongation)
    usual = possible & np.outer(aligned, aligned)
    steps = [usual & (apart == each) for each in range(apart.max() + 1)]
    if effort.settled:
        squares = steps.pop(0)
        steps[:0] = [squares & (sides == side) for side in reversed(SIDES)]
    if effort.every_angle:
        steps = [usual]
    if tools.ternary and effort.ternary >= 0:
        steps.append(possible & ~usual)
    return [np.flatnonzero(step).astype(np.uint16) for step in steps if step.any()]


Arrays = dict[str, tuple[np.dtype, tuple[int, ...]]]
"""Types and shapes of arrays on the device."""


def arrays_of(
    shape: tuple[int, int], params: EncodeParams, sizes: DeviceBytes, depth: int = BYTE
) -> Arrays:
    """Return the types and shapes of the device's arrays of a picture."""
    height, width = padded_shape(shape)
    rows, columns = fragments_of(shape, params)
    kind = sample_type(depth)
    fragments, area = rows * columns, MAX_SIDE**2
    arrays: dict[str, tuple[Any, tuple[int, ...]]] = {
        "source": (kind, (height, width)),
        "changes": ("i1", (rows, columns)),
        "lambdas": ("i8", (rows, columns)),
        "weights": ("u1", fragments_across(shape, CELL)),
        "earlier": (kind, (cast(BlockTools, params.tools).cross_component, *shape)),
        "coarse": (kind, (height, width)),
        "coarse_bytes": ("u1", (height if depth > BYTE else 0, width)),
        "samples": (kind, (height, width)),
        "units": ("u1", (height // UNIT, width // UNIT, 4)),
        "models": ("u1", (columns, sizes.models)),
        "done": ("u4", (rows,)),
        "plan_nodes": ("u2", (fragments, PLAN_NODES)),
        "plan_counts": ("u4", (fragments,)),
        "plan_levels": ("i2", (fragments, area)),
    }
    return {name: (np.dtype(of), size) for name, (of, size) in arrays.items()}


def arrays_of_room(tickets: int, crew: Crew, effort: BlockEffort, sizes: DeviceBytes) -> Arrays:
    """Return the types and shapes of the arrays that all pictures share."""
    rough, shapes = effort.rough, len(SHAPES)
    chosen = 0 if effort.rounded else rough
    threads = 0 if effort.rounded else THREADS
    arrays: dict[str, tuple[Any, tuple[int, ...]]] = {
        "tickets": (TICKET_DTYPE, (tickets,)),
        "taken": ("u4", (crew.chunk,)),
        "modes": ("u8", (crew.chunk, BLOCKS)),
        "rough_modes": (ROUGH_DTYPE, (crew.chunk, BLOCKS)),
        "residuals": (RESIDUAL_DTYPE, (crew.chunk, BLOCKS, rough)),
        "coefficients": ("i2", (crew.chunk, chosen, shapes, 4 * MAX_SIDE**2)),
        "levels": ("i2", (crew.workers, threads, MAX_CODED)),
        "magnitudes": ("u1", (crew.workers, threads, MARGINS)),
        "own": ("u1", (crew.workers, sizes.worker)),
    }
    return {name: (np.dtype(kind), size) for name, (kind, size) in arrays.items()}


def place_arrays(arrays: Arrays) -> tuple[dict[str, int], int]:
    """Return the byte offset of each array in one piece of memory, and the size of the piece."""
    offsets, end = {}, 0
    for name, (dtype, shape) in arrays.items():
        offsets[name] = end
        end += -(-dtype.itemsize * prod(shape) // ALIGNMENT) * ALIGNMENT
    return offsets, end


def fragments_of(shape: tuple[int, int], params: EncodeParams) -> tuple[int, int]:
    """Return the rows and columns of fragments of a picture that is coded by blocks."""
    return fragments_across(shape, cast(BlockTools, params.tools).fragment_size)


def lag_of(params: EncodeParams) -> int:
    """Return how many fragments a row is behind the row above."""
    return LAG // cast(BlockTools, params.tools).fragment_size


def make_tickets(shapes: Sequence[tuple[int, int]], params: EncodeParams) -> np.ndarray:
    """Return the fragments of pictures by diagonals: no fragment waits for one that comes later.

    Returns
    -------
    (N,) array of TICKET_DTYPE
    """
    parts = []
    for number, shape in enumerate(shapes):
        rows, columns = fragments_of(shape, params)
        part = np.zeros((rows, columns), TICKET_DTYPE)
        part["picture"] = number
        part["row"], part["column"] = np.indices(part.shape)
        parts.append(part.ravel())
    tickets = np.concatenate(parts)
    return tickets[np.argsort(lag_of(params) * tickets["row"] + tickets["column"], kind="stable")]


def make_picture(
    shape: tuple[int, int], params: EncodeParams, effort: BlockEffort, depth: int = BYTE
) -> np.ndarray:
    """Return the constant part of a picture's state; its pointers are not set yet.

    Returns
    -------
    () array of PICTURE_DTYPE
    """
    picture = np.zeros((), PICTURE_DTYPE)
    tools = cast(BlockTools, params.coded_tools)
    picture["height"], picture["width"] = padded_shape(shape)
    picture["shown_height"], picture["shown_width"] = shape
    picture["depth"]["bits"] = depth
    picture["tools"] = native_tools(tools, padded_shape(shape))
    picture["effort"] = astuple(effort)
    return picture
