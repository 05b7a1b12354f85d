"""The fields of tools: in the header of a layer, and in the header of a file.

Source: sections "Layers" and "Tool sets" of ``docs/format/format.md``.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from mmpcodec.errors import CorruptStream
from mmpcodec.format.numbers import Fields, number
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    KINDS,
    TABLES,
    BlockTools,
    Tool,
    Tools,
    TreeTools,
    with_values,
)

Kind = TypeVar("Kind", bound=Tools)

HEADER_TOOLS = {
    coding: tuple(tool for tool in table.values() if tool.in_header)
    for coding, table in TABLES.items()
}
"""Tools that the header of a layer holds, by its coding, in the order of the format."""
SWITCHES = {
    tool.name: ((len(tool.values) or tool.high + 1) - 1).bit_length()
    for tool in HEADER_TOOLS[BLOCKS]
    if tool.high < 100
}
"""Tools of predicted blocks that share one number, the lowest bits first: the bits of each."""
READ_TOOLS = {
    coding: tuple((tool, tool.in_header) for tool in table.values() if tool.name not in SWITCHES)
    for coding, table in TABLES.items()
}
"""Tools that have no place in the number of switches, by coding, and whether a header has them."""
MOST_SWITCHES = (1 << sum(SWITCHES.values())) - 1


def write_tools(tools: Tools) -> bytes:
    """Return the bytes of the tools of a layer, without its coding, in the order of the format."""
    values = {tool.name: int(getattr(tools, tool.name)) for tool in HEADER_TOOLS[tools.coding]}
    if not isinstance(tools, BlockTools):
        return b"".join(map(number, values.values()))
    others = b"".join(number(value) for name, value in values.items() if name not in SWITCHES)
    return _switches(values) + others + (write_tools(tools.trees) if tools.trees else b"")


def _switches(values: dict[str, int]) -> bytes:
    """Return the bytes of the number that holds most tools of predicted blocks."""
    switches = place = 0
    for name, bits in SWITCHES.items():
        value, tool = values[name], BLOCK_TOOLS[name]
        switches |= (tool.values.index(value) if tool.values else value) << place
        place += bits
    return number(switches)


def read_tools(fields: Fields, kind: type[Kind]) -> Kind:
    """Read the tools of a coding, given by their class; the layer has no filter.

    Raises
    ------
    TruncatedStream
        If the part of the file ends inside a field.
    CorruptStream
        If a value is out of range.
    """
    values: dict[str, Any] = {}
    if kind is BlockTools:
        at = fields.offset
        switches, fault = _switches_of(fields.number("switches", 0, MOST_SWITCHES))
        if fault:
            raise CorruptStream(fields.section, fault, at)
        values = dict(switches)
    for tool, in_header in READ_TOOLS[kind.coding]:
        values[tool.name] = read_tool(fields, tool) if in_header else False
    if values.pop("dictionary", False):
        values["trees"] = read_tools(fields, TreeTools)
    # The fixed filters differ from layer to layer where all other tools are equal.
    own = {name: values.pop(name) for name in ("fixed_filters",) if name in values}
    tools = _tools_of(kind.coding, tuple(values.items()))
    return with_values(tools, **own) if own else tools


@lru_cache(maxsize=64)
def _tools_of(coding: str, values: tuple[tuple[str, Any], ...]) -> Any:
    """Make tools; layers and files share them, and checking them takes long beside a small tile."""
    return KINDS[coding](**dict(values))


@lru_cache(maxsize=64)
def _switches_of(left: int) -> tuple[Mapping[str, Any], str | None]:
    """Return the tools that share a number, and what is wrong with them."""
    values: dict[str, Any] = {}
    for name, bits in SWITCHES.items():
        tool, value = BLOCK_TOOLS[name], left & ((1 << bits) - 1)
        left >>= bits
        most = len(tool.values) - 1 if tool.values else tool.high
        if value > most:
            return values, f"{tool.title} in switches is {value}, allowed is 0 to {most}"
        values[name] = tool.values[value] if tool.values else value
    return values, None


def read_tool(fields: Fields, tool: Tool) -> int:
    """Read the value of a tool."""
    return fields.number(tool.title, tool.low_in_file, tool.high)
