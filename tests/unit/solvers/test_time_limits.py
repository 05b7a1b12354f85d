"""Time limits of searches that have no answer before their end."""

import time
from functools import cache

import numpy as np
import pytest

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.solvers.max_sum import (
    box_census,
    column_range_rectangle,
    disjoint_boxes,
    disjoint_rectangles,
    max_box,
    max_rectangle,
    rectangle_census,
)

CALLS = {
    "max_rectangle": (max_rectangle, 2, ()),
    "rectangle_census": (rectangle_census, 2, ()),
    "column_range_rectangle": (column_range_rectangle, 2, (1,)),
    "disjoint_rectangles": (disjoint_rectangles, 2, (2,)),
    "max_box": (max_box, 3, ()),
    "box_census": (box_census, 3, ()),
    "disjoint_boxes": (disjoint_boxes, 3, (2,)),
}
LARGE = {2: (4000, 3000), 3: (200, 201, 202)}
"""Sizes whose sums alone take longer than ``SHORT``."""
SHORT = 0.01
"""Seconds."""
BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]


@cache
def values(shape):
    return np.random.default_rng(0).integers(-9, 10, shape)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CALLS)
def test_no_time(name, backend):
    search, rank, more = CALLS[name]
    small = values((5, 6, 7)[:rank])
    with pytest.raises(LimitExceeded, match=f"Time of {name}: no answer in time_limit = 0 seconds"):
        search(small, *more, time_limit=0, backend=backend)
    enough = search(small, *more, time_limit=1e6, backend=backend)
    assert enough == search(small, *more, backend="reference")


@pytest.mark.parametrize("name", CALLS)
def test_long_searches_end(name):
    search, rank, more = CALLS[name]
    large = values(LARGE[rank])
    begin = time.monotonic()
    with pytest.raises(LimitExceeded, match=f"Time of {name}"):
        search(large, *more, time_limit=SHORT, backend="cpu")
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize(
    ("name", "shape"), [("rectangle_census", (1000, 800)), ("box_census", (200, 201, 202))]
)
def test_counts_of_many_equal_sums_end(name, shape):
    """The sums of a checkerboard take 0.1 seconds; to count those that are equal takes many."""
    search, _, more = CALLS[name]
    checkerboard = np.where(np.indices(shape).sum(axis=0) % 2, 9, -9)
    begin = time.monotonic()
    with pytest.raises(LimitExceeded, match=f"Time of {name}"):
        search(checkerboard, *more, time_limit=0.2, backend="cpu")
    assert time.monotonic() - begin < 10


def test_a_wrong_limit_is_named():
    with pytest.raises(ParameterError, match=r"time_limit = -1: must be seconds from 0 to 1e\+09"):
        max_box(values((2, 2, 2)), time_limit=-1)
