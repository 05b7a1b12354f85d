"""Draw the predicted blocks of a picture: outlines, a tint for each kind, a mark for each mode.

A new kind of block needs a row in ``KINDS``, a new mode a row in ``MARKS``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mmpcodec.analysis.drawings.trees import draw_tree, enlarge
from mmpcodec.reference.blocks.partition import FIRST_ANGLE, KIND_NAMES, TREE, UNIT, mode_name
from mmpcodec.reference.blocks.prediction import FIRST_FROM_ABOVE, SLOPES
from mmpcodec.trace import block_edges, unit_edges

TINT_OPACITY = 0.3
PALETTE_OPACITY = 0.5
"""Above the opacity of the other tints, because blocks can lie below the palette."""
LARGEST_MARK = 8
"""Half the length of the largest marks, in samples."""
SMALL = 0.4
"""Size of marks without a direction, divided by the size of marks with a direction."""
STROKE = 0.75
"""Half the width of a line, in pixels. The outline of a mark adds one pixel at each side."""
MARK_LEVEL, OUTLINE_LEVEL = 255, 0
OUTLINE_OPACITY = 0.6
SMALL_PICTURE = 512
"""Smaller pictures are enlarged until their longer side has this many pixels."""
LEAST_ZOOM = 3


@dataclass(frozen=True)
class Colour:
    """Tint of a kind of block."""

    name: str
    rgb: tuple[int, int, int]


KINDS = {
    "bare": Colour("green", (0, 200, 60)),
    "transformed": Colour("orange", (255, 140, 0)),
    "tree": Colour("blue", (40, 90, 255)),
}
"""Tints by the names of the kinds."""
PALETTE = Colour("violet", (170, 0, 220))
"""Tint of the pixels that a palette draws."""


@dataclass(frozen=True)
class Mark:
    """Mark of a prediction mode.

    Parameters
    ----------
    name : str
    distance : callable
        ``distance(down, right, reach, mode)`` gives the distance in pixels from the mark, negative
        inside it. ``down`` and ``right`` are arrays of offsets from the middle of the mark,
        ``reach`` is half its length.
    """

    name: str
    distance: Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]


def stroke(down: np.ndarray, right: np.ndarray, reach: float, slope: tuple[float, float]):
    """Return the distance in pixels from a line through the middle, negative inside the line.

    ``slope`` is the direction (down, right), ``reach`` half the length of the line.
    """
    length = np.hypot(*slope)
    along = np.abs(down * slope[0] + right * slope[1]) / length
    across = np.abs(down * slope[1] - right * slope[0]) / length
    return np.maximum(across - STROKE, along - reach)


def _angle(down, right, reach, mode):
    angle = mode - FIRST_ANGLE
    slope = (-32, SLOPES[angle]) if angle >= FIRST_FROM_ABOVE else (SLOPES[angle], -32)
    return stroke(down, right, reach, slope)


def _dot(down, right, reach, mode):
    return np.hypot(down, right) - SMALL * reach / 2


def _ring(down, right, reach, mode):
    return np.abs(np.hypot(down, right) - SMALL * reach) - STROKE


def _square(down, right, reach, mode):
    return np.abs(np.maximum(np.abs(down), np.abs(right)) - SMALL * reach) - STROKE


def _plus(down, right, reach, mode):
    return np.minimum(
        stroke(down, right, SMALL * reach, (0, 1)), stroke(down, right, SMALL * reach, (1, 0))
    )


def _two_lines(down, right, reach, mode):
    apart = SMALL * reach / 2
    return stroke(np.abs(down) - apart, right, SMALL * reach, (0, 1))


def _diamond(down, right, reach, mode):
    return np.abs(np.abs(down) + np.abs(right) - SMALL * reach) - STROKE


MARKS = {
    "constant": Mark("square", _square),
    "average": Mark("dot", _dot),
    "planar": Mark("ring", _ring),
    "angle": Mark("line along which samples are predicted", _angle),
    "templates": Mark("plus", _plus),
    "cross-component": Mark("two lines", _two_lines),
    "wide cross-component": Mark("diamond", _diamond),
}
"""Marks by the names of the modes."""


def least_zoom(shape: tuple[int, ...]) -> int:
    """Return the smallest enlargement of a picture that makes marks visible."""
    return max(LEAST_ZOOM, -(-SMALL_PICTURE // max(shape)))


def draw_blocks(
    samples: NDArray[np.uint8],
    units: NDArray[np.uint8],
    fragment_size: int,
    *,
    zoom: int | None = None,
) -> NDArray[np.uint8]:
    """Draw a picture with its blocks outlined, tinted by kind and marked by mode.

    Parameters
    ----------
    samples : (H, W) uint8 array
    units : (H' / 4, W' / 4, 4) uint8 array
        ``Trace.units`` of the padded picture.
    fragment_size : int
        Side of a fragment in samples.
    zoom : int or None
        Enlargement; None takes ``least_zoom``.

    Returns
    -------
    (zoom H + 1, zoom W + 1, 3) uint8 array
    """
    zoom = zoom or least_zoom(samples.shape)
    drawn = draw_tree(samples, block_edges(units), fragment_size=fragment_size, zoom=zoom)
    inside = drawn[:-1, :-1]
    for row, column in np.argwhere(np.logical_and(*unit_edges(units))).tolist():
        height_log2, width_log2, mode, kind = units[row, column].tolist()
        # The first row and column of a block are its outline.
        top, left = (zoom * UNIT * place + 1 for place in (row, column))
        height, width = (zoom << log2 for log2 in (height_log2, width_log2))
        block = inside[top : top + height - 1, left : left + width - 1]
        colour = np.array(KINDS[KIND_NAMES[kind]].rgb)
        tinted = block + TINT_OPACITY * (colour - block.astype(np.float32))
        if kind != TREE:
            ink, outline = mark_coverage(mode, height - 1, width - 1, zoom)
            for level, cover in ((OUTLINE_LEVEL, OUTLINE_OPACITY * outline), (MARK_LEVEL, ink)):
                part = cover[: block.shape[0], : block.shape[1], None]
                tinted += part * (level - tinted)
        block[:] = np.rint(tinted)
    return drawn


def tint_palette(picture: NDArray[np.uint8], drawn: NDArray[np.bool_], zoom: int) -> None:
    """Tint the pixels that a palette draws, in a drawing of its tile, in place.

    Parameters
    ----------
    picture : (zoom H + 1, zoom W + 1, 3) uint8 array
        As ``draw_blocks`` returns it.
    drawn : (H, W) bool array
        ``Trace.drawn`` of the palette.
    zoom : int
        Enlargement of the drawing.
    """
    inside, where = picture[:-1, :-1], enlarge(drawn.view(np.uint8), zoom) > 0
    below = inside[where]
    colour = np.array(PALETTE.rgb)
    inside[where] = np.rint(below + PALETTE_OPACITY * (colour - below.astype(np.float32)))


@cache
def mark_coverage(mode: int, height: int, width: int, zoom: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each pixel that a mark covers, and that mark and outline cover, 0 to 1.

    Parameters
    ----------
    mode : int
    height, width : int
        Size of the block in pixels.
    zoom : int
        Pixels per sample.

    Returns
    -------
    two (height, width) float32 arrays
    """
    down, right = np.ogrid[:height, :width]
    reach = min(3 / 8 * min(height, width), LARGEST_MARK * zoom)
    distance = MARKS[mode_name(mode)].distance(
        down - (height - 1) / 2, right - (width - 1) / 2, reach, mode
    )
    ink, outline = (np.clip(0.5 + beyond - distance, 0, 1) for beyond in (0, 1))
    return ink.astype(np.float32), outline.astype(np.float32)
