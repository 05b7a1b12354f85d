"""A decoder that was written from the text decodes palettes that are made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from independent.container import decode
from palettes import file_of, remade

from mmpcodec.format.layouts import Layout


def picture(planes, depth, height=6, width=9):
    """Few colours at the left, more at the right."""
    i, j, c = np.indices((height, width, planes))
    samples = np.where(j < 6, (i // 2 + j // 2 + c) % 2 * 3, i + j + c) * ((1 << depth) - 1) // 15
    samples = np.minimum(samples, (1 << depth) - 1).astype(np.uint8 if depth <= 8 else np.uint16)
    return samples[..., 0] if planes == 1 else samples


@pytest.mark.parametrize("depth", [2, 8, 12])
@pytest.mark.parametrize(
    ("planes", "layout", "transparent"),
    [
        (1, Layout.TOGETHER, True),
        (1, Layout.TOGETHER, False),
        (2, Layout.APART, True),
        (2, Layout.APART, False),
        (3, Layout.APART, False),
        (3, Layout.FINE_LUMA, True),
        (4, Layout.LUMA, True),
        (4, Layout.APART, False),
    ],
)
def test_decodes_palettes(planes, layout, transparent, depth):
    data, shown = file_of(
        picture(planes, depth), depth=depth, layout=layout, transparent=transparent
    )
    samples, _ = decode(data)
    np.testing.assert_array_equal(samples, shown)


@pytest.mark.parametrize("entries", [3, 1])
def test_refuses_other_entries(entries):
    data, _ = file_of(picture(1, 8), transparent=False)
    with pytest.raises(ValueError, match=r"."):
        decode(remade(data, lambda own: replace(own, entries=entries)))


def test_refuses_layouts_that_the_palette_excludes():
    data, _ = file_of(picture(3, 8), transparent=False)
    with pytest.raises(ValueError, match="layout 2 cannot have this palette"):
        decode(remade(data, lambda own: own, layout=Layout.LUMA))


def test_colours_of_palettes_have_no_source_colours():
    """Their planes have one row, however large the tile is."""
    data, shown = file_of(picture(3, 8, 9, 11), transparent=False)
    samples, _ = decode(data)
    np.testing.assert_array_equal(samples, shown)
