"""Rate-distortion costs of the decisions on a block, from the models at the start of a fragment.

*Encoder only*. A cost is lambda * R in 1/16 squared error, as in ``trees.costs``. The cost of each
coded bit is rounded by itself, so that sums are equal on every machine.

Lambda is in units of 8-bit samples. With deeper samples lambda is often so small that the cost of
a bit would round to 0. Squared errors are then counted in finer units: in units of samples that
keep some of the extra bits.
"""

from collections.abc import Collection, Sequence
from functools import cache

import numpy as np

from mmpcodec.depth import BYTE, extra_bits
from mmpcodec.reference.blocks.levels import MOST_PREFIX, group_of, last_groups
from mmpcodec.reference.blocks.models import (
    COARSE,
    DIRECTIONS,
    FIRST_LIKELY,
    FREQUENCIES,
    REMAINDER_BITS,
    SAME_MODE,
    SECOND_LIKELY,
    SUMS,
    BlockModels,
)
from mmpcodec.reference.blocks.partition import (
    CROSS_COMPONENT,
    TERNARY,
    THREE_ROWS,
    UNIT_LOG2,
    WIDE_CROSS_COMPONENT,
    Block,
    BlockPlace,
    Units,
    forced_flag,
)
from mmpcodec.reference.entropy.binary import ONE, BinaryModels
from mmpcodec.reference.entropy.rates import LOG2, RATE_FRACTION_BITS
from mmpcodec.reference.trees.costs import COST_FRACTION_BITS, lagrangian
from mmpcodec.reference.trees.scales import LEAF, ROWS
from mmpcodec.tools import BlockTools

MOST_LAMBDA_BITS = 36
"""Largest number of binary digits of lambda with which the cost of every bit fits 32 bits."""


def finer_bits(depth: int, lambda_fixed: int) -> int:
    """Return the number of extra bits that squared errors keep: the most that lambda allows."""
    room = (MOST_LAMBDA_BITS - lambda_fixed.bit_length()) // 2
    return min(extra_bits(depth), max(room, 0))


