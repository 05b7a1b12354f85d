"""``mmpcodec.budget`` and ``mmpcodec.packing`` are documented names of modules that moved."""

from mmpcodec import budget, packing
from mmpcodec.planning import budget as planning_budget
from mmpcodec.planning import packing as planning_packing


def test_budget():
    moved = set(planning_budget.__all__) - {"LazyPicture", "best_plan"}
    assert moved | {"Picture", "exact"} == set(budget.__all__)
    assert budget.measure is planning_budget.measure
    assert budget.Picture is planning_budget.LazyPicture
    assert budget.exact is planning_budget.best_plan


def test_packing():
    assert packing.pack is planning_packing.pack
    assert packing.Volume is planning_packing.Volume
