"""What is published: the sources build a wheel, and the wheel runs where there is no compiler."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
PROGRAM = """
import numpy as np
import mmpcodec
from mmpcodec import backends
from mmpcodec.backends import kernels

assert mmpcodec.__file__.startswith({site!r}), mmpcodec.__file__
assert backends.status()["cpu"] is None, backends.status()
assert kernels.sources()
picture = (np.arange(80 * 96).reshape(80, 96) * 7 % 251).astype(np.uint8)
for lam in (0, 20):
    data = mmpcodec.encode(picture, lam, backend="cpu")
    assert mmpcodec.encode(picture, lam, backend="cpu", threads=1) == data
    print(lam, len(data), int((mmpcodec.decode(data).astype(int) - picture).any()))
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    pytest.importorskip("build", reason="build is not installed: make test-long")
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Built from the sdist alone, and tagged by what it needs."""
    pytest.importorskip("auditwheel", reason="auditwheel is not installed: make test-long")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "raw", sdist)
    built = next((folder / "raw").glob("*.whl"))
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    repair = (sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, built)
    run(*repair, env={**os.environ, "PATH": path})
    return next(folder.glob("*.whl"))


def test_the_sdist_holds_the_sources(sdist):
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files", "mmpcodec", "kernels", "tests", "docs"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert set(tracked) - names == set()
    assert {"LICENSE", "README.md", "CMakeLists.txt", "PKG-INFO"} <= names
    assert not any(name.startswith((".ci/", "build/", ".venv/", "dist/")) for name in names)


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert "-manylinux_" in wheel.name
    sources = {
        f"mmpcodec/kernels/{path.relative_to(ROOT / 'kernels')}"
        for folder in ("cuda", "shared")
        for path in (ROOT / "kernels" / folder).iterdir()
    }
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        [information] = [name for name in names if name.endswith("dist-info/METADATA")]
        said = Parser().parsestr(packed.read(information).decode())
        points = packed.read(information.replace("METADATA", "entry_points.txt")).decode()
    assert sources <= names
    assert {"mmpcodec/py.typed", "mmpcodec/plugins/zarr.py"} <= names
    assert sum(name.startswith("mmpcodec/_cpu.") for name in names) == 1
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"mmpcodec"}
    assert not any("test" in name or name.endswith((".cpp", ".pyc")) for name in names)
    pages = {f"share/man/man1/{path.name}" for path in (ROOT / "docs" / "man").iterdir()}
    assert pages == {name.split(".data/data/")[1] for name in names if ".data/data/" in name}
    assert "arrays" in said.get_all("Provides-Extra")
    entries = ConfigParser()
    entries.read_string(points)
    assert {group: dict(entries[group]) for group in entries.sections()} == {
        "console_scripts": {"mmp": "mmpcodec.cli.start:main"},
        "numcodecs.codecs": {"mmp": "mmpcodec.plugins.numcodecs:Mmp"},
        "zarr.codecs": {"mmp": "mmpcodec.plugins.zarr:MmpCodec"},
    }


def test_the_wheel_runs_where_there_is_no_compiler(wheel, tmp_path):
    site = tmp_path / "site"
    install = ("--no-index", "--no-deps", "--target", site, wheel)
    run(sys.executable, "-m", "pip", "install", "--quiet", *install)
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(site)}
    printed = run(
        sys.executable, "-P", "-c", PROGRAM.format(site=str(site)), env=environment, cwd=tmp_path
    )
    lossless, lossy = (line.split() for line in printed.splitlines())
    assert lossless[2] == "0"
    assert 0 < int(lossy[1]) < int(lossless[1]) < 80 * 96
    help = run(sys.executable, "-P", "-m", "mmpcodec.cli", "--help", env=environment, cwd=tmp_path)
    assert "encode" in help
