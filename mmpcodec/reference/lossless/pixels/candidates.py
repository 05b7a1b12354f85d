"""Colours that a pixel is asked for, one after the other.

Source: section "Repeating pixels", "Candidates", of ``docs/format/format.md``.
"""

from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.colours import ColoursAround, ColourShape, folded
from mmpcodec.reference.lossless.pixels.lists import ColourList, ListTable, first_probability
from mmpcodec.reference.lossless.pixels.mixing import UNIT, Code, OddsMixer, QuickModels, hash_of
from mmpcodec.reference.lossless.pixels.places import PixelPlace
from mmpcodec.reference.lossless.pixels.settings import PixelSettings
from mmpcodec.reference.lossless.two_values.mixing import SlowModels, stretched

LEAST_CODED, MOST_CODED = 16, 65520
MOST_CANDIDATES = 12
DIRECT_BITS = 15
NEAREST = 6
"""Lists that are the contexts of a row of weights."""
BIAS = 256
"""Logarithmic odds that are always mixed, in 1/256."""
NO_PLACE, REFUSED, AGREES = 3, 2, 1


def contexts_of(v: ColoursAround) -> list[int]:
    """Return the hashes of the contexts of lists."""

    def at(up: int, right: int) -> int:
        return folded(v.at(up, right))

    def more(first: int, *offsets: tuple[int, int]) -> int:
        return hash_of(first, *(at(*offset) for offset in offsets))

    found = [more(1, (0, -1), (1, 0))]
    found.append(more(found[-1], (1, 1), (1, -1)))
    found.append(more(found[-1], (0, -2), (2, 0)))
    found.append(more(found[-1], (1, 2), (2, 1), (2, -1), (1, -2)))
    found.append(more(found[-1], (0, -3), (3, 0), (2, 2), (2, -2), (1, 3), (1, -3)))
    eight = (3, 1), (3, -1), (0, -4), (1, 4), (3, 2), (3, -2), (2, 3), (2, -3)
    found.append(more(found[-1], *eight))
    found.append(more(2, (0, -1), (0, -2), (0, -3)))
    found.append(more(4, (1, 1), (1, 0), (1, 2)))
    found.append(more(3, (1, 0), (2, 0), (3, 0)))
    found.append(more(5, (0, -1)))
    found.append(more(6, (0, -1), (1, 1), (1, 2), (1, 3)))
    found.append(more(7, (0, -1), (0, -2), (0, -3), (0, -4), (1, 0)))
    return found


