"""The trellis of dependent levels: never worse than levels that are chosen one by one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmpcodec.presets import PRESETS
from mmpcodec.reference.blocks.dependent import dequantised
from mmpcodec.reference.blocks.levels import next_state, quantiser_of, scan
from mmpcodec.reference.blocks.models import BlockModels
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.levels import cost_of_levels, scan_of
from mmpcodec.reference.blocks.search.trellis import (
    Rates,
    candidates_of,
    choose_dependent_levels,
)

PHOTO = replace(PRESETS["photo"], dependent=True)


def equal_models(seed):
    """Models whose costs do not depend on the levels around: the trellis is then exact."""
    models, rng = BlockModels(), np.random.default_rng(seed)
    plain, fine = (models.zero, models.one, models.two), (models.fine_one, models.fine_two)
    for own in (*plain, *fine, models.fine_zero):
        own.probability[...] = rng.integers(4000, 60000, (2,) + (1,) * (own.probability.ndim - 1))
    models.fine_remainder.probability[...] = models.remainder.probability[0, 0]
    return models


def total(levels, coefficients, place, step, costs):
    """Cost of levels and of their error."""
    rest = coefficients - dequantised(levels, place, replace(PHOTO, step=step))
    return cost_of_levels(levels, place, costs, True) + sum(
        costs.of_coefficients(int(error) ** 2) for error in rest.flat
    )


def greedy(coefficients, place, step, costs, last):
    """Choose each level alone, from a last position down, in the state that it is in."""
    levels, state = np.zeros(coefficients.shape, np.int64), 0
    rates = Rates(scan_of(place.height, place.width), place, costs, 0)
    for number in range(last, -1, -1):
        at = scan(place.height, place.width)[number]
        size, quantiser = abs(int(coefficients[at])), quantiser_of(state)
        tried = [] if number == last else [(rates.of(quantiser, number, 0, 0), 0)]
        for (_, own), (level, gain) in candidates_of(size, step, costs).items():
            if own == quantiser:
                tried.append((gain + rates.of(quantiser, number, 0, level), level))
        level = min(tried)[1]
        levels[at] = level if coefficients[at] > 0 else -level
        state = next_state(state, level)
    return levels


@example(25249, 30, 5, False)  # a level of 1 for a coefficient of 0, for its parity
@given(
    st.integers(0, 2**32 - 1),
    st.integers(30, 900),
    st.sampled_from([0.2, 5, 60, 900]),
    st.booleans(),
)
def test_the_trellis_costs_no_more_than_a_greedy_choice(seed, step, lam, fine):
    rng = np.random.default_rng(seed)
    place = BlockPlace(0, 0, 2, 2)
    costs = BlockCosts(equal_models(seed), int(lam * 65536), fine=fine)
    coefficients = rng.laplace(0, step * rng.random() + 1, (4, 4)).astype(np.int64)
    best = choose_dependent_levels(coefficients, place, step, costs)
    large = [
        number for number, at in enumerate(scan(4, 4)) if abs(int(coefficients[at])) > step // 4
    ]
    if not large:
        assert best is None
        return
    least = total(best, coefficients, place, step, costs)
    for last in large:
        found = greedy(coefficients, place, step, costs, last)
        assert least <= total(found, coefficients, place, step, costs)


def test_candidates_are_the_two_nearest_of_each_quantiser():
    costs = BlockCosts(BlockModels(), 0)
    for size, expected in ((0, {1}), (9, {1}), (11, {1, 2}), (45, {2, 3})):
        found = candidates_of(size, 40, costs)
        assert {level for level, _ in found.values()} == expected
    assert candidates_of(45, 40, costs)[1, 1] == (3, (25 >> 2) - (45 * 45 >> 2))
    assert max(level for level, _ in candidates_of(32767, 1, costs).values()) == 32767


def test_no_price_of_bits_gives_the_nearest_values():
    rng = np.random.default_rng(1)
    place, costs = BlockPlace(0, 0, 3, 3), BlockCosts(BlockModels(), 0)
    coefficients = rng.integers(-900, 900, (8, 8))
    levels = choose_dependent_levels(coefficients, place, 40, costs)
    error = np.abs(coefficients - dequantised(levels, place, replace(PHOTO, step=40)))
    # Independent levels have a mean squared error of 20**2 / 12 at this step.
    assert error.max() <= 20
    assert (error**2).mean() < 28


@pytest.mark.parametrize("value", [0, 7, -7])
def test_small_coefficients_give_no_levels(value):
    costs = BlockCosts(BlockModels(), 1 << 16)
    assert (
        choose_dependent_levels(np.full((4, 4), value), BlockPlace(0, 0, 2, 2), 40, costs) is None
    )
