"""A pixel that no candidate gives: the samples of its planes, bit by bit.

Source: section "Repeating pixels", "Escaped pixels", of ``docs/format/format.md``.
"""

from mmpcodec.reference.entropy.binary import moved
from mmpcodec.reference.entropy.logistic_mixing import MOST_MIXED, probability_of
from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.colours import ColoursAround, ColourShape, PixelRows, folded
from mmpcodec.reference.lossless.pixels.mixing import (
    UNIT,
    Code,
    OddsMixer,
    QuickModels,
    count_below,
    hash_of,
)
from mmpcodec.reference.lossless.pixels.places import PixelPlace
from mmpcodec.reference.lossless.pixels.settings import PixelSettings
from mmpcodec.reference.lossless.pixels.shapes import Shapes
from mmpcodec.reference.lossless.two_values.mixing import stretched

LEAST_CODED, MOST_CODED = 16, 65520
ACTIVITIES = (2, 6, 14, 30, 80)
"""Least activity of each class from 1 on."""
ACTIVE_CLASSES = 6
MOST_SCALE_USES = 60
NIBBLE = 4
"""Bits of a sample that share the place in the table of values."""
BIAS = 64
SURE, SURE_USES, SURE_CLASSES = 5, 2, (2, 4, 5)


class CurveShare:
    """The share of a logistic curve around a value that lies in half of an interval.

    Parameters
    ----------
    value : int
        Center of the curve.
    mean : int
        Mean distance of values from it, in 1/256.
    end : int
        The interval is from 0 to before this value.
    """

    def __init__(self, value: int, mean: int, end: int):
        self.value, self.inverse = value, (1 << 23) // (mean * 5 // 8 + 16)
        self.low, self.high = self._below(0), self._below(end)

    def odds(self, middle: int) -> int:
        """Return the logarithmic odds of the upper half, which begins at ``middle``."""
        self.middle = self._below(middle)
        upper, lower = self.high - self.middle + 1, self.middle - self.low + 1
        return stretched(16 * (upper * 4096 // (upper + lower)))

    def take(self, upper: int) -> None:
        """Keep a half."""
        if upper:
            self.low = self.middle
        else:
            self.high = self.middle

    def _below(self, limit: int) -> int:
        at = (2 * limit - 1 - 2 * self.value) * self.inverse >> 8
        return probability_of(limited(at, -MOST_MIXED, MOST_MIXED))


class Escape:
    """Coder of escaped pixels."""

    def __init__(self, shape: ColourShape, rows: PixelRows, settings: PixelSettings):
        self.shape, self.settings = shape, settings
        self.shapes = Shapes(shape, rows)
        self.values: dict[int, tuple[int, int]] = {}
        self.generations = 0
        self.models = QuickModels()
        start = UNIT * (25 if settings.value_sets == 1 else 15) // 100 // settings.value_sets
        self.mixers = [OddsMixer(start, 1) for _ in shape.planes]
        self.scales: dict[tuple[int, int, int], tuple[int, int]] = {}

    def code(self, v: ColoursAround, place: PixelPlace, given: int | None, code: Code) -> int:
        """Code a pixel and return its colour."""
        self._find_reach(v)
        self.shapes.look(v.row, v.column)
        self.shaped, self.shape_class = self.shapes.match()
        colour = 0
        for k in self.shape.planes:
            if self.shape.bits[k] == 0:
                continue
            predictions, keys = self._predictions(v, place, colour, k)
            means = [self._scale(key)[0] for key in keys]
            shares = [
                CurveShare(value, mean, self.shape.most[k] + 1)
                for value, mean in zip(predictions, means, strict=True)
            ]
            contexts = self._contexts(v, colour, k)
            wanted = None if given is None else self.shape.sample(given, k)
            sample = self._code_sample(contexts, shares, k, wanted, code)
            for key, value in zip(keys, predictions, strict=True):
                mean, uses = self._scale(key)
                error = 256 * abs(sample - value)
                self.scales[key] = moved(mean, error, uses), min(uses + 1, MOST_SCALE_USES)
            colour |= self.shape.part(sample, k)
        return colour

    def see(self, row: int, column: int, escaped: bool) -> None:
        """Enter a pixel that is not flat into the shapes."""
        if not escaped:
            self.shapes.look(row, column)
        self.shapes.see(row, column)

    def _scale(self, key: tuple[int, int, int]) -> tuple[int, int]:
        """Return mean distance and uses of a scale."""
        return self.scales.get(key, ((384 if key[0] else 768) * (1 + key[2] % 8), 0))

    def _find_reach(self, v: ColoursAround) -> None:
        """Set the darkest and the lightest of ten neighbours, by the first plane."""

        def first(colour: int) -> int:
            return self.shape.sample(colour, 0)

        near = [v.w, v.n, v.nw, v.ne, v.ww, v.nn]
        near += [v.at(1, 2), v.at(1, -2), v.at(2, 1), v.at(2, -1)]
        self.low, self.high = min(near, key=first), max(near, key=first)
        self.varied = int(first(self.high) > first(self.low))

    def _predictions(
        self, v: ColoursAround, place: PixelPlace, before: int, k: int
    ) -> tuple[list[int], list[tuple[int, int, int]]]:
        """Return the predictions of a sample and the key of the scale of each.

        Also sets what the contexts are made of.
        """

        def of(colour: int, plane: int = k) -> int:
            return self.shape.sample(colour, plane)

        def mean(plane: int) -> int:
            w, n, nw, ne = (of(colour, plane) for colour in (v.w, v.n, v.nw, v.ne))
            return (2 * (w + n) + ne - nw) >> 2

        w, n, nw, ne = of(v.w), of(v.n), of(v.nw), of(v.ne)
        slope = median_of_slope(w, n, nw)
        activity = abs(w - nw) + abs(n - nw) + abs(n - ne) >> self.shape.coarser[k]
        self.active = count_below(activity, ACTIVITIES)
        classes = [self.active] * 4
        if k in (1, 2):
            q = of(before, 0)
            slope += q - median_of_slope(of(v.w, 0), of(v.n, 0), of(v.nw, 0))
            line = self._on_line(q, k, slope)
            found = [line, slope, mean(k) + q - mean(0)]
            classes = [self.active + 8 * self.varied] * 4
        else:
            line = slope
            shaped = self.shaped if k == 0 else None
            found = [slope, mean(k), slope if shaped is None else shaped]
            if shaped is not None:
                classes[2] = 8 + self.shape_class
        found.append(of(place.colour) if place.at else line)
        classes[3] = place.near + 8 * (place.at is not None)
        most = self.shape.most[k]
        self.slope, self.line = limited(slope, 0, most), limited(line, 0, most)
        keys = [(k, i, own) for i, own in enumerate(classes)]
        return [limited(value, 0, most) for value in found], keys

    def _on_line(self, q: int, k: int, otherwise: int) -> int:
        """Return the sample on the line between the darkest and the lightest neighbour."""
        if not self.varied:
            return otherwise
        start, base = self.shape.sample(self.low, 0), self.shape.sample(self.low, k)
        run = self.shape.sample(self.high, 0) - start
        rise = self.shape.sample(self.high, k) - base
        return base + (2 * (q - start) * rise + run) // (2 * run)

    def _contexts(self, v: ColoursAround, before: int, k: int) -> list[int]:
        """Return the hashes of the contexts of values."""

        w, n, ne, so_far = folded(v.w), folded(v.n), folded(v.ne), folded(before)
        coarse = max(0, self.shape.bits[k] - 3)
        eighths = 0
        for i, colour in enumerate((v.w, v.n, v.nw, v.ne)):
            eighths |= self.shape.sample(colour, k) >> coarse << 3 * i
        if k == 0:
            shaped = self.slope if self.shaped is None else self.shaped
            seventh = hash_of(7, shaped, self.shape_class)
        else:
            seventh = hash_of(8, self.slope, self.active)
        every = (
            hash_of(1, so_far),
            hash_of(2, w, so_far),
            hash_of(3, n, so_far),
            hash_of(4, w, n, so_far),
            hash_of(5, w, n, ne, so_far),
            hash_of(6, self.line, self.active | self.varied << 8),
            seventh,
            hash_of(9, eighths, so_far),
            hash_of(10, folded(self.low), folded(self.high), so_far),
        )
        return [hash_of(every[number], k, i) for i, number in enumerate(self.settings.values)]

    def _code_sample(
        self, contexts: list[int], shares: list[CurveShare], k: int, given: int | None, code: Code
    ) -> int:
        """Code a sample from its highest bit on."""
        low, node, left, places = 0, 1, 0, []
        for bit in reversed(range(self.shape.bits[k])):
            if left == 0:
                places = [self._place(hash_of(context, low, bit)) for context in contexts]
                node, left = 1, NIBBLE
            left -= 1
            middle, found = low + (1 << bit), 0
            if middle <= self.shape.most[k]:
                wanted = None if given is None else given >> bit & 1
                # A later context may have made room where an earlier one was.
                keys = [(self.values[place], node) for place in places]
                found = self._code_bit(keys, shares, middle, bit, k, wanted, code)
                low = middle if found else low
                for share in shares:
                    share.take(found)
            node = 2 * node + found
        return low

    def _code_bit(
        self, keys, shares: list[CurveShare], middle: int, bit: int, k: int, wanted, code
    ):
        """Code a bit of a sample."""
        counted = [self.models.odds((k, i), key) for i, key in enumerate(keys)]
        sure = 0
        for i, key in enumerate(keys[:SURE]):
            if self.models.uses(key) >= SURE_USES:
                sure = i + 1
        inputs = [odds for odds, _ in counted] + [share.odds(middle) for share in shares] + [BIAS]
        rows = [
            bit * ACTIVE_CLASSES + self.active,
            (bit * 2 + self.varied) * 4 + count_below(sure, SURE_CLASSES),
        ]
        one = self.mixers[k].predict(inputs, rows[: self.settings.value_sets])
        found = code(limited(one, LEAST_CODED, MOST_CODED), wanted)
        self.mixers[k].learn(found)
        for key, (_, at) in zip(keys, counted, strict=True):
            self.models.learn(key, at, found)
        return found

    def _place(self, key: int) -> int:
        """Return the place of a hash in the table of values; another one makes room."""
        place, check = key >> 32 - self.settings.value_bits, key | 1
        if place not in self.values or self.values[place][0] != check:
            self.generations += 1
            self.values[place] = check, self.generations
        return place


def median_of_slope(w: int, n: int, nw: int) -> int:
    """Return the median of two neighbours and their slope."""
    return sorted((w, n, w + n - nw))[1]
