"""Masking: errors are seen less where a picture is busy. *Encoder only*.

The importance of an area falls with the variance of its luma. The quantisation step that hides an
error grows with the activity around it: see Watson, "DCTune: a technique for visual optimization of
DCT quantization matrices for individual images", SID Digest 24, 1993. Within an area, errors count
more in cells that are smoother than the others. Decisions 42 and 92 have the measured constants.
All arithmetic is in integers, so that every machine writes equal bytes.
"""

import numpy as np

from mmpcodec.codec.weighting.maps import MOST_IMPORTANCE, Weighting
from mmpcodec.depth import coded_depth, extra_bits
from mmpcodec.presets import EYE_WEIGHTS
from mmpcodec.reference.blocks.search.cell_weights import CELL, MOST_WEIGHT, ONE
from mmpcodec.reference.colour import widened
from mmpcodec.reference.entropy.rates import LOG2, RATE_FRACTION_BITS
from mmpcodec.samples import form_of

AREA = 32
"""Height and width in pixels of an area of one importance."""
LEAST_VARIANCE = 60
"""Variance, in squared levels of 8 bits, that is added to that of each cell."""
USUAL_LOG_VARIANCE = 7
"""Mean binary logarithm of the variances of an area whose importance is 0."""
SLOPE = 8, 10
"""By which fraction of the binary logarithm of the variance the importance falls."""
CELL_SLOPE = 3, 10
"""By which fraction of the binary logarithm of the variance the weight of a cell falls, in binary
logarithms."""
PARTS = 8
"""Steps of cell weights to a doubling."""
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


def _log_variances(samples: np.ndarray, depth: int) -> np.ndarray:
    """Return the binary logarithms of the variances of the cells, in 1/4 squared level."""
    luma = luma_of(widened(samples, depth))
    cell, bits = CELL * CELL, extra_bits(coded_depth(depth))
    sums, squares = _cell_sums(luma), _cell_sums(luma * luma)
    variances = (cell * squares - sums * sums) * FRACTION // (cell * cell) >> 2 * bits
    return LOG2[variances + FRACTION * LEAST_VARIANCE]


def _area_sums(cells: np.ndarray) -> np.ndarray:
    """Sum an array of cells over areas."""
    rows, columns = (np.arange(0, size, AREA // CELL) for size in cells.shape)
    return np.add.reduceat(np.add.reduceat(cells, rows, axis=0), columns, axis=1)


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
    return _importance_of(_log_variances(samples, depth))


def _importance_of(logarithms: np.ndarray) -> np.ndarray:
    """Return the importance of areas from the logarithms of the variances of their cells."""
    counts = _area_sums(np.ones_like(logarithms))
    usual = USUAL_LOG_VARIANCE + FRACTION.bit_length() - 1
    excess = _area_sums(logarithms) - (counts * usual << RATE_FRACTION_BITS)
    unit = SLOPE[1] * counts << RATE_FRACTION_BITS
    return (-((2 * SLOPE[0] * excess + unit) // (2 * unit))).astype(np.int8)


_MOST_PARTS = PARTS * (MOST_WEIGHT // ONE).bit_length() - PARTS
_CELL_WEIGHTS = np.rint(ONE * 2.0 ** (np.arange(-_MOST_PARTS, _MOST_PARTS + 1) / PARTS))
"""Weights of cells, from the least to the largest."""


def _weights_of(logarithms: np.ndarray) -> np.ndarray:
    """Return how much errors count in the cells, beside the others of their area.

    Parameters
    ----------
    logarithms : (R, C) int array
        What ``_log_variances`` returns.

    Returns
    -------
    (R, C) uint8 array
        In 1/16, from 4 to 64. A weight falls with the variance of the cell's luma; 16 is that of a
        cell whose logarithm is the mean of its area.
    """
    shape, cells = logarithms.shape, AREA // CELL
    counts, sums = (
        _area_sums(each).repeat(cells, axis=0).repeat(cells, axis=1)[: shape[0], : shape[1]]
        for each in (np.ones_like(logarithms), logarithms)
    )
    excess = logarithms * counts - sums
    unit = CELL_SLOPE[1] * counts << RATE_FRACTION_BITS
    parts = -((2 * PARTS * CELL_SLOPE[0] * excess + unit) // (2 * unit))
    return _CELL_WEIGHTS[np.clip(parts, -_MOST_PARTS, _MOST_PARTS) + _MOST_PARTS].astype(np.uint8)


def eye_weighting(
    roi: np.ndarray | None, samples: np.ndarray, depth: int, seen: np.ndarray | None
) -> Weighting:
    """Return how much the pixels of a tile count for the eye.

    Parameters
    ----------
    roi : (H, W) int8 array or None
        Importance that was asked for, to which that of masking is added.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.
    seen : (H, W) bool array or None
        Whether a pixel is seen; None if all are.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.weighting.masking import eye_weighting
    >>> edge = np.full((32, 32), 100, np.uint8)
    >>> edge[:, 20:] = 200
    >>> eye_weighting(None, edge, 8, None).cells[0].tolist()
    [21, 21, 7, 21]
    """
    height, width = samples.shape[:2]
    logarithms = _log_variances(samples, depth)
    areas = _importance_of(logarithms)
    found = areas.repeat(AREA, axis=0).repeat(AREA, axis=1)[:height, :width]
    if roi is not None:
        found = np.clip(found + roi, -MOST_IMPORTANCE, MOST_IMPORTANCE)
    return Weighting(found, seen, EYE_WEIGHTS, _weights_of(logarithms))
