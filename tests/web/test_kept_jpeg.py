"""Kept JPEG files in Node: the file comes back, damage is named as in Python, metadata are its."""

import hashlib
import json
import random
import re
import struct
import subprocess
import zlib
from dataclasses import replace

import numpy as np
import pytest
from support.books import collection_of
from support.vectors import FOLDER
from support.web.decoder import WEB, missing
from support.web.kept import FILES, jpeg, mmp_of, profile
from support.web.range_server import RangeServer
from web.test_damage import check_ends, with_checksums
from web.test_limits import SIZES

import mmpcodec
from mmpcodec.backends import jpeg as jpegs
from mmpcodec.codec import kept_jpeg
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg, most_level_bytes
from mmpcodec.metadata import Metadata
from mmpcodec.opening.header import read_header
from mmpcodec.samples import Form

FLIPS = 40


def kept(name, form=2, **options):
    """The mmp file of a JPEG file."""
    return mmp_of(FILES[name], form, **options)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def python_error(data):
    """Name and text of the error of rebuilding the JPEG file, or (None, None)."""
    try:
        view = memoryview(data)
        header = read_header(view)
        stream = kept_jpeg.stream_of(view, header)
        if stream.jpeg is not None:
            kept_jpeg.file_of(stream, header, threads=1)
    except mmpcodec.FormatError as error:
        return type(error).__name__, str(error)
    return None, None


@pytest.mark.parametrize("form", [1, 2, 3])
@pytest.mark.parametrize("name", FILES)
def test_the_file_comes_back(node, name, form):
    found = node.ask(kept(name, form), jpeg=True)
    assert found.get("sha") == sha(FILES[name]), found
    smallest = mmpcodec.inspect(kept(name, form)).layers[0].tools.lossless_form
    assert found["kept"] == {"form": smallest, "bytes": len(FILES[name])}
    assert smallest == form or name != "colour"


def test_workers_rebuild_as_the_thread_of_the_caller(node):
    found = node.ask(kept("progressive"), jpeg=True, workers=2)
    assert found["sha"] == sha(FILES["progressive"])


def test_other_pictures_keep_no_file(node):
    for name in ("camera", "lossless-letters-1", "tiles-photo"):
        found = node.ask(path=FOLDER / name / "stream.mmp", jpeg=True)
        assert (found["kept"], found["sha"]) == (None, None)


def test_node_does_not_decode_the_samples(node):
    for question in ({}, {"region": [1, 2, 3, 4]}, {"workers": 1}):
        found = node.ask(kept("gray"), **question)
        assert found["error"] == "UnreadableJpeg"
        assert "only browsers decode it" in found["message"]
        assert "jpegFile gives the file" in found["message"]


@pytest.mark.parametrize("name", ["gray", "progressive", "thumbnail"])
@pytest.mark.parametrize("form", [1, 3])
def test_flips_end_as_in_python(node, name, form):
    data = kept(name, form)
    draw = random.Random(name)
    for _ in range(FLIPS // form):
        at = draw.randrange(read_header(memoryview(data)).size + 8, len(data))
        flipped = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        flipped = with_checksums(flipped)
        found = node.ask(flipped, jpeg=True)
        check_ends(found)
        assert (found.get("error"), found.get("message")) == python_error(flipped), at


def test_cut_payloads_end_as_in_python(node):
    data = kept("thumbnail")
    header = read_header(memoryview(data))
    stream = kept_jpeg.stream_of(memoryview(data), header)
    payload = bytes(stream.jpeg.payload)
    said = set()
    for size in (0, 1, 5, len(payload) // 2, len(payload) - 1, len(payload) + 1):
        cut = KeptJpeg(2, stream.jpeg.file_bytes, (payload + b"\0")[:size])
        damaged = of_tile(header, layers.write_jpeg(header, cut, stream.samples_crc))
        found = node.ask(damaged, jpeg=True)
        assert (found.get("error"), found.get("message")) == python_error(damaged)
        said.add(found["message"])
    assert any(text.startswith("Kept JPEG files: payload ends too early") for text in said)
    assert "Kept JPEG files: payload has bytes behind the last stripe" in said


def of_tile(header, tile):
    return container.write(container.with_sizes(header, (len(tile),)), [tile])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"form": Form.RGB_ALPHA}, "the form gray or RGB, not RGB with alpha"),
        ({"depth": 12}, "a depth of 8 without level bits"),
        ({"depth": 4}, "a depth of 8 without level bits"),
        ({"tile_size": 128}, "the tile size 0, not 128"),
    ],
)
def test_other_pictures_cannot_be_kept_files(node, change, words):
    header = replace(read_header(memoryview(kept("colour"))), **change)
    own = KeptJpeg(2, 100, b"abc")
    damaged = of_tile(header, layers.write_jpeg(header, own, 0))
    check_refused(node, damaged, words)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_fields_out_of_range_are_refused(node, place):
    """Layout, form and size of the file."""
    header = read_header(memoryview(kept("colour")))
    fields = [b"\1\4\2\5", b"\0\4\4\5", b"\0\4\2\0"][place]
    words = ["the layout 0, not 1", "lossless form is 4", "file bytes is 0, allowed is 1"][place]
    checked = header.samples_crc(0) + fields + b"abc"
    tile = header.stream_crc(zlib.crc32(checked)) + checked
    check_refused(node, of_tile(header, tile), words)


def check_refused(node, damaged, words):
    with pytest.raises(mmpcodec.FormatError, match=words) as caught:
        mmpcodec.decode(damaged)
    found = node.ask(damaged)
    assert (found["error"], found["message"]) == (type(caught.value).__name__, str(caught.value))


