"""What the decoder in JavaScript has of the code of Python: tools, and estimates of memory."""

import re

import pytest
from support.vectors import GOOD, each

import mmpcodec
from mmpcodec.format.tool_fields import HEADER_TOOLS, SWITCHES
from mmpcodec.tools import BLOCK_TOOLS, LATER_EXACT_TOOLS, TREE_TOOLS

BLOCKS_2, EXACT_2 = "predicted blocks 2", "exact samples 2"
LATER_BLOCKS = [tool.name for tool in HEADER_TOOLS[BLOCKS_2] if tool.name not in BLOCK_TOOLS]


@pytest.mark.parametrize(
    ("table", "coding", "names"),
    [
        ("TREE_TOOLS", "trees", TREE_TOOLS),
        ("BLOCK_TOOLS", BLOCKS_2, BLOCK_TOOLS),
        ("LATER_BLOCK_TOOLS", BLOCKS_2, LATER_BLOCKS),
        ("EXACT_TOOLS", EXACT_2, LATER_EXACT_TOOLS),
    ],
)
def test_tools_are_those_of_python(node, table, coding, names):
    rows = {tool.name: tool for tool in HEADER_TOOLS[coding]}
    found = node.ask(table=table)["rows"]
    assert [row["name"] for row in found] == list(names)
    for row in found:
        tool = rows[row["name"]]
        assert (row["low"], row["high"]) == (tool.low_in_file, tool.high)
        assert tuple(row.get("values", ())) == tool.values
        if coding in SWITCHES:
            assert row.get("bits", 0) == SWITCHES[coding].get(row["name"], 0)


@each(GOOD)
def test_limits_count_as_those_of_python(node, vector):
    data = (vector / "stream.mmp").read_bytes()
    for name, own in (("max_memory", "maxMemory"), ("max_samples_per_byte", "maxSamplesPerByte")):
        limits = mmpcodec.DecodeLimits(**{name: 1})
        try:
            mmpcodec.decode(data, limits=limits, threads=1)
            expected = None
        except mmpcodec.LimitExceeded as error:
            expected = str(error)
        found = node.ask(data, limits={own: 1}).get("message")
        if expected is not None:
            expected = re.sub(rf"{name} \(--[a-z-]+\)", f"limits.{own}", expected)
        assert found == expected
