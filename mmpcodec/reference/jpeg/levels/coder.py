"""Coding the levels of a stripe of a picture of JPEG, in both directions.

Source: section "Levels of a stripe" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.integers import limited, truncated
from mmpcodec.reference.jpeg.levels.block import (
    BLOCK,
    BORDER,
    KINDS,
    SLOPE,
    BlocksAround,
    Borders,
    StripeComponent,
)
from mmpcodec.reference.jpeg.levels.first_level import FirstLevels
from mmpcodec.reference.jpeg.levels.fits import Fit
from mmpcodec.reference.jpeg.levels.mixers import (
    SYNTAX,
    Limited,
    listed,
    mixer_of,
    size_weights,
    sum_weights,
)
from mmpcodec.reference.jpeg.levels.near import (
    Near,
    all_beside,
    column_beside,
    row_beside,
    size_step,
)
from mmpcodec.reference.jpeg.levels.scales import coarse, logarithm, near, sign_of
from mmpcodec.reference.jpeg.levels.size_sums import predicted_size
from mmpcodec.reference.jpeg.levels.sizes import SizeCoder
from mmpcodec.reference.jpeg.zigzag import ZIGZAG

SECTION = "Levels of a stripe"
MOST_FITTED, MOST_INPUT, MOST_TARGET = 8000, 4095, 16383
LEVEL_RIDGE, SIZE_RIDGE = 1000, 1600000
LEVEL_INPUTS, SIZE_INPUTS = 29, 28


class StripeCoder:
    """Codes the levels of all components of a stripe.

    Parameters
    ----------
    coder : BitCoder
    stripe : sequence of StripeComponent
    form : int
        1 to 3.
    """

    def __init__(self, coder: BitCoder, stripe: Sequence[StripeComponent], form: int):
        self.coder, self.stripe, self.form = Limited(coder), stripe, form
        self.fits = form == 3
        self.sizes = SizeCoder(self.coder, form)
        self.mixers = {group: mixer_of(group, form) for group in SYNTAX[:-1]}
        self.first_levels = FirstLevels(self.coder, stripe, form, self.sizes, self.mixers)
        priors = np.pad(size_weights(), ((0, 0), (0, 0), (0, SIZE_INPUTS - 20)))
        self.level_fits = [
            [Fit([0] * LEVEL_INPUTS, LEVEL_RIDGE) for _ in range(BLOCK)] for _ in range(3)
        ]
        self.size_fits = [
            [Fit(priors[kind, k].tolist(), SIZE_RIDGE) for k in range(BLOCK)] for kind in range(3)
        ]

    def code(self, encodes: bool) -> None:
        """Code all levels; without ``encodes`` those of the components are filled in."""
        for number, own in enumerate(self.stripe):
            self.number, self.own, self.kind = number, own, KINDS[number]
            self.borders, self.slopes = Borders(own, BORDER), Borders(own, SLOPE)
            rows, columns = own.levels.shape[:2]
            for row in range(rows):
                for column in range(columns):
                    given = own.levels[row, column].tolist() if encodes else None
                    own.levels[row, column] = 0
                    own.levels[row, column] = self._code_block(row, column, given)
                    if self.fits and (column % 64 == 63 or column == columns - 1):
                        self.first_levels.fits[self.kind].find_weights()
                if self.fits:
                    for fit in (*self.level_fits[self.kind], *self.size_fits[self.kind]):
                        fit.find_weights()

    def _code_block(self, row: int, column: int, given: list[int] | None) -> list[int]:
        around = BlocksAround(self.stripe, self.number, row, column)
        levels = [0] * BLOCK
        self.borders.begin(around)
        self.slopes.begin(around)

        def add(k: int, level: int) -> None:
            levels[k] = level
            self.borders.add(k, level)
            self.slopes.add(k, level)

        first = self.first_levels.code(
            around, self.number, self.borders, self.slopes, None if given is None else given[0]
        )
        add(0, first)
        end = None
        if given is not None:
            end = max((z for z in range(1, BLOCK) if given[ZIGZAG[z]]), default=0)
        end = self._code_end(around, end)
        for z in range(1, end + 1):
            k = ZIGZAG[z]
            level = self._code_level(around, levels, k, z, end, None if given is None else given[k])
            if level:
                add(k, level)
        self.own.ends[row, column] = end
        self.own.counts[row, column] = sum(level != 0 for level in levels[1:])
        self.borders.end()
        self.slopes.end()
        return levels

    def _code_end(self, around: BlocksAround, given: int | None) -> int:
        own, kind, hint = self.own, self.kind, around.hint
        row, column = around.row, around.column
        left, above = around.left_end, around.above_end
        end = (left + above + 1) // 2
        count = (around.left_count + around.above_count + 1) // 2
        broken = 0
        for i in range(1, 8):
            if around.has_above:
                broken += min(abs(self.borders.from_above(i)), 64)
            if around.has_left:
                broken += min(abs(self.borders.from_left(8 * i)), 64)
        first = coarse(4 * abs(int(own.differences[row, column])))
        breaks, counts = coarse(broken), coarse(2 * count)
        right = corner = above
        if around.has_above and column + 1 < own.levels.shape[1]:
            right = int(own.ends[row - 1, column + 1])
        if around.has_above and around.has_left:
            corner = int(own.ends[row - 1, column - 1])
        before = int(self.stripe[1].ends[row, column]) if around.before else 64

        def joined(a: int, b: int) -> int:
            return (kind * 1024 + a) * 128 + b

        contexts = [
            32 * kind + coarse(3 * count + hint if kind else 4 * count),
            joined(left // 2, above // 2),
            joined(count, end),
            joined(1000, hint) if kind else joined(first, counts // 2),
            joined(counts // 2, coarse(2 * hint) // 2),
            joined(breaks, counts),
            joined(left // 4 * 16 + above // 4, breaks // 2 * 8 + hint // 8),
            joined(around.left_count, around.above_count),
            joined(left, hint),
            joined(above, hint),
            joined(first, breaks),
            joined(before, end),
            joined(end, coarse(4 * count)),
            joined(coarse(4 * count), breaks),
            joined(right, left),
            joined(corner, above),
            joined(right, above),
            joined(before, breaks),
            joined(end, first),
            joined(end, breaks),
        ]
        rows = [64 * kind + (hint if kind else count), 64 * kind + end, 32 * kind + breaks, kind]
        mixer = self.mixers["ends"]
        mixer.select(listed(contexts, self.form), rows)
        node = 1
        for place in reversed(range(6)):
            bit = None if given is None else given >> place & 1
            node = 2 * node + mixer.code(self.coder, "ends", node, bit)
        return node - BLOCK

    def _code_level(
        self,
        around: BlocksAround,
        levels: Sequence[int],
        k: int,
        z: int,
        end: int,
        given: int | None,
    ) -> int:
        kind, place = self.kind, (around.row, around.column)
        around_place = Near(around, levels, self.borders, kind, k, z, end)
        difference = int(self.own.differences[place])
        level_inputs, fitted = [0] * LEVEL_INPUTS, 0
        if self.fits:
            inputs = around_place.size_inputs(around, difference, kind)
            level_inputs = self._level_inputs(around, levels, around_place)
            fitted = 2 * self.level_fits[kind][k].predict(level_inputs)
            fitted = limited(fitted, -MOST_FITTED, MOST_FITTED)
            inputs += self._more_size_inputs(around, around_place, fitted)
            predicted = self.size_fits[kind][k].predict(inputs)
        else:
            weights = sum_weights()[kind, k].tolist()
            predicted = predicted_size(around, levels, around_place, kind, difference, weights)
        step = size_step(predicted)
        self._select_size(around, around_place, step, fitted, difference)
        self.sizes.select(
            64 * kind + k, step, around_place.left, around_place.above, abs(fitted), kind
        )
        size = self.sizes.code(
            self.mixers["sizes"], "sizes", None if given is None else abs(given), z == end, kind
        )
        if self.fits:
            self.size_fits[kind][k].learn(inputs, logarithm(size))
        level = size
        if size:
            self._select_sign(around, around_place, levels, level_inputs, fitted, step, size)
            bit = None if given is None else int(given < 0)
            if self.mixers["signs"].code(self.coder, "signs", z, bit):
                level = -size
            if not -32768 <= level <= 32767:
                raise CorruptStream(SECTION, f"level {level} does not fit 16 bits")
        if self.fits:
            target = limited(4 * level, -MOST_TARGET, MOST_TARGET)
            self.level_fits[kind][k].learn(level_inputs, target)
        return level

    def _select_size(
        self, around: BlocksAround, at: Near, step: int, fitted: int, difference: int
    ) -> None:
        kind, k = self.kind, at.k
        place = 64 * kind + k
        blocks, block = coarse(at.blocks), coarse(at.block)
        up, side, off = coarse(abs(at.up)), coarse(abs(at.side)), coarse(abs(fitted))
        sides = sum(all_beside(block_of, k) for block_of in (around.left, around.above))
        corners = sum(all_beside(one, k) for one in (around.above_left, around.above_right))
        luma_around = sum(all_beside(one, k) for one in around.luma)
        before_around = all_beside(around.before, k) if around.before else 0
        energy = coarse(at.blocks + at.block + at.others)
        diagonals = 16 * kind + at.u + at.v
        rest = at.rest

        def joined(a: int, b: int) -> int:
            return (place * 4096 + a) * 64 + b

        contexts = [
            64 * place + step,
            joined(at.end // 2, 0),
            joined(blocks // 2, min(at.before, 7) if around.before else 8)
            if kind
            else joined(coarse(at.blocks + at.block) // 2, coarse(abs(at.continued)) // 3),
            joined(min(at.west, 7) * 8 + min(at.north, 7), min(at.diagonal, 3)),
            (diagonals * 32 + coarse(2 * at.blocks + 2 * at.block + at.others)) * 32
            + coarse(at.most_border),
            joined(up, side // 2),
            joined(min(rest, 31), block // 2),
            joined(coarse(at.luma), coarse(4 * at.before) if around.before else block)
            if kind
            else joined(min(at.left, 7), min(at.above, 7)),
            joined(off, 0),
            joined(step // 2, off),
            joined(coarse(2 * sides), coarse(corners) // 3),
            joined(coarse(sides + at.blocks // 2), block // 2),
            joined(step // 2, coarse(2 * sides) // 2),
            joined(energy, 0),
            (64 * kind + at.end) * 64 + at.z,
            joined(min(rest, 15), energy // 2),
            joined(coarse(around.left_count + around.above_count), blocks // 2),
            joined(side, blocks // 3),
            joined(
                min(at.left, 3) * 4 + min(at.above, 3),
                min(at.west + at.north, 7) * 8 + min(rest, 15) // 2,
            ),
            joined(step // 2, min(rest, 31)),
            (diagonals * 64 + step) * 16 + off // 2,
            joined(
                min(abs(around.left_left[k]) + abs(around.above_above[k]), 7),
                min(at.above_left + at.above_right, 7),
            ),
            joined(blocks, block // 2),
            joined(
                coarse(luma_around),
                coarse(4 * before_around) if around.before else coarse(abs(difference)),
            ),
        ]
        rows = [
            8 * kind + min(at.u + at.v, 7),
            64 * kind + step,
            64 * kind + 2 * blocks + (rest > 3),
            64 * kind + 2 * off + (rest < 2),
        ]
        self.mixers["sizes"].select(listed(contexts, self.form), rows)

    def _select_sign(
        self,
        around: BlocksAround,
        at: Near,
        levels: Sequence[int],
        inputs: Sequence[int],
        fitted: int,
        step: int,
        size: int,
    ) -> None:
        kind, k, up, side, continued = self.kind, at.k, at.up, at.side, at.continued
        sizes = min(size, 3)
        v, u = divmod(k, 8)

        def joined(a: int, b: int) -> int:
            return (kind * 512 + a) * 512 + b

        def third(value: int) -> int:
            return 2 if value > 4 else 0 if value < -4 else 1

        def sign(down: int, right: int) -> int:
            row, column = v + down, u + right
            inside = 0 <= row < 8 and 0 <= column < 8 and row + column > 0
            return sign_of(levels[8 * row + column]) if inside else 0

        if u == 0:
            first = near(truncated(side, 2), 20) * 3 + third(up)
        elif v == 0:
            first = 123 + near(truncated(up, 2), 20) * 3 + third(side)
        else:
            first = 246 + near(truncated(up, 2), 5) * 11 + near(truncated(side, 2), 5)
        left, above = sign_of(around.left[k]), sign_of(around.above[k])
        before = sign_of(around.before[k]) if around.before else 0
        luma = sign_of(around.luma[0][k]) if around.luma else 0
        up_slope, side_slope = inputs[2], inputs[3]
        contexts = [
            384 * kind + first,
            joined(near(truncated(side if v else up, 2), 31), 0),
            joined(near(truncated(continued, 2), 15), int(sizes > 1)),
            joined(left * 3 + above, before * 3 + luma),
            joined(near(truncated(up, 4), 3), near(truncated(side, 4), 3)),
            joined(sign(0, -1) * 3 + sign(-1, 0), sign(0, -2) * 3 + sign(-2, 0)),
            joined(near(truncated(up + side, 4), 31), sizes),
            joined(near(up, 4), near(side, 4)),
            joined(near(fitted, 60), 0),
            joined(near(truncated(fitted, 2), 30), sizes),
            joined(near(truncated(fitted * sizes, 2), 60), step),
            joined(near(continued, 100), 0),
            joined(near(truncated(continued, 8), 30), 0),
            joined(
                sign_of(up) * 3 + sign_of(side), near(around.before[k], 2) if around.before else 5
            ),
            joined((left * 3 + above) * 3 + sign_of(continued), sizes),
            joined(sign(0, 1) * 3 + sign(1, 0), sign(0, -1) * 3 + sign(-1, 0)),
            joined(near(fitted, 100), sizes),
            joined(near(truncated(fitted, 4), 8), near(truncated(continued, 2), 8)),
            joined(near(truncated(up_slope, 2), 30), 0),
            joined(near(truncated(side_slope, 2), 30), 0),
            joined(near(truncated(up_slope, 2), 8), near(truncated(side_slope, 2), 8)),
            joined(near(truncated(fitted, 2), 30), step),
            joined(near(truncated(fitted, 2), 8), luma * 3 + before),
            joined(near(fitted, 40), near(truncated(continued, 4), 4)),
        ]
        rows = [
            kind,
            32 * kind + coarse(abs(fitted)),
            8 * kind + min(size, 7),
            33 * kind + near(truncated(fitted, 2), 16),
        ]
        self.mixers["signs"].select(listed(contexts, self.form), rows)

    def _level_inputs(self, around: BlocksAround, levels: Sequence[int], at: Near) -> list[int]:
        k, v, u = at.k, at.v, at.u

        def level(block: Sequence[int] | None, down: int = 0, right: int = 0) -> int:
            """Return four times a level beside the place, 0 beyond the block."""
            row, column = v + down, u + right
            inside = 0 <= row < 8 and 0 <= column < 8 and row + column > 0
            return 4 * block[8 * row + column] if inside and block else 0

        luma = 4 * sum(block[k] for block in around.luma)
        left, above = around.left, around.above
        values = [
            at.up,
            at.side,
            self.slopes.from_above(k),
            self.slopes.from_left(k),
            level(left),
            level(above),
            level(around.above_left),
            level(around.above_right),
            level(around.before),
            truncated(luma, len(around.luma)) if around.luma else 0,
            *(level(levels, *place) for place in ((0, -1), (-1, 0), (0, -2), (-2, 0))),
            *(level(levels, *place) for place in ((0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1))),
            *(level(above, down) for down in (1, -1, -2)),
            *(level(left, 0, right) for right in (1, -1, -2)),
            level(above, 0, 1),
            level(left, 1),
            level(levels, 0, -3),
            level(levels, -3),
        ]
        return [limited(value, -MOST_INPUT, MOST_INPUT) for value in values]

    def _more_size_inputs(self, around: BlocksAround, at: Near, fitted: int) -> list[int]:
        k = at.k
        luma = sum(all_beside(block, k) for block in around.luma)
        sizes = (
            row_beside(around.left, k),
            row_beside(around.above, k),
            column_beside(around.left, k),
            column_beside(around.above, k),
            all_beside(around.above_right, k),
            all_beside(around.above_left, k),
            luma if self.kind else at.left + at.above,
            all_beside(around.before, k) if around.before else abs(fitted) // 8,
        )
        return [logarithm(size) for size in sizes]


def encode_levels(stripe: Sequence[StripeComponent], form: int) -> bytes:
    """Return the payload of the levels of a stripe."""
    writer = SymbolWriter(SYNTAX, coarse=True)
    StripeCoder(writer, stripe, form).code(encodes=True)
    return writer.finish()


def decode_levels(payload: bytes, stripe: Sequence[StripeComponent], form: int) -> None:
    """Fill in the levels of a stripe from their payload."""
    reader = SymbolReader(payload, SYNTAX, coarse=True)
    StripeCoder(reader, stripe, form).code(encodes=False)
    reader.finish()
