"""Logistic mixing: bits whose probability is a weighted mixture of eight context models.

Source: section "Mixed bits" of ``docs/format/format.md``; after M. Mahoney, "Adaptive weighing of
context models for lossless data compression", Florida Tech report CS-2005-16, 2005.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder, moved

MODELS = 8
MOST_STRETCH, MOST_MIXED = 2047, 2815
"""Largest logarithmic odds of a model and of a mixture, in 1/256."""
LEAST_PROBABILITY = 32
"""Lowest probability of a model, in 1/65536."""
MOST_USES = 255
START_WEIGHT, MOST_WEIGHT = 10650, (1 << 17) - 1
"""Weights are in 1/65536."""


@cache
def squash() -> np.ndarray:
    """Return the probabilities of logarithmic odds.

    Returns
    -------
    (5631,) int array
        Entry i is the probability, in 1/65536, of the logarithmic odds (i - 2815) / 256.
    """
    odds = np.arange(-MOST_MIXED, MOST_MIXED + 1)
    exact = [ONE / (1 + math.exp(-x / 256)) for x in odds]
    return np.clip(np.rint(exact), 1, ONE - 1).astype(int)


@cache
def stretch() -> np.ndarray:
    """Return the logarithmic odds of probabilities: the inverse of ``squash``.

    Returns
    -------
    (4096,) int array
        Entry i is the logarithmic odds, in 1/256, of the probability (16 i + 8) / 65536.
    """
    within = squash()[MOST_MIXED - MOST_STRETCH : MOST_MIXED + MOST_STRETCH + 1]
    found = np.searchsorted(within, 16 * np.arange(4096) + 8) - MOST_STRETCH
    return np.minimum(found, MOST_STRETCH)


class MixedBits:
    """The context models of one plane and the weights that mix them.

    Models and weights are dictionaries, because few of the possible contexts occur.

    Attributes
    ----------
    models : dict of (model, context, decision) to (probability, uses)
        Absent models have probability 1/2 and 0 uses.
    weights : dict of (set, row, decision) to (8,) int array
        Weights in 1/65536; absent ones are ``START_WEIGHT``.
    """

    def __init__(self):
        self.models: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.weights: dict[tuple[int, int, int], np.ndarray] = {}
        self.contexts: Sequence[int] = ()
        self.rows: Sequence[int] = ()

    def select(self, contexts: Sequence[int], rows: Sequence[int]) -> None:
        """Choose the contexts and weights for the bits of the next sample.

        Parameters
        ----------
        contexts : sequence of 8 int
            Context of each model.
        rows : sequence of 2 int
            Row of each of the two sets of weights.
        """
        self.contexts, self.rows = contexts, rows

    def code(self, coder: BitCoder, syntax: str, decision: int, bit: int | None) -> int:
        """Code a bit, then adapt the models and weights that predicted it.

        Parameters
        ----------
        coder : BitCoder
        syntax : str
            Name of the syntax element.
        decision : int
            Number of the question that the bit answers.
        bit : int or None
            The bit to encode; None decodes.

        Returns
        -------
        int
            0 or 1.
        """
        keys = [(model, context, decision) for model, context in enumerate(self.contexts)]
        states = [self.models.get(key, (ONE // 2, 0)) for key in keys]
        odds = np.array([stretch()[probability >> 4] for probability, _ in states])
        sets = [
            self.weights.setdefault((k, row, decision), np.full(MODELS, START_WEIGHT))
            for k, row in enumerate(self.rows)
        ]
        mixtures = [
            min(max(int(weights @ odds) >> 16, -MOST_MIXED), MOST_MIXED) for weights in sets
        ]
        probability = int(squash()[(sum(mixtures) >> 1) + MOST_MIXED])
        bit = coder.bit(syntax, probability, bit)
        for weights, mixture in zip(sets, mixtures, strict=True):
            error = bit * ONE - int(squash()[mixture + MOST_MIXED])
            weights += (odds * (5 * error) + (1 << 16)) >> 17
            np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT, out=weights)
        for key, state in zip(keys, states, strict=True):
            self.models[key] = learned(state, bit)
        return bit


def learned(state: tuple[int, int], bit: int, most_uses: int = MOST_USES) -> tuple[int, int]:
    """Return the probability and number of uses of a model after it has seen a bit."""
    probability, uses = state
    probability = moved(probability, bit * ONE, uses)
    return min(max(probability, LEAST_PROBABILITY), ONE - LEAST_PROBABILITY), min(
        uses + 1, most_uses
    )
