"""The fields of tools: in the header of a layer, and in the header of a file.

Source: sections "Layers" and "Tool sets" of ``docs/format/format.md``.
"""

from typing import Any

from mmpcodec.errors import CorruptStream
from mmpcodec.format.numbers import Fields, number
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    LOSSLESS,
    LOSSLESS_TOOLS,
    TABLE,
    TREE_TOOLS,
    TREES,
    Tool,
    Tools,
)

_IN_FILTERS = "cross_component_filter"  # the field post filter says whether a layer has it
HEADER_TOOLS = {
    TREES: tuple(TABLE[name] for name in TREE_TOOLS),
    BLOCKS: tuple(TABLE[name] for name in BLOCK_TOOLS if name != _IN_FILTERS),
    LOSSLESS: tuple(TABLE[name] for name in LOSSLESS_TOOLS),
}
"""Tools that the header of a layer holds, by its coding, in the order of the format."""
SWITCHES = {
    tool.name: ((len(tool.values) or tool.high + 1) - 1).bit_length()
    for tool in HEADER_TOOLS[BLOCKS]
    if tool.high < 100
}
"""Tools of predicted blocks that share one number, the lowest bits first: the bits of each."""


def write_tools(tools: Tools) -> bytes:
    """Return the bytes of the tools of a layer, without its coding, in the order of the format."""
    stored = [tool for each in tools.codings for tool in HEADER_TOOLS[each]]
    values = {tool.name: int(getattr(tools, tool.name)) for tool in stored}
    if not tools.prediction:
        return b"".join(map(number, values.values()))
    others = [value for name, value in values.items() if name not in SWITCHES]
    return _switches(tools) + b"".join(map(number, others))


def _switches(tools: Tools) -> bytes:
    """Return the bytes of the number that holds most tools of predicted blocks."""
    switches = place = 0
    for name, bits in SWITCHES.items():
        value, tool = int(getattr(tools, name)), TABLE[name]
        switches |= (tool.values.index(value) if tool.values else value) << place
        place += bits
    return number(switches)


def read_tools(fields: Fields, coding: str) -> dict[str, Any]:
    """Read the tools of a coding and return the fields of ``Tools``.

    Raises
    ------
    TruncatedStream
        If the part of the file ends inside a field.
    CorruptStream
        If a value is out of range.
    """
    values: dict[str, Any] = {"lossless": coding == LOSSLESS, "prediction": coding == BLOCKS}
    if coding == BLOCKS:
        values |= _read_switches(fields)
    for tool in HEADER_TOOLS[coding]:
        if tool.name not in values:
            values[tool.name] = read_tool(fields, tool, values)
    if values.get("dictionary"):
        for tool in HEADER_TOOLS[TREES]:
            values[tool.name] = read_tool(fields, tool, values)
    return values


def _read_switches(fields: Fields) -> dict[str, Any]:
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
