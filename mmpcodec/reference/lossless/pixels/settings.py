"""What the forms of lossless samples have for repeating pixels.

Source: the table of section "Repeating pixels" of ``docs/format/format.md``.
"""

from typing import NamedTuple


class Settings(NamedTuple):
    """Sizes of the parts of a form.

    Attributes
    ----------
    lists : tuple of int
        Number of the context of each list of colours.
    directs : int
        Contexts of a question besides the lists.
    sets, value_sets : int
        Sets of weights of a question, and of a bit of an escaped sample.
    values : tuple of int
        Number of each context of a bit of an escaped sample.
    predictors : int
        Predictors of an escaped sample.
    list_bits, value_bits : int
        Binary logarithms of the sizes of the tables.
    """

    lists: tuple[int, ...]
    directs: int
    sets: int
    value_sets: int
    values: tuple[int, ...]
    predictors: int
    list_bits: int
    value_bits: int


_BEST = Settings(tuple(range(12)), 3, 2, 3, tuple(range(11)), 9, 18, 18)
SETTINGS = {
    1: Settings((1, 3), 3, 1, 1, (0, 3, 11, 5, 6), 3, 16, 16),
    2: Settings((0, 1, 2, 3, 4), 3, 2, 2, tuple(range(11)), 6, 17, 17),
    3: _BEST,
    4: _BEST,
}
"""Settings by form."""
