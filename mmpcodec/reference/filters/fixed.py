"""Fixed filters of a decoded plane: trained filters, and the choice of their scales.

Source: section "Fixed filters" of ``docs/format/format.md``. The choice is *encoder only*.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, most
from mmpcodec.reference.blocks.steps import PlaneSteps, one_step, weight_of
from mmpcodec.reference.filters.base import (
    FRACTION_BITS,
    LEAST_GAIN,
    PRICE_BITS,
    InBands,
    Tap,
    filtered,
    moved,
    variations,
)
from mmpcodec.runtime import kernels

ACTIVITIES, DIRECTIONS = 7, 5
"""Numbers of activities and of directions; a class is a pair of them."""
TURNS = 4
"""Number of turned forms of a filter."""
START_STEPS = (278, 833)
"""First step of each table of filters but the first."""
SCALES = 4
"""Number of scales: 0, 1/2, 1 and 3/2."""
TAPS = (
    *((0, 1), (0, 2), (0, 3), (1, -2), (1, -1), (1, 0)),
    *((1, 1), (1, 2), (2, -1), (2, 0), (2, 1), (3, 0)),
)
"""Row and column offset of one of the two samples of each tap; the other one is opposite."""
CLIPS = (0, 10, 6, 3)
"""Largest difference of each clip level in 1/512 of the step; level 0 has none."""
BYTES = 2
"""Largest number of bytes of the tool's value in a file."""
ZERO = 64
"""The byte of weight 0."""
BAND_SAMPLES = 1 << 24


@cache
def trained_filters() -> np.ndarray:
    """Return weights in 1/128 and clip levels by table and class, a (3, 35, 2, 12) int array."""
    table = kernels.table("fixed_filters")
    table = table.reshape(len(START_STEPS) + 1, ACTIVITIES * DIRECTIONS, 2, len(TAPS))
    return table - np.array([[ZERO], [0]])


def table_number(step: int) -> int:
    """Return the number of the table of filters for a quantisation step."""
    return bisect_right(START_STEPS, step)


def scales_of(value: int) -> list[int]:
    """Return the scale of each activity in halves from the value of the tool."""
    return [value >> 2 * activity & 3 for activity in range(ACTIVITIES)]


def value_of(scales: Sequence[int]) -> int:
    """Return the value of the tool from the scale of each activity in halves."""
    return sum(scale << 2 * activity for activity, scale in enumerate(scales))


