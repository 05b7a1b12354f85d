"""Outputs: nothing is overwritten unasked, nothing is left half-written."""

import errno
import io
import os
import stat
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli import output
from mmpcodec.cli.cluster.manifest import Manifest
from mmpcodec.cli.exits import ExitCode, exit_code_of
from mmpcodec.errors import FileError
from mmpcodec.runtime import files as files_module


def test_refuses_to_overwrite_before_the_work(mmp, picture, monkeypatch, files):
    Path("a.mmp").write_bytes(b"mine")
    with monkeypatch.context() as patch:
        patch.setattr(mmpcodec, "encode_pictures", None)  # any work would fail
        result = mmp("encode", picture)
    assert (result.exit_code, result.stderr) == (1, "mmp: a.mmp: exists; -f overwrites it\n")
    assert Path("a.mmp").read_bytes() == b"mine"
    assert mmp("encode", picture, "-f").exit_code == 0
    assert Path("a.mmp").read_bytes()[:4] == b"\x89MMP"
    assert files() == ["a.mmp", "a.png"]


def test_one_that_exists_does_not_stop_the_others(mmp, picture, samples, files):
    pictures.write(samples, "b.png")
    Path("b.mmp").write_bytes(b"mine")
    result = mmp("encode", "b.png", "a.png", "--quiet")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "mmp: b.mmp: exists; -f overwrites it",
        "mmp: 1 of 2 inputs failed",
    ]
    assert files() == ["a.mmp", "a.png", "b.mmp", "b.png"]
    assert Path("b.mmp").read_bytes() == b"mine"


def no_memory(*arguments, **options):
    raise MemoryError


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "a.png", "a.png"),
        ("thumbnail", "a.png", "b.png", 64),
        ("budget", "a.png", "--total", "1MB", "-O", "out"),
    ],
)
def test_an_input_that_memory_does_not_hold_is_named(mmp, picture, monkeypatch, command):
    monkeypatch.setattr(output, "open", no_memory, raising=False)
    monkeypatch.setattr(Path, "read_bytes", no_memory)
    result = mmp(*command)
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: a.png: not enough memory\n")


def test_a_lack_of_memory_elsewhere_is_an_error_line(capsys):
    assert exit_code_of(no_memory) == ExitCode.FAILED
    assert capsys.readouterr().err == "mmp: not enough memory\n"


def test_a_file_that_appears_meanwhile_is_kept(folder, files):
    Path("a.mmp").write_bytes(b"mine")
    with pytest.raises(FileError, match=r"^a\.mmp: exists since a moment ago; -f overwrites it$"):
        output.write("a.mmp", b"new", force=False)
    assert Path("a.mmp").read_bytes() == b"mine"
    assert files() == ["a.mmp"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.png", "-o", "a.png"], "a.png: is an input, and would be overwritten"),
        (
            ["a.png", "-o", "./sub/../a.png"],
            "./sub/../a.png: is an input, and would be overwritten",
        ),
        (
            ["a.png", "b.png", "-o", "c.mmp"],
            "-o c.mmp: is one output for 2 inputs; use -O DIR, or --together for one file of all",
        ),
        (["a.png", "-o", "c.mmp", "-O", "sub"], "-o and -O: give only one of them"),
        (
            ["a.png", "a.pgm"],
            "a.png: its output a.mmp is also that of a.pgm; --append-suffix gives each its own",
        ),
        (
            ["a.png", "x/a.png", "-O", "sub"],
            "a.png: its output sub/a.mmp is also that of x/a.png; name them in two runs",
        ),
        (["a.png", "a.mmp"], "a.mmp: is an input, and would be overwritten"),
        (["-", "-O", "sub"], "stdin has no name to use with -O; use -o OUT"),
        (["-", "-"], "stdin: comes twice, and can be read only once"),
    ],
)
def test_contradictions_are_wrong_use(mmp, picture, arguments, message, files):
    Path("sub").mkdir()
    result = mmp("encode", *arguments, "-f")
    assert (result.exit_code, result.stderr) == (2, f"mmp: {message}\n")
    assert files() == ["a.png", "sub"]
    assert os.listdir("sub") == []


def test_output_over_a_link_to_the_input_is_refused(mmp, picture):
    os.symlink("a.png", "link.mmp")
    result = mmp("encode", "a.png", "-o", "link.mmp", "-f")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: link.mmp: is an input, and would be overwritten\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "no/a.mmp"], "no: is no such folder"),
        (["-o", "a.png/a.mmp"], "a.png: is not a folder"),
        (["-O", "a.png"], "a.png: is not a folder"),
        (["-o", "sub"], "sub: is a folder; name a file"),
    ],
)
def test_bad_folders_are_found_before_the_work(mmp, picture, monkeypatch, arguments, message):
    Path("sub").mkdir()
    monkeypatch.setattr(mmpcodec, "encode_pictures", None)
    result = mmp("encode", picture, *arguments, "-f")
    assert (result.exit_code, result.stderr) == (1, f"mmp: {message}\n")


