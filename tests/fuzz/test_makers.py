"""The makers of mmp files draw every tool of the table of the codec."""

import pytest
from independent.file import BLOCKS, LOSSLESS, TREES, parsed
from makers import made, mmp
from parts.choices import Choices

from mmpcodec.format.tool_fields import HEADER_TOOLS, SWITCHES
from mmpcodec.tools import BLOCK_TOOLS, CODINGS

DRAWS = 400


def test_every_value_of_the_tools_in_switches_is_drawn():
    drawn = [mmp.any_switches(Choices(f"mmp 3 {number}")) for number in range(DRAWS)]
    place = 0
    for name, bits in SWITCHES.items():
        tool = BLOCK_TOOLS[name]
        values = tool.values or range(tool.low_in_file, tool.high + 1)
        assert {each >> place & ((1 << bits) - 1) for each in drawn} >= {*range(len(values))}, name
        place += bits


@pytest.mark.parametrize("coding", [TREES, BLOCKS, LOSSLESS])
def test_the_other_tools_are_drawn_within_their_ranges(coding):
    drawn = [mmp.any_tools(Choices(f"mmp 4 {number}"), coding) for number in range(DRAWS)]
    others = [tool for tool in HEADER_TOOLS[CODINGS[coding]] if tool.name not in SWITCHES]
    first = 1 if coding == BLOCKS else 0
    for place, tool in enumerate(others, first):
        found = {each[place] for each in drawn}
        assert min(found) >= tool.low_in_file, tool.name
        assert max(found) <= tool.high, tool.name
        assert len(found) >= min(50, tool.high + 1 - tool.low_in_file), tool.name


def test_files_without_broken_fields_are_read_by_the_model():
    for number in range(200):
        recipe = f"mmp 5 {number}"
        if not Choices(recipe).rate:
            data = made(recipe)
            assert mmp.built(parsed(data)) == data
