"""What a type checker knows about the installed package: options by name, arrays by type."""

import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import mmpcodec

picture, numbers = np.zeros((4, 4), np.uint8), np.zeros((4, 4))
data = mmpcodec.encode(picture, lam=3, preset="photo", effort=3, templates=2)
mmpcodec.encode(mmpcodec.decode(data), target_psnr=40.0, partition="dyadic")
mmpcodec.encode(picture, target_ssimulacra2=80)
mmpcodec.encode(memoryview(data))
mmpcodec.encode(picture, lambda_=3)
mmpcodec.encode(picture, effort="3")
mmpcodec.encode(picture, templates="3")
mmpcodec.encode(numbers)
mmpcodec.encode_picture(picture, mmpcodec.EncodeParams(), preset="photo")
reveal_type(mmpcodec.decode(data).dtype)
"""


def test_mypy_sees_options_and_types_of_arrays(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.chdir(tmp_path)  # the source folder is not the installed package
    Path("program.py").write_text(PROGRAM)
    options = ["--config-file=", f"--python-executable={sys.executable}", "--cache-dir=cache"]
    found, _, _ = api.run([*options, "program.py"])
    lines = [line.partition("program.py:")[2] for line in found.splitlines()]
    errors = {int(line.split(":")[0]): line for line in lines if ": error: " in line}
    first = 10
    says = (
        'Unexpected keyword argument "lambda_"',
        'Argument "effort" to "encode" has incompatible type "str"; expected "int"',
        'Argument "templates" to "encode" has incompatible type "str"; expected "int | None"',
        'Argument 1 to "encode" has incompatible type "ndarray[tuple[int, int], dtype[float64]]"',
        'Unexpected keyword argument "preset" for "encode_picture"',
    )
    assert errors.keys() == set(range(first, first + len(says)))
    for number, text in enumerate(says, start=first):
        assert text in errors[number]
    assert "dtype[" in found.splitlines()[-2]
    assert "_8Bit" in found.splitlines()[-2]
