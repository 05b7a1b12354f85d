"""Forms of pictures, and the planes that their layers code.

Source: sections "Layers" and "Colours" of ``docs/format.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, coded_depth, middle, most
from mmpcodec.format.layouts import WEIGHTS, Layout
from mmpcodec.runtime.arrays import module_of
from mmpcodec.samples import Form, form_of


def layout_of(samples: Any, lam: float) -> Layout:
    """How an encoder puts planes into layers where it does not code all as exact samples."""
    form = form_of(samples)
    if form.planes == 1:
        return Layout.TOGETHER
    return Layout.LUMA if form.colours == 3 and lam > 0 else Layout.APART


@dataclass(frozen=True)
class Plane:
    """A plane that one layer codes.

    Parameters
    ----------
    samples : (H, W) array of uint8 or uint16
        Where the picture lies.
    weight : float
        Squared error of the picture, as a mean over its colours, for one of the plane.
    """

    samples: Any
    weight: float


def widened(samples: Any, depth: int) -> Any:
    """Samples of less than 8 bits as those of 8; others as they are."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * 255 + white // 2) // white).astype(np.uint8)


def narrowed(samples: np.ndarray, depth: int) -> np.ndarray:
    """Samples of 8 bits as the nearest ones of less; of more bits as they are."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * white + 127) // 255).astype(np.uint8)


def split(samples: Any, depth: int, layout: Layout) -> list[Plane]:
    """The planes of a tile, one for each layer of a layout other than together.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        On the host or a CUDA device.
    depth : int
    layout : Layout
    """
    form = form_of(samples)
    samples = widened(samples, depth)
    if form.colours == 1:
        planes, weights = [samples if samples.ndim == 2 else samples[..., 0]], [1.0]
    else:
        planes, weights = [samples[..., number] for number in range(3)], [*WEIGHTS[layout]]
        if layout is Layout.LUMA:
            planes = to_luma(planes, coded_depth(depth))
    if form.has_alpha:
        planes, weights = [*planes, samples[..., form.colours]], [*weights, 1.0]
    xp = module_of(samples)
    return [
        Plane(xp.ascontiguousarray(plane), weight)
        for plane, weight in zip(planes, weights, strict=True)
    ]


def joined(planes: list[np.ndarray], form: Form, depth: int, layout: Layout) -> np.ndarray:
    """The samples of a tile from what its layers decoded to, each of at least 8 bits.

    Parameters
    ----------
    planes : list of (H, W) arrays
    form : Form
    depth : int
        Of the picture.
    layout : Layout
    """
    if layout is Layout.LUMA:
        planes = [*from_luma(planes[:3], coded_depth(depth)), *planes[3:]]
    samples = planes[0] if form is Form.GRAY else np.stack(planes, axis=2)
    return narrowed(samples, depth)


def to_luma(colours: Sequence[Any], depth: int) -> list[Any]:
    """Luma, chroma orange (red against blue) and chroma green (green against both) of colours.

    Source: H. S. Malvar, G. J. Sullivan, "YCoCg-R: a color space with RGB reversibility", 2003,
    here with chroma halved to as many bits as luma has.
    """
    kind = colours[0].dtype
    red, green, blue = (plane.astype(np.int32) for plane in colours)
    mid, white = middle(depth), most(depth)
    luma = (red + 2 * green + blue + 2) >> 2
    orange = ((red - blue + 1) >> 1) + mid
    greens = ((2 * green - red - blue + 2) >> 2) + mid
    return [plane.clip(0, white).astype(kind) for plane in (luma, orange, greens)]


def from_luma(planes: Sequence[np.ndarray], depth: int) -> list[np.ndarray]:
    """Red, green and blue."""
    mid, white = middle(depth), most(depth)
    kind = planes[0].dtype
    luma, orange, greens = (plane.astype(np.int32) for plane in planes)
    mean = luma - (greens - mid)
    colours = mean + (orange - mid), luma + (greens - mid), mean - (orange - mid)
    return [plane.clip(0, white).astype(kind) for plane in colours]
