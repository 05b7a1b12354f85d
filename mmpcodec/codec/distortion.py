"""Distortion: squared error, PSNR, and the operating point of a picture at one lambda."""

import math
from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE, extra_bits, most
from mmpcodec.samples import form_of

WHITE = 255


@dataclass(frozen=True)
class Point:
    """Bytes and distortion of a picture at one lambda.

    Parameters
    ----------
    lam : float
    bytes : int
        Size of the whole file.
    distortion : int
        Sum over the pixels of the mean squared error over their colours, in units of 8-bit samples,
        rounded up; 0 only for a lossless file.
    score : float or None
        SSIMULACRA2, if that is the target.
    """

    lam: float
    bytes: int
    distortion: int
    score: float | None = None

    @property
    def cost(self) -> float:
        """Rate-distortion cost D + lambda R of the whole file, R in bits."""
        return self.distortion + self.lam * 8 * self.bytes


def squared_error(samples: np.ndarray, decoded: np.ndarray) -> int:
    """Sum of the squared differences of two arrays of one shape, of uint8 or uint16."""
    difference = samples.astype(np.int32) - decoded
    if samples.dtype != np.uint8:
        difference = difference.astype(np.int64)
    return int((difference * difference).sum(dtype=np.int64))


def largest_error(samples: np.ndarray, decoded: np.ndarray) -> int:
    """Return the largest difference of a sample; colours that alpha hides do not count.

    Parameters
    ----------
    samples, decoded : (H, W) or (H, W, C) arrays of uint8 or uint16
    """
    form = form_of(samples)
    if form.has_alpha:
        seen = samples[..., form.colours] > 0
        samples, decoded = samples[seen], decoded[seen]
    if not samples.size:
        return 0
    return int((np.maximum(samples, decoded) - np.minimum(samples, decoded)).max())


def seen_pixels(samples: np.ndarray) -> np.ndarray | None:
    """Return where alpha is above 0, an (H, W) bool array; None if all pixels count."""
    form = form_of(samples)
    if not form.has_alpha:
        return None
    seen = samples[..., form.colours] > 0
    return None if seen.all() else seen


def distortion(source: np.ndarray, samples: np.ndarray, depth: int) -> float:
    """Return the squared error in the units of lambda.

    Parameters
    ----------
    source, samples : (H, W) or (H, W, C) arrays of uint8 or uint16
        Alpha is ignored, but wholly transparent pixels count as right.
    depth : int
        Bits per sample.

    Returns
    -------
    float
        Sum over the pixels of the mean over their colours, in units of 8-bit samples.
    """
    form = form_of(source)
    if form.has_alpha:
        seen = seen_pixels(source)
        source, samples = source[..., : form.colours], samples[..., : form.colours]
        if seen is not None:
            source, samples = source[seen], samples[seen]
    return squared_error(source, samples) / form.colours / 4.0 ** extra_bits(depth)


def white_in_bytes(depth: int) -> float:
    """Return the largest sample of a depth, in units of 8-bit samples."""
    return most(depth) / 2.0 ** extra_bits(depth)


def psnr_of(distortion: float, pixels: float, depth: int = BYTE) -> float:
    """Return the peak signal-to-noise ratio in dB; infinite without distortion.

    Parameters
    ----------
    distortion : float
        Sum of squared errors; see ``distortion``.
    pixels : float
    depth : int
        Bits per sample. The peak is 2**depth - 1.
    """
    if distortion <= 0:
        return math.inf
    return 10 * math.log10(white_in_bytes(depth) ** 2 * pixels / distortion)
