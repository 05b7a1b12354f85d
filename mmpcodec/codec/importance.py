"""Importance: which pixels of a picture count, and how much. *Encoder only*.

A caller says by how many quarters of a doubling the quantisation step is finer at each pixel. A
fragment of predicted blocks is as important as the most important of its pixels, and a squared
error of a pixel counts 2**(importance / 2) times. Wholly transparent pixels count nothing: their
colours are replaced by colours that cost few bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec.codec.distortion import squared_error
from mmpcodec.errors import ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.steps import (
    MOST_CHANGE,
    FragmentMap,
    flat_map,
    fragments_across,
    predicted_change,
)
from mmpcodec.samples import form_of
from mmpcodec.tools import DRAFT, Tools, presets_where

MOST_IMPORTANCE = MOST_CHANGE
"""Largest importance, in quarters of a doubling of the step."""
SMOOTHINGS = 4
"""How often hidden colours are smoothed in each resolution."""


def check_importance(importance: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the importance of the pixels of a picture as an (H, W) int8 array.

    Parameters
    ----------
    importance : array-like or None
        (H, W) integers or booleans from -24 to 24.
    shape : tuple of int
        Shape of the picture.

    Raises
    ------
    ParameterError
        If it has another shape or type, or a value is out of range.
    """
    if importance is None:
        return None
    array = np.asarray(importance)
    if not (np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
        raise ParameterError(f"importance of type {array.dtype}: must be integers")
    if array.shape != shape[:2]:
        raise ParameterError(
            f"importance of shape {array.shape}: must be {shape[:2]}, that of the picture"
        )
    least, most = int(array.min()), int(array.max())
    if least < -MOST_IMPORTANCE or most > MOST_IMPORTANCE:
        wrong = least if least < -MOST_IMPORTANCE else most
        raise ParameterError(
            f"importance = {wrong}: must be from {-MOST_IMPORTANCE} to {MOST_IMPORTANCE}"
        )
    return array.astype(np.int8)


def check_maps(
    importance: Sequence[Any] | None, shapes: Sequence[tuple[int, ...]]
) -> list[np.ndarray | None]:
    """Check the importance of the pixels of each picture; errors name its number, from 0."""
    if importance is None:
        return [None] * len(shapes)
    if len(importance) != len(shapes):
        raise ParameterError(
            f"importance of {len(importance)} pictures: must be of all {len(shapes)}"
        )
    maps = []
    for number, (own, shape) in enumerate(zip(importance, shapes, strict=True)):
        try:
            maps.append(check_importance(own, shape))
        except ParameterError as error:
            raise ParameterError(f"number {number}: {error}" if number else str(error)) from error
    return maps


def check_palette(palette: bool | None, importance: Sequence[Any] | None) -> None:
    """Check that no palettes are asked for where all pictures have a map: tiles with one have none.

    Raises
    ------
    ParameterError
        If they are.
    """
    if palette and importance is not None and all(own is not None for own in importance):
        raise ParameterError("palette = True and importance: give only one of them")


def with_importance(params: EncodeParams) -> EncodeParams:
    """Return parameters whose fragments have steps of their own.

    Sets of tools without predicted blocks are left out.

    Raises
    ------
    ParameterError
        If no set of tools has predicted blocks, or the version of the format lacks step changes.
    """
    if params.version < DRAFT:
        raise ParameterError(
            f"importance: needs version {DRAFT} of the format; version is {params.version}"
        )
    able = [tools for tools in (params.tools, *params.candidates) if tools.prediction]
    if not able:
        presets = presets_where(lambda tools: tools.prediction)
        needs = "needs predicted blocks and lambda above 0"
        raise ParameterError(f"importance: {needs}; take {presets}")
    first, *others = (replace(tools, step_changes=True) for tools in able)
    return replace(params, tools=first, candidates=tuple(others))


@dataclass(frozen=True)
class Importance:
    """The importance of the pixels of a tile.

    Parameters
    ----------
    of_pixels : (H, W) int8 array or None
        In quarters of a doubling of the step, finer above 0; None if all are 0.
    seen : (H, W) bool array or None
        Whether a pixel is seen; None if all are.
    """

    of_pixels: np.ndarray | None = None
    seen: np.ndarray | None = None

    def fragments(self, tools: Tools, shape: tuple[int, int]) -> FragmentMap | None:
        """Return how much the fragments of a layer count; None if all count alike.

        A fragment is as important as the most important of its pixels that are seen.
        """
        changing = tools.step_changes and self.of_pixels is not None
        if not tools.later or not (changing or self.seen is not None):
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
        return FragmentMap(changes, hidden)

    def without_idle_changes(self, tools: Tools, shape: tuple[int, int]) -> Tools:
        """Return tools without step changes if the importance of pixels changes no step."""
        if self.of_pixels is None or not tools.step_changes:
            return tools
        found = self.fragments(tools, shape)
        return tools if found and found.changes.any() else replace(tools, step_changes=False)

    def squared_error(self, samples: np.ndarray, decoded: np.ndarray) -> float:
        """Sum the squared differences, those of important pixels times their weight."""
        if self.of_pixels is None and self.seen is None:
            return squared_error(samples, decoded)
        if self.seen is not None:
            decoded = self.shown(samples, decoded)
        if self.of_pixels is None:
            return squared_error(samples, decoded)
        total = 0.0
        for value in np.unique(self.of_pixels).tolist():
            inside = self.of_pixels == value
            total += 2.0 ** (value / 2) * squared_error(samples[inside], decoded[inside])
        return total

    def shown(self, samples: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return other samples where pixels are seen, and ``samples`` elsewhere."""
        if self.seen is None:
            return others
        seen = self.seen if samples.ndim == 2 else self.seen[..., None]
        return np.where(seen, others, samples)


def _by_fragments(reduce: np.ufunc, values: np.ndarray, size: int) -> np.ndarray:
    """Reduce an array of pixels to one value for each fragment."""
    rows, columns = fragments_across(values.shape, size)
    by_rows = reduce.reduceat(values, np.arange(rows) * size, axis=0)
    return reduce.reduceat(by_rows, np.arange(columns) * size, axis=1)


def filled(samples: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return a picture with smooth colours where its pixels are hidden.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Alpha stays.
    seen : (H, W) bool array
    """
    changed = samples.copy()
    planes = changed[..., None] if samples.ndim == 2 else changed
    for number in range(form_of(samples).colours):
        plane = _filled(planes[..., number].astype(np.int32), seen)
        planes[..., number] = plane.astype(samples.dtype)
    return changed


def _filled(plane: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Fill the hidden samples of a plane from the means of the seen ones around them.

    The plane is halved until all samples are known; then the hidden ones of each resolution take
    the sample of the coarser one and are smoothed.
    """
    if seen.all() or not seen.any():
        return np.where(seen, plane, 0)
    height, width = plane.shape
    if plane.size == 1:
        return plane
    even = (height % 2, width % 2)
    known = np.pad(seen, ((0, even[0]), (0, even[1])))
    sums = np.pad(np.where(seen, plane, 0), ((0, even[0]), (0, even[1])))
    quads = (known.shape[0] // 2, 2, known.shape[1] // 2, 2)
    counts = known.reshape(quads).sum(axis=(1, 3))
    means = (sums.reshape(quads).sum(axis=(1, 3)) + counts // 2) // np.maximum(counts, 1)
    coarse = _filled(means.astype(np.int32), counts > 0)
    found = np.where(seen, plane, coarse.repeat(2, 0).repeat(2, 1)[:height, :width])
    for _ in range(SMOOTHINGS):
        around = np.pad(found, 1, mode="edge")
        total = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        found = np.where(seen, plane, (total + 2) >> 2)
    return found
