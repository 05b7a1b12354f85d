"""The planes that the layers of a picture code: layouts, colour transform in threads, alpha.

Source: sections "Layers" and "Colours" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.depth import coded_depth, extra_bits, sample_type
from mmpcodec.format.layers import fault_of_depth
from mmpcodec.format.layouts import Layout
from mmpcodec.params import EncodeParams
from mmpcodec.reference.colour import (
    NO_ROTATION,
    Rotation,
    from_fine_luma,
    from_luma,
    narrowed,
    to_fine_luma,
    to_luma,
    widened,
)
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


def split(
    samples: Any,
    depth: int,
    layout: Layout,
    rotation: Rotation = NO_ROTATION,
    *,
    threads: int | None = 1,
) -> list[Any]:
    """Return the planes of a tile, one for each layer; the layout is not ``TOGETHER``.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        In host or device memory.
    depth : int
        Bits per sample; ``Layout.depth_of`` gives that of a plane.
    layout : Layout
    rotation : Rotation
        Of the colours, for the fine layout.
    threads : int or None
        Number of threads; None takes all processors.
    """
    form = form_of(samples)
    samples = widened(samples, depth)
    if form.colours == 1:
        planes = [samples if samples.ndim == 2 else samples[..., 0]]
    else:
        planes = [samples[..., number] for number in range(3)]
        if layout is not Layout.APART:
            convert = to_luma
            if layout is Layout.FINE_LUMA:
                convert = partial(to_fine_luma, rotation=rotation)
            wanted = layout.depth_of("", depth)
            planes = _in_bands(convert, planes, coded_depth(depth), wanted, threads)
    if form.has_alpha:
        planes = [*planes, samples[..., form.colours]]
    return [module_of(samples).ascontiguousarray(plane) for plane in planes]


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

    ``depth`` is that of the picture; planes have at least 8 bits, those of a fine layout two more.
    """
    if layout >= Layout.LUMA:
        of_layer, convert = layout.depth_of("", depth), from_luma
        if layout is Layout.FINE_LUMA:
            convert = partial(from_fine_luma, rotation=rotation)
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
