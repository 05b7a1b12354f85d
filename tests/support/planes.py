"""Planes to code as lossless samples, some of luma and chroma; outcomes of decoding; and rounding
modes of floating point."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from mmpcodec import FormatError
from mmpcodec.reference.lossless.source_colours.colours import (
    JPEG,
    PHOTO_CD,
    SourceColours,
    interpolated,
    to_pixels,
)
from support.strategies import CONTENT, text_like

DEPTHS = (1, 2, 4, 7, 8, 9, 12, 15, 16)
ROUNDING = {
    "x86_64": {"down": 0x400, "up": 0x800, "toward zero": 0xC00},
    "aarch64": {"up": 0x400000, "down": 0x800000, "toward zero": 0xC00000},
}
"""The numbers of <fenv.h>."""


@st.composite
def planes(draw):
    """Samples of one to four planes that resemble each other, and their depth."""
    depth = draw(st.sampled_from(DEPTHS))
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = (1 << depth) - 1
    content = draw(st.sampled_from([*CONTENT.values()]))
    first = content(rng, height, width).astype(np.int64) * most // 255
    spread = draw(st.sampled_from([0, 1, most // 16 + 1, most]))
    count = draw(st.integers(1, 4))
    noise = rng.integers(-spread, spread + 1, (count, height, width))
    return np.clip(first + noise, 0, most).astype(np.uint16), depth


def outcome(decode):
    """The bytes of the samples that a call returns, or the text of its error."""
    try:
        return decode().tobytes()
    except FormatError as error:
        return str(error)


def noise(height: int, width: int, share: float = 0.5) -> np.ndarray:
    """Pixels at random, of which a share is 1."""
    return np.random.default_rng(height * width).random((height, width)) < share


def text(height: int, width: int) -> np.ndarray:
    """Glyphs that come again."""
    return text_like(np.random.default_rng(5), height, width) < 128


def halftone(height: int, width: int) -> np.ndarray:
    """Shades of grey by ordered dither."""
    i, j = np.indices((height, width))
    matrix = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
    return 16 * (i + j) > (height + width) * matrix[i % 4, j % 4]


def one_pixel(height: int, width: int, row: int, column: int) -> np.ndarray:
    """A plane whose second value appears once."""
    pixels = np.zeros((height, width), bool)
    pixels[row, column] = True
    return pixels


def lines_of_text(height: int, width: int) -> np.ndarray:
    """Lines of a few glyphs with white between them, so that whole groups are among them."""
    pixels = text(height, width)
    pixels[:, width // 3 : width // 3 + 26] = False
    pixels[height // 2 : height // 2 + 9] = False
    return pixels


def enlarged(pixels: np.ndarray) -> np.ndarray:
    """Pixels of which each second row and column stands twice."""
    for axis in (0, 1):
        times = 1 + np.arange(pixels.shape[axis]) % 2
        pixels = pixels.repeat(times, axis=axis)
    return pixels


def black_areas(height: int, width: int) -> np.ndarray:
    """A page with large black areas, some of whose pixels are white."""
    pixels = np.zeros((height, width), bool)
    pixels[2:-3, 3:-2] = True
    pixels[height // 2, width // 2 : width // 2 + 5] = False
    pixels[height // 3, -9] = pixels[height // 2 + 2, width // 2 + 3] = False
    return pixels


PIXELS: dict[str, Callable[[], np.ndarray]] = {
    "noise": lambda: noise(13, 37),
    "a few ones": lambda: noise(18, 71, 0.03),
    "a few zeros": lambda: noise(18, 71, 0.97),
    "text": lambda: text(40, 67),
    "text with gaps": lambda: lines_of_text(57, 93),
    "halftone": lambda: halftone(24, 45),
    "one pixel": lambda: one_pixel(21, 150, 12, 77),
    "first pixel": lambda: one_pixel(9, 20, 0, 0),
    "last pixel": lambda: one_pixel(9, 25, 8, 24),
    "last pixel of a group": lambda: one_pixel(9, 24, 4, 7),
    "all but one pixel": lambda: ~one_pixel(10, 90, 7, 81),
    "black areas": lambda: black_areas(30, 83),
    "a row": lambda: noise(1, 90, 0.1),
    "a column": lambda: noise(60, 1, 0.3),
    "enlarged by 2 and 4": lambda: text(12, 20).repeat(2, axis=0).repeat(4, axis=1),
    "enlarged by 3/2": lambda: enlarged(text(24, 40)),
    "two pixels": lambda: one_pixel(1, 2, 0, 1),
}
"""Pixels by name: small planes that reach all kinds of groups, places and models."""


def plane_of(name: str, values: tuple[int, int] = (0, 1)) -> np.ndarray:
    """Samples (1, H, W) of some pixels, with the values of pixels 0 and 1."""
    return np.where(PIXELS[name](), values[1], values[0])[None].astype(np.uint16)


COLOURS = [
    *(SourceColours(kind) for kind in (JPEG, PHOTO_CD)),
    SourceColours(JPEG, (True, True)),
    SourceColours(JPEG, (True, True), (1, 0)),
    SourceColours(JPEG, (False, True)),
    SourceColours(JPEG, (False, True), (0, 1)),
    SourceColours(JPEG, (True, False)),
    SourceColours(JPEG, (True, False), (1, 0)),
    SourceColours(PHOTO_CD, (True, True)),
    SourceColours(PHOTO_CD, (True, True), (1, 1)),
]
ORIGIN = {JPEG: (128, 128), PHOTO_CD: (156, 137)}
"""Chroma of gray."""


@dataclass
class Made:
    """Luma and chroma, as ``SourcePlanes``, and what they make."""

    kind: int
    halved: tuple[bool, bool]
    phase: tuple[int, int]
    luma: np.ndarray
    chroma: tuple[np.ndarray, np.ndarray]
    corrections: tuple
    planes: np.ndarray
    """Green, red and blue, (3, H, W) uint16."""


def made_from(
    colours: SourceColours, shape: tuple[int, int], *, corrected: int = 0, spread: int = 24
) -> Made:
    """Return a picture of noisy waves.

    Parameters
    ----------
    colours : SourceColours
    shape : (int, int)
        Rows and columns.
    corrected : int
        Number of pixels whose chroma is corrected.
    spread : int
        Largest distance of chroma from gray.
    """
    rng = np.random.default_rng(corrected)

    def waves(shape: tuple[int, int], middle: int, height: int, noise: int) -> np.ndarray:
        i, j = np.indices(shape)
        wave = middle + height * np.sin(i / 5 + middle) * np.cos(j / 7)
        return np.clip(wave + rng.integers(-noise, noise + 1, shape), 0, 255).astype(np.uint16)

    luma = waves(shape, 110, 40, 9)
    small = colours.chroma_shape(shape)
    chroma = tuple(waves(small, middle, spread - 4, 4) for middle in ORIGIN[colours.kind])
    full = [interpolated(plane, colours, shape) for plane in chroma]
    corrections = []
    for plane in full:
        places = np.sort(rng.choice(plane.size, corrected, replace=False))
        differences = rng.choice([-200, -2, -1, 1, 3], corrected)
        plane.ravel()[places] = np.clip(plane.ravel()[places] + differences, 0, 255)
        corrections.append((places, differences))
    pixels = to_pixels(luma, full, colours.kind).astype(np.uint16)
    found = colours.kind, colours.halved, colours.phase, luma, chroma, tuple(corrections)
    return Made(*found, pixels)
