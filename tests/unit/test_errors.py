"""Errors of named files: of mmpcodec and of the system at once."""

import copy
import errno
import pickle

import numpy as np
import pytest

import mmpcodec
from mmpcodec import MmpError, PictureError, pictures
from mmpcodec.errors import FileError
from mmpcodec.planning.media import check_copies, check_folder, entries_of


@pytest.mark.parametrize(
    ("system", "number"),
    [
        (FileNotFoundError, errno.ENOENT),
        (PermissionError, errno.EACCES),
        (IsADirectoryError, errno.EISDIR),
        (OSError, errno.ENOSPC),
    ],
)
@pytest.mark.parametrize("own", [PictureError, FileError])
def test_an_error_of_the_system_has_both_classes(own, system, number):
    error = own.from_os("scan.png", OSError(number, "Too bad", "elsewhere"))
    for same in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert isinstance(same, own)
        assert isinstance(same, MmpError)
        assert isinstance(same, system)
        assert (same.errno, same.strerror, same.filename) == (number, "Too bad", "scan.png")
        assert str(same) == "scan.png: Too bad"
        assert type(same).__name__ == own.__name__
    assert type(error) is type(own.from_os("other.png", OSError(number, "Too bad")))


def test_an_error_of_one_file_can_become_that_of_another():
    inner = PictureError.from_os("inner.png", OSError(errno.ENOENT, "No such file"))
    outer = FileError.from_os("outer", inner)
    assert isinstance(outer, FileNotFoundError)
    assert not isinstance(outer, PictureError)
    assert str(outer) == "outer: No such file"


def test_errors_without_number_keep_their_text():
    error = PictureError.from_os("scan.png", OSError("disk on fire"))
    assert isinstance(error, OSError)
    assert (str(error), error.errno) == ("scan.png: disk on fire", None)


def test_other_errors_of_pictures_are_none_of_the_system():
    with pytest.raises(PictureError) as caught:
        pictures.from_bytes(b"nothing")
    assert not isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    "read", [pictures.read, pictures.opened, mmpcodec.imread], ids=lambda read: read.__name__
)
def test_missing_pictures_are_not_found(read, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.png: No such file") as caught:
        read(tmp_path / "missing.png")
    assert isinstance(caught.value, PictureError)
    assert caught.value.filename == str(tmp_path / "missing.png")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


@pytest.mark.parametrize("extension", ["png", "mmp"])
def test_folders_that_do_not_exist_are_not_found(extension, tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file") as caught:
        mmpcodec.imwrite(tmp_path / "missing" / f"a.{extension}", np.zeros((4, 4), np.uint8))
    assert isinstance(caught.value, PictureError)
    assert caught.value.errno == errno.ENOENT


def test_files_to_pack(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(b"data")
    [entry] = entries_of([(str(tmp_path / "file"), "file")])
    target, folder = str(tmp_path / "file"), str(tmp_path / "empty")
    for system, works in (
        (FileNotFoundError, lambda: entries_of([(str(tmp_path / "none"), "none")])),
        (NotADirectoryError, lambda: check_copies([], target, False)),
        (NotADirectoryError, lambda: check_folder(target)),
        (
            IsADirectoryError,
            lambda: check_copies([(entry, folder)], str(tmp_path), False),
        ),
    ):
        with pytest.raises(system) as caught:
            works()
        assert isinstance(caught.value, FileError)
    other = tmp_path / "other"
    other.write_bytes(b"there")
    with pytest.raises(FileExistsError, match="other: exists; -f overwrites it"):
        check_copies([(entry, str(other))], str(tmp_path), False)
