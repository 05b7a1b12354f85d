"""Pictures of a collection: errors name the page and the place in the file, limits hold."""

import numpy as np
import pytest
from support.files.collections_of import BOOK, ICC, PAGES, PICTURES, ROLES, written
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec.errors import CorruptStream, LimitExceeded, PictureError
from mmpcodec.format import collection
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import read_contents
from mmpcodec.opening.windows import Begun
from mmpcodec.runtime.files import LazyBytes

ENTRIES = read_contents(memoryview(BOOK)).entries


class Counted(LazyBytes):
    """The bytes of a file, and the ranges that were read."""

    def __init__(self, data: bytes):
        self._data, self.ranges = memoryview(data), []

    def __len__(self):
        return len(self._data)

    def __getitem__(self, part):
        start, stop, _ = part.indices(len(self._data))
        self.ranges.append((start, stop))
        return self._data[part]


def damaged(data: bytes, place: int) -> bytes:
    found = bytearray(data)
    found[place] ^= 0x55
    return bytes(found)


def test_names_of_pictures():
    contents = read_contents(memoryview(BOOK))
    names = [contents.name_of(entry) for entry in contents.entries]
    assert names == ["page 1", "frame 2", "slice 3", "level 1 of frame 2", "thumbnail 1 of page 1"]


@pytest.mark.parametrize("number", range(3))
def test_errors_name_the_page_and_the_byte_of_the_file(number, tmp_path):
    entry = ENTRIES[number]
    name = ("page 1", "frame 2", "slice 3")[number]
    last = entry.place + entry.size - 1
    data = damaged(BOOK, last)
    # The stream CRC is before the samples CRC, at the beginning of the only tile.
    tile = entry.place + mmpcodec.inspect(BOOK, page=number + 1).header.size
    path = tmp_path / "book.mmp"
    path.write_bytes(data)
    said = rf"Layers at byte {tile}: {name}: stream CRC"
    for read in (
        lambda: mmpcodec.decode(data, page=number + 1),
        lambda: mmpcodec.inspect(data, page=number + 1),
        lambda: mmpcodec.decode(data, page=number + 1, region=(0, 0, 2, 2)),
    ):
        with pytest.raises(CorruptStream, match=f"^{said}") as caught:
            read()
        assert caught.value.offset == tile
    for read in (
        lambda: mmpcodec.open(path)[number][:2],
        lambda: mmpcodec.imread(path, page=number + 1),
        lambda: mmpcodec.pictures.MmpReader(path, page=number + 1, keep_open=False)[:2],
    ):
        with pytest.raises(PictureError, match=f"^{path}: {said}"):
            read()


def test_errors_of_headers_and_metadata_name_the_byte_of_the_file():
    entry = ENTRIES[1]
    crc = entry.place + mmpcodec.inspect(BOOK, page=2).header.size - 4
    with pytest.raises(CorruptStream, match=rf"Container at byte {crc}: frame 2: header CRC"):
        mmpcodec.decode(damaged(BOOK, crc), page=2)
    (part,) = read_contents(memoryview(BOOK)).metadata
    at = part.place + part.size - 4
    with pytest.raises(CorruptStream, match=rf"at byte {at}: frame 2: metadata CRC"):
        mmpcodec.decode(damaged(BOOK, part.place + 9), page=2)


def test_the_limits_of_a_page_name_it():
    with pytest.raises(LimitExceeded, match=r"page 2: picture is 7x6: .*max_samples"):
        mmpcodec.decode(PAGES, page=2, limits=mmpcodec.DecodeLimits(max_samples=10))


def test_shared_metadata_count_as_memory():
    size = sum(part.size for part in read_contents(memoryview(BOOK)).metadata)
    limits = mmpcodec.DecodeLimits(max_memory=3 * size - 1)
    said = f"shared metadata can take {3 * size} bytes of memory, the limit is {3 * size - 1}"
    with pytest.raises(LimitExceeded, match=said):
        mmpcodec.inspect(BOOK, page=1, limits=limits)
    enough = mmpcodec.DecodeLimits(max_memory=3 * size)
    assert mmpcodec.inspect(BOOK, page=1, limits=enough).header.metadata.icc == ICC


