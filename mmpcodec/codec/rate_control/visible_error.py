"""The visible error of a picture at a lambda, predicted without encoding it.

Some areas of the picture go through a plain transform of 8x8 blocks, whose coefficients are rounded
with the step of lambda. The visible error estimates the sum from which SSIMULACRA2 takes its score:
errors beside the contrast around them, as in structural similarity, at three resolutions. Decision
89 has the measured constants. All sums are of integers, so that every machine finds equal errors.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mmpcodec.codec.tile_coding import weight_of_layer
from mmpcodec.codec.weighting.masking import AREA, CELL, luma_of, masking
from mmpcodec.depth import coded_depth, extra_bits
from mmpcodec.format.layouts import Layout
from mmpcodec.params import EYE
from mmpcodec.presets import EYE_WEIGHTS
from mmpcodec.quality import LAMBDA_FRACTION_BITS
from mmpcodec.reference.blocks.quantisation_matrix import PLAIN, weights
from mmpcodec.reference.blocks.steps import step_at
from mmpcodec.reference.blocks.transform import basis
from mmpcodec.reference.colour import widened
from mmpcodec.samples import form_of

TRIAL_STEP_SQUARED = 2643
"""Square of the step for lambda = 1: 0.948 times that of independent levels. The constants were
fitted to steps that were 6 % coarser for a lambda; finer ones gain 0.33 points at 85."""
UNIT_BITS = 4
"""Coefficients are in 1/16 gray level, as steps are."""
LEAST_CONTRAST = (
    *(73, 102, 81, 71, 68, 66, 67, 68, 69, 70, 72, 73, 75, 77, 78, 80),
    *(81, 83, 84, 86, 87, 89, 90, 92, 93, 94, 96, 97, 98, 99, 101, 102),
)
"""Variances in squared gray levels that are added to contrasts, for each mean of 8 levels.

They are 0.0009 in the space of SSIMULACRA2, where a gray level is a step of the cube root of light.
"""
COARSE = 4
"""How many times they are added at a quarter of the resolution."""
WORST, LOST, HALF, QUARTER = 4.6, 1.08, 56.0, 406.0
"""Weights of errors of luma: of the worst blocks beside their contrast, of the worst blocks alone,
and of errors beside contrasts at half and at a quarter of the resolution."""
CHROMA = 0.54, 2.7
"""Weights of the worst errors of blue and of red at a quarter of the resolution."""
GROUND, GROWTH, MOST_GROUND = 0.00076, 0.41, 0.4
"""Weight of bright flat ground, its growth with the number of pixels, and its largest error.

The window of SSIMULACRA2 rounds there, and its rounding errors add up along rows and columns.
"""
FRACTION_BITS = 12
"""Errors beside contrasts are in 1/4096."""
MOST_ALONE = 1 << 18
"""Largest error beside no contrast, in 1/4096."""
CHROMA_SCALES = 144, 183
"""Factors of blue and of red minus luma in 1/256, those of ITU-R BT.601."""
COSINE_BITS = 12
"""Binary logarithm of the norm of a row of the transform."""
ACROSS = AREA // CELL
HALF_SIDE, QUARTER_SIDE = CELL // 2, CELL // 4
"""Frequencies of a row or column of a block that are left at half and quarter resolution."""


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
    pixels : int
        Number of pixels of the whole picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.rate_control.visible_error import VisibleErrors
    >>> picture = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    >>> errors = VisibleErrors([picture[:32, :32], picture[32:, 32:]], 8, "psnr", 64 * 64)
    >>> [round(errors.at(lam), 4) for lam in (16, 64, 256)]
    [1.0533, 3.5957, 12.5234]
    """

    def __init__(self, areas: Sequence[np.ndarray], depth: int, tune: str, pixels: int):
        self._layers: list[tuple[np.ndarray, float]] = []
        self._least: list[np.ndarray] = []
        self._ground = 0.0
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
            coefficients = _coefficients(plane, depth, CELL if number == 0 else QUARTER_SIDE)
            weight = weight_of_layer(form, layout, number, tune, weighs=eye)
            self._layers.append((coefficients, weight))
        self._weights = weights(CELL, CELL, EYE_WEIGHTS if eye else 0)
        self._changes = (-masking(picture, depth)).ravel().tolist() if eye else [0] * len(areas)
        luma = self._layers[0][0]
        self._least = [_least_contrast(luma, across) for across in (1, 2, ACROSS)]
        ground = GROUND * _flat_ground(luma, self._least[-1]) * pixels**GROWTH
        self._ground = min(ground, MOST_GROUND)

    def at(self, lam: float) -> float:
        """Return the visible error at a lambda; 0 without areas."""
        return self._ground + sum(self._terms(lam))

    def _terms(self, lam: float) -> Iterator[float]:
        """Yield what adds to the visible error, besides flat ground."""
        for number, (plane, weight) in enumerate(self._layers):
            rounded = self._rounded(plane, lam / weight)
            if number == 0:
                yield _visible_of_luma(plane, rounded, self._least)
                continue
            error = _energy(plane - rounded, 2, QUARTER_SIDE)
            yield CHROMA[number - 1] * _norm(_beside(error, 0, self._least[1], MOST_ALONE), 2)

    def _rounded(self, plane: np.ndarray, lam: float) -> np.ndarray:
        """Return coefficients as they are decoded; those below two thirds of a step are 0."""
        fixed = math.floor(lam * (1 << LAMBDA_FRACTION_BITS))
        step = max(1, math.isqrt(fixed * TRIAL_STEP_SQUARED >> LAMBDA_FRACTION_BITS))
        of_areas = np.array([step_at(step, change) for change in self._changes], np.int64)
        side, size = plane.shape[-1], np.abs(plane)
        steps = of_areas[:, None, None, None] * self._weights[:side, :side] // PLAIN
        levels = (3 * size + steps) // (3 * steps)
        levels[..., 0, 0] = (2 * size[..., 0, 0] + steps[..., 0, 0]) // (2 * steps[..., 0, 0])
        return np.sign(plane) * levels * steps


