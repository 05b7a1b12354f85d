"""Context models of predicted blocks: their initial probabilities, and the models of modes.

Encoder and decoder call the same functions with a ``BitCoder`` of their direction.
Source: sections "Blocks", "Modes" and "Levels" of ``docs/format/format.md``.
"""

import math
from bisect import bisect_right
from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.blocks.partition import (
    FIRST_ANGLE,
    MAX_LOG2,
    MODES,
    SIZES,
    TEMPLATES,
    UNIT_LOG2,
)
from mmpcodec.reference.entropy.binary import (
    MOST_USES,
    ONE,
    BinaryModels,
    BitCoder,
)
from mmpcodec.runtime import kernels
from mmpcodec.tools import BlockTools

MODE_START, MODE_INCREMENT, MODE_LIMIT = 3, 20, 4000
"""Initial frequency of a mode, its increment, and the total above which all are halved."""
NEARNESS = (3, 6, 6, 6, 3)
"""What an angle of a neighbour adds to the factors of the angles from 2 below it to 2 above it."""
SAME_MODE, FIRST_LIKELY, SECOND_LIKELY = 1, 0, 2
"""Second index of the models *likely*: the mode that both neighbours have, the left, the upper."""


class ModeModels:
    """Models of the prediction modes, by the block's size.

    Attributes
    ----------
    likely : BinaryModels
        Models of the bits that say whether a block has the mode of a neighbour.
    frequency : (9, 37) int64 array
        Frequency of each mode, by ``BlockPlace.size``.
    """

    def __init__(self):
        self.likely = BinaryModels("mode", (SIZES, 3))
        self.frequency = np.full((SIZES, MODES), MODE_START, np.int64)

    def frequencies(
        self,
        size: int,
        likely: tuple[int, int],
        absent: Collection[int],
        far: Collection[int] = (),
    ) -> np.ndarray:
        """Return the frequencies of the modes for a block that has none of its neighbours' modes.

        Parameters
        ----------
        size : int
            ``BlockPlace.size``.
        likely : (int, int)
            Modes of the left and of the upper neighbour.
        absent : collection of int
            Modes that are not available.
        far : collection of int
            Modes of the neighbours at the far ends of the block.

        Returns
        -------
        (37,) int64 array
            0 for the neighbours' modes and for modes that are not available.
        """
        factor = np.full(MODES, 2)
        factor[:FIRST_ANGLE] = 4
        for mode in (*likely, *far):
            if FIRST_ANGLE <= mode < TEMPLATES:
                for distance, more in enumerate(NEARNESS, -2):
                    if FIRST_ANGLE <= mode + distance < TEMPLATES:
                        factor[mode + distance] += more
        factor[[*likely, *absent]] = 0
        return self.frequency[size] * factor

    def code(
        self,
        coder: BitCoder,
        size: int,
        likely: tuple[int, int],
        absent: Collection[int],
        mode: int | None,
        far: Collection[int] = (),
    ) -> int:
        """Code the mode of a block.

        Parameters
        ----------
        coder : BitCoder
        size, likely, absent
            As in ``frequencies``.
        mode : int or None
            The mode to encode; None decodes.
        far : collection of int
            As in ``frequencies``.

        Returns
        -------
        int
            The mode, 0 to 36.

        Raises
        ------
        CorruptStream
            If the decoded mode is not available.
        """
        mode = self._code(coder, size, likely, absent, mode, far)
        if mode in absent:
            raise CorruptStream("Modes", f"mode is {mode}, which is not there")
        self.learn(size, mode)
        return mode

    def learn(self, size: int, mode: int) -> None:
        """Count a coded mode."""
        self.frequency[size, mode] += MODE_INCREMENT
        self.halve(size)

    def halve(self, size: int) -> None:
        """Halve the frequencies of the modes if their total is above the limit."""
        frequency = self.frequency[size]
        if frequency.sum() > MODE_LIMIT:
            frequency[:] = (frequency + 1) >> 1

    def _code(self, coder, size, likely, absent, mode, far) -> int:
        left, above = likely

        def is_it(guess: int, which: int) -> int:
            return self.likely.code(coder, (size, which), None if mode is None else mode == guess)

        if left == above:
            if is_it(left, SAME_MODE):
                return left
        else:
            if is_it(left, FIRST_LIKELY):
                return left
            if is_it(above, SECOND_LIKELY):
                return above
        return coder.code("mode", self.frequencies(size, likely, absent, far), mode)


