"""The planes that the layers of a picture code: colour transform, widening, alpha.

Source: sections "Layers" and "Colours" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, coded_depth, extra_bits, middle, most, sample_type
from mmpcodec.format.layers import fault_of_depth
from mmpcodec.format.layouts import ALPHA, WEIGHTS, Layout
from mmpcodec.params import EncodeParams
from mmpcodec.reference import colour_rotation
from mmpcodec.reference.colour_rotation import NO_ROTATION, Rotation
from mmpcodec.runtime.arrays import bands, module_of, on_device
from mmpcodec.runtime.tasks import side_by_side
from mmpcodec.samples import Form, form_of
from mmpcodec.tools import BlockTools

BAND_SAMPLES = 1 << 16
"""Number of samples of a band of rows; its temporary arrays fit the cache of a processor."""

MOST_FINE_LAMBDA = 1024
"""Largest lambda of the fine layout, in squared errors of one level of the samples."""


def layout_of(samples: Any, lam: float) -> Layout:
    """Return the layout of an encoder for planes that are not all coded as lossless samples."""
    return layout_of_form(form_of(samples), lam)


def layout_of_form(form: Form, lam: float) -> Layout:
    """Return the layout as ``layout_of`` does, for samples of this form."""
    if form.planes == 1:
        return Layout.TOGETHER
    return Layout.LUMA if form.colours == 3 and lam > 0 else Layout.APART


def can_be_fine(params: EncodeParams, depth: int) -> bool:
    """Return whether an encoder codes colours with these parameters in the fine layout.

    It does with predicted blocks, where lambda is small enough that the additional bits gain.
    """
    layout, wide, tools = Layout.FINE_LUMA, coded_depth(depth), params.tools
    return (
        params.fine
        and isinstance(tools, BlockTools)
        and layout.fits(depth)
        and fault_of_depth(tools, layout.depth_of("", depth)) is None
        and params.lam * 4.0 ** extra_bits(wide) <= MOST_FINE_LAMBDA
    )


@dataclass(frozen=True)
class LayerPlane:
    """A plane that one layer codes.

    Parameters
    ----------
    samples : (H, W) array of uint8 or uint16
        In host or device memory.
    weight : float
        Squared error of the picture, the mean over its colours, that a squared error of 1 in the
        plane causes, both in units of 8-bit samples.
    depth : int
        Bits per sample.
    """

    samples: Any
    weight: float
    depth: int = BYTE


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


def split(
    samples: Any,
    depth: int,
    layout: Layout,
    rotation: Rotation = NO_ROTATION,
    *,
    threads: int | None = 1,
) -> list[LayerPlane]:
    """Return the planes of a tile, one for each layer; the layout is not ``TOGETHER``.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        In host or device memory.
    depth : int
        Bits per sample.
    layout : Layout
    rotation : Rotation
        Of the colours, for the fine layout.
    threads : int or None
        Number of threads; None takes all processors.
    """
    form = form_of(samples)
    samples = widened(samples, depth)
    depths = [layout.depth_of("", depth)] * form.colours
    if form.colours == 1:
        planes, weights = [samples if samples.ndim == 2 else samples[..., 0]], [1.0]
    else:
        planes, weights = [samples[..., number] for number in range(3)], [*WEIGHTS[layout]]
        if layout is not Layout.APART:
            convert = to_luma
            if layout is Layout.FINE_LUMA:
                convert = partial(colour_rotation.to_planes, rotation=rotation)
            planes = _in_bands(convert, planes, coded_depth(depth), depths[0], threads)
    if form.has_alpha:
        planes, weights = [*planes, samples[..., form.colours]], [*weights, 1.0]
        depths.append(layout.depth_of(ALPHA, depth))
    xp = module_of(samples)
    return [
        LayerPlane(xp.ascontiguousarray(plane), weight, own)
        for plane, weight, own in zip(planes, weights, depths, strict=True)
    ]


def joined(
    planes: list[np.ndarray],
    form: Form,
    depth: int,
    layout: Layout,
    rotation: Rotation = NO_ROTATION,
    *,
    threads: int | None = 1,
) -> np.ndarray:
    """Return the samples of a tile from the planes of its layers; the inverse of ``split``.

    Parameters
    ----------
    planes : list of (H, W) arrays
        Samples of at least 8 bits; those of a fine layout have two bits more.
    form : Form
    depth : int
        Bits per sample of the picture.
    layout : Layout
    rotation : Rotation
        Of the colours, for the fine layout.
    threads : int or None
        Number of threads; None takes all processors.
    """
    if layout >= Layout.LUMA:
        of_layer, convert = layout.depth_of("", depth), from_luma
        if layout is Layout.FINE_LUMA:
            convert = partial(colour_rotation.from_planes, rotation=rotation)
        colours = _in_bands(convert, planes[:3], of_layer, coded_depth(depth), threads)
        planes = [*colours, *planes[3:]]
    samples = planes[0] if form is Form.GRAY else np.stack(planes, axis=2)
    return narrowed(samples, depth)


def _in_bands(
    convert: Callable[[Sequence[Any], int, int], list[Any]],
    planes: Sequence[Any],
    depth: int,
    wanted: int,
    threads: int | None,
) -> list[Any]:
    """Convert three planes to other ones of ``wanted`` bits; those in host memory in bands."""
    if on_device(planes[0]):
        return convert(planes, depth, wanted)
    made = [np.empty(plane.shape, sample_type(wanted)) for plane in planes]

    def one(rows: tuple[int, int]) -> None:
        band = slice(*rows)
        parts = convert([plane[band] for plane in planes], depth, wanted)
        for whole, part in zip(made, parts, strict=True):
            whole[band] = part

    side_by_side(one, bands(planes[0].shape, BAND_SAMPLES), threads)
    return made


def to_luma(colours: Sequence[Any], depth: int, wanted: int) -> list[Any]:
    """Convert colours to luma, Co (red minus blue), Cg (green minus both).

    Source: H. S. Malvar, G. J. Sullivan, "YCoCg-R: a color space with RGB reversibility", 2003,
    here with chroma halved to the bits of luma.

    Parameters
    ----------
    colours : sequence of three arrays
        Red, green and blue.
    depth, wanted : int
        Bits per sample of the colours, and of luma and chroma: the same number.
    """
    red, green, blue = (plane.astype(np.int32) for plane in colours)
    mid, white = middle(depth), most(depth)
    luma = (red + 2 * green + blue + 2) >> 2
    co = ((red - blue + 1) >> 1) + mid
    cg = ((2 * green - red - blue + 2) >> 2) + mid
    return [plane.clip(0, white).astype(sample_type(wanted)) for plane in (luma, co, cg)]


def from_luma(planes: Sequence[np.ndarray], depth: int, wanted: int) -> list[np.ndarray]:
    """Convert luma and both chromas to red, green and blue; the inverse of ``to_luma``."""
    mid, white = middle(depth), most(depth)
    luma, co, cg = (plane.astype(np.int32) for plane in planes)
    mean = luma - (cg - mid)
    colours = mean + (co - mid), luma + (cg - mid), mean - (co - mid)
    return [plane.clip(0, white).astype(sample_type(wanted)) for plane in colours]
