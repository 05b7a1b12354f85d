"""Binary decisions of repeating pixels: models of one context each, mixed by weights.

Source: section "Repeating pixels", "Mixing", of ``docs/format/format.md``.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, moved
from mmpcodec.reference.entropy.logistic_mixing import limited_odds, probability_of
from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.two_values.mixing import SlowModels, stretched

Code = Callable[[int, int | None], int]
"""Codes a bit, of which the probability of a 1 is given in 1/65536, and returns it."""

UNIT = 1 << 18
"""A weight of 1."""
MOST_WEIGHT = 3 * UNIT
MOST_USES, FEW_USES = 250, 8
"""Most uses of a quick model, and those from which on it needs no map."""
LEAST, MOST = 32, 65504
"""Limits of the probability of a quick model."""
MOST_SEEN = 255


def chained(key: int, value: int) -> int:
    """Return the hash of a hash and one more value."""
    key = (key ^ value & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF
    return key ^ key >> 15


def hash_of(first: int, *values: int) -> int:
    """Return the hash of several values."""
    for value in values:
        first = chained(first, int(value))
    return first


class QuickModels:
    """Models that nearly follow their first bits, with maps that correct them.

    Attributes
    ----------
    states : dict of key to (probability, uses)
        Absent ones have probability 1/2 and 0 uses.
    maps : SlowModels
        By owner, uses and 16 classes of probability.
    """

    def __init__(self):
        self.states: dict[Hashable, tuple[int, int]] = {}
        self.maps = SlowModels(lambda key: key[2] * 4096 + 2048)

    def odds(self, owner: Hashable, key: Hashable) -> tuple[int, Hashable | None]:
        """Return the logarithmic odds of a model, and the key of the map that gave them."""
        probability, uses = self.states.get(key, (ONE // 2, 0))
        if uses == 0:
            return 0, None
        if uses >= FEW_USES:
            return stretched(probability), None
        place = (owner, uses, probability >> 12)
        return stretched(self.maps.probability(place)), place

    def uses(self, key: Hashable) -> int:
        """Return the number of bits that a model learned from."""
        return self.states.get(key, (0, 0))[1]

    def learn(self, key: Hashable, place: Hashable | None, bit: int) -> None:
        """Move a model, and the map at ``place``, towards a bit."""
        if place is not None:
            self.maps.learn(place, bit)
        probability, uses = self.states.get(key, (ONE // 2, 0))
        probability = limited(moved(probability, bit * ONE, uses), LEAST, MOST)
        self.states[key] = probability, min(uses + 1, MOST_USES)


class OddsMixer:
    """A mixture of logarithmic odds; each set selects a row of weights.

    Parameters
    ----------
    start : int
        First weight, in 1/262144.
    slower : int
        Halvings of the rate at which weights learn.
    """

    def __init__(self, start: int, slower: int = 0):
        self.start, self.slower = start, slower
        self.weights: dict[tuple[int, int], np.ndarray] = {}
        self.seen: dict[tuple[int, int], int] = {}

    def predict(self, inputs: Sequence[int], rows: Sequence[int]) -> int:
        """Return the probability of a 1, in 1/65536."""
        self.inputs = np.array(inputs, np.int64)
        self.keys = list(enumerate(rows))
        total = 0
        for key in self.keys:
            if key not in self.weights:
                self.weights[key] = np.full(len(inputs), self.start, np.int64)
            total += int((self.weights[key] >> 6) @ self.inputs)
        self.one = probability_of(limited_odds(total >> 12))
        return self.one

    def learn(self, bit: int) -> None:
        """Move the weights towards those that predict the bit."""
        for key in self.keys:
            seen = self.seen.get(key, 0)
            gain = (56 + 3960 // (12 + seen)) * (ONE * bit - self.one) >> (8 + self.slower)
            self.seen[key] = min(seen + 1, MOST_SEEN)
            moved_weights = self.weights[key] + ((self.inputs * gain + 1024) >> 11)
            self.weights[key] = np.clip(moved_weights, -MOST_WEIGHT, MOST_WEIGHT)


def count_below(value: int, limits: Sequence[int]) -> int:
    """Return the class of a value: how many limits it reaches."""
    return sum(value >= limit for limit in limits)