REMAINDER_BITS = 12
"""Number of models for the digits of a remainder's length."""
FREQUENCIES, SUMS, DIRECTIONS = 8, 8, 3
"""Numbers of classes of fine contexts: of frequencies, of sums and of directions."""
COARSE = (0, 1, 1, 2, 2, 3, 3, 3)
"""Frequency class without fine contexts, by the one with them."""
FURTHER_MODELS = 8
"""Number of models for the size of a difference of delta step."""


class BlockModels:
    """All context models for the predicted blocks of one picture.

    The attributes are ``BinaryModels`` and ``ModeModels`` with the names and indices of sections
    "Blocks", "Modes", "Levels", "Delta step" and "Trained transforms"; ``transform`` is the model
    *type*, and ``wide_cross_component`` is the model *wide*. The first index of ``zero``, ``one``
    and ``two`` is the quantiser, which is always 0 without *dependent*. Those that begin with
    ``fine`` are the models of section "Fine contexts".

    Parameters
    ----------
    tools : BlockTools or None
        None stands for tools without *initial states*.
    small : bool
        Whether the built-in start is that of small pictures.
    """

    def __init__(self, tools: BlockTools | None = None, *, small: bool = False):
        logs = MAX_LOG2 + 1
        self.split = BinaryModels("split", (logs, logs, 3))
        self.direction = BinaryModels("split", (logs, logs, 3))
        self.mode = ModeModels()
        self.planes = BinaryModels("mode", (SIZES, 3))
        self.wide_cross_component = BinaryModels("mode", (SIZES,))
        self.ternary = BinaryModels("split", (logs, logs, 2))
        self.tree = BinaryModels("tree", (SIZES, 3))
        self.kind = BinaryModels("kind", (SIZES, 3))
        self.transform = BinaryModels("level", (4, 4))
        self.trained = BinaryModels("level", (4, 4))
        self.skipped = BinaryModels("level", (4, 4), int(_percent(np.array(12))), 4)
        self.last = BinaryModels("level", (SIZES, 10))
        self.last_bit = BinaryModels("level", (11,))
        t, o = np.array([12, 28, 42, 52, 60, 70]), np.array([20, 14, 10, 10])
        zero = _percent(np.minimum(90, o[:, None] * t // 10))
        self.zero = BinaryModels("level", (2, 4, 4, 6), zero, 4)
        one = np.array([20, 25, 35, 45, 55])
        self.one = BinaryModels("level", (2, 2, 3, 5), _percent(one), 4)
        self.two = BinaryModels("level", (2, 2, 3, 5), _percent(one + 10), 4)
        self.remainder = BinaryModels("level", (2, REMAINDER_BITS))
        # The models with fine contexts start as the others.
        places, sums = np.ix_(np.array(COARSE), np.minimum(np.arange(SUMS), 5))
        of_places = self.zero.probability[0, 0][places, sums]
        self.fine_zero = BinaryModels("level", (2, DIRECTIONS, FREQUENCIES, SUMS), of_places, 4)
        first = one[np.minimum(np.arange(SUMS), 4)]
        self.fine_one = BinaryModels("level", (2, FREQUENCIES, SUMS), _percent(first), 4)
        self.fine_two = BinaryModels("level", (2, FREQUENCIES, SUMS), _percent(first + 10), 4)
        self.fine_remainder = BinaryModels("level", (3, SUMS, REMAINDER_BITS))
        self.changed = BinaryModels("split", (2,))
        self.finer = BinaryModels("split", (1,))
        self.further = BinaryModels("split", (FURTHER_MODELS,))
        if tools and tools.initial_states:
            self._take(initial_states(small)[start_class(independent_step(tools))])

    def binary(self, quantiser: int = 0) -> list[tuple[np.ndarray, np.ndarray, tuple[int, ...]]]:
        """Return probabilities and numbers of bits of the binary models, in the order of the table.

        Each pair comes with the shape that it has in the table, which has room for more. Quantiser
        1 has models of its own only for the sizes of levels; the models with fine contexts follow,
        then those of trained transforms and of ternary splits.
        """
        inner = np.s_[UNIT_LOG2:, UNIT_LOG2:]
        sides = MAX_LOG2 - UNIT_LOG2 + 1
        if quantiser:
            levels = (self.zero, self.one, self.two)
            second = [(own.probability[1], own.uses[1], own.uses.shape[1:]) for own in levels]
            later = (
                self.fine_zero,
                self.fine_one,
                self.fine_two,
                self.fine_remainder,
                self.trained,
            )
            second += [(own.probability, own.uses, own.uses.shape) for own in later]
            ternary = self.ternary.probability[inner], self.ternary.uses[inner]
            return [*second, (*ternary, (sides, sides, 2))]
        groups = 12
        listed: list[tuple[BinaryModels, Any, tuple[int, ...]]] = [
            (self.split, inner, (sides, sides, 3)),
            (self.direction, inner, (sides, sides, 3)),
            (self.mode.likely, np.s_[:], (SIZES, 3)),
            (self.kind, np.s_[:], (SIZES, 3)),
            (self.transform, np.s_[:], (4, 4)),
            (self.last, np.s_[:], (SIZES, groups)),
            (self.last_bit, np.s_[:], (groups,)),
            (self.zero, np.s_[0], (4, 4, 6)),
            (self.one, np.s_[0], (2, 3, 5)),
            (self.two, np.s_[0], (2, 3, 5)),
            (self.remainder, np.s_[:], (2, REMAINDER_BITS)),
            (self.tree, np.s_[:], (SIZES, 3)),
        ]
        return [(own.probability[part], own.uses[part], shape) for own, part, shape in listed]

    def _take(self, table: np.ndarray) -> None:
        """Take the states of a table of trained states."""
        place = self._take_pairs(table, 0, 0)
        modes = SIZES * MODES
        frequency = np.maximum(table[place : place + modes], 1)
        self.mode.frequency[...] = frequency.reshape(SIZES, MODES)
        self._take_pairs(table, place + modes, 1)

    def _take_pairs(self, table: np.ndarray, place: int, quantiser: int) -> int:
        """Take the states of binary models from a place of a table; return the place after them."""
        for probability, uses, shape in self.binary(quantiser):
            count = math.prod(shape)
            pairs = table[place : place + 2 * count].astype(np.int32).reshape(*shape, 2)
            own = pairs[tuple(slice(length) for length in probability.shape)]
            probability[...] = 256 * own[..., 0] + 128
            uses[...] = np.minimum(own[..., 1], MOST_USES)
            place += 2 * count
        return place


def independent_step(tools: BlockTools) -> int:
    """Return the step of independent levels of about the same rate and distortion."""
    return max(tools.step * 5 // 6, 1) if tools.dependent else tools.step


START_STEPS = (149, 278, 481, 833, 1445)
"""First step of each class of trained states but the first."""


def start_class(step: int) -> int:
    """Return the number of the table of trained states for a quantisation step."""
    return bisect_right(START_STEPS, step)


@cache
def initial_states(small: bool = False) -> np.ndarray:
    """Return the tables of trained states of the built-in start, or of the small start.

    Returns
    -------
    (6, 3727) uint8 array
        The states of section "Initial states".
    """
    table = kernels.table("small_initial_states" if small else "initial_states")
    return table.reshape(len(START_STEPS) + 1, -1)


def _percent(percent: np.ndarray) -> np.ndarray:
    """Return the probabilities in 1/65536 of percentages."""
    return ONE * percent // 100
