"""Dependent quantisation: values, states, and the coefficients of levels."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec.presets import PRESETS
from mmpcodec.reference.blocks.dependent import dequantised, value_of
from mmpcodec.reference.blocks.levels import AFTER_EVEN, next_state, quantiser_of, scan
from mmpcodec.reference.blocks.partition import BlockPlace

PHOTO = replace(PRESETS["photo"], dependent=True)


def test_states_follow_the_parity():
    """Each state has two states before it, one by an even and one by an odd level."""
    assert [(next_state(s, 0), next_state(s, 1)) for s in range(8)] == [
        (0, 2), (5, 7), (1, 3), (6, 4), (2, 0), (4, 6), (3, 1), (7, 5),
    ]  # fmt: skip
    assert sorted(AFTER_EVEN) == list(range(8))
    assert [next_state(3, level) for level in (-3, -2, 7, 32767)] == [4, 6, 4, 4]


def test_quantisers_have_even_and_odd_multiples_of_half_a_step():
    assert [value_of(size, 0, 40) for size in (0, 1, 2, 3)] == [0, 20, 40, 60]
    assert [value_of(size, 1, 40) for size in (0, 1, 2, 3)] == [0, 10, 30, 50]
    assert [value_of(size, 1, 1) for size in (1, 2, 3)] == [0, 1, 1]
    assert value_of(32767, 1, 65535) == value_of(1, 0, 65535) == 32767
    assert value_of(1, 1, 65535) == 16384


def test_without_the_tool_levels_are_multiples_of_the_step():
    levels = np.array([[3, -2, 0, 0]] * 4)
    place = BlockPlace(0, 0, 2, 2)
    tools = replace(PHOTO, dependent=False, step=30)
    assert dequantised(levels, place, tools)[0].tolist() == [45, -30, 0, 0]
    assert not dequantised(np.zeros((4, 4), int), place, replace(PHOTO, step=30)).any()


@given(st.integers(2, 4), st.integers(2, 4), st.integers(1, 65535), st.integers(0, 2**32 - 1))
def test_the_state_begins_at_the_last_level(a, b, step, seed):
    """The quantiser follows from the parities of the levels of higher frequencies."""
    rng = np.random.default_rng(seed)
    place = BlockPlace(0, 0, a, b)
    levels = rng.integers(-4, 5, (1 << a, 1 << b)) * (rng.random((1 << a, 1 << b)) < 0.4)
    found = dequantised(levels, place, replace(PHOTO, step=step))
    state, begun = 0, False
    for at in reversed(scan(1 << a, 1 << b)):
        size = abs(int(levels[at]))
        begun = begun or size > 0
        if not begun:
            continue
        halves = 0 if size == 0 else 2 * size - state % 2
        expected = min(32767, (halves * step + 2) // 4)
        assert found[at] == (expected if levels[at] > 0 else -expected)
        assert quantiser_of(state) == state % 2
        state = next_state(state, size)
