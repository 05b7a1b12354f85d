"""The decoder in Node gives the samples of each conformance vector, or its error."""

import json
from dataclasses import replace
from hashlib import sha256
from math import gcd

import pytest
from support.vectors import (
    BAD,
    BAD_COLLECTIONS,
    BAD_JPEGS,
    COLLECTIONS,
    FOLDER,
    GOOD,
    KEPT_JPEGS,
    each,
)
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec.format import collection
from mmpcodec.opening.contents import read_contents


def resolution(found):
    """Return the resolution as the vectors state it, with reduced fractions."""
    if found is None:
        return None
    reduced = [(x // gcd(x, y), y // gcd(x, y)) for x, y in (found["x"], found["y"])]
    return [*(f"{x}/{y}" if y > 1 else f"{x}" for x, y in reduced), found["unit"]]


@each(GOOD)
def test_decodes_to_the_samples(node, vector):
    stated = json.loads((vector / "decoded.json").read_text())
    found = node.ask(path=vector / "stream.mmp")
    assert "error" not in found, found
    metadata = {**found["metadata"], "resolution": resolution(found["metadata"]["resolution"])}
    stated["metadata"].pop("dicom", None)  # a browser shows none of it
    assert metadata == stated["metadata"]
    assert found["sha"] == stated["samples_sha256"]
    names = "width", "height", "form", "depth"
    assert [found[name] for name in names] == [stated[name] for name in names]
    assert found["type"] == ("Uint8Array" if stated["depth"] <= 8 else "Uint16Array")


@each(KEPT_JPEGS)
def test_gives_the_jpeg_file_back(node, vector):
    found = node.ask(path=vector / "stream.mmp", jpeg=True)
    assert found.get("sha") == sha256((vector / "file.jpg").read_bytes()).hexdigest(), found


@each([*BAD, *BAD_JPEGS])
def test_refuses_what_is_damaged_with_the_text_of_python(node, vector):
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode((vector / "stream.mmp").read_bytes())
    found = node.ask(path=vector / "stream.mmp")
    assert found.get("error") == type(caught.value).__name__
    assert found["message"].removesuffix("not UTF-8") == str(caught.value).removesuffix(
        "not UTF-8: invalid start byte"
    )
    assert found["error"] == json.loads((vector / "error.json").read_text())["error"]


@each(COLLECTIONS)
def test_pictures_of_collections_decode_to_their_samples(node, vector):
    stated = json.loads((vector / "decoded.json").read_text())
    found = node.ask(path=vector / "stream.mmp", book=None)
    assert "error" not in found, found
    assert float(found["loops"]) == float(stated["loops"])  # a number of JavaScript
    roles = [each["role"] for each in stated["pictures"]]
    assert [each["role"] for each in found["all"]] == roles
    assert found["count"] == sum(role not in ("level", "thumbnail") for role in roles)
    shown = zip(stated["pictures"], found["all"], found["pages"], strict=True)
    for number, (expected, listed, own) in enumerate(shown):
        metadata = {**own["metadata"], "resolution": resolution(own["metadata"]["resolution"])}
        assert metadata == expected["metadata"]
        assert own["sha"] == expected["samples_sha256"]
        for name in ("width", "height", "form", "depth"):
            assert listed[name] == own[name] == expected[name]
        facts = expected["facts"]
        frame, piece = expected["role"] == "frame", expected["role"] == "slice"
        assert listed["duration"] == (pytest.approx(facts[0] / facts[1]) if frame else None)
        assert listed["position"] == (pytest.approx(facts[0] / 1e6) if piece else None)
        below = [each for each in stated["pictures"] if each["role"] in ("level", "thumbnail")]
        of = [each["facts"][0] for each in below]
        assert listed["renditions"] == of.count(number)


@each(BAD_COLLECTIONS)
def test_refuses_collections_that_are_damaged_with_the_text_of_python(node, vector):
    expected = json.loads((vector / "error.json").read_text())
    page = expected.pop("page", None)
    found = node.ask(path=vector / "stream.mmp", **({} if page is None else {"page": page}))
    assert {name: found.get(name) for name in expected} == expected


def test_a_page_must_be_there(node):
    path = FOLDER / "collection-pages" / "stream.mmp"
    for page in (0, 8, 1.5):
        found = node.ask(path=path, page=page)
        assert found["message"] == f"page = {page}: must be an integer from 1 to 7"
    found = node.ask(path=path)
    assert found["message"] == "the file holds 7 pictures; page opens one, 1 to 7"
    found = node.ask(path=FOLDER / "camera" / "stream.mmp", page=2)
    assert found["message"] == "page = 2: must be an integer from 1 to 1"


def test_limits_of_collections(node):
    path = FOLDER / "collection-pages" / "stream.mmp"
    found = node.ask(path=path, page=1, limits={"maxPictures": 6})
    assert found["message"] == (
        "Collections: 7 pictures, the limit is 6; limits.maxPictures raises it"
    )
    found = node.ask(path=path, page=1, limits={"maxMemory": 99})
    assert found["error"] == "LimitExceeded"
    assert "page 1: shared metadata can take" in found["message"]


def test_pages_of_a_url_are_fetched_alone(node):
    data = (FOLDER / "collection-pages" / "stream.mmp").read_bytes()
    size = collection.index_bytes(memoryview(data), len(data))
    gap = collection.write_record(collection.RecordKind.METADATA, 1 << 20)
    contents = read_contents(memoryview(data))
    contents.entries = [
        replace(entry, place=entry.place + len(gap) + (1 << 20)) if number > 2 else entry
        for number, entry in enumerate(contents.entries)
    ]
    place = contents.entries[2].place + contents.entries[2].size
    data = data[:place] + gap + bytes(1 << 20) + data[place:-size]
    data += collection.write_index(contents)
    stated = json.loads((FOLDER / "collection-pages" / "decoded.json").read_text())
    with RangeServer({"book.mmp": data}).running() as server:
        found = node.ask(url=server.url("book.mmp"), book=[7])
        assert found["pages"][0]["sha"] == stated["pictures"][6]["samples_sha256"]
        assert found["traffic"]["requests"] == len(server.sent) == 3
        assert found["traffic"]["bytes"] < 200_000


@pytest.mark.parametrize("name", ["rgb-16-photo", "palette-tiles", "cross-component-tiles"])
def test_workers_decode_as_the_thread_of_the_caller(node, name):
    path = FOLDER / name / "stream.mmp"
    alone, with_workers = (node.ask(path=path, workers=count) for count in (0, 2))
    assert alone["sha"] == with_workers["sha"]
