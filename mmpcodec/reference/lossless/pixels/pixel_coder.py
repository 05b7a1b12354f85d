"""Codes the pixels of the blocks that repeat, whole pixels one after the other.

Source: section "Repeating pixels" of ``docs/format/format.md``.
"""

from enum import Enum, auto

import numpy as np

from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.lossless.pixels.blocks import Blocks
from mmpcodec.reference.lossless.pixels.candidates import Candidates, contexts_of
from mmpcodec.reference.lossless.pixels.colours import ColoursAround, ColourShape, PixelRows
from mmpcodec.reference.lossless.pixels.escape import Escape
from mmpcodec.reference.lossless.pixels.flat import GROUP, Flat, is_flat, is_group
from mmpcodec.reference.lossless.pixels.places import PixelPlaces
from mmpcodec.reference.lossless.pixels.settings import PixelSettings

PLACE_CONTEXT = 4
"""Number of the context whose hash finds a place."""


class PixelKind(Enum):
    """How a pixel was coded."""

    FLAT = auto()
    CANDIDATE = auto()
    ESCAPED = auto()
    SLOPED = auto()


class PixelCoder:
    """Encoder or decoder of whole pixels.

    Parameters
    ----------
    shape : ColourShape
    blocks : Blocks
    settings : PixelSettings
    coder : BitCoder
    cells : CellRates
        Gets the rate of each pixel.
    """

    def __init__(
        self,
        shape: ColourShape,
        blocks: Blocks,
        settings: PixelSettings,
        coder: BitCoder,
        cells: CellRates,
    ):
        height, self.width = cells.shape
        self.blocks, self.coder, self.cells = blocks, coder, cells
        self.rows = PixelRows(height, self.width)
        self.places = PixelPlaces(self.rows)
        self.flat = Flat(self.width)
        self.candidates = Candidates(shape, settings)
        self.escape = Escape(shape, self.rows, settings)
        self.kinds = self.above = [PixelKind.FLAT] * (self.width + 2)

    def code_row(self, row: int, given: np.ndarray | None) -> None:
        """Code the pixels of a row; ``given`` are the colours to encode, or None to decode."""
        colours = None if given is None else given.tolist()
        self.row = row
        self.rows.begin_row(row)
        self.places.begin_row()
        self.flat.begin_row()
        self.above, self.kinds = self.kinds, [PixelKind.FLAT] * (self.width + 2)
        column = 0
        while column < self.width:
            end = self.blocks.end_of(row, column)
            if self.blocks.at(row, column):
                self._code_pixels(column, end, colours)
            else:
                self._pass_over(column, end - column, 0)
            column = end
        self.rows.end_row(row)

    def _code(self, one: int, bit: int | None) -> int:
        return self.coder.bit("residual", one, bit)

    def _code_pixels(self, column: int, end: int, given: list[int] | None) -> None:
        """Code the pixels from a column to before another."""
        while column < end:
            first = column
            v = ColoursAround(self.rows, self.row, column)
            flat = is_flat(v)
            if flat:
                count, whole = self._code_flat(v, column, end, given)
                self._pass_over(column, count, v.w)
                column += count
                self.cells.add(self.row, first)
                if whole:
                    continue
            self._code_pixel(column, flat, None if given is None else given[column])
            self.cells.add(self.row, column)
            column += 1

    def _code_flat(
        self, v: ColoursAround, column: int, end: int, given: list[int] | None
    ) -> tuple[int, bool]:
        """Code how many pixels are flat, and return whether the decision says so of all."""
        own = (
            None if given is None else [colour == v.w for colour in given[column : column + GROUP]]
        )
        if column + GROUP <= end and is_group(v):
            if self.flat.code_group(column, v.w, None if own is None else all(own), self._code):
                return GROUP, True
            return self.flat.code_end(None if own is None else own.index(False), self._code), False
        flat = self.flat.code_single(column, v, None if own is None else own[0], self._code)
        return flat, bool(flat)

    def _pass_over(self, column: int, count: int, colour: int) -> None:
        """Set pixels that are flat, or not coded."""
        if count == 0:
            return
        for i in range(column, column + count):
            self.rows.set(self.row, i, colour)
        self.places.skip(column, count)
        self.flat.pass_over(column, count)

    def _code_pixel(self, column: int, flat: bool, given: int | None) -> None:
        """Code a pixel by candidates, and escape if none is right."""
        v = ColoursAround(self.rows, self.row, column)
        place = self.places.find(self.row, column, contexts_of(v)[PLACE_CONTEXT])
        left, above = self.kinds[column], self.above[column : column + 3]
        escaped = sum(kind is PixelKind.ESCAPED for kind in (left, *above))
        slopes = (left is PixelKind.SLOPED) + (above[1] is PixelKind.SLOPED)
        asked = 1 if escaped >= 3 else 2
        colour = self.candidates.code(v, place, flat, asked, slopes, given, self._code)
        found = colour is not None
        if colour is None:
            colour = self.escape.code(v, place, given, self._code)
        self.escape.see(self.row, column, not found)
        self.rows.set(self.row, column, colour)
        self.candidates.see(colour)
        self.flat.change(column, colour)
        kind = PixelKind.CANDIDATE if found else PixelKind.ESCAPED
        if found and colour == self.candidates.slope and (slopes or colour not in (v.w, v.n)):
            kind = PixelKind.SLOPED
        self.kinds[column + 1] = kind
