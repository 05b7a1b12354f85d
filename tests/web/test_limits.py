"""The limits of the web decoder count memory and work as those of Python."""

import re

from support.vectors import GOOD, each

import mmpcodec
from mmpcodec.codec.decoder import read_tile
from mmpcodec.codec.seconds import seconds_to_decode


@each(GOOD)
def test_limits_count_as_those_of_python(node, vector):
    data = (vector / "stream.mmp").read_bytes()
    for name, own in (("max_memory", "maxMemory"),):
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


@each(GOOD)
def test_seconds_count_as_those_of_python_without_flat_planes(node, vector):
    data = (vector / "stream.mmp").read_bytes()
    header = mmpcodec.inspect(data).header
    view = memoryview(data)
    streams = [(tile, read_tile(view, header, tile)) for tile in header.tiles]
    seconds = seconds_to_decode(streams, header.depth, header.planes, peek=False)
    assert "error" not in node.ask(data, limits={"maxSeconds": 1.001 * seconds})
    found = node.ask(data, limits={"maxSeconds": 0.999 * seconds})
    assert "maxSeconds raises it" in found["message"]
