"""Importance: which pixels of a picture count, and how much. *Encoder only*.

A caller says by how many quarters of a doubling the quantisation step is finer at each pixel. A
fragment of predicted blocks is as important as the most important of its pixels, and a squared
error of a pixel counts 2**(roi / 2) times. Wholly transparent pixels count nothing: their
colours are replaced by colours that cost few bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.distortion import squared_error
from mmpcodec.errors import ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.presets import presets_where
from mmpcodec.reference.blocks.search.cell_weights import CELL, ONE
from mmpcodec.reference.blocks.search.seen_errors import SIDE
from mmpcodec.reference.blocks.steps import (
    MOST_CHANGE,
    FragmentMap,
    flat_map,
    fragments_across,
    predicted_change,
)
from mmpcodec.reference.blocks.transform import COEFFICIENT_BITS
from mmpcodec.tools import BlockTools, Tools

MOST_IMPORTANCE = MOST_CHANGE
"""Largest importance, in quarters of a doubling of the step."""


def check_roi(roi: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the importance of the pixels of a picture as an (H, W) int8 array.

    Parameters
    ----------
    roi : array-like or None
        (H, W) integers or booleans from -24 to 24.
    shape : tuple of int
        Shape of the picture.

    Raises
    ------
    ParameterError
        If it has another shape or type, or a value is out of range.
    """
    if roi is None:
        return None
    array = np.asarray(roi)
    if not (np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
        raise ParameterError(f"roi of type {array.dtype}: must be integers; round them")
    if array.shape != shape[:2]:
        raise ParameterError(
            f"roi of shape {array.shape}: must be {shape[:2]}, that of the picture; resize it"
        )
    least, most = int(array.min()), int(array.max())
    if least < -MOST_IMPORTANCE or most > MOST_IMPORTANCE:
        wrong = least if least < -MOST_IMPORTANCE else most
        raise ParameterError(f"roi = {wrong}: must be from {-MOST_IMPORTANCE} to {MOST_IMPORTANCE}")
    return array.astype(np.int8)


def check_maps(
    roi: Sequence[Any] | None, shapes: Sequence[tuple[int, ...]]
) -> list[np.ndarray | None]:
    """Check the importance of the pixels of each picture; errors name its number, from 0."""
    if roi is None:
        return [None] * len(shapes)
    if len(roi) != len(shapes):
        raise ParameterError(f"roi of {len(roi)} pictures: must be of all {len(shapes)}")
    maps = []
    for number, (own, shape) in enumerate(zip(roi, shapes, strict=True)):
        try:
            maps.append(check_roi(own, shape))
        except ParameterError as error:
            raise ParameterError(f"number {number}: {error}" if number else str(error)) from error
    return maps


def check_palette(palette: bool | None, roi: Sequence[Any] | None) -> None:
    """Check that no palettes are asked for where all pictures have a map: tiles with one have none.

    Raises
    ------
    ParameterError
        If they are.
    """
    if palette and roi is not None and all(own is not None for own in roi):
        raise ParameterError("palette = True and roi: give only one of them")


def with_roi(params: EncodeParams) -> EncodeParams:
    """Return parameters whose fragments have steps of their own.

    Sets of tools without predicted blocks are left out.

    Raises
    ------
    ParameterError
        If no set of tools has predicted blocks.
    """
    able = [tools for tools in params.sets if isinstance(tools, BlockTools)]
    if not able:
        presets = presets_where(lambda tools: isinstance(tools, BlockTools))
        needs = "needs predicted blocks and lambda above 0"
        raise ParameterError(f"roi: {needs}; take {presets}")
    first, *others = (replace(tools, delta_step=True) for tools in able)
    given = params.given | {"delta_step"}
    return replace(params, tools=first, candidates=tuple(others), given=given)


@dataclass(frozen=True)
class Weighting:
    """The importance of the pixels of a tile.

    Parameters
    ----------
    of_pixels : (H, W) int8 array or None
        In quarters of a doubling of the step, finer above 0; None if all are 0.
    seen : (H, W) bool array or None
        Whether a pixel is seen; None if all are.
    strength : int
        Strength of the quantisation matrix by which errors are compared, 0 to 15.
    cells : (ceil(H / 8), ceil(W / 8)) uint8 array or None
        Weights of cells of 8x8 pixels where errors are compared by a quantisation matrix, in 1/16;
        None if all are 16.
    """

    of_pixels: np.ndarray | None = None
    seen: np.ndarray | None = None
    strength: int = 0
    cells: np.ndarray | None = None

    def fragments(self, tools: Tools, shape: tuple[int, int]) -> FragmentMap | None:
        """Return how much the fragments of a layer count; None if all count alike.

        A fragment is as important as the most important of its pixels that are seen.
        """
        changing = tools.delta_step and self.of_pixels is not None
        if not isinstance(tools, BlockTools):
            return None
        cells = self.cells if tools.quantisation_matrix else None
        if not changing and self.seen is None and cells is None:
            return None
        found, size = flat_map(shape, tools.fragment_size), tools.fragment_size
        hidden, changes = found.hidden, found.changes
        if self.seen is not None:
            hidden = ~_by_fragments(np.logical_or, self.seen, size)
        if changing:
            assert self.of_pixels is not None
            important = self.of_pixels
            if self.seen is not None:
                important = np.where(self.seen, important, np.int8(-MOST_IMPORTANCE))
            changes = -_by_fragments(np.maximum, important, size)
            # Nothing is coded of a hidden fragment, so its step is the one of fewest bits.
            for row, column in np.argwhere(hidden).tolist():
                changes[row, column] = predicted_change(changes, row, column)[0]
        return FragmentMap(changes, hidden, cells)

    def without_idle_changes(self, tools: Tools, shape: tuple[int, int]) -> Tools:
        """Return tools without delta step if the importance of pixels changes no step."""
        if self.of_pixels is None or not (isinstance(tools, BlockTools) and tools.delta_step):
            return tools
        found = self.fragments(tools, shape)
        return tools if found and found.changes.any() else replace(tools, delta_step=False)

    def squared_error(
        self,
        samples: np.ndarray,
        decoded: np.ndarray,
        backend: Backend,
        threads: int | None = 1,
    ) -> float:
        """Sum the squared differences, those of important pixels times their weight.

        The backend computes errors that are seen, if there is a quantisation matrix.
        """
        if self.of_pixels is None and self.seen is None:
            return squared_error(samples, decoded)
        if self.seen is not None:
            decoded = self.shown(samples, decoded)
        if self.of_pixels is None:
            return squared_error(samples, decoded)
        if self.strength:
            return float(self.seen_cells(samples, decoded, backend, threads).sum())
        return _weighted_sum(
            self.of_pixels, lambda inside: squared_error(samples[inside], decoded[inside])
        )

    def seen_cells(
        self,
        samples: np.ndarray,
        decoded: np.ndarray,
        backend: Backend,
        threads: int | None = 1,
    ) -> NDArray[np.float64]:
        """Return the errors that are seen of blocks of 16x16 samples, times their weight.

        A block is as important as its most important pixel, and has the mean weight of its cells.
        """
        assert self.of_pixels is not None
        if self.seen is not None:
            decoded = self.shown(samples, decoded)
        pairs = [(samples, decoded)]
        if samples.ndim == 3:
            pairs = [(samples[..., k], decoded[..., k]) for k in range(samples.shape[2])]
        errors = np.sum(
            [backend.seen_errors(*pair, self.strength, threads=threads) for pair in pairs], axis=0
        )
        important = _by_fragments(np.maximum, self.of_pixels, SIDE).astype(np.int64)
        if self.cells is not None:
            counts = _by_fragments(np.add, np.ones(self.cells.shape), SIDE // CELL)
            errors = errors * _by_fragments(np.add, self.cells.astype(float), SIDE // CELL)
            errors = errors / (ONE * counts)
        return errors * _WEIGHTS[important + MOST_IMPORTANCE] / 4**COEFFICIENT_BITS

    def shown(self, samples: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return other samples where pixels are seen, and ``samples`` elsewhere."""
        if self.seen is None:
            return others
        seen = self.seen if samples.ndim == 2 else self.seen[..., None]
        return np.where(seen, others, samples)


_WEIGHTS = 2.0 ** (np.arange(-MOST_IMPORTANCE, MOST_IMPORTANCE + 1) / 2)
"""How much errors count, from the least importance to the largest."""


def _weighted_sum(roi: np.ndarray, error_in: Callable[[np.ndarray], int]) -> float:
    """Sum the errors of places, those of important ones times their weight.

    ``error_in(inside)`` returns the error of all places of one importance.
    """
    total = 0.0
    for value in np.unique(roi).tolist():
        total += 2.0 ** (value / 2) * error_in(roi == value)
    return total


def _by_fragments(reduce: np.ufunc, values: np.ndarray, size: int) -> np.ndarray:
    """Reduce an array of pixels to one value for each fragment."""
    rows, columns = fragments_across(values.shape, size)
    # Rows are reduced slice by slice, because reduceat is slow along the first axis.
    by_rows = np.array([reduce.reduce(values[row * size :][:size]) for row in range(rows)])
    return reduce.reduceat(by_rows, np.arange(columns) * size, axis=1)
