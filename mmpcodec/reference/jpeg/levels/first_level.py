"""Coding the first level of a block: as its difference from a prediction.

Source: section "Levels of a stripe", "First levels", of ``docs/format/format.md``.
"""

from collections.abc import Sequence

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.logistic_mixing import LogisticMixing
from mmpcodec.reference.integers import limited, truncated
from mmpcodec.reference.jpeg.levels.block import KINDS, BlocksAround, Borders, StripeComponent
from mmpcodec.reference.jpeg.levels.fits import Fit
from mmpcodec.reference.jpeg.levels.mixers import Limited, OneModel, listed
from mmpcodec.reference.jpeg.levels.scales import coarse, near, sign_of
from mmpcodec.reference.jpeg.levels.sizes import SizeCoder

SECTION = "Levels of a stripe"
MOST_INPUT = 4095
FIRST_WEIGHTS = [20000, 20000, 12768, 12768, 0, 0, 0, 0, 0, 0, 0, 0]
MOST_WEIGHT = 1 << 24
MOST_PREDICTED = 8 * 32767
PRIORS = [4096 if i == 14 else 0 for i in range(20)]
RIDGE = 20000


class FirstLevels:
    """Codes the first levels of blocks.

    Parameters
    ----------
    coder : Limited
    stripe : sequence of StripeComponent
    form : int
    sizes : SizeCoder
    mixers : dict of str to OneModel or LogisticMixing
    """

    def __init__(
        self,
        coder: Limited,
        stripe: Sequence[StripeComponent],
        form: int,
        sizes: SizeCoder,
        mixers: dict[str, OneModel | LogisticMixing],
    ):
        self._coder, self._stripe, self._form = coder, stripe, form
        self._sizes, self._mixers = sizes, mixers
        self._weights = [list(FIRST_WEIGHTS) for _ in stripe]
        self.fits = [Fit(PRIORS, RIDGE) for _ in range(3)]

    def code(
        self,
        around: BlocksAround,
        number: int,
        borders: Borders,
        slopes: Borders,
        given: int | None,
    ) -> int:
        """Code the first level of a block of a component; the given one, or None decodes."""
        kind, own = KINDS[number], self._stripe[number]
        self._predict(around, number, borders, slopes)
        self._select_size(around, kind)
        difference = None if given is None else given - self.whole
        self._sizes.select(192 + kind, self._both, self._all, self._spread, 0, kind)
        found = self._sizes.code(
            self._mixers["firsts"],
            "firsts",
            None if difference is None else abs(difference),
            False,
            kind,
        )
        if found:
            self._select_sign(around, kind, found)
            bit = None if difference is None else int(difference < 0)
            if self._mixers["first signs"].code(self._coder, "first signs", 0, bit):
                found = -found
        level = self.whole + found
        if not -32768 <= level <= 32767:
            raise CorruptStream(SECTION, f"first level {level} does not fit 16 bits")
        error = 8 * level - self.followed
        inputs = self._inputs[:12]
        energy = 4096 + sum(x * x for x in inputs)
        weights = self._weights[number]
        for i, x in enumerate(inputs):
            step = truncated(256 * error * x, energy)
            weights[i] = limited(weights[i] + step, -MOST_WEIGHT, MOST_WEIGHT)
        if self._form == 3:
            target = limited(8 * level - self._base, -MOST_INPUT, MOST_INPUT)
            self.fits[kind].learn(self._inputs, target)
        own.differences[around.row, around.column] = limited(found, -32768, 32767)
        return level

    def _predict(
        self, around: BlocksAround, number: int, borders: Borders, slopes: Borders
    ) -> None:
        own, row, column = self._stripe[number], around.row, around.column
        west, north, corner = around.left[0], around.above[0], around.above_left[0]
        low, high = min(west, north), max(west, north)
        median = west + north - corner
        if corner >= high:
            median = low
        elif corner <= low:
            median = high
        base = self._base = 4 * (west + north)
        none = not around.has_above and not around.has_left
        by_above, by_left = (0, 0) if none else (8 * west, 8 * north)
        if around.has_above:
            by_above = borders.from_above(0, 31)
        if around.has_left:
            by_left = borders.from_left(0, 31)

        def difference(down: int, right: int) -> int:
            at = row + down, column + right
            inside = at[0] >= 0 and 0 <= at[1] < own.levels.shape[1]
            return int(own.differences[at]) if inside else 0

        self._west, self._north = difference(0, -1), difference(-1, 0)
        self._corner, self._next = difference(-1, -1), difference(-1, 1)
        luma = 0
        if around.luma_place:
            luma = int(self._stripe[0].differences[around.luma_place])
        self._earlier = abs(luma)
        if around.before:
            self._earlier = int(self._stripe[1].differences[row, column])
        inputs = [
            by_above - base,
            by_left - base,
            8 * median - base,
            8 * around.above_right[0] - base,
            8 * north - base,
            8 * corner - base,
            8 * self._west,
            8 * self._north,
            8 * self._earlier if around.before else 0,
            8 * luma,
            8 * (around.left_left[0] if column > 1 else west) - base,
            8 * (around.above_above[0] if row > 1 else north) - base,
        ]
        inputs = self._inputs = [limited(x, -MOST_INPUT, MOST_INPUT) for x in inputs]
        products = (w * x for w, x in zip(self._weights[number], inputs, strict=True))
        self.followed = self.predicted = base + (sum(products) >> 16)
        if self._form == 3:
            self._add_inputs(around, number, slopes)
            self.predicted = base + self.fits[KINDS[number]].predict(self._inputs)
        self.predicted = limited(self.predicted, -MOST_PREDICTED, MOST_PREDICTED)
        self.whole = self.predicted + 4 >> 3
        self.part = self.predicted - 8 * self.whole
        self._off_above = truncated(by_above, 8) - self.whole
        self._off_left = truncated(by_left, 8) - self.whole
        self._off_median, self._off_north = median - self.whole, north - self.whole
        self._apart, self._corners = (
            abs(by_above - by_left),
            abs(west - corner) + abs(north - corner),
        )

    def _add_inputs(self, around: BlocksAround, number: int, slopes: Borders) -> None:
        """Add what fitted weights predict by."""
        base, more = self._base, [0] * 8
        if around.has_above:
            more[0] = slopes.from_above(0, 31) - base
        if around.has_left:
            more[1] = slopes.from_left(0, 31) - base
        more[2] = self.followed - base
        if around.luma_place:
            luma, (row, column) = self._stripe[0].levels, around.luma_place
            own = int(luma[row, column, 0])
            if around.has_left:
                more[3] = 8 * (own - int(luma[row, column - 1, 0]))
            if row > 0:
                more[4] = 8 * (own - int(luma[row - 1, column, 0]))
        if around.before:
            before, row, column = self._stripe[1].levels, around.row, around.column
            if around.has_left:
                more[5] = 8 * (around.before[0] - int(before[row, column - 1, 0]))
            if around.has_above:
                more[6] = 8 * (around.before[0] - int(before[row - 1, column, 0]))
        more[7] = 8 * self._next
        self._inputs = self._inputs + [limited(x, -MOST_INPUT, MOST_INPUT) for x in more]

    def _select_size(self, around: BlocksAround, kind: int) -> None:
        spread = max(abs(self._off_above), abs(self._off_left), abs(self._off_median))
        weighted = 2 * (abs(self._west) + abs(self._north)) + abs(self._corner) + abs(self._next)
        both = self._both = coarse(weighted + spread)
        spreads, every = coarse(4 * spread), coarse(2 * weighted)
        self._spread, self._all = spreads, every

        def joined(a: int, b: int) -> int:
            return (kind * 64 + a) * 64 + b

        def size(value: int) -> int:
            return coarse(4 * abs(value))

        earlier = size(self._earlier)
        counts = around.left_count + around.above_count
        contexts = [
            32 * kind + both,
            joined(every, 0),
            joined(spreads, 0),
            joined(every // 4, spreads // 4),
            joined(earlier // 3, both // 3),
            joined(coarse(2 * counts) // 3, spreads // 3),
            joined(coarse(self._corners), 0),
            joined(min(abs(self._west), 12), min(abs(self._north), 12)),
            joined(every, spreads),
            joined(both, earlier),
            joined(size(self._off_above), size(self._off_left)),
            joined(size(self._next), size(self._corner)),
            joined(both, abs(self.part)),
            joined(coarse(2 * around.left_count), coarse(2 * around.above_count)),
            joined(size(self._off_median), every),
            joined(coarse(self._apart), every),
            joined(earlier, spreads),
            joined(size(self._west), size(self._off_left)),
            joined(size(self._north), size(self._off_above)),
            joined(coarse(abs(self.followed - self.predicted)), both),
        ]
        rows = [32 * kind + both, 32 * kind + every, kind, 32 * kind + spreads]
        self._mixers["firsts"].select(listed(contexts, self._form), rows)

    def _select_sign(self, around: BlocksAround, kind: int, size: int) -> None:
        def joined(a: int, b: int) -> int:
            return (kind * 64 + a) * 64 + b

        part = self.part + 4
        contexts = [
            8 * kind + part,
            joined(near(self._off_above, 8), 0),
            joined(near(self._off_left, 8), 0),
            joined(near(self._off_median, 8), 0),
            joined(sign_of(self._west), sign_of(self._north)),
            joined(near(self._earlier, 8) if around.before else 20, 0),
            joined(min(size, 3), part),
            joined(near(self._off_above, 4), near(self._off_left, 4)),
            joined(near(self._off_median, 4), near(self._off_north, 4)),
            joined(near(self._west, 4), near(self._north, 4)),
            joined(near(self.followed - self.predicted, 16), 0),
        ]
        self._mixers["first signs"].select(listed(contexts, self._form), [kind, 0, 0, 0])
