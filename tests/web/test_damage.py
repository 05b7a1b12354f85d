"""Damaged files and absurd sizes end in named errors in Node: soon, and within the memory limit."""

import random
import zlib
from dataclasses import replace

import numpy as np
import pytest
from support.tiled import samples_of
from support.vectors import FOLDER
from support.web.decoder import Node, missing

import mmpcodec
from mmpcodec.format import container, numbers
from mmpcodec.metadata import Metadata

MOST_SECONDS = 1.0
NAMES = {"BadMagic", "UnsupportedVersion", "TruncatedStream", "CorruptStream", "LimitExceeded"}
SOURCES = [
    "camera", "text-preset", "rgb-photo", "mixed-preset", "lossless-letters-1", "tiles-photo",
    "cross-component-2", "palette-gray", "lossless-gray-6", "ternary-all", "fixed-filters-20",
    "fine",
]  # fmt: skip
"""Vectors of each coding and filter."""
FLIPS = 30
"""Flips of a byte of each vector, half of them with checksums that match."""


def with_checksums(data):
    """Return a file of one tile with stream and header checksums that match, or the bytes as is."""
    try:
        header = container.read_header(memoryview(data))
    except mmpcodec.FormatError:
        return data
    if len(header.tile_bytes) > 1:
        return data
    rest = data[header.size + 4 :]
    return data[: header.size] + zlib.crc32(rest).to_bytes(4, "big") + rest


def error_in_python(data):
    """Return name and text of the error of Python for a file; None for a picture.

    Limits have other names in Python, so their text is None.
    """
    try:
        mmpcodec.decode(data, limits=mmpcodec.DecodeLimits(max_samples=1 << 20))
    except mmpcodec.LimitExceeded as error:
        return type(error).__name__, None
    except mmpcodec.FormatError as error:
        return type(error).__name__, str(error)
    return None, None


def check_ends(found):
    """Check that an answer came soon: a picture, or an error of a file."""
    assert found["ms"] < 1000 * MOST_SECONDS
    if "error" in found:
        assert found["error"] in NAMES, found


@pytest.mark.parametrize("name", SOURCES)
def test_truncations_are_refused_as_in_python(node, name):
    data = (FOLDER / name / "stream.mmp").read_bytes()
    for size in {0, 3, 9, len(data) // 3, len(data) // 2, len(data) - 1}:
        found = node.ask(data[:size])
        check_ends(found)
        with pytest.raises(mmpcodec.FormatError) as caught:
            mmpcodec.decode(data[:size])
        assert (found["error"], found["message"]) == (
            type(caught.value).__name__,
            str(caught.value),
        )


@pytest.mark.parametrize("name", SOURCES)
def test_flips_end_as_in_python(node, name):
    data = (FOLDER / name / "stream.mmp").read_bytes()
    draw = random.Random(name)
    for number in range(FLIPS):
        at = draw.randrange(len(data))
        flipped = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        if number % 2:
            flipped = with_checksums(flipped)
        found = node.ask(flipped, limits={"maxSamples": 1 << 20})
        check_ends(found)
        name, text = error_in_python(flipped)
        assert found.get("error") == name, (at, found)
        assert text is None or found["message"] == text, (at, found)


def test_sizes_of_more_than_32_bits_end_as_in_python(node):
    """Each byte becomes a number that is 2^32 larger; one of them is the size of a stream."""
    samples = samples_of((3, 5), 3, 8)
    data = mmpcodec.encode(samples, 0, preset="lossless")
    header = container.read_header(memoryview(data))
    said = set()
    for at in range(header.size + 4, len(data)):
        if data[at] < 128:
            size = numbers.number(data[at] + 2**32)
            rest = data[header.size + 4 : at] + size + data[at + 1 :]
            tile = zlib.crc32(rest).to_bytes(4, "big") + rest
            grown = container.write(replace(header, tile_bytes=(len(tile),)), [tile])
            with pytest.raises(mmpcodec.FormatError) as caught:
                mmpcodec.decode(grown)
            found = node.ask(grown)
            assert found["error"] == type(caught.value).__name__, (at, found, caught.value)
            said |= {found["message"]} & {str(caught.value)}
    assert any("stream 0 has 42949673" in text for text in said), said


@pytest.mark.parametrize("size", [2**53, 2**53 + 1, 2**60 + 12345, 2**62 - 1])
def test_numbers_that_a_double_does_not_hold_are_named_as_in_python(node, size):
    """The size of a chunk of metadata, in a file of 1x1 samples."""
    data = mmpcodec.encode(np.zeros((1, 1), np.uint8), metadata=Metadata(xmp=b"x"))
    at = data.index(b"\x03\x01x")  # kind, size and content of the chunk
    grown = data[: at + 1] + numbers.number(size) + data[at + 2 :]
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode(grown)
    assert f" of {size} bytes of chunk" in str(caught.value)
    assert node.ask(grown)["message"] == str(caught.value)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"maxSamples": 1000}, "maxSamples raises it"),
        ({"maxDimension": 10}, "maxDimension raises it"),
        ({"maxMemory": 1 << 20}, "maxMemory raises it"),
        ({"maxSeconds": 1e-9}, "maxSeconds raises it"),
    ],
)
def test_limits_are_named_in_the_error(node, limits, words):
    found = node.ask(path=FOLDER / "text-preset" / "stream.mmp", limits=limits)
    assert found["error"] == "LimitExceeded"
    assert words in found["message"]


