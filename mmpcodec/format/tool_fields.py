"""The fields of tools: in the header of a layer, and in the header of a file of version 2.

Source: sections "Layers" and "Tool sets" of ``docs/format/format.md``.
"""

from typing import Any

from mmpcodec.errors import CorruptStream
from mmpcodec.format.numbers import Fields, number
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    CODINGS,
    EXACT,
    LATER_BLOCK_TOOLS,
    TABLE,
    TREE_TOOLS,
    TREES,
    Tool,
    Tools,
)

BLOCKS_2 = "predicted blocks 2"
"""Predicted blocks with the tools of version 2."""
CODINGS_OF = {1: CODINGS, 2: (*CODINGS, BLOCKS_2)}
"""Names of the codings by their numbers in the header of a layer, by the version of the format."""
HEADER_TOOLS = {
    TREES: tuple(TABLE[name] for name in TREE_TOOLS),
    BLOCKS: tuple(TABLE[name] for name in BLOCK_TOOLS),
    BLOCKS_2: tuple(TABLE[name] for name in (*BLOCK_TOOLS, *LATER_BLOCK_TOOLS)),
}
"""Tools that the header of a layer holds, by its coding, in the order of the format."""


def coding_of(tools: Tools) -> str:
    """Return the name of the coding that the header of a layer has, one of ``CODINGS_OF[2]``."""
    return BLOCKS_2 if tools.later_than(1) else tools.codings[0]


def write_tools(tools: Tools) -> bytes:
    """Return the bytes of the tools of a layer, without its coding, in the order of the format."""
    coding = coding_of(tools)
    stored = [tool for each in (coding, *tools.codings[1:]) for tool in HEADER_TOOLS.get(each, ())]
    return b"".join(number(int(getattr(tools, tool.name))) for tool in stored)


def read_tools(fields: Fields, coding: str) -> dict[str, Any]:
    """Read the tools of a coding and return the fields of ``Tools``.

    Raises
    ------
    TruncatedStream
        If the part of the file ends inside a field.
    CorruptStream
        If a value is out of range.
    """
    if coding == EXACT:
        return {"exact": True}
    values: dict[str, Any] = {"prediction": coding != TREES}
    for tool in HEADER_TOOLS[coding]:
        values[tool.name] = read_tool(fields, tool, values)
    if values.get("dictionary"):
        for tool in HEADER_TOOLS[TREES]:
            values[tool.name] = read_tool(fields, tool, values)
    return values


def read_tool(fields: Fields, tool: Tool, values: dict[str, Any]) -> int:
    """Read the value of a tool; ``values`` are those of the tools before it."""
    at = fields.offset
    value = fields.number(tool.title, tool.low_in_file, tool.high)
    if fault := tool.fault(value, values.get(tool.needs, False)):
        raise CorruptStream(fields.section, f"{tool.title} is {value}, {fault}", at)
    return value
