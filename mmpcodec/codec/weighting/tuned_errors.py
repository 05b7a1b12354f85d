"""The error of a decoded tile as its encoder aims: squared, or seen. *Encoder only*."""

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.colour import layout_of, split
from mmpcodec.codec.distortion import distortion, seen_pixels
from mmpcodec.codec.tile_coding import TileEncoding, TileSource, weight_of_layer
from mmpcodec.codec.weighting.decoding_time import nanoseconds, price_of
from mmpcodec.codec.weighting.masking import eye_weighting
from mmpcodec.depth import extra_bits
from mmpcodec.format.layouts import Layout
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.samples import form_of


def cost_of(
    tile: TileSource,
    made: TileEncoding,
    params: EncodeParams,
    backend: Backend,
    threads: int | None = 1,
) -> tuple[float, int]:
    """Return the cost of a coded tile, D + lambda R with the price of its time, and its bytes.

    D is the error that the parameters aim at; alpha is ignored. See ``seen_cells`` for the other
    parameters.
    """
    size = len(made.data)
    if params.tune == EYE:
        error = float(seen_cells(tile, made.samples, params, backend, threads).sum())
    else:
        error = distortion(tile.on_host, made.samples, tile.depth)
    return error + params.lam * (8 * size + price_of(_time_of(tile, made))), size


def _time_of(tile: TileSource, made: TileEncoding) -> int:
    """Estimate the nanoseconds to decode a coded tile."""
    height, width = tile.on_host.shape[:2]
    together = made.stream.layout is Layout.TOGETHER
    planes = form_of(tile.on_host).planes if together else 1
    time = 0
    for layer in made.layers:
        assert layer.trace is not None
        samples = height * width * (1 if layer.entries else planes)
        time += nanoseconds(layer.tools, layer.payload_bytes, layer.trace, samples)
    return time


def seen_cells(
    tile: TileSource,
    samples: np.ndarray,
    params: EncodeParams,
    backend: Backend,
    threads: int | None = 1,
) -> NDArray[np.float64]:
    """Return the errors of the cells of 16x16 pixels that are seen, in the units of lambda.

    Parameters
    ----------
    tile : TileSource
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        As they are decoded.
    params : EncodeParams
    backend : Backend
        Computes errors that are seen.
    threads : int or None

    Returns
    -------
    (ceil(H / 16), ceil(W / 16)) float64 array
    """
    source, depth = tile.on_host, tile.depth
    form, layout = form_of(source), layout_of(source, params.lam)
    seen = seen_pixels(source)
    weighting = eye_weighting(tile.roi, source, depth, seen)
    pairs = zip(split(source, depth, layout), split(samples, depth, layout), strict=True)
    total = np.zeros(1)
    for layer, (plane, decoded) in enumerate(list(pairs)[: form.colours]):
        weight = weight_of_layer(form, layout, layer, params.tune, weighs=True)
        errors = weighting.seen_cells(plane, decoded, backend, threads)
        total = total + weight / 4.0 ** extra_bits(layout.depth_of("", depth)) * errors
    return total
