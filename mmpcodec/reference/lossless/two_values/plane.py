"""Encoder and decoder of planes of two values.

Source: section "Two values" of ``docs/format/format.md``: this module has its parts "Groups" and
"Certain pixels", ``places`` and ``mixing`` the others.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import ONE, BitCoder
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.logistic_mixing import probability_of
from mmpcodec.reference.lossless.plane import Plane
from mmpcodec.reference.lossless.two_values.bit_rows import BitRows, ones
from mmpcodec.reference.lossless.two_values.mixing import (
    NO_PLACE,
    Mixer,
    SlowModels,
    Weights,
    code_bit,
    distance_class,
    stretched,
)
from mmpcodec.reference.lossless.two_values.periods import PERIOD_BITS, Periods, periods_of
from mmpcodec.reference.lossless.two_values.places import AlikePlace, Places

SECTION = "Two values"
CONTINUES = "the plane continues another one, which is not given"
BEGINS_ANEW = "the plane begins anew, but continues another one"
GROUP = 8
"""Pixels of a group."""
FIRST_BREAK = 64
"""Initial probability that a group is broken, in 1/65536."""
BREAK_WEIGHT = 78643
"""Initial weight of a model of broken groups, in 1/262144."""
MOST_FAR = 100
"""Pixels of whole groups from which on places say nothing about groups."""
MOST_NEAR = 6
"""Largest class of a distance that models of broken groups tell apart."""
WHOLE_ROW = 31
"""Whole groups that count before a row."""
BANDS = (-5, -9, -16, -28)
"""Rows above a group that tell whether there is ink."""


class TwoValuesForm(NamedTuple):
    """What a lossless form uses for planes of two values.

    Parameters
    ----------
    templates : tuple of int
        Number of pixels of each template.
    places : int
        Most places of a pixel (P in the format).
    sets : int
        Sets of weights.
    certain : int
        Probability of the other value, in 1/65536, below which a pixel is certain.
    """

    templates: tuple[int, ...]
    places: int
    sets: int
    certain: int


FORMS = {
    1: TwoValuesForm((12, 48), 1, 1, 2048),
    2: TwoValuesForm((10, 18, 34, 72), 3, 2, 512),
    3: TwoValuesForm((8, 12, 18, 28, 44, 72, 110), 6, 3, 0),
}
"""By the number of the lossless form."""


def rarer(numbers: np.ndarray) -> int:
    """Return the number, 0 or 1, that fewer samples have, and 1 if both have as many.

    *Encoder only*.
    """
    return int(2 * int(numbers.sum()) <= numbers.size)


class TwoValuesPlane(NamedTuple):
    """A plane to code.

    Parameters
    ----------
    plane : Plane
        Gets the samples. Its margins are not used.
    coder : BitCoder
    cells : CellRates
        Gets the rate of each group.
    ink : int
        Number of the value, 0 or 1, that is pixel 1.
    periods : Periods
        Of the columns and rows with edges.
    """

    plane: Plane
    coder: BitCoder
    cells: CellRates
    ink: int
    periods: Periods


class TwoValuesCoder:
    """Encoder or decoder of the samples of a plane, and of planes that continue it.

    Parameters
    ----------
    first : TwoValuesPlane
    tools : LosslessTools
        As in ``encode_planes``.

    Attributes
    ----------
    own : TwoValuesPlane
        The plane that is coded.
    first_row : int
        The number of its first row in all planes.
    far : int
        Pixels of the row in whole groups since the last pixel that was mixed outside of groups.
    near_class : int
        Class of the distance of the first place of the last pixel that was mixed outside of
        groups.
    """

    def __init__(self, first: TwoValuesPlane, tools):
        own = FORMS[tools.lossless_form]
        self.pixels = BitRows(first.plane.height, first.plane.width)
        self.places = Places(self.pixels, own.places)
        self.mixer = Mixer(self.pixels, own.templates, own.places, own.sets)
        self.breaks = BrokenGroups(self.pixels)
        self.certain = own.certain
        self.known = SlowModels()
        self.far, self.near_class = 0, NO_PLACE
        self._begin(first, 0)

    @property
    def cells(self) -> CellRates:
        """Rates of the plane."""
        return self.own.cells

    def go_on(self, plane: TwoValuesPlane) -> None:
        """Begin a plane that continues the last one: its rows follow as if both were one."""
        self.pixels.add(plane.plane.height, plane.plane.width)
        self._begin(plane, self.first_row + self.own.plane.height)

    def _begin(self, plane: TwoValuesPlane, first_row: int) -> None:
        """Begin a plane."""
        self.own, self.first_row = plane, first_row
        self.mixer.coder = self.breaks.coder = plane.coder
        self.mixer.phase = self._phase

    def _phase(self, row: int, column: int) -> int:
        """Return what the periods of the plane add to contexts of templates."""
        periods = self.own.periods
        return (column % periods.columns << 8) + ((row - self.first_row) % periods.rows << 12)

    def code_row(self, row: int, given: np.ndarray | None) -> None:
        """Code the samples of a row; ``given`` are those to encode, or None to decode."""
        plane, ink = self.own.plane, self.own.ink
        pixels = None if given is None else [int(number == ink) for number in given]
        at = self.first_row + row
        self.places.begin_row(at)
        self.breaks.begin_row()
        self.far = 0
        for column in range(0, plane.width, GROUP):
            self._code_group(at, column, pixels and pixels[column : column + GROUP])
            self.own.cells.add(row, column)
        for column in range(plane.width):
            pixel = self.pixels.bits(at, column, 1)
            plane.inner[row, column] = ink if pixel else 1 - ink

    def _code_group(self, row: int, column: int, given: Sequence[int] | None) -> None:
        """Code the pixels of a group; ``given`` are those to encode, or None to decode."""
        count = min(GROUP, self.own.plane.width - column)
        value = self._value(row, column)
        if value is not None and not self._code_break(row, column, value, given):
            self._give(row, column, count, value)
            self.far += count
            return
        last = column + count - 1
        expected = value
        for at in range(column, last + 1):
            if expected is not None and at == last:
                self._give(row, at, 1, 1 - expected)
                return
            group = 0 if expected is None else 1 + expected
            wanted = None if given is None else given[at - column]
            if self._code_pixel(row, at, group, wanted) != expected:
                expected = None

    def _value(self, row: int, column: int) -> int | None:
        """Return the value of a group, None if it has none."""
        bits = self.pixels.bits
        if is_clear(self.pixels, row, column):
            return 0
        black = bits(row, column - 16, 16) == ones(16) and all(
            bits(row - above, column - 16, 32) == ones(32) for above in range(1, 5)
        )
        return 1 if black else None

    def _code_break(self, row: int, column: int, value: int, given: Sequence[int] | None) -> int:
        """Code whether a group is broken, and return it."""
        wanted = None if given is None else int(any(pixel != value for pixel in given))
        if value == 1:
            return self.breaks.code_black(wanted)
        followed = self.places.followed if self.far < MOST_FAR else []
        return self.breaks.code_white(row, column, followed, (self.near_class, self.far), wanted)

    def _give(self, row: int, column: int, count: int, value: int) -> None:
        """Set pixels that their group gives."""
        self.pixels.fill(row, column, count, value)
        self.places.skip(count)

    def _code_pixel(self, row: int, column: int, group: int, given: int | None) -> int:
        """Code a pixel that its group does not give, and return it (``group`` is g)."""
        key = self._known_key(row, column) if self.certain and group == 0 else None
        probability = ONE // 2 if key is None else self.known.probability(key)
        if key and not self.certain <= probability <= ONE - self.certain:
            self.places.follow(column)
            pixel = code_bit(self.own.coder, probability, given)
        else:
            pixel = self._mix_pixel(row, column, group, given)
        if key:
            self.known.learn(key, pixel)
        self.pixels.fill(row, column, 1, pixel)
        return pixel

    def _mix_pixel(self, row: int, column: int, group: int, given: int | None) -> int:
        """Code a pixel by the mixture of models, and return it."""
        places = self.places.find(row, column, self.far)
        pixel = self.mixer.code(row, column, group, places, given)
        if group == 0:
            self.far, self.near_class = 0, distance_class(places, 0)
        return pixel

    def _known_key(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Return what chooses the model that says whether a pixel is certain."""
        bits, says = self.pixels.bits, 0
        if self.places.followed and self.far == 0:
            place = self.places.followed[0]
            alike = (place.distance < 6) + (place.distance < 2)
            says = 1 + bits(place.row, place.column + 1, 1) + 2 * alike
        return (
            bits(row, column - 4, 4),
            bits(row - 1, column - 3, 7),
            bits(row - 2, column - 2, 5),
            says,
        )


