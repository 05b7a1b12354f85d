"""The program, called in this process or as one of its own, in a folder with small pictures."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import METADATA, shade
from typer.testing import CliRunner

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.app import app
from mmpcodec.pictures import Picture

# A shell that starts the tests in the background makes them ignore SIGINT, and so their children.
START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from mmpcodec.cli.start import main; main()"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working folder of a test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def samples():
    """A 16x20 picture with an edge, a gradient and some noise."""
    rows, columns = np.indices((16, 20))
    noise = np.random.default_rng(1).integers(0, 8, (16, 20))
    return np.where(columns > 11, 200, 40 + 5 * rows).astype(np.uint8) + noise.astype(np.uint8)


@pytest.fixture
def picture(folder, samples):
    """The name of a picture file."""
    pictures.write(samples, "a.png")
    return "a.png"


@pytest.fixture
def encoded(folder, samples):
    """The name of an mmp file of ``samples``, without loss."""
    Path("a.mmp").write_bytes(mmpcodec.encode(samples, 0, preset="plain"))
    return "a.mmp"


@pytest.fixture
def mmp():
    """Runs the program in this process: ``mmp("encode", "a.png", input=b"")``."""

    def invoke(*arguments, input=None):
        return CliRunner().invoke(app, [str(a) for a in arguments], input, catch_exceptions=False)

    return invoke


@pytest.fixture
def python(folder):
    """Starts a Python that has the tested package, and gives its ``Popen``."""
    started = []

    def start(*arguments, **options):
        path = [str(Path(mmpcodec.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERM": "xterm",
            "COLUMNS": "100",
        }
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        child = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            env=environment,
            **{**pipes, **options},
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        with child:  # closes its pipes and waits
            pass


@pytest.fixture
def process(python):
    """Starts the program as a process of its own and gives its ``Popen``."""

    def start(*arguments, before="", **options):
        return python("-c", before + START, *arguments, **options)

    return start


@pytest.fixture
def run(process):
    """Runs the program as a process; gives exit code, stdout and stderr."""

    def finish(*arguments, input=b"", **options):
        child = process(*arguments, **options)
        out, errors = child.communicate(input, timeout=60)
        return child.returncode, out, (errors or b"").decode()

    return finish


@pytest.fixture
def files(folder):
    """Gives the names of all files in the working folder, hidden ones included."""
    return lambda: sorted(os.listdir(folder))


@pytest.fixture
def colours(mmp):
    """An RGB picture with metadata in c.png, and it."""
    picture = Picture(shade(3, 8), 8, METADATA)
    pictures.write(picture, "c.png")
    return picture
