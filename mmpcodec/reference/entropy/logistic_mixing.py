"""The logistic mixture of 8 context models, or of 24 with four sets of weights and a last stage.

Source: section "Logistic mixing" of ``docs/format/format.md``; after M. Mahoney, "Adaptive weighing
of context models for lossless data compression", Florida Tech report CS-2005-16, 2005.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import cache

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder, moved

MOST_STRETCH, MOST_MIXED = 2047, 2815
"""Largest logarithmic odds of a model and of a mixture, in 1/256."""
LINE_BITS, LINE_DECISIONS = {8: 13, 24: 15}, 16
"""Binary logarithm of the lines of a hashed model, by number of models; decisions of a line."""
PART_FACTOR, LINE_FACTOR = 2654435761, 789269575
"""Factors of the hash of a line."""
LEAST_PROBABILITY, MOST_PROBABILITY = 32, ONE - 32
"""Lowest and highest probability of a model and of the last stage, in 1/65536."""
MOST_USES = 127
START_WEIGHT, WEIGHT_SETS = {8: 2621, 24: 1200}, {8: 1, 24: 4}
"""Initial weight, and number of sets of weights, by number of models. Several sets have a last
stage."""
MOST_WEIGHT, WEIGHT_BITS = 28000, 14
"""Largest weight, and binary logarithm of the unit of weights."""
MOST_GAIN = (1 << 15) - 1
"""Largest change of a weight for one model, in 1/32768 of its logarithmic odds."""
MOST_WEIGHT_USES = 2047
START_SHARE, MOST_SHARE = 1 << 14, (1 << 17) - 1
"""Shares of the sets are in 1/65536."""
STAGES = 33
"""Probabilities of the last stage for each decision and row."""


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


class WeightSet:
    """Weights of one set for one decision and row.

    Parameters
    ----------
    models : int
        Number of models, 8 or 24.
    start : (int, int) or None
        Weights of the first model and of the others, in 1/16384, if they start elsewhere.

    Attributes
    ----------
    weights : (models,) int array
        In 1/16384.
    uses : int
        Bits that the weights were learned from, at most 2047 (m in the format).
    """

    def __init__(self, models: int, start: tuple[int, int] | None = None):
        first, others = start or (START_WEIGHT[models],) * 2
        self.weights = np.array([first] + [others] * (models - 1), np.int64)
        self.uses = 0

    def mix(self, odds: np.ndarray) -> int:
        """Return the weighted logarithmic odds, in 1/256."""
        return limited_odds(int(self.weights @ odds) >> WEIGHT_BITS)

    def learn(self, odds: np.ndarray, mixture: int, bit: int) -> None:
        """Move the weights, which gave the mixture, towards those that predict the bit."""
        rate = 2 + 2000 // (100 + self.uses)
        error = rate * (ONE * bit - probability_of(mixture) >> 4)
        gain = min(max(error, -MOST_GAIN), MOST_GAIN)
        self.weights += (odds * gain + (1 << 14)) >> 15
        np.clip(self.weights, -MOST_WEIGHT, MOST_WEIGHT, out=self.weights)
        self.uses = min(self.uses + 1, MOST_WEIGHT_USES)


class LogisticMixing:
    """The context models of one plane, the weights that mix them, and the last stage.

    All state is in dictionaries, because few of the possible contexts occur.

    Parameters
    ----------
    models : int
        Number of models, 8 or 24.
    hashed : collection of int
        Models, from 0, whose contexts are hashed to lines.
    start_weights : (int, int) or None
        As for ``WeightSet``.
    first_state : callable or None
        Returns the (probability, uses) from which the first model starts for a context and a
        decision; without it, they are 1/2 and 0.
    line_bits : int or None
        Binary logarithm of the lines of a hashed model; None for that of ``LINE_BITS``.

    Attributes
    ----------
    states : dict of (model, context or line, decision) to (probability, uses)
        State of a model; absent ones have probability 1/2 and 0 uses.
    sets : dict of (set, row, decision) to WeightSet
    shares : dict of decision to list of int
        Share of each set, in 1/65536.
    stages : dict of (row of set 1, decision) to list of int
        Probabilities of the last stage, in 1/65536.
    """

    def __init__(
        self,
        models: int,
        hashed: Collection[int],
        start_weights: tuple[int, int] | None = None,
        first_state: Callable[[int, int], tuple[int, int]] | None = None,
        line_bits: int | None = None,
    ):
        self.models, self.hashed = models, hashed
        self.line_bits = LINE_BITS[models] if line_bits is None else line_bits
        self._start_weights, self._first_state = start_weights, first_state
        self.weight_sets = WEIGHT_SETS[models]
        self.last_stage = self.weight_sets > 1
        self.states: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.sets: dict[tuple[int, int, int], WeightSet] = {}
        self.shares: dict[int, list[int]] = {}
        self.stages: dict[tuple[int, int], list[int]] = {}
        self.contexts: Sequence[int] = ()
        self.rows: Sequence[int] = ()

    def select(self, contexts: Sequence[int], rows: Sequence[int]) -> None:
        """Choose the contexts and weights for the bits of the next sample.

        Parameters
        ----------
        contexts : sequence of int
            Context of each model.
        rows : sequence of 4 int
            Row of each set of weights; only those of the sets in use are read.
        """
        self.contexts, self.rows = contexts, rows[: self.weight_sets]

    def code(self, coder: BitCoder, syntax: str, decision: int, bit: int | None) -> int:
        """Code a bit, then adapt all that predicted it.

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
        keys = [self._key(model, context, decision) for model, context in enumerate(self.contexts)]
        states = [self.states.get(key, (ONE // 2, 0)) for key in keys]
        if self._first_state and keys[0] not in self.states:
            states[0] = self._first_state(self.contexts[0], decision)
        odds = np.array([stretch()[probability >> 4] for probability, _ in states])
        bit = self._code_mixture(coder, syntax, decision, odds, bit)
        for key, state in zip(keys, states, strict=True):
            self.states[key] = learned(state, bit)
        return bit

    def _code_mixture(
        self, coder: BitCoder, syntax: str, decision: int, odds: np.ndarray, bit: int | None
    ) -> int:
        """Code a bit by the mixture of the odds of the models, and adapt what mixes them."""
        sets = [self._set((k, row, decision)) for k, row in enumerate(self.rows)]
        mixtures = [own.mix(odds) for own in sets]
        shares = self.shares.setdefault(decision, [START_SHARE] * len(sets))
        mixture = mixtures[0]
        if len(sets) > 1:
            products = (share * x for share, x in zip(shares, mixtures, strict=True))
            mixture = limited_odds(sum(products) >> 16)
        probability = probability_of(mixture)
        if self.last_stage:
            stage = self.stages.setdefault((self.rows[0], decision), first_stage())
            place, part = divmod(min(max(mixture + 2048, 0), 4095), 128)
            between = ((128 - part) * stage[place] + part * stage[place + 1]) >> 7
            probability = _limited((probability + between) >> 1)
        bit = coder.bit(syntax, probability, bit)

        if self.last_stage:
            nearest = place + (part >= 64)
            stage[nearest] += (min(ONE * bit, ONE - 1) - stage[nearest]) >> 6
        if len(sets) > 1:
            error = ONE * bit - probability_of(mixture)
            for k, x in enumerate(mixtures):
                share = shares[k] + ((4 * x * error + (1 << 17)) >> 18)
                shares[k] = min(max(share, -MOST_SHARE), MOST_SHARE)
        for own, x in zip(sets, mixtures, strict=True):
            own.learn(odds, x, bit)
        return bit

    def _set(self, key: tuple[int, int, int]) -> WeightSet:
        """Return the weights of a set, row and decision."""
        if key not in self.sets:
            self.sets[key] = WeightSet(self.models, self._start_weights)
        return self.sets[key]

    def _key(self, model: int, context: int, decision: int) -> tuple[int, int, int]:
        """Return the key of a model's state."""
        if model in self.hashed:
            line = hashed_line(context, decision, self.line_bits)
            return model, line, decision % LINE_DECISIONS
        return model, context, decision


def learned(state: tuple[int, int], bit: int) -> tuple[int, int]:
    """Return the probability and number of uses of a model after it has seen a bit."""
    probability, uses = state
    probability = moved(probability, bit * ONE, uses)
    return _limited(probability), min(uses + 1, MOST_USES)


def hashed_line(context: int, decision: int, bits: int) -> int:
    """Return the line of a hashed model of ``2**bits`` lines for a context and a decision."""
    y = (context + (decision // LINE_DECISIONS) * PART_FACTOR) * LINE_FACTOR % 2**32
    return (y ^ y >> 15) % 2**bits


def first_stage() -> list[int]:
    """Return the initial probabilities of the last stage."""
    return [probability_of(limited_odds(128 * (i - STAGES // 2))) for i in range(STAGES)]


def limited_odds(odds: int) -> int:
    """Limit logarithmic odds of a mixture."""
    return min(max(odds, -MOST_MIXED), MOST_MIXED)


def probability_of(odds: int) -> int:
    """Return the probability of logarithmic odds, in 1/65536."""
    return int(squash()[odds + MOST_MIXED])


def _limited(probability: int) -> int:
    """Limit a probability of a model or of the last stage."""
    return min(max(probability, LEAST_PROBABILITY), MOST_PROBABILITY)
