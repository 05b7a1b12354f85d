"""The table of tools, and its copies in C++ and in the text of the format."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_type_hints

import pytest

from mmpcodec import ParameterError, Tools
from mmpcodec.format.tool_fields import HEADER_TOOLS
from mmpcodec.runtime import kernels
from mmpcodec.tools import (
    BLOCK_TOOLS,
    BLOCKS,
    CODINGS,
    LOSSLESS,
    LOSSLESS_TOOLS,
    PRESETS,
    TABLE,
    TREE_TOOLS,
    TREES,
    Partition,
    ToolOptions,
    preset_tools,
)

IN_HEADER = tuple(tool.name for tool in HEADER_TOOLS[BLOCKS])
"""Tools that a header holds: all but the cross-component filter, which a layer has or not."""

FORMAT = Path(__file__).parents[2] / "docs" / "format" / "format.md"


def test_native_code_has_the_same_table():
    text = (Path(kernels.FOLDER) / "shared" / "tools.h").read_text()
    found = re.findall(r"TOOL\((\w+), (\d+), (\d+)\)", text)
    names = (*TREE_TOOLS, *IN_HEADER)
    expected = [(name, TABLE[name].low_in_file, TABLE[name].high) for name in names]
    assert [(name, int(low), int(high)) for name, low, high in found] == expected


def test_the_format_lists_the_same_tools():
    table = FORMAT.read_text().split("\n| | tool | allowed |\n")[1].split("\n\n")[0]
    found = re.findall(r"^\| \d+ \| ([a-z ]+) \|", table, re.MULTILINE)
    names = (*TREE_TOOLS, *IN_HEADER, *LOSSLESS_TOOLS)
    assert set(BLOCK_TOOLS) - set(IN_HEADER) == {"cross_component_filter"}
    assert sorted(found) == sorted(TABLE[name].title for name in names)


def test_options_of_an_encoder_are_the_fields_of_the_table():
    kinds = get_type_hints(ToolOptions)
    assert kinds.pop("tune") == str | None
    assert kinds.pop("palette") == bool | None
    assert kinds.pop("range") == tuple[int, int] | None
    assert kinds.pop("max_error") == int | str | None
    assert [*kinds, "max_error"] == list(TABLE)
    for name, tool in TABLE.items():
        if name not in kinds:
            continue
        kind = Partition | str | int if tool.kind is Partition else tool.kind
        assert kinds[name] == kind | None


def test_rows_are_consistent():
    for tool in TABLE.values():
        assert set(tool.codings) <= set(CODINGS)
        assert tool.needs in ("", *TABLE)
        assert tool.low <= int(tool.default) <= tool.high
        assert not tool.values or tool.default in tool.values


@pytest.mark.parametrize(
    ("preset", "effective"),
    [
        ("plain", {"copy_radius", "post_filter"}),
        ("photo", {"prediction", "dictionary", "step", "post_filter"}),
        ("mixed", {"prediction", "step", "copy_radius", "post_filter"}),
        ("lossless", {"lossless"}),
    ],
)
def test_tools_without_effect_are_those_of_other_codings(preset, effective):
    idle = set(PRESETS[preset].without_effect)
    assert not idle & effective
    assert ("copy_radius" in idle) == ("copy_radius" not in effective)
    assert ("step" in idle) == ("step" not in effective)
    assert ("lossless" in idle) == (preset != "lossless")


def test_codings_of_a_layer():
    assert PRESETS["plain"].codings == (TREES,)
    assert PRESETS["photo"].codings == (BLOCKS,)
    assert PRESETS["mixed"].codings == (BLOCKS, TREES)
    assert PRESETS["lossless"].codings == (LOSSLESS,)


@pytest.mark.parametrize("name", [name for name, tool in TABLE.items() if tool.kind is int])
def test_ranges_are_checked(name):
    tool = TABLE[name]
    allowed = f"from {tool.low} to {tool.high}"
    if tool.zero:
        allowed = f"from {tool.low_in_file} to {tool.high}, or 0 {tool.zero}"
    if tool.values:
        allowed = ", ".join(map(str, tool.values[:-1])) + f" or {tool.values[-1]}"
    for value in (tool.low - 1, tool.high + 1):
        with pytest.raises(ParameterError) as raised:
            Tools(**{name: value})
        assert str(raised.value) == f"{name} = {value}: must be {allowed}"


@pytest.mark.parametrize(
    ("effort", "form"),
    [
        (1, (1, 2, 1, False, 7)),
        (3, (1, 8, 4, True, 7)),
        (5, (1, 16, 4, True, 7)),
        (9, (3, 16, 4, True, 7)),
    ],
)
def test_efforts_choose_the_lossless_form(effort, form):
    """It has the maximal error of the tools, too."""
    assert replace(preset_tools("lossless", effort), max_error=7).form == form
