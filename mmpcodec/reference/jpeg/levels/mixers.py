"""How a bit gets its probability in each form, and from where first models start.

Source: section "Levels of a stripe" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder, moved
from mmpcodec.reference.entropy.logistic_mixing import MOST_USES, LogisticMixing
from mmpcodec.runtime.kernels import table

SYNTAX = ("sizes", "ends", "firsts", "first signs", "signs", "tails")
MODELS = {1: 1, 2: 8, 3: 24}
"""Models of a decision, by form."""
LINE_BITS = {3: 11}
"""Binary logarithm of the lines of a hashed model, by form, where it is not the usual one."""
USES = {1: 12, 2: 24, 3: 24}
"""Uses of a first model that starts from a table, by form."""
START_WEIGHTS = {
    (2, "sizes"): (12000, 1000),
    (2, "signs"): (9000, 1200),
    (3, "sizes"): (10000, 500),
    (3, "signs"): (8000, 600),
}
LEAST, MOST = 32, ONE - 32
SUM_INPUTS, FITTED_INPUTS = 25, 20
"""Inputs of the predicted size of forms 1 and 2, and those with weights of form 3."""
SHAPES = {"sizes": (64, 15), "ends": (32, 64), "firsts": (32, 15), "signs": (384, 1)}
"""Steps and decisions of the tables of each group; that of signs is for all decisions."""

State = Callable[[int, int], tuple[int, int]]


@cache
def sum_weights() -> np.ndarray:
    """Return the (3, 64, 25) weights of sizes in forms 1 and 2, in 1/4096, by kind and place."""
    weights = table("jpeg_weights", "<i2")[: 3 * 64 * SUM_INPUTS]
    return weights.reshape(3, 64, SUM_INPUTS).astype(int)


@cache
def size_weights() -> np.ndarray:
    """Return the (3, 64, 20) weights that those of form 3 start from, in 1/4096."""
    weights = table("jpeg_weights", "<i2")[3 * 64 * SUM_INPUTS :]
    return weights.reshape(3, 64, FITTED_INPUTS).astype(int)


@cache
def start_states() -> dict[str, np.ndarray]:
    """Return the (2, steps, decisions) entries of each group, for luma and the other kinds."""
    entries, found, start = table("jpeg_states"), {}, 0
    for group, shape in SHAPES.items():
        count = 2 * shape[0] * shape[1]
        found[group] = entries[start : start + count].reshape(2, *shape)
        start += count
    return found


def first_state(group: str, form: int) -> State | None:
    """Return what gives the first model of a group its start."""
    if group not in SHAPES:
        return None
    states, (steps, decisions) = start_states()[group], SHAPES[group]
    places = 64 if group == "sizes" else 1

    def state(context: int, decision: int) -> tuple[int, int]:
        kind, step = divmod(context, places * steps)
        if decision >= decisions > 1:
            return ONE // 2, 0
        entry = states[min(kind, 1), step % steps, decision if decisions > 1 else 0]
        return 256 * int(entry) + 128, USES[form]

    return state


class OneModel:
    """One model for each context and decision; it has the methods of ``LogisticMixing``."""

    def __init__(self, first: State | None):
        self._first = first or (lambda context, decision: (ONE // 2, 0))
        self._states: dict[tuple[int, int], tuple[int, int]] = {}

    def select(self, contexts: Sequence[int], rows: Sequence[int]) -> None:
        """Choose the context of the next bits."""
        self._context = contexts[0]

    def code(self, coder: BitCoder, syntax: str, decision: int, bit: int | None) -> int:
        """Code a bit, and adapt its model."""
        key = self._context, decision
        state = self._states.get(key) or self._first(*key)
        bit = coder.bit(syntax, state[0], bit)
        one, uses = state
        self._states[key] = moved(one, MOST if bit else LEAST, uses), min(uses + 1, MOST_USES)
        return bit


class Limited:
    """A coder whose probabilities are limited to 32 to 65504.

    Parameters
    ----------
    coder : BitCoder
    """

    def __init__(self, coder: BitCoder):
        self._coder = coder

    def bit(self, syntax: str, probability: int, bit: int | None) -> int:
        """Code a bit."""
        return self._coder.bit(syntax, min(max(probability, LEAST), MOST), bit)

    def code(self, syntax: str, frequencies: np.ndarray, symbol: int | None) -> int:
        """Code a symbol."""
        return self._coder.code(syntax, frequencies, symbol)

    def plain(self, syntax: str, bits: int, number: int | None) -> int:
        """Code a number whose values are equally likely."""
        return self._coder.plain(syntax, bits, number)


def mixer_of(group: str, form: int) -> OneModel | LogisticMixing:
    """Return the models of a group of decisions."""
    state = first_state(group, form)
    if form == 1:
        return OneModel(state)
    models = MODELS[form]
    weights, bits = START_WEIGHTS.get((form, group)), LINE_BITS.get(form)
    return LogisticMixing(models, range(1, models), weights, state, bits)


def listed(contexts: Sequence[int], form: int) -> list[int]:
    """Return the contexts of all models: the first ones of a list, and 0 beyond it."""
    models = MODELS[form]
    return [*contexts[:models], *[0] * (models - len(contexts))]
