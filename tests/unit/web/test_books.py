"""Pictures of collections as pages show them: files of their own, without what is not shown."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.books import collection_of
from support.strategies import text_like

import mmpcodec
from mmpcodec.errors import FormatError, PictureError
from mmpcodec.format.collection import Extent, Role
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.opening.contents import Window
from mmpcodec.web.books import JoinedBytes, book_of, without_dicom
from mmpcodec.web.facts import facts_of
from mmpcodec.web.pages import PageEntry, page

CALIBRATION = Calibration(1.0, -1024.0, "HU", (-160.0, 240.0)).text()
METADATA = Metadata(
    icc=bytes(300),
    exif=b"MM\0*" + bytes(100),
    resolution=Resolution(Fraction(20), Fraction(10), "centimetre"),
    text=(("Patient", "Somebody " * 20), CALIBRATION),
    white=4000,
)
SLICES = np.random.default_rng(2).integers(0, 4096, (3, 70, 80)).astype(np.uint16)
FILES = [
    mmpcodec.encode(each, 0, preset="lossless", depth=12, metadata=METADATA, tile_size=64)
    for each in SLICES
]
DATA = collection_of(FILES, Role.SLICE, [(k * 2_500_000,) for k in range(3)])


def test_a_file_of_each_picture():
    book = book_of(memoryview(DATA), "ct.mmp")
    for number, samples in enumerate(SLICES):
        file = book.file(number)
        data = bytes(file[:])
        assert len(file) == len(data)
        np.testing.assert_array_equal(mmpcodec.decode(data), samples)
        header = mmpcodec.inspect(data).header
        assert header.metadata == Metadata(
            exif=METADATA.exif,
            resolution=METADATA.resolution,
            text=(CALIBRATION,),
            white=4000,
        )
        assert b"Somebody" not in data


def test_files_of_pages_that_continue_others_decode_alone():
    letters = text_like(np.random.default_rng(0), 90, 120) < 100
    pages = [letters, letters[:, ::-1], letters[::-1], letters[:80, 9:]]
    metadata = Metadata(resolution=Resolution(Fraction(300), Fraction(300), "inch"))
    data = mmpcodec.encode(pages, effort=1, chain_pages=8, metadata=metadata)
    book = book_of(memoryview(data), "a.mmp")
    assert [entry.continues for entry in book.contents.entries] == [None, 0, 1, 2]
    for number in (3, 1, 2, 0, 3):
        file = bytes(book.file(number)[:])
        np.testing.assert_array_equal(mmpcodec.decode(file), pages[number])
        assert mmpcodec.inspect(file).header.metadata == metadata
        assert not facts_of(book.file(number), "a.mmp")["problems"]
    assert set(book.alone) == {1, 2, 3}


def test_a_page_that_continues_a_damaged_one_has_no_file():
    letters = text_like(np.random.default_rng(0), 90, 120) < 100
    data = bytearray(mmpcodec.encode([letters] * 3, effort=1, chain_pages=8))
    first = book_of(memoryview(data), "a.mmp").contents.entries[0]
    data[first.place + first.size - 1] ^= 1
    with pytest.raises(FormatError, match="page 3: page 1, which it continues: stream CRC"):
        book_of(memoryview(data), "a.mmp").file(2)


def test_the_list_of_pictures():
    frames = collection_of(FILES, Role.FRAME, [(1, 4), (1, 25), (0, 1)], loops=3)
    facts = json.loads(json.dumps(book_of(memoryview(frames), "a.mmp").as_dict()))
    assert (facts["loops"], facts["faults"]) == (3, [])
    assert [each["duration"] for each in facts["pages"]] == [0.25, 0.04, 0]
    slices = book_of(memoryview(DATA), "ct.mmp").as_dict()["pages"]
    assert [each["position"] for each in slices] == [0, 2.5, 5]
    assert [(each["entry"], each["width"], each["height"]) for each in slices] == [
        (0, 80, 70),
        (1, 80, 70),
        (2, 80, 70),
    ]
    assert "Somebody" not in json.dumps(slices)


def test_other_files_and_damage():
    assert book_of(memoryview(FILES[0]), "a.mmp") is None
    empty = collection_of([])
    with pytest.raises(PictureError, match=r"a.mmp: holds no pictures"):
        book_of(memoryview(empty), "a.mmp")
    cut = book_of(memoryview(DATA[:-1]), "a.mmp")
    assert len(cut.as_dict()["pages"]) == 3
    assert "the file ends with" in cut.as_dict()["faults"][0]
    broken = bytearray(DATA)
    broken[book_of(memoryview(DATA), "a").contents.entries[1].place + 20] ^= 1
    book = book_of(memoryview(bytes(broken)), "a.mmp")
    with pytest.raises(FormatError):
        book.file(1)
    np.testing.assert_array_equal(mmpcodec.decode(bytes(book.file(2)[:])), SLICES[2])
    text = "".join(page([PageEntry("a.mmp", 9, True, book=book)], "", "a", asks=False))
    assert 'id="file-0-1-problem"' in text
    assert 'id="file-0-2"' in text
    assert 'id="file-0-1"' not in text


@given(
    first=st.binary(max_size=9),
    rest=st.binary(max_size=20),
    start=st.integers(0, 20),
    ends=st.tuples(st.none() | st.integers(-40, 40), st.none() | st.integers(-40, 40)),
)
def test_joined_bytes_are_as_those_in_one_piece(first, rest, start, ends):
    start = min(start, len(rest))
    joined = JoinedBytes(first, Window(memoryview(rest), Extent(0, len(rest))), start)
    whole = first + rest[start:]
    assert len(joined) == len(whole)
    assert bytes(joined[slice(*ends)]) == whole[slice(*ends)]


@pytest.mark.parametrize("tile", [0, 64])
def test_attributes_of_dicom_are_not_in_pages(tile):
    """Neither those of a file alone nor those of a slice."""
    samples = np.random.default_rng(1).integers(0, 256, (100, 150), np.uint8)
    metadata = Metadata(icc=b"profile", dicom=(b"\0own-own-own", b"\1hash", b"\0" + 99 * b"shared"))
    data = mmpcodec.encode(samples, 0, metadata=metadata, tile_size=tile)
    assert b"own-own" in data
    assert b"shared" in data
    shown = without_dicom(data)
    assert not any(part in shown for part in metadata.dicom)
    found = mmpcodec.inspect(shown, decode=True)
    np.testing.assert_array_equal(found.samples, samples)
    assert found.header.metadata == metadata.without("dicom")
    assert without_dicom(shown) == shown
    book = book_of(memoryview(collection_of([data], Role.SLICE, [(5,)])), "x")
    alone = bytes(book.file(0)[:])
    assert not any(part in alone for part in metadata.dicom)
