"""SSIMULACRA2 of decoded samples, as the picture is shown, for the search of a target."""

import numpy as np

from mmpcodec.codec.rate_control.targets import LOSSLESS_SCORE
from mmpcodec.depth import most
from mmpcodec.errors import Infeasible
from mmpcodec.metrics.ssimulacra2 import SSIMULACRA2_SIDE, Ssimulacra2
from mmpcodec.samples import Samples, form_of

BACKGROUNDS = (0.1, 0.9)
"""Shares of white on which a picture with alpha is shown; the lower score counts.

Source: the program ``ssimulacra2`` of libjxl.
"""


class Scores:
    """Scores of decoded samples against one picture.

    Parameters
    ----------
    source : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.
    white : int or None
        Level that is shown as white; None for the largest one.

    Raises
    ------
    Infeasible
        If a side has fewer than 8 pixels.
    """

    def __init__(self, source: Samples, depth: int, white: int | None = None):
        height, width = source.shape[:2]
        if min(height, width) < SSIMULACRA2_SIDE:
            side = SSIMULACRA2_SIDE
            raise Infeasible(
                f"target_ssimulacra2: a picture of {width}x{height} pixels has no score, it must "
                f"have at least {side}x{side}; lam = 0 is lossless"
            )
        self._source = source
        self._white = white or most(depth)
        form = form_of(source)
        self._colours = form.colours if form.has_alpha else None
        self._opacity = np.ones((height, width))
        if form.has_alpha:
            self._opacity = source[..., form.colours] / most(depth)
        backgrounds = BACKGROUNDS if (self._opacity < 1).any() else BACKGROUNDS[:1]
        self._metrics = {
            background: Ssimulacra2(self._shown(source, background), self._white)
            for background in backgrounds
        }

    def of(self, decoded: Samples) -> float:
        """Return the score of decoded samples, whose alpha is that of the picture."""
        if np.array_equal(decoded, self._source):
            return LOSSLESS_SCORE
        return min(
            metric.of(self._shown(decoded, background))
            for background, metric in self._metrics.items()
        )

    def _shown(self, samples: Samples, background: float) -> np.ndarray:
        """Return the colours in front of a background, of a level between black and white."""
        if self._colours is None:
            return samples
        colours = samples[..., 0] if self._colours == 1 else samples[..., : self._colours]
        opacity = self._opacity if self._colours == 1 else self._opacity[..., None]
        return opacity * colours + (1 - opacity) * (background * self._white)