def test_unwritable_folder(mmp, picture, monkeypatch):
    Path("sub").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    Path("sub/a.mmp").touch()
    for arguments in (["-o", "sub/b.mmp"], ["-O", "sub", "-f"]):
        result = mmp("encode", picture, *arguments)
        assert (result.exit_code, result.stderr) == (1, "mmp: sub: is not writable\n")


def test_folder_that_refuses_at_the_end(mmp, picture, monkeypatch, files):
    def refuse(source, target, **more):
        raise PermissionError(errno.EACCES, "Permission denied", target)

    monkeypatch.setattr(os, "link", refuse)
    result = mmp("encode", picture)
    assert (result.exit_code, result.stderr) == (1, "mmp: a.mmp: Permission denied\n")
    assert files() == ["a.png"]


def test_name_that_is_too_long(mmp, picture, files):
    name = "n" * 300 + ".mmp"
    result = mmp("encode", picture, "-o", name)
    assert (result.exit_code, result.stderr) == (1, f"mmp: {name}: File name too long\n")
    assert files() == ["a.png"]


def test_long_names_that_fit(mmp, picture, files):
    name = "n" * 251 + ".mmp"
    assert mmp("encode", picture, "-o", name).exit_code == 0
    assert files() == ["a.png", name]


def test_full_disk(mmp, picture, monkeypatch, files):
    class FullDisk(io.FileIO):
        def write(self, data):
            super().write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    def open_on_full_disk(file, mode, **more):
        return FullDisk(file, mode) if mode == "w+b" else open(file, mode, **more)

    monkeypatch.setattr(files_module, "open", open_on_full_disk, raising=False)
    result = mmp("encode", picture)
    assert (result.exit_code, result.stderr) == (1, "mmp: a.mmp: No space left on device\n")
    assert files() == ["a.png"]


def test_the_system_stops_a_write_half_way(run, picture, files):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)); "
    code, out, errors = run("encode", picture, before=limit)
    assert (code, out, errors) == (1, b"", "mmp: a.mmp: File too large\n")
    assert files() == ["a.png"]


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, SystemExit])
def test_interrupted_between_writing_and_renaming(folder, monkeypatch, trouble, files):
    def interrupt(source, target, **more):
        assert Path(source).read_bytes() == b"new"
        raise trouble

    monkeypatch.setattr(os, "link", interrupt)
    with pytest.raises(trouble):
        output.write("a.mmp", b"new", force=False)
    assert files() == []
    monkeypatch.undo()
    os.chdir(folder)
    Path("a.mmp").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(trouble):
        output.write("a.mmp", b"new", force=True)
    assert files() == ["a.mmp"]
    assert Path("a.mmp").read_bytes() == b"old"


def test_permissions_are_those_of_any_new_file(mmp, picture):
    old = os.umask(0o027)
    try:
        mmp("encode", picture)
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat("a.mmp").st_mode) == 0o640


def test_permissions_of_an_overwritten_file_stay(mmp, picture):
    Path("a.mmp").touch()
    os.chmod("a.mmp", 0o604)
    assert mmp("encode", picture, "-f").exit_code == 0
    assert stat.S_IMODE(os.stat("a.mmp").st_mode) == 0o604


def test_a_link_stays_a_link(mmp, picture, files):
    Path("sub").mkdir()
    Path("sub/real.mmp").write_bytes(b"old")
    os.symlink("sub/real.mmp", "link.mmp")
    assert mmp("encode", picture, "-o", "link.mmp", "-f").exit_code == 0
    assert os.path.islink("link.mmp")
    assert Path("sub/real.mmp").read_bytes()[:4] == b"\x89MMP"
    assert os.listdir("sub") == ["real.mmp"]
    assert files() == ["a.png", "link.mmp", "sub"]


def test_a_device_stays_a_device(mmp, encoded):
    result = mmp("decode", encoded, "-o", "/dev/null", "--format", "pgm")
    assert result.exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device(mmp, picture):
    result = mmp("encode", picture, "-o", "/dev/full")
    assert (result.exit_code, result.stderr) == (1, "mmp: /dev/full: No space left on device\n")


def test_a_read_only_output_is_kept(mmp, picture):
    Path("a.mmp").write_bytes(b"mine")
    os.chmod("a.mmp", 0o444)
    result = mmp("encode", picture, "-f")
    assert (result.exit_code, result.stderr) == (
        1,
        "mmp: a.mmp: is read-only; chmod u+w lets -f overwrite it\n",
    )
    assert Path("a.mmp").read_bytes() == b"mine"


def test_a_manifest_calls_no_file_done_that_a_power_cut_could_lose(mmp, picture, monkeypatch):
    steps = []
    sync, write = os.fsync, Manifest.end

    def end(self, job, record, fault):
        steps.append("done")
        write(self, job, record, fault)

    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append(os.fstat(fd).st_ino), sync(fd)))
    monkeypatch.setattr(Manifest, "end", end)
    assert mmp("encode", picture, "--manifest", "m.jsonl").exit_code == 0
    assert steps == [os.stat("a.mmp").st_ino, os.stat(".").st_ino, "done"]
