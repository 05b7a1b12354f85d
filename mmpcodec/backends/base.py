"""The contract of a backend.

A backend turns a plane of samples into a payload and a payload back into samples. All backends
write the same bytes for the same plane and parameters, whatever the machine, the thread count or
the device; the ``reference`` backend is the judge. To that end every quantity that decides a bit
is an integer, and ties are broken in a stated order (lowest index; leaf, columns, rows).

A backend

- says whether it can run here: ``unavailable()`` gives the reason, or None;
- never changes its arguments and keeps no state between calls: any number of threads may use it;
- never prints, and calls ``progress(done, total)`` at least once a row of fragments; when that
  returns False it raises ``Cancelled``; what the callback raises passes through;
- has no view of files or containers: parameters were checked before it is called;
- codes samples of 8 bits, and with prediction also of 9 to 16, or ``lacks`` them; of trees only
  those of 8 bits. Lambda and the step are in units of 8-bit samples whatever the depth;
- codes exact samples by ``encode_exact`` and ``decode_exact``, or ``lacks`` them;
- raises ``TruncatedStream`` or ``CorruptStream`` for a payload that does not decode, and nothing
  else, in time and memory bounded by the size of the picture.

A backend asked for by name never falls back to another one; only of several candidates, as preset
"auto" has them, one that it lacks a tool of is coded by another.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mmpcodec.codec.blocks import KIND_NAMES, MAX_LOG2, MODE_NAMES, TREE, UNIT_LOG2, mode_name
from mmpcodec.codec.depths import BYTE
from mmpcodec.codec.fragments import fragments_in
from mmpcodec.codec.postfilter import PostFilter
from mmpcodec.codec.scales import OUTSIDE, SCALES
from mmpcodec.errors import BackendUnavailable, Cancelled
from mmpcodec.params import EncodeParams, Tools

Progress = Callable[[int, int], bool]


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


class Backend(ABC):
    """See the contract at the top of this module."""

    name: str
    post_filter = PostFilter()
    """Filters what was coded, on the host; no part of ``encode`` and ``decode``."""

    @abstractmethod
    def unavailable(self) -> str | None:
        """Why this backend cannot run here, or None when it can."""

    def lacks(self, tools: Tools, depth: int = BYTE) -> str | None:
        """What this backend does not have of these tools for samples of this depth, or None."""
        has_trees = tools.dictionary or not tools.prediction
        if tools.exact or depth == BYTE or (depth > BYTE and not has_trees):
            return None
        return f"{'trees' if has_trees else 'predicted blocks'} of samples of {depth} bits"

    def check_has(self, tools: Tools, depth: int = BYTE) -> None:
        """Check that nothing is lacking.

        Raises
        ------
        BackendUnavailable
        """
        if lacking := self.lacks(tools, depth):
            raise BackendUnavailable(f"backend {self.name} cannot run here: it has no {lacking}")

    @abstractmethod
    def describe(self) -> str:
        """What it runs on, in a few words, for people."""

    @abstractmethod
    def encode(
        self,
        plane: np.ndarray,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        """Encode a plane.

        Parameters
        ----------
        plane : (H, W) uint8 or uint16 array, C order
            uint8 for a depth of 8, else uint16 and below 2**depth.
        params : EncodeParams
        depth : int
            Bits of a sample, 8 to 16.
        threads : int or None
            Threads to use, at least 1; None lets the backend choose.
        progress : callable or None
            Called with the fragments done and their number.

        Raises
        ------
        BackendUnavailable
            When it ``lacks`` something.
        """

    def encode_exact(
        self, planes: np.ndarray, depth: int, *, progress: Progress | None = None
    ) -> tuple[bytes, Trace]:
        """Encode planes without loss.

        Parameters
        ----------
        planes : (C, H, W) uint16 array, C order
            Below 2**depth.
        depth : int
            1 to 16.
        progress : callable or None

        Returns
        -------
        payload : bytes
        trace : Trace
        """
        raise BackendUnavailable(f"backend {self.name} cannot run here: it has no exact samples")

    def decode_exact(
        self,
        payload: bytes,
        shape: tuple[int, int, int],
        depth: int,
        *,
        progress: Progress | None = None,
    ) -> tuple[np.ndarray, Trace]:
        """Decode a payload into a (C, H, W) uint16 array and a trace."""
        raise BackendUnavailable(f"backend {self.name} cannot run here: it has no exact samples")

    def encode_batch(
        self,
        planes: Sequence,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Coded]:
        """Encode several planes, each as if alone; progress counts the fragments of all."""
        shares = [fragments_in(plane.shape) for plane in planes]
        return [
            self.encode(plane, params, depth=depth, threads=threads, progress=part)
            for plane, part in zip(planes, in_turn(progress, shares), strict=True)
        ]

    @abstractmethod
    def decode(
        self,
        payload: bytes,
        shape: tuple[int, int],
        tools: Tools,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        """Decode a payload into a plane of ``shape`` (H, W) and a depth."""


def in_turn(progress: Progress | None, shares: Sequence[int]) -> Iterator[Progress]:
    """Progress of parts of a work that come one after the other; shares are their fragments."""

    def part(before: int, own: int) -> Progress:
        def advance(done: int, total: int) -> bool:
            return progress is None or progress(before + own * done // total, sum(shares))

        return advance

    for number, own in enumerate(shares):
        yield part(sum(shares[:number]), own)


def report_progress(progress: Progress | None, done: int, total: int) -> None:
    """Tell the callback how far the work is.

    Raises
    ------
    Cancelled
        When the callback returns False.
    """
    if progress is not None and progress(done, total) is False:
        raise Cancelled(f"stopped by the caller after {done} of {total} fragments")
