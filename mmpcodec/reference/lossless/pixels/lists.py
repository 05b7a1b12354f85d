"""The last colours of a context.

Source: section "Repeating pixels", "Lists", of ``docs/format/format.md``.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from mmpcodec.reference.integers import limited
from mmpcodec.reference.lossless.pixels.mixing import chained, count_below

LISTED = 3
"""Colours of a list."""
OWN_LEVELS, OTHER_LEVELS = (1, 2, 3, 4, 6, 9, 16), (1, 2, 3, 5, 9)
"""Least count of each level from 1 on."""
OWN_COUNTS, OTHER_COUNTS = (0, 4, 8, 12, 18, 28, 48, 120), (0, 4, 8, 14, 24, 56)
"""Four times a typical count of each level."""
MOST_COUNT = 255


@dataclass
class ColourList:
    """Colours with the number of times each occurred, the last one first."""

    check: int = 0
    entries: list[tuple[int, int]] = field(default_factory=list)

    def see(self, colour: int) -> None:
        """Put a colour first."""
        known = next((count for own, count in self.entries if own == colour), 0)
        others = [entry for entry in self.entries if entry[0] != colour]
        kept = [(own, count >> 1 if count > 2 else count) for own, count in others[: LISTED - 1]]
        self.entries = [(colour, min(known + 1, MOST_COUNT)), *kept]

    def most(self) -> int:
        """Return the count of the first colour, 0 if there is none."""
        return self.entries[0][1] if self.entries else 0

    def state(self, colour: int, refused: Collection[int]) -> tuple[int, int, int] | None:
        """Return what the list says of a colour: its rank and two levels; None if nothing."""
        rank, own, others = LISTED, 0, 0
        for i, (listed, count) in enumerate(self.entries):
            if listed == colour:
                rank, own = i, count
            elif listed not in refused:
                others += count
        if rank == LISTED and others == 0:
            return None
        return rank, count_below(own, OWN_LEVELS), count_below(others, OTHER_LEVELS)


def first_probability(state: tuple[int, int, int]) -> int:
    """Return the initial probability of a state, in 1/65536."""
    rank, own, other = state[0], OWN_COUNTS[state[1]], OTHER_COUNTS[state[2]]
    if rank == LISTED:
        one = 65536 * 12 // (40 + 10 * other)
    else:
        one = 65536 * (10 * own + 8) // (10 * (own + other) + 32)
    return limited(one, 32, 65504)


class ListTable:
    """Lists of all contexts. Two lists share a bucket."""

    def __init__(self, bits: int):
        self.shift = 32 - bits
        self.lists: dict[int, ColourList] = {}

    def find(self, context: int, number: int) -> ColourList:
        """Return the list of a context; the poorer one of a bucket makes room."""
        key = chained(context, 0x51ED27 * (number + 1))
        check, place = key & 255 | 1, key >> self.shift
        one = self.lists.setdefault(place, ColourList())
        other = self.lists.setdefault(place ^ 1, ColourList())
        for found in (one, other):
            if found.check == check:
                return found
        if one.most() > other.most():
            one, other = other, one
        if other.most() > 1:
            other.entries[0] = other.entries[0][0], other.most() - 1
        one.check, one.entries = check, []
        return one
