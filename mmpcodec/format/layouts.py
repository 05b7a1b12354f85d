"""Layouts: how the planes of a tile are distributed over layers.

Source: section "Layers" of ``docs/format/format.md``.
"""

from enum import IntEnum

from mmpcodec.samples import Form


class Layout(IntEnum):
    """Layout of a tile: one layer for all planes, one for each plane, or luma and chroma."""

    TOGETHER = 0
    APART = 1
    LUMA = 2

    def allowed(self, form: Form) -> bool:
        """Return whether tiles of a form may have this layout."""
        return self <= (Layout.TOGETHER, Layout.APART, Layout.LUMA, Layout.LUMA)[form]


_COLOURS = {
    Layout.APART: ("red", "green", "blue"),
    Layout.LUMA: ("luma", "chroma orange", "chroma green"),
}


WEIGHTS = {Layout.APART: (1 / 3, 1 / 3, 1 / 3), Layout.LUMA: (1.0, 2 / 3, 1.0)}
"""Squared error of the colours, as a mean over red, green and blue, for an error of 1 in a layer.

The three weights are those of the layers, in their order.
"""


def earlier_planes(form: Form, number: int) -> int:
    """Return how many planes can predict the layer of this number, if each plane has a layer.

    Alpha has none: it shares little with the colours.
    """
    return number if number < form.colours else 0


def layer_names(form: Form, layout: Layout) -> tuple[str, ...]:
    """Return the names of the layers of a tile, in coding order."""
    if layout is Layout.TOGETHER:
        return (form.title,)
    colours = ("gray",) if form.colours == 1 else _COLOURS[layout]
    return (*colours, "alpha") if form.has_alpha else colours
