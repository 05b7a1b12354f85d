"""A program that ends while its daemon threads run native code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mmpcodec

PROGRAM = """
import sys, threading
import numpy as np
import mmpcodec
from mmpcodec.errors import Cancelled
from mmpcodec.solvers.max_sum import max_rectangle

rows, columns = np.indices((96, 96))
noise = np.random.default_rng(1).integers(-20, 20, (96, 96))
samples = (128 + 60 * np.sin(rows / 9) * np.cos(columns / 7) + noise).astype(np.uint8)
blocks, trees, exact = (
    mmpcodec.encode(samples, lam, preset=preset, effort=1, backend="cpu")
    for preset, lam in (("photo", 20), ("plain", 20), ("lossless", 0))
)

def cancelled():
    try:
        mmpcodec.decode(exact, backend="cpu", progress=lambda done, total: False)
    except Cancelled:
        pass

work = {
    "encode": lambda: mmpcodec.encode(samples, 20, preset="photo", backend="cpu", threads=2),
    "blocks": lambda: mmpcodec.decode(blocks, backend="cpu"),
    "trees": lambda: mmpcodec.decode(trees, backend="cpu"),
    "lossless": lambda: mmpcodec.decode(exact, backend="cpu"),
    "regions": lambda: max_rectangle(noise),
    "progress": lambda: mmpcodec.decode(exact, progress=lambda done, total: sum(range(9999)) > 0),
    "errors": cancelled,
}[sys.argv[1]]
started = threading.Event()

def again():
    while True:
        work()
        started.set()

for _ in range(2):
    threading.Thread(target=again, daemon=True).start()
started.wait()
print("works", flush=True)
"""
TRIALS = 2


@pytest.mark.parametrize(
    "work", ["encode", "blocks", "trees", "lossless", "regions", "progress", "errors"]
)
def test_the_end_does_not_abort(work):
    path = [str(Path(mmpcodec.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-P", "-c", PROGRAM, work]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    programs = [subprocess.Popen(command, env=environment, **pipes) for _ in range(TRIALS)]
    ends = [(*program.communicate(timeout=60), program.returncode) for program in programs]
    assert ends == [(b"works\n", b"", 0)] * TRIALS
