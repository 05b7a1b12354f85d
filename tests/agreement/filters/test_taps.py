"""Filtered samples and weighted sums are equal at each SIMD level, in 16 and in 32 bits."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[3] / "kernels"
TAPS = KERNELS / "cpu" / "filters" / "taps"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_kernels_agree(tmp_path):
    x86 = platform.machine() == "x86_64"
    levels = {"taps": [], "generic": []}
    if x86:
        levels |= {"avx2": ["-mavx2"], "avx512": ["-mavx512f", "-mavx512bw"]}
    defined = ["-DMMP_X86"] if x86 else []
    always = ["-std=c++20", "-O2", "-Wno-psabi", f"-I{KERNELS}", *defined]
    objects = []
    for name, flags in levels.items():
        objects.append(tmp_path / f"{name}.o")
        command = ["g++", *always, *flags, "-c", TAPS / f"{name}.cpp", "-o", objects[-1]]
        subprocess.run(command, check=True)
    program, source = tmp_path / "taps", Path(__file__).with_name("taps.cpp")
    subprocess.run(["g++", *always, source, *objects, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout) >= 1
