"""Segments of a fragment and the nodes of its tree: what coder, search and blocks all speak of.

Source: section "Scales and partition" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

from mmpcodec.reference.trees.scales import COLUMNS, ROOT_SCALE, Scale


@dataclass(frozen=True)
class Segment:
    """Segment in row ``k`` and column ``l`` of the fragment's segments of one scale."""

    scale: Scale
    k: int = 0
    l: int = 0  # noqa: E741 (the field's name in the literature)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Its rows and columns within the fragment."""
        top, left = self.k * self.scale.height, self.l * self.scale.width
        return slice(top, top + self.scale.height), slice(left, left + self.scale.width)

    @property
    def address(self) -> tuple[int, int]:
        """Its row and column in a cost map."""
        return self.k + (1 << self.scale.n) - 1, self.l + (1 << self.scale.m) - 1

    def children(self, flag: int) -> tuple["Segment", "Segment"]:
        """The two halves: left and right, or top and bottom."""
        scale = self.scale.child(flag)
        if flag == COLUMNS:
            return Segment(scale, self.k, 2 * self.l), Segment(scale, self.k, 2 * self.l + 1)
        return Segment(scale, 2 * self.k, self.l), Segment(scale, 2 * self.k + 1, self.l)


ROOT = Segment(ROOT_SCALE)


@dataclass(frozen=True)
class Node:
    """A segment with its flag, and for a leaf the index of its element."""

    segment: Segment
    flag: int
    index: int | None = None
