"""The error of a decoded tile as its encoder aims: squared, or seen. *Encoder only*."""

import numpy as np

from mmpcodec.codec.colour import layout_of, split
from mmpcodec.codec.distortion import distortion, seen_pixels
from mmpcodec.codec.importance.maps import Importance
from mmpcodec.codec.importance.masking import masked
from mmpcodec.codec.tile_coding import TileSource, weight_of_layer
from mmpcodec.depth import extra_bits
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.samples import form_of
from mmpcodec.tools import EYE_WEIGHTS


def error_of(tile: TileSource, samples: np.ndarray, params: EncodeParams) -> float:
    """Return the error of a decoded tile in the units of lambda.

    Parameters
    ----------
    tile : TileSource
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        As they are decoded; alpha is ignored.
    params : EncodeParams
        Their aim decides how errors count.
    """
    source, depth = tile.on_host, tile.depth
    if params.tune != EYE:
        return distortion(source, samples, depth, params.version)
    form, layout = form_of(source), layout_of(source, params.lam)
    importance = Importance(
        masked(tile.importance, source, depth), seen_pixels(source, params.version), EYE_WEIGHTS
    )
    pairs = zip(split(source, depth, layout), split(samples, depth, layout), strict=True)
    total = 0.0
    for layer, (plane, decoded) in enumerate(list(pairs)[: form.colours]):
        weight = weight_of_layer(form, layout, layer, params.tune, weighs=True)
        error = importance.squared_error(plane.samples, decoded.samples)
        total += weight * error / 4.0 ** extra_bits(plane.depth)
    return total
