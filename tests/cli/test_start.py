"""The program starts at once: it imports what a command needs when the command runs."""

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.start import THRESHOLD
from mmpcodec.pictures import registry

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


def test_the_package_reaches_its_modules_and_loads_them_late():
    program = (
        "import sys, mmpcodec; assert 'numpy' not in sys.modules; names = dir(mmpcodec)\n"
        "assert {'metadata', 'params', 'pictures', 'solvers'} <= {*names}\n"
        "mmpcodec.pictures.read, mmpcodec.metadata.Metadata, mmpcodec.solvers, mmpcodec.params"
    )
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert (found.returncode, found.stderr) == (0, "")


def test_help_starts_as_a_bare_typer_program_does():
    bare, ours = [], []
    while len(ours) < 4 or (len(ours) < 16 and min(ours) > 1.5 * min(bare)):  # machines are noisy
        bare.append(seconds(BARE))
        ours.append(seconds(MMP))
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


HEAVY = {"PIL", "cupy", "numpy.ma", "pydantic", "rich", "scipy", "skimage", "tifffile"}
"""Modules that take long to import, and that files in PGM and mmp do not need."""
PRINTS_MODULES = (
    "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); " + MMP
)


def loaded_by_program(*arguments):
    """Return the modules that a process of the program has imported when it ends."""
    command = [sys.executable, "-c", PRINTS_MODULES, *arguments]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    return set(result.stderr.split())


def commands_among(modules):
    home = "mmpcodec.cli.commands."
    return {name.removeprefix(home) for name in modules if name.startswith(home)}


@pytest.mark.parametrize(
    ("arguments", "command", "formats", "unused"),
    [
        (["encode", "--quiet", "a.pgm"], "encode", {"netpbm"}, {"mmpcodec.codec.decoder"}),
        (["decode", "-f", "--quiet", "a.mmp", "-o", "b.pgm"], "decode", {"netpbm"}, set()),
        (["info", "a.mmp"], "info", set(), {"mmpcodec.codec.encoder"}),
    ],
)
def test_commands_import_what_they_use(
    folder, samples, encoded, arguments, command, formats, unused
):
    pictures.write(samples, "a.pgm")
    if command == "encode":
        os.remove(encoded)
    modules = loaded_by_program(*arguments)
    assert not modules & (HEAVY | unused | {"mmpcodec.codec.rate_control.search"})
    assert {name.split(".")[0] for name in commands_among(modules)} == {command}
    found = {row.module for row in registry.FORMATS} & modules
    assert found == {f"mmpcodec.pictures.{name}" for name in formats}


def test_png_imports_no_other_format_of_pillow(folder, encoded):
    modules = loaded_by_program("decode", "--quiet", encoded)
    assert "PIL.PngImagePlugin" in modules
    assert not modules & {"PIL.GifImagePlugin", "PIL.JpegImagePlugin", "PIL.PpmImagePlugin"}


def test_the_version_imports_no_command():
    modules = loaded_by_program("--version")
    assert not commands_among(modules)
    assert "numpy" not in modules


@pytest.mark.parametrize(("given", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_openblas_gets_a_thread_unless_the_user_says_more(given, expected):
    show = "import atexit, os; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS'])); "
    command = [sys.executable, "-c", show + MMP, "--version"]
    output = subprocess.check_output(command, env={**ENVIRONMENT, **given}, text=True)
    assert output.splitlines()[-1] == expected


KEEPING = """
import os, sys
import numpy as np
from mmpcodec.cli.start import return_large_blocks

def resident():
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

return_large_blocks()
first = np.ones(24 << 20, np.uint8)  # from now on, glibc by itself takes 3 MB for small
del first
before = resident()
blocks = [np.ones(3 << 20, np.uint8) for _ in range(30)]
assert resident() - before > 85
del blocks[:-1]
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="is about glibc")
@pytest.mark.parametrize(
    ("given", "least", "most"), [({}, 0, 10), ({THRESHOLD: "33554432"}, 85, 95)]
)
def test_freed_memory_goes_back_to_the_system_unless_the_user_says_more(given, least, most):
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        pytest.skip("this C library has no mallopt")
    command = [sys.executable, "-c", KEEPING]
    megabytes = int(subprocess.check_output(command, env={**ENVIRONMENT, **given}))
    assert least <= megabytes <= most


def test_the_program_lets_freed_memory_go_back_before_it_works():
    program = (
        "import ctypes\n"
        "class Library:\n"
        "    def __init__(self, name): pass\n"
        "    def mallopt(self, *given): print('mallopt', *given)\n"
        "ctypes.CDLL = Library\n"
    )
    command = [sys.executable, "-c", program + MMP, "--version"]
    lines = subprocess.check_output(command, env=ENVIRONMENT, text=True).splitlines()
    assert lines[:-1] == (["mallopt -3 1048576"] if sys.platform == "linux" else [])


def test_completion_knows_commands_and_options():
    for words, found in {
        "mmp de": ["decode"],
        "mmp solve s": ["subset-sum", "select"],
        "mmp decode --reg": ["--region"],
    }.items():
        asked = {"_MMP_COMPLETE": "complete_bash", "COMP_WORDS": words}
        place = {"COMP_CWORD": str(words.count(" "))}
        output = subprocess.check_output(
            [sys.executable, "-c", MMP], env={**ENVIRONMENT, **asked, **place}, text=True
        )
        assert output.split() == found


def test_public_names():
    for name in mmpcodec.__all__:
        assert getattr(mmpcodec, name) is not None
        assert name in dir(mmpcodec)
    with pytest.raises(AttributeError, match="module 'mmpcodec' has no attribute 'encod'"):
        _ = mmpcodec.encod


def test_the_package_and_its_command_line_are_programs():
    for name in ("mmpcodec", "mmpcodec.cli"):
        command = [sys.executable, "-P", "-m", name, "--version"]
        shown = subprocess.check_output(command, env=ENVIRONMENT, text=True)
        assert shown == f"mmp {mmpcodec.__version__}\n"


def test_commands(mmp):
    for arguments in ([], ["--help"], ["-h"]):
        result = mmp(*arguments)
        assert result.exit_code == (0 if arguments else 2)
        names = ("encode", "decode", "info", "median", "budget", "pack", "solve", "doctor")
        places = [result.output.find(f" {name} ") for name in names]
        assert places[0] > 0
        assert places == sorted(places)
    assert mmp("--version").stdout == f"mmp {mmpcodec.__version__}\n"
    misspelled = mmp("encodee")
    assert misspelled.exit_code == 2
    assert "Did you mean 'encode'" in misspelled.stderr


def test_the_compiled_backend_does_without_the_table_of_logarithms():
    """Making it takes longer than coding a small picture."""
    modules = loaded_by(
        "from mmpcodec.backends.cpu import CpuBackend; import mmpcodec.codec.encoder"
    )
    assert "mmpcodec.backends.cpu" in modules
    assert "mmpcodec.reference.trees.models" not in modules
