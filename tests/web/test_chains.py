"""Pages of two values that continue one another decode in Node as in Python, in any order."""

import io
import json
import re
import subprocess
import zlib
from dataclasses import replace

import numpy as np
import pytest
from support.strategies import text_like
from support.web.decoder import WEB, missing
from support.web.range_server import RangeServer
from web.test_limits import SIZES
from web.test_regions import sha

import mmpcodec
from mmpcodec.codec.decoder import read_tile
from mmpcodec.codec.limits import memory
from mmpcodec.codec.limits.seconds import seconds_to_decode
from mmpcodec.errors import FormatError, LimitExceeded
from mmpcodec.format import collection, container
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, read_contents

SHAPES = (90, 120), (80, 100), (90, 150), (90, 120)
"""Heights and widths of the pages of the usual book."""


def letters(shapes=SHAPES):
    """Return pages of two values with the same letters."""
    pages = [text_like(np.random.default_rng(0), *shape) < 100 for shape in shapes]
    return [page[:, ::-1] if number % 2 else page for number, page in enumerate(pages)]


def chained(pages=None, **options):
    """Return a collection whose second and later pages continue the one before."""
    pages = letters() if pages is None else pages
    data = mmpcodec.encode(pages, **{"effort": 1, "chain_pages": 8, **options})
    of_pages = read_contents(memoryview(data)).pictures
    assert all(entry.continues is not None for entry in of_pages[1:])
    return data


def with_index(data, entries):
    """Return a collection whose index has other entries."""
    size = collection.index_bytes(memoryview(data), len(data))
    return data[:-size] + collection.write_index(
        replace(read_contents(memoryview(data)), entries=entries)
    )


def with_entry(data, number, **fields):
    """Return a collection whose index has other fields of an entry."""
    entries = list(read_contents(memoryview(data)).entries)
    entries[number] = replace(entries[number], **fields)
    return with_index(data, entries)


def with_thumbnails(data):
    """Return a collection of pages in which a thumbnail follows each page."""
    thumbnail = mmpcodec.encode(np.arange(12, dtype=np.uint8).reshape(3, 4), 0)
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for number, entry in enumerate(read_contents(memoryview(data)).entries):
        file, _ = file_of(data, number)
        continues = None if entry.continues is None else 2 * entry.continues
        writer.add(file, continues=continues, saved=entry.saved)
        writer.add(thumbnail, Role.THUMBNAIL, (2 * number,))
    writer.close()
    return stream.getvalue()


