"""The cost map: the cheapest element for each segment of a fragment.

*Encoder only*. The rate-distortion cost of coding a segment by an element is D + lambda * R:
the squared error plus lambda times the rate of the element's index. Costs are integers in 1/16 of
a squared error of 1. Of elements with equal costs the one with the lowest index is taken.

Source: E. S. da Costa, "Implementação em GPU do algoritmo de compressão de imagens baseado em
recorrência de padrões multiescala, o MMP", UFF 2013 (CalculaMapa).
"""

import numpy as np

from mmpcodec.quality import LAMBDA_FRACTION_BITS
from mmpcodec.reference.entropy.rates import LOG2, RATE_FRACTION_BITS
from mmpcodec.reference.trees.copies import Copies
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, LEVELS, Scale

COST_FRACTION_BITS = 4
"""Costs are in 1/16 of a squared error of 1."""
MAP_SIZE = (1 << LEVELS) - 1
"""Rows and columns of a cost map."""
NO_COST = np.iinfo(np.int64).max // 8
"""Cost of a segment that the partition does not allow; the sum of eight fits int64."""

_SHIFT = LAMBDA_FRACTION_BITS + RATE_FRACTION_BITS - COST_FRACTION_BITS


def lagrangian(rate, lambda_fixed: int):
    """Compute lambda * R, rounded half up.

    Parameters
    ----------
    rate : int or integer array
        Rate R in 1/4096 bit.
    lambda_fixed : int
        lambda in 1/65536 squared error per bit.

    Returns
    -------
    int or integer array
        Cost in 1/16 squared error.
    """
    return (lambda_fixed * rate + (1 << (_SHIFT - 1))) >> _SHIFT


def flag_costs(models: Models, lambda_fixed: int, scale: Scale, context: int) -> dict[int, int]:
    """Compute lambda * R of each flag that a node of a scale may have.

    Returns
    -------
    dict of int to int
        Cost in 1/16 squared error, by flag.
    """
    frequencies = models.flag_frequencies(scale, context)
    rates = LOG2[frequencies.sum()] - LOG2[frequencies]
    costs = lagrangian(rates, lambda_fixed)
    return {int(flag): int(costs[flag]) for flag in np.flatnonzero(frequencies)}


def index_costs(
    models: Models,
    dictionary: Dictionary,
    lambda_fixed: int,
    rate_model: str,
    copies: Copies | None = None,
) -> np.ndarray:
    """Compute lambda * R of each index of a dictionary.

    Parameters
    ----------
    models : Models
    dictionary : Dictionary
    lambda_fixed : int
        lambda in 1/65536 squared error per bit.
    rate_model : {"adaptive", "log2"}
        "adaptive" takes the rates of the models, "log2" the rate log2(N) for every index.
    copies : Copies or None
        What leaves can be copies of.

    Returns
    -------
    (N,) int64 array
        Cost of each of the N indices, in 1/16 squared error. The parts of the class and of the
        element's count are rounded separately, so that a search can keep the second part with
        the element.
    """
    if rate_model == "log2":
        return np.full(len(dictionary), lagrangian(LOG2[len(dictionary)], lambda_fixed))
    frequencies = models.class_frequencies(dictionary, copies)
    totals = np.bincount(
        dictionary.element_class, weights=dictionary.count, minlength=len(frequencies)
    ).astype(np.int64)
    class_rate = LOG2[frequencies.sum()] - LOG2[frequencies] + LOG2[totals]
    return lagrangian(class_rate[dictionary.element_class], lambda_fixed) - lagrangian(
        LOG2[dictionary.count], lambda_fixed
    )


def segments_of(fragment: np.ndarray, scale: Scale) -> np.ndarray:
    """Cut a fragment into its segments of one scale.

    Returns
    -------
    (segments, height * width) array
        The segments in raster order; type as the fragment.
    """
    rows, columns = FRAGMENT_SIZE // scale.height, FRAGMENT_SIZE // scale.width
    blocks = fragment.reshape(rows, scale.height, columns, scale.width)
    return blocks.swapaxes(1, 2).reshape(rows * columns, scale.height * scale.width)


def map_region(scale: Scale) -> tuple[slice, slice]:
    """Return a scale's rows and columns in a cost map; segment (k, l) is at row k, column l."""
    rows, columns = 1 << scale.n, 1 << scale.m
    return slice(rows - 1, 2 * rows - 1), slice(columns - 1, 2 * columns - 1)


def cost_map(
    fragment: np.ndarray, dictionaries: dict[Scale, Dictionary], costs: dict[Scale, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Find the cheapest element for every segment of a fragment.

    Parameters
    ----------
    fragment : (16, 16) uint8 array
    dictionaries : dict of Scale to Dictionary
    costs : dict of Scale to (N,) int64 array
        Cost of each index, from ``index_costs``.

    Returns
    -------
    cost : (31, 31) int64 array
        Least cost D + lambda * R in 1/16 squared error; ``NO_COST`` for scales without a
        dictionary. Segment (k, l) of scale (n, m) is at row k + 2**n - 1, column l + 2**m - 1.
    index : (31, 31) int64 array
        Index of the cheapest element, at the same position.
    """
    cost = np.full((MAP_SIZE, MAP_SIZE), NO_COST)
    index = np.zeros((MAP_SIZE, MAP_SIZE), np.int64)
    for scale, dictionary in dictionaries.items():
        segments = segments_of(fragment, scale).astype(np.int32)
        elements = dictionary.samples.astype(np.int32)
        energy = (segments * segments).sum(axis=1)[:, None] + (elements * elements).sum(axis=1)
        distortion = energy - 2 * (segments @ elements.T)
        total = (distortion.astype(np.int64) << COST_FRACTION_BITS) + costs[scale]
        best = total.argmin(axis=1)
        shape = 1 << scale.n, 1 << scale.m
        cost[map_region(scale)] = np.take_along_axis(total, best[:, None], 1).reshape(shape)
        index[map_region(scale)] = best.reshape(shape)
    return cost, index
