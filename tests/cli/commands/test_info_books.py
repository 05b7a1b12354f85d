"""``mmp info`` of files of several pictures."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec.cli.commands.info.books import described_book
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata

ICC = bytes(range(256))
ROLES = (
    (Role.PAGE, ()),
    (Role.FRAME, (40, 1000)),
    (Role.SLICE, (-2_500_000,)),
    (Role.LEVEL, (1,)),
    (Role.THUMBNAIL, (0,)),
)
FILES = [
    mmpcodec.encode(
        np.full((6 + number, 7, 3) if number == 2 else (6 + number, 7), 9 * number, np.uint8),
        0,
        metadata=Metadata(icc=ICC),
    )
    for number in range(len(ROLES))
]


@pytest.fixture
def book(folder):
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=3)
    entries = [
        writer.add(file, role, facts) for file, (role, facts) in zip(FILES, ROLES, strict=True)
    ]
    writer.close()
    Path("book.mmp").write_bytes(stream.getvalue())
    return entries


def facts_of(mmp, *options, code=0):
    result = mmp("info", "book.mmp", "--json", *options)
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("options", [(), ("--header-only",)])
def test_pictures_are_listed(mmp, book, options):
    size = Path("book.mmp").stat().st_size
    facts = facts_of(mmp, *options)
    assert (facts["pages"], facts["loops"], facts["file_bytes"]) == (3, 3, size)
    assert facts["overhead_bytes"] == size - sum(entry.size for entry in book)
    assert facts["shared_metadata"] == [
        {"bytes": 264, "kinds": {"icc": "256 bytes"}, "error": None}
    ]
    first, second, third = facts["pictures"]
    assert [each["number"] for each in facts["pictures"]] == [1, 2, 3]
    assert [each["role"] for each in facts["pictures"]] == ["page", "frame", "slice"]
    assert (second["duration"], third["position_mm"]) == (0.04, -2.5)
    assert (third["width"], third["height"], third["form"], third["depth"]) == (7, 8, "RGB", 8)
    assert [each["bytes"] for each in facts["pictures"]] == [entry.size for entry in book[:3]]
    assert first["bits_per_pixel"] == 8 * book[0].size / 42
    (thumbnail,), (level,) = first["renditions"], second["renditions"]
    assert (thumbnail["role"], thumbnail["height"]) == ("thumbnail", 10)
    assert (level["role"], level["height"], level["bytes"]) == ("level", 9, book[3].size)
    assert third["renditions"] == facts["index_faults"] == []
    assert all(each["shared_metadata"] == [1] for each in (first, second, third, level))
    assert facts["broken"] == 0


def test_the_list_in_words(mmp, book):
    lines = mmp("info", "book.mmp").stdout.splitlines()
    assert lines[0] == "book.mmp:"
    assert lines[1] == "  holds    1 page, 1 frame, 1 slice, 1 level, 1 thumbnail"
    assert "  frames   are shown 3 times" in lines
    assert "  shared   metadata 1, 264 bytes, of 5 pictures: icc" in lines
    table = [line.split() for line in lines[lines.index("") + 2 :][: len(ROLES)]]
    assert lines[-1] == "  --page N describes one of them"
    sizes = [str(entry.size) for entry in book]
    assert table[0][:3] == ["1", "page", "7x6"]
    assert table[1][:2] == ["thumbnail", "7x10"]
    assert table[2][:3] == ["2", "frame", "7x7"]
    assert "0.04 s" in " ".join(table[2])
    assert "at -2.5 mm" in " ".join(table[4])
    assert all(sizes[k] in row for k, row in zip((0, 4, 1, 3, 2), table, strict=True))


def test_a_page_is_described_as_if_alone(mmp, book):
    Path("alone.mmp").write_bytes(FILES[2])
    alone = json.loads(mmp("info", "alone.mmp", "--json").stdout)
    facts = facts_of(mmp, "--page", "3")
    for key in ("width", "height", "form", "metadata", "bits", "layers"):
        assert facts[key] == alone[key]
    assert facts["file_bytes"] == book[2].size
    result = mmp("info", "book.mmp", "--page", "4")
    assert (result.exit_code, "page = 4: must be 1 to 3" in result.stderr) == (1, True)


@pytest.mark.parametrize("number", range(len(ROLES)))
def test_a_broken_picture_is_named(mmp, book, number):
    data = bytearray(Path("book.mmp").read_bytes())
    data[book[number].place + book[number].size - 1] ^= 1
    Path("book.mmp").write_bytes(data)
    facts = facts_of(mmp, code=3)
    entries = [each for page in facts["pictures"] for each in (page, *page["renditions"])]
    errors = {each["bytes"]: each["error"] for each in entries if each["error"]}
    assert facts["broken"] == len(errors) == 1
    assert "CRC" in errors[book[number].size]
    assert mmp("info", "book.mmp").stdout.count("BROKEN") == 1


def test_damaged_shared_metadata_are_said(mmp, book):
    data = bytearray(Path("book.mmp").read_bytes())
    data[data.index(ICC) + 9] ^= 1
    Path("book.mmp").write_bytes(data)
    facts = facts_of(mmp, code=3)
    assert "metadata CRC" in facts["shared_metadata"][0]["error"]
    assert len(facts["pictures"]) == 3


def test_a_lost_index_is_said(mmp, book):
    data = Path("book.mmp").read_bytes()
    Path("book.mmp").write_bytes(data[:-1])
    facts = facts_of(mmp, code=3)
    assert [each["bytes"] for each in facts["pictures"]] == [entry.size for entry in book[:3]]
    assert "the file ends with" in facts["index_faults"][0]
    text = mmp("info", "book.mmp").stdout
    assert "the pictures were found by their records" in text


def test_a_map_is_of_one_picture(mmp, book):
    result = mmp("info", "book.mmp", "--map", "map.png")
    assert (result.exit_code, "--page names one" in result.stderr) == (1, True)
    assert not Path("map.png").exists()


def test_shared_metadata_beyond_the_limit_are_named(book):
    limits = mmpcodec.DecodeLimits(max_memory=100)
    data = memoryview(Path("book.mmp").read_bytes())
    found = described_book(data, "book.mmp", limits, header_only=False)
    assert sorted(found.errors) == list(range(len(FILES)))
    assert all("max_memory" in error for error in found.errors.values())
    assert ["max_memory" in (one.error or "") for one in found.shared] == [True]
