"""Appending: the file is whole at every moment, and holds what was added afterwards."""

import io
import os

import numpy as np
import pytest
from support.files.collections_of import FILES, ICC, PICTURES, ROLES, written

import mmpcodec
from mmpcodec.errors import CorruptStream, FileError, FormatError, ParameterError, PictureWarning
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.opening.contents import read_contents, scanned

BEFORE = written(*ROLES[:2], loops=3)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "book.mmp"
    found.write_bytes(BEFORE)
    return found


def appended(path) -> bytes:
    with mmpcodec.append_to(path) as writer:
        for number in (2, 3):
            writer.add(FILES[number])
    return path.read_bytes()


def test_what_is_appended_is_found(path):
    data = appended(path)
    assert data.startswith(BEFORE)
    contents = read_contents(memoryview(data))
    assert (len(contents.pictures), contents.loops, len(contents.metadata)) == (4, 3, 1)
    assert scanned(memoryview(data), 9, []) == contents
    assert data.count(ICC) == 1
    for number in range(4):
        np.testing.assert_array_equal(mmpcodec.decode(data, page=number + 1), PICTURES[number])


def test_a_stopped_writer_leaves_the_file_as_it_was(path):
    """Killed at any byte: the old pictures open, and the next writer begins at the old end."""
    data = appended(path)
    whole = read_contents(memoryview(data))
    for end in range(len(BEFORE), len(data)):
        found = read_contents(memoryview(data[:end]))
        assert len(found.pictures) == 2
        assert found.unfinished == end - len(BEFORE)
    for end in range(len(BEFORE), len(data), 37):
        path.write_bytes(data[:end])
        assert appended(path) == data
    assert len(read_contents(memoryview(appended(path))).pictures) == len(whole.pictures) + 2


def test_readers_say_what_a_stopped_writer_left(path):
    data = appended(path)
    path.write_bytes(data[:-1])
    left = len(data) - 1 - len(BEFORE)
    with pytest.warns(PictureWarning, match=f"{left} bytes behind its index .*--allow-partial"):
        assert len(mmpcodec.open(path)) == 2
    found = mmpcodec.inspect(path.read_bytes(), decode=True, page=4, allow_partial=True)
    np.testing.assert_array_equal(found.samples, PICTURES[3])


def test_damage_behind_an_old_index_is_no_stopped_writer(path):
    data = bytearray(appended(path))
    data[-6] ^= 1  # the CRC of the index
    with pytest.raises(CorruptStream, match="CRC of the index"):
        read_contents(memoryview(data))
    data = bytearray(appended(path))[:-1]
    data[len(BEFORE)] ^= 1  # the head of a record
    with pytest.raises(FormatError):
        read_contents(memoryview(data))


def test_an_error_leaves_the_file_as_it_was(path):
    for wrong in (FILES[3][:-1], None):
        with pytest.raises((FormatError, TypeError)), mmpcodec.append_to(path) as writer:  # noqa: PT012
            writer.add(FILES[2])
            writer.add(wrong)
        assert path.read_bytes() == BEFORE
    with mmpcodec.append_to(path):
        pass
    assert path.read_bytes() == BEFORE


def test_what_cannot_be_appended_to(path, tmp_path):
    one = tmp_path / "one.mmp"
    one.write_bytes(FILES[0])
    with (
        pytest.raises(ParameterError, match="is no file of several pictures"),
        mmpcodec.append_to(one),
    ):
        pass
    path.write_bytes(BEFORE[:-1])
    with pytest.raises(FormatError), mmpcodec.append_to(path):
        pass
    assert path.read_bytes() == BEFORE[:-1]
    with pytest.raises(FileNotFoundError), mmpcodec.append_to(tmp_path / "none.mmp"):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_one_process_appends_at_a_time(path):
    with mmpcodec.append_to(path) as writer:
        child = os.fork()
        if child == 0:
            try:
                with mmpcodec.append_to(path):
                    pass
            except FileError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        writer.add(FILES[2])
    assert len(mmpcodec.open(path)) == 3


def test_loops_can_be_changed(path):
    with mmpcodec.append_to(path, loops=7):
        pass
    assert mmpcodec.open(path).loops == 7


class Pipe(io.RawIOBase):
    """A stream that can only be written."""

    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def test_a_stream_need_not_be_seekable():
    pipe = Pipe()
    writer = CollectionWriter(pipe)
    for number, file in enumerate(FILES):
        writer.add(file)
        # What is written so far opens without an index.
        assert len(scanned(memoryview(pipe.data), 9, []).entries) == number + 1
    writer.close()
    assert pipe.data == written(*[(Role.PAGE, ())] * 5)
