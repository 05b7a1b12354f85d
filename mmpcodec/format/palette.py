"""The palette of a tile: its fields, and the two streams of its payload.

Source: section "Palette" of ``docs/format/format.md``.
"""

from dataclasses import dataclass
from typing import NamedTuple

from mmpcodec.format.layouts import Layout
from mmpcodec.format.numbers import Fields, number
from mmpcodec.format.tool_fields import read_tool
from mmpcodec.samples import Form
from mmpcodec.tools import CODINGS, LOSSLESS_TOOLS, LosslessTools

SECTION = "Palette"
CODING = len(CODINGS)
"""The number of the coding that says that a tile begins with a palette."""
MOST_ENTRIES = 4096
"""Most colours of a palette."""


class Streams(NamedTuple):
    """The two parts of the payload, each a payload of lossless samples."""

    colours: bytes
    numbers: bytes


@dataclass(frozen=True)
class Palette:
    """The coded form of a palette: colours, and the number of the colour of each pixel.

    Parameters
    ----------
    tools : LosslessTools
        Tools of both streams: lossless samples without error.
    entries : int
        Number of colours, 1 to ``MOST_ENTRIES``.
    transparent : bool
        Whether pixels can have the number ``entries`` and show the layers below.
    payload : bytes-like
    offset : int
        Byte offset of the payload in its file.
    """

    tools: LosslessTools
    entries: int
    transparent: bool
    payload: bytes | memoryview
    offset: int = 0

    @property
    def largest(self) -> int:
        """The largest number that a pixel can have."""
        return self.entries - 1 + self.transparent

    @property
    def depth(self) -> int:
        """Bits of a number."""
        return max(1, self.largest.bit_length())

    def streams(self) -> Streams:
        """Return the two parts of the payload.

        Raises
        ------
        TruncatedStream, CorruptStream
            If the payload does not hold as many bytes of colours as it says.
        """
        fields = Fields(memoryview(self.payload), SECTION, self.offset)
        colours = bytes(fields.bytes("colours", fields.number("colour bytes")))
        return Streams(colours, bytes(fields.data[fields.place :]))


def joined(streams: Streams) -> bytes:
    """Return the payload of two streams."""
    return number(len(streams.colours)) + streams.colours + streams.numbers


def write(palette: Palette, form: Form) -> bytes:
    """Return the bytes of a palette in a tile of a form."""
    size = b"" if _is_last(palette.transparent, form) else number(len(palette.payload))
    entries = number(2 * (palette.entries - 1) + palette.transparent)
    head = number(CODING) + number(palette.tools.lossless_form) + entries
    return head + size + palette.payload


def read(fields: Fields, form: Form) -> Palette | None:
    """Read the palette of a tile of a form; None, and nothing read, if the tile has none.

    Raises
    ------
    TruncatedStream
        If the tile ends inside a field.
    CorruptStream
        If a field is outside its range.
    """
    if fields.data[fields.place : fields.place + 1] != number(CODING):
        return None
    section, fields.section = fields.section, SECTION
    fields.number("coding", CODING, CODING)
    lossless_form = read_tool(fields, LOSSLESS_TOOLS["lossless_form"])
    tools = LosslessTools(lossless_form)
    entries = fields.number("entries", 0, 2 * MOST_ENTRIES - 1)
    transparent = entries & 1 > 0
    if _is_last(transparent, form):
        size = len(fields.data) - fields.place
    else:
        size = fields.number("payload bytes")
    start = fields.offset
    payload = fields.bytes("payload", size)
    fields.section = section
    palette = Palette(tools, (entries >> 1) + 1, transparent, payload, start)
    palette.streams()  # checks the number of bytes of the colours
    return palette


def fault_of_layout(palette: Palette, layout: Layout, form: Form, depth: int) -> str | None:
    """Say which layouts a tile with this palette can have, or return None."""
    if form is Form.GRAY:
        return None
    with_transparent, allowed = " without transparent pixels", [Layout.APART]
    if palette.transparent:
        with_transparent, allowed = "", [each for each in Layout if each.allowed(form)]
        allowed = [each for each in allowed[1:] if each.fits(depth)]
    if layout in allowed:
        return None
    which = " to ".join(f"{each:d}" for each in dict.fromkeys((allowed[0], allowed[-1])))
    return f"layout is {layout:d}, allowed with a palette{with_transparent} is {which}"


def names_below(names: tuple[str, ...], palette: Palette | None, form: Form) -> tuple[str, ...]:
    """Return the names of the layers that follow, of ``names`` that the layout has."""
    return names if palette is None or palette.transparent else names[form.colours :]


def _is_last(transparent: bool, form: Form) -> bool:
    """Return whether no layer follows the palette."""
    return not transparent and not form.has_alpha