class Candidates:
    """Questions whether a pixel has a colour.

    Attributes
    ----------
    lists : list of ColourList
        Those of the contexts of the pixel.
    slope : int
        The colour that continues the slope of all planes.
    """

    def __init__(self, shape: ColourShape, settings: PixelSettings):
        self.shape, self.settings = shape, settings
        self.table = ListTable(settings.list_bits)
        self.states = SlowModels(lambda key: first_probability(key[2]))
        self.places = SlowModels(lambda key: 59000 - 6500 * key[0] if key[1] == AGREES else 6500)
        self.directs = QuickModels()
        self.mixer = OddsMixer(UNIT // 7 // settings.sets)
        self.lists: list[ColourList] = []
        self.slope = 0

    def code(
        self,
        v: ColoursAround,
        place: PixelPlace,
        flat: bool,
        most_asked: int,
        slopes: int,
        given,
        code: Code,
    ) -> int | None:
        """Code a pixel by candidates, and return its colour, or None if no candidate was right."""
        contexts = contexts_of(v)
        self.lists = [
            self.table.find(contexts[number], i) for i, number in enumerate(self.settings.lists)
        ]
        self.slope = self._slope(v)
        refused = [v.w] if flat else []
        candidates = self._gathered(v, place, flat, slopes)
        for asked in range(most_asked):
            if not candidates:
                return None
            best = max(candidates, key=lambda colour: self._score(colour, place, slopes, refused))
            candidates.remove(best)
            wanted = None if given is None else int(best == given)
            if self._ask(v, place, asked, slopes, best, refused, wanted, code):
                return best
            refused.append(best)
        return None

    def see(self, colour: int) -> None:
        """Let the lists of the pixel see its colour."""
        for found in self.lists:
            found.see(colour)

    def _slope(self, v: ColoursAround) -> int:
        colour, sample = 0, self.shape.sample
        for k in self.shape.planes:
            along = sample(v.w, k) + sample(v.n, k) - sample(v.nw, k)
            colour |= self.shape.part(limited(along, 0, self.shape.most[k]), k)
        return colour

    def _gathered(self, v: ColoursAround, place: PixelPlace, flat: bool, slopes: int) -> list[int]:
        """Return the candidates, each once."""
        found = [place.colour] if place.at else []
        found += [self.slope] if slopes else []
        for own in reversed(self.lists):
            found += [colour for colour, _ in own.entries[:2]]
        found += [v.w, v.n, v.ne, v.nw, v.nn, self.slope]
        once = list(dict.fromkeys(found))[:MOST_CANDIDATES]
        return [colour for colour in once if not (flat and colour == v.w)]

    def _score(self, colour: int, place: PixelPlace, slopes: int, refused: list[int]) -> int:
        score = 0
        for i, own in enumerate(self.lists):
            state = own.state(colour, refused)
            if state is not None:
                score += stretched(self.states.probability((i, 0, state)))
        if place.at and colour == place.colour:
            score += 1500 - 200 * place.near
        return score + 2500 * slopes * (colour == self.slope)

    def _ask(
        self,
        v: ColoursAround,
        place: PixelPlace,
        asked: int,
        slopes: int,
        colour: int,
        refused,
        wanted,
        code,
    ) -> int:
        """Code whether the pixel has a colour."""
        if not place.at:
            agrees = NO_PLACE
        elif colour == place.colour:
            agrees = AGREES
        else:
            agrees = REFUSED if place.colour in refused else 0
        keys, inputs, longest = [], [], 0
        for i, own in enumerate(self.lists):
            state = own.state(colour, refused)
            if state is None:
                inputs.append(0)
            else:
                keys.append((i, asked, state))
                inputs.append(stretched(self.states.probability(keys[-1])))
            if i < NEAREST and own.entries:
                longest = i + 1
        placed = place.near, agrees, asked
        inputs.append(0 if agrees == NO_PLACE else stretched(self.places.probability(placed)))
        equal, position, hashes = self._direct_hashes(v, place, agrees, asked, slopes, colour)
        directs = [(i, key >> 32 - DIRECT_BITS) for i, key in enumerate(hashes)]
        counted = [self.directs.odds(key[0], key) for key in directs]
        inputs += [odds for odds, _ in counted] + [BIAS]
        rows = [((asked * 4 + agrees) * 8 + place.near) * 16 + longest]
        sloped = colour == self.slope and position == 0
        rows.append(asked * 256 + (15 if sloped else equal * 16 + position))
        one = self.mixer.predict(inputs, rows[: self.settings.sets])
        right = code(limited(one, LEAST_CODED, MOST_CODED), wanted)
        self.mixer.learn(right)
        for key in keys:
            self.states.learn(key, right)
        if agrees != NO_PLACE:
            self.places.learn(placed, right)
        for direct, (_, at) in zip(directs, counted, strict=True):
            self.directs.learn(direct, at, right)
        return right

    def _direct_hashes(
        self, v: ColoursAround, place: PixelPlace, agrees: int, asked: int, slopes: int, colour: int
    ) -> tuple[int, int, list[int]]:
        """Return which neighbours are equal, which are the colour, and the direct contexts."""
        equal = (v.w == v.n) + 2 * (v.n == v.ne) + 4 * (v.nw == v.n) + 8 * (v.w == v.nw)
        near = v.w, v.n, v.ne, v.nw, v.ww, v.nn, v.at(1, 2), v.at(2, -1)
        position = sum((colour == near[i]) << i for i in range(4))
        farther = sum((colour == near[i + 4]) << i for i in range(3))
        pattern = 0
        for other in near[1:]:
            pattern = (9 * pattern + near.index(other)) & 0xFFFFFFFF
        first = equal | position << 4 | farther << 8 | asked << 12 | agrees << 13
        first |= (colour == self.slope) << 15 | slopes << 16
        placing = asked << 8 | agrees * 8 + place.near
        hashes = [
            hash_of(11, first),
            hash_of(12, pattern, position | farther << 4 | asked << 8),
            hash_of(13, folded(colour), folded(v.w), folded(v.n), placing),
        ]
        return equal, position, hashes
