"""Draw regions: numbered outlines on a picture, and many pictures on one sheet."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.analysis.regions import Region
from mmpcodec.pictures import Picture

COLOURS = (
    (230, 60, 50),
    (40, 150, 240),
    (245, 170, 30),
    (60, 190, 90),
    (190, 90, 220),
    (0, 190, 190),
)
LINES_A_PICTURE = 250
"""Shorter side of the picture divided by the width of an outline, which is at least 2 pixels."""

CELL = 320
CAPTION_SIZE = 16
MARGIN = 10


def as_rgb(picture: Picture, white: int | None = None) -> np.ndarray:
    """Convert a picture to (H, W, 3) uint8.

    Levels from 0 to ``white`` become 0 to 255, or those of ``levels.shown_range`` if it is None.
    """
    low, high = 0.0, float(white or 0)
    if white is None:
        low, high = shown_range(picture.samples, picture.depth, picture.metadata)
    samples = as_shown(picture.samples, low, high)
    return samples if samples.ndim == 3 else samples[..., None].repeat(3, axis=2)


def draw_regions(
    picture: Picture, regions: Sequence[Region], *, white: int | None = None
) -> NDArray[np.uint8]:
    """Draw a picture with each region outlined and numbered.

    Outlines and numbers lie outside the regions if there is room, so that the inside of a region
    stays visible.

    Parameters
    ----------
    picture : Picture
        Gray or RGB.
    regions : sequence of Region
    white : int or None
        Level that is drawn white, with 0 black; None takes the levels of ``levels.shown_range``.

    Returns
    -------
    (H, W, 3) uint8 array
    """
    rgb = as_rgb(picture, white)
    image = Image.fromarray(np.ascontiguousarray(rgb))
    draw = ImageDraw.Draw(image)
    line = max(2, min(image.size) // LINES_A_PICTURE)
    font = ImageFont.load_default(max(12, 7 * line))
    for region in reversed(regions):
        colour = COLOURS[(region.rank - 1) % len(COLOURS)]
        box = (
            max(0, region.left - line),
            max(0, region.top - line),
            min(image.width - 1, region.right + line),
            min(image.height - 1, region.bottom + line),
        )
        draw.rectangle(box, outline=colour, width=line)
        _number(draw, str(region.rank), box[0], box[1], font, colour)
    return np.asarray(image)


def _number(
    draw: ImageDraw.ImageDraw,
    text: str,
    left: int,
    top: int,
    font: Any,
    colour: tuple[int, int, int],
) -> None:
    """Draw a number on a patch of its region's colour, above the outline if there is room."""
    _, above, right, below = draw.textbbox((0, 0), text, font=font)
    width, height = math.ceil(right) + 4, math.ceil(below - above) + 5
    top = top - height if top >= height else top
    draw.rectangle((left, top, left + width, top + height - 1), fill=colour)
    draw.text((left + 2, top + 2 - above), text, fill="white", font=font)


def thumbnail(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Shrink an (H, W, 3) uint8 picture to at most ``CELL`` pixels a side."""
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.thumbnail((CELL, CELL), Image.Resampling.LANCZOS)
    return np.asarray(image)


def contact_sheet(pictures: Sequence[tuple[str, NDArray[np.uint8]]]) -> NDArray[np.uint8]:
    """Draw pictures in rows of four, with their names below.

    Parameters
    ----------
    pictures : sequence of (str, (H, W, 3) uint8 array)
        Name and pixels of each picture.

    Returns
    -------
    (rows, columns, 3) uint8 array
    """
    across = min(4, len(pictures))
    down = -(-len(pictures) // across)
    cell = CELL + MARGIN, CELL + CAPTION_SIZE + 2 * MARGIN
    page = Image.new("RGB", (across * cell[0] + MARGIN, down * cell[1] + MARGIN), "white")
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(CAPTION_SIZE)
    for number, (name, pixels) in enumerate(pictures):
        image = Image.fromarray(thumbnail(pixels))
        x = MARGIN + number % across * cell[0]
        y = MARGIN + number // across * cell[1]
        page.paste(image, (x + (CELL - image.width) // 2, y + (CELL - image.height) // 2))
        while font.getlength(name) > CELL and len(name) > 4:
            name = name[: len(name) // 2 - 2] + "..." + name[len(name) // 2 + 2 :]
        draw.text((x, y + CELL + 2), name, fill="black", font=font)
    return np.asarray(page)
