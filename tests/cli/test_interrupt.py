"""Ctrl-C and SIGTERM: the program says so in one line, and leaves nothing half-written."""

import signal
import time

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def large():
    """Names of two pictures that take the reference backend many seconds."""
    noise = np.random.default_rng(3).integers(0, 256, (2, 160, 160)).astype(np.uint8)
    for name, samples in zip(("a.png", "b.png"), noise, strict=True):
        pictures.write(samples, name)
    return ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("number", "code", "word", "jobs"),
    [(signal.SIGINT, 130, b"interrupted", 1), (signal.SIGTERM, 143, b"terminated", 2)],
)
def test_signal_while_encoding(process, large, files, jobs, number, code, word):
    child = process(
        "encode", *large, "-v", "--preset", "plain", "--backend", "reference", "-l", 1, "-j", jobs
    )
    assert child.stderr.readline().startswith(b"mmp: backend reference")
    assert child.stderr.readline().startswith(b"mmp: lambda 1,")
    time.sleep(0.3)
    child.send_signal(number)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (code, b"", b"mmp: " + word + b"\n")
    assert files() == large


def test_interrupt_while_waiting_for_input(process, files):
    child = process("encode", "-", "-o", "a.mmp", "-v", "--preset", "plain")
    child.stderr.readline()
    child.stderr.readline()
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    assert child.stderr.read() == b"mmp: interrupted\n"
    assert files() == []


def test_interrupt_keeps_what_is_finished_and_what_was_there(process, large, samples, files):
    pictures.write(samples, "first.png")
    with open("b.mmp", "wb") as stream:
        stream.write(b"old")
    child = process("encode", "first.png", "b.png", "-f", "--backend", "reference", "-l", 1)
    assert child.stdout.readline().startswith(b"first.png -> first.mmp: ")
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    assert files() == ["a.png", "b.mmp", "b.png", "first.mmp", "first.png"]
    with open("b.mmp", "rb") as stream:
        assert stream.read() == b"old"


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")],
)
@pytest.mark.parametrize("where", ["typer", "mmpcodec.cli.exits", "mmpcodec.cli.commands.doctor"])
def test_signal_while_the_program_starts(process, where, number, code, word):
    # The signal comes when a module is looked for.
    before = (
        "import os, sys\n"
        "class Finder:\n"
        "    @staticmethod\n"
        "    def find_spec(name, *_):\n"
        f"        if name == {where!r}: os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Finder)\n"
    )
    child = process("doctor", before=before)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (code, b"", b"mmp: " + word + b"\n")


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")],
)
def test_signal_while_a_store_is_written(process, files, number, code, word):
    pytest.importorskip("zarr", reason="needs zarr, of the extra arrays")
    with open("a.mmp", "wb") as stream:
        stream.write(mmpcodec.encode(np.eye(200, dtype=np.uint8), 0, tile_size=64))
    # The signal comes when zarr's own thread writes the first chunk, which takes some time.
    before = (
        "import asyncio, os\n"
        "from zarr.storage import LocalStore\n"
        "write, sent = LocalStore.set, []\n"
        "async def slowly(self, key, value):\n"
        "    if '/c/' in key:\n"
        f"        if not sent: os.kill(os.getpid(), {int(number)})\n"
        "        sent.append(key)\n"
        "        await asyncio.sleep(0.3)\n"
        "    await write(self, key, value)\n"
        "LocalStore.set = slowly\n"
    )
    child = process("decode", "a.mmp", "-o", "a.zarr", before=before)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (code, b"", b"mmp: " + word + b"\n")
    assert files() == ["a.mmp"]