def test_a_file_of_another_checksum_is_refused(node):
    header = read_header(memoryview(kept("gray")))
    stream = kept_jpeg.stream_of(memoryview(kept("gray")), header)
    damaged = of_tile(header, layers.write_jpeg(header, stream.jpeg, stream.samples_crc ^ 1))
    found = node.ask(damaged, jpeg=True)
    assert "the JPEG file has" in found["message"]
    assert (found["error"], found["message"]) == python_error(damaged)


def test_metadata_are_those_of_the_file(node):
    found = node.ask(kept("thumbnail"), jpeg=True)["metadata"]
    own = mmpcodec.inspect(kept("thumbnail")).header.metadata
    assert found["exif"] == own.exif.hex() != ""
    assert found["icc"] == own.icc.hex() == profile(b"RGB ").hex()
    found = node.ask(kept("gray profile"), jpeg=True)["metadata"]
    assert found["icc"] == found["exif"] == ""  # a profile of other colours is left out
    assert found["resolution"] == {"x": [300, 1], "y": [150, 1], "unit": "inch"}


def test_a_profile_in_parts_is_joined(node):
    large = profile(b"RGB ") + random.Random(1).randbytes(100_000)
    data = mmp_of(jpeg(icc_profile=large), 1)
    assert node.ask(data, jpeg=True)["metadata"]["icc"] == large.hex()


def test_metadata_of_the_mmp_file_count_instead(node):
    data = kept("thumbnail", metadata=Metadata(xmp=b"<x/>"))
    found = node.ask(data, jpeg=True)["metadata"]
    assert (found["xmp"], found["exif"], found["icc"]) == (b"<x/>".hex(), "", "")


def test_metadata_of_a_damaged_file_are_those_of_the_header(node):
    """The file itself is refused, so only a page asks for them; decoding it names the damage."""
    data = kept("thumbnail")
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    found = node.ask(flipped)
    assert found["error"] == "CorruptStream"
    assert "stream CRC" in found["message"]


def test_a_file_of_a_server_is_fetched_once(node):
    """The beginning of the file, which has the header, and then the tile."""
    noise = np.random.default_rng(1).integers(0, 256, (300, 300, 3)).astype(np.uint8)
    file = jpeg(of=noise, quality=95)
    data = mmp_of(file, 1)
    assert len(data) > 1 << 16
    with RangeServer({"a.mmp": data}).running() as server:
        assert node.ask(url=server.url("a.mmp"), jpeg=True)["sha"] == sha(file)
        assert len(server.sent) == 2
        assert sum(server.sent) < len(data) + (1 << 16)


@pytest.mark.parametrize(
    ("limits", "words"),
    [({"maxMemory": 1 << 20}, "maxMemory raises"), ({"maxSeconds": 1e-6}, "maxSeconds raises")],
)
def test_limits_hold_for_the_file(node, limits, words):
    found = node.ask(kept("gray"), jpeg=True, limits=limits)
    assert found["error"] == "LimitExceeded"
    assert words in found["message"]


def test_levels_of_more_than_32_bits_end_in_an_error(node):
    """Their bytes in memory have no number in the module."""
    file = bytearray(FILES["gray"])
    frame = file.index(b"\xff\xc0")
    file[frame + 5 : frame + 9] = struct.pack(">HH", 16400, 65500)
    header = Header(65500, 16400, Form.GRAY)
    coded = jpegs.encode(bytes(file), 1, most_level_bytes(header.width, header.height))
    own = KeptJpeg(coded.form, len(file), coded.payload)
    data = of_tile(header, layers.write_jpeg(header, own, zlib.crc32(file)))
    found = node.ask(data, jpeg=True, limits={"maxMemory": 1 << 40, "maxSeconds": 1e4})
    assert found["error"] == "LimitExceeded"
    assert "decoding takes more memory than" in found["message"]


@pytest.mark.usefixtures("in_browsers")
@pytest.mark.parametrize("form", [1, 2, 3])
def test_memory_is_estimated_as_in_python_and_enough(tmp_path, form):
    if reason := missing():
        pytest.skip(reason)
    path = tmp_path / "a.mmp"
    path.write_bytes(kept("colour", form))
    with pytest.raises(mmpcodec.LimitExceeded) as caught:
        mmpcodec.decode(path.read_bytes(), limits=mmpcodec.DecodeLimits(max_memory=1), threads=1)
    estimated = int(re.search(r"can take (\d+) bytes", str(caught.value))[1])
    sizes = SIZES.replace(".decode(", ".jpegFile(")
    arguments = ["node", "--input-type=module", "-e", sizes]
    arguments += [(WEB / "decoder" / "index.js").as_uri(), str(path)]
    used = json.loads(subprocess.run(arguments, capture_output=True, check=True, text=True).stdout)
    assert used <= estimated < 3 * used


def test_pages_of_a_collection_are_kept_files(node):
    shared = Metadata(xmp=b"<x>" + bytes(100) + b"</x>")
    files = [kept("thumbnail"), *(kept("gray", metadata=shared) for _ in range(2))]
    data = collection_of(files)
    for page, name in ((1, "thumbnail"), (2, "gray"), (3, "gray")):
        found = node.ask(data, page=page, jpeg=True)
        assert found["sha"] == sha(FILES[name])
        assert found["metadata"]["xmp"] == ("" if page == 1 else shared.xmp.hex())
        assert (found["metadata"]["exif"] != "") == (page == 1)
