"""Tiles and regions from the command line."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import METADATA, shade

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def tiled(mmp, colours):
    result = mmp("encode", "c.png", "-l", 20, "--tile", 64, "--preset", "photo", "--verify")
    assert result.exit_code == 0, result.output
    assert "RGB of 8 bits, 4 tiles, " in result.stdout
    return "c.mmp"


def test_tiles_are_those_of_the_library(tiled, colours):
    expected = mmpcodec.encode(colours.samples, 20, preset="photo", tile_size=64, metadata=METADATA)
    assert Path(tiled).read_bytes() == expected


def test_tiles_from_standard_input(mmp, tiled):
    data = Path("c.png").read_bytes()
    mmp("encode", "-", "-o", "s.mmp", "-l", 20, "--tile", 64, "--preset", "photo", input=data)
    assert Path("s.mmp").read_bytes() == Path(tiled).read_bytes()


def test_tiles_of_a_pipe_with_a_name(mmp, tiled):
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=[Path("c.png").read_bytes()])
    writer.start()
    result = mmp("encode", "pipe", "-o", "s.mmp", "-l", 20, "--tile", 64, "--preset", "photo")
    writer.join()
    assert result.exit_code == 0, result.stderr
    assert Path("s.mmp").read_bytes() == Path(tiled).read_bytes()


def test_depth_of_tiles(mmp):
    samples = shade(1, 12)
    np.save("d.npy", samples)
    options = ("-l", 20, "--tile", 64, "--preset", "photo")
    result = mmp("encode", "d.npy", "--depth", 12, "--verify", *options)
    assert result.exit_code == 0, result.stderr
    expected = mmpcodec.encode(samples, 20, preset="photo", tile_size=64, depth=12)
    assert Path("d.mmp").read_bytes() == expected
    refused = mmp("encode", "d.npy", "--depth", 7, "-o", "e.mmp", *options)
    assert refused.exit_code == 1
    assert "depth = 7: the picture has a sample of 189, allowed" in refused.stderr
    assert not Path("e.mmp").exists()


@pytest.mark.parametrize("name", ["large.npy", "large.tif", "large.pgm"])
def test_limits_hold_for_parts_of_pictures_that_are_read_in_parts(mmp, name):
    samples = np.arange(200 * 300, dtype=np.uint32).reshape(200, 300).astype(np.uint8)
    if name.endswith(".npy"):
        np.save(name, samples)
    else:
        pictures.write(samples, name)
    options = ("--lossless", "--fast", "--tile", 64, "--max-samples", 20_000)
    result = mmp("encode", name, *options)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(mmpcodec.imread("large.mmp"), samples)


def test_tiles_are_verified_before_they_go_to_standard_output(mmp, tiled):
    options = ("-l", 20, "--tile", 64, "--preset", "photo", "--verify")
    result = mmp("encode", "c.png", "-o", "-", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == Path(tiled).read_bytes()
    assert ", verified" in result.stderr


def test_info_of_tiles(mmp, tiled):
    facts = json.loads(mmp("info", tiled, "--json").stdout)
    assert (facts["tiles"], facts["tile_size"], len(facts["layers"])) == (4, 64, 12)
    found = mmpcodec.inspect(Path(tiled).read_bytes(), decode=True)
    for name, total in facts["bits"].items():
        assert total == pytest.approx(sum(layer.trace.bits[name] for layer in found.layers))
    shown = mmp("info", tiled, "--map", "map.png").stdout
    assert "  format   version 3, 4 tiles of 64x64\n" in shown
    assert "  metadata icc: 128 bytes\n" in shown
    assert "  metadata resolution: 2835x2835 per metre\n" in shown
    assert "  metadata text Title: Shade\n" in shown
    assert pictures.read("map.png").samples.shape == (6 * 70 + 1, 6 * 90 + 1, 3)


def test_region(mmp, tiled):
    whole = mmpcodec.decode(Path(tiled).read_bytes())
    result = mmp("decode", tiled, "--region", "60,50,10,20", "-o", "r.png", "--json")
    facts = json.loads(result.stdout)
    assert (facts["width"], facts["height"]) == (10, 20)
    np.testing.assert_array_equal(pictures.read("r.png").samples, whole[50:70, 60:70])


@pytest.mark.parametrize(
    ("region", "code"),
    [
        ("1,2,3", 2),
        ("a,b,c,d", 2),
        ("-1,0,5,5", 2),
        ("", 2),
        ("0,0,\u00b2,5", 2),
        ("0,0,5," + "9" * 5000, 2),
        ("0,0,0,5", 1),
        ("80,0,11,5", 1),
    ],
)
def test_wrong_regions(mmp, tiled, region, code):
    result = mmp("decode", tiled, "--region", region, "-o", "r.png")
    assert result.exit_code == code
    assert "region = " in result.stderr
    assert not Path("r.png").exists()


def test_a_bad_tile_does_not_lose_the_others(mmp, tiled):
    data = Path(tiled).read_bytes()
    whole = mmpcodec.decode(data)
    header = mmpcodec.inspect(data).header
    place = header.tile_offsets[1] + 20
    Path("bad.mmp").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    refused = mmp("decode", "bad.mmp", "-o", "b.png")
    assert refused.exit_code == 1
    assert "tile 1, 26x64 at (64, 0): stream CRC is " in refused.stderr
    partial = mmp("decode", "bad.mmp", "-o", "b.png", "--allow-partial")
    assert partial.exit_code == 3
    assert "bad.mmp: Layers at byte " in partial.stderr
    assert partial.stdout.endswith(", 1 bad tile\n")
    # Borders with the bad tile are not filtered.
    found = pictures.read("b.png").samples
    assert not found[:64, 64:].any()
    np.testing.assert_array_equal(found[:56, :56], whole[:56, :56])
    np.testing.assert_array_equal(found[72:], whole[72:])
    elsewhere = mmp("decode", "bad.mmp", "-o", "e.png", "--region", "0,0,56,70")
    assert elsewhere.exit_code == 0
    assert mmp("decode", "bad.mmp", "-o", "f.png", "--region", "0,0,57,70").exit_code == 1


def test_what_is_cut_off_is_left_out(mmp, tiled):
    data = Path(tiled).read_bytes()
    Path("cut.mmp").write_bytes(data[: mmpcodec.inspect(data).header.tile_offsets[2]])
    partial = mmp("decode", "cut.mmp", "-o", "b.png", "--allow-partial")
    assert partial.exit_code == 3
    found = pictures.read("b.png").samples
    np.testing.assert_array_equal(found[:56], mmpcodec.decode(data)[:56])
    assert not found[64:].any()


def test_info_of_bad_tiles(mmp, tiled):
    data = Path(tiled).read_bytes()
    whole = json.loads(mmp("info", tiled, "--json").stdout)
    place = mmpcodec.inspect(data).header.tile_offsets[3] + 20
    Path("bad.mmp").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    assert mmp("info", "bad.mmp").exit_code == 1
    shown = mmp("info", "bad.mmp", "--allow-partial", "--json")
    assert shown.exit_code == 3
    facts = json.loads(shown.stdout)
    assert [bad["tile"] for bad in facts["bad_tiles"]] == [3]
    assert facts["layers"] == whole["layers"][:9]
    assert 0 < facts["overhead_bytes"] < whole["overhead_bytes"]
    assert "  bad      Layers at byte " in mmp("info", "bad.mmp", "--allow-partial").stdout


def test_a_file_without_a_good_tile_becomes_no_picture(mmp, tiled):
    data = Path(tiled).read_bytes()
    Path("cut.mmp").write_bytes(data[: mmpcodec.inspect(data).header.size])
    refused = mmp("decode", "cut.mmp", "-o", "b.png", "--allow-partial")
    assert refused.exit_code == 1
    assert "tile 0, 64x64 at (0, 0): file has " in refused.stderr
    assert not Path("b.png").exists()


def test_counts_by_tiles_are_those_at_once(mmp, colours):
    """A file is read tile by tile, standard input as a whole."""
    options = ("-l", 20, "--tile", 64, "--preset", "photo", "--json")
    by_tiles = json.loads(mmp("encode", "c.png", *options).stdout)
    data = Path("c.png").read_bytes()
    at_once = json.loads(mmp("encode", "-", "-o", "s.mmp", *options, input=data).stdout)
    for name in ("bits", "leaves", "blocks", "modes"):
        assert by_tiles[name] == at_once[name]
    assert sum(by_tiles["blocks"].values()) == sum(by_tiles["modes"].values()) > 0


@pytest.mark.parametrize("size", ["63", "-1", "x", str((1 << 24) + 1)])
def test_wrong_tiles(mmp, colours, size):
    result = mmp("encode", "c.png", "--tile", size)
    assert result.exit_code == 2
    assert not Path("c.mmp").exists()
