"""Coming to a window of a falling function: always there, in few evaluations."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmpcodec.codec.rate_control.bracketing import MOST_TRIES, approach

BOUNDS = (-4.0, 14.0)
WINDOW = (-0.02, 0.0)
RESOLUTION = 1 / 64


def tries(function, start=2.0, slope=-0.7):
    return approach(
        function,
        start,
        slope=slope,
        bounds=BOUNDS,
        window=WINDOW,
        resolution=RESOLUTION,
    )


def lies_in(place):
    return WINDOW[0] <= place.y <= WINDOW[1]


@given(
    st.lists(st.floats(0.05, 1.2), min_size=18, max_size=18),
    st.floats(*BOUNDS),
    st.floats(*BOUNDS),
    st.floats(-3, -0.1),
)
def test_comes_to_a_window_that_a_continuous_function_crosses(falls, root, start, slope):
    places = np.linspace(*BOUNDS, 19)
    heights = -np.cumsum([0, *falls])
    at_root = np.interp(root, places, heights)
    found = tries(lambda x: float(np.interp(x, places, heights) - at_root), start, slope)
    # At the lower bound the crossing may be where nothing is tried.
    assert lies_in(found[-1]) or found[-1].x == BOUNDS[found[-1].y > 0]
    assert len(found) <= 20


@given(
    st.lists(st.tuples(st.floats(*BOUNDS), st.floats(0, 3)), max_size=12),
    st.floats(*BOUNDS),
    st.floats(0, 0.3),
    st.integers(0, 2**32 - 1),
)
@example(steps=[(2.0, 1.0)], start=2.0, ripple=0.0, seed=0)
def test_ends_whatever_the_function_is(steps, start, ripple, seed):
    calls = []

    def function(x):
        calls.append(x)
        noise = np.random.default_rng([seed, int(1e9 * (x + 10))]).normal(0, ripple)
        return 1 - sum(height for place, height in steps if x >= place) + noise

    found = tries(function, start)
    assert [place.x for place in found] == calls
    assert len(calls) == len(set(calls)) < MOST_TRIES
    assert all(BOUNDS[0] <= x <= BOUNDS[1] for x in calls)
    if lies_in(found[-1]):
        return
    above = [place.x for place in found if place.y > WINDOW[1]]
    below = [place.x for place in found if place.y < WINDOW[0]]
    if not above:
        assert found[-1].x == BOUNDS[0]
    elif not below:
        assert found[-1].x == BOUNDS[1]
    else:
        assert 0 < min(below) - max(above) <= RESOLUTION


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (lambda x: -0.01, 1),
        (lambda x: 0.7 * (5 - x), 2),
        (lambda x: 0.6 * (5 - x), 3),
        (lambda x: math.log(300 + 9e4 * math.exp(-0.8 * x)) - math.log(5000), 4),
        (lambda x: 1.0, 8),
        (lambda x: -1.0, 8),
        (lambda x: 0.01, 10),
    ],
)
def test_few_tries(function, most):
    assert len(tries(function)) <= most


def test_a_jump_is_closed_in_on_from_both_sides():
    found = tries(lambda x: 1.0 if x < 5 else -1.0)
    near = sorted(found, key=lambda place: place.x)
    sides = [place.y > 0 for place in near]
    last, first = near[sides.index(False) - 1], near[sides.index(False)]
    assert last.x < 5 <= first.x
    assert first.x - last.x <= RESOLUTION
    assert len(found) <= 14


def test_a_start_outside_is_brought_inside():
    assert tries(lambda x: 14.0 - x, 99.0)[0].x == 14.0
    assert tries(lambda x: -4.0 - x, -99.0)[0].x == -4.0
