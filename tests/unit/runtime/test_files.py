"""Files that are read by offset, and files that appear whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mmpcodec
from mmpcodec.errors import TruncatedStream
from mmpcodec.runtime import files
from mmpcodec.runtime.files import FileBytes, placed_whole, written_whole

posix = pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(scope="module")
def alphabet(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "alphabet"
    path.write_bytes(bytes(range(97, 123)))
    return path


@given(st.integers(-30, 30) | st.none(), st.integers(-30, 30) | st.none())
def test_slices_are_those_of_bytes(alphabet, start, stop):
    with alphabet.open("rb") as stream:
        found = FileBytes(stream)
    with found:
        assert found[start:stop] == alphabet.read_bytes()[start:stop]
        assert len(found) == 26


def test_a_shorter_file_gives_shorter_slices(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(100_000))
    with path.open("rb") as stream, FileBytes(stream) as found:
        os.truncate(path, 50_000)
        assert len(found) == 100_000
        assert len(found[49_990:50_010]) == 10
        assert len(found[60_000:70_000]) == 0


def test_a_pipe_has_no_bytes_at_offsets():
    reading, writing = os.pipe()
    os.close(writing)
    with open(reading, "rb") as stream, pytest.raises(OSError, match="Illegal seek"):
        FileBytes(stream)


@pytest.mark.parametrize("tile_size", [0, 64])
def test_a_file_that_shrinks_while_it_is_decoded(tmp_path, tile_size):
    samples = np.arange(128 * 192).reshape(128, 192).astype(np.uint8)
    data = mmpcodec.encode(samples, lam=0, preset="plain", tile_size=tile_size)
    path = tmp_path / "a.mmp"
    path.write_bytes(data)
    with path.open("rb") as stream, FileBytes(stream) as found:
        assert np.array_equal(mmpcodec.decode(found), samples)
        os.truncate(path, len(data) - 1)
        with pytest.raises(TruncatedStream, match=f"file has {len(data) - 1} of {len(data)} bytes"):
            mmpcodec.decode(found)


def test_a_region_reads_the_header_and_its_tiles_only(tmp_path):
    samples = np.random.default_rng(1).integers(0, 256, (256, 512), np.uint8)
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(samples, lam=0, preset="plain", tile_size=128))
    read = []

    class Counted(FileBytes):
        def __getitem__(self, part):
            found = super().__getitem__(part)
            read.append(len(found))
            return found

    with path.open("rb") as stream, Counted(stream) as data:
        decoded = mmpcodec.decode(data, region=(130, 140, 50, 60))
        assert np.array_equal(decoded, samples[140:200, 130:180])
        tile = mmpcodec.inspect(data).header.tile_bytes[5]
    assert read[:2] == [1 << 16, tile]
    assert os.path.getsize(path) > 1 << 17


@posix
def test_a_new_file_has_the_rights_that_the_user_gives_to_files(tmp_path):
    old = os.umask(0o027)
    try:
        with written_whole(tmp_path / "new") as stream:
            stream.write(b"new")
    finally:
        os.umask(old)
    assert mode_of(tmp_path / "new") == 0o640


@posix
@pytest.mark.parametrize("mode", [0o600, 0o604, 0o660])
@pytest.mark.parametrize("named", [False, True])
def test_a_replaced_file_keeps_its_rights_while_it_is_written(tmp_path, monkeypatch, mode, named):
    if named:
        monkeypatch.setattr(files, "_nameless", lambda *_: None)
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chmod(path, mode)
    with written_whole(path) as stream:
        stream.write(b"new")
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600
        assert path.read_bytes() == b"old"
    assert mode_of(path) == mode
    os.chmod(path, 0o600)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["old"]


@posix
def test_rights_of_a_group_that_the_file_cannot_have_are_dropped(tmp_path, monkeypatch):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chmod(path, 0o664)
    real = os.stat

    def of_another_group(name, **more):
        found = real(name, **more)
        if os.fspath(name) != os.fspath(path):
            return found
        return os.stat_result((*found[:5], found.st_gid + 1, *found[6:]))

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(files.os, "stat", of_another_group)
    monkeypatch.setattr(files.os, "fchown", refuse)
    with written_whole(path) as stream:
        stream.write(b"new")
    monkeypatch.undo()
    assert mode_of(path) == 0o644


ACL = "system.posix_acl_access"
# Version 2; owner rw, user 1 r, group none, mask r, others none. Each entry: tag, rights, id.
NAMED_USER = bytes.fromhex(
    "02000000 01000600ffffffff 0200040001000000 04000000ffffffff 10000400ffffffff 20000000ffffffff"
)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs access control lists")
def test_a_replaced_file_keeps_its_access_control_list(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, ACL, NAMED_USER)
    except OSError as error:
        pytest.skip(f"the file system has no access control lists: {error.strerror}")
    with written_whole(path) as stream:
        stream.write(b"new")
    assert os.getxattr(path, ACL) == NAMED_USER
    assert mode_of(path) == 0o640


@posix
def test_a_file_that_nobody_may_write_is_kept(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chmod(path, 0o444)
    with pytest.raises(PermissionError, match="is read-only"), written_whole(path) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"]


@posix
def test_no_output_runs_as_its_owner(tmp_path):
    """Whoever can have a program of theirs overwritten gets no file that runs as another user."""
    path = tmp_path / "old"
    path.write_bytes(b"old")
    os.chmod(path, 0o6755)
    with written_whole(path) as stream:
        stream.write(b"new")
    assert mode_of(path) == 0o755


@pytest.mark.parametrize("way", ["nameless", "links", "no links"])
def test_one_of_two_writers_gets_the_name(tmp_path, monkeypatch, way):
    """Both have looked before, and found no file."""
    if way != "nameless":
        monkeypatch.setattr(files, "_nameless", lambda *_: None)
    if way == "no links":
        monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    monkeypatch.setattr(os.path, "exists", lambda path: str(path).startswith("/proc"))
    path = tmp_path / "new"

    def write_both():
        with written_whole(path, overwrite=False) as second:
            second.write(b"second")
            with written_whole(path, overwrite=False) as first:
                first.write(b"first")

    with pytest.raises(FileExistsError, match="new"):
        write_both()
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["new"]


def test_one_of_two_stores_gets_the_name(tmp_path, monkeypatch):
    path = tmp_path / "new.zarr"

    def write(name):
        with placed_whole(str(path), overwrite=False) as part:
            os.mkdir(part)
            Path(part, name).touch()
            if name == "second":
                write("first")
                monkeypatch.setattr(os.path, "lexists", lambda path: False)

    with pytest.raises(FileExistsError):
        write("second")
    assert os.listdir(path) == ["first"]
    assert os.listdir(tmp_path) == ["new.zarr"]


def test_durable_files(tmp_path, monkeypatch):
    synced = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), sync(fd)))
    (tmp_path / "a.zarr").mkdir()
    names = ["", "a.mmp", "a.zarr", "a.zarr/c"]
    for name in names[1::2]:
        (tmp_path / name).write_bytes(b"data")
    files.make_durable(str(tmp_path / "a.mmp"))
    files.make_durable(str(tmp_path / "a.zarr"))
    assert set(synced) == {os.stat(tmp_path / name).st_ino for name in names}


def test_an_existing_file_is_kept_if_it_must_be(tmp_path):
    path = tmp_path / "late"
    with pytest.raises(FileExistsError, match="late"), written_whole(path, overwrite=False):
        path.write_bytes(b"mine")
    assert path.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["late"]


@pytest.mark.parametrize("named", [False, True])
def test_an_error_leaves_nothing(tmp_path, monkeypatch, named):
    if named:
        monkeypatch.setattr(files, "_nameless", lambda *_: None)

    def write_half():
        with written_whole(tmp_path / "new") as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert os.listdir(tmp_path) == []


KILLED = """
import os, signal, sys
from mmpcodec.runtime.files import written_whole
with written_whole(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_a_killed_process_leaves_nothing(tmp_path):
    if (fd := files._nameless(str(tmp_path), 0o600)) is None:
        pytest.skip("the system has no files without a name")
    os.close(fd)
    command = [sys.executable, "-P", "-c", KILLED, tmp_path / "new"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert list(Path(tmp_path).iterdir()) == []


HOLDER = """
import sys
from mmpcodec.runtime.files import lock
with open(sys.argv[1], "ab") as stream:
    print(lock(stream, 7, wait=False), flush=True)
    sys.stdin.read()
"""


def test_locks_hold_against_other_processes(tmp_path):
    path = tmp_path / "claims"
    command = [sys.executable, "-P", "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        with open(path, "ab") as stream:
            assert not files.lock(stream, 7, wait=False)
            assert files.lock(stream, 8, wait=False)
        holder.kill()
    with open(path, "ab") as stream:
        assert files.lock(stream, 7, wait=False)
        assert files.lock(stream, 8)
    assert path.read_bytes() == b""
