"""Maps of metrics as images of the report: at half of the resolution, in 64 levels.

A map has more detail than the eye finds in it, and noise that costs bytes. A pixel of the image is
the mean of 2x2 pixels of the map. Its level is the square root of the value, as a share of that of
the largest value of all images of the same picture and metric. So weak errors keep enough levels
to be shown brighter, and the images of all codecs and points can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mmpcodec import pictures as files
from mmpcodec.bench.metrics import MetricMap
from mmpcodec.limits import UNLIMITED
from mmpcodec.metrics.samples import halved

LEVELS = 64
"""Number of levels of an image; level k stands for the value ``top * (k / 63) ** 2``."""

RAMP = 256
"""Number of colours from no error to the largest one."""


@dataclass(frozen=True)
class MapImages:
    """Images of the maps of a metric, of some decoded pictures of one original.

    Parameters
    ----------
    top : float
        Value of the highest level, in the unit of the map; 0 if no picture has an error.
    levels : dict
        Levels of each decoded picture by its key, (H / 2, W / 2) uint8 arrays, rounded up.
    """

    top: float
    levels: dict[str, np.ndarray]


def fits(kind: MetricMap, width: int, height: int) -> bool:
    """Return whether a picture is large enough for a map."""
    return min(width, height) >= kind.side


def map_images(
    kind: MetricMap,
    original: Path,
    decoded: Mapping[str, Path],
    white: int,
    levels: Sequence[int] | None = None,
) -> MapImages:
    """Compute the images of a map.

    Parameters
    ----------
    kind : MetricMap
    original : Path
        File of a picture that is large enough; see ``fits``. Alpha is left out.
    decoded : mapping
        File of each decoded picture by its key.
    white : int
        Level of white.
    levels : two int or None
        Levels of black and white, in place of 0 and ``white``; see ``metrics.measure``.
    """
    white = white if levels is None else levels[1] - levels[0]
    first = _samples(original, levels)
    values = {}
    for key, path in decoded.items():
        found = kind.function(first, _samples(path, levels), white=white)
        if found is None:
            raise ValueError(f"{path}: is too small for a map of {kind.metric.title}")
        values[key] = np.maximum(halved(found.astype(np.float32)[None])[0], 0)
    top = max(float(each.max()) for each in values.values())
    scale = 1 / top if top else 0.0
    return MapImages(
        top,
        {
            key: np.rint((LEVELS - 1) * np.sqrt(scale * each)).astype(np.uint8)
            for key, each in values.items()
        },
    )


def _samples(path: Path, levels: Sequence[int] | None) -> np.ndarray:
    found = files.read(path, limits=UNLIMITED).without_alpha().samples
    return found if levels is None else found.clip(levels[0], levels[1]) - levels[0]


def ramp() -> Sequence[str]:
    """Return the colours of values from 0 to the largest, as ``rrggbb`` in hexadecimal digits.

    Lightness rises evenly from black to a light yellow, while the hue turns from violet over red.
    So the order of values shows in lightness alone, which all readers see.

    Source of the space OKLab: Ottosson, "A perceptual color space for image processing", 2020.
    """
    share = np.linspace(0, 1, RAMP)
    lightness, chroma = 0.96 * share, 0.17 * np.sin(0.82 * np.pi * share)
    hue = np.radians(295 + 170 * share)
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cones = np.stack([lightness, a, b], 1) @ np.transpose(_FROM_OKLAB)
    light = np.clip(cones**3 @ np.transpose(_FROM_CONES), 0, 1)
    bent = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return [bytes(each).hex() for each in np.rint(255 * bent).astype(np.uint8)]


_FROM_OKLAB = (
    (1, 0.3963377774, 0.2158037573),
    (1, -0.1055613458, -0.0638541728),
    (1, -0.0894841775, -1.2914855480),
)
_FROM_CONES = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)
"""From OKLab to the cube roots of the responses of cones, and from these to linear sRGB."""
