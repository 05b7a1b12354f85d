"""The fit in doubles finds what integers find, at each SIMD level, with products merged or not."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
KERNELS = ROOT / "kernels"
COUNT = "50000"
SUPPORTED = "int main() { return !(%s); }"
LEVELS = {
    "default": ([], "1"),
    "AVX2": (["-march=x86-64-v3"], '__builtin_cpu_supports("avx2")'),
    "AVX-512": (["-march=x86-64-v4"], '__builtin_cpu_supports("avx512vl")'),
}


def compiled(source, program, *options):
    subprocess.run(["g++", "-std=c++20", "-O3", *options, *source, "-o", program], check=True)
    return program


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("contract", ["off", "fast"])
@pytest.mark.parametrize("level", LEVELS)
def test_doubles_find_what_integers_find(level, contract, tmp_path):
    options, condition = LEVELS[level]
    if options:
        if platform.machine() != "x86_64":
            pytest.skip("only x86 has this level")
        (tmp_path / "supported.cpp").write_text(SUPPORTED % condition)
        asks = compiled([tmp_path / "supported.cpp"], tmp_path / "supported")
        if subprocess.run([asks]).returncode:
            pytest.skip(f"this processor has no {level}")
    program = compiled(
        [
            Path(__file__).with_name("fit.cpp"),
            *(KERNELS / "cpu" / "lossless" / f"{name}.cpp" for name in ("prediction", "strip_fit")),
        ],
        tmp_path / "fit",
        *(f"-I{KERNELS}", "-Wno-psabi", f"-ffp-contract={contract}", "-fno-trapping-math"),
        *options,
    )
    done = subprocess.run([program, COUNT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    equations, _, limited, *_ = done.stdout.split()
    assert 0 < int(limited) < int(equations), "both solvers are compared"
