"""Planes to code as lossless samples, outcomes of decoding, and rounding modes of floating
point."""

import numpy as np
from hypothesis import strategies as st

from mmpcodec import FormatError
from support.strategies import CONTENT

DEPTHS = (1, 2, 4, 7, 8, 9, 12, 15, 16)
ROUNDING = {
    "x86_64": {"down": 0x400, "up": 0x800, "toward zero": 0xC00},
    "aarch64": {"up": 0x400000, "down": 0x800000, "toward zero": 0xC00000},
}
"""The numbers of <fenv.h>."""


@st.composite
def planes(draw):
    """Samples of one to four planes that resemble each other, and their depth."""
    depth = draw(st.sampled_from(DEPTHS))
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = (1 << depth) - 1
    content = draw(st.sampled_from([*CONTENT.values()]))
    first = content(rng, height, width).astype(np.int64) * most // 255
    spread = draw(st.sampled_from([0, 1, most // 16 + 1, most]))
    count = draw(st.integers(1, 4))
    noise = rng.integers(-spread, spread + 1, (count, height, width))
    return np.clip(first + noise, 0, most).astype(np.uint16), depth


def outcome(decode):
    """The bytes of the samples that a call returns, or the text of its error."""
    try:
        return decode().tobytes()
    except FormatError as error:
        return str(error)
