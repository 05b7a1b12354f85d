"""The limits of the web decoder count memory and work as those of Python."""

import json
import re
import subprocess

import numpy as np
import pytest
from support.vectors import GOOD, each
from support.web.decoder import WEB, Node, missing

import mmpcodec
from mmpcodec.codec.decoder import read_tile
from mmpcodec.codec.limits import memory, seconds
from mmpcodec.codec.limits.seconds import seconds_to_decode

SIZES = """
const { readFileSync } = await import("node:fs"), made = [], Usual = WebAssembly.Memory;
WebAssembly.Memory = class extends Usual {
  constructor(limits) { super(limits); made.push(this); }
};
const { createDecoder } = await import(process.argv[1]);
await createDecoder({ workers: 0 }).decode(readFileSync(process.argv[2]));
console.log(JSON.stringify(Math.max(...made.map(({ buffer }) => buffer.byteLength))));
"""
"""Decodes a file in Node and prints the bytes of the memory of WebAssembly."""


def test_tables_of_seconds_are_those_of_python():
    """This needs no Node."""
    text = (WEB / "decoder" / "limits.js").read_text()
    constants = re.findall(r"^const ([A-Z_]+) = ([][\d.e, -]+);$", text, re.MULTILINE)
    found = {name: json.loads(value) for name, value in constants}

    def by_form(table):
        return [table[form] for form in (1, 2, 3)]

    for name in ("LOSSLESS_PLANE", "FITTED_COLUMNS", "REPEATING", "REPEATING_TABLES", "TWO_VALUES"):
        assert found[name][1:] == by_form(getattr(seconds, name)), name
    assert found["FITS"][1:] == [list(costs) for costs in by_form(seconds.FITS)]
    rates = list(zip(found["LOSSLESS_SAMPLE"], found["LOSSLESS_LATER"], strict=True))
    assert rates[1:] == by_form(seconds.LOSSLESS)
    numbers = ("TILE", "FLAT", "LOSSLESS_BYTE", "REPEATING_FLAT", "REPEATING_REACH")
    for name in (*numbers, "TWO_VALUES_FLAT", "TWO_VALUES_REACH", "TWO_VALUES_BYTE"):
        assert found[name] == getattr(seconds, name), name
    assert (found["TREES_SAMPLE"], found["BLOCKS_SAMPLE"]) == (seconds.TREES, seconds.BLOCKS)
    assert found["JPEG_FILE_BYTES"] == memory.JPEG_FILE_BYTES
    for name in ("JPEG_FLAT", "JPEG_LEVEL", "JPEG_REACH"):
        assert found[name][1:] == by_form(getattr(seconds, name)), name
    for named in re.findall(r"^const \[(JPEG_.*)\] = (.*);$", text, re.MULTILINE):
        names, numbers = named[0].split(", "), json.loads(named[1])
        assert [getattr(seconds, name) for name in names] == numbers
    mebibytes = re.search(r"^const JPEG_BYTES = (.*)\.map", text, re.MULTILINE)[1]
    assert [size << 20 for size in json.loads(mebibytes)[1:]] == by_form(memory.JPEG_BYTES)
    named = re.search(r"^const \[(REPEATING_PIXEL_.*)\] = (.*);$", text, re.MULTILINE)
    assert [getattr(memory, name) for name in named[1].split(", ")] == json.loads(named[2])


@each(GOOD)
def test_limits_count_as_those_of_python(node, vector, in_browsers):
    data = (vector / "stream.mmp").read_bytes()
    with pytest.raises(mmpcodec.LimitExceeded) as caught:
        mmpcodec.decode(data, limits=mmpcodec.DecodeLimits(max_memory=1), threads=1)
    expected = re.sub(r"max_memory \(--[a-z-]+\)", "limits.maxMemory", str(caught.value))
    assert node.ask(data, limits={"maxMemory": 1}).get("message") == expected


@pytest.mark.parametrize(
    ("shape", "depth", "effort"),
    [
        ((90, 120), 8, 6),
        ((90, 120, 4), 16, 6),
        ((90, 120, 3), 8, 2),
        ((90, 120), 8, 1),
        ((1, 9000, 2), 8, 6),
        ((300, 3000), 16, 6),
    ],
)
def test_lossless_samples_take_no_more_memory_than_estimated(tmp_path, shape, depth, effort):
    if reason := missing():
        pytest.skip(reason)
    samples = np.random.default_rng(1).integers(0, 1 << depth, shape)
    samples = samples.astype(np.uint8 if depth == 8 else np.uint16)
    options = {"lam": 0, "preset": "lossless", "effort": effort}
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(samples, **options))
    arguments = ["node", "--input-type=module", "-e", SIZES]
    arguments += [(WEB / "decoder" / "index.js").as_uri(), str(path)]
    used = json.loads(subprocess.run(arguments, capture_output=True, check=True, text=True).stdout)
    node = Node()
    message = node.ask(path=path, limits={"maxMemory": 1})["message"]
    node.end()
    estimated = int(re.search(r"decoding can take (\d+) bytes", message)[1])
    # Tables of pixels that repeat, and of three predictors, are counted where noise has neither.
    assert used <= estimated < 9 * used


def test_a_long_row_of_lossless_samples_is_within_the_usual_limits(node):
    samples = np.zeros((1, 200_000, 4), np.uint8)
    data = mmpcodec.encode(samples, 0, preset="lossless")
    assert node.ask(data)["width"] == 200_000


def test_tiles_that_do_not_fit_together_are_decoded_one_after_the_other():
    if reason := missing():
        pytest.skip(reason)
    samples = np.random.default_rng(1).integers(0, 256, (128, 128, 3)).astype(np.uint8)
    data = mmpcodec.encode(samples, 0, preset="lossless", tile_size=64)
    node = Node()
    found = node.ask(data, workers=4, limits={"maxMemory": 250 << 20})
    refused = node.ask(data, workers=4, limits={"maxMemory": 100 << 20})
    node.end()
    assert (found["width"], found["height"]) == (128, 128)
    assert refused["error"] == "LimitExceeded"


@each(GOOD)
def test_seconds_count_as_those_of_python_without_flat_planes(node, vector):
    data = (vector / "stream.mmp").read_bytes()
    header = mmpcodec.inspect(data).header
    view = memoryview(data)
    streams = [(tile, read_tile(view, header, tile)) for tile in header.tiles]
    estimate = seconds_to_decode(streams, header.level_depth, header.planes, peek=False)
    found = node.ask(data, limits={"maxSeconds": 1.001 * estimate})
    assert found.get("error") in (None, "UnreadableJpeg")  # Node does not decode JPEG
    found = node.ask(data, limits={"maxSeconds": 0.999 * estimate})
    assert "maxSeconds raises it" in found["message"]
