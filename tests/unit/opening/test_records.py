"""Damaged collections: what is whole is found by the records, and what is lost is said."""

import time

import numpy as np
import pytest
from support.files.collections_of import BOOK, FILES, ICC, PAGES, PICTURES, ROLES, written

import mmpcodec
from mmpcodec.errors import FormatError, LimitExceeded
from mmpcodec.format import collection
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import PictureBytes, read_contents, scanned

WHOLE = read_contents(memoryview(BOOK))


def found_in(data: bytes) -> tuple[collection.Contents, list[FormatError]]:
    faults: list[FormatError] = []
    return scanned(memoryview(data), 9, faults), faults


def heads_of(data: bytes) -> list[int]:
    """Return where the records begin."""
    places, place = [], len(collection.HEAD)
    while place < len(data):
        places.append(place)
        record = collection.read_record(memoryview(data)[place:], place, len(data))
        place = record.body.place + record.body.size
    return places


HEADS = heads_of(BOOK)
"""Of the profile, of five pictures, of the index."""
INDEX = HEADS[-1]


def damaged(data: bytes, *places: int) -> bytes:
    found = bytearray(data)
    for place in places:
        found[place] ^= 0x55
    return bytes(found)


def test_whole_records_need_no_index():
    assert found_in(BOOK) == (WHOLE, [])


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("byte", [0, 1, 3, 6])
def test_a_picture_without_its_head_is_found(number, byte):
    """It is a page; the others keep their roles, as no index is left."""
    contents, faults = found_in(damaged(BOOK[:INDEX], HEADS[number] + byte))
    places = [entry.place for entry in WHOLE.entries]
    assert [entry.place for entry in contents.entries] == places
    expected = list(ROLES)
    expected[number - 1] = (Role.PAGE, ())
    assert [(entry.role, entry.facts) for entry in contents.entries] == expected
    shared = [(0,)] * 5
    shared[number - 1] = ()
    assert [entry.shared for entry in contents.entries] == shared
    assert f"role, facts and shared metadata of picture {number} are lost" in str(faults[-1])
    assert faults[0].offset in range(HEADS[number], HEADS[number] + 40)


@pytest.mark.parametrize("byte", [0, 1, 2, 3])
def test_metadata_without_their_head_are_found_by_their_crc(byte):
    contents, faults = found_in(damaged(BOOK[:INDEX], HEADS[0] + byte))
    assert (contents.metadata, contents.entries) == (WHOLE.metadata, WHOLE.entries)
    assert len(faults) == 1


def test_lost_metadata_are_said_and_the_pictures_stay():
    contents, faults = found_in(damaged(BOOK[:INDEX], HEADS[0], HEADS[1] - 20))
    places = [entry.place for entry in WHOLE.pictures]  # of which the others are, is in doubt
    assert [entry.place for entry in contents.entries] == places
    assert [entry.shared for entry in contents.entries] == [()] * 3
    said = "; ".join(map(str, faults))
    assert "bytes are lost; pictures behind them may have other numbers" in said
    assert said.count("number of the picture is") == 2
    for number in range(1, 4):
        assert f"metadata of picture {number} are lost" in said


def test_a_valid_index_gives_back_what_its_records_lost():
    """The old index of a file to which somebody appended."""
    stream = bytearray(damaged(BOOK, HEADS[0], HEADS[1] - 20, HEADS[3]))
    whole = collection.write_record(collection.RecordKind.PICTURE, 5) + b"12345"
    contents, _ = found_in(bytes(stream) + whole[:-1])
    assert contents.entries == WHOLE.entries


def test_bytes_that_are_missing_in_the_middle_cost_one_picture():
    """The head behind the hole lies in the body that the hole is in."""
    hole = WHOLE.entries[1].place + 20
    data = BOOK[:hole] + BOOK[hole + 7 : INDEX]
    contents, faults = found_in(data)
    assert len(contents.entries) == 5
    assert faults
    for number, (entry, picture) in enumerate(zip(contents.entries, PICTURES, strict=True)):
        source = PictureBytes(memoryview(data), contents, entry)
        if number == 1:
            with pytest.raises(FormatError, match="frame 2"):
                mmpcodec.decode(source)
        else:
            np.testing.assert_array_equal(mmpcodec.decode(source), picture)


