"""Levels (quantised coefficients) of a block: their order, and coding them.

Source: section "Levels" of ``docs/format/format.md``.
"""

from functools import cache

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.blocks.models import COARSE, REMAINDER_BITS, BlockModels
from mmpcodec.reference.blocks.partition import BlockPlace
from mmpcodec.reference.blocks.transform import coefficient_shape
from mmpcodec.reference.entropy.binary import BinaryModels, BitCoder

SECTION = "Levels"
MOST_LEVEL = 32767
"""Largest absolute value of a level."""
MOST_PREFIX = 15
"""Largest number of digits of a remainder after its first digit."""
AROUND = ((0, 1), (0, 2), (1, 0), (2, 0), (1, 1))
"""Row and column offsets of the levels whose sizes decide the context of a level."""


ANGLES = (1, 2)
"""Families of the modes that are angles: from the left, and from above."""

AFTER_EVEN = (0, 5, 1, 6, 2, 4, 3, 7)
"""The state after a level that is even, by the state before it, with dependent quantisation."""


def quantiser_of(state: int) -> int:
    """Return the quantiser of a level, 0 or 1, from the state before it."""
    return state & 1


def next_state(state: int, level: int) -> int:
    """Return the state after a level, of which only the parity counts."""
    return AFTER_EVEN[state] ^ (level & 1) << 1


@cache
def scan(height: int, width: int) -> tuple[tuple[int, int], ...]:
    """Return the positions of the coefficients of a block, from low to high frequencies.

    Parameters
    ----------
    height, width : int
        Size of the block in samples.

    Returns
    -------
    tuple of (row, column)
    """
    rows, columns = coefficient_shape(height, width)
    places = [(i, j) for i in range(rows) for j in range(columns)]
    return tuple(sorted(places, key=lambda place: (place[0] * width + place[1] * height, place[0])))


def code_levels(
    coder: BitCoder,
    models: BlockModels,
    place: BlockPlace,
    levels: np.ndarray | None,
    dependent: bool = False,
    family: int | None = None,
) -> np.ndarray:
    """Code the levels of a block.

    Parameters
    ----------
    coder : BitCoder
    models : BlockModels
    place : BlockPlace
    levels : (R, Q) int array or None
        The levels to encode, at least one of which is not 0; None decodes.
    dependent : bool
        Whether the levels before a level choose its quantiser, and so its models.
    family : int or None
        ``mode_family`` of the block's mode with fine contexts, None without them.

    Returns
    -------
    (R, Q) int64 array
        The coded levels.

    Raises
    ------
    CorruptStream
        If the last position or the size of a level is out of range.
    """
    order = scan(place.height, place.width)
    last = None
    if levels is not None:
        last = max(number for number, at in enumerate(order) if levels[at])
    last = _code_last(coder, models, place, len(order), last)
    shape = coefficient_shape(place.height, place.width)
    coded = np.zeros(shape, np.int64)
    sizes = np.zeros((shape[0] + 2, shape[1] + 2), np.int64)
    state = 0
    for number in range(last, -1, -1):
        i, j = at = order[number]
        around = sum(int(sizes[i + down, j + right]) for down, right in AROUND)
        given = None if levels is None else int(levels[at])
        quantiser, area = quantiser_of(state), place.area_class
        context: _PlainContext | _FineContext
        if family is None:
            context = _PlainContext(models, quantiser, area, frequency_class(*at), around)
        else:
            direction, frequency = direction_of(family, *at), fine_frequency(*at)
            context = _FineContext(models, quantiser, area, direction, frequency, around)
        coded[at] = _code_level(coder, context, number == last, given)
        if dependent:
            state = next_state(state, int(coded[at]))
        sizes[at] = min(abs(int(coded[at])), 3)
    return coded


def last_groups(place: BlockPlace) -> int:
    """Return the largest group of the last position in a block: N in the format."""
    rows, columns = coefficient_shape(place.height, place.width)
    return (rows * columns).bit_length() - 1


def group_of(number: int) -> int:
    """Group of a last position, from its number in scan order: floor(log2(number + 1))."""
    return (number + 1).bit_length() - 1


def frequency_class(i: int, j: int) -> int:
    """Return the context 0 to 3 of a frequency in row i and column j of the coefficients.

    0 for i + j = 0, 1 for i + j up to 2, 2 up to 5, 3 above.
    """
    return 0 if i + j == 0 else 1 if i + j < 3 else 2 if i + j < 6 else 3


def fine_frequency(i: int, j: int) -> int:
    """Return the class 0 to 7 of a frequency in row i and column j, with fine contexts."""
    return min(i + j, 4) + sum(i + j >= first for first in (6, 8, 12))


