"""Colours, depths, metadata, tiles and regions from the command line."""

import json
import os
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture

METADATA = Metadata(
    icc=b"\0" * 36 + b"acsp" + b"\0" * 88,
    xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
    resolution=Resolution(Fraction(2835), Fraction(2835), "metre"),
    text=(("Title", "Shade"),),
)


def shade(planes, depth, height=70, width=90):
    """A picture with a gradient in each plane."""
    i, j = np.indices((height, width))
    samples = np.stack([(2 * i + (n + 1) * j) % (1 << depth) for n in range(planes)], axis=2)
    samples = samples.astype(np.uint8 if depth <= 8 else np.uint16)
    return samples[..., 0] if planes == 1 else samples


@pytest.fixture
def colours(mmp):
    """An RGB picture with metadata in c.png, and it."""
    picture = Picture(shade(3, 8), 8, METADATA)
    pictures.write(picture, "c.png")
    return picture


def psnr(a, b, white):
    return 10 * np.log10(white**2 / np.mean((a.astype(float) - b) ** 2))


def test_colours_and_metadata_go_there_and_back(mmp, colours):
    result = mmp("encode", "c.png", "-l", 8, "--preset", "photo", "--verify", "--json")
    facts = json.loads(result.stdout)
    assert (facts["form"], facts["depth"], facts["tiles"]) == ("RGB", 8, 1)
    assert mmp("decode", "c.mmp", "-o", "d.png").exit_code == 0
    back = pictures.read("d.png")
    assert back.metadata == METADATA
    assert facts["psnr"] == pytest.approx(psnr(colours.samples, back.samples, 255))
    assert facts["psnr"] > 38
    expected = mmpcodec.encode(colours.samples, 8, preset="photo", metadata=METADATA)
    assert Path("c.mmp").read_bytes() == expected


def test_strip(mmp, colours):
    mmp("encode", "c.png", "-l", 0, "--strip", "icc", "--strip", "text", "-o", "part.mmp")
    kept = mmpcodec.inspect(Path("part.mmp").read_bytes()).header.metadata
    assert kept == METADATA.without("icc", "text")
    mmp("encode", "c.png", "-l", 0, "--strip", "all", "-o", "none.mmp")
    assert mmpcodec.inspect(Path("none.mmp").read_bytes()).header.metadata == Metadata()
    mmp("encode", "c.png", "-l", 0)
    mmp("decode", "c.mmp", "--strip", "xmp", "-o", "d.png")
    assert pictures.read("d.png").metadata == METADATA.without("xmp")
    for command in (("encode", "c.png", "-o", "x.mmp"), ("decode", "c.mmp", "-o", "x.png")):
        wrong = mmp(*command, "--strip", "gps")
        assert wrong.exit_code == 2
        assert "metadata 'gps': must be one of all, icc, exif, xmp" in wrong.stderr


def test_what_a_format_cannot_hold_is_said(mmp, colours):
    mmp("encode", "c.png", "-l", 0)
    result = mmp("decode", "c.mmp", "-o", "d.npy")
    assert result.exit_code == 0
    assert "c.mmp: npy cannot hold all of: icc, xmp, resolution, text" in result.stderr
    assert mmp("decode", "c.mmp", "-o", "d.png").stderr == ""


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [1, 5, 8, 12, 16])
def test_every_form_and_depth_without_loss(mmp, planes, depth):
    picture = Picture(shade(planes, depth, 20, 30), depth)
    pictures.write(picture, "p.pam")
    assert mmp("encode", "p.pam", "-l", 0, "--verify").exit_code == 0
    assert mmp("decode", "p.mmp", "-o", "q.pam").exit_code == 0
    back = pictures.read("q.pam")
    assert back.depth == depth
    np.testing.assert_array_equal(back.samples, picture.samples)


@pytest.mark.parametrize(("planes", "depth"), [(1, 12), (3, 10), (4, 16), (2, 9), (1, 7)])
def test_every_form_and_depth_with_loss(mmp, planes, depth):
    samples = shade(planes, depth) // 2 + (1 << depth) // 4
    pictures.write(Picture(samples, depth), "p.pam")
    facts = json.loads(mmp("encode", "p.pam", "-l", 4, "--json", "--preset", "photo").stdout)
    assert facts["depth"] == depth
    mmp("decode", "p.mmp", "-o", "q.pam")
    back = pictures.read("q.pam").samples
    colours = 1 if planes < 3 else 3
    if planes in (2, 4):
        np.testing.assert_array_equal(back[..., -1], samples[..., -1])
        samples, back = samples[..., :colours], back[..., :colours]
    found = psnr(samples, back, (1 << depth) - 1)
    assert facts["psnr"] == pytest.approx(found)
    assert found > 38


def test_depth_of_the_file_can_be_named(mmp):
    samples = shade(1, 12)
    np.save("deep.npy", samples)
    assert json.loads(mmp("encode", "deep.npy", "-l", 0, "--json").stdout)["depth"] == 16
    named = mmp("encode", "deep.npy", "-l", 0, "--depth", 12, "-f", "--json")
    assert json.loads(named.stdout)["depth"] == 12
    assert mmpcodec.inspect(Path("deep.mmp").read_bytes()).header.white == 4095
    too_few = mmp("encode", "deep.npy", "-l", 0, "--depth", 5, "-f")
    assert too_few.exit_code == 1
    assert "depth = 5: the picture has a sample of " in too_few.stderr
    assert mmp("encode", "deep.npy", "--depth", 17, "-f").exit_code == 2


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
    assert "  format   version 1, 4 tiles of 64x64\n" in shown
    assert "  metadata icc: 128 bytes\n" in shown
    assert "  metadata resolution: 2835x2835 per metre\n" in shown
    assert "  metadata text Title: Shade\n" in shown
    assert pictures.read("map.png").samples.shape == (6 * 70 + 1, 6 * 90 + 1, 3)


def test_info_shows_each_text_and_nothing_of_it_steers_a_terminal(mmp):
    text = (("Title", "one"), ("Title", "two\nmetadata icc: 9 bytes"), ("A\x1b[2J", "\x07é"))
    data = mmpcodec.encode(np.zeros((4, 4), np.uint8), metadata=Metadata(text=text))
    Path("t.mmp").write_bytes(data)
    lines = mmp("info", "t.mmp").stdout.splitlines()
    assert [line for line in lines if "metadata" in line] == [
        "  metadata text Title: one",
        "  metadata text Title: two\\nmetadata icc: 9 bytes",
        "  metadata text A\\x1b[2J: \\x07é",
    ]
    facts = json.loads(mmp("info", "t.mmp", "--json").stdout)
    assert facts["metadata"] == {"text": [list(pair) for pair in text]}


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
    expected = whole.copy()
    expected[:64, 64:] = 0
    np.testing.assert_array_equal(pictures.read("b.png").samples, expected)
    elsewhere = mmp("decode", "bad.mmp", "-o", "e.png", "--region", "0,0,64,70")
    assert elsewhere.exit_code == 0


def test_what_is_cut_off_is_left_out(mmp, tiled):
    data = Path(tiled).read_bytes()
    Path("cut.mmp").write_bytes(data[: mmpcodec.inspect(data).header.tile_offsets[2]])
    partial = mmp("decode", "cut.mmp", "-o", "b.png", "--allow-partial")
    assert partial.exit_code == 3
    whole = mmpcodec.decode(data)
    whole[64:] = 0
    np.testing.assert_array_equal(pictures.read("b.png").samples, whole)


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
    assert 0 < facts["header_bytes"] < whole["header_bytes"]
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
