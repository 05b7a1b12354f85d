"""Trial coding of one block, and its rate-distortion cost.

*Encoder only*. The arithmetic is in integers, so that every machine writes equal bytes.
"""

from dataclasses import replace

import numpy as np

from mmpcodec.depth import extra_bits, most
from mmpcodec.reference.blocks import transform
from mmpcodec.reference.blocks.coder import mode_family, residual_of
from mmpcodec.reference.blocks.dependent import dequantised
from mmpcodec.reference.blocks.partition import Block, BlockPlace
from mmpcodec.reference.blocks.quantisation_matrix import Weighted, weighted
from mmpcodec.reference.blocks.search.cell_weights import ONE, weighed
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.levels import choose_levels, cost_of_levels
from mmpcodec.reference.blocks.search.trellis import choose_dependent_levels
from mmpcodec.reference.blocks.trained_transforms import forward_low
from mmpcodec.reference.blocks.transform import (
    COEFFICIENT_BITS,
    forward,
    sine_sides,
    skip_forward,
)
from mmpcodec.tools import BlockTools

HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])


def hadamard_difference(difference: np.ndarray, coarser: int = 0) -> int:
    """Sum the absolute Hadamard coefficients of all units of 4x4 samples, and halve the sum.

    Parameters
    ----------
    difference : (h, w) int array
        Difference of source and prediction.
    coarser : int
        Number of lowest bits of the samples that the result drops.
    """
    height, width = difference.shape
    pieces = difference.reshape(height // 4, 4, width // 4, 4).swapaxes(1, 2)
    return int(np.abs(HADAMARD @ pieces @ HADAMARD).sum()) >> (1 + coarser)


class Trial:
    """Keeps the cheapest of the ways to code one block that are tried one after the other.

    Parameters
    ----------
    place : BlockPlace
    source : (h, w) int array
        Source samples of the block.
    bound : int
        Only ways that cost less than this are kept, in 1/16 squared error.
    costs : BlockCosts
    weight : int
        How much errors count with a quantisation matrix, in 1/16.

    Attributes
    ----------
    cost : int
        Cost of the cheapest way so far; initially the bound.
    block : Block or None
        Its content; None if no way costs less than the bound.
    samples : (h, w) int array or None
        Its decoded samples.
    """

    def __init__(
        self,
        place: BlockPlace,
        source: np.ndarray,
        bound: int,
        costs: BlockCosts,
        weight: int = ONE,
    ):
        self.place = place
        self.weight = weight
        self.source = source
        self.cost = bound
        self.costs = costs
        self.block: Block | None = None
        self.samples: np.ndarray | None = None

    def attempt(self, cost: int, block: Block, samples: np.ndarray, strength: int) -> None:
        """Keep a block without a residual if it is the cheapest so far.

        ``cost`` is lambda * R of its bits, and ``strength`` that of the quantisation matrix.
        """
        if cost >= self.cost:
            return
        difference = self.source - samples
        error = error_of(difference, self.place, strength, self.costs, self.weight)
        self.take(cost + error, block, samples)

    def take(self, cost: int, block: Block, samples: np.ndarray) -> None:
        """Keep a block if it is the cheapest so far; ``cost`` is its D + lambda * R."""
        if cost < self.cost:
            self.cost, self.block, self.samples = cost, block, samples

    def attempt_residual(
        self, cost: int, mode: int, prediction: np.ndarray, tools: BlockTools
    ) -> None:
        """Try a prediction with a residual, by all types of transform.

        Parameters
        ----------
        cost : int
            lambda * R of the bits before the type of the transform.
        mode : int
        prediction : (h, w) int array
        tools : BlockTools
        """
        if cost >= self.cost:
            return
        strength, difference = tools.quantisation_matrix, self.source - prediction
        tried = [Block(mode)]
        if self.place.may_be_sine:
            tried.append(Block(mode, sine=True))
        if tools.trained_transforms:
            tried.append(Block(mode, trained=True))
        # A quantisation matrix measures errors by frequencies.
        if self.place.may_be_sine and tools.transform_skip and not strength:
            tried.append(Block(mode, skipped=True))
        for block in tried:
            self._attempt_type(cost, block, prediction, difference, tools)

    def _attempt_type(
        self,
        cost: int,
        block: Block,
        prediction: np.ndarray,
        difference: np.ndarray,
        tools: BlockTools,
    ) -> None:
        """Try a block, whose levels are not chosen yet, by its type of transform."""
        place, costs, depth = self.place, self.costs, self.costs.depth
        family, strength = mode_family(block.mode), tools.quantisation_matrix
        weighs: Weighted | None = None
        if block.skipped:
            coefficients = skip_forward(difference, depth)
        else:
            sides = sine_sides(place, tools.border_sines)
            coefficients = forward(difference, block.sine, depth, sides)
            if strength:
                weighs = weighted_of(coefficients, difference, place, strength, depth)
                coefficients = weighs.coefficients
            if block.trained:
                coefficients = forward_low(coefficients, place, block.mode)
        if tools.dependent:
            levels = choose_dependent_levels(
                coefficients, place, tools.step, costs, family, self.weight
            )
        else:
            levels = choose_levels(coefficients, place, tools.step, costs, family)
        if levels is None:
            return
        total = cost + cost_of_levels(levels, place, costs, tools.dependent, family)
        total += costs.of_type(place, family, block, tools)
        found = dequantised(levels, place, tools)
        error = weighs and weighs._replace(coefficients=coefficients).error(found)
        residual = residual_of(found, place, block, tools, depth)
        samples = np.clip(prediction + residual, 0, most(depth))
        if error is not None:
            total += weighed(costs.of_coefficients(error), self.weight)
        elif total < self.cost:
            total += costs.of_error(self.source - samples)
        self.take(total, replace(block, levels=levels), samples)


def weighted_of(
    coefficients: np.ndarray, difference: np.ndarray, place: BlockPlace, strength: int, depth: int
) -> Weighted:
    """Weight the coefficients of a difference of samples by a strength above 0."""
    energy = (int((difference * difference).sum()) << 2 * COEFFICIENT_BITS) >> 2 * extra_bits(depth)
    return weighted(coefficients, place.height, place.width, strength, energy)


def error_of(
    difference: np.ndarray, place: BlockPlace, strength: int, costs: BlockCosts, weight: int = ONE
) -> int:
    """Return the distortion of a difference of samples, in 1/16 squared error.

    With quantisation matrix it is that of the weighted coefficients of its cosine transform, times
    the weight of the block, which is in 1/16.
    """
    if not strength:
        return costs.of_error(difference)
    coefficients = forward(difference, False, costs.depth)
    found = weighted_of(coefficients, difference, place, strength, costs.depth)
    return weighed(costs.of_coefficients(found.error(np.zeros_like(coefficients))), weight)


def rough_cost(
    difference: np.ndarray,
    place: BlockPlace,
    step: int,
    strength: int,
    costs: BlockCosts,
    weight: int = ONE,
) -> int:
    """Estimate the cost of a prediction, with or without a residual, whichever is cheaper.

    The residual is transformed by cosines, and its levels cost as those of a smooth mode. Its error
    is measured on coefficients, not on samples.

    Parameters
    ----------
    difference : (h, w) int array
        Source minus prediction.
    place : BlockPlace
    step : int
        Quantisation step in 1/16 of a unit of 8-bit samples.
    strength : int
        Strength of the quantisation matrix.
    costs : BlockCosts
    weight : int
        How much errors count with a quantisation matrix, in 1/16.

    Returns
    -------
    int
        Cost in 1/16 squared error, without the bits of the mode.
    """
    bare, transformed = costs.kind[place.size, 1].tolist()
    energy = error_of(difference, place, strength, costs, weight)
    coefficients = forward(difference, False, costs.depth)
    if strength:
        weighs = weighted_of(coefficients, difference, place, strength, costs.depth)
        coefficients = weighs.coefficients
    levels = choose_levels(coefficients, place, step, costs)
    if levels is None:
        return bare + energy
    rest = coefficients - transform.dequantised(levels, step)
    kept = costs.of_coefficients(int((coefficients * coefficients - rest * rest).sum()))
    kept = weighed(kept, weight)
    left = max(energy - kept, 0)  # kept can exceed energy: the integer basis is not orthonormal
    return min(bare + energy, transformed + cost_of_levels(levels, place, costs) + left)
