"""Trials of one block: estimated costs equal the costs of coding."""

import numpy as np
import pytest

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture, code_flag
from mmpcodec.reference.blocks.levels import code_levels
from mmpcodec.reference.blocks.models import BlockModels, ModeModels
from mmpcodec.reference.blocks.partition import Block, BlockPlace
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.levels import choose_levels, cost_of_levels
from mmpcodec.reference.blocks.search.trellis import choose_dependent_levels
from mmpcodec.reference.blocks.search.trial import hadamard_difference, rough_cost
from mmpcodec.reference.blocks.transform import dequantised, forward
from mmpcodec.reference.entropy.binary import BinaryModels
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.trees.costs import lagrangian
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, ROWS

PLACES = [BlockPlace(8, 8, a, b) for a, b in ((2, 2), (3, 5), (4, 4), (6, 2), (6, 6))]
LAMBDA = 20 << 16


class CostCoder:
    """Adds up what the models ask to be coded; see ``bitmodels.BitCoder``."""

    def __init__(self):
        self.cost = 0

    def bit(self, syntax, probability, bit):
        frequency = probability if bit else 65536 - probability
        self.cost += int(lagrangian(LOG2[65536] - LOG2[frequency], LAMBDA))
        return int(bit)

    def plain(self, syntax, bits, number):
        self.cost += bits * int(lagrangian(4096, LAMBDA))
        return int(number)

    def code(self, syntax, frequencies, symbol):
        rate = LOG2[frequencies.sum()] - LOG2[frequencies[symbol]]
        self.cost += int(lagrangian(rate, LAMBDA))
        return symbol


@pytest.fixture
def models(monkeypatch):
    """Models that differ from each other and learn no more."""
    rng = np.random.default_rng(0)
    models = BlockModels()
    for bits in [*vars(models).values(), models.mode.likely]:
        if isinstance(bits, BinaryModels):
            bits.probability[...] = rng.integers(192, 65345, bits.probability.shape)
    models.mode.frequency[...] = rng.integers(1, 100, models.mode.frequency.shape)
    for learner in (BinaryModels, ModeModels):
        monkeypatch.setattr(learner, "learn", lambda *arguments: None)
    return models


def residual(place, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.laplace(0, 12, (place.height, place.width))).astype(int).clip(-255, 255)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("step", [1, 40, 236, 2000])
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("family", [None, 0, 1, 2, 3])
def test_cost_of_levels_is_that_of_coding_them(models, place, step, dependent, family):
    costs = BlockCosts(models, LAMBDA, fine=family is not None)
    choose = choose_dependent_levels if dependent else choose_levels
    levels = choose(forward(residual(place), False), place, step, costs, family or 0)
    if levels is None:
        return
    coder = CostCoder()
    code_levels(coder, models, place, levels, dependent, family)
    assert cost_of_levels(levels, place, costs, dependent, family or 0) == coder.cost


def test_costs_of_modes_and_flags_are_those_of_coding_them(models):
    costs = BlockCosts(models, LAMBDA)
    for likely in ((2, 2), (5, 30), (36, 4), (35, 36), (36, 36)):
        for absent in ([], [36]):
            expected = {}
            for mode in sorted({*range(37)} - {*absent}):
                coder = CostCoder()
                models.mode.code(coder, 3, likely, absent, mode)
                expected[mode] = coder.cost
            assert costs.of_modes(3, likely, absent) == expected
    picture = BlockPicture((24, 24), EncodeParams.from_options(preset="photo").coded_tools)
    picture.models = models
    picture.units.mark(BlockPlace(4, 8, 2, 2), Block(3))
    for place in (BlockPlace(8, 8, 2, 2), BlockPlace(8, 8, 2, 4), BlockPlace(8, 8, 4, 3)):
        possible = [LEAF]
        possible += [COLUMNS] * (place.width > 4) + [ROWS] * (place.height > 4)
        for flag in possible:
            coder = CostCoder()
            assert code_flag(coder, picture, place, flag) == flag
            assert costs.of_flag(picture.units, place, flag) == coder.cost


@pytest.mark.parametrize("place", PLACES)
def test_chosen_levels_are_close_to_the_coefficients(models, place):
    costs = BlockCosts(models, 0)
    coefficients = forward(residual(place), False)
    levels = choose_levels(coefficients, place, 30, costs)
    error = np.abs(coefficients - dequantised(levels, 30))
    assert error.max() <= 30 * 5 / 16 + 1


def test_levels_stay_within_the_format_s_range(models):
    """A step of 1 asks for 65534."""
    levels = choose_levels(np.full((4, 4), 32767), PLACES[0], 1, BlockCosts(models, 0))
    assert (levels == 32767).all()


def test_nothing_is_chosen_where_bits_are_dear(models):
    place = PLACES[2]
    coefficients = forward(residual(place), False)
    assert choose_levels(coefficients, place, 60000, BlockCosts(models, LAMBDA)) is None
    assert choose_levels(np.zeros((16, 16), int), place, 1, BlockCosts(models, 0)) is None


def test_guesses_of_costs_are_not_negative(models):
    """With no price of bits the levels can seem to take away more energy than there is."""
    costs = BlockCosts(models, 0)
    for seed in range(30):
        for place in PLACES:
            for strength in (0, 6):
                assert rough_cost(residual(place, seed), place, 1, strength, costs) >= 0


def test_hadamard_differences():
    flat = np.full((8, 4), 3)
    assert hadamard_difference(flat) == 2 * 16 * 3 // 2
    impulse = np.zeros((4, 8), int)
    impulse[2, 5] = -7
    assert hadamard_difference(impulse) == 16 * 7 // 2


def test_hadamard_differences_of_deep_samples_lose_what_does_not_count():
    flat = np.full((4, 4), 65535)
    assert hadamard_difference(-flat) == 8 * 65535
    assert hadamard_difference(flat, 3) == 65535


def test_costs_of_errors_are_in_units_of_the_samples_that_costs_know(models):
    """Of bytes 1/16 squared error; of deep samples as much finer as there is room for."""
    difference = np.array([[3, -4]])
    for depth, lam, error, coefficient in (
        (8, LAMBDA, 16 * 25, 64 // 4),
        (12, LAMBDA, 16 * 25, 256 * 64 // 4),
        (16, 1, 16 * 25, 65536 * 64 // 4),
        (16, 1 << 36, 16 * 25 >> 16, 64 // 4),
        (16, 1 << 30, 16 * 25 >> 12, 16 * 64 // 4),
    ):
        costs = BlockCosts(models, lam, depth)
        assert costs.of_error(difference) == error
        assert costs.of_coefficients(64) == coefficient
        assert costs.plain == int(lagrangian(4096, lam << 2 * costs.finer))
        assert costs.finer + costs.coarser == depth - 8
        assert costs.lambda_fixed <= 1 << 36


def test_a_bit_of_deep_samples_costs_something_where_lambda_is_small(models):
    lam = 1 << 10  # 1/64 of a squared 8-bit level, or four of a 12-bit one
    assert BlockCosts(models, lam).plain == 0
    assert BlockCosts(models, lam, 12).plain == 64
