"""What the forms of lossless samples have for repeating pixels.

Source: the table of section "Repeating pixels" of ``docs/format/format.md``.
"""

from typing import NamedTuple


class PixelSettings(NamedTuple):
    """Sizes of the parts of a form.

    Attributes
    ----------
    lists : tuple of int
        Number of the context of each list of colours.
    sets, value_sets : int
        Sets of weights of a question, and of a bit of an escaped sample.
    values : tuple of int
        Number of each context of a bit of an escaped sample.
    list_bits, value_bits : int
        Binary logarithms of the sizes of the tables.
    """

    lists: tuple[int, ...]
    sets: int
    values: tuple[int, ...]
    value_sets: int
    list_bits: int
    value_bits: int


SETTINGS = {
    1: PixelSettings((1, 3), 1, (0, 3, 5, 6, 8), 1, 16, 16),
    2: PixelSettings(tuple(range(8)), 2, tuple(range(9)), 2, 17, 17),
    3: PixelSettings(tuple(range(12)), 2, tuple(range(9)), 2, 18, 18),
}
"""Settings by form."""