def joined(files):
    """Return a collection in which the last of these files continues the first one."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for file in files:
        writer.add(file)
    writer.close()
    return with_entry(stream.getvalue(), len(files) - 1, continues=0, saved=1)


def file_of(data, number):
    """Return the file of an entry, and its place."""
    entry = read_contents(memoryview(data)).entries[number]
    return data[entry.place : entry.place + entry.size], entry.place


def with_flip(data, number, at, *, right_crc):
    """Return a collection with a damaged byte in the file of an entry; -1 is its last byte.

    With ``right_crc``, the CRC of its tile is that of the damaged bytes.
    """
    file, place = file_of(data, number)
    changed = bytearray(file)
    changed[at] ^= 0x55
    if right_crc:
        size = container.read_header(memoryview(file)).size
        checked = zlib.crc32(changed[size + 4 :])
        changed[size : size + 4] = checked.to_bytes(4, "big")
    return data[:place] + bytes(changed) + data[place + len(file) :]


def error_in_python(data, page, **limits):
    """Return name and text of the error of Python."""
    with pytest.raises(FormatError) as caught:
        mmpcodec.decode(data, page=page, limits=DecodeLimits(**limits))
    return type(caught.value).__name__, str(caught.value)


def error_in_node(node, data, page, **question):
    """Return name and text of the error of the decoder for browsers."""
    found = node.ask(data, page=page, **question)
    return found.get("error"), found.get("message")


@pytest.mark.parametrize("workers", [0, 2])
def test_pages_decode_in_any_order(node, workers):
    pages, order = letters(), [3, 1, 4, 2]
    found = node.ask(chained(pages), book=order, workers=workers)
    assert "error" not in found, found
    for number, own in zip(order, found["pages"], strict=True):
        assert own["sha"] == sha(pages[number - 1].astype(np.uint8))


@pytest.mark.parametrize("effort", [2, 4, 6])
def test_pages_of_each_lossless_form_decode(node, effort):
    pages = letters(SHAPES[:2])
    found = node.ask(chained(pages, effort=effort), page=2)
    assert found["sha"] == sha(pages[1].astype(np.uint8))


def test_two_grays_of_a_chain_decode(node):
    pages = [np.where(page, 20, 230).astype(np.uint8) for page in letters()]
    found = node.ask(chained(pages, lam=0, preset="lossless"), book=[4, 2])
    assert [own["sha"] for own in found["pages"]] == [sha(pages[3]), sha(pages[1])]


def test_entries_say_what_they_continue(node):
    data = with_thumbnails(chained())
    found = node.ask(data, book=None)
    assert "error" not in found, found
    contents = read_contents(memoryview(data))
    entries = contents.entries
    shown = [(each["role"], each["continues"], each["saved"]) for each in found["all"]]
    assert shown == [(each.role.name.lower(), each.continues, each.saved) for each in entries]
    assert any(each.of is not None for each in entries)
    for number, own in enumerate(found["pages"]):
        file = PictureBytes(memoryview(data), contents, entries[number])
        assert own["sha"] == sha(mmpcodec.decode(file))


def test_chained_frames_and_slices_have_their_facts(node):
    data = chained()
    entries = read_contents(memoryview(data)).entries
    roles = [(Role.FRAME, (1, 8)), (Role.FRAME, (1, 4)), (Role.SLICE, (-(10**6),)), (Role.PAGE, ())]
    data = with_index(
        data,
        [
            replace(entry, role=role, facts=facts)
            for entry, (role, facts) in zip(entries, roles, strict=True)
        ],
    )
    listed = node.ask(data, book=[4])["all"]
    assert [each["role"] for each in listed] == ["frame", "frame", "slice", "page"]
    assert [each["duration"] for each in listed] == [0.125, 0.25, None, None]
    assert listed[2]["position"] == -1
    assert [each["continues"] for each in listed] == [None, 0, 1, 2]


def test_regions_of_a_page_share_its_tile(node):
    pages = letters()
    data = chained(pages)
    parts = [(0, 0, 20, 30), (5, 6, 70, 8)]
    with RangeServer({"a.mmp": padded(data)}).running() as server:
        found = node.ask(url=server.url("a.mmp"), page=3, open=parts)
        assert len(server.sent) == 4
    for (x, y, width, height), own in zip(parts, found["regions"], strict=True):
        assert own["sha"] == sha(pages[2][y : y + height, x : x + width].astype(np.uint8))


def padded(data):
    """Return a collection with an unknown record behind the pages: 1 MiB."""
    size = collection.index_bytes(memoryview(data), len(data))
    gap = collection.write_record(collection.RecordKind.METADATA, 1 << 20) + bytes(1 << 20)
    contents = read_contents(memoryview(data))
    return data[:-size] + gap + collection.write_index(contents)


def test_a_chain_is_fetched_by_one_request(node):
    pages = letters()
    data = chained(pages)
    with RangeServer({"a.mmp": padded(data)}).running() as server:
        found = node.ask(url=server.url("a.mmp"), book=[4])
        # The beginning, the index, the page, and the three pages before it.
        assert len(server.sent) == found["traffic"]["requests"] == 4
    entries = read_contents(memoryview(data)).entries
    assert server.sent[3] == entries[2].place + entries[2].size - entries[0].place
    assert found["pages"][0]["sha"] == sha(pages[3].astype(np.uint8))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("right_crc", [False, True])
@pytest.mark.parametrize("number", [0, 1])
def test_damage_of_an_earlier_page_is_named(node, number, right_crc, workers):
    data = chained()
    for at in (2, 8, 20, -60, -1):
        bad = with_flip(data, number, at, right_crc=right_crc and at < 0)
        name, text = error_in_python(bad, 3) if fails(bad, 3) else (None, None)
        assert error_in_node(node, bad, 3, workers=workers) == (name, text), at
        assert at < 0 or f"page 3: page {number + 1}, which it continues: " in text


def fails(data, page):
    """Return whether Python does not decode a page."""
    try:
        mmpcodec.decode(data, page=page)
    except FormatError:
        return True
    return False


def test_a_page_that_is_cut_from_its_book_says_why_it_does_not_decode(node):
    file, _ = file_of(chained(), 2)
    with pytest.raises(FormatError) as caught:
        mmpcodec.decode(file)
    assert "the plane continues another one, which is not given" in str(caught.value)
    assert node.ask(file)["message"] == str(caught.value)


def test_a_page_that_decodes_alone_cannot_continue(node):
    files = [mmpcodec.encode(page, effort=1) for page in letters(SHAPES[:2])]
    data = joined(files)
    name, text = error_in_python(data, 2)
    assert "the plane begins anew, but continues another one" in text
    assert error_in_node(node, data, 2) == (name, text)


@pytest.mark.parametrize(
    ("other", "options", "words"),
    [
        ((4, 90, 3), {"preset": "lossless"}, "must be gray, one tile"),
        (
            (4, 90),
            {"preset": "photo", "lam": 200},
            "lossless samples without an error",
        ),
        ((90, 90), {"preset": "lossless", "tile_size": 64}, "must be gray, one tile"),
        ((4, 90), {"preset": "lossless", "effort": 1}, "values, those of a chain have 2"),
        ((4, 90), {"preset": "lossless", "effort": 6}, "the tools differ from those of the page"),
    ],
)
def test_pictures_that_can_be_no_pages_of_a_chain(node, other, options, words):
    noise = np.random.default_rng(1).integers(0, 256, other).astype(np.uint8)
    first = mmpcodec.encode(noise, **{"lam": 0, **options})
    page = mmpcodec.encode(letters()[0], effort=1)
    name, text = error_in_python(joined([first, page]), 2)
    assert words in text
    assert error_in_node(node, joined([first, page]), 2) == (name, text)
    # As the last page, too.
    name, text = error_in_node(node, joined([page, first]), 2)
    assert (name, words in text) == ("CorruptStream", True)


def test_pages_back_must_lead_to_a_page(node):
    data = with_thumbnails(chained())
    second = 2  # entry
    wrong = [second, -1, second - (1 << 61), 1]  # itself, beyond, far beyond, a thumbnail
    for continues in wrong:
        bad = with_entry(data, second, continues=continues)
        name, text = error_in_python(bad, 1)
        assert "pictures back to the one that is continued is" in text
        assert error_in_node(node, bad, 1) == (name, text)


def test_role_8_is_refused(node, monkeypatch):
    data = chained()
    size = collection.index_bytes(memoryview(data), len(data))
    written = collection.write_entry

    def write_entry(entry, own_number=0):
        return (b"\x08" if own_number == 1 else b"") + written(entry, own_number)[own_number == 1 :]

    monkeypatch.setattr(collection, "write_entry", write_entry)
    bad = data[:-size] + collection.write_index(read_contents(memoryview(data)))
    name, text = error_in_python(bad, 1)
    assert "role is 8, allowed is 0 to 7" in text
    assert error_in_node(node, bad, 1) == (name, text)


def test_a_chain_has_at_most_64_pages(node):
    page = letters(SHAPES[:1])[0]
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for _ in range(65):
        writer.add(mmpcodec.encode(page[:20, :20], effort=1))
    writer.close()
    data = stream.getvalue()
    entries = [
        replace(entry, continues=number - 1) if number else entry
        for number, entry in enumerate(read_contents(memoryview(data)).entries)
    ]
    name, text = error_in_python(with_index(data, entries), 1)
    assert "leads to picture 64 of a chain, which has at most 64" in text
    assert error_in_node(node, with_index(data, entries), 1) == (name, text)
    longest = with_index(data, [*entries[:-1], replace(entries[-1], continues=None)])
    assert "error" not in node.ask(longest, page=1)


@pytest.mark.usefixtures("in_browsers")
def test_memory_counts_the_chain_besides_that_of_python(node, monkeypatch):
    """All rows are as wide as the widest one."""
    shapes = (90, 120), (90, 100), (70, 120)
    rows, width, most = 250, 120, 90 * 120
    chain = 3 * rows * (width + 64) + (memory.SAMPLE_BYTES + 8) * most
    monkeypatch.setattr("mmpcodec.codec.tiles.limits.memory_of_chain", lambda *_: chain)
    data = chained(letters(shapes))
    with pytest.raises(LimitExceeded) as caught:
        mmpcodec.decode(data, page=3, limits=DecodeLimits(max_memory=1), threads=1)
    expected = re.sub(r"max_memory \(--[a-z-]+\)", "limits.maxMemory", str(caught.value))
    assert node.ask(data, page=3, limits={"maxMemory": 1}).get("message") == expected


def test_rows_of_a_chain_are_as_wide_as_its_widest_page(node):
    """A wide page and a high one need memory for their common sides."""
    pages = [np.ones((1, 30000), np.uint8), np.ones((30000, 1), np.uint8)]
    for page in pages:
        page[:1, 0] = 0
    data = joined([mmpcodec.encode(page, effort=1, depth=1) for page in pages])
    name, text = error_in_python(data, 2)
    assert name == "LimitExceeded"
    assert "rows of a chain have 900030000 pixels, the limit is 8 times 67108864" in text
    text = text.replace("max_samples (--max-samples)", "limits.maxSamples")
    assert error_in_node(node, data, 2) == (name, text)


def test_seconds_count_the_chain_as_in_python(node):
    data = chained()
    streams = []
    for number in range(3):
        view = memoryview(file_of(data, number)[0])
        header = container.read_header(view)
        streams.append((header.tiles[0], read_tile(view, header, header.tiles[0])))
    seconds = seconds_to_decode(streams, 1, 1, peek=False)
    assert "error" not in node.ask(data, page=3, limits={"maxSeconds": 1.001 * seconds})
    found = node.ask(data, page=3, limits={"maxSeconds": 0.999 * seconds})
    assert "page 3: decoding can take" in found["message"]
    assert "maxSeconds raises it" in found["message"]


@pytest.mark.parametrize(("count", "shape"), [(2, (400, 500)), (24, (300, 400)), (60, (100, 150))])
def test_a_chain_takes_no_more_memory_than_estimated(tmp_path, node, count, shape):
    if reason := missing():
        pytest.skip(reason)
    path = tmp_path / "a.mmp"
    path.write_bytes(chained(letters([shape] * count), chain_pages=64))
    file = "readFileSync(process.argv[2])"
    sizes = SIZES.replace(f"({file})", f"({file}, {{ page: {count} }})")
    arguments = ["node", "--input-type=module", "-e", sizes]
    arguments += [(WEB / "decoder" / "index.js").as_uri(), str(path)]
    used = json.loads(subprocess.run(arguments, capture_output=True, check=True, text=True).stdout)
    message = node.ask(path=path, page=count, limits={"maxMemory": 1})["message"]
    estimated = int(re.search(r"decoding can take (\d+) bytes", message)[1])
    assert used <= estimated < 4 * used
