"""Pages that continue one another: order of decoding, damage, limits, and what becomes a chain."""

import io
import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.planes import text

import mmpcodec
from mmpcodec import DecodeLimits, EncodeParams, backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.codec.series.alone import alone
from mmpcodec.codec.series.chaining import in_chain
from mmpcodec.codec.series.pictures import joined_series
from mmpcodec.codec.tiles import chains
from mmpcodec.codec.tiles.chains import Chain, ChainPage
from mmpcodec.codec.tiles.renditions import joined
from mmpcodec.errors import FormatError, LimitExceeded, MmpError, ParameterError
from mmpcodec.format.collection import MOST_CHAINED, Role, bytes_of_chain
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import PictureBytes, picture_of, read_contents
from mmpcodec.runtime.files import LazyBytes

SIZES = (40, 90), (30, 120), (44, 64), (40, 90), (25, 90)


def page_of(height, width, seed):
    """A page of few glyphs."""
    page = np.zeros((height, width), bool)
    glyphs = np.random.default_rng(1).random((4, 8, 6)) < 0.5
    order = np.random.default_rng(seed)
    for row in range(2, height - 8, 11):
        for column in range(2, width - 6, 8):
            page[row : row + 8, column : column + 6] = glyphs[order.integers(4)]
    return page


PAGES = [page_of(*size, seed) for seed, size in enumerate(SIZES)]
CHAINED = mmpcodec.encode(PAGES, effort=2, chain_pages=8)
ENTRIES = read_contents(memoryview(CHAINED)).entries


def decoded_pages(monkeypatch):
    """The sizes of the pages that are decoded from now on, in their order."""
    found, own = [], chains.ChainPage.decoded

    def decoded(page, *arguments):
        found.append((page.header.height, page.header.width))
        return own(page, *arguments)

    monkeypatch.setattr(chains.ChainPage, "decoded", decoded)
    return found


def test_a_chain_needs_fewer_bytes_and_says_how_many():
    plain = mmpcodec.encode(PAGES, effort=2)
    assert [entry.continues for entry in ENTRIES] == [None, 0, 1, 2, 3]
    of_plain = read_contents(memoryview(plain)).entries
    smaller = [one.size - other.size for one, other in zip(of_plain, ENTRIES, strict=True)]
    fields = [0, *[bytes_of_chain(1, entry.saved) for entry in ENTRIES[1:]]]
    saved = [size - own for size, own in zip(smaller, fields, strict=True)]
    assert [entry.saved for entry in ENTRIES] == saved
    assert min(saved[1:]) > 5
    assert 0 <= len(plain) - len(CHAINED) - sum(saved) <= 8  # sizes have fewer digits, too


def test_no_file_is_larger_with_chains():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        pages = [page_of(12, 20 + int(rng.integers(60)), seed + number) for number in range(3)]
        plain, data = (mmpcodec.encode(pages, effort=1, chain_pages=most) for most in (1, 3))
        assert len(data) <= len(plain)


@pytest.mark.parametrize("order", [(1, 2, 3, 4, 5), (5, 4, 3, 2, 1), (3, 1, 5), (4, 4)])
def test_pages_decode_in_any_order(order, tmp_path, monkeypatch):
    path = tmp_path / "a.mmp"
    path.write_bytes(CHAINED)
    book = mmpcodec.open(path)
    found = decoded_pages(monkeypatch)
    for number in order:
        np.testing.assert_array_equal(book[number - 1], PAGES[number - 1])
        np.testing.assert_array_equal(mmpcodec.decode(CHAINED, page=number), PAGES[number - 1])
    last = max(order)
    of_book = list(SIZES[:last])
    alone = sum(number for number in order if number > 1)  # each call of decode begins anew
    assert len(found) == len(of_book) + alone


