"""Layouts: which layers hold the planes of a picture."""

from enum import IntEnum

from mmpcodec.samples import Form


class Layout(IntEnum):
    """How the planes of a tile are put into layers."""

    TOGETHER = 0
    APART = 1
    LUMA = 2

    def allowed(self, form: Form) -> bool:
        """Whether a tile of a form can have it."""
        return self <= (Layout.TOGETHER, Layout.APART, Layout.LUMA, Layout.LUMA)[form]


_COLOURS = {
    Layout.APART: ("red", "green", "blue"),
    Layout.LUMA: ("luma", "chroma orange", "chroma green"),
}


WEIGHTS = {Layout.APART: (1 / 3, 1 / 3, 1 / 3), Layout.LUMA: (1.0, 2 / 3, 1.0)}
"""Squared error of a picture, as a mean over its colours, for one of each layer."""


def layer_names(form: Form, layout: Layout) -> tuple[str, ...]:
    """What the layers of a tile hold, in their order."""
    if layout is Layout.TOGETHER:
        return (form.title,)
    colours = ("gray",) if form.colours == 1 else _COLOURS[layout]
    return (*colours, "alpha") if form.has_alpha else colours
