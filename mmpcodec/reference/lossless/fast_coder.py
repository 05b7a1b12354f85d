"""The fast mode of lossless samples: few decisions for a sample, and most of a plane by repetition.

Source: section "Fast mode" of ``docs/format/format.md``; the digits are after M. Weinberger,
G. Seroussi and G. Sapiro, "The LOCO-I lossless image compression algorithm", 2000.
"""

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import ONE, BitCoder
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.logistic_mixing import learned
from mmpcodec.reference.lossless.blend import FAST_PREDICTORS, Blend
from mmpcodec.reference.lossless.context import (
    Context,
    EarlierSamples,
    activity_class,
    look_around,
    signed_class,
)
from mmpcodec.reference.lossless.hashes import key_and_line, mixed_hash, summed
from mmpcodec.reference.lossless.pixels.blocks import Blocks
from mmpcodec.reference.lossless.plane import OWN, Plane
from mmpcodec.reference.lossless.prediction import FRACTION_BITS

SECTION = "Fast mode"
FORM = 1
"""The lossless form that is the fast mode."""
NEIGHBOURS, LINE_BITS = 6, 14
"""Neighbours of the table of earlier samples, and binary logarithm of its lines."""
MOST_KNOWN_USES = 7
MOST_HIGH, MOST_DIGITS = 14, 16
"""Decisions on the high part of a distance, and most digits of what is beyond them."""
LOW = 14
"""First decision on the highest of the low digits."""
SECOND_HIGH = 6
"""Decisions on the high part that have a second model."""
SECOND_BITS, SECOND_ONE, MOST_SECOND_USES = 13, 4096, 12
"""Of second models: binary logarithm of the lines, unit of probabilities, most uses."""


