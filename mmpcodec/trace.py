"""Traces: partitions, modes and code lengths of a coded plane, for statistics and drawings."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmpcodec.reference.blocks.partition import (
    KIND_NAMES,
    MAX_LOG2,
    MODE_NAMES,
    TREE,
    UNIT_LOG2,
    mode_name,
)
from mmpcodec.reference.trees.scales import OUTSIDE, SCALES

Edges = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Whether a sample is in the first row, and in the first column, of a leaf or block."""


def leaf_edges(leaf_scales: NDArray[np.int8]) -> Edges:
    """Mark the first row and the first column of each leaf.

    A segment begins at a multiple of its height and width, so its scale determines which samples
    are in its first row and first column.

    Parameters
    ----------
    leaf_scales : (H, W) integer array
        Scale number of the leaf at each sample, from the first row and column of the picture.

    Returns
    -------
    top, left : (H, W) bool arrays
        Whether a sample is in the first row, and in the first column, of its leaf.
    """
    heights = np.array([scale.height for scale in SCALES])
    widths = np.array([scale.width for scale in SCALES])
    rows, columns = np.indices(leaf_scales.shape)
    return rows % heights[leaf_scales] == 0, columns % widths[leaf_scales] == 0


def unit_edges(units: NDArray[np.uint8]) -> Edges:
    """Mark the units in the first row, and in the first column, of each block.

    Parameters
    ----------
    units : (H, W, 4) uint8 array
        As ``Trace.units``.

    Returns
    -------
    top, left : (H, W) bool arrays
        Whether a unit is in the first row, and in the first column, of its block.
    """
    rows, columns = np.indices(units.shape[:2])
    heights, widths = (1 << (units[..., side] - UNIT_LOG2).astype(int) for side in (0, 1))
    return rows % heights == 0, columns % widths == 0


def block_edges(units: NDArray[np.uint8]) -> Edges:
    """Mark the samples in the first row, and in the first column, of each block.

    Parameters
    ----------
    units : (H, W, 4) uint8 array
        As ``Trace.units``.

    Returns
    -------
    top, left : (4 H, 4 W) bool arrays
        Whether a sample is in the first row, and in the first column, of its block.
    """
    top, left = unit_edges(units)
    rows, columns = np.zeros((2, *(side << UNIT_LOG2 for side in top.shape)), bool)
    rows[:: 1 << UNIT_LOG2] = top.repeat(1 << UNIT_LOG2, axis=1)
    columns[:, :: 1 << UNIT_LOG2] = left.repeat(1 << UNIT_LOG2, axis=0)
    return rows, columns


