"""Collections: what is written is found again, by the index and without it; damage is named."""

import contextlib
import io
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.files.collections_of import BOOK, FILES, ICC, PICTURES, ROLES, written

import mmpcodec
from mmpcodec.errors import CorruptStream, FormatError, LimitExceeded, ParameterError
from mmpcodec.format import collection
from mmpcodec.format.collection import Contents, Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import PictureBytes, contents_of, read_contents, scanned


def test_what_is_written_is_found():
    view = memoryview(BOOK)
    contents = read_contents(view)
    assert [(entry.role, entry.facts) for entry in contents.entries] == list(ROLES)
    assert [entry.of for entry in contents.entries] == [None, None, None, 1, 0]
    assert len(contents.pictures) == 3
    for entry, picture in zip(contents.entries, PICTURES, strict=True):
        np.testing.assert_array_equal(mmpcodec.decode(PictureBytes(view, contents, entry)), picture)
    for page in (1, 2, 3):
        np.testing.assert_array_equal(mmpcodec.decode(BOOK, page=page), PICTURES[page - 1])


def test_loops_are_kept():
    for loops in (0, 1, 300):
        stream = io.BytesIO()
        CollectionWriter(stream, loops=loops).close()
        assert read_contents(memoryview(stream.getvalue())).loops == loops
    with pytest.raises(ParameterError, match="loops = -1"):
        CollectionWriter(io.BytesIO(), loops=-1)


def test_equal_metadata_are_held_once():
    assert BOOK.count(ICC) == 1
    assert len(BOOK) < sum(map(len, FILES)) - 4 * len(ICC) + 5 * 40


def test_a_file_of_one_picture_has_no_more_bytes():
    assert contents_of(memoryview(FILES[0])).entries[0].size == len(FILES[0])


def test_the_page_must_be_there():
    for page in (0, 4):
        with pytest.raises(ParameterError, match=rf"page = {page}: must be 1 to 3"):
            mmpcodec.decode(BOOK, page=page)
    with pytest.raises(ParameterError, match=r"the file holds 3 pictures; .*reads one, 1 to 3"):
        mmpcodec.decode(BOOK)
    with pytest.raises(ParameterError, match="page = 2: must be 1, as the file holds 1 picture"):
        mmpcodec.decode(FILES[0], page=2)


def test_the_records_are_found_without_the_index():
    view = memoryview(BOOK)
    faults: list[FormatError] = []
    assert scanned(view, 9, faults) == read_contents(view)
    assert not faults
    index = collection.index_bytes(view, len(view))
    for end in (len(BOOK) - 1, len(BOOK) - index, len(BOOK) - index + 5):
        with pytest.raises(FormatError):
            read_contents(view[:end])
        faults = []
        assert read_contents(view[:end], faults=faults) == read_contents(view)
        assert faults[0].section == "Collections"


def test_pictures_are_appended():
    """The old index stays and is skipped."""
    stream = io.BytesIO(written(*ROLES[:2]))
    contents = read_contents(memoryview(stream.getvalue()))
    place = stream.seek(0, io.SEEK_END)
    writer = CollectionWriter(stream, contents, place)
    writer.add(FILES[2])
    writer.close()
    view = memoryview(stream.getvalue())
    assert len(read_contents(view).pictures) == 3
    assert scanned(view, 9, []) == read_contents(view)
    np.testing.assert_array_equal(mmpcodec.decode(view, page=3), PICTURES[2])


def test_the_number_of_pictures_is_limited():
    with pytest.raises(LimitExceeded, match="5 pictures, the limit is 4; max_pictures"):
        mmpcodec.decode(BOOK, page=1, limits=mmpcodec.DecodeLimits(max_pictures=4))
    with pytest.raises(LimitExceeded, match="5 pictures"):
        scanned(memoryview(BOOK), 4, [])


def test_facts_are_those_of_the_role():
    writer = CollectionWriter(io.BytesIO())
    with pytest.raises(ParameterError, match=r"facts = \(1,\): of role page are none"):
        writer.add(FILES[0], Role.PAGE, (1,))
    with pytest.raises(ParameterError, match="of role frame are duration, parts of a second"):
        writer.add(FILES[0], Role.FRAME)


def test_facts_are_checked_before_anything_is_written():
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(FILES[0])
    size = stream.tell()
    for role, facts in (
        (Role.FRAME, (1, 0)),
        (Role.FRAME, (-1, 1)),
        (Role.FRAME, (1.5, 1)),
        (Role.SLICE, (1 << 62,)),
        (Role.LEVEL, (1,)),
        ("page", ()),
    ):
        with pytest.raises(ParameterError):
            writer.add(FILES[1], role, facts)
    assert stream.tell() == size


def test_a_rendition_is_of_an_earlier_page():
    entries = [replace(one, shared=()) for one in read_contents(memoryview(BOOK)).entries]
    for wrong in (3, 4, 9):  # itself, a later one, none
        entries[3] = replace(entries[3], facts=(wrong,))
        index = collection.write_index(Contents(entries))
        with pytest.raises(CorruptStream, match="allowed is that of an earlier page"):
            collection.read_index(memoryview(index), 2000 + len(index), 9)


def test_an_empty_collection_has_no_page():
    empty = written()
    for page in (None, 1):
        with pytest.raises(ParameterError, match="the file holds no pictures"):
            mmpcodec.decode(empty, page=page)


