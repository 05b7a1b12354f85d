import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mmpcodec.backends import kernels

ROOT = Path(__file__).parents[2]


def test_every_kernel_is_installed():
    for folder, pattern in (("cuda", "*.cu*"), ("shared", "*.h")):
        expected = {
            path.name: path.read_bytes() for path in (ROOT / "kernels" / folder).glob(pattern)
        }
        found = {path.name: path.read_bytes() for path in (kernels.FOLDER / folder).glob(pattern)}
        assert expected
        assert found == expected
    assert {"encode.cu", "start.cu"} <= {path.name for path in kernels.sources()}


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_every_kernel_compiles():
    script = ROOT / "scripts" / "check_kernels.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(": ok") == 2 * len(kernels.sources())
