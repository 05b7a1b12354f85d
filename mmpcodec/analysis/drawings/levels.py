"""Choose the levels that a drawing shows black and white, and convert samples to 8 bits."""

import numpy as np

from mmpcodec.metadata import Metadata
from mmpcodec.samples import Samples

_DARK, _BRIGHT = 0.005, 0.995
"""Parts of the samples of a deep picture that lie below black and up to white."""


def shown_range(samples: Samples, depth: int, metadata: Metadata) -> tuple[float, float]:
    """Return the levels that are drawn black and white.

    Up to 8 bits they are 0 and the level of white. Deeper pictures often use a small part of their
    range: they get the window of the file, if it has one; 0 and the level of white, if the file
    names it and a sample reaches half of it; otherwise the percentiles 0.5 and 99.5 of the samples,
    or the least and the largest sample if these percentiles are equal.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Without alpha.
    depth : int
        Bits per sample.
    metadata : Metadata
        Of the picture: level of white, and calibration with its window.

    Returns
    -------
    low, high : float
        Low is less than high.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.analysis.drawings.levels import shown_range
    >>> from mmpcodec.metadata import Metadata
    >>> shown_range(np.arange(1000, 1201, dtype=np.uint16)[None], 12, Metadata())
    (1001.0, 1199.0)
    """
    full = 0.0, float(metadata.white or (1 << depth) - 1)
    if depth <= 8:
        return full
    calibration = metadata.calibration
    if calibration is not None and calibration.window is not None:
        ends = [calibration.sample(value) for value in calibration.window]
        return min(ends), max(ends)
    if metadata.white and 2 * int(samples.max()) >= metadata.white:
        return full
    reached = np.cumsum(np.bincount(samples.ravel(), minlength=1 << depth))
    low, high = (int(np.searchsorted(reached, part * samples.size)) for part in (_DARK, _BRIGHT))
    if low == high:
        low, high = int(samples.min()), int(samples.max())
    return (float(low), float(high)) if low < high else full


def as_shown(samples: Samples, low: float, high: float) -> np.ndarray:
    """Convert samples to uint8: ``low`` and less becomes 0, ``high`` and more becomes 255."""
    if (low, high) == (0, 255) and samples.dtype == np.uint8:
        return samples
    most = np.iinfo(samples.dtype).max
    table = np.clip((np.arange(most + 1) - low) * (255 / (high - low)), 0, 255)
    return np.rint(table).astype(np.uint8)[samples]
