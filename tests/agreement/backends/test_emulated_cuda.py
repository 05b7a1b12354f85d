"""Kernels on a device that the processor stands for, see ``tests/support/emulated``."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EMULATED = ROOT / "tests" / "support" / "emulated"
DECODING = "tests/agreement/backends/test_cuda_decoding.py"
PARTS = [
    "encode and blocks",
    "encode and trees",
    "knapsack or subset_sum or maximal_intervals or limited or shards",
    "(median or ranks or rank_filter or kth) and (u1 or i8 or f4 or u2)",
    "(box or rectangle or interval) and (i2 or f8)",
]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux"
    or platform.machine() not in ("x86_64", "aarch64")
    or shutil.which("g++") is None,
    reason="the emulated device needs Linux and g++",
)


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(EMULATED)}
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("part", PARTS)
def test_operations_give_the_results_of_the_reference(part):
    options = "-q", "-p", "no:cacheprovider", "-m", "gpu", "-k", part
    ended = run("-m", "pytest", *options, "tests/agreement/test_table.py")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout
    assert " skipped" not in ended.stdout


def test_files_are_those_of_the_processor():
    options = "-q", "-p", "no:cacheprovider", "-k", "test_files_are_those_of_the_processor"
    ended = run("-m", "pytest", *options, "tests/agreement/backends/test_cuda.py")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout
    assert " skipped" not in ended.stdout


def test_decoding_gives_the_samples_of_the_processor():
    ended = run("-m", "pytest", "-q", "-p", "no:cacheprovider", DECODING)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " passed" in ended.stdout
    assert " skipped" not in ended.stdout


KERNEL = """
import cupy
import numpy as np

code = r'''extern "C" __global__ void __launch_bounds__(64) kernel(int* out) {{
    __shared__ int shared[64];
    const int n = threadIdx.x;
    {body}
}}'''
out = cupy.zeros(64, np.int32)
cupy.RawModule(code=code).get_function("kernel")((1,), (64,), (out,))
print(out.get().tolist())
"""


def test_threads_exchange_values():
    body = """
    shared[n] = n;
    __syncthreads();
    const int other = shared[63 - n];
    out[n] = __shfl_xor_sync(~0u, other, 1) + __popc(__ballot_sync(~0u, n % 3 == 0));"""
    ended = run("-c", KERNEL.format(body=body))
    counts = [sum(n % 3 == 0 for n in range(start, start + 32)) for start in (0, 32)]
    expected = [(63 - n ^ 1) + counts[n // 32] for n in range(64)]
    assert ended.stdout.split("\n")[0] == str(expected), ended.stderr


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("out[n + 1] = n;", "wrote after a piece of memory of 256 bytes"),
        ("if (n < 32) __syncwarp(); else __syncwarp(1);", "not in the mask that it passes"),
        ("if (n < 9)\n __syncthreads();\n else\n __syncthreads();", "wait at different barriers"),
        ("if (n == 0) __syncwarp(3); if (n < 2) __syncthreads();", "no thread can go on"),
        ("if (n % 2) out[n] = __shfl_sync(0xAAAAAAAAu, n, 0);", "not in the mask or has ended"),
    ],
)
def test_faults_are_found(body, message):
    ended = run("-c", KERNEL.format(body=body))
    assert ended.returncode != 0
    assert message in ended.stderr


def test_missing_barrier_gives_other_results():
    body = "shared[n] = n; if (n == 0) shared[63] = 7; out[n] = shared[63 - n];"
    ended = run("-c", KERNEL.format(body=body))
    assert ended.returncode == 0
    assert ended.stdout.strip() != str([7, *range(62, -1, -1)])
