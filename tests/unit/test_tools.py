"""The table of tools, and its copies in C++ and in the text of the format."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from mmpcodec import ParameterError, Tools
from mmpcodec.format.tool_fields import BLOCKS_2, HEADER_TOOLS
from mmpcodec.runtime import kernels
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    CODINGS,
    EXACT,
    LATER_BLOCK_TOOLS,
    LATER_EXACT_TOOLS,
    PRESETS,
    TABLE,
    TREE_TOOLS,
    TREES,
    VERSIONS,
    Partition,
    ToolOptions,
)

IN_HEADER = tuple(tool.name for tool in HEADER_TOOLS[BLOCKS_2] if tool.name not in BLOCK_TOOLS)
"""Tools of version 2 that a header holds: all but the planes filter, which a layer has or not."""

FORMAT = Path(__file__).parents[2] / "docs" / "format" / "format.md"


@pytest.mark.parametrize(
    ("macro", "tools"),
    [
        ("MMP_TREE_TOOLS", TREE_TOOLS),
        ("MMP_BLOCK_TOOLS", BLOCK_TOOLS),
        ("MMP_LATER_BLOCK_TOOLS", IN_HEADER),
    ],
)
def test_native_code_has_the_same_table(macro, tools):
    text = (Path(kernels.FOLDER) / "shared" / "tools.h").read_text()
    rows = text.split(f"#define {macro}(")[1].split("\n\n")[0]
    found = re.findall(r"TOOL\((\w+), (\d+), (\d+)\)", rows)
    expected = [(name, TABLE[name].low_in_file, TABLE[name].high) for name in tools]
    assert [(name, int(low), int(high)) for name, low, high in found] == expected


def test_the_format_lists_the_same_tools():
    table = FORMAT.read_text().split("\n| | tool | allowed |\n")[1].split("\n\n")[0]
    found = re.findall(r"^\| \d+ \| ([a-z ]+) \|", table, re.MULTILINE)
    names = (*BLOCK_TOOLS, *TREE_TOOLS, *IN_HEADER, *LATER_EXACT_TOOLS)
    assert set(LATER_BLOCK_TOOLS) - set(IN_HEADER) == {"planes_filter"}
    assert found == [TABLE[name].title for name in names]


def test_options_of_an_encoder_are_the_fields_of_the_table():
    kinds = get_type_hints(ToolOptions)
    assert kinds.pop("version") == int | None
    assert kinds.pop("palette") == bool | None
    assert list(kinds) == list(TABLE)
    for name, tool in TABLE.items():
        kind = Partition | str | int if tool.kind is Partition else tool.kind
        assert kinds[name] == kind | None


def test_rows_are_consistent():
    for tool in TABLE.values():
        assert set(tool.codings) <= set(CODINGS)
        assert tool.needs in ("", *TABLE)
        assert tool.version in VERSIONS
        assert tool.low <= int(tool.default) <= tool.high
        assert not tool.values or tool.default in tool.values


@pytest.mark.parametrize(
    ("preset", "effective"),
    [
        ("plain", {"copy_radius", "post_filter"}),
        ("photo", {"prediction", "dictionary", "step", "post_filter"}),
        ("mixed", {"prediction", "step", "copy_radius", "post_filter"}),
        ("exact", {"exact"}),
    ],
)
def test_tools_without_effect_are_those_of_other_codings(preset, effective):
    idle = set(PRESETS[preset].without_effect)
    assert not idle & effective
    assert ("copy_radius" in idle) == ("copy_radius" not in effective)
    assert ("step" in idle) == ("step" not in effective)
    assert ("exact" in idle) == (preset != "exact")


def test_codings_of_a_layer():
    assert PRESETS["plain"].codings == (TREES,)
    assert PRESETS["photo"].codings == (BLOCKS,)
    assert PRESETS["mixed"].codings == (BLOCKS, TREES)
    assert PRESETS["exact"].codings == (EXACT,)


@pytest.mark.parametrize("name", [name for name, tool in TABLE.items() if tool.kind is int])
def test_ranges_are_checked(name):
    tool = TABLE[name]
    with pytest.raises(ParameterError, match=f"{name} = {tool.high + 1}: must be from {tool.low}"):
        Tools(**{name: tool.high + 1})
