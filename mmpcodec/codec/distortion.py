"""What one lambda makes of a picture: bytes and squared error."""

import math
from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, most
from mmpcodec.samples import form_of

WHITE = 255


@dataclass(frozen=True)
class Point:
    """A picture at one lambda.

    Parameters
    ----------
    lam : float
    bytes : int
        Of the whole file.
    distortion : int
        Sum of the squared errors of all pixels, each a mean over colours, in units of 8-bit
        samples, rounded up: 0 only where nothing is lost.
    """

    lam: float
    bytes: int
    distortion: int

    @property
    def cost(self) -> float:
        """D + lambda R of the whole file."""
        return self.distortion + self.lam * 8 * self.bytes


def squared_error(samples: np.ndarray, decoded: np.ndarray) -> int:
    """Sum of squared differences of arrays of one shape, both of uint8 or uint16."""
    difference = samples.astype(np.int32) - decoded
    if samples.dtype != np.uint8:
        difference = difference.astype(np.int64)
    return int((difference * difference).sum(dtype=np.int64))


def distortion(source: np.ndarray, samples: np.ndarray, depth: int) -> float:
    """Squared error as lambda means it.

    Parameters
    ----------
    source, samples : (H, W) or (H, W, C) arrays of uint8 or uint16
        Alpha has no part.
    depth : int
        Bits of a sample.

    Returns
    -------
    float
        Sum over the pixels of the mean over their colours, in units of 8-bit samples.
    """
    form = form_of(source)
    if form.has_alpha:
        source, samples = source[..., : form.colours], samples[..., : form.colours]
    return squared_error(source, samples) / form.colours / 4.0 ** extra_bits(depth)


def white_in_bytes(depth: int) -> float:
    """The largest sample of a depth, in units of 8-bit samples."""
    return most(depth) / 2.0 ** extra_bits(depth)


def psnr_of(distortion: float, pixels: float, depth: int = BYTE) -> float:
    """Peak signal-to-noise ratio in dB of the distortion of a point; infinite where it is 0.

    The peak is the largest sample of the depth.
    """
    if distortion <= 0:
        return math.inf
    return 10 * math.log10(white_in_bytes(depth) ** 2 * pixels / distortion)
