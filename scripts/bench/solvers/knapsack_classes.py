"""Easy and hard classes of 0-1 knapsack instances; other scripts import this module.

D. Pisinger, "Where are the hard knapsack problems?", Computers & Operations Research 2005;
J. Jooken, P. Leyman and P. De Causmaecker, "A new class of hard problem instances for the 0-1
knapsack problem", European Journal of Operational Research 2022.
"""

import itertools
from collections.abc import Iterator

import numpy as np

Items = tuple[np.ndarray, np.ndarray]
"""Profits and weights, (N,) int64 arrays."""


def _weights(rng: np.random.Generator, count: int, top: int) -> np.ndarray:
    return rng.integers(1, top + 1, count)


def uncorrelated(rng: np.random.Generator, count: int, top: int) -> Items:
    return rng.integers(1, top + 1, count), _weights(rng, count, top)


def weakly_correlated(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    return np.maximum(1, weights + rng.integers(-top // 10, top // 10 + 1, count)), weights


def strongly_correlated(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    return weights + top // 10, weights


def inverse_strongly_correlated(rng: np.random.Generator, count: int, top: int) -> Items:
    profits = _weights(rng, count, top)
    return profits, profits + top // 10


def almost_strongly_correlated(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    near = rng.integers(-top // 500, top // 500 + 1, count)
    return weights + top // 10 + near, weights


def subset_sum(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    return weights, weights


def similar_weights(rng: np.random.Generator, count: int, top: int) -> Items:
    return rng.integers(1, 1001, count), rng.integers(100_000, 100_101, count)


def spanner(
    rng: np.random.Generator, count: int, top: int, kinds: int = 2, most: int = 10
) -> Items:
    """Return multiples of a few strongly correlated items."""
    profits, weights = strongly_correlated(rng, kinds, top)
    of, times = rng.integers(0, kinds, count), rng.integers(1, most + 1, count)
    return times * -(-2 * profits // most)[of], times * -(-2 * weights // most)[of]


def multiple_strongly_correlated(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    return weights + np.where(weights % 6 == 0, 3 * top // 10, 2 * top // 10), weights


def profit_ceiling(rng: np.random.Generator, count: int, top: int) -> Items:
    weights = _weights(rng, count, top)
    return 3 * -(-weights // 3), weights


def circle(rng: np.random.Generator, count: int, top: int) -> Items:
    """Return profits on an arc over the weights, scaled to two thirds of its height."""
    weights = _weights(rng, count, top)
    return (2 * np.sqrt(4 * top**2 - (weights - 2 * top) ** 2) / 3).astype(np.int64) + 1, weights


def noisy_groups(
    rng: np.random.Generator,
    count: int,
    capacity: int,
    groups: int,
    share: float,
    offset: float,
    noise: int,
) -> Items:
    """Return groups of items near 1/2, 1/4, ... of the capacity, then a share of small items."""
    small = int(count * share)
    each = (count - small) // (groups - 1)
    levels = [int((0.5**i + offset) * capacity) for i in range(1, groups)]
    base = np.concatenate([np.repeat(levels, each), np.zeros(count - each * (groups - 1), int)])
    profits, weights = base + rng.integers(1, noise + 1, (2, count))
    return profits, weights


NOISY_COUNTS = (400, 600, 800, 1000, 1200)
NOISY_GROUPS = (2, 6, 10, 14)
NOISY_SHARES = (0.1, 0.2, 0.3)
NOISY_OFFSETS = (0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
NOISY_NOISES = (100, 200, 300)


def all_noisy_groups(capacity: int) -> Iterator[tuple[str, Items]]:
    """Yield name and items for each of the 1080 settings of the paper, drawn with new seeds."""
    settings = itertools.product(
        NOISY_COUNTS, NOISY_GROUPS, NOISY_SHARES, NOISY_OFFSETS, NOISY_NOISES
    )
    for seed, (count, groups, share, offset, noise) in enumerate(settings):
        rng = np.random.default_rng(seed)
        name = f"n {count}, g {groups}, f {share}, eps {offset}, s {noise}"
        yield name, noisy_groups(rng, count, capacity, groups, share, offset, noise)


CLASSES = {
    "uncorrelated": uncorrelated,
    "weakly correlated": weakly_correlated,
    "strongly correlated": strongly_correlated,
    "inverse strongly correlated": inverse_strongly_correlated,
    "almost strongly correlated": almost_strongly_correlated,
    "subset sum": subset_sum,
    "similar weights": similar_weights,
    "spanner(2, 10)": spanner,
    "multiple strongly correlated": multiple_strongly_correlated,
    "profit ceiling(3)": profit_ceiling,
    "circle(2/3)": circle,
}
