"""The native fuzzers fit the code that they call."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("entry", ["decoder", "encoder", "jpeg"])
def test_the_compiler_accepts_the_entry(entry):
    source = ROOT / f"tests/fuzz/native/fuzz_{entry}.cpp"
    options = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    include = ["-I", ROOT / "kernels"]
    done = subprocess.run(["g++", *options, *include, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
