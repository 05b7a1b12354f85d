"""The cost map: for each segment of a fragment its cheapest element.

The Lagrangian cost is J = D + lambda * R: squared error plus lambda times the rate of the index,
an integer in 1/16 squared error. Ties go to the lowest index.
Source: E. S. da Costa, "Implementação em GPU do algoritmo de compressão de imagens baseado em
recorrência de padrões multiescala, o MMP", UFF 2013 (CalculaMapa).
"""

import numpy as np

from mmpcodec.params import LAMBDA_FRACTION_BITS
from mmpcodec.reference.entropy.rates import LOG2, RATE_FRACTION_BITS
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.models import Models
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, LEVELS, Scale

COST_FRACTION_BITS = 4
MAP_SIZE = (1 << LEVELS) - 1
NO_COST = np.iinfo(np.int64).max // 8
"""Cost of a segment that the partition cannot reach; eight of them can be added."""

_SHIFT = LAMBDA_FRACTION_BITS + RATE_FRACTION_BITS - COST_FRACTION_BITS


def lagrangian(rate, lambda_fixed: int):
    """lambda * R of a rate in 2**-12 bit, in 1/16 squared error, rounded half up."""
    return (lambda_fixed * rate + (1 << (_SHIFT - 1))) >> _SHIFT


def flag_costs(models: Models, lambda_fixed: int, scale: Scale, context: int) -> dict[int, int]:
    """Cost of each flag that a node of this scale may have, by flag."""
    frequencies = models.flag_frequencies(scale, context)
    rates = LOG2[frequencies.sum()] - LOG2[frequencies]
    costs = lagrangian(rates, lambda_fixed)
    return {int(flag): int(costs[flag]) for flag in np.flatnonzero(frequencies)}


def index_costs(
    models: Models, dictionary: Dictionary, lambda_fixed: int, rate_model: str
) -> np.ndarray:
    """Cost of each index of a dictionary.

    Parameters
    ----------
    models : Models
    dictionary : Dictionary
    lambda_fixed : int
        lambda in 2**-16 squared error per bit.
    rate_model : {"adaptive", "log2"}

    Returns
    -------
    (N,) int64 array
        In 1/16 squared error. The class's and the element's parts are rounded apart, so that a
        search can keep the second with the element.
    """
    if rate_model == "log2":
        return np.full(len(dictionary), lagrangian(LOG2[len(dictionary)], lambda_fixed))
    frequencies = models.class_frequencies(dictionary)
    totals = np.bincount(
        dictionary.element_class, weights=dictionary.count, minlength=len(frequencies)
    ).astype(np.int64)
    class_rate = LOG2[frequencies.sum()] - LOG2[frequencies] + LOG2[totals]
    return lagrangian(class_rate[dictionary.element_class], lambda_fixed) - lagrangian(
        LOG2[dictionary.count], lambda_fixed
    )


def segments_of(fragment: np.ndarray, scale: Scale) -> np.ndarray:
    """All segments of one scale in row order, as a (segments, height * width) array."""
    rows, columns = FRAGMENT_SIZE // scale.height, FRAGMENT_SIZE // scale.width
    blocks = fragment.reshape(rows, scale.height, columns, scale.width)
    return blocks.swapaxes(1, 2).reshape(rows * columns, scale.height * scale.width)


def map_region(scale: Scale) -> tuple[slice, slice]:
    """Where the segments of a scale lie in a cost map: segment (k, l) at its row k, column l."""
    rows, columns = 1 << scale.n, 1 << scale.m
    return slice(rows - 1, 2 * rows - 1), slice(columns - 1, 2 * columns - 1)


def cost_map(
    fragment: np.ndarray, dictionaries: dict[Scale, Dictionary], costs: dict[Scale, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest cost of every segment and the element that gives it.

    Parameters
    ----------
    fragment : (16, 16) uint8 array
    dictionaries : dict of Scale to Dictionary
    costs : dict of Scale to (N,) int64 array
        Cost of each index.

    Returns
    -------
    cost : (31, 31) int64 array
        In 1/16 squared error, ``NO_COST`` for scales without a dictionary.
    index : (31, 31) int64 array
        Segment (k, l) of scale (n, m) lies at row k + 2**n - 1, column l + 2**m - 1.
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
