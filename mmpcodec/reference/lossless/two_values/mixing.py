"""Models of a pixel of a plane of two values, and what mixes them.

Source: parts "Contexts" and "Mixing" of section "Two values" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder
from mmpcodec.reference.entropy.logistic_mixing import (
    first_stage,
    learned,
    limited_odds,
    probability_of,
    stretch,
)
from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.two_values.bit_rows import FACTORS, HASH_BITS, BitRows, ones
from mmpcodec.reference.lossless.two_values.places import AlikePlace

LEAST_CODED, MOST_CODED = 2, ONE - 2
"""Limits of the probability with which a bit is coded, in 1/65536."""
MOST_SLOW_USES, MOST_WEIGHT_USES = 250, 2047
TEMPLATE_ROWS, TEMPLATE_REACH = 10, 15
"""Rows above and columns on each side that templates can have."""
DISTANCE_CLASSES = (0, 2, 5, 9, 15, 24)
"""A distance above each of these numbers is in the next class."""
NO_PLACE, NO_VOTE = 7, 16
"""Class of a place that does not exist, and vote without places."""
VOTES = ((0, 1, 4), (1, 0, 4), (1, 1, 3), (1, -1, 3), (-1, 0, 3))
"""Row, column and number of votes of the parts of a vote, each in two binary digits."""
LAST_INPUT = 80
"""Logarithmic odds that are always mixed, in 1/256."""
START_WEIGHTS = 1572864
"""Initial weight, times 5 (models + 3), in 1/262144."""
MOST_WEIGHT, MOST_SHARE = 448000, 1 << 17
MOST_SEEN, KEPT_SEEN = 15, 2
"""Most bits of a value that a state counts, and how many stay after a bit of the other value."""
SURE_USES = 2
"""Uses from which on the state of a template counts as known."""


def stretched(probability: int) -> int:
    """Return the logarithmic odds of a probability, in 1/256 (stretch in the format)."""
    return int(stretch()[probability >> 4])


def code_bit(coder: BitCoder, probability: int, bit: int | None) -> int:
    """Code a bit with a probability of a 1, in 1/65536, and return it."""
    return coder.bit("residual", limited(probability, LEAST_CODED, MOST_CODED), bit)


class SlowModels:
    """Models of bits that adapt slowly.

    Parameters
    ----------
    first : callable
        Gives the initial probability of a 1 of a key, in 1/65536.

    Attributes
    ----------
    states : dict of key to (probability, uses)
        State of a model; absent ones have the initial probability and 0 uses.
    """

    def __init__(self, first: Callable[..., int] = lambda key: ONE // 2):
        self.first = first
        self.states: dict[Hashable, tuple[int, int]] = {}

    def probability(self, key: Hashable) -> int:
        """Return the probability of a 1 of a model, in 1/65536."""
        return self._state(key)[0]

    def learn(self, key: Hashable, bit: int) -> None:
        """Move the probability of a model towards a bit."""
        probability, uses = self._state(key)
        probability += (ONE * bit - probability) * (2 * ONE // (2 * uses + 9)) >> 16
        self.states[key] = limited(probability, 1, ONE - 1), min(uses + 1, MOST_SLOW_USES)

    def _state(self, key: Hashable) -> tuple[int, int]:
        """Return probability and uses of a model."""
        return self.states.get(key) or (self.first(key), 0)


class Weights:
    """Weights of one row of a set.

    Parameters
    ----------
    inputs : int
        Number of inputs.
    start : int
        Initial weight, in 1/262144.

    Attributes
    ----------
    weights : (inputs,) int64 array
        In 1/262144.
    uses : int
        Bits that the weights were learned from, at most 2047 (m in the format).
    """

    def __init__(self, inputs: int, start: int):
        self.weights = np.full(inputs, start, np.int64)
        self.uses = 0

    def mix(self, inputs: np.ndarray) -> int:
        """Return the weighted logarithmic odds, in 1/256."""
        return limited_odds(int((self.weights >> 4) @ inputs) >> 14)

    def learn(self, inputs: np.ndarray, mixture: int, bit: int) -> None:
        """Move the weights, which gave the mixture, towards those that predict the bit."""
        rate = 16 + 8000 // (100 + self.uses)
        gain = rate * (ONE * bit - probability_of(mixture)) >> 8
        self.weights += (inputs * gain + (1 << 10)) >> 11
        np.clip(self.weights, -MOST_WEIGHT, MOST_WEIGHT, out=self.weights)
        self.uses = min(self.uses + 1, MOST_WEIGHT_USES)


@dataclass
class PixelState:
    """What a model knows of a context and the pixel to the left.

    Attributes
    ----------
    probability : int
        Probability of a 1, in 1/65536.
    uses : int
        Bits that the probability was learned from, at most 127 (n in the format).
    seen : list of int
        Zeros and ones that were seen lately.
    """

    probability: int = ONE // 2
    uses: int = 0
    seen: list[int] = field(default_factory=lambda: [0, 0])

    def odds(self) -> int:
        """Return the logarithmic odds that count for the mixture, in 1/256."""
        if self.uses == 0:
            return 0
        odds = stretched(self.probability)
        return 5 * odds // 8 if self.uses < 3 else odds

    def learn(self, bit: int) -> None:
        """Adapt the state to a bit."""
        self.probability, self.uses = learned((self.probability, self.uses), bit)
        self.seen[bit] = min(self.seen[bit] + 1, MOST_SEEN)
        other = self.seen[1 - bit]
        if other > KEPT_SEEN:
            self.seen[1 - bit] = (other + 2) >> 1


class ContextModel:
    """A model of pixels: two states for each line, which a context chooses by a hash.

    Parameters
    ----------
    line_bits : int
        Binary logarithm of the number of lines (l in the format).
    """

    def __init__(self, line_bits: int):
        self.line_bits = line_bits
        self.checks: dict[int, int] = {}
        self.states: dict[int, tuple[PixelState, PixelState]] = {}

    def find(self, context: int, left: int) -> PixelState:
        """Return the state of a context and of the pixel to the left.

        Both states of the line start anew if the line has another check.
        """
        y = context * FACTORS[0] & ones(HASH_BITS)
        y = (y ^ y >> 29) * FACTORS[1] & ones(HASH_BITS)
        line, check = y >> HASH_BITS - self.line_bits, y >> 8 & 0xFFFF
        if line not in self.states or self.checks.get(line, 0) != check:
            self.states[line] = PixelState(), PixelState()
        self.checks[line] = check
        return self.states[line][left]


class Around(NamedTuple):
    """What the pixels and places of a pixel say about it.

    Parameters
    ----------
    contexts : list of int
        Context of each model.
    left : int
        The pixel to the left (W in the format).
    above : int
        The three pixels above (A in the format).
    nearest : int
        Class of the distance of the first place (c_1 in the format).
    rows : (int, int)
        Rows of weights of sets 1 and 2.
    stage : int
        Number that chooses the probabilities of the last stage.
    """

    contexts: list[int]
    left: int
    above: int
    nearest: int
    rows: tuple[int, int]
    stage: int


class Mixer:
    """Encoder or decoder of the pixels that are mixed.

    Parameters
    ----------
    pixels : BitRows
        Its pixels are set as they are coded.
    templates : sequence of int
        Number of pixels of each template.
    most : int
        Most places of a pixel (P in the format).
    sets : int
        Sets of weights, 1 to 3.

    Attributes
    ----------
    coder : BitCoder
        That of the plane.
    phase : callable
        ``phase(row, column)`` returns what the periods of the plane add to contexts of templates.
    history : SlowModels
        By model, zeros and ones of its state.
    weights : dict of (set, row) to Weights
    shares : dict of int to list of int
        Share of each set, in 1/65536.
    stages : dict of int to list of int
        Probabilities of the last stage, in 1/65536.
    """

    coder: BitCoder
    phase: Callable[[int, int], int]

    def __init__(self, pixels: BitRows, templates: Sequence[int], most: int, sets: int):
        self.pixels, self.most, self.sets = pixels, most, sets
        self.masks = [template_masks(count) for count in templates]
        count = len(templates) + (8 if most > 1 else 4)
        self.models = [ContextModel(pixels.line_bits) for _ in range(count)]
        self.start = START_WEIGHTS // (5 * (count + 3))
        self.history = SlowModels(first_of_history)
        self.weights: dict[tuple[int, int], Weights] = {}
        self.shares: dict[int, list[int]] = {}
        self.stages: dict[int, list[int]] = {}

    def code(
        self, row: int, column: int, group: int, places: Sequence[AlikePlace], pixel: int | None
    ) -> int:
        """Code a pixel, adapt all that predicted it, and return it.

        Parameters
        ----------
        row, column : int
        group : int
            1 or 2 for a pixel of a broken group of zeros or ones, else 0 (g in the format).
        places : sequence of AlikePlace
            Places of the pixel, the nearest one first.
        pixel : int or None
            The pixel to encode; None decodes.
        """
        around = self._look(row, column, group, places)
        models = zip(self.models, around.contexts, strict=True)
        states = [model.find(context, around.left) for model, context in models]
        seen = [(number, *state.seen) for number, state in enumerate(states)]
        inputs = [state.odds() for state in states]
        for key, state in zip(seen, states, strict=True):
            inputs.append(stretched(self.history.probability(key)) if state.uses else 0)
        rows = *around.rows, 8 * self._known_template(states) + around.nearest
        inputs.append(LAST_INPUT)
        pixel = self._code_mixture(around, rows[: self.sets], np.array(inputs), pixel)
        for key, state in zip(seen, states, strict=True):
            self.history.learn(key, pixel)
            state.learn(pixel)
        return pixel

    def _code_mixture(
        self, around: Around, rows: Sequence[int], inputs: np.ndarray, pixel: int | None
    ) -> int:
        """Code a pixel by the mixture of the inputs, and adapt what mixes them."""
        sets = [self._weights(number, row, len(inputs)) for number, row in enumerate(rows)]
        mixtures = [own.mix(inputs) for own in sets]
        key = 16 * around.nearest + 2 * around.above + around.left
        shares = self.shares.setdefault(key, [ONE // len(sets)] * len(sets))
        mixture = mixtures[0]
        if len(sets) > 1:
            products = (share * x for share, x in zip(shares, mixtures, strict=True))
            mixture = limited_odds(sum(products) >> 16)
        stage = self.stages.setdefault(around.stage, first_stage())
        place, part = divmod(limited(mixture + 2048, 0, 4095), 128)
        between = ((128 - part) * stage[place] + part * stage[place + 1]) >> 7
        pixel = code_bit(self.coder, (probability_of(mixture) + between) >> 1, pixel)

        nearest = place + (part >= 64)
        stage[nearest] += (min(ONE * pixel, ONE - 1) - stage[nearest]) >> 6
        if len(sets) > 1:
            error = (ONE * pixel - probability_of(mixture)) >> 2
            for number, x in enumerate(mixtures):
                share = shares[number] + ((x * error + (1 << 15)) >> 16)
                shares[number] = limited(share, -MOST_SHARE, MOST_SHARE)
        for own, x in zip(sets, mixtures, strict=True):
            own.learn(inputs, x, pixel)
        return pixel

    def _weights(self, number: int, row: int, inputs: int) -> Weights:
        """Return the weights of a row of a set."""
        if (number, row) not in self.weights:
            self.weights[number, row] = Weights(inputs, self.start)
        return self.weights[number, row]

    def _known_template(self, states: Sequence[PixelState]) -> int:
        """Return the number, from 1, of the last template with a known state; 0 without one."""
        own = enumerate(states[: len(self.masks)], 1)
        return max((number for number, state in own if state.uses >= SURE_USES), default=0)

    def _look(self, row: int, column: int, group: int, places: Sequence[AlikePlace]) -> Around:
        """Look at the pixels and the places of a pixel."""
        bits = self.pixels.bits
        left, above = bits(row, column - 1, 1), bits(row - 1, column - 1, 3)
        wide = bits(row - 1, column - 2, 5)
        second = bits(row - 2, column - 1, 3)
        beside = bits(row, column - 2, 1) + 2 * wide + 64 * second
        vote = self._votes(places, 0, 0, 16) if places else NO_VOTE
        nearest = distance_class(places, 0)
        before = bits(row, column - 2, 1), bits(row - 2, column, 1)
        return Around(
            contexts=[
                *self._template_contexts(row, column, self._part(row, column, group)),
                *self._place_contexts(places, above, beside, vote),
            ],
            left=left,
            above=above,
            nearest=nearest,
            rows=(
                17 * nearest + vote if group == 0 else 128 + 8 * group + column % 8,
                left + 2 * before[0] + 4 * above + 32 * before[1],
            ),
            stage=left + 2 * bits(row, column - 3, 2) + 8 * wide + 256 * second,
        )

    def _part(self, row: int, column: int, group: int) -> int:
        """Return what the contexts of templates have besides pixels (k in the format)."""
        return (0 if group == 0 else 1 + column % 8) + self.phase(row, column)

    def _template_contexts(self, row: int, column: int, part: int) -> list[int]:
        """Return the contexts of the templates; ``part`` is k in the format."""
        start, width = column - TEMPLATE_REACH, 2 * TEMPLATE_REACH + 1
        rows = [self.pixels.bits(row - j, start, width) for j in range(TEMPLATE_ROWS + 1)]
        return [
            (part << 40)
            + sum(
                factor * (own & mask)
                for factor, own, mask in zip(FACTORS, rows, masks, strict=False)
            )
            for masks in self.masks
        ]

    def _place_contexts(
        self, places: Sequence[AlikePlace], above: int, beside: int, vote: int
    ) -> list[int]:
        """Return the contexts of the models about places.

        Parameters
        ----------
        places : sequence of AlikePlace
        above, beside : int
            A and B in the format.
        vote : int
        """
        first, second = self._square(places, 0), self._square(places, 1)
        near, next_near = distance_class(places, 0), distance_class(places, 1)
        count = len(places) << 60
        contexts = [
            count + (near << 32) + (above << 25) + (first & DIAMOND),
            count + (near >> 1 << 40) + (beside << 25) + (first & CORE_SQUARE),
            count + (beside << 25) + first,
            (next_near << 26)
            + (middle(second) << 24)
            + (beside << 8)
            + (near << 4)
            + middle(first),
        ]
        if self.most == 1:
            return contexts
        parts = sum(
            self._votes(places, *numbers) << 2 * number for number, numbers in enumerate(VOTES)
        )
        return [
            *contexts,
            count + (next_near << 32) + (above << 25) + (second & DIAMOND),
            count + ((second & CORE_SQUARE) << 25) + (first & CORE_SQUARE),
            (beside << 16) + (near << 8) + vote,
            (above << 20) + (parts << 8) + vote,
        ]

    def _square(self, places: Sequence[AlikePlace], number: int) -> int:
        """Return the 25 pixels around a place, 0 without it (q in the format)."""
        if number >= len(places):
            return 0
        row, column, _ = places[number]
        return sum(self.pixels.bits(row + r, column - 2, 5) << 5 * (r + 2) for r in range(-2, 3))

    def _votes(self, places: Sequence[AlikePlace], row: int, column: int, count: int) -> int:
        """Return how many of ``count`` votes the places give for a 1 at an offset from them."""
        total = ones_weight = 0
        for place in places:
            weight = 256 >> min(8, (place.distance - places[0].distance) // 7)
            total += weight
            ones_weight += weight * self.pixels.bits(place.row + row, place.column + column, 1)
        return count * ones_weight // (1 + total)


def first_of_history(key: tuple[int, int, int]) -> int:
    """Return the initial probability of a 1 for a model and the zeros and ones that it saw."""
    _, zeros, own = key
    return ONE * (2 * own + 1) // (2 * (zeros + own) + 2)


def template_masks(count: int) -> list[int]:
    """Return the pixels of a template, but not the one to the left.

    Parameters
    ----------
    count : int
        Number of pixels of the template, with the one to the left.

    Returns
    -------
    list of 11 int
        Number j has the pixels of the row j rows above: binary digit i is the pixel i - 15 columns
        to the right.
    """
    positions = [
        (row, column)
        for row in range(-TEMPLATE_ROWS, 1)
        for column in range(-TEMPLATE_REACH, TEMPLATE_REACH + 1)
        if row < 0 or column < 0
    ]
    positions.sort(key=lambda at: (at[0] ** 2 + at[1] ** 2, -at[0], at[1]))
    masks = [0] * (TEMPLATE_ROWS + 1)
    for row, column in positions[:count]:
        if (row, column) != (0, -1):
            masks[-row] |= 1 << column + TEMPLATE_REACH
    return masks


def distance_class(places: Sequence[AlikePlace], number: int) -> int:
    """Return the class of the distance of a place, 7 if there is no such place."""
    if number >= len(places):
        return NO_PLACE
    return sum(bound < places[number].distance for bound in DISTANCE_CLASSES)


def square_mask(kept: Callable[[int, int], bool]) -> int:
    """Return a mask of the pixels around a place at whose row and column ``kept`` holds."""
    offsets = range(-2, 3)
    return sum(1 << 5 * (r + 2) + c + 2 for r in offsets for c in offsets if kept(r, c))


CORE_SQUARE = square_mask(lambda r, c: abs(r) <= 1 and abs(c) <= 1)
"""The 9 pixels next to a place (q' in the format)."""
DIAMOND = square_mask(lambda r, c: abs(r) + abs(c) <= 2)
"""The 13 pixels next to a place (q'' in the format)."""


def middle(square: int) -> int:
    """Return the pixel of a place, from the pixels around it."""
    return square >> 12 & 1