def sum_class(around: int) -> int:
    """Return the class 0 to 7 of the sum of the sizes around a level, with fine contexts."""
    return min(around, 5) + (around > 6) + (around > 9)


def direction_of(family: int, i: int, j: int) -> int:
    """Return the class 0 to 2 of the direction of a frequency, with fine contexts.

    0 for modes that are no angles, and on the diagonal. Else 1 if the frequency is higher along
    columns and the angle comes from the left, or it is higher along rows and the angle comes from
    above; 2 for the rest.

    Parameters
    ----------
    family : int
        ``mode_family`` of the block's mode.
    i, j : int
        Row and column of the coefficient.
    """
    if family not in ANGLES or i == j:
        return 0
    return 1 if (family == ANGLES[0]) == (i > j) else 2


class _PlainContext:
    """The models of one level, without fine contexts."""

    def __init__(self, models: BlockModels, quantiser: int, area: int, frequency: int, around: int):
        self.models = models
        self.of_zero = quantiser, area, frequency, min(around, 5)
        large = int(area >= 2)
        self.of_more = quantiser, large, min(frequency, 2), min(around, 4)
        self.of_remainder: tuple[int, ...] = (large,)
        self.one, self.two, self.remainder = models.one, models.two, models.remainder

    def code_zero(self, coder: BitCoder, bit: int | None) -> int:
        """Code whether the level is not 0."""
        return self.models.zero.code(coder, self.of_zero, bit)


class _FineContext:
    """The models of one level, with fine contexts."""

    def __init__(
        self,
        models: BlockModels,
        quantiser: int,
        area: int,
        direction: int,
        frequency: int,
        around: int,
    ):
        self.models = models
        coarse, of_sum = COARSE[frequency], sum_class(around)
        self.of_zero = (
            (quantiser, area, coarse, min(around, 5)),
            (quantiser, direction, frequency, of_sum),
        )
        self.of_more = quantiser, frequency, of_sum
        self.of_remainder = min(coarse, 2), of_sum
        self.one, self.two = models.fine_one, models.fine_two
        self.remainder = models.fine_remainder

    def code_zero(self, coder: BitCoder, bit: int | None) -> int:
        """Code whether the level is not 0."""
        return self.models.zero.code_with(self.models.fine_zero, coder, self.of_zero, bit)


def _code_last(
    coder: BitCoder, models: BlockModels, place: BlockPlace, count: int, last: int | None
) -> int:
    """Code the number, in scan order, of the last level that is not 0, of ``count`` levels."""
    given = None if last is None else group_of(last)
    group = 0
    while group < last_groups(place) and models.last.code(
        coder, (place.size, group), None if given is None else given > group
    ):
        group += 1
    number = 1 << group
    if group > 0:
        digits = None if last is None else last + 1 - number
        high = None if digits is None else digits >> (group - 1)
        high = models.last_bit.code(coder, (group,), high)
        low = None if digits is None else digits & ((1 << (group - 1)) - 1)
        number += (high << (group - 1)) + coder.plain("level", group - 1, low)
    if number > count:
        raise CorruptStream(SECTION, f"last place is {number - 1}, allowed is 0 to {count - 1}")
    return number - 1


def _code_level(
    coder: BitCoder, context: _PlainContext | _FineContext, is_last: bool, level: int | None
) -> int:
    """Code one level. The last level is never 0."""
    given = None if level is None else abs(level)

    def above(size: int) -> int | None:
        return None if given is None else given > size

    if not is_last and not context.code_zero(coder, above(0)):
        return 0
    negative = coder.plain("level", 1, None if level is None else level < 0)
    size = 1 + context.one.code(coder, context.of_more, above(1))
    if size == 2:
        size += context.two.code(coder, context.of_more, above(2))
    if size == 3:
        remainder = None if given is None else given - 2
        size = 2 + _code_remainder(coder, context.remainder, context.of_remainder, remainder)
        if size > MOST_LEVEL:
            raise CorruptStream(SECTION, f"size of a level is {size}, allowed is 0 to {MOST_LEVEL}")
    return -size if negative else size


def _code_remainder(
    coder: BitCoder, models: BinaryModels, context: tuple[int, ...], remainder: int | None
) -> int:
    """Code a number above 0: the number of its digits, then the digits after the first."""
    given = None if remainder is None else remainder.bit_length() - 1
    digits = 0
    while digits < MOST_PREFIX and models.code(
        coder,
        (*context, min(digits, REMAINDER_BITS - 1)),
        None if given is None else given > digits,
    ):
        digits += 1
    rest = None if remainder is None else remainder - (1 << digits)
    return (1 << digits) + coder.plain("level", digits, rest)