def classes_of(varied: np.ndarray, step: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of each sample, and the turn of its filter.

    Parameters
    ----------
    varied : (4, H, W) int array
        As ``variations`` returns them.
    step : (H, W) int array or int
        Quantisation step.

    Returns
    -------
    classes : (H, W) int array
        Five times the activity, 0 to 6, plus the direction, 0 to 4.
    turns : (H, W) int array
        1 if columns are mirrored, plus 2 if rows and columns are exchanged after that.
    """
    across, down, falling, rising = varied
    high, low = np.maximum(across, down), np.minimum(across, down)
    steep, flat = np.maximum(falling, rising), np.minimum(falling, rising)
    straight = high * flat > steep * low
    largest, least = np.where(straight, high, steep), np.where(straight, low, flat)
    direction = np.where(straight, 1, 3) + (largest > 3 * least)
    direction[2 * largest <= 3 * least] = 0
    last = [(49 * step << k) >> 9 for k in range(ACTIVITIES - 1)]
    activity = sum((across + down > each).astype(np.int64) for each in last)
    return DIRECTIONS * activity + direction, 2 * (down > across) + (rising > falling)


def turned(tap: Tap, turn: int) -> Tap:
    """Return the offset of a tap in a turn."""
    row, column = tap[0], -tap[1] if turn & 1 else tap[1]
    return (column, row) if turn & 2 else (row, column)


def clips_of(step: int, depth: int = BYTE) -> np.ndarray:
    """Return the largest difference of each clip level, an int array."""
    finest = [max(1, ((part * step << extra_bits(depth)) + 256) >> 9) for part in CLIPS[1:]]
    return np.minimum([most(depth), *finest], most(depth))


def tap_differences(
    samples: np.ndarray, turns: np.ndarray, tap: Tap, clip: np.ndarray | int
) -> np.ndarray:
    """Sum of the clipped differences between each sample and the two samples of a tap.

    Parameters
    ----------
    samples : (H, W) uint8 or uint16 array
        Unfiltered samples.
    turns : (H, W) int array
        As ``classes_of`` returns them.
    tap : (int, int)
        One of ``TAPS``.
    clip : (H, W) int array or int
        Largest difference.

    Returns
    -------
    (H, W) int64 array
    """
    total = np.zeros(samples.shape, np.int64)
    for turn in range(TURNS):
        row, column = turned(tap, turn)
        for one in (moved(samples, row, column), moved(samples, -row, -column)):
            total += np.where(turns == turn, np.clip(one - samples, -clip, clip), 0)
    return total


class FixedFilters(InBands):
    """Fixed filters in plain NumPy; backends override the private methods."""

    band_samples = BAND_SAMPLES

    def apply(
        self,
        samples: np.ndarray,
        value: int,
        step: int | PlaneSteps,
        depth: int = BYTE,
        *,
        threads: int | None = 1,
    ) -> np.ndarray:
        """Filter a plane.

        Parameters
        ----------
        samples : (H, W) uint8 or uint16 array
            Below ``2**depth``.
        value : int
            Value of the tool *fixed filters*: the scales of the activities.
        step : int or PlaneSteps
            Quantisation step of the layer, or those of its fragments.
        depth : int
            Bits of a sample, 8 to 16.
        threads : int or None
            Number of threads of backends that have threads; None takes all processors.

        Returns
        -------
        (H, W) array
            Filtered samples, with the dtype of ``samples``. If all scales are 0, this is
            ``samples`` itself.
        """
        if value == 0:
            return samples
        return self._filtered(samples, scales_of(value), _steps(step), depth, threads)

    def choose(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        step: int | PlaneSteps,
        depth: int = BYTE,
        *,
        usual: int | None = None,
        price: int = 0,
        threads: int | None = 1,
    ) -> int:
        """Choose the scale of least squared error for each activity; of equals the least.

        All are 0 if the filters gain less than ``LEAST_GAIN`` says. The usual value stays if
        another one gains less than its price.

        Parameters
        ----------
        source, samples : (H, W) uint8 or uint16 arrays
            Source samples, and decoded samples.
        step : int or PlaneSteps
            As in ``apply``. Errors count less in fragments of larger steps.
        depth : int
            Bits of a sample, 8 to 16.
        usual : int or None
            Value that a file need not write.
        price : int
            What another value costs, in 1/65536 squared error.
        threads : int or None
            As in ``apply``.

        Returns
        -------
        int
            Value of the tool.
        """
        steps = _steps(step)
        found = self._total(self._errors, source, samples, steps, depth=depth, threads=threads)
        pairs = zip(steps.changes, found, strict=True)
        errors = sum(weight_of(change) * own for change, own in pairs).tolist()
        best = [own.index(min(own)) for own in errors]
        unfiltered, least = sum(own[0] for own in errors), sum(map(min, errors))
        if (unfiltered - least) * LEAST_GAIN < unfiltered:
            best = [0] * len(errors)
        if usual is not None:
            chosen = zip(errors, scales_of(usual), best, strict=True)
            gain = sum(own[scale] - own[better] for own, scale, better in chosen)
            if gain << PRICE_BITS <= price * weight_of(0):
                return usual
        return value_of(best)

    def _filtered(
        self,
        samples: np.ndarray,
        scales: Sequence[int],
        steps: PlaneSteps,
        depth: int,
        threads: int | None,
    ) -> np.ndarray:
        """Filter with the scale of each activity in halves."""
        numbers = steps.of_samples(samples.shape)
        classes, turns = classes_of(variations(samples, depth), np.array(steps.steps)[numbers])
        tables = np.array([table_number(step) for step in steps.steps])[numbers]
        weights, levels = trained_filters()[tables, classes].transpose(2, 3, 0, 1)
        clips = np.stack([clips_of(step, depth) for step in steps.steps])[numbers, levels]
        total = sum(
            weights[number] * tap_differences(samples, turns, tap, clips[number])
            for number, tap in enumerate(TAPS)
        )
        own = np.array(scales)[classes // DIRECTIONS]
        return filtered(samples, own * total, FRACTION_BITS + 1, depth)

    def _errors(
        self,
        source: np.ndarray,
        samples: np.ndarray,
        steps: PlaneSteps,
        first: int,
        last: int,
        depth: int,
    ) -> np.ndarray:
        """Return the squared errors at each scale, over rows ``first`` to ``last - 1``.

        Returns
        -------
        (N, 7, 4) int64 array
            Sum for each step, activity and scale.
        """
        numbers, inside = steps.of_samples(samples.shape), slice(first, last)
        classes, _ = classes_of(variations(samples, depth), np.array(steps.steps)[numbers])
        errors = np.zeros((len(steps.steps), ACTIVITIES, SCALES), np.int64)
        for scale in range(SCALES):
            shown = self._filtered(samples, [scale] * ACTIVITIES, steps, depth, 1)
            squares = (source.astype(np.int64) - shown)[inside] ** 2
            own = numbers[inside], classes[inside] // DIRECTIONS
            np.add.at(errors[..., scale], own, squares)
        return errors


def _steps(step: int | PlaneSteps) -> PlaneSteps:
    return one_step(step) if isinstance(step, int) else step
