"""Cases of several parameters, few in number, in which each two values meet."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest


def every_pair(**values: Sequence[Any]) -> pytest.MarkDecorator:
    """Give a test cases so that each value meets each value of each other parameter.

    Of three parameters of 5, 8 and 4 values this makes 40 cases instead of 160. A fault that needs
    three values at once may be missed. A value may be a ``pytest.param`` with marks.
    """
    rows = [[_param(value) for value in own] for own in values.values()]
    cases = covering([len(own) for own in rows])
    made = []
    for case in cases:
        chosen = [own[place] for own, place in zip(rows, case, strict=True)]
        marks = [mark for each in chosen for mark in each.marks]
        made.append(pytest.param(*(each.values[0] for each in chosen), marks=marks))
    return pytest.mark.parametrize(tuple(values), made)


def _param(value: Any) -> Any:
    return value if hasattr(value, "marks") and hasattr(value, "values") else pytest.param(value)


def covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return tuples of places, below the sizes, in which each two places meet at least once."""
    axes = list(combinations(range(len(sizes)), 2))
    left = {(i, a, j, b) for i, j in axes for a in range(sizes[i]) for b in range(sizes[j])}
    cases = list(product(*map(range, sizes)))
    found = []
    while left:
        best = max(cases, key=lambda case: sum((i, case[i], j, case[j]) in left for i, j in axes))
        found.append(best)
        left.difference_update((i, best[i], j, best[j]) for i, j in axes)
    return found
