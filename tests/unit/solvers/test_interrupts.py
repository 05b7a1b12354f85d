"""Ctrl-C ends the solvers' long work in C++."""

import subprocess
import sys
import time

import pytest

PROGRAM = """
import _thread, signal, threading
import numpy as np
from mmpcodec.solvers.knapsack import knapsack, knapsack_batch, value_curve
from mmpcodec.solvers.max_sum import max_box, max_rectangle
from mmpcodec.solvers.subset_sum import subset_sum
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs of a shell's background
rng = np.random.default_rng(0)
threading.Timer(0.7, _thread.interrupt_main).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""

CALLS = {
    "table": """value_curve(rng.integers(1, 100, 2000), rng.integers(1, 60, (2000, 2)),
             [3000, 3000], memory_limit=1 << 33)""",
    "branches": """w = rng.integers(1, 1000, (500, 10))
    knapsack(w.sum(axis=1) // 10 + rng.integers(0, 500, 500), w, w.sum(axis=0) // 2)""",
    "lists": """w = rng.integers(1, 10**7, 10000)
    circle = np.sqrt(4.0e14 - (w - 2.0e7) ** 2) * 2 / 3
    knapsack(circle.astype(int), w, int(w.sum()) // 2, memory_limit=1 << 33)""",
    "batch": """some = [(rng.integers(1, 99, 80), rng.integers(1, 50, (80, 2)), [900, 900])] * 4000
    knapsack_batch(some)""",
    "rectangle": """max_rectangle(rng.integers(-9, 9, (4000, 20000)), backend="cpu")""",
    "box": """max_box(rng.integers(-9, 9, (300, 301, 302)), backend="cpu")""",
    "bits": """w = 10 * rng.integers(1, 10**6, 4000) + (np.arange(4000) == 0)
    target = int(w.sum()) // 20 * 10 + 5
    subset_sum(w, target, method="dense", items=False, memory_limit=1 << 33)""",
}


@pytest.mark.parametrize("name", CALLS)
def test_solvers_stop(name):
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM.format(call=CALLS[name])],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "interrupted\n", done.stderr
    assert time.monotonic() - start < 20
