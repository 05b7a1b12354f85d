"""The planes that the layers of a picture code: colour transform, widening, alpha.

Source: sections "Layers" and "Colours" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, coded_depth, middle, most
from mmpcodec.format.layouts import WEIGHTS, Layout
from mmpcodec.runtime.arrays import bands, module_of, on_device
from mmpcodec.runtime.tasks import side_by_side
from mmpcodec.samples import Form, form_of

BAND_SAMPLES = 1 << 16
"""Number of samples of a band of rows; its temporary arrays fit the cache of a processor."""


def layout_of(samples: Any, lam: float) -> Layout:
    """Return the layout of an encoder for planes that are not all coded as exact samples."""
    return layout_of_form(form_of(samples), lam)


def layout_of_form(form: Form, lam: float) -> Layout:
    """Return the layout as ``layout_of`` does, for samples of this form."""
    if form.planes == 1:
        return Layout.TOGETHER
    return Layout.LUMA if form.colours == 3 and lam > 0 else Layout.APART


@dataclass(frozen=True)
class LayerPlane:
    """A plane that one layer codes.

    Parameters
    ----------
    samples : (H, W) array of uint8 or uint16
        In host or device memory.
    weight : float
        Squared error of the picture, the mean over its colours, that a squared error of 1 in the
        plane causes.
    """

    samples: Any
    weight: float


def widened(samples: Any, depth: int) -> Any:
    """Scale samples of fewer than 8 bits to 8 bits; return others unchanged."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * 255 + white // 2) // white).astype(np.uint8)


def narrowed(samples: np.ndarray, depth: int) -> np.ndarray:
    """Round 8-bit samples to the nearest samples of fewer bits; keep depths from 8 bits on."""
    if depth >= BYTE:
        return samples
    white = most(depth)
    return ((samples.astype(np.uint16) * white + 127) // 255).astype(np.uint8)


def split(samples: Any, depth: int, layout: Layout, *, threads: int | None = 1) -> list[LayerPlane]:
    """Return the planes of a tile, one for each layer; the layout is not ``TOGETHER``.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        In host or device memory.
    depth : int
        Bits per sample.
    layout : Layout
    threads : int or None
        Number of threads; None takes all processors.
    """
    form = form_of(samples)
    samples = widened(samples, depth)
    if form.colours == 1:
        planes, weights = [samples if samples.ndim == 2 else samples[..., 0]], [1.0]
    else:
        planes, weights = [samples[..., number] for number in range(3)], [*WEIGHTS[layout]]
        if layout is Layout.LUMA:
            planes = _in_bands(to_luma, planes, coded_depth(depth), threads)
    if form.has_alpha:
        planes, weights = [*planes, samples[..., form.colours]], [*weights, 1.0]
    xp = module_of(samples)
    return [
        LayerPlane(xp.ascontiguousarray(plane), weight)
        for plane, weight in zip(planes, weights, strict=True)
    ]


def joined(
    planes: list[np.ndarray],
    form: Form,
    depth: int,
    layout: Layout,
    *,
    threads: int | None = 1,
) -> np.ndarray:
    """Return the samples of a tile from the planes of its layers; the inverse of ``split``.

    Parameters
    ----------
    planes : list of (H, W) arrays
        Samples of at least 8 bits.
    form : Form
    depth : int
        Bits per sample of the picture.
    layout : Layout
    threads : int or None
        Number of threads; None takes all processors.
    """
    if layout is Layout.LUMA:
        colours = _in_bands(from_luma, planes[:3], coded_depth(depth), threads)
        planes = [*colours, *planes[3:]]
    samples = planes[0] if form is Form.GRAY else np.stack(planes, axis=2)
    return narrowed(samples, depth)


def _in_bands(
    convert: Callable[[Sequence[Any], int], list[Any]],
    planes: Sequence[Any],
    depth: int,
    threads: int | None,
) -> list[Any]:
    """Convert three planes; those in host memory in bands of rows."""
    if on_device(planes[0]):
        return convert(planes, depth)
    made = [np.empty(plane.shape, plane.dtype) for plane in planes]

    def one(rows: tuple[int, int]) -> None:
        band = slice(*rows)
        for whole, part in zip(
            made, convert([plane[band] for plane in planes], depth), strict=True
        ):
            whole[band] = part

    side_by_side(one, bands(planes[0].shape, BAND_SAMPLES), threads)
    return made


def to_luma(colours: Sequence[Any], depth: int) -> list[Any]:
    """Convert colours to luma, chroma orange (red minus blue), chroma green (green minus both).

    Source: H. S. Malvar, G. J. Sullivan, "YCoCg-R: a color space with RGB reversibility", 2003,
    here with chroma halved to the bits of luma.
    """
    kind = colours[0].dtype
    red, green, blue = (plane.astype(np.int32) for plane in colours)
    mid, white = middle(depth), most(depth)
    luma = (red + 2 * green + blue + 2) >> 2
    orange = ((red - blue + 1) >> 1) + mid
    greens = ((2 * green - red - blue + 2) >> 2) + mid
    return [plane.clip(0, white).astype(kind) for plane in (luma, orange, greens)]


def from_luma(planes: Sequence[np.ndarray], depth: int) -> list[np.ndarray]:
    """Convert luma and both chromas to red, green and blue; the inverse of ``to_luma``."""
    mid, white = middle(depth), most(depth)
    kind = planes[0].dtype
    luma, orange, greens = (plane.astype(np.int32) for plane in planes)
    mean = luma - (greens - mid)
    colours = mean + (orange - mid), luma + (greens - mid), mean - (orange - mid)
    return [plane.clip(0, white).astype(kind) for plane in colours]