@pytest.mark.parametrize(
    "limits", [{"maxSample": 1}, {"toString": 1}, {"maxSamples": 0}, {"maxMemory": "1"}]
)
def test_wrong_limits_are_refused(node, limits):
    found = node.ask(path=FOLDER / "camera" / "stream.mmp", limits=limits)
    assert found["error"] == "ParameterError"
    assert next(iter(limits)) in found["message"]


def test_an_absurd_size_is_refused_before_memory_is_taken():
    if reason := missing():
        pytest.skip(reason)
    data = (FOLDER / "camera" / "stream.mmp").read_bytes()
    header = mmpcodec.inspect(data).header
    absurd = replace(header, width=1 << 24, height=1 << 24)
    node = Node()
    before = node.ask(data)["memory"]
    found = node.ask(container.write(absurd, [data[header.size :]]))
    node.end()
    assert found["error"] == "LimitExceeded"
    assert found["memory"] < before + (64 << 20)


def test_memory_does_not_grow_with_damaged_files():
    """An instance that an error leaves is thrown away, and its memory with it."""
    if reason := missing():
        pytest.skip(reason)
    data = (FOLDER / "bad-lossless-cut" / "stream.mmp").read_bytes()
    node = Node("--expose-gc")
    seen = [node.ask(data)["memory"] for _ in range(120)]
    node.end()
    assert max(seen[60:]) < max(seen[:60]) + (256 << 20)


def test_an_instance_takes_no_more_memory_than_its_limit(node):
    limit = 64 << 20
    found = node.ask(room=limit // 4, maxMemory=limit)
    assert limit // 4 < found["size"] <= limit
    refused = node.ask(room=limit, maxMemory=limit)
    assert refused["error"] == "LimitExceeded"
    assert "memory" in refused["message"]


def test_a_signal_ends_the_work():
    if reason := missing():
        pytest.skip(reason)
    # In one tile: a worker that is not ended goes on for a second or more.
    data = mmpcodec.encode(samples_of((1200, 1200), 1, 8), 0, preset="lossless")
    node = Node()
    found = node.ask(data, workers=1, abort=200, settle=700)
    again = node.ask(data[:200], workers=1)
    node.end()
    assert found["error"] == "TimeoutError"
    assert found["ms"] < 700
    assert found["busy"] < 350
    assert again["error"] == "TruncatedStream"
