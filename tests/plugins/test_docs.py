"""The examples of ``docs/plugins.md`` run as they stand there."""

import re
import shutil
from pathlib import Path

import pytest

for package in ("numcodecs", "zarr"):
    pytest.importorskip(package, reason=f"{package}: pip install mmpcodec[arrays]")

ROOT = Path(__file__).parents[2]


def test_examples_run(tmp_path, monkeypatch):
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(examples) == 5
    shutil.copy(ROOT / "images" / "camera.pgm", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in examples:
        exec(example, names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "camera.pgm",
        "camera.mmp",
        "smaller.mmp",
        "exact.mmp",
        "stack.zarr",
        "old.zarr",
    }
