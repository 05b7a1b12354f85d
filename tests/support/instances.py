"""Instances of subset sum, as weights and a capacity, and of knapsacks; their best values."""

import runpy
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench" / "solvers" / "knapsack_classes.py"


def knapsack_classes():
    """The classes that the benchmarks draw; without the scripts, the calling module is skipped."""
    if not SCRIPT.is_file():
        pytest.skip("the scripts are not here", allow_module_level=True)
    return runpy.run_path(str(SCRIPT))["CLASSES"]


def all_choices(count):
    return (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(bool)


def best_value(profits, weights, capacity):
    """The value of a knapsack by all its choices."""
    chosen = all_choices(len(profits))
    return (chosen @ profits)[chosen @ weights <= capacity].max()


def hard(count, heaviest, seed):
    """Multiples of 10 but for two items; with these no sum has the last digit 5."""
    weights = 10 * np.random.default_rng(seed).integers(1, heaviest // 10, count)
    weights[[count // 3, count // 2]] += 1
    return weights, int(weights.sum()) // 30 * 10 + 5


def todd(count):
    top = count.bit_length() - 1
    weights = [2 ** (top + count + 1) + 2 ** (top + j) + 1 for j in range(1, count + 1)]
    return weights, sum(weights) // 2


def avis(count):
    weights = [count * (count + 1) + j for j in range(1, count + 1)]
    return weights, (count - 1) // 2 * count * (count + 1) + count * (count - 1) // 2


def random_1():
    """100 draws from 10^5 to 10^7 of the C library's rand() that was seeded with 1."""
    state = [1]
    while len(state) < 31:
        state.append(16807 * state[-1] % (2**31 - 1))
    state += state[:3]
    while len(state) < 344 + 100:
        state.append((state[-31] + state[-3]) % 2**32)
    return [draw // 2 % (10**7 - 10**5 + 1) + 10**5 for draw in state[344:]]


def generated(name, count):
    """Classes of Martello and Toth, Pisinger, Todd and Avis, and of the thesis."""
    rng = np.random.default_rng(count)
    low, high = rng.integers(1, 1001, count), rng.integers(1, 10**6 + 1, count)
    return {
        "P3": lambda: (low.tolist(), count * 1000 // 4),
        "P6": lambda: (high.tolist(), count * 10**6 // 4),
        "even-odd": lambda: ((2 * low).tolist(), count * 1000 // 4 | 1),
        "half": lambda: ((10 * low).tolist(), int(low.sum()) // 2 * 10 + 5),
        "disturbed": lambda: ((10 * low + (np.arange(count) == 1)).tolist(), 2500 * count + 5),
        "Todd": lambda: todd(count),
        "Avis": lambda: avis(count),
    }[name]()
