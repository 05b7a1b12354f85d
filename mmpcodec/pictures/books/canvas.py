"""Compose the frames of animations as viewers show them: each is drawn over those before it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.samples import Samples


class Afterwards(Enum):
    """What becomes of the part of a frame before the next frame is drawn."""

    STAYS = 0
    CLEARED = 1
    RESTORED = 2


@dataclass(frozen=True)
class DrawnFrame:
    """How a frame is drawn.

    Parameters
    ----------
    left, top, width, height : int
        Its part of the canvas in pixels; what lies outside of the canvas is not shown.
    afterwards : Afterwards
    over : bool
        Whether it is blended over what is there by its alpha; otherwise it replaces that.
    """

    left: int
    top: int
    width: int
    height: int
    afterwards: Afterwards = Afterwards.STAYS
    over: bool = True

    @property
    def part(self) -> tuple[slice, slice]:
        """Its rows and columns."""
        return (
            slice(self.top, self.top + self.height),
            slice(self.left, self.left + self.width),
        )

    def covers(self, other: "DrawnFrame") -> bool:
        """Return whether its part holds the part of another frame."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.left + self.width >= other.left + other.width
            and self.top + self.height >= other.top + other.height
        )


class Canvas:
    """Gives the composed frames of an animation. Threads may share it.

    Reading in order draws each frame once. Going back begins with the first frame.

    Parameters
    ----------
    shape : tuple of int
        (H, W) or (H, W, C) of the canvas. With alpha, it begins transparent.
    depth : int
        Bits per sample.
    frames : sequence of DrawnFrame
    decode : callable
        ``decode(number)`` returns the samples of a frame, with the planes of the canvas.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        depth: int,
        frames: Sequence[DrawnFrame],
        decode: Callable[[int], Samples],
    ):
        self._shape, self._depth, self._frames, self._decode = shape, depth, frames, decode
        self._next = 0
        self._drawn = np.empty(0, np.uint8)
        self._before: np.ndarray | None = None
        self._lock = threading.Lock()

    def frame(self, number: int) -> Samples:
        """Return what is shown with a frame, counted from 0."""
        with self._lock:
            if number + 1 < self._next or not self._next:
                self._next = 0
                self._drawn = np.zeros(self._shape, sample_type(self._depth))
            for each in range(self._next, number + 1):
                self._draw(each)
                self._next = each + 1
            return self._drawn.copy()

    def _draw(self, number: int) -> None:
        """Draw a frame over those before it; a frame that is damaged changes nothing."""
        samples = self._decode(number)
        if number:
            last = self._frames[number - 1]
            if last.afterwards is Afterwards.CLEARED:
                self._drawn[last.part] = 0
            elif self._before is not None:
                self._drawn[last.part] = self._before
        frame = self._frames[number]
        there = self._drawn[frame.part]
        self._before = there.copy() if frame.afterwards is Afterwards.RESTORED else None
        samples = samples[: there.shape[0], : there.shape[1]]
        if frame.over and samples.ndim == 3 and samples.shape[2] in (2, 4):
            samples = blended(samples, there, self._depth)
        there[...] = samples


def blended(samples: Samples, below: Samples, depth: int) -> Samples:
    """Blend samples with alpha, the last plane, over others: section 13.16 of PNG, third edition.

    Levels are those of the samples, not of light, as viewers of animations blend.

    Parameters
    ----------
    samples, below : (H, W, C) arrays
    depth : int
        Bits per sample.

    Returns
    -------
    (H, W, C) array
        Exact but for rounding to the nearest level.
    """
    most = (1 << depth) - 1
    alpha = samples[..., -1]
    found = np.where((alpha == 0)[..., None], below, samples)
    mixed = (alpha > 0) & (alpha < most) & (below[..., -1] > 0)
    if mixed.any():
        front, back = (each[mixed].astype(np.int64) for each in (samples, below))
        in_front = front[:, -1:] * most
        behind = (most - front[:, -1:]) * back[:, -1:]
        total = in_front + behind
        levels = (front * in_front + back * behind + total // 2) // total
        levels[:, -1:] = (total + most // 2) // most
        found[mixed] = levels
    return found


def shows_through(
    width: int, height: int, frames: Sequence[DrawnFrame], opaque: Callable[[int], bool]
) -> bool:
    """Return whether a part of the canvas may be transparent in some frame.

    Parameters
    ----------
    width, height : int
        Of the canvas in pixels.
    frames : sequence of DrawnFrame
    opaque : callable
        ``opaque(number)`` returns whether a frame has no transparent pixel; it is asked only of
        frames that hide a part that would be transparent.
    """
    cleared = DrawnFrame(0, 0, width, height)
    for number, frame in enumerate(frames):
        if cleared.width and not (frame.covers(cleared) and opaque(number)):
            return True
        # There is nothing before the first frame that could be restored.
        first = number == 0 and frame.afterwards is Afterwards.RESTORED
        is_cleared = first or frame.afterwards is Afterwards.CLEARED
        cleared = frame if is_cleared else DrawnFrame(0, 0, 0, 0)
    return False
