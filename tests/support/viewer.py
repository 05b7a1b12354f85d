"""Files for the viewer's page, which the decoder of ``make web`` opens, or a stand-in for it.

The stand-in is for pictures that no file can make: each tile a level of its own in 2^28 pixels.
"""

import time
from pathlib import Path

import pytest

import mmpcodec
from support.web_decoder import WEB

STANDIN = Path(__file__).parents[1].joinpath("browser", "viewer", "standin.js").read_text()
HEADER = 256
"""Bytes before the samples of a file that the stand-in opens."""


def real_decoder():
    """The script of the decoder in the checkout; the test is skipped where it was not built."""
    if not (WEB / "decoder.js").exists():
        pytest.skip("mmpcodec/web/decoder.js is not built: make web builds it")
    return (WEB / "decoder.js").read_text()


def mmp_file(path, samples, **options):
    """Write an mmp file, lossless unless the options say otherwise, and return its path."""
    path.write_bytes(mmpcodec.encode(samples, **{"lam": 0, "preset": "exact", **options}))
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