def _visible_of_luma(plane: np.ndarray, rounded: np.ndarray, least: Sequence[np.ndarray]) -> float:
    """Return the visible error of luma from its coefficients, and as they are decoded.

    ``least`` is added to the contrasts of blocks, of 2x2 blocks and of areas.
    """
    error = plane - rounded
    fine, half, quarter = (
        _beside(
            _energy(error, across, kept),
            _energy(plane, across, kept) + _energy(rounded, across, kept),
            added,
        )
        for across, kept, added in (
            (1, CELL, least[0]),
            (2, HALF_SIDE, least[1]),
            (ACROSS, QUARTER_SIDE, COARSE * least[2]),
        )
    )
    alone = _beside(_energy(error, 1, CELL), 0, least[0], MOST_ALONE)
    found = WORST * _norm(fine, 4) + LOST * _norm(alone, 2)
    return found + HALF * _mean(half, 1) + QUARTER * _mean(quarter, 1)


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


def _energy(coefficients: np.ndarray, across: int, kept: int) -> np.ndarray:
    """Return the energy of squares of blocks without that of their mean, (areas, squares) int64.

    Parameters
    ----------
    coefficients : (areas, 16, side, side) int64 array
    across : int
        Blocks across a square: 1, 2 or 4.
    kept : int
        Frequencies of a row or column that are left at the resolution.
    """
    energy = (coefficients[..., :kept, :kept] ** 2).sum(axis=(2, 3))
    means = coefficients[..., 0, 0]
    return _squares(energy, across) - _squares(means, across) ** 2 // across**2


def _squares(values: np.ndarray, across: int) -> np.ndarray:
    """Sum values of blocks, (areas, 16), over squares of blocks."""
    number = ACROSS // across
    return (
        values.reshape(-1, number, across, number, across).sum(axis=(2, 4)).reshape(-1, number**2)
    )


def _least_contrast(luma: np.ndarray, across: int) -> np.ndarray:
    """Return the energies that are added to contrasts of squares of blocks."""
    means = _squares(luma[..., 0, 0], across) // (across**2 * CELL << UNIT_BITS)
    pixels = (across * CELL) ** 2
    return np.array(LEAST_CONTRAST)[np.clip(means, 0, 255) >> 3] * pixels << 2 * UNIT_BITS


def _flat_ground(luma: np.ndarray, least: np.ndarray) -> float:
    """Return how bright and flat a picture is, 0 to 1."""
    means = luma[..., 0, 0].sum(axis=1, keepdims=True) // (ACROSS**2 * CELL << UNIT_BITS)
    contrast = 2 * _energy(luma, ACROSS, QUARTER_SIDE)
    flat = (least << FRACTION_BITS) // (contrast + least) * np.clip(means, 0, 255) ** 2
    return math.sqrt(int(flat.sum()) / (flat.size * 255**2 << FRACTION_BITS))


def _beside(
    error: np.ndarray, contrast: np.ndarray | int, least: np.ndarray, most: int = 1 << FRACTION_BITS
) -> np.ndarray:
    """Return energies of errors beside those of the picture, in 1/4096."""
    return np.minimum((error << FRACTION_BITS) // (contrast + least), most)


def _mean(errors: np.ndarray, power: int) -> float:
    """Return the mean of this power of errors in 1/4096."""
    return int((errors**power).sum()) / (errors.size << power * FRACTION_BITS)


def _norm(errors: np.ndarray, power: int) -> float:
    """Return the fourth root of the mean of this power of errors in 1/4096."""
    return math.sqrt(math.sqrt(_mean(errors, power)))
