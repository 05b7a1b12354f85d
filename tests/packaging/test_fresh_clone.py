"""The first command of the README works in a fresh clone, on a machine with nothing installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAMP = "package-installed"
WRITTEN = ("camera.mmp", "decoded.pgm", "decoded.png", "side-by-side.png")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_demo_in_a_fresh_clone(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    # A make that runs this test would hand its own options down.
    handed_down = ("MAKEFLAGS", "MAKELEVEL")
    environment = {key: value for key, value in os.environ.items() if key not in handed_down}

    def make(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", f"PYTHON={sys.executable}", *arguments],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    first = make("-j", "4", "demo")
    assert first.returncode == 0, first.stdout + first.stderr
    assert [name for name in WRITTEN if not (clone / "demo" / name).stat().st_size] == []

    assert STAMP not in make("--dry-run", "demo").stdout
    (clone / "pyproject.toml").touch()
    assert STAMP in make("--dry-run", "demo").stdout
