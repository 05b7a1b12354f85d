"""SSIMULACRA2 of decoded samples, as the picture is shown, for the search of a target."""

import numpy as np

from mmpcodec.codec.levels import Levels
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
        Coded levels of the picture.
    levels : Levels
    white : int or None
        Sample that is shown as white, if the range is that of the depth; None for the largest one.

    Raises
    ------
    Infeasible
        If a side has fewer than 8 pixels.
    """

    def __init__(self, source: Samples, levels: Levels, white: int | None = None):
        height, width = source.shape[:2]
        if min(height, width) < SSIMULACRA2_SIDE:
            side = SSIMULACRA2_SIDE
            raise Infeasible(
                f"target_ssimulacra2: a picture of {width}x{height} pixels has no score, it must "
                f"have at least {side}x{side}; lam = 0 is lossless"
            )
        self._source, self._levels = source, levels
        self._white = white or most(levels.depth)
        if not levels.whole:
            self._white = levels.range[1] - levels.range[0]
        form = form_of(source)
        self._colours = form.colours if form.has_alpha else None
        self._opacity = np.ones((height, width))
        if form.has_alpha:
            self._opacity = source[..., form.colours] / most(levels.depth)
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
        colours = samples
        if self._colours is not None:
            colours = samples[..., 0] if self._colours == 1 else samples[..., : self._colours]
        colours = self._levels.above_black(colours)
        if self._colours is None:
            return colours
        opacity = self._opacity if self._colours == 1 else self._opacity[..., None]
        return opacity * colours + (1 - opacity) * (background * self._white)
