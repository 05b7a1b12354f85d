"""scripts/bench/lossless.py: codecs that are programs, and their processor seconds."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures

SCRIPT = Path(__file__).parents[3] / "scripts" / "bench" / "lossless.py"

pytestmark = pytest.mark.skipif(
    not SCRIPT.is_file() or os.name != "posix", reason="the scripts and a POSIX shell are needed"
)

FLIF, PAQ8PX = "FLIF, effort 60", "paq8px, level 8"
COPY = 'shift $(($# - 2)); cp "$1" "$2"'
DAMAGE = f'{COPY}; printf x | dd of="$2" bs=1 seek=20 conv=notrunc 2>&1'


@pytest.fixture
def lossless():
    spec = importlib.util.spec_from_file_location("lossless", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def picture(tmp_path):
    """Return a function that writes a gray picture of some bits a sample, and returns its path."""

    def written(depth):
        path = tmp_path / f"ramp{depth}.pgm"
        samples = np.arange(48, dtype=np.uint16 if depth > 8 else np.uint8).reshape(6, 8)
        pictures.write(pictures.Picture(samples, depth), path)
        return str(path)

    return written


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts a shell script on PATH, before all others."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    def put(name, script):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)

    return put


def test_a_program_codes_a_picture(lossless, picture, program):
    program("flif", COPY)
    program("paq8px", COPY)
    row = lossless.measured("ramps", picture(8), FLIF)
    assert (row["class"], row["picture"], row["codec"]) == ("ramps", "ramp8", FLIF)
    assert (row["depth"], row["samples"]) == (8, 48)
    assert row["bytes"] == len("P5\n8 6\n255\n") + 48
    assert lossless.measured("ramps", picture(8), PAQ8PX)["bytes"] == row["bytes"]


def test_programs_get_effort_and_level(lossless, picture, program, tmp_path):
    said = tmp_path / "said"
    for name in ("flif", "paq8px"):
        program(name, f'[ "$1" = -d ] || echo "$1 $2 $3 $4" >> {said}; {COPY}')
    for codec in (FLIF, "FLIF, effort 100", "FLIF, not interlaced, effort 100", PAQ8PX):
        lossless.measured("ramps", picture(8), codec)
    lines = [line.split("/")[0].strip() for line in said.read_text().splitlines()]
    flif = ["-e -Q100 -E60", "-e -Q100 -E100", "-e -Q100 -N -E100"]
    assert lines[:: lossless.RUNS] == [*flif, "-8"]


def test_paq8px_takes_8_bits_only(lossless, picture, program):
    program("flif", COPY)
    program("paq8px", COPY)
    assert lossless.measured("ramps", picture(12), FLIF)["bytes"] == len("P5\n8 6\n4095\n") + 96
    assert lossless.measured("ramps", picture(12), PAQ8PX) is None


def test_a_lossy_program_is_found(lossless, picture, program):
    program("flif", f'if [ "$1" = -d ]; then {DAMAGE}; else {COPY}; fi')
    with pytest.raises(ValueError, match="FLIF, effort 60 is not lossless"):
        lossless.measured("ramps", picture(8), FLIF)


def test_a_codec_without_its_program_is_left_out(lossless, program, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    program("flif", COPY)
    assert lossless.available(["JPEG-LS", PAQ8PX, FLIF]) == ["JPEG-LS", FLIF]
    assert capsys.readouterr().err == (
        "paq8px, level 8 is left out: the program paq8px is not on PATH\n"
    )


def test_seconds_of_programs_count(lossless):
    busy = "import time\nwhile time.process_time() < 0.1: pass"
    _, seconds = lossless.least(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
    assert 0.1 <= seconds < 2
