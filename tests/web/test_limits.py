"""The limits of the web decoder count memory and work as those of Python."""

import re

from support.vectors import GOOD, each

import mmpcodec


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