class BlockCosts:
    """Costs of the symbols of one fragment, in 1/16 squared error.

    Parameters
    ----------
    models : BlockModels
    lambda_fixed : int
        lambda in 1/65536 squared error of 8-bit samples per bit.
    depth : int
        Bits of a sample.
    fine : bool
        Whether levels have fine contexts.

    Attributes
    ----------
    finer, coarser : int
        Number of extra bits that samples keep in squared errors, and number of those they lose.
    lambda_fixed : int
        lambda in 1/65536 squared error per bit, for samples with ``finer`` extra bits.
    plain : int
        Cost of one digit of a plain number.
    split, direction, ternary, tree, kind, transform, trained, skipped : int arrays
        Cost of a bit, by the context of its model; the last axis is the bit, 0 or 1.
    level : (2, 4, P, 8, 4) nested lists of int
        Cost of a level with its sign, but without the remainder of a size above 2. The indices are
        the quantiser, the area class, the class of its place in ``Scan.places_of``, the class of
        the sum of the sizes around it, and the level's size: 0, 1, 2, or 3 for larger ones.
    nonzero : (4, P) nested lists of int
        Cost of the bit that a level is not 0, with quantiser 0 and a sum of 0. The last level lacks
        this bit.
    """

    def __init__(
        self,
        models: BlockModels,
        lambda_fixed: int,
        depth: int = BYTE,
        *,
        fine: bool = False,
    ):
        self.models = models
        self.fine = fine
        self.depth = depth
        self.finer = finer_bits(depth, lambda_fixed)
        self.coarser = extra_bits(depth) - self.finer
        self.lambda_fixed = lambda_fixed << 2 * self.finer
        self.plain = int(lagrangian(1 << RATE_FRACTION_BITS, self.lambda_fixed))
        self.split = self._of_bits(models.split)
        self.direction = self._of_bits(models.direction)
        self.ternary = self._of_bits(models.ternary)
        self.tree = self._of_bits(models.tree)
        self.kind = self._of_bits(models.kind)
        self.transform = self._of_bits(models.transform)
        self.trained = self._of_bits(models.trained)
        self.skipped = self._of_bits(models.skipped)
        zero, one, two = self._fine_level_bits() if fine else self._level_bits()
        self.nonzero = zero[0, :, :, 0, 1].tolist()
        first = zero[..., 1] + self.plain
        sizes = (
            zero[..., 0],
            first + one[..., 0],
            first + one[..., 1] + two[..., 0],
            first + one[..., 1] + two[..., 1],
        )
        self.level = np.stack(sizes, axis=-1).tolist()
        self._likely = self._of_bits(models.mode.likely)
        self._planes = self._of_bits(models.planes)
        self._wide_cross_component = self._of_bits(models.wide_cross_component)
        self._last = self._of_bits(models.last)
        self._last_bit = self._of_bits(models.last_bit)
        self._remainder = self._of_bits(models.fine_remainder if fine else models.remainder)
        self.of_remainder = cache(self._of_remainder)
        self.of_last = cache(self._of_last)

    def of_error(self, difference: np.ndarray) -> int:
        """Return the sum of squares of a difference of samples, in 1/16 squared error."""
        return (int((difference * difference).sum()) << COST_FRACTION_BITS) >> 2 * self.coarser

    def of_coefficients(self, squares: int) -> int:
        """Return the distortion of an error of coefficients.

        ``squares`` is a sum of squares of coefficients in 1/8 of a unit of 8-bit samples.
        """
        return (squares << 2 * self.finer) >> 2

    def of_type(self, place: BlockPlace, family: int, block: Block, tools: BlockTools) -> int:
        """Return the cost of the transform type of a block whose mode is of a family."""
        context, cost = (place.area_class, family), 0
        if tools.trained_transforms:
            cost += int(self.trained[context][int(block.trained)])
        if block.trained or not place.may_be_sine:
            return cost
        cost += int(self.transform[context][int(block.sine or block.skipped)])
        if tools.transform_skip and (block.sine or block.skipped):
            cost += int(self.skipped[context][int(block.skipped)])
        return cost

    def of_modes(
        self,
        size: int,
        likely: tuple[int, int],
        absent: Collection[int],
        far: Collection[int] = (),
    ) -> dict[int, int]:
        """Return the cost of each available mode; parameters as in ``ModeModels.frequencies``."""
        frequencies = self.models.mode.frequencies(size, likely, absent, far)
        left, above = likely
        of_likely = self._likely[size].tolist()
        if left == above:
            missed = of_likely[SAME_MODE][0]
        else:
            missed = of_likely[FIRST_LIKELY][0] + of_likely[SECOND_LIKELY][0]
        others = np.flatnonzero(frequencies)
        rates = LOG2[frequencies.sum()] - LOG2[frequencies[others]]
        costs = dict(
            zip(
                others.tolist(),
                (missed + lagrangian(rates, self.lambda_fixed)).tolist(),
                strict=True,
            )
        )
        costs[left] = of_likely[SAME_MODE if left == above else FIRST_LIKELY][1]
        if left != above:
            costs[above] = of_likely[FIRST_LIKELY][0] + of_likely[SECOND_LIKELY][1]
        return {mode: cost for mode, cost in costs.items() if mode not in absent}

    def add_planes(
        self, costs: dict[int, int], size: int, context: int, modes: Sequence[int]
    ) -> None:
        """Add the modes from earlier planes to the costs of the other modes.

        Parameters
        ----------
        costs : dict of int to int
            From ``of_modes``; changed in place.
        size : int
            ``BlockPlace.size``.
        context : int
            From ``Units.planes_context``.
        modes : sequence of int
            From ``BlockPicture.planes_modes``.
        """
        other, planes = self._planes[size, context].tolist()
        for mode in costs:
            costs[mode] += other
        if WIDE_CROSS_COMPONENT in modes:
            narrow, wide = self._wide_cross_component[size].tolist()
            costs[WIDE_CROSS_COMPONENT] = planes + wide
            planes += narrow
        costs[CROSS_COMPONENT] = planes

    def of_flag(self, units: Units, place: BlockPlace, flag: int, *, ternary: bool = False) -> int:
        """Return the cost of the bits that ``code_flag`` codes for a flag."""
        a, b = place.height_log2, place.width_log2
        if a == b == UNIT_LOG2 or forced_flag(place, units.shape) is not None:
            return 0
        cost = int(self.split[a, b, units.split_context(place), int(flag != LEAF)])
        if flag == LEAF:
            return cost
        rows = flag in (ROWS, THREE_ROWS)
        if min(a, b) > UNIT_LOG2:
            cost += int(self.direction[a, b, units.direction_context(place), int(rows)])
        if ternary and (b, a)[rows] > UNIT_LOG2 + 1:
            cost += int(self.ternary[a, b, int(rows), int(flag in TERNARY.values())])
        return cost

    def remainder_context(self, area: int, place: int, of_sum: int) -> tuple[int, ...]:
        """Return the context of the remainder of a level.

        Parameters
        ----------
        area : int
            ``BlockPlace.area_class``.
        place : int
            Class of the level's place, from ``Scan.places_of``.
        of_sum : int
            ``sum_class`` of the sizes around it.
        """
        if not self.fine:
            return (int(area >= 2),)
        return min(COARSE[place % FREQUENCIES], 2), of_sum

    def _of_bits(self, models: BinaryModels) -> np.ndarray:
        """Return the costs of a bit by context; the new last axis is the bit, 0 or 1."""
        return self._of_probabilities(models.probability)

    def _of_probabilities(self, one: np.ndarray) -> np.ndarray:
        """Return the costs of a bit from the probabilities of a 1; the new last axis is the bit."""
        rates = LOG2[ONE] - LOG2[np.stack([ONE - one, one], axis=-1)]
        return lagrangian(rates, self.lambda_fixed)

    def _level_bits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the costs of the bits "zero", "one" and "two", by the indices of ``level``."""
        zero = self._of_bits(self.models.zero)[..., np.minimum(np.arange(SUMS), 5), :]
        # The models "one" and "two" have fewer contexts than the model "zero".
        areas, frequencies = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])
        sums = np.minimum(np.arange(SUMS), 4)
        context = np.ix_(np.arange(2), areas, frequencies, sums)
        one = self._of_bits(self.models.one)[context]
        two = self._of_bits(self.models.two)[context]
        return zero, one, two

    def _fine_level_bits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``_level_bits``, with fine contexts."""
        models, sums = self.models, np.minimum(np.arange(SUMS), 5)
        places = np.ix_(np.arange(2), np.arange(4), np.tile(COARSE, DIRECTIONS), sums)
        fine = models.fine_zero.probability.reshape(2, 1, -1, SUMS)
        zero = self._of_probabilities((models.zero.probability[places] + fine) >> 1)
        one, two = (
            np.broadcast_to(np.tile(self._of_bits(own), (1, DIRECTIONS, 1, 1))[:, None], zero.shape)
            for own in (models.fine_one, models.fine_two)
        )
        return zero, one, two

    def _of_remainder(self, context: tuple[int, ...], remainder: int) -> int:
        """Return the cost of the remainder size - 2; ``context`` is from ``remainder_context``."""
        digits = remainder.bit_length() - 1
        bits = [(min(k, REMAINDER_BITS - 1), int(k < digits)) for k in range(digits + 1)]
        assert digits < MOST_PREFIX
        return digits * self.plain + sum(int(self._remainder[*context, k, bit]) for k, bit in bits)

    def _of_last(self, place: BlockPlace, number: int) -> int:
        """Return the cost of the last position, given by its number in scan order."""
        group = group_of(number)
        bits = [(k, int(k < group)) for k in range(min(group + 1, last_groups(place)))]
        cost = sum(int(self._last[place.size, k, bit]) for k, bit in bits)
        if group > 0:
            high = (number + 1) >> (group - 1) & 1
            cost += int(self._last_bit[group, high]) + (group - 1) * self.plain
        return cost
