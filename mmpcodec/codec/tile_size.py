"""The tile size of a picture for which none is given. *Encoder only*.

A tile learns its models anew, so it needs enough bytes, and what repeats in a page or a screen
is found within a tile only. Decision 65 has rates and times.
"""

import math
from collections.abc import Sequence

import numpy as np

from mmpcodec.codec import classification
from mmpcodec.codec.colour import layout_of, split
from mmpcodec.codec.rate_control.forecast import Forecast
from mmpcodec.codec.weighting.masking import AREA
from mmpcodec.depth import coded_depth
from mmpcodec.format.layouts import weight_of
from mmpcodec.params import EncodeParams
from mmpcodec.samples import Samples, form_of

MOST_PIXELS = 1 << 20
"""Most pixels of a picture that is always one tile."""
LEAST_BYTES = 40000
"""Least number of bytes that a tile is predicted to have."""
LEAST_SIZE, UNIT = 512, 64
"""Least tile size, and the number of which all are multiples."""
OPENABLE_PIXELS = 1 << 16
"""Pixels of a tile of a picture that a decoder would refuse in one tile."""
OPENABLE_COLUMNS = 1 << 13
"""Most columns of such a tile, because decoders keep sums of each column."""
PREDICTED = {"photo"}
"""Kinds of candidates whose layers lose little if they are cut."""


def usual_tile_size(
    height: int,
    width: int,
    depth: int,
    candidates: Sequence[EncodeParams],
    areas: Sequence[Samples],
) -> int:
    """Return the tile size of a picture; 0 for one tile.

    Parameters
    ----------
    height, width : int
    depth : int
        Bits per sample.
    candidates : sequence of EncodeParams
        One set of tools each, all with one lambda.
    areas : sequence of (H, W) or (H, W, C) arrays
        Areas of 32x32 pixels of the picture; those at its right and lower border may be smaller.
    """
    areas = [each for each in areas if each.shape[:2] == (AREA, AREA)]
    lam = candidates[0].lam
    if height * width <= MOST_PIXELS or not areas or lam == 0:
        return 0
    samples = np.concatenate(areas)
    form, layout = form_of(samples), layout_of(samples, lam)
    planes = split(samples, depth, layout)[: form.colours]
    found = set(range(len(candidates)))
    if len(candidates) > 1:
        (found, *_) = classification.tried(planes, coded_depth(depth), lam, candidates)
    if {classification.kind_of(candidates[number].tools) for number in found} != PREDICTED:
        return 0
    weights = [weight_of(form, layout, layer) for layer in range(form.colours)]
    predicted = Forecast(planes, weights, coded_depth(depth)).at(lam).bytes
    pixels = LEAST_BYTES * len(areas) * AREA * AREA / predicted
    return _without_thin_tiles(height, width, max(LEAST_SIZE, math.isqrt(int(pixels))))


def openable_tile_size(height: int, width: int) -> int:
    """Return the tile size of a picture that a decoder would refuse in one tile.

    Tiles of a narrow picture are longer than wide, so that they have as many pixels as square ones.
    """
    narrow = min(height, width, math.isqrt(OPENABLE_PIXELS))
    size = -(-OPENABLE_PIXELS // (narrow * UNIT)) * UNIT
    return size if width < height else min(size, OPENABLE_COLUMNS)


def _without_thin_tiles(height: int, width: int, least: int) -> int:
    """Return the size, up to half more than the least one, whose last tiles are the thickest."""
    first = -(-least // UNIT) * UNIT

    def thinnest(size: int) -> float:
        return min(1.0, *(2 * (side % size or size) / size for side in (height, width)))

    size = max(range(first, first + first // 2 + 1, UNIT), key=thinnest)
    return size if size < max(height, width) else 0
