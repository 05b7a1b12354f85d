"""Layouts: how the planes of a tile are distributed over layers.

Source: section "Layers" of ``docs/format/format.md``.
"""

from enum import IntEnum

from mmpcodec.depth import MAX_DEPTH, coded_depth
from mmpcodec.samples import Form

FINE_BITS = 2
"""Bits that a sample of colour has more in the layers of a fine layout."""
ALPHA = "alpha"
"""Name of the layer of alpha."""


class Layout(IntEnum):
    """Layout of a tile: one layer for all planes, one for each plane, or luma and chroma.

    The layers of fine luma and fine chroma have two bits more than those of luma and chroma, and
    are turned in the space of colours.
    """

    TOGETHER = 0
    APART = 1
    LUMA = 2
    FINE_LUMA = 3

    def allowed(self, form: Form) -> bool:
        """Return whether tiles of a form may have this layout."""
        return self <= (Layout.TOGETHER, Layout.APART, Layout.FINE_LUMA, Layout.FINE_LUMA)[form]

    def fits(self, depth: int) -> bool:
        """Return whether its layers can hold a picture with this many bits a sample."""
        return self.depth_of("", depth) <= MAX_DEPTH

    def depth_of(self, name: str, depth: int) -> int:
        """Return the bits of a sample in the layer of one plane, from those of the picture."""
        fine = self is Layout.FINE_LUMA and name != ALPHA
        return coded_depth(depth) + FINE_BITS * fine


_COLOURS = {
    Layout.APART: ("red", "green", "blue"),
    Layout.LUMA: ("luma", "Co", "Cg"),
    Layout.FINE_LUMA: ("luma", "Co", "Cg"),
}


WEIGHTS = {
    Layout.APART: (1 / 3, 1 / 3, 1 / 3),
    Layout.LUMA: (1.0, 2 / 3, 1.0),
    Layout.FINE_LUMA: (1.0, 25 / 24, 50 / 49),
}
"""Squared error of the colours, as a mean over red, green and blue, for an error of 1 in a layer.

The three weights are those of the layers, in their order. Both errors are in one unit, such as
samples of 8 bits.
"""


def weight_of(form: Form, layout: Layout, number: int) -> float:
    """Return the squared error of a picture for an error of 1 in the layer of this number.

    Alpha counts as a picture of its own.
    """
    return WEIGHTS[layout][number] if form.colours == 3 and number < 3 else 1.0


def planes_before(form: Form, number: int) -> int:
    """Return how many planes can predict the layer of this number, if each plane has a layer.

    Alpha has none: it shares little with the colours.
    """
    return number if number < form.colours else 0


def layer_names(form: Form, layout: Layout) -> tuple[str, ...]:
    """Return the names of the layers of a tile, in coding order."""
    if layout is Layout.TOGETHER:
        return (form.title,)
    colours = ("gray",) if form.colours == 1 else _COLOURS[layout]
    return (*colours, ALPHA) if form.has_alpha else colours
