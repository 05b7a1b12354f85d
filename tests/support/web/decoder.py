"""The decoder of mmpcodec/web: in Node, which answers questions of the tests, and in the viewer.

In the viewer a stand-in takes its place for a picture that no file can make: 2^28 pixels, each tile
with a level of its own.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import mmpcodec

WEB = Path(__file__).parents[3] / "mmpcodec" / "web"
"""The decoder in the checkout: the installed package has it only if it was built before."""
ANSWERS = Path(__file__).parents[2] / "web" / "answers.mjs"
MOST_SECONDS = 60
"""A question that takes longer hangs."""
STANDIN = Path(__file__).parents[2].joinpath("browser", "viewer", "standin.js").read_text()
HEADER = 256
"""Bytes before the samples of a file that the stand-in opens."""


def missing() -> str | None:
    """Return what is missing for these tests, or None."""
    if not (WEB / "mmp.wasm").exists():
        return "mmpcodec/web/mmp.wasm is not built: make web builds it"
    if shutil.which("node") is None:
        return "there is no Node"
    return None


class Node:
    """A process of Node that decodes files; a process that hangs or ends fails the test.

    Parameters
    ----------
    flags : str
        Options of Node.
    """

    def __init__(self, *flags: str):
        self._process = subprocess.Popen(
            ["node", *flags, ANSWERS, (WEB / "decoder" / "index.js").as_uri()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, data: bytes | None = None, **question) -> dict:
        """Return the answer to a question; see ``answers.mjs``."""
        if data is not None:
            question["data"] = base64.b64encode(data).decode()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question, default=os.fspath).encode() + b"\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], MOST_SECONDS)
        assert ready, f"no answer within {MOST_SECONDS} seconds"
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def real_decoder():
    """The script of the decoder in the checkout; the test is skipped where it was not built."""
    if not (WEB / "decoder.js").exists():
        pytest.skip("mmpcodec/web/decoder.js is not built: make web builds it")
    return (WEB / "decoder.js").read_text()


def mmp_file(path, samples, **options):
    """Write an mmp file, lossless unless the options say otherwise, and return its path."""
    path.write_bytes(mmpcodec.encode(samples, **{"lam": 0, "preset": "lossless", **options}))
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
