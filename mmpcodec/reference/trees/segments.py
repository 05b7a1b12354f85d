"""Segments of a fragment, and nodes of its tree.

Source: section "Scales and partition" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

from mmpcodec.reference.trees.scales import COLUMNS, ROOT_SCALE, Scale


@dataclass(frozen=True)
class Segment:
    """Segment of a fragment.

    Parameters
    ----------
    scale : Scale
    k, l : int
        Row and column in the grid that segments of this scale form in the fragment, from 0.
    """

    scale: Scale
    k: int = 0
    l: int = 0  # noqa: E741 (the field's name in the literature)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns of samples that the segment covers in the fragment."""
        top, left = self.k * self.scale.height, self.l * self.scale.width
        return slice(top, top + self.scale.height), slice(left, left + self.scale.width)

    @property
    def address(self) -> tuple[int, int]:
        """Row and column of the segment in a cost map."""
        return self.k + (1 << self.scale.n) - 1, self.l + (1 << self.scale.m) - 1

    def children(self, flag: int) -> tuple["Segment", "Segment"]:
        """Return the two halves: left and right, or top and bottom."""
        scale = self.scale.child(flag)
        if flag == COLUMNS:
            return Segment(scale, self.k, 2 * self.l), Segment(scale, self.k, 2 * self.l + 1)
        return Segment(scale, 2 * self.k, self.l), Segment(scale, 2 * self.k + 1, self.l)


ROOT = Segment(ROOT_SCALE)


@dataclass(frozen=True)
class Node:
    """Node of a tree.

    Parameters
    ----------
    segment : Segment
    flag : int
        ``LEAF``, ``COLUMNS`` or ``ROWS``.
    index : int or None
        Index of a leaf's element, negative for a copy; None if the node is split.
    """

    segment: Segment
    flag: int
    index: int | None = None
