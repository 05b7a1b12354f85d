"""Cases in which each two values of two parameters meet."""

from itertools import combinations

import pytest
from support.pairs import covering


@pytest.mark.parametrize("sizes", [(2, 3), (5, 8, 4, 3), (2, 2, 2, 2, 2), (1, 1, 1)])
def test_each_two_places_meet(sizes):
    found = covering(sizes)
    assert len(set(found)) == len(found)
    for i, j in combinations(range(len(sizes)), 2):
        assert len({(case[i], case[j]) for case in found}) == sizes[i] * sizes[j]
