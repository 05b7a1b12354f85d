"""Bits whose probability is mixed from several models, each with a context of its own.

They know nothing of bytes: a ``BitCoder`` is passed in, and encoder and decoder call the same
functions. Source: section "Mixed bits" of ``docs/format/format.md``; after M. Mahoney, "Adaptive
weighing of context models for lossless data compression", Florida Tech report CS-2005-16, 2005.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder, moved

MODELS = 8
MOST_STRETCH, MOST_MIXED = 2047, 2815
"""Most odds of a model and of a mixture, as a logarithm in 1/256."""
LEAST_PROBABILITY = 32
MOST_USES = 255
START_WEIGHT, MOST_WEIGHT = 10650, (1 << 17) - 1


@cache
def squash() -> np.ndarray:
    """(5631,) int array: probabilities in 2**-16 of the odds from -2815 to 2815."""
    odds = np.arange(-MOST_MIXED, MOST_MIXED + 1)
    exact = [ONE / (1 + math.exp(-x / 256)) for x in odds]
    return np.clip(np.rint(exact), 1, ONE - 1).astype(int)


@cache
def stretch() -> np.ndarray:
    """(4096,) int array: odds of the probabilities (16 i + 8) / 65536, the inverse of squash."""
    within = squash()[MOST_MIXED - MOST_STRETCH : MOST_MIXED + MOST_STRETCH + 1]
    found = np.searchsorted(within, 16 * np.arange(4096) + 8) - MOST_STRETCH
    return np.minimum(found, MOST_STRETCH)


class MixedBits:
    """The models of one plane and the weights that mix them.

    Models are made when they are first used: few of them ever are.
    """

    def __init__(self):
        self.models: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.weights: dict[tuple[int, int, int], np.ndarray] = {}
        self.contexts: Sequence[int] = ()
        self.rows: Sequence[int] = ()

    def select(self, contexts: Sequence[int], rows: Sequence[int]) -> None:
        """What the bits of a sample depend on.

        Parameters
        ----------
        contexts : 8 ints
            Context of each model.
        rows : 2 ints
            Which weights to take.
        """
        self.contexts, self.rows = contexts, rows

    def code(self, coder: BitCoder, syntax: str, decision: int, bit: int | None) -> int:
        """Code a bit of a numbered decision and learn from it."""
        keys = [(model, context, decision) for model, context in enumerate(self.contexts)]
        states = [self.models.get(key, (ONE // 2, 0)) for key in keys]
        odds = np.array([stretch()[probability >> 4] for probability, _ in states])
        sets = [
            self.weights.setdefault((k, row, decision), np.full(MODELS, START_WEIGHT))
            for k, row in enumerate(self.rows)
        ]
        single = [min(max(int(weights @ odds) >> 16, -MOST_MIXED), MOST_MIXED) for weights in sets]
        probability = int(squash()[(sum(single) >> 1) + MOST_MIXED])
        bit = coder.bit(syntax, probability, bit)
        for weights, mixture in zip(sets, single, strict=True):
            error = bit * ONE - int(squash()[mixture + MOST_MIXED])
            weights += (odds * (5 * error) + (1 << 16)) >> 17
            np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT, out=weights)
        for key, state in zip(keys, states, strict=True):
            self.models[key] = learned(state, bit)
        return bit


def learned(state: tuple[int, int], bit: int) -> tuple[int, int]:
    """A model's probability and uses after a bit."""
    probability, uses = state
    probability = moved(probability, bit * ONE, uses)
    return min(max(probability, LEAST_PROBABILITY), ONE - LEAST_PROBABILITY), min(
        uses + 1, MOST_USES
    )