def test_threads_decode_each_page_once(monkeypatch):
    source = memoryview(CHAINED)
    contents = read_contents(source)
    found = decoded_pages(monkeypatch)
    shown = {}

    def show(number):
        page = PictureBytes(source, contents, contents.entries[number])
        shown[number] = mmpcodec.decode(page)

    threads = [threading.Thread(target=show, args=(number,)) for number in (4, 1, 3, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5
    for number, samples in shown.items():
        np.testing.assert_array_equal(samples, PAGES[number])


def test_only_two_chains_of_a_file_are_kept():
    pages = [page_of(40, 60, seed) for seed in range(8)]
    source = memoryview(mmpcodec.encode(pages, effort=1, chain_pages=2))
    contents = read_contents(source)
    for number, entry in enumerate(contents.entries):
        samples = mmpcodec.decode(PictureBytes(source, contents, entry))
        np.testing.assert_array_equal(samples, pages[number])
    assert [entry.continues for entry in contents.entries] == [None, 0, None, 2, None, 4, None, 6]
    assert list(contents.kept) == [4, 6]
    assert all(decoder._chain is None for decoder in contents.kept.values())


def test_pages_that_were_decoded_are_kept_as_bits():
    source = memoryview(CHAINED)
    contents = read_contents(source)
    for entry in contents.entries[1:4]:
        mmpcodec.decode(PictureBytes(source, contents, entry))
    (decoder,) = contents.kept.values()
    assert list(decoder._kept) == [0, 1, 2, 3]
    for kept, (height, width) in zip(decoder._kept.values(), SIZES, strict=False):
        assert kept.bits.size == -(-height * width // 8)
        assert kept.rest.samples.base is None
    assert decoder._chain is not None  # of page 5, which nobody has asked for
    assert decoder._most_width == 120


def branch():
    """Two pages that continue the same one, and one that continues the first of them."""
    backend = backends.get("cpu")
    files = [mmpcodec.encode(page, effort=2) for page in PAGES]

    def continued(first, *numbers):
        chain = backend.new_chain(200, 400)
        ChainPage.of(memoryview(files[first])).decoded(backend, chain)
        for number in numbers:
            page = ChainPage.of(memoryview(files[number]))
            task = PlaneTask(PAGES[number], EncodeParams(0, page.layer.tools), 1, chain=chain)
            found = page.with_payload(backend.encode(task).payload)
        return found

    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(files[0])
    writer.add(continued(0, 1), continues=0)
    writer.add(continued(0, 2), continues=0)
    writer.add(continued(0, 1, 3), continues=1)
    writer.close()
    return stream.getvalue()


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (4, 3, 2), (3, 4), (2, 3, 4, 3)])
def test_two_pages_continue_the_same_one(order):
    source = memoryview(branch())
    contents = read_contents(source)
    for number in order:
        page = PictureBytes(source, contents, contents.entries[number - 1])
        np.testing.assert_array_equal(mmpcodec.decode(page), PAGES[number - 1])


def test_verification_finds_a_page_that_decodes_to_other_samples(monkeypatch):
    files = [mmpcodec.encode(page, effort=2) for page in PAGES[:2]]
    own = chains.ChainPage.decoded

    def wrong(page, backend, chain, progress=None):
        found = own(page, backend, chain, progress)
        if chain is not None and page.header.height == SIZES[1][0]:
            found.samples[0, 0] ^= 1
        return found

    monkeypatch.setattr(chains.ChainPage, "decoded", wrong)
    in_chain(files)
    with pytest.raises(MmpError, match="a page of a chain decodes to other samples"):
        in_chain(files, verify=True)


def test_regions_and_levels_of_pages():
    part = mmpcodec.decode(CHAINED, page=4, region=(10, 5, 30, 20))
    np.testing.assert_array_equal(part, PAGES[3][5:25, 10:40])


def test_levels_stay_behind_their_pages():
    level = mmpcodec.encode(np.arange(35, dtype=np.uint8).reshape(5, 7), 0)
    files = [joined(mmpcodec.encode(page, effort=2), [level]) for page in PAGES[:3]]
    data = joined_series(files, Role.PAGE, [()] * 3, 0, 3)
    entries = read_contents(memoryview(data)).entries
    assert [entry.of for entry in entries] == [None, 0, None, 2, None, 4]
    assert [entry.continues for entry in entries] == [None, None, 0, None, 2, None]
    for number, page in enumerate(PAGES[:3], 1):
        np.testing.assert_array_equal(mmpcodec.decode(data, page=number), page)


def test_metadata_are_kept():
    own = [Metadata(text=(("Page", str(number)),)) for number in range(5)]
    data = mmpcodec.encode(PAGES, effort=2, chain_pages=8, metadata=own)
    assert [
        mmpcodec.inspect(data, page=number).header.metadata.text[0][1] for number in range(1, 6)
    ] == list("01234")


def test_damage_harms_the_pages_that_continue():
    at = ENTRIES[2].place + ENTRIES[2].size - 3
    data = CHAINED[:at] + bytes([CHAINED[at] ^ 1]) + CHAINED[at + 1 :]
    for number in (1, 2):
        np.testing.assert_array_equal(mmpcodec.decode(data, page=number), PAGES[number - 1])
    with pytest.raises(FormatError, match=r"page 3: stream CRC is") as caught:
        mmpcodec.decode(data, page=3)
    offset = caught.value.offset
    for number in (4, 5):
        text = f"page {number}: page 3, which it continues: stream CRC is"
        with pytest.raises(FormatError, match=text) as caught:
            mmpcodec.decode(data, page=number)
        assert caught.value.offset == offset


def test_a_page_that_is_cut_out_says_what_it_lacks():
    entry = ENTRIES[1]
    file = CHAINED[entry.place : entry.place + entry.size]
    with pytest.raises(FormatError, match="continues another one, which is not given"):
        mmpcodec.decode(file)


def test_pages_as_files_that_decode_alone():
    plain = mmpcodec.encode(PAGES, effort=2)
    for number, entry in enumerate(read_contents(memoryview(plain)).entries, 1):
        file = picture_of(memoryview(CHAINED), number, DecodeLimits())
        assert alone(file) == plain[entry.place : entry.place + entry.size]


def test_limits_count_the_chain():
    def decode(page, **limits):
        mmpcodec.decode(CHAINED, page=page, limits=DecodeLimits(**limits))

    samples = 48 * 96  # of a page in whole fragments
    decode(4, max_samples=samples)
    wide = page_of(4, 900, 1), page_of(400, 9, 2)
    data = mmpcodec.encode(wide, effort=1, chain_pages=2)
    if read_contents(memoryview(data)).entries[1].continues is not None:
        with pytest.raises(LimitExceeded, match="rows of a chain have 363600 pixels"):
            mmpcodec.decode(data, page=2, limits=DecodeLimits(max_samples=400 * 16))

    def seconds_of(page):
        with pytest.raises(LimitExceeded, match="decoding can take") as caught:
            decode(page, max_seconds=1e-6)
        return float(re.search(r"can take (\S+) s", str(caught.value))[1])

    assert seconds_of(5) > 4 * seconds_of(1)
    chain = Chain(picture_of(memoryview(CHAINED), 5, DecodeLimits()))
    assert chain.seconds_for(1000, DecodeLimits()) == 5
    assert chain.seconds_for(1000, DecodeLimits(max_seconds=2)) == 2
    with pytest.raises(LimitExceeded, match="bytes of memory"):
        decode(5, max_memory=1 << 20)


class Slow(LazyBytes):
    """Bytes for which each request takes long."""

    ahead = 1 << 12

    def __init__(self, data):
        self.data, self.requests, self.bytes = data, 0, 0

    def __len__(self):
        return len(self.data)

    def __getitem__(self, part):
        found = memoryview(self.data)[part]
        self.requests, self.bytes = self.requests + 1, self.bytes + len(found)
        return found


def test_a_chain_is_read_by_one_request():
    source, alone = Slow(CHAINED), Slow(mmpcodec.encode(PAGES, effort=2))
    for each in (source, alone):
        np.testing.assert_array_equal(mmpcodec.decode(each, page=5), PAGES[4])
    assert source.requests == alone.requests + 1


def test_pages_that_were_read_are_not_read_again():
    source, alone = Slow(CHAINED), Slow(mmpcodec.encode(PAGES, effort=2))
    for each in (source, alone):
        contents = read_contents(each)
        for entry in contents.entries:
            mmpcodec.decode(PictureBytes(each, contents, entry))
    assert source.requests == alone.requests + 1  # page 1 is read for page 2


def test_pages_of_other_kinds_between_are_not_read():
    noise = np.random.default_rng(3).integers(0, 256, (600, 600, 3), np.uint8)
    data = mmpcodec.encode([PAGES[0], noise, *PAGES[1:3]], 0, effort=1, depth=None, chain_pages=8)
    source = Slow(data)
    mmpcodec.decode(source, page=4)
    assert source.bytes < 200_000 < len(data) / 4


def test_growing_pages_are_decoded_once(monkeypatch):
    pages = [page_of(40, 60 + 2 * number, number) for number in range(8)]
    source = memoryview(mmpcodec.encode(pages, effort=1, chain_pages=8))
    contents, found = read_contents(source), decoded_pages(monkeypatch)
    for entry in contents.entries:
        mmpcodec.decode(PictureBytes(source, contents, entry))
    assert len(found) == 8


def test_other_pictures_stay_as_they_are():
    gray = np.arange(600, dtype=np.uint8).reshape(20, 30)
    files = [
        mmpcodec.encode(PAGES[0], effort=2),
        mmpcodec.encode(np.zeros((8, 8), bool), effort=2),
        mmpcodec.encode(gray, 0, effort=2),
        mmpcodec.encode(np.stack([gray] * 3, 2), 0, effort=2),
        mmpcodec.encode(np.stack([gray, gray % 2 * 255], 2), 0, effort=2),
        mmpcodec.encode(page_of(200, 200, 3), effort=2, tile_size=64),
        mmpcodec.encode(gray // 128 * 255, 20, effort=2, preset="plain"),
        mmpcodec.encode(PAGES[3], effort=2),
        mmpcodec.encode(PAGES[4], effort=1),
    ]
    found = in_chain(files, verify=True)
    assert [each.back for each in found] == [0] * 7 + [7, 0]
    assert [each.data for each in found[:7]] == files[:7]
    fields = bytes_of_chain(7, found[7].saved)
    assert found[7].saved == len(files[7]) - len(found[7].data) - fields > 0
    assert in_chain(files[:1])[0].data == files[0]


def test_a_page_that_gains_nothing_begins_a_new_chain():
    noise = np.random.default_rng(4).random((60, 60)) < 0.5
    files = [mmpcodec.encode(page, effort=2) for page in (*PAGES[:2], noise, noise, PAGES[2])]
    found = in_chain(files)
    assert found[1].back == 1
    assert found[2].back == 0
    assert found[2].data == files[2]
    assert found[3].back == 1  # the noise comes again


@settings(max_examples=15)
@given(st.data())
def test_any_pages_of_two_values(data):
    count, effort = data.draw(st.integers(2, 5)), data.draw(st.sampled_from([1, 2, 6]))
    seeds = st.integers(0, 2**32 - 1)
    pages = []
    for _ in range(count):
        rng = np.random.default_rng(data.draw(seeds))
        size = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 50))
        pages.append(rng.random(size) < rng.choice([0.02, 0.3, 0.97]))
    book = mmpcodec.encode(pages, effort=effort, chain_pages=data.draw(st.integers(1, 5)))
    for number, page in enumerate(pages, 1):
        np.testing.assert_array_equal(mmpcodec.decode(book, page=number), page)
    plain = mmpcodec.encode(pages, effort=effort)
    assert sum(e.size for e in read_contents(memoryview(book)).entries) <= sum(
        e.size for e in read_contents(memoryview(plain)).entries
    )


def test_deep_and_inverted_pages_continue_others():
    own = text(60, 80).astype(np.uint16)
    pages = [own * 900 + 40, (1 - own) * 900 + 40]
    data = mmpcodec.encode(pages, 0, depth=12, effort=2, chain_pages=2)
    assert read_contents(memoryview(data)).entries[1].continues == 0
    for number, page in enumerate(pages, 1):
        np.testing.assert_array_equal(mmpcodec.decode(data, page=number), page)


@pytest.mark.parametrize("count", [0, 65, 2.5, "8", True])
def test_wrong_numbers_of_pages(count):
    with pytest.raises(ParameterError, match="chain_pages"):
        mmpcodec.encode(PAGES, chain_pages=count)


def test_one_picture_has_no_chain():
    with pytest.raises(ParameterError, match="chain_pages = 8: must be None for a single picture"):
        mmpcodec.encode(PAGES[0], chain_pages=8)
    assert MOST_CHAINED == 64
