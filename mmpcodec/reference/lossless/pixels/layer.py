"""The blocks and pixels of a layer of lossless samples that are coded whole.

Source: section "Repeating pixels" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mmpcodec.reference.entropy.binary import ONE, BitCoder
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.lossless.pixels.block_choice import repeating_blocks
from mmpcodec.reference.lossless.pixels.blocks import Blocks
from mmpcodec.reference.lossless.pixels.colours import ColourShape
from mmpcodec.reference.lossless.pixels.pixel_coder import PixelCoder
from mmpcodec.reference.lossless.pixels.settings import SETTINGS
from mmpcodec.reference.lossless.plane import Plane


class RepeatingPixels:
    """The pixels of the blocks that repeat.

    Parameters
    ----------
    shape : ColourShape
    blocks : Blocks
    coder : BitCoder
        That of the first plane.
    form : int
        Number of the lossless form.
    colours : (H, W) uint64 array or None
        Those to encode; None decodes.
    """

    def __init__(
        self,
        shape: ColourShape,
        blocks: Blocks,
        coder: BitCoder,
        form: int,
        colours: np.ndarray | None,
    ):
        self.shape, self.blocks, self.coder = shape, blocks, coder
        self.form, self.colours = form, colours

    def code(
        self,
        planes: Sequence[Plane],
        numbers: np.ndarray | None,
        cells: CellRates,
        at_row: Callable[[int], None],
    ) -> None:
        """Code all pixels into the planes; ``numbers`` are the samples to encode."""
        pixels = PixelCoder(self.shape, self.blocks, SETTINGS[self.form], self.coder, cells)
        for row in range(cells.shape[0]):
            at_row(row)
            pixels.code_row(row, None if self.colours is None else self.colours[row])
            for column in range(pixels.width):
                if self.blocks.at(row, column):
                    colour = pixels.rows.at(row, column)
                    for k, plane in enumerate(planes):
                        plane.inner[row, column] = self.shape.sample(colour, k)


def code_blocks(
    coder: BitCoder, planes: Sequence[Plane], numbers: np.ndarray | None, tools
) -> RepeatingPixels | None:
    """Code which blocks repeat; return None if no block can or does.

    Parameters
    ----------
    coder : BitCoder
        That of the first plane.
    planes : sequence of Plane
    numbers : (C, H, W) int array or None
        The samples to encode; None decodes.
    tools : LosslessTools
    """
    number = tools.lossless_form
    if tools.max_error or not any(plane.most for plane in planes):
        return None
    shape = ColourShape([plane.most for plane in planes])
    blocks, colours, wanted = Blocks(planes[0].height, planes[0].width), None, None
    if numbers is not None:
        colours = shape.packed(numbers)
        blocks = repeating_blocks(colours, shape, number)
        wanted = int(blocks.repeats.any())
    if not coder.bit("map", ONE // 2, wanted):
        return None
    blocks.code(coder, numbers is not None)
    return RepeatingPixels(shape, blocks, coder, number, colours)