class TwoValuesChain:
    """Planes of two values, each alone in its payload, that continue one another.

    Attributes
    ----------
    coder : TwoValuesCoder or None
        That of the planes so far; None before the first one.
    """

    def __init__(self):
        self.coder: TwoValuesCoder | None = None


def begun_plane(
    plane: Plane, coder, tools, numbers: np.ndarray | None, chain: TwoValuesChain | None
) -> TwoValuesCoder:
    """Code what precedes the pixels of a plane of two values, and return the coder of these.

    Parameters
    ----------
    plane : Plane
    coder : SymbolReader or SymbolWriter
    tools : LosslessTools
    numbers : (H, W) int array or None
        The samples to encode; None decodes.
    chain : TwoValuesChain or None
        What the plane continues; None if it stands alone.

    Raises
    ------
    CorruptStream
        If the stream says that the plane continues another one, and it does not, or vice versa.
    """
    before = None if chain is None else chain.coder
    continues = int(before is not None)
    wanted: list[int | None] = [None] * 4
    if numbers is not None:
        found = periods_of(numbers)
        wanted = [rarer(numbers), found.columns - 1, found.rows - 1, continues]
    ink = coder.bit("map", ONE // 2, wanted[0])
    columns, rows = (1 + coder.plain("map", PERIOD_BITS, period) for period in wanted[1:3])
    if coder.plain("map", 1, wanted[3]) != continues:
        raise CorruptStream(SECTION, BEGINS_ANEW if continues else CONTINUES)
    cells = CellRates((plane.height, plane.width), coder.tally)
    own = TwoValuesPlane(plane, coder, cells, ink, Periods(columns, rows))
    if before is None:
        before = TwoValuesCoder(own, tools)
    else:
        before.go_on(own)
    if chain is not None:
        chain.coder = before
    return before


def check_values(count: int, chain: TwoValuesChain | None) -> None:
    """Check the number of values of a plane that may be one of a chain."""
    if chain is not None and count != 2:
        raise CorruptStream(SECTION, f"the plane has {count} values, those of a chain have 2")


class BrokenGroups:
    """Encoder or decoder of the bits that say whether groups are broken.

    Parameters
    ----------
    pixels : BitRows
        Its pixels are set as they are coded.

    Attributes
    ----------
    coder : BitCoder
        That of the plane.
    broken, broken_above : int
        Broken groups of zeros of the row, and of the row above (t and T in the format).
    whole : int
        Whole groups of zeros of the row since the last broken one (u in the format).
    """

    coder: BitCoder

    def __init__(self, pixels: BitRows):
        self.pixels = pixels
        self.models = SlowModels(lambda key: FIRST_BREAK)
        self.weights: dict[int, Weights] = {}
        self.broken = self.broken_above = self.whole = 0

    def begin_row(self) -> None:
        """Begin a row."""
        self.broken_above, self.broken, self.whole = self.broken, 0, WHOLE_ROW

    def code_black(self, given: int | None) -> int:
        """Code whether a group of ones is broken, and return it."""
        key = ("black",)
        bit = code_bit(self.coder, self.models.probability(key), given)
        self.models.learn(key, bit)
        return bit

    def code_white(
        self,
        row: int,
        column: int,
        followed: Sequence[AlikePlace],
        state: tuple[int, int],
        given: int | None,
    ) -> int:
        """Code whether a group of zeros is broken, and return it.

        Parameters
        ----------
        row, column : int
            First pixel of the group.
        followed : sequence of AlikePlace
            Places of the pixel before it that say something about the group.
        state : (int, int)
            ``near_class`` and ``far`` of ``TwoValuesCoder``.
        given : int or None
            The bit to encode; None decodes.
        """
        classes = min(state[0], MOST_NEAR), sum(bound <= state[1] for bound in (8, 16, 32, 64))
        near = self._is_near(row, column)
        keys = self._keys(row, column, near, followed, classes)
        if near or self.broken or self.broken_above or followed:
            weights = 1 + 5 * classes[0] + classes[1] if followed else 0
            bit = self._code_mixture(keys, weights, given)
        else:
            bit = code_bit(self.coder, self.models.probability(keys[0]), given)
            self.models.learn(keys[0], bit)
        self.broken += bit
        self.whole = 0 if bit else self.whole + 1
        return bit

    def _code_mixture(self, keys: Sequence[tuple], row: int, given: int | None) -> int:
        """Code a bit by the mixture of the models of some keys, and adapt them."""
        inputs = np.array([stretched(self.models.probability(key)) for key in keys])
        weights = self.weights.setdefault(row, Weights(len(keys), BREAK_WEIGHT))
        mixture = weights.mix(inputs)
        bit = code_bit(self.coder, probability_of(mixture), given)
        weights.learn(inputs, mixture, bit)
        for key in keys:
            self.models.learn(key, bit)
        return bit

    def _keys(
        self,
        row: int,
        column: int,
        near: int,
        followed: Sequence[AlikePlace],
        classes: tuple[int, int],
    ) -> list[tuple]:
        """Return what chooses the four models; ``classes`` are c and d in the format."""
        broken, above, whole = self.broken, self.broken_above, self.whole
        gap = sum(bound <= whole for bound in (3, 8, 30))
        place = self._says(followed, classes) if followed else ()
        bands = [
            self.pixels.bits(row + band, column + beside, GROUP) != 0
            for band in BANDS
            for beside in (-GROUP, 0, GROUP)
        ]
        return [
            ("breaks", near, min(broken, 7), min(above, 7), gap),
            ("place", *place),
            ("bands", *bands),
            ("counts", min(broken, 15), min(whole, 31), min(above, 7), near),
        ]

    def _says(
        self, followed: Sequence[AlikePlace], classes: tuple[int, int]
    ) -> tuple[int, int, int, int]:
        """Return what the first and the second place say about the group."""
        first = followed[0].moved(0, 1)
        ink = self.pixels.bits(first.row, first.column, GROUP)
        if not is_clear(self.pixels, first.row, first.column):
            start = 5
        else:
            start = 1 + (lowest_one(ink) >> 1) if ink else 0
        other = 0
        if len(followed) > 1:
            second = followed[1].moved(0, 1)
            other = 1 + (self.pixels.bits(second.row, second.column, GROUP) != 0)
        return start, *classes, other

    def _is_near(self, row: int, column: int) -> int:
        """Return whether there is ink near a group."""
        bits = self.pixels.bits
        rows = (bits(row - above, column - 12, 31) for above in range(1, 5))
        return int(bits(row, column - 16, 16) != 0 or any(rows))


def is_clear(pixels: BitRows, row: int, column: int) -> bool:
    """Return whether the pixels around a pixel are 0, so that a group of zeros can begin at it."""
    return not (
        pixels.bits(row, column - 3, 3)
        or pixels.bits(row - 1, column - 3, 14)
        or pixels.bits(row - 2, column - 3, 14)
        or pixels.bits(row - 3, column - 1, 10)
    )


def lowest_one(number: int) -> int:
    """Return the number of the lowest binary digit of a positive number that is 1."""
    return (number & -number).bit_length() - 1