def test_a_cut_picture_keeps_its_bytes():
    tiled = (np.arange(200 * 130).reshape(200, 130) % 256).astype(np.uint8)
    page = mmpcodec.encode(tiled, 0, tile_size=64)
    data = written((Role.PAGE, ()), (Role.PAGE, ()), files=[FILES[0], page])
    contents = read_contents(memoryview(data))
    cut = data[: contents.entries[1].place + len(page) // 2]
    found = mmpcodec.inspect(cut, decode=True, page=2, allow_partial=True)
    assert 0 < len(found.bad_tiles) < 12
    assert "bytes of a record" in "".join(map(str, found.faults))
    np.testing.assert_array_equal(found.samples[:64, :64], tiled[:64, :64])
    with pytest.raises(FormatError):
        mmpcodec.decode(cut, page=2)


def test_partial_decoding_names_what_the_index_and_the_metadata_lost():
    body = BOOK.index(ICC)
    found = mmpcodec.inspect(
        damaged(BOOK, body, len(BOOK) - 6), decode=True, page=1, allow_partial=True
    )
    np.testing.assert_array_equal(found.samples, PICTURES[0])
    assert found.header.metadata == Metadata()
    index, metadata = map(str, found.faults)
    assert "CRC of the index" in index
    assert f"at byte {WHOLE.metadata[0].place + WHOLE.metadata[0].size - 4}" in metadata
    assert "page 1: metadata CRC" in metadata


def test_a_page_of_a_cut_file_that_is_lost_is_named():
    with pytest.raises(mmpcodec.NoSuchPage, match=r"page = 5: must be 1 to 3.*; of a damaged one"):
        mmpcodec.inspect(PAGES[: HEADS[3] + 40], page=5, allow_partial=True)


def test_the_number_of_pictures_is_limited():
    with pytest.raises(LimitExceeded, match="5 pictures"):
        scanned(memoryview(damaged(PAGES, *heads_of(PAGES)[1:-1])), 4, [])


@pytest.mark.parametrize(
    "part",
    [
        b"\x01\x80\x06",
        b"\x01\xff\xff\x01\xff\x0f\x00",
        b"\x02\x01\x00",
        b"\x03\x7f\x00\x00\x00\x00\x00",
        b"\x89MMP\r\n\x1a\n",
        b"\x89MMP\r\n\x1a\n\x03\x00\x08\x07\x06\x00\x00\x00",
        bytes(3),
    ],
)
def test_the_search_ends_soon(part):
    data = collection.HEAD + b"\x01" * 5 + part * ((1 << 21) // len(part))
    start = time.process_time()
    found_in(data)
    assert time.process_time() - start < 20


@pytest.mark.parametrize("number", range(1, 6))
def test_bytes_that_were_put_into_a_record_do_not_move_the_pictures(number):
    place = HEADS[number] + 2
    data = memoryview(BOOK[:place] + b"\n\n\n" + BOOK[place:])
    faults: list[FormatError] = []
    found = read_contents(data, 9, faults)
    moved = [entry.place + 3 * (entry.place > place) for entry in WHOLE.entries]
    assert [entry.place for entry in found.entries] == moved
    assert f"{6 - number} pictures are not where the index says" in str(faults[0])
    assert found.loops == WHOLE.loops


def test_a_damaged_picture_does_not_cost_its_index():
    """The magic of a picture is damaged; the index and the records agree where it is."""
    faults: list[FormatError] = []
    place = WHOLE.entries[2].place
    assert read_contents(memoryview(damaged(BOOK, place)), 9, faults) == WHOLE
    assert not faults