class FastCoder:
    """Encoder or decoder of the samples of one plane.

    Parameters
    ----------
    planes : list of Plane
        The earlier planes, then the plane to code.
    coder : BitCoder
    tools : LosslessTools
        As in ``encode_planes``.
    cells : CellRates
        Gets the rate of each sample.

    Attributes
    ----------
    means : dict of (texture, activity class) to int
        Mean error of the fit, in 1/1024 sample.
    states : dict of tuple to (probability, uses)
        State of a model; absent ones have probability 1/2 and 0 uses.
    """

    def __init__(
        self,
        planes: list[Plane],
        coder: BitCoder,
        tools,
        cells: CellRates,
        blocks: Blocks | None = None,
    ):
        self.blocks = blocks
        self.plane = planes[-1]
        self.before = planes[-2:-4:-1]
        self.coder, self.cells = coder, cells
        self.max_error, self.step = tools.max_error, 2 * tools.max_error + 1
        self.step_bits = self.step.bit_length() - 1
        self.blend = Blend(self.plane, self.before, FAST_PREDICTORS)
        self.table = EarlierSamples()
        self.means: dict[tuple[int, int], int] = {}
        self.states: dict[tuple[int, ...], tuple[int, int]] = {}

    def code_row(self, row: int, given: np.ndarray | None) -> None:
        """Code the samples of a row; ``given`` are those to encode, or None to decode."""
        for column in range(self.plane.width):
            if self.blocks and self.blocks.at(row, column):
                self.blend.pass_over(row, column)
                continue
            self.code_sample(row, column, None if given is None else int(given[column]))

    def code_sample(self, row: int, column: int, given: int | None) -> None:
        """Code a sample.

        Parameters
        ----------
        row, column : int
        given : int or None
            The sample to encode; None decodes.
        """
        fitted = self.blend.fit(row, column)
        near = look_around(self.plane, self.before, row, column, fitted)
        # Distances count steps, so their contexts and low digits do too.
        near = near._replace(active=activity_class(near.activity >> self.step_bits))
        mean = self.means.get((near.texture, near.active), 0)
        mended = min(max(fitted + ((mean + 8) >> 4), 0), self.plane.most << FRACTION_BITS)
        predicted = (mended + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        others = [int(plane.inner[row, column]) for plane in self.before]
        neighbours = self.plane.around(row, column, OWN[:NEIGHBOURS]).tolist()
        self.table.find(*key_and_line(others, neighbours, LINE_BITS))

        if self.table.uses and self._code_known(near, given):
            sample = self.table.value
        else:
            sample = self._code_distance(near, predicted, others, given)
        self.cells.add(row, column)

        self.plane.inner[row, column] = sample
        self.table.learn(sample)
        self.blend.learn(sample)
        error = (sample << FRACTION_BITS) - fitted
        self.means[near.texture, near.active] = mean + ((16 * error - mean) >> 5)
        self.plane.set_error(row, column, (error + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS)

    def _code_known(self, near: Context, given: int | None) -> int:
        """Code whether the sample is that of the table."""
        value = self.table.value
        w, n, nw = near.around[:3]
        same = (value == w) + 2 * (value == n) + 4 * (value == nw)
        key = min(self.table.uses, MOST_KNOWN_USES), near.active, same
        return self._bit(key, None if given is None else abs(given - value) <= self.max_error)

    def _code_distance(
        self, near: Context, predicted: int, others: list[int], given: int | None
    ) -> int:
        """Code a sample by its distance from the prediction, and return the decoded sample."""
        most, bound = self.plane.most, self.max_error
        value = self.table.value
        off = signed_class(near.earlier[0] if near.earlier else near.median - predicted)
        missed = 4 + min(max(value - predicted, -3), 3) if self.table.uses else 0
        bits = ((most + bound) // self.step).bit_length()
        low_bits = min(bits, max(0, (near.active >> 1) - (3 if self.before else 2)))
        terms = (predicted, low_bits, *(others or (value,)))
        line = mixed_hash(summed(terms)) >> 32 - SECOND_BITS
        distance = None if given is None else self._distance(predicted, given)

        def code(decision: int, second: int | None, shift: int, more_than: int) -> int:
            first = off, missed, near.active, decision
            own = None if second is None else (line, second)
            bit = None if distance is None else (distance >> shift) > more_than
            return self._bit(first, bit, own)

        high = 0
        while high < MOST_HIGH:
            second = high if high < SECOND_HIGH else None
            if not code(high, second, low_bits, high):
                break
            high += 1
        if high == MOST_HIGH:
            left = None if distance is None else (distance >> low_bits) - MOST_HIGH
            high += self._code_excess(left)
        found = high << low_bits
        if low_bits:
            left, own = low_bits - 1, int(high > 0)
            found += code(LOW + own, SECOND_HIGH + own, left, 2 * high) << left
            tail = None if distance is None else distance % (1 << left)
            found += self.coder.plain("residual", left, tail)
        steps = (found + 1) >> 1
        sample = predicted + self.step * (-steps if found % 2 else steps)
        if not -bound <= sample <= most + bound:
            raise CorruptStream(
                SECTION, f"sample is {sample}, allowed is {-bound} to {most + bound}"
            )
        return min(max(sample, 0), most)

    def _distance(self, predicted: int, sample: int) -> int:
        """Return the distance of a sample in steps, twice, less one if it is negative."""
        steps = (abs(sample - predicted) + self.max_error) // self.step
        return 2 * steps - (sample < predicted and steps > 0)

    def _code_excess(self, given: int | None) -> int:
        """Code a number from 0 on: the digits of its successor, then those below the first."""
        wanted = None if given is None else (given + 1).bit_length() - 1
        digits = self.coder.plain("residual", 5, wanted)
        if digits > MOST_DIGITS:
            raise CorruptStream(
                SECTION, f"number of digits is {digits}, allowed is 0 to {MOST_DIGITS}"
            )
        tail = None if given is None else (given + 1) % (1 << digits)
        return (1 << digits) + self.coder.plain("residual", digits, tail) - 1

    def _bit(
        self, key: tuple[int, ...], bit: bool | int | None, second: tuple[int, int] | None = None
    ) -> int:
        """Code a bit by a model, or by the mean of it and a second model, and adapt them."""
        state = self.states.get(key, (ONE // 2, 0))
        probability = state[0]
        if second is not None:
            other, uses = self.states.get(second, (SECOND_ONE // 2, 0))
            probability = (probability + 16 * other + 8) >> 1
        wanted = None if bit is None else int(bit)
        found = self.coder.bit("residual", probability, wanted)
        self.states[key] = learned(state, found)
        if second is not None:
            rate = 2 * ONE // (uses + 4)
            other += ((SECOND_ONE - 1) * found - other) * rate >> 16
            self.states[second] = other, min(uses + 1, MOST_SECOND_USES)
        return found
