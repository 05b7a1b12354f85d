"""Traces: what coding a picture found out besides its bytes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mmpcodec.reference.blocks.partition import (
    KIND_NAMES,
    MAX_LOG2,
    MODE_NAMES,
    TREE,
    UNIT_LOG2,
    mode_name,
)
from mmpcodec.reference.trees.scales import OUTSIDE, SCALES


def leaf_edges(leaf_scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where leaves begin.

    A segment lies at a multiple of its own size, so its scale alone says which samples are in
    its first row and first column.

    Parameters
    ----------
    leaf_scales : (H, W) integer array
        Scale number of the leaf at each sample, from the first row and column of a picture.

    Returns
    -------
    top, left : (H, W) bool arrays
        Whether a sample is in the first row, and in the first column, of its leaf.
    """
    heights = np.array([scale.height for scale in SCALES])
    widths = np.array([scale.width for scale in SCALES])
    rows, columns = np.indices(leaf_scales.shape)
    return rows % heights[leaf_scales] == 0, columns % widths[leaf_scales] == 0


def unit_edges(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As ``leaf_edges``, of the blocks over (H, W, 4) units."""
    rows, columns = np.indices(units.shape[:2])
    heights, widths = (1 << (units[..., side] - UNIT_LOG2).astype(int) for side in (0, 1))
    return rows % heights == 0, columns % widths == 0


def block_edges(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As ``leaf_edges``, by sample, of the blocks over (H, W, 4) units."""
    top, left = unit_edges(units)
    rows, columns = np.zeros((2, *(side << UNIT_LOG2 for side in top.shape)), bool)
    rows[:: 1 << UNIT_LOG2] = top.repeat(1 << UNIT_LOG2, axis=1)
    columns[:, :: 1 << UNIT_LOG2] = left.repeat(1 << UNIT_LOG2, axis=0)
    return rows, columns


@dataclass(frozen=True)
class Trace:
    """What coding a picture left behind, besides its samples.

    Parameters
    ----------
    bits : dict of str to float
        Ideal code length by syntax element, see ``syntax``, in bits; of a file also that of the
        post filter's coefficients ("filter").
    leaf_scales : (H', W') int8 array or None
        Scale number of the leaf at each sample of the padded picture, -1 where no tree is; None
        without dictionaries.
    dictionary_sizes : (25,) int array or None
        Elements of each scale at the end; 0 where the partition has no such segments.
    units : (H' / 4, W' / 4, 4) uint8 array or None
        With prediction, of the block over each 4x4 unit: the logarithms of its height and width,
        its mode and its kind.
    """

    bits: dict[str, float]
    leaf_scales: np.ndarray | None = None
    dictionary_sizes: np.ndarray | None = None
    units: np.ndarray | None = None

    def with_filter(self, bits: int) -> "Trace":
        """The trace of a file whose post filter takes these bits."""
        return replace(self, bits={"filter": bits, **self.bits})

    def leaves(self) -> list[int]:
        """Number of leaves of trees of each of the 25 scales."""
        if self.leaf_scales is None:
            return [0] * len(SCALES)
        scales = self.leaf_scales[self.leaf_scales != OUTSIDE]
        samples = np.bincount(scales, minlength=len(SCALES))
        return [int(n) // (s.height * s.width) for n, s in zip(samples, SCALES, strict=True)]

    def blocks(self) -> dict[str, np.ndarray]:
        """Numbers of blocks, by kind.

        Returns
        -------
        dict of str to (5, 5) int array
            Under the name of the kind; rows by height and columns by width, from 64 to 4 samples.
        """
        sides = MAX_LOG2 - UNIT_LOG2 + 1
        counts = np.zeros((len(KIND_NAMES), sides, sides), int)
        height_log2, width_log2, _, kind = self._first_units().T
        np.add.at(counts, (kind, MAX_LOG2 - height_log2, MAX_LOG2 - width_log2), 1)
        return dict(zip(KIND_NAMES, counts, strict=True))

    def modes(self) -> dict[str, int]:
        """Number of predicted blocks by the name of their mode."""
        counts = dict.fromkeys(MODE_NAMES.values(), 0)
        units = self._first_units()
        for mode in units[units[:, 3] != TREE, 2].tolist():
            counts[mode_name(mode)] += 1
        return counts

    def _first_units(self) -> np.ndarray:
        """(N, 4) of ``units``: the first one of each block."""
        if self.units is None:
            return np.zeros((0, 4), np.uint8)
        top, left = unit_edges(self.units)
        return self.units[top & left]

    def edges(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Where leaves or blocks begin.

        Returns
        -------
        top, left : (H', W') bool arrays
            Whether a sample of the padded picture is in the first row, and in the first column,
            of its leaf or block. None of exact samples, which have neither.
        """
        if self.units is None:
            return None if self.leaf_scales is None else leaf_edges(self.leaf_scales)
        return block_edges(self.units)

    def depths(self) -> list[int]:
        """Number of leaves at each depth of the segmentation tree, 0 to 8."""
        histogram = [0] * (SCALES[-1].n + SCALES[-1].m + 1)
        for count, scale in zip(self.leaves(), SCALES, strict=True):
            histogram[scale.n + scale.m] += count
        return histogram


class Totals:
    """Sums over traces, to which more can be added.

    Parameters
    ----------
    traces : iterable of Trace

    Attributes
    ----------
    bits : dict of str to float
        By syntax element.
    leaves : int
    blocks, modes : dict of str to int
        Numbers of blocks by kind, and by mode.
    """

    def __init__(self, traces: Iterable[Trace] = ()):
        self.bits: Counter[str] = Counter()
        self.blocks: Counter[str] = Counter()
        self.modes: Counter[str] = Counter()
        self.leaves = 0
        for trace in traces:
            self.add(trace)

    def add(self, trace: Trace) -> None:
        """Count a trace in."""
        self.bits.update(trace.bits)
        self.blocks.update({kind: int(table.sum()) for kind, table in trace.blocks().items()})
        self.modes.update(trace.modes())
        self.leaves += sum(trace.leaves())


@dataclass(frozen=True)
class Coded:
    """A coded picture: its payload and the (H, W) samples that it decodes to.

    They are uint8 for a depth of 8 and uint16 for deeper ones, as what was encoded.
    """

    payload: bytes
    samples: np.ndarray
    trace: Trace
