"""Masking: errors are seen less where a picture is busy. *Encoder only*.

The importance of an area falls with the variance of its luma. The quantisation step that hides an
error grows with the activity around it: see Watson, "DCTune: a technique for visual optimization of
DCT quantization matrices for individual images", SID Digest 24, 1993. Decision 42 has the measured
constants. All arithmetic is in integers, so that every machine writes equal bytes.
"""

import numpy as np

from mmpcodec.codec.weighting.maps import MOST_IMPORTANCE
from mmpcodec.depth import coded_depth, extra_bits
from mmpcodec.reference.colour import widened
from mmpcodec.reference.entropy.rates import LOG2, RATE_FRACTION_BITS
from mmpcodec.samples import form_of

AREA = 32
"""Height and width in pixels of an area of one importance."""
CELL = 8
"""Height and width in pixels of a cell whose variance is taken."""
LEAST_VARIANCE = 60
"""Variance, in squared levels of 8 bits, that is added to that of each cell."""
USUAL_LOG_VARIANCE = 7
"""Mean binary logarithm of the variances of an area whose importance is 0."""
SLOPE = 8, 10
"""By which fraction of the binary logarithm of the variance the importance falls."""
LUMA = 77, 150, 29
"""Weights of red, green and blue in 1/256, those of ITU-R BT.601."""
FRACTION = 4
"""Variances are in 1/4 squared level."""


def luma_of(samples: np.ndarray) -> np.ndarray:
    """Return the luma of a picture as an (H, W) int64 array; alpha is left out."""
    if samples.ndim == 2:
        return samples.astype(np.int64)
    if form_of(samples).colours == 1:
        return samples[..., 0].astype(np.int64)
    red, green, blue = (samples[..., number].astype(np.int32) for number in range(len(LUMA)))
    return (LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue + 128 >> 8).astype(np.int64)


def _cell_sums(values: np.ndarray) -> np.ndarray:
    """Sum an (H, W) array over cells; the last ones repeat the border."""
    height, width = values.shape
    whole = np.pad(values, ((0, -height % CELL), (0, -width % CELL)), mode="edge")
    rows, columns = whole.shape[0] // CELL, whole.shape[1] // CELL
    return whole.reshape(rows, CELL, columns, CELL).sum(axis=(1, 3))


def masking(samples: np.ndarray, depth: int) -> np.ndarray:
    """Return the importance of the areas of a picture, from the variance of its luma.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.

    Returns
    -------
    (ceil(H / 32), ceil(W / 32)) int8 array
        In quarters of a doubling of the step, finer above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.weighting.masking import masking
    >>> flat = np.full((32, 32), 100, np.uint8)
    >>> busy = (np.indices((32, 32)).sum(axis=0) % 2 * 200).astype(np.uint8)
    >>> masking(np.hstack([flat, busy]), 8).tolist()
    [[1, -5]]
    """
    luma = luma_of(widened(samples, depth))
    cell, bits = CELL * CELL, extra_bits(coded_depth(depth))
    sums, squares = _cell_sums(luma), _cell_sums(luma * luma)
    variances = (cell * squares - sums * sums) * FRACTION // (cell * cell) >> 2 * bits
    logarithms = LOG2[variances + FRACTION * LEAST_VARIANCE]
    starts = [np.arange(0, size, AREA // CELL) for size in logarithms.shape]

    def of_areas(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.add.reduceat(values, starts[0], axis=0), starts[1], axis=1)

    counts = of_areas(np.ones_like(logarithms))
    usual = USUAL_LOG_VARIANCE + FRACTION.bit_length() - 1
    excess = of_areas(logarithms) - (counts * usual << RATE_FRACTION_BITS)
    unit = SLOPE[1] * counts << RATE_FRACTION_BITS
    return (-((2 * SLOPE[0] * excess + unit) // (2 * unit))).astype(np.int8)


def masked(roi: np.ndarray | None, samples: np.ndarray, depth: int) -> np.ndarray:
    """Return the importance of pixels with that of masking added, an (H, W) int8 array."""
    height, width = samples.shape[:2]
    found = masking(samples, depth).repeat(AREA, axis=0).repeat(AREA, axis=1)[:height, :width]
    if roi is None:
        return found
    return np.clip(found + roi, -MOST_IMPORTANCE, MOST_IMPORTANCE)
