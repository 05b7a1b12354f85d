"""The drawing of a palette over the samples of the layers.

Source: section "Palette" of ``docs/format/format.md``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmpcodec.depth import sample_type
from mmpcodec.samples import Samples


class PaletteSamples(NamedTuple):
    """A palette that is decoded or to be encoded.

    Parameters
    ----------
    colours : (n, C) uint16 array
        C is 1 for gray, 3 for red, green and blue.
    numbers : (H, W) uint16 array
        Number of the colour of each pixel; n is transparent.
    """

    colours: NDArray[np.uint16]
    numbers: NDArray[np.uint16]

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Pixels that the palette draws, an (H, W) array."""
        return self.numbers < len(self.colours)


def drawn_over(
    samples: Samples | None, found: PaletteSamples, transparent: bool, depth: int
) -> Samples:
    """Draw a palette over the samples that the layers of its tile decode to.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16, or None
        With transparent, the samples of all planes. Without transparent, the samples of alpha, or
        None if there are no layers.
    found : PaletteSamples
    transparent : bool
        Whether pixels can have the number n.
    depth : int
        Bits per sample of the picture.

    Returns
    -------
    (H, W) or (H, W, C) array of uint8 or uint16
    """
    colours = found.colours.astype(sample_type(depth))
    count = colours.shape[1]
    if not transparent:
        planes = colours[found.numbers]
        if samples is not None:
            return np.dstack([planes, samples])
        return planes[..., 0] if count == 1 else planes
    assert samples is not None
    drawn = found.drawn
    samples = samples.copy()
    own = samples if samples.ndim == 3 else samples[..., None]
    own[..., :count][drawn] = colours[found.numbers[drawn]]
    return samples
