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
_IN_FILTERS = "planes_filter"  # the field post filter says whether a layer has it
HEADER_TOOLS = {
    TREES: tuple(TABLE[name] for name in TREE_TOOLS),
    BLOCKS: tuple(TABLE[name] for name in BLOCK_TOOLS),
    BLOCKS_2: tuple(
        TABLE[name] for name in (*BLOCK_TOOLS, *LATER_BLOCK_TOOLS) if name != _IN_FILTERS
    ),
}
"""Tools that the header of a layer holds, by its coding, in the order of the format."""
SWITCHES = {
    tool.name: ((len(tool.values) or tool.high + 1) - 1).bit_length()
    for tool in HEADER_TOOLS[BLOCKS_2]
    if tool.high < 100
}
"""Tools of predicted blocks 2 that share one number, the lowest bits first: the bits of each."""


def coding_of(tools: Tools) -> str:
    """Return the name of the coding that the header of a layer has, one of ``CODINGS_OF[2]``."""
    return BLOCKS_2 if tools.later else tools.codings[0]


def write_tools(tools: Tools) -> bytes:
    """Return the bytes of the tools of a layer, without its coding, in the order of the format."""
    coding = coding_of(tools)
    stored = [tool for each in (coding, *tools.codings[1:]) for tool in HEADER_TOOLS.get(each, ())]
    values = {tool.name: int(getattr(tools, tool.name)) for tool in stored}
    if coding != BLOCKS_2:
        return b"".join(map(number, values.values()))
    switches = place = 0
    for name, bits in SWITCHES.items():
        value, allowed = values.pop(name), TABLE[name].values
        switches |= (allowed.index(value) if allowed else value) << place
        place += bits
    return b"".join(map(number, (switches, *values.values())))


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
    if coding == BLOCKS_2:
        values |= _read_switches(fields)
    for tool in HEADER_TOOLS[coding]:
        if tool.name not in values:
            values[tool.name] = read_tool(fields, tool, values)
    if values.get("dictionary"):
        for tool in HEADER_TOOLS[TREES]:
            values[tool.name] = read_tool(fields, tool, values)
    return values


def _read_switches(fields: Fields) -> dict[str, int]:
    at = fields.offset
    left = fields.number("switches", 0, (1 << sum(SWITCHES.values())) - 1)
    values = {}
    for name, bits in SWITCHES.items():
        tool, value = TABLE[name], left & ((1 << bits) - 1)
        left >>= bits
        most = len(tool.values) - 1 if tool.values else tool.high
        if value > most:
            raise CorruptStream(
                fields.section, f"{tool.title} in switches is {value}, allowed is 0 to {most}", at
            )
        values[name] = tool.values[value] if tool.values else value
    return values


def read_tool(fields: Fields, tool: Tool, values: dict[str, Any]) -> int:
    """Read the value of a tool; ``values`` are those of the tools before it."""
    at = fields.offset
    value = fields.number(tool.title, tool.low_in_file, tool.high)
    if fault := tool.fault(value, values.get(tool.needs, False)):
        raise CorruptStream(fields.section, f"{tool.title} is {value}, {fault}", at)
    return value
