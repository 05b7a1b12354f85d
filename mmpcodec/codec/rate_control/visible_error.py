"""The visible error of a picture at a lambda, predicted without encoding it.

Some areas of the picture go through a plain transform of 8x8 blocks, whose coefficients are rounded
with the step of lambda. An error is seen where it is large beside the contrast around it, as in
structural similarity: see Wang et al., "Image quality assessment: from error visibility to
structural similarity", IEEE Transactions on Image Processing 13(4), 2004. Decision 43 has the
measured constants. All sums are of integers, so that every machine finds equal errors.
"""

import math
from collections.abc import Sequence

import numpy as np

from mmpcodec.codec.tile_coding import weight_of_layer
from mmpcodec.codec.weighting.masking import AREA, CELL, luma_of, masking
from mmpcodec.depth import coded_depth, extra_bits
from mmpcodec.format.layouts import Layout
from mmpcodec.params import EYE
from mmpcodec.presets import EYE_WEIGHTS
from mmpcodec.quality import LAMBDA_FRACTION_BITS, STEP_SQUARED
from mmpcodec.reference.blocks.quantisation_matrix import PLAIN, weights
from mmpcodec.reference.blocks.steps import step_at
from mmpcodec.reference.blocks.transform import basis
from mmpcodec.reference.colour import widened
from mmpcodec.samples import form_of

UNIT_BITS = 4
"""Coefficients are in 1/16 gray level, as steps are."""
LEAST_CONTRAST = 60, 240
"""Variances in squared gray levels that are added to the contrast of coarse and of fine errors, so
that errors on flat ground are finite."""
FINE, CHROMA = 0.18, 0.1
"""How much fine errors of luma and coarse ones of chroma count, where coarse ones of luma are 1."""
FRACTION_BITS = 12
"""Errors beside contrasts are in 1/4096."""
CHROMA_SCALES = 144, 183
"""Factors of blue and of red minus luma in 1/256, those of ITU-R BT.601."""
COSINE_BITS = 12
"""Binary logarithm of the norm of a row of the transform."""
ACROSS = AREA // CELL
LOW = 2
"""Frequencies of a row or column of a block that are left at a quarter of the resolution."""


class VisibleErrors:
    """Predicted visible errors of a picture.

    Parameters
    ----------
    areas : sequence of (H, W) or (H, W, C) arrays of uint8 or uint16
        Areas of the picture of at most 32x32 pixels, see ``areas_in``.
    depth : int
        Bits per sample.
    tune : {"psnr", "eye"}
        What the encoder aims at.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.rate_control.visible_error import VisibleErrors
    >>> picture = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    >>> errors = VisibleErrors([picture[:32, :32], picture[32:, 32:]], 8, "psnr")
    >>> [round(errors.at(lam), 4) for lam in (16, 64, 256)]
    [0.0019, 0.0107, 0.0384]
    """

    def __init__(self, areas: Sequence[np.ndarray], depth: int, tune: str):
        self._layers: list[tuple[np.ndarray, float]] = []
        if not areas:
            return
        # One below the other, they are a picture.
        picture = widened(np.concatenate([_filled(area) for area in areas]), depth)
        form, depth, eye = form_of(picture), coded_depth(depth), tune == EYE
        planes = [luma_of(picture)]
        if form.colours == 3:
            blue_and_red = picture[..., 2], picture[..., 0]
            for colour, scale in zip(blue_and_red, CHROMA_SCALES, strict=True):
                planes.append((colour - planes[0]) * scale >> 8)
        layout = Layout.LUMA if form.colours == 3 else Layout.TOGETHER
        for number, plane in enumerate(planes):
            coefficients = _coefficients(plane, depth, CELL if number == 0 else LOW)
            weight = weight_of_layer(form, layout, number, tune, weighs=eye)
            self._layers.append((coefficients, weight))
        self._weights = weights(CELL, CELL, EYE_WEIGHTS if eye else 0)
        self._changes = (-masking(picture, depth)).ravel().tolist() if eye else [0] * len(areas)

    def at(self, lam: float) -> float:
        """Return the visible error at a lambda; 0 without areas."""
        total = 0.0
        for number, (plane, weight) in enumerate(self._layers):
            error = plane - self._rounded(plane, lam / weight)
            coarse = _beside(_coarse_energy(error), _coarse_energy(plane), AREA, LEAST_CONTRAST[0])
            total += _mean(coarse, 1) * (CHROMA if number else 1.0)
            if number == 0:
                fine = _beside(_energy(error), _energy(plane), CELL, LEAST_CONTRAST[1])
                total += FINE * math.sqrt(math.sqrt(_mean(fine, 4)))
        return total

    def _rounded(self, plane: np.ndarray, lam: float) -> np.ndarray:
        """Return coefficients as they are decoded; those below two thirds of a step are 0."""
        fixed = math.floor(lam * (1 << LAMBDA_FRACTION_BITS))
        step = max(1, math.isqrt(fixed * STEP_SQUARED >> LAMBDA_FRACTION_BITS))
        of_areas = np.array([step_at(step, change) for change in self._changes], np.int64)
        side, size = plane.shape[-1], np.abs(plane)
        steps = of_areas[:, None, None, None] * self._weights[:side, :side] // PLAIN
        levels = (3 * size + steps) // (3 * steps)
        levels[..., 0, 0] = (2 * size[..., 0, 0] + steps[..., 0, 0]) // (2 * steps[..., 0, 0])
        return np.sign(plane) * levels * steps


def _filled(area: np.ndarray) -> np.ndarray:
    """Return an area of full size, whose border is repeated."""
    missing = [(0, AREA - area.shape[0]), (0, AREA - area.shape[1]), (0, 0)]
    return np.pad(area, missing[: area.ndim], mode="edge")


def _coefficients(plane: np.ndarray, depth: int, side: int) -> np.ndarray:
    """Return the lowest coefficients of the blocks of areas, (areas, 16, side, side) int64."""
    blocks = plane.reshape(-1, ACROSS, CELL, ACROSS, CELL).swapaxes(2, 3)
    blocks = blocks.reshape(-1, ACROSS**2, CELL, CELL)
    cosines = basis(CELL, False)[:side]
    shift = 2 * COSINE_BITS + extra_bits(depth) - UNIT_BITS
    return (cosines @ blocks @ cosines.T + (1 << shift - 1)) >> shift


def _energy(coefficients: np.ndarray) -> np.ndarray:
    """Return the energy of each block without that of its mean."""
    return (coefficients**2).sum(axis=(2, 3)) - coefficients[..., 0, 0] ** 2


def _coarse_energy(coefficients: np.ndarray) -> np.ndarray:
    """Return the energy of each area at a quarter of the resolution, without that of its mean."""
    low = coefficients[..., :LOW, :LOW]
    return (low**2).sum(axis=(1, 2, 3)) - low[..., 0, 0].sum(axis=1) ** 2 // ACROSS**2


def _beside(error: np.ndarray, contrast: np.ndarray, side: int, least: int) -> np.ndarray:
    """Return energies of errors beside those of the picture, in 1/4096, at most 4096."""
    contrast = 2 * contrast + (side**2 * least << 2 * UNIT_BITS)
    return np.minimum((error << FRACTION_BITS) // contrast, 1 << FRACTION_BITS)


def _mean(errors: np.ndarray, power: int) -> float:
    """Return the mean of this power of errors in 1/4096."""
    return int((errors**power).sum()) / (errors.size << power * FRACTION_BITS)
