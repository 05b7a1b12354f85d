"""The fuzzer of whole codings finds nothing, and finds codings that are broken."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz" / "coding.py"


def run(*arguments, broken=""):
    program = (
        f"import runpy, sys, mmpcodec; {broken}"
        f"sys.argv[1:] = {[str(argument) for argument in arguments]};"
        f"sys.path.insert(0, {str(SCRIPT.parent)!r});"
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(("kind", "inputs"), [("small", 40), ("tiles", 8), ("jpeg", 30)])
def test_fuzzing_finds_nothing(tmp_path, kind, inputs):
    options = ("--inputs", inputs, "--jobs", 1, "--out", tmp_path / "out", "--kinds", kind)
    result = run(*options)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{kind}: {inputs} inputs in ")
    assert f"; coded {inputs}; " in result.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("right = mmpcodec.decode; mmpcodec.decode = lambda *a, **k: right(*a, **k) ^ 1;", "loses"),
        ("mmpcodec.decode = lambda *a, **k: 1 // 0;", "ZeroDivisionError in <string>:<lambda>"),
    ],
)
def test_fuzzing_keeps_findings(tmp_path, broken, says):
    result = run(
        *("--inputs", 40, "--jobs", 1, "--out", tmp_path, "--kinds", "small"), broken=broken
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert says in result.stdout
    (kept, *_) = tmp_path.iterdir()
    assert kept.read_bytes().startswith(b"\x89MMP")


def test_another_jpeg_file_is_a_finding(tmp_path):
    broken = "mmpcodec.kept_file = lambda *a, **k: b'another';"
    options = ("--inputs", 10, "--jobs", 1, "--out", tmp_path, "--kinds", "jpeg")
    result = run(*options, broken=broken)
    assert (result.returncode, result.stderr) == (1, "")
    assert "10 x another JPEG file comes back" in result.stdout
    (kept,) = tmp_path.iterdir()
    assert kept.name == "jpeg-1-0"
    assert b"\xff\xd8\xff" in kept.read_bytes()


def test_fuzzing_ends_after_seconds(tmp_path):
    result = run("--seconds", 2, "--jobs", 2, "--out", tmp_path, "--kinds", "small")
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout.split()[1]) > 0
