"""The tables of tools, and their copies in C++ and in the text of the format."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from mmpcodec import BlockTools, ParameterError, TreeTools
from mmpcodec.format.tool_fields import HEADER_TOOLS
from mmpcodec.presets import TOOL_OPTIONS, lossless_tools
from mmpcodec.runtime import kernels
from mmpcodec.tools import (
    BLOCKS,
    KINDS,
    TABLES,
    TREES,
    Partition,
    ToolOptions,
)

FORMAT = Path(__file__).parents[2] / "docs" / "format" / "format.md"
ROWS = [(kind, tool) for coding, kind in KINDS.items() for tool in TABLES[coding].values()]


def test_native_code_has_the_same_table():
    text = (Path(kernels.FOLDER) / "shared" / "tools.h").read_text()
    found = re.findall(r"TOOL\((\w+), (\d+), (\d+)\)", text)
    tools = (*HEADER_TOOLS[TREES], *HEADER_TOOLS[BLOCKS])
    expected = [(tool.name, tool.low_in_file, tool.high) for tool in tools]
    assert [(name, int(low), int(high)) for name, low, high in found] == expected


def test_the_format_lists_the_same_tools():
    table = FORMAT.read_text().split("\n| | tool | allowed |\n")[1].split("\n\n")[0]
    found = re.findall(r"^\| \d+ \| ([a-z ]+) \|", table, re.MULTILINE)
    assert sorted(found) == sorted(tool.title for own in HEADER_TOOLS.values() for tool in own)


def test_options_of_an_encoder_are_the_tools_of_the_tables():
    kinds = get_type_hints(ToolOptions)
    assert kinds.pop("tune") == str | None
    assert kinds.pop("palette") == bool | None
    assert kinds.pop("range") == tuple[int, int] | None
    assert kinds["max_error"] == int | str | None
    assert kinds.keys() == set(TOOL_OPTIONS)
    for _, tool in ROWS:
        if tool.name != "max_error":
            kind = Partition | str | int if tool.kind is Partition else tool.kind
            assert kinds[tool.name] == kind | None


def test_defaults_are_allowed():
    for _, tool in ROWS:
        assert tool.low <= int(tool.default) <= tool.high
        assert not tool.values or tool.default in tool.values


@pytest.mark.parametrize(
    ("kind", "tool"),
    [
        pytest.param(kind, tool, id=f"{kind.coding} {tool.name}")
        for kind, tool in ROWS
        if tool.kind is int
    ],
)
def test_ranges_are_checked(kind, tool):
    allowed = f"from {tool.low} to {tool.high}"
    if tool.zero:
        allowed = f"from {tool.low_in_file} to {tool.high}, or 0 {tool.zero}"
    if tool.values:
        allowed = ", ".join(map(str, tool.values[:-1])) + f" or {tool.values[-1]}"
    for value in (tool.low - 1, tool.high + 1):
        with pytest.raises(ParameterError) as raised:
            kind(**{tool.name: value})
        assert str(raised.value) == f"{tool.name} = {value}: must be {allowed}"


def test_trees_among_blocks_have_no_filter_of_their_own():
    for trees in (True, TreeTools()):
        with pytest.raises(ParameterError, match=r"trees = .*: must be None, or TreeTools\("):
            BlockTools(trees=trees)
    assert BlockTools(trees=TreeTools(post_filter=False)).dictionary


@pytest.mark.parametrize(
    ("effort", "form"),
    [
        (1, 1),
        (3, 2),
        (5, 2),
        (9, 3),
    ],
)
def test_efforts_choose_the_lossless_form(effort, form):
    assert lossless_tools(effort).lossless_form == form
