"""Decisions that pixels are like all around them.

Source: section "Repeating pixels", "Flat pixels", of ``docs/format/format.md``.
"""

from mmpcodec.reference.entropy.binary import ONE
from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.colours import ColoursAround, folded
from mmpcodec.reference.lossless.pixels.mixing import UNIT, Code, OddsMixer, count_below, hash_of
from mmpcodec.reference.lossless.two_values.mixing import SlowModels, stretched

GROUP = 8
"""Pixels that one decision codes."""
ROW_CLASSES, RUN_CLASSES = (2, 6, 16, 40, 100), (4, 12, 40, 120)
FARTHEST = 255
LEAST_CODED, MOST_CODED = 2, ONE - 2


def is_flat(v: ColoursAround) -> bool:
    """Return whether sixteen pixels left of and above a pixel are equal."""
    return (
        v.n == v.ww == v.at(0, -3) == v.w
        and all(v.at(1, right) == v.w for right in range(-3, 5))
        and all(v.at(2, right) == v.w for right in range(-1, 3))
    )


def is_group(v: ColoursAround) -> bool:
    """Return whether eight pixels may be decided at once, if the first one is flat."""
    return all(v.at(1, right) == v.w for right in range(4, 12)) and all(
        v.at(2, right) == v.w for right in range(3, 11)
    )


class Flat:
    """Decisions on flat pixels.

    Attributes
    ----------
    columns : list of (int, int)
        For how many rows a column was flat, and its last colour before.
    run : int
        Pixels since the last change in the row.
    changed : int
        Colour of this change.
    """

    def __init__(self, width: int):
        self.columns = [(0, 0)] * width
        self.run, self.changed = FARTHEST, 0
        self.group_mixer, self.single_mixer = OddsMixer(UNIT * 3 // 8), OddsMixer(UNIT * 3 // 8)
        self.groups = SlowModels(lambda key: 65300)
        self.singles = SlowModels(lambda key: 64500)
        self.ends = SlowModels()

    def begin_row(self) -> None:
        """Begin a row."""
        self.run, self.changed = FARTHEST, 0

    def code_group(self, column: int, colour: int, given: bool | None, code: Code) -> int:
        """Code whether the eight pixels from a column on are flat."""
        rows, changed = self.columns[column]
        row = 8 * count_below(self.run, RUN_CLASSES) + count_below(rows, ROW_CLASSES)
        key = folded(colour)
        keys = (
            (0, row),
            (1, hash_of(1, key, folded(changed), rows) >> 23),
            (2, hash_of(2, key, folded(self.changed), self.run) >> 23),
        )
        return _code(self.groups, keys, self.group_mixer, row, given, code)

    def code_end(self, given: int | None, code: Code) -> int:
        """Code which of eight pixels is the first that differs."""
        node = 1
        for bit in (2, 1, 0):
            one = self.ends.probability(node)
            found = code(one, None if given is None else given >> bit & 1)
            self.ends.learn(node, found)
            node = 2 * node + found
        return node - GROUP

    def code_single(self, column: int, v: ColoursAround, given: bool | None, code: Code) -> int:
        """Code whether a pixel is flat."""
        rows, changed = self.columns[column]
        ahead = next((i for i in range(4, 8) if v.at(1, i) != v.w), 8)
        there = folded(v.at(1, ahead)) if ahead < 8 else 0
        key = folded(v.w)
        keys = (
            (0, min(rows, 15) + 16 * min(self.run, 31)),
            (1, hash_of(3, key, folded(changed), rows) >> 20),
            (2, hash_of(4, key, folded(self.changed), self.run) >> 20),
            (3, hash_of(5, key, there, ahead) >> 20),
        )
        row = (ahead < 8) + 2 * (rows < 3) + 4 * (self.run < 4)
        return _code(self.singles, keys, self.single_mixer, row, given, code)

    def pass_over(self, column: int, count: int) -> None:
        """Note pixels that are flat."""
        for i in range(column, column + count):
            rows, changed = self.columns[i]
            self.columns[i] = min(rows + 1, FARTHEST), changed
        self.run = min(self.run + count, FARTHEST)

    def change(self, column: int, colour: int) -> None:
        """Note a pixel that is not flat."""
        self.columns[column] = 0, colour
        self.run, self.changed = 0, colour


def _code(models: SlowModels, keys, mixer: OddsMixer, row: int, given, code: Code) -> int:
    """Code a bit by models with a mixer, and let all learn it."""
    one = mixer.predict([stretched(models.probability(key)) for key in keys], (row,))
    bit = code(limited(one, LEAST_CODED, MOST_CODED), None if given is None else int(given))
    mixer.learn(bit)
    for key in keys:
        models.learn(key, bit)
    return bit
