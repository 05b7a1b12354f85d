"""Border filter: smooths the steps between tiles, after the tiles are decoded.

Source: section "Border filter" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmpcodec.depth import most

REACH = 8
"""Samples of a line on each side of a border; the filter reads and changes them."""
ACTIVITIES = 5, 16, 40, 128, 384
"""Largest activity of the classes 0 to 4, in 1/256 of a step."""
WEIGHTS = np.array(
    [
        [29, 23, 18, 14, 11, 8, 6, 4],
        [27, 18, 11, 6, 3, 1, 0, 0],
        [26, 13, 5, 1, 0, 0, 0, 0],
        [22, 6, 0, 0, 0, 0, 0, 0],
        [18, 0, 0, 0, 0, 0, 0, 0],
        [10, 0, 0, 0, 0, 0, 0, 0],
    ]
)
"""Part of the step between the tiles that is added to a sample, in 1/64: by activity class, and by
the distance of the sample from the border."""
FRACTION_BITS = 9
"""Bits of the fraction of a correction."""
COLOURS = np.array([[1, 2, 1], [2, 0, -2], [-1, 2, -1]])
"""Luma, Co and Cg, times 4, of red, green and blue."""


@dataclass(frozen=True)
class Strength:
    """Numbers of the filter that depend on the border step and the depth.

    Parameters
    ----------
    activities : tuple of int
        Largest activity of the classes 0 to 4.
    most : int
        Largest step that is smoothed.
    """

    activities: tuple[int, ...]
    most: int

    @classmethod
    def of(cls, step: int, depth: int) -> "Strength":
        """Return the strength of a border step for samples of a depth."""
        activities = tuple((number * step << depth) >> 18 for number in ACTIVITIES)
        return cls(activities, (3 * step << depth) >> 12)


def nearest_to_zero(*values: np.ndarray) -> np.ndarray:
    """Return the value of least magnitude where all have one sign, else 0 (minmod)."""
    least = np.minimum.reduce(values)
    largest = np.maximum.reduce(values)
    return np.maximum(least, 0) + np.minimum(largest, 0)


def corrections(lines: np.ndarray, strength: Strength) -> np.ndarray:
    """Return what is added to the samples before a border, and subtracted behind it.

    Parameters
    ----------
    lines : (N, 16) int array
        Samples across the border, times 4.
    strength : Strength

    Returns
    -------
    (N, 8) int array
        By distance from the border, in 1/512 of a level.
    """
    before, behind = lines[:, REACH - 1 :: -1], lines[:, REACH:]
    activity = np.zeros(len(lines), np.int64)
    for side in (before, behind):
        activity += np.abs(side[:, :3] - 2 * side[:, 1:4] + side[:, 2:5]).sum(axis=1)
    classes = np.searchsorted(strength.activities, activity, side="left")
    step = 2 * (behind[:, 0] - before[:, 0])
    slope = nearest_to_zero(before[:, 0] - before[:, 2], behind[:, 2] - behind[:, 0], step)
    step = (step - slope).clip(-strength.most, strength.most)
    return WEIGHTS[classes] * step[:, None]


class BorderFilter:
    """Border filter in plain NumPy; backends override ``_filter``."""

    def apply(
        self,
        samples: np.ndarray,
        step: int,
        depth: int,
        size: int,
        place: tuple[int, int] = (0, 0),
        fixed: NDArray[np.bool_] | None = None,
        first: int = 0,
    ) -> None:
        """Filter the borders of tiles within an area of a picture, in place.

        Parameters
        ----------
        samples : (H, W) or (H, W, C) array of uint8 or uint16, C order
            Samples of the area. A side of the area that is nearer than 8 samples to a border within
            the area must be a side of the picture.
        step : int
            Border step, 1 to 65535, in 1/16 of a gray level of 8 bits.
        depth : int
            Bits of a coded level, 1 to 16.
        size : int
            Height and width of a tile.
        place : (int, int)
            Column and row of the first pixel in the picture.
        fixed : (H, W) bool array or None
            Pixels that keep their samples. No line that has one of them is filtered.
        first : int
            Sample that the coded level 0 stands for.
        """
        pixels = samples if samples.ndim == 3 else samples[..., None]
        height, width, planes = pixels.shape
        colours = planes - (planes + 1) % 2
        starts = size - place[0] % size, size - place[1] % size
        if starts[0] >= width and starts[1] >= height:
            return
        if colours < planes and not pixels[..., colours].all():
            hidden = pixels[..., colours] == 0
            fixed = hidden if fixed is None else fixed | hidden
        self._filter(pixels, colours, step, depth, size, starts, fixed, first)

    def _filter(
        self,
        pixels: np.ndarray,
        colours: int,
        step: int,
        depth: int,
        size: int,
        starts: tuple[int, int],
        fixed: NDArray[np.bool_] | None,
        first: int,
    ) -> None:
        """Filter across the borders between columns, then across those between rows.

        Parameters
        ----------
        pixels : (H, W, C) array
            The first ``colours`` planes are filtered.
        starts : (int, int)
            First column and first row before which there is a border.
        """
        strength, limits = Strength.of(step, depth), (first, first + most(depth))
        own = pixels[..., :colours]
        for column in range(starts[0], own.shape[1], size):
            _filter_across(own, strength, column, fixed, limits)
        turned, fixed = own.swapaxes(0, 1), None if fixed is None else fixed.T
        for row in range(starts[1], own.shape[0], size):
            _filter_across(turned, strength, row, fixed, limits)


def _filter_across(
    pixels: np.ndarray,
    strength: Strength,
    border: int,
    fixed: NDArray[np.bool_] | None,
    limits: tuple[int, int],
) -> None:
    """Filter all rows across the border before a column."""
    places = np.arange(border - REACH, border + REACH).clip(0, pixels.shape[1] - 1)
    lines = np.arange(len(pixels))
    if fixed is not None:
        lines = lines[~fixed[:, places].any(axis=1)]
    values = pixels[lines[:, None], places].astype(np.int64)
    if pixels.shape[2] == 1:
        added = corrections(4 * values[..., 0], strength)[..., None]
    else:
        luma, co, cg = (corrections(values @ weights, strength) for weights in COLOURS)
        added = np.stack([luma - cg + co, luma + cg, luma - cg - co], axis=-1)
    half = 1 << (FRACTION_BITS - 1)
    added = np.concatenate([added[:, ::-1], -added], axis=1)
    shown = (values + ((added + half) >> FRACTION_BITS)).clip(*limits)
    inside = np.arange(border - REACH, border + REACH) == places
    pixels[lines[:, None], places[inside]] = shown[:, inside]
