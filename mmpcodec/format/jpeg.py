"""The tile of a JPEG file that is kept: its fields, and what they bound.

Source: sections "Layers" and "Kept JPEG files" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

from mmpcodec.depth import BYTE
from mmpcodec.errors import CorruptStream
from mmpcodec.format.container import Header
from mmpcodec.format.layouts import Layout
from mmpcodec.format.numbers import Fields, number
from mmpcodec.format.tool_fields import read_tool
from mmpcodec.samples import Form
from mmpcodec.tools import LOSSLESS_TOOLS, LosslessTools

SECTION = "Kept JPEG files"
CODING = 4
"""The number of the coding that says that a tile is a JPEG file."""
MOST_FILE_BYTES = 1 << 31
LEVELS_OF_PIXEL, LEVELS_BESIDE = 4, 1 << 22
"""Most levels of all pictures of a file: for each pixel of the header's picture, and besides."""
LEVEL_BYTES = 2
"""Bytes of a level in memory."""


@dataclass(frozen=True)
class KeptJpeg:
    """The coded form of a JPEG file, which is the only part of its tile.

    Parameters
    ----------
    form : int
        1 to 3: which models code it.
    file_bytes : int
        Size of the JPEG file.
    payload : bytes-like
    offset : int
        Byte offset of the payload in its file.
    """

    form: int
    file_bytes: int
    payload: bytes | memoryview
    offset: int = 0

    @property
    def most_coded_bytes(self) -> int:
        """Most bytes of the description, and of the file, that are coded as bytes of any kind."""
        return 2 * self.file_bytes + 1024

    @property
    def tools(self) -> LosslessTools:
        """The form as tools, by which layers are described."""
        return LosslessTools(self.form)


def most_level_bytes(width: int, height: int) -> int:
    """Return the most bytes of memory that the levels of a file of this size in pixels take."""
    return LEVEL_BYTES * (LEVELS_OF_PIXEL * width * height + LEVELS_BESIDE)


def write(kept: KeptJpeg) -> bytes:
    """Return the bytes of a kept JPEG file in its tile."""
    return number(CODING) + number(kept.form) + number(kept.file_bytes) + kept.payload


def read(fields: Fields, header: Header, layout: Layout) -> KeptJpeg | None:
    """Read the JPEG file of a tile; None, and nothing read, if the tile has none.

    Raises
    ------
    TruncatedStream
        If the tile ends inside a field.
    CorruptStream
        If a field is outside its range, or the picture is of another kind.
    """
    if fields.data[fields.place : fields.place + 1] != number(CODING):
        return None
    at = fields.offset
    if fault := _fault(header, layout):
        raise CorruptStream(fields.section, f"coding is {CODING}, {fault}", at)
    section, fields.section = fields.section, SECTION
    fields.number("coding", CODING, CODING)
    form = read_tool(fields, LOSSLESS_TOOLS["lossless_form"])
    size = fields.number("file bytes", 1, MOST_FILE_BYTES)
    start = fields.offset
    payload = fields.bytes("payload", len(fields.data) - fields.place)
    fields.section = section
    return KeptJpeg(form, size, payload, start)


def _fault(header: Header, layout: Layout) -> str | None:
    """Say what pictures can be kept JPEG files, if this is none of them."""
    allowed = "of a kept JPEG file, whose picture has"
    if header.form not in (Form.GRAY, Form.RGB):
        return f"{allowed} the form gray or RGB, not {header.form.title}"
    if header.level_bits or header.depth != BYTE:
        return f"{allowed} a depth of {BYTE} without level bits"
    if header.tile_size:
        return f"{allowed} the tile size 0, not {header.tile_size}"
    if layout is not Layout.TOGETHER:
        return f"{allowed} the layout 0, not {layout:d}"
    return None
