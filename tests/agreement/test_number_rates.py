"""Estimated rates of the numbers of a palette: C++ against the reference, and their values."""

import numpy as np
import pytest
from support.same import assert_same

from mmpcodec import backends
from mmpcodec.reference.entropy.rates import RATE_FRACTION_BITS, log2_rate

REFERENCE = backends.get("reference")


def numbers_of(kind: str, shape: tuple[int, int], count: int) -> np.ndarray:
    rng = np.random.default_rng(count)
    if kind == "noise":
        return rng.integers(0, count, shape).astype(np.uint16)
    if kind == "drawn":
        letter = rng.integers(0, count, (7, 5))
        rows, columns = np.indices(shape)
        return letter[rows % 7, columns % 5].astype(np.uint16)
    return np.add.outer(*map(np.arange, shape)).astype(np.uint16) // 3 % count


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (33, 1), (2, 3), (50, 37)])
@pytest.mark.parametrize("count", [1, 2, 9, 257])
@pytest.mark.parametrize("kind", ["noise", "drawn", "ramp"])
def test_cpu_agrees_with_the_reference(kind, shape, count):
    numbers = numbers_of(kind, shape, count)
    expected = REFERENCE.number_rates(numbers, count)
    assert expected.shape == tuple(-(-side // 16) for side in shape)
    assert_same(expected, backends.get("cpu").number_rates(numbers, count), "cpu")


def bits(numbers: np.ndarray, count: int) -> float:
    rates = backends.get("cpu").number_rates(numbers.astype(np.uint16), count)
    return float(rates.sum()) / (1 << RATE_FRACTION_BITS)


def test_noise_costs_its_entropy_and_a_little_more():
    numbers = numbers_of("noise", (200, 200), 16)
    assert 4 < bits(numbers, 16) / numbers.size < 4.4


def test_what_repeats_costs_next_to_nothing():
    letters = np.random.default_rng(0).integers(0, 8, (40, 40))
    once, often = bits(letters, 8), bits(np.tile(letters, (5, 5)), 8)
    assert once > 3 * letters.size
    assert often < 1.6 * once
    assert bits(np.zeros((160, 160)), 8) < 80


def test_fewer_colours_cost_less():
    ramp = np.add.outer(np.arange(160), np.arange(160)) // 5 + np.random.default_rng(1).integers(
        0, 3, (160, 160)
    )
    found = [bits(ramp >> shift, 80) for shift in range(5)]
    assert found == sorted(found, reverse=True)


def test_a_number_beyond_the_count_is_refused():
    with pytest.raises(ValueError, match="beyond the count"):
        backends.get("cpu").number_rates(np.full((4, 4), 3, np.uint16), 3)


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        (1, 0),
        (2, 4096),
        (3, 6492),
        (1 << 18, 18 << 12),
        (3 << 18, 6492 + (18 << 12)),
        (1 << 30, 30 << 12),
    ],
)
def test_logarithms_beyond_the_table(value, rate):
    assert log2_rate(value) == rate


def test_logarithms_agree():
    native = pytest.importorskip("mmpcodec._cpu").log2_rate
    values = [*range(1, 2000), *range((1 << 18) - 9, (1 << 18) + 9), 123456789, (1 << 31) - 1]
    assert [log2_rate(value) for value in values] == [native(value) for value in values]
