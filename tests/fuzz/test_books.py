"""Damaged files of several pictures end in a picture or an error, in little time and memory."""

import time
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest
from books import index_of
from hypothesis import given
from hypothesis import strategies as st
from support.files.collections_of import BOOK, PAGES, PICTURES

import mmpcodec
from mmpcodec.errors import FormatError, LimitExceeded, NoSuchPage
from mmpcodec.format import collection
from mmpcodec.format.collection import Contents, Extent, Role
from mmpcodec.format.numbers import number
from mmpcodec.opening.contents import read_contents, scanned

LIMITS = mmpcodec.DecodeLimits(max_samples=1 << 14, max_dimension=1 << 12, max_pictures=1000)
SIZE = collection.index_bytes(memoryview(BOOK), len(BOOK))
RECORDS = BOOK[:-SIZE]
_HEAD = collection.read_head(memoryview(BOOK)[-SIZE:], len(BOOK) - SIZE)
FIELDS = BOOK[_HEAD.body.place : -collection.END_BYTES]


def read_all(data: bytes) -> int:
    """Read the pictures of a file, whole and what is left; return how many were whole."""
    whole = 0
    for partial in (False, True):
        for page in (1, 2, 3):
            try:
                found = mmpcodec.inspect(
                    data, decode=True, page=page, limits=LIMITS, allow_partial=partial
                )
            except (FormatError, NoSuchPage):
                continue
            whole += not partial
            assert found.samples.size <= LIMITS.max_samples
    return whole


@given(st.data())
def test_indexes_with_changed_fields_and_right_checksums(draw):
    fields = bytearray(FIELDS)
    for _ in range(draw.draw(st.integers(1, 4))):
        fields[draw.draw(st.integers(0, len(fields) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(len(fields) // 2, len(fields)))
    for own in (bytes(fields), bytes(fields[:cut])):
        read_all(RECORDS + index_of(own))


@given(st.lists(st.integers(0, (1 << 62) - 1) | st.integers(0, 300), max_size=40))
def test_indexes_of_any_numbers(numbers):
    read_all(RECORDS + index_of(b"".join(map(number, numbers))))


@given(st.integers(0, len(BOOK)), st.integers(0, len(BOOK)), st.integers(0, len(BOOK)))
def test_bytes_that_are_cut_out_and_moved(first, second, third):
    first, second = sorted((first, second))
    part, rest = BOOK[first:second], BOOK[:first] + BOOK[second:]
    place = max(third % (len(rest) + 1), len(collection.HEAD))
    read_all(rest)
    read_all(rest[:place] + part + rest[place:])


@given(st.integers(0, 62), st.integers(0, 62), st.integers(0, 62))
def test_records_of_any_size(kind, size, fields):
    """Their CRC is right; only those of the file's own bytes are read."""
    head = b"".join(map(number, (1 << kind >> 1, 1 << size >> 1, min(1 << fields >> 1, 2048))))
    head += bytes(min(1 << fields >> 1, 2048))
    head += zlib.crc32(head).to_bytes(4, "big")
    start = time.process_time()
    read_all(collection.HEAD + head + RECORDS[10:])
    assert time.process_time() - start < 5


def entry(**values):
    return replace(read_contents(memoryview(PAGES)).entries[0], **values)


@pytest.mark.parametrize(
    "contents",
    [
        Contents([entry(place=10, size=1 << 40)]),
        Contents([entry(width=1 << 24, height=1 << 24)]),
        Contents([entry()], [Extent(10, 1 << 50)]),
        Contents([entry(), entry(role=Role.LEVEL, facts=(1,), place=1 << 20)]),
        Contents([entry(role=Role.FRAME, facts=((1 << 62) - 1, 1))], loops=(1 << 62) - 1),
    ],
    ids=["size", "sides", "metadata", "circle", "durations"],
)
def test_absurd_contents_take_little_memory(contents):
    size = collection.index_bytes(memoryview(PAGES), len(PAGES))
    data = PAGES[:-size] + collection.write_index(contents)
    read_all(data)
    tracemalloc.start()
    read_all(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


def test_pictures_may_lie_over_each_other_only_in_order():
    """Places count from the end of the body before, so that bodies cannot share bytes."""
    first = entry(shared=())
    both = Contents([first, entry(shared=(), place=first.place + first.size)])
    index = collection.write_index(both)
    found = collection.read_index(memoryview(index), 5000, 9)
    ends = [one.place + one.size for one in found.entries]
    assert found.entries[1].place >= ends[0]


def test_the_number_of_pictures_is_checked_before_they_are_read():
    fields = b"\0\0" + number(2000) + bytes(3 * 2000)
    start = time.process_time()
    with pytest.raises(LimitExceeded, match="2000 pictures, the limit is 1000"):
        mmpcodec.decode(RECORDS + index_of(fields), page=1, limits=LIMITS)
    assert time.process_time() - start < 1


def test_an_index_in_the_middle_is_skipped():
    """Even one that is valid and has fewer pictures than the records."""
    other = collection.write_index(Contents())
    middle = RECORDS[: _offset_of(2)] + other + RECORDS[_offset_of(2) :]
    faults: list[FormatError] = []
    found = scanned(memoryview(middle), 100, faults)
    assert (len(found.entries), faults) == (5, [])


def _offset_of(number: int) -> int:
    """Return where the record of a picture begins, counted from 0."""
    entries = read_contents(memoryview(BOOK)).entries
    before = entries[number - 1]
    return before.place + before.size


def test_a_stranger_among_the_records_costs_nothing():
    unknown = bytearray(collection.write_record(collection.RecordKind.METADATA, 3))
    unknown = number(77) + number(3) + number(0)
    unknown += zlib.crc32(unknown).to_bytes(4, "big") + b"abc"
    place = _offset_of(1)
    data = RECORDS[:place] + unknown + RECORDS[place:]
    found = scanned(memoryview(data), 100, faults := [])
    assert (len(found.entries), faults) == (5, [])
    for page in (1, 2, 3):
        samples = mmpcodec.inspect(data, decode=True, page=page, allow_partial=True).samples
        np.testing.assert_array_equal(samples, PICTURES[page - 1])
