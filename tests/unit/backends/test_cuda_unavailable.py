"""What the cuda backend says where CuPy, a device or a compiler is missing.

A stand-in for CuPy, first on the import path of another process, shows each case.
"""

import os
import subprocess
import sys

import pytest

RUNTIME = """
class CUDARuntimeError(RuntimeError): pass
class runtime:
    CUDARuntimeError = CUDARuntimeError
    def getDeviceCount(): {count}
class CompileException(Exception): pass
class compiler: CompileException = CompileException
class Device:
    def __init__(self, number=0): self.id = number
    def __enter__(self): return self
    def __exit__(self, *exception): pass
"""
NO_DRIVER = RUNTIME.format(count='raise CUDARuntimeError("driver is insufficient")')
CASES = {
    "absent": ({"__init__": 'raise ImportError("No module named cupy")'}, "CuPy does not import"),
    "broken": ({"__init__": 'raise ImportError("libcuda.so.1")'}, "libcuda.so.1"),
    "no driver": ({"__init__": "from cupy import cuda", "cuda": NO_DRIVER}, "driver is insuff"),
    "no device": (
        {"__init__": "from cupy import cuda", "cuda": RUNTIME.format(count="return 0")},
        "no CUDA device",
    ),
}


def run(folder, modules, *arguments):
    """Run Python where these modules are CuPy."""
    (folder / "cupy").mkdir()
    for name, text in modules.items():
        (folder / "cupy" / f"{name}.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-P", *arguments], capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize("case", CASES)
def test_the_command_line_says_why_and_writes_nothing(tmp_path, case):
    modules, reason = CASES[case]
    picture = tmp_path / "a.pgm"
    picture.write_bytes(b"P5 4 4 255 " + bytes(16))
    done = run(tmp_path, modules, "-m", "mmpcodec.cli", "encode", picture, "--backend", "cuda")
    assert done.returncode == 4
    assert done.stderr.startswith("mmp: backend cuda cannot run here: ")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert not picture.with_suffix(".mmp").exists()


@pytest.mark.parametrize("case", CASES)
def test_auto_goes_on_with_the_processor_and_says_so(tmp_path, case):
    program = (
        "import numpy as np, mmpcodec\n"
        "from mmpcodec import backends\n"
        "backends.Row.start = -1.0\n"
        "picture = np.zeros((32, 32), np.uint8)\n"
        "print(mmpcodec.encode_picture(picture, mmpcodec.EncodeParams()).backend)\n"
    )
    done = run(tmp_path, CASES[case][0], "-c", program)
    assert done.stdout == "cpu\n", done.stderr


def test_a_kernel_that_does_not_compile_is_an_error_of_its_own(tmp_path):
    init = """
from cupy import cuda
class RawModule:
    def __init__(self, **options): pass
    def compile(self): raise cuda.CompileException("line 7: error")
"""
    program = (
        "from mmpcodec.runtime import kernels\n"
        "from mmpcodec import KernelError\n"
        "try: kernels.load('trees/encode', 0)\n"
        "except KernelError as error: print(error)\n"
    )
    modules = {"__init__": init, "cuda": RUNTIME.format(count="return 1")}
    done = run(tmp_path, modules, "-c", program)
    assert done.stdout == "encode.cu does not compile: line 7: error\n", done.stderr