def test_an_index_that_is_too_long_for_its_pictures_is_not_read():
    size = 1 << 24
    data = Counted(bytes(size) + size.to_bytes(5, "big") + bytes(4) + collection.END_MAGIC)
    with pytest.raises(LimitExceeded, match=f"index has {size} bytes, 9 pictures need at most"):
        read_contents(data, 9)
    assert sum(stop - start for start, stop in data.ranges) < 1 << 20


def test_a_chunk_is_once_among_those_of_a_picture_and_of_its_records():
    own = [mmpcodec.encode(PICTURES[0], 0, metadata=Metadata(icc=icc)) for icc in (ICC, ICC[::-1])]
    data = written(*[ROLES[0]] * 2, files=own)
    contents = read_contents(memoryview(data))
    assert [entry.shared for entry in contents.entries] == [(0,), (1,)]
    entry = contents.entries[1]
    both = collection.Contents(
        [contents.entries[0], collection.replace(entry, shared=(0, 1))], contents.metadata
    )
    index = collection.index_bytes(memoryview(data), len(data))
    data = data[:-index] + collection.write_index(both)
    at = contents.metadata[1].place
    with pytest.raises(
        CorruptStream, match=f"Metadata at byte {at}: page 2: a second chunk of ICC"
    ):
        mmpcodec.inspect(data, page=2)


TEXTS = [("Key", f"text {number}" + "x" * 70 * (number % 3 > 0)) for number in range(30)]


@pytest.mark.parametrize(
    "order",
    [
        [(1, 2), (2, 1), (1, 2)],
        [(0, 1, 3, 2), (0, 1, 3, 2), (3, 2, 1)],
        [(1, 1), (1, 2, 1), (2, 1, 1)],
        [tuple(range(30)), tuple(range(30)), tuple(range(29, -1, -1))],
        [(3, 0), (0, 3, 6), ()],
    ],
)
def test_texts_keep_their_order(order):
    files = [
        mmpcodec.encode(
            PICTURES[0], 0, metadata=Metadata(icc=ICC, text=tuple(TEXTS[each] for each in own))
        )
        for own in order
    ]
    data = written(*[ROLES[0]] * len(order), files=files)
    for page, own in enumerate(order):
        found = mmpcodec.inspect(data, page=page + 1).header.metadata
        assert found.text == tuple(TEXTS[each] for each in own)
        assert found.icc == ICC
    if order[0] == order[1]:  # long ones are held once
        last = TEXTS[order[0][-1]][1].encode()
        assert written(*[ROLES[0]] * 2, files=files).count(last) == 1


def test_the_index_of_an_open_file_is_read_once():
    data = Counted(PAGES)
    opened = Begun(data)
    for page in range(1, 6):
        np.testing.assert_array_equal(mmpcodec.decode(opened, page=page), PICTURES[page - 1])
    assert sum(stop == len(PAGES) for _, stop in data.ranges) <= 2  # beginning and index


def many(count: int) -> bytes:
    """A book of pages of 300x200 pixels of noise, whose profile is shared."""
    noise = np.random.default_rng(1).integers(0, 256, (200, 300), np.uint8)
    page = mmpcodec.encode(noise, 0, metadata=Metadata(icc=ICC))
    return written(*[(Role.PAGE, ())] * count, files=[page] * count)


def test_page_700_of_a_url_is_read_by_three_requests():
    pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    data = many(1000)
    with RangeServer({"book.mmp": data}).running() as server:
        book = mmpcodec.open(server.url("book.mmp"))
        assert len(server.sent) == 2  # the beginning and the index
        page = np.asarray(book[699])
        assert len(server.sent) == 3
        assert book[699].metadata.icc == ICC
        assert sum(server.sent) < 1 << 20 < len(data) // 50
        server.sent.clear()
        with mmpcodec.pictures.opened(server.url("book.mmp"), page=700) as reader:
            np.testing.assert_array_equal(reader.read(slice(None), slice(None)), page)
        assert len(server.sent) <= 4  # one more tells the format
    np.testing.assert_array_equal(page, mmpcodec.decode(data, page=700))
    assert page.shape == (200, 300)