def test_every_reader_gives_the_shared_metadata(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(BOOK)
    assert mmpcodec.inspect(BOOK, page=2).header.metadata.icc == ICC
    assert mmpcodec.pictures.read(path, page=2).metadata.icc == ICC
    with mmpcodec.pictures.MmpReader(path, page=2) as reader:
        assert reader.metadata.icc == ICC
    book = mmpcodec.open(path)
    assert [picture.metadata.icc for picture in book] == [ICC] * 3
    assert [picture.role for picture in book] == ["page", "frame", "slice"]
    assert (book[1].duration, book[2].position) == (Fraction(1, 25), -2.5)
    assert [each.role for each in book[1].renditions] == ["level"]
    np.testing.assert_array_equal(book[1].renditions[0], PICTURES[3])


def test_pictures_of_a_file_are_told_apart(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(BOOK)
    book = mmpcodec.open(path)
    assert len({picture.__dask_tokenize__() for picture in book}) == 3
    assert len({repr(picture) for picture in book}) == 3
    for picture, samples in zip(book, PICTURES, strict=False):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(picture)), samples)
    np.testing.assert_array_equal(book[1:][0], PICTURES[1])


def test_a_file_of_one_picture_is_a_sequence_of_one(tmp_path):
    path = tmp_path / "one.mmp"
    path.write_bytes(FILES[0])
    (picture,) = mmpcodec.open(path)
    assert (picture.shape, picture.metadata.icc) == ((6, 7), ICC)
    np.testing.assert_array_equal(picture[1:3], PICTURES[0][1:3])


def test_equal_texts_stay():
    texts = (("k", "x" * 100), ("a", "short"), ("k", "x" * 100))
    book = written(ROLES[0], files=[mmpcodec.encode(PICTURES[0], 0, metadata=Metadata(text=texts))])
    found = mmpcodec.inspect(book, page=1).header.metadata.text
    assert found == texts


def test_the_index_agrees_with_the_pictures(tmp_path):
    contents = read_contents(memoryview(BOOK))
    entries = [replace(contents.entries[0], width=9), *contents.entries[1:]]
    index = collection.write_index(replace(contents, entries=entries))
    (tmp_path / "book.mmp").write_bytes(BOOK[: -collection.index_bytes(BOOK, len(BOOK))] + index)
    with pytest.raises(mmpcodec.PictureError, match="the index has 9x6 pixels"):
        np.asarray(mmpcodec.open(tmp_path / "book.mmp")[0])


def test_pictures_say_what_they_share(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(written(*ROLES[:3], loops=4))
    book = mmpcodec.open(path)
    assert (book.role, book.loops, book.metadata) == ("page", 4, Metadata(icc=ICC))
    assert [part.role for part in (book[:1], book[1:2], book[2:], book[3:])] == [
        *("page", "frame", "slice", "page")
    ]
    assert book[3:].metadata == Metadata()
    path.write_bytes(mmpcodec.encode(PICTURES[0], 0, metadata=Metadata(xmp=b"x")))
    assert mmpcodec.open(path).metadata == Metadata(xmp=b"x")


def test_pictures_become_arrays_as_numpy_asks(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(BOOK)
    picture = mmpcodec.open(path)[1]
    assert np.asarray(picture, np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(picture, copy=True), PICTURES[1])
    with pytest.raises(ValueError, match="copy = False"):
        picture.__array__(copy=False)


def test_pictures_share_one_index_and_go_to_threads(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(BOOK)
    book = mmpcodec.open(path)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(np.asarray, [*book] * 5))
    for number, samples in enumerate(found):
        np.testing.assert_array_equal(samples, PICTURES[number % 3])
    again = pickle.loads(pickle.dumps(book))
    assert [picture.role for picture in again] == ["page", "frame", "slice"]
    (level,) = pickle.loads(pickle.dumps(again[1])).renditions
    np.testing.assert_array_equal(level, PICTURES[3])
    alone = pickle.loads(pickle.dumps(again[2]))
    assert alone.metadata.icc == ICC
    path.write_bytes(BOOK + b"\0")
    with pytest.raises(mmpcodec.PictureError, match="has changed"):
        np.asarray(again[2])


def test_a_pickled_picture_does_not_have_the_index(tmp_path):
    path = tmp_path / "book.mmp"
    path.write_bytes(written(*[ROLES[0]] * 500, files=FILES[:1] * 500))
    book = mmpcodec.open(path)
    assert len(pickle.dumps(book[400])) < 2000
    with pytest.raises(mmpcodec.PictureError, match="page 401"):
        pickle.loads(pickle.dumps(mmpcodec.open(path, limits=mmpcodec.DecodeLimits(3))[400]))[:]


@settings(deadline=None, max_examples=300)
@given(st.integers(0, len(BOOK) - 1), st.integers(1, 255))
def test_damage_is_an_error_or_changes_nothing(place, change):
    damaged = bytearray(BOOK)
    damaged[place] ^= change
    try:
        contents = read_contents(memoryview(damaged))
        for entry, picture in zip(contents.entries, PICTURES, strict=True):
            try:
                found = mmpcodec.decode(PictureBytes(memoryview(damaged), contents, entry))
            except FormatError:
                continue
            np.testing.assert_array_equal(found, picture)
    except FormatError:
        found = scanned(memoryview(damaged), 9, faults := [])
        assert faults or found == read_contents(memoryview(BOOK))


@settings(deadline=None, max_examples=100)
@given(st.integers(0, len(BOOK)), st.binary(max_size=300))
def test_any_bytes_after_the_head_are_an_error_or_a_collection(size, tail):
    data = memoryview(BOOK[:size] + tail)
    for read in (contents_of, lambda view: scanned(view, 100, [])):
        with contextlib.suppress(FormatError):
            read(data)
