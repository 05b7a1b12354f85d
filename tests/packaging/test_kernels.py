"""Every CUDA kernel compiles, and the package holds all kernel sources."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from shutil import which

import pytest

from mmpcodec.runtime import kernels

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "check" / "kernels.py"


def test_every_kernel_is_installed():
    for folder, pattern in (("cuda", "*.cu*"), ("shared", "*.h"), ("shared", "*.bin")):
        expected = {
            path.relative_to(ROOT / "kernels"): path.read_bytes()
            for path in (ROOT / "kernels" / folder).rglob(pattern)
        }
        found = {
            path.relative_to(kernels.FOLDER): path.read_bytes()
            for path in (kernels.FOLDER / folder).rglob(pattern)
        }
        assert expected
        assert found == expected
    assert {"trees/encode.cu", "blocks/encode.cu"} <= {
        str(path.relative_to(kernels.FOLDER / "cuda")) for path in kernels.sources()
    }


def compilers():
    """Those that are there: nvcc, and NVRTC from the package index."""
    if which("nvcc"):
        yield "nvcc"
    try:
        metadata.distribution("nvidia-cuda-nvrtc-cu12")
    except metadata.PackageNotFoundError:
        return
    yield "nvrtc"


ARCHITECTURES = "sm_80", "sm_90", "sm_100"
FAST = [[name, "--fast"] for name in ARCHITECTURES]
OPTIMISED = [pytest.param([name], marks=pytest.mark.slow) for name in ARCHITECTURES]
WITH_TWO_TYPES = "blocks", "filters", "tiles"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("target", [*FAST, *OPTIMISED], ids=" ".join)
@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_every_kernel_compiles(compiler, target):
    if compiler not in set(compilers()):
        pytest.skip(f"{compiler} is not there; `make test` sees that one of them is")
    command = [sys.executable, SCRIPT, "--compiler", compiler, "--arch", *target]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    if "does not know" in done.stdout:
        pytest.skip(done.stdout)
    folders = [path.relative_to(kernels.FOLDER / "cuda").parts[0] for path in kernels.sources()]
    deep = sum(folder in WITH_TWO_TYPES for folder in folders)
    assert done.stdout.count(": ok") == len(folders) + deep
    assert done.stdout.count("uint16_t") == deep > 5


def test_a_kernel_that_does_not_compile_is_reported(tmp_path):
    found = next(compilers(), None)
    if found is None:
        pytest.skip("no CUDA compiler; `make test` sees that one is there")
    script = tmp_path / SCRIPT.relative_to(ROOT)
    script.parent.mkdir(parents=True)
    (tmp_path / "kernels" / "cuda").mkdir(parents=True)
    script.write_bytes(SCRIPT.read_bytes())
    (tmp_path / "kernels" / "cuda" / "bad.cu").write_text("__global__ void f() { nothing(); }")
    command = [sys.executable, script, "--compiler", found, "--arch", "sm_90"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "bad.cu sm_90" in done.stdout
    assert "FAILED" in done.stdout
    assert "nothing" in done.stdout
