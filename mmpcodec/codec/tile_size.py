"""The tile size of a picture for which none is given. *Encoder only*.

Decision 65 has rates and times.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.codec import classification
from mmpcodec.codec.candidates import candidates_at
from mmpcodec.codec.colour import layout_of, split
from mmpcodec.codec.rate_control.quality import PartsOf
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.codec.weighting.masking import AREA
from mmpcodec.depth import coded_depth
from mmpcodec.params import EncodeParams

MOST_PIXELS = 1 << 20
"""Most pixels of a picture that is always one tile."""
SIZES = (512, 576, 640, 704, 768)
"""Tile sizes of predicted blocks, the best first; the first one that leaves no thin tiles is taken.
Larger tiles hardly save bytes, smaller ones take more."""


def usual_tile_size(
    shape: Sequence[int], depth: int, params: EncodeParams, parts_of: PartsOf, backend: str
) -> int:
    """Return the tile size of a picture; 0 for one tile.

    Parameters
    ----------
    shape : sequence of int
        (H, W) or (H, W, C).
    depth : int
        Bits per sample.
    params : EncodeParams
        Those of the picture.
    parts_of : callable
        Reads up to 256 areas of 32x32 pixels.
    backend : str
        See ``EncodeOptions``.
    """
    height, width = shape[:2]
    if height * width <= MOST_PIXELS:
        return 0
    candidates = candidates_at(params, depth, backend)
    if _kinds(height, width, depth, candidates, parts_of) != {"photo"}:
        return 0
    return _without_thin_tiles(height, width)


def _kinds(
    height: int,
    width: int,
    depth: int,
    candidates: Sequence[EncodeParams],
    parts_of: PartsOf,
) -> set[str]:
    """Return the kinds of candidates that are worth a trial on the first layer of a picture."""
    if len(candidates) > 1 and candidates[0].lam > 0:
        areas = [
            area for area in parts_of(areas_in(height, width)) if area.shape[:2] == (AREA,) * 2
        ]
        if areas:
            samples = np.concatenate(areas)
            luma = split(samples, depth, layout_of(samples, candidates[0].lam))[0]
            lam = candidates[0].lam
            (tried,) = classification.tried([luma], coded_depth(depth), lam, candidates)
            candidates = [candidates[number] for number in tried]
    return {classification.kind_of(candidate.tools) for candidate in candidates}


def _without_thin_tiles(height: int, width: int) -> int:
    """Return the first size whose last row and column of tiles are the thickest."""

    def thinnest(size: int) -> float:
        return min(1.0, *(2 * (side % size or size) / size for side in (height, width)))

    return max(SIZES, key=thinnest)
