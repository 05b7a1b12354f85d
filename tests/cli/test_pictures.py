"""Colours, depths and metadata from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.picture_files import METADATA, shade

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture


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
    low, high = facts["range"]
    assert high - low < 1 << depth
    found = psnr(samples, back, high - low)
    assert facts["psnr"] == pytest.approx(found)
    assert found > 36


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


def test_a_frame_of_an_animation_is_chosen_by_its_number(run, samples):
    frames = [Image.fromarray(samples), Image.fromarray(255 - samples)]
    frames[0].save("a.gif", save_all=True, append_images=frames[1:])
    assert run("encode", "a.gif", "-l", 0)[::2] == (0, "")
    assert [frame.shape for frame in mmpcodec.open("a.mmp")] == [samples.shape] * 2
    Path("a.mmp").unlink()
    assert run("encode", "a.gif", "-l", 0, "--page", 2)[::2] == (0, "")
    np.testing.assert_array_equal(mmpcodec.decode(Path("a.mmp").read_bytes()), 255 - samples)
    assert run("compare", "a.gif", "a.mmp", "--page", 2)[1].startswith(b"equal")
    assert run("median", "a.gif", "-r", 1, "--page", 1)[0] == 0


def test_what_is_left_out_is_said_once_and_stands_in_json(run, samples):
    inks = Image.fromarray(samples).convert("CMYK")
    inks.save("a.jpg")
    said = "mmp: a.jpg: holds CMYK colours, which are converted to RGB\n"
    code, output, errors = run("encode", "a.jpg", "-l", 0, "--samples", "--json")
    assert (code, errors) == (0, said)
    assert json.loads(output)["left_out"] == ["cmyk"]
    code, output, errors = run("compare", "a.jpg", "a.mmp", "--json")
    assert (code, errors) == (0, said)
    assert json.loads(output)["left_out"] == ["cmyk"]
    assert run("encode", "a.jpg", "-f", "--quiet")[2] == ""
    code, _, errors = run("encode", "a.jpg", "-f", "--strict")
    assert code == 1
    assert "a.jpg: holds CMYK colours, which are converted to RGB; strict reading refuses" in errors
    Image.fromarray(samples).save("b.png")
    assert json.loads(run("encode", "b.png", "--json")[1])["left_out"] == []
    assert "left_out" not in json.loads(run("info", "b.mmp", "--json")[1])


def test_info_shows_each_text_and_nothing_of_it_steers_a_terminal(mmp):
    text = (("Title", "one"), ("Title", "two\nmetadata icc: 9 bytes"), ("A\x1b[2J", "\x07é"))
    data = mmpcodec.encode(np.zeros((4, 4), np.uint8), metadata=Metadata(text=text))
    Path("t.mmp").write_bytes(data)
    lines = mmp("info", "t.mmp").stdout.splitlines()
    assert [line for line in lines if line.lstrip().startswith("metadata")] == [
        "  metadata text Title: one",
        "  metadata text Title: two\\nmetadata icc: 9 bytes",
        "  metadata text A\\x1b[2J: \\x07é",
    ]
    facts = json.loads(mmp("info", "t.mmp", "--json").stdout)
    assert facts["metadata"] == {"text": [list(pair) for pair in text]}


@pytest.mark.parametrize("shape", [(10, 40000), (40000, 10)], ids=["wide", "high"])
def test_long_strips_go_through_every_format_that_holds_them(mmp, shape):
    samples = (np.indices(shape).sum(axis=0) % 200).astype(np.uint8)
    for format in {*pictures.FORMATS} - {"pbm", "ppm", "webp"}:
        pictures.write(samples, f"a.{format}")
        source = pictures.read(f"a.{format}").samples
        assert mmp("encode", f"a.{format}", "-l", 0, "--preset", "plain", "-f").exit_code == 0
        assert mmp("decode", "a.mmp", "-o", f"b.{format}", "-f").exit_code == 0
        if format == "jpg":
            assert pictures.read("b.jpg").samples.shape == shape
        else:
            np.testing.assert_array_equal(pictures.read(f"b.{format}").samples, source)
    refused = mmp("decode", "a.mmp", "-o", "b.webp")
    assert refused.exit_code == 1
    assert (
        "pixels, more than 16383 in a row or column: must be one of pgm, pnm, pam" in refused.stderr
    )
    assert mmp("info", "a.mmp", "--map", "map.png").exit_code == 0
    for command in ("highlight", "median"):
        radius = ("-r", 1) if command == "median" else ()
        assert mmp(command, "a.png", *radius).exit_code == 0
