"""Pictures that were made from luma and chroma."""

from dataclasses import dataclass

import numpy as np

from mmpcodec.reference.lossless.source_colours import (
    JPEG,
    PHOTO_CD,
    SourceColours,
    interpolated,
    to_pixels,
)

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
