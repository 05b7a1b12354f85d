"""The program starts at once: it imports what a command needs when the command runs."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import mmpcodec

BARE = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str) -> None:
    "Say hello."
app()
"""
MMP = "from mmpcodec.cli.start import main; main()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(mmpcodec.__file__).parents[1])}


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(program):
    """Processor time of a start: unlike wall time it is the same on a busy machine."""
    before = children_seconds()
    command = [sys.executable, "-c", program, "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return children_seconds() - before


def test_help_starts_as_a_bare_typer_program_does():
    bare, ours = zip(*((seconds(BARE), seconds(MMP)) for _ in range(8)), strict=True)
    assert min(ours) <= 1.5 * min(bare)


def loaded_by(statement):
    program = f"import sys; {statement}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    return set(subprocess.check_output(command, env=ENVIRONMENT, text=True).split())


def test_command_line_imports_typer_only():
    modules = loaded_by("import mmpcodec.cli.app") - loaded_by("import typer")
    for name in ("numpy", "PIL", "rich", "mmpcodec.codec", "mmpcodec.backends.base"):
        assert name not in modules


def test_package_imports_nothing_until_it_is_used():
    assert "numpy" not in loaded_by("import mmpcodec; mmpcodec.__version__; dir(mmpcodec)")
    assert "mmpcodec.codec.encoder" in loaded_by("import mmpcodec; mmpcodec.encode")


def test_public_names():
    for name in mmpcodec.__all__:
        assert getattr(mmpcodec, name) is not None
        assert name in dir(mmpcodec)
    with pytest.raises(AttributeError, match="module 'mmpcodec' has no attribute 'encod'"):
        _ = mmpcodec.encod


def test_commands(mmp):
    for arguments in ([], ["--help"], ["-h"]):
        result = mmp(*arguments)
        assert result.exit_code == (0 if arguments else 2)
        names = ("encode", "decode", "info", "median", "budget", "pack", "solve", "doctor")
        places = [result.output.find(f" {name} ") for name in names]
        assert places[0] > 0
        assert places == sorted(places)
    assert mmp("--version").stdout == f"mmp {mmpcodec.__version__}\n"
    assert mmp("encodee").exit_code == 2


def test_the_compiled_backend_does_without_the_table_of_logarithms():
    """Making it takes longer than coding a small picture."""
    modules = loaded_by(
        "from mmpcodec.backends.cpu import CpuBackend; import mmpcodec.codec.encoder"
    )
    assert "mmpcodec.backends.cpu" in modules
    assert "mmpcodec.reference.trees.models" not in modules
