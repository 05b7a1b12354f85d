"""What one lambda makes of a picture: bytes and squared error."""

import math
from dataclasses import dataclass

import numpy as np

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
        Sum of squared errors of all samples.
    """

    lam: float
    bytes: int
    distortion: int

    @property
    def cost(self) -> float:
        """D + lambda R of the whole file."""
        return self.distortion + self.lam * 8 * self.bytes


def squared_error(samples: np.ndarray, decoded: np.ndarray) -> int:
    """Sum of squared differences of uint8 arrays of one shape."""
    difference = samples.astype(np.int32) - decoded
    return int((difference * difference).sum(dtype=np.int64))


def psnr_of(distortion: int | float, pixels: int | float) -> float:
    """Peak signal-to-noise ratio in dB of a squared error; infinite where there is none."""
    if distortion <= 0:
        return math.inf
    return 10 * math.log10(WHITE**2 * pixels / distortion)
