"""scripts/bench/solvers/yardsticks.py: the documents' algorithms give the solvers' answers."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from mmpcodec.solvers.selection import kth_smallest
from mmpcodec.solvers.subset_sum import subset_sum

FOLDER = Path(__file__).parents[3] / "scripts" / "bench" / "solvers"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the scripts are not here")


@pytest.fixture
def yardsticks(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "subset_sum", raising=False)
    spec = importlib.util.spec_from_file_location("yardsticks", FOLDER / "yardsticks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WINDOW", 64)  # so that windows have several items
    return module


@pytest.mark.parametrize("name", ["k1", "k2", "k3", "enumeration"])
def test_sums(yardsticks, name):
    rng = np.random.default_rng(1)
    for _ in range(300):
        weights = -np.sort(-rng.integers(1, rng.integers(2, 300), rng.integers(3, 12)))
        capacity = int(rng.integers(1, weights.sum() + 2))
        more = (2,) if name == "enumeration" else ()
        found = getattr(yardsticks, name)(np, weights, capacity, *more)
        assert found == subset_sum(weights, capacity).sum


@pytest.mark.parametrize("power", range(3, 12))
def test_medians(yardsticks, power):
    values = np.random.default_rng(power).integers(0, 50, 1 << power)
    assert yardsticks.bitonic(np, values) == kth_smallest(values, 1 << (power - 1))
    less = values[:-1]
    assert yardsticks.opposite_trees(np, less) == kth_smallest(less, 1 << (power - 1))
