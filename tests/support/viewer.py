"""Files for the viewer's page, which a stand-in for the decoder opens."""

import json
import time
from pathlib import Path

import numpy as np

STANDIN = Path(__file__).parents[1].joinpath("browser", "viewer", "standin.js").read_text()
FORMS = ("gray", "gray with alpha", "RGB", "RGB with alpha")
HEADER = 256
"""Bytes before the samples."""


def standin_file(path, samples, *, tile=0, depth=8, damaged=(), **header):
    """Write a header and raw tiles. The numbers in ``damaged`` are those of tiles that fail."""
    height, width = samples.shape[:2]
    planes = samples[0, 0].size
    facts = {"width": width, "height": height, "tileSize": tile, "planes": planes, "depth": depth}
    facts |= {"form": FORMS[planes - 1], "damaged": list(damaged), **header}
    side = tile or max(width, height)
    with open(path, "wb") as stream:
        stream.write(json.dumps(facts).encode().ljust(HEADER - 1) + b"\n")
        for top in range(0, height, side):
            for left in range(0, width, side):
                own = samples[top : top + side, left : left + side]
                stream.write(np.ascontiguousarray(own).tobytes())
    return path


def until(page, expression, seconds=20):
    """Wait until an expression of JavaScript is true.

    Playwright's own way needs ``eval``, which the policy of the page forbids.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} is not true after {seconds} s"
        page.wait_for_timeout(20)


def until_drawn(page, seconds=20):
    """Wait until all tiles in view are drawn."""
    until(page, "document.getElementById('canvas').dataset.waiting === '0'", seconds)