@dataclass(frozen=True)
class Trace:
    """Record of how one plane was coded.

    Parameters
    ----------
    bits : dict of str to float
        Ideal code length of each syntax element, in bits; the names are those of
        ``mmpcodec.reference.entropy.syntax``. A trace of a file also has the bits of the post
        filter's coefficients, under "filter". That of a palette has those of its colours, under
        "colours".
    leaf_scales : (H', W') int8 array or None
        Scale number of the leaf at each sample of the padded picture, -1 at samples that no tree
        covers; None if the plane was coded without dictionaries.
    dictionary_sizes : (25,) int array or None
        Number of elements of each dictionary at the end, by scale number; 0 for scales that do
        not occur.
    units : (H' / 4, W' / 4, 4) uint8 array or None
        For each unit of 4x4 samples, the binary logarithms of height and width, the mode and the
        kind of the block that covers the unit; None if the plane was coded without blocks.
    changes : (R, C) int8 array or None
        Step change of each fragment, in quarters of a doubling of the step; None without the tool
        *delta step*.
    drawn : (H, W) bool array or None
        Whether a palette draws the pixel, or shows the layers below; None if this is no palette.
    cell_rates : (ceil(H / 16), ceil(W / 16)) int64 array or None
        Ideal code length of what codes the samples of each cell of 16x16 samples, in 1/4096 bit.
        The rate of a block is spread over the cells that it overlaps, in proportion to area. The
        planes of lossless samples share the cells; the values that are named at the start of a
        plane belong to none.
    """

    bits: dict[str, float]
    leaf_scales: NDArray[np.int8] | None = None
    dictionary_sizes: NDArray[np.integer] | None = None
    units: NDArray[np.uint8] | None = None
    changes: NDArray[np.int8] | None = None
    drawn: NDArray[np.bool_] | None = None
    cell_rates: NDArray[np.int64] | None = None

    def with_filter(self, bits: int) -> "Trace":
        """Copy of the trace with the number of bits of the post filter's coefficients."""
        return replace(self, bits={"filter": bits, **self.bits})

    def leaves(self) -> list[int]:
        """Return the number of leaves of each scale, a list of 25 by scale number."""
        if self.leaf_scales is None:
            return [0] * len(SCALES)
        scales = self.leaf_scales[self.leaf_scales != OUTSIDE]
        samples = np.bincount(scales, minlength=len(SCALES))
        return [int(n) // (s.height * s.width) for n, s in zip(samples, SCALES, strict=True)]

    def blocks(self) -> dict[str, NDArray[np.integer]]:
        """Count the blocks by kind and size.

        Returns
        -------
        dict of str to (5, 5) int array
            Counts by the name of the kind. Row i is the height and column j the width: 64 >> i
            and 64 >> j samples.
        """
        sides = MAX_LOG2 - UNIT_LOG2 + 1
        counts = np.zeros((len(KIND_NAMES), sides, sides), int)
        height_log2, width_log2, _, kind = self._first_units().T
        np.add.at(counts, (kind, MAX_LOG2 - height_log2, MAX_LOG2 - width_log2), 1)
        return dict(zip(KIND_NAMES, counts, strict=True))

    def modes(self) -> dict[str, int]:
        """Return the number of predicted blocks of each mode, by the name of the mode."""
        counts = dict.fromkeys(MODE_NAMES.values(), 0)
        units = self._first_units()
        for mode in units[units[:, 3] != TREE, 2].tolist():
            counts[mode_name(mode)] += 1
        return counts

    def _first_units(self) -> NDArray[np.uint8]:
        """Return the first unit of each block, rows of ``units``, a (blocks, 4) uint8 array."""
        if self.units is None:
            return np.zeros((0, 4), np.uint8)
        top, left = unit_edges(self.units)
        return self.units[top & left]

    def edges(self) -> Edges | None:
        """Mark the first row and the first column of each leaf or block.

        Returns
        -------
        (top, left) : two (H', W') bool arrays, or None
            Whether a sample of the padded picture is in the first row, and in the first column,
            of its leaf or block. None for lossless samples, which have neither leaves nor blocks.
        """
        if self.units is None:
            return None if self.leaf_scales is None else leaf_edges(self.leaf_scales)
        return block_edges(self.units)

    def depths(self) -> list[int]:
        """Return the number of leaves at each depth 0 to 8 of the segmentation tree."""
        histogram = [0] * (SCALES[-1].n + SCALES[-1].m + 1)
        for count, scale in zip(self.leaves(), SCALES, strict=True):
            histogram[scale.n + scale.m] += count
        return histogram


class Totals:
    """Sums of code lengths and counts over several traces.

    Parameters
    ----------
    traces : iterable of Trace

    Attributes
    ----------
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    leaves : int
        Number of leaves.
    blocks, modes : dict of str to int
        Number of blocks of each kind, and of each mode, by name.
    """

    def __init__(self, traces: Iterable[Trace] = ()):
        self.bits: Counter[str] = Counter()
        self.blocks: Counter[str] = Counter()
        self.modes: Counter[str] = Counter()
        self.leaves = 0
        for trace in traces:
            self.add(trace)

    @classmethod
    def sum(cls, several: Iterable["Totals"]) -> "Totals":
        """Return the sums over the traces of several sums."""
        found = cls()
        for one in several:
            found.bits.update(one.bits)
            found.blocks.update(one.blocks)
            found.modes.update(one.modes)
            found.leaves += one.leaves
        return found

    def add(self, trace: Trace) -> None:
        """Add a trace to the sums."""
        self.bits.update(trace.bits)
        self.blocks.update({kind: int(table.sum()) for kind, table in trace.blocks().items()})
        self.modes.update(trace.modes())
        self.leaves += sum(trace.leaves())


@dataclass(frozen=True)
class Coded:
    """A coded plane.

    Parameters
    ----------
    payload : bytes
        Bytes of the range coder.
    samples : (H, W) uint8 or uint16 array
        Decoded samples before the post filter: uint8 if the depth is at most 8, else uint16.
    trace : Trace
    """

    payload: bytes
    samples: np.ndarray
    trace: Trace
