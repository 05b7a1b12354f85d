"""The dissertation's experiment runs from a picture to its tables and its figure."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures

SCRIPT = Path(__file__).parents[3] / "scripts" / "bench" / "codec" / "paper_experiment.py"


@pytest.mark.skipif(not SCRIPT.is_file(), reason="the scripts are not here")
def test_tables_and_figure(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("bjontegaard")
    rows, columns = np.indices((48, 64))
    waves = 128 + 70 * np.sin(rows / 5) + 50 * np.cos(columns / 4)
    pictures.write(waves.astype(np.uint8), tmp_path / "waves.pgm")
    command = [sys.executable, "-P", str(SCRIPT), "waves.pgm", "--out", "out", "--repeat", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    measured = [json.loads(line) for line in lines]
    assert {row["point"] for row in measured} == {10, 16, 24, 32, 64, 128}
    assert len(measured) % 12 == 0
    assert "| dissertation, i7 860 and GTX 580 | 118.46 | 80.35 | 58.82 |" in done.stdout
    assert "medians of 1 runs" in done.stdout
    assert "| mmp, cpu, 1 thread, log2 | " in done.stdout
    assert "All backends write files of the same sizes." in done.stdout
    assert "log2 against adaptive: BD-rate " in done.stdout
    for kind in ("png", "svg"):
        assert (tmp_path / "out" / f"paper.{kind}").stat().st_size > 10000
