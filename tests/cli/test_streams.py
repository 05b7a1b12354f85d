"""Standard input, output and error: pipes, terminals, and readers that go away."""

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def terminal():
    """A pseudo terminal: the file descriptor to give away, and a function that reads it."""
    ours, theirs = pty.openpty()

    def read():
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # all who could write are gone
                part = b""
            if not part:
                return shown.decode()
            shown += part

    yield theirs, read
    os.close(ours)


def test_pipe_through_both(mmp, picture, samples):
    coded = mmp("encode", "-", "-l", 0, input=Path(picture).read_bytes())
    assert coded.exit_code == 0
    assert coded.stdout_bytes == mmpcodec.encode(samples, 0)
    assert coded.stderr.startswith("stdin -> stdout: 20x16, ")
    decoded = mmp("decode", "-", "--format", "pgm", input=coded.stdout_bytes)
    assert decoded.stdout_bytes == pictures.to_bytes(samples, "pgm")
    assert decoded.stderr.startswith("stdin -> stdout: 20x16, ")


@pytest.mark.parametrize("format", sorted({*pictures.FORMATS} - {"ppm", "pbm"}))
def test_every_format_goes_through_a_real_pipe(run, encoded, samples, format):
    code, out, errors = run("decode", encoded, "-o", "-", "--format", format, "--quiet")
    assert (code, errors) == (0, "")
    if format == "dcm":  # says more of its origin
        np.testing.assert_array_equal(pictures.from_bytes(out).samples, samples)
    else:
        assert out == pictures.to_bytes(samples, format)
    if format == "npy":
        np.testing.assert_array_equal(np.load(io.BytesIO(out)), samples)


def test_stdin_to_a_file_and_a_file_to_stdout(mmp, picture, samples):
    assert mmp("encode", "-", "-o", "b.mmp", input=Path(picture).read_bytes()).exit_code == 0
    assert Path("b.mmp").read_bytes() == mmpcodec.encode(samples)
    assert mmp("encode", picture, "-o", "-").stdout_bytes == mmpcodec.encode(samples)
    assert mmp("decode", "b.mmp", "-o", "-").stdout_bytes[:4] == b"\x89PNG"


def test_json_of_a_picture_on_stdout_is_on_stderr(mmp, picture):
    result = mmp("encode", picture, "-o", "-", "--json")
    assert json.loads(result.stderr)["output"] == "-"
    assert result.stdout_bytes[:4] == b"\x89MMP"


def test_info_of_stdin(mmp, encoded):
    result = mmp("info", "-", "--header-only", input=Path(encoded).read_bytes())
    assert result.stdout.startswith("stdin:\n  picture  20x16")


def test_bad_stdin_is_named(mmp):
    result = mmp("decode", "-", input=b"what")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "mmp: stdin: is not an mmp file; Container at byte 0: magic is "
    )
    assert mmp("encode", "-", input=b"").stderr == "mmp: stdin: is empty\n"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_nothing_binary_goes_to_a_terminal(run, picture, terminal, name):
    theirs, read = terminal
    code, _, errors = run("encode", picture, "-o", name, stdout=theirs)
    assert code == (2 if name == "-" else 1)
    subject = "stdout" if name == "-" else name
    assert errors == (
        f"mmp: {subject}: is a terminal, and binary data would garble it; "
        "redirect it or use -o FILE\n"
    )
    assert read() == ""


def test_progress_is_shown_on_a_terminal(run, picture, terminal):
    theirs, read = terminal
    code, out, _ = run("encode", picture, stderr=theirs)
    assert code == 0
    assert out.startswith(b"a.png -> a.mmp: ")
    shown = read()
    assert "a.png" in shown
    assert "\x1b[" in shown


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_progress_is_not_shown_when_nobody_wants_it(run, picture, terminal, option):
    theirs, read = terminal
    assert run("encode", picture, option, stderr=theirs)[0] == 0
    assert read() == ""


def test_progress_is_not_shown_in_a_pipe(run, picture):
    assert run("encode", picture)[2] == ""


def test_reader_of_text_goes_away(process, encoded):
    child = process("info", encoded)
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait(60) == 1


def test_reader_of_a_picture_goes_away(process, encoded):
    child = process("decode", encoded, "-o", "-")
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait(60) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["info"], ["decode", "-o", "-"], ["decode", "-f"]])
def test_stdout_is_full(run, encoded, arguments):
    with open("/dev/full", "wb") as full:
        code, _, errors = run(*arguments, encoded, stdout=full)
    assert (code, errors) == (1, "mmp: stdout: No space left on device\n")


def test_names_that_are_not_text(run, samples):
    name = b"\xff\xfe.png"
    Path(os.fsdecode(name)).write_bytes(pictures.to_bytes(samples, "png"))
    code, out, errors = run("encode", os.fsdecode(name))
    assert (code, errors) == (0, "")
    assert out.startswith(rb"\udcff\udcfe.png -> \udcff\udcfe.mmp: 20x16")


def test_python_m_is_the_program(picture):
    finished = subprocess.run(
        [sys.executable, "-m", "mmpcodec.cli", "--version"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(mmpcodec.__file__).parents[1])},
    )
    assert finished.stdout.decode() == f"mmp {mmpcodec.__version__}\n"


@pytest.mark.parametrize(
    ("redirection", "says"),
    [("- -o out.mmp <&-", "mmp: stdin: is closed\n"), ("{} -o - >&-", "mmp: stdout: is closed\n")],
)
def test_closed_streams_are_named(picture, redirection, says, files):
    program = f"{sys.executable} -P -m mmpcodec.cli encode {redirection.format(picture)}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, says)
    assert files() == [picture]


@pytest.mark.parametrize(
    ("command", "closed"),
    [
        *(("encode a.png -v -o out.mmp", each) for each in ("2>&-", "<&- >&- 2>&-", "2>/dev/full")),
        *(("median a.png -r 1 -o o.png", each) for each in (">&-", "<&- >&- 2>&-")),
        *(("info a.mmp", each) for each in ("2>&-", ">&- 2>&-")),
    ],
)
def test_work_is_done_without_standard_streams(picture, encoded, closed, command):
    """Daemons and windows without a console start programs so."""
    program = f"{sys.executable} -P -m mmpcodec.cli {command} {closed}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == "" or "2>" not in closed
    if command.startswith("encode"):
        assert mmpcodec.decode(Path("out.mmp").read_bytes()).shape == (16, 20)
    elif command.startswith("median"):
        assert pictures.read("o.png").samples.shape == (16, 20)
    elif ">&-" not in closed.replace("2>&-", ""):
        assert "20x16" in done.stdout


def test_errors_with_closed_standard_error(folder):
    """An opened file never gets the number of a closed stream, so no message goes into it."""
    program = f"{sys.executable} -P -m mmpcodec.cli encode missing.png 2>&-"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_library_without_standard_error(monkeypatch, capsys):
    """``print(file=None)`` would print to standard output."""
    from mmpcodec.cli.exits import show_error
    from mmpcodec.cli.printing import Printer

    monkeypatch.setattr(sys, "stderr", None)
    assert not Printer().shows_progress
    Printer().note("remark")
    show_error("fault")
    assert capsys.readouterr().out == ""
