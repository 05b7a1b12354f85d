"""``mmp encode --levels``: of pictures, books, tiles and several inputs together."""

import json
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures
from mmpcodec.codec.tiles.reduction import reduced
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.opening.contents import contents_of

SHAPE = 600, 1100


@pytest.fixture
def source():
    """A photograph-like picture of three planes."""
    rows, columns = np.indices(SHAPE)
    noise = np.random.default_rng(3).normal(0, 9, (*SHAPE, 3))
    planes = [np.sin(rows / 31 + k) + np.cos(columns / (17 + k)) for k in range(3)]
    samples = np.clip(128 + 50 * np.stack(planes, 2) + noise, 0, 255).astype(np.uint8)
    pictures.write(samples, "a.png")
    return samples


def renditions(path, page=0):
    return mmpcodec.open(path)[page].renditions


def test_the_file_equals_that_of_the_library(mmp, source):
    result = mmp("encode", "a.png", "--levels", "--quality", "80", "--effort", "1")
    metadata = pictures.read("a.png").metadata
    expected = mmpcodec.encode(source, quality=80, effort=1, levels=True, metadata=metadata)
    assert Path("a.mmp").read_bytes() == expected
    assert [each.shape for each in renditions("a.mmp")] == [(300, 550, 3), (150, 275, 3)]
    assert ", levels 1/2 to 1/4 +" in result.output
    assert f"-> {len(expected)} bytes" in result.output


def test_json_and_the_loss_of_lossless_files(mmp, source):
    result = mmp("encode", "a.png", "--levels", "--lossless", "--fast", "--verify")
    assert ", lossy, lambda 5.318, verified" in result.output
    np.testing.assert_array_equal(mmpcodec.open("a.mmp")[0], source)
    found = json.loads(mmp("encode", "a.png", "--levels", "--fast", "-f", "--json").stdout)
    assert found["levels"]["factors"] == [2, 4]
    assert 0 < found["levels"]["bytes"] < found["output_bytes"] / 3
    assert found["output_bytes"] == Path("a.mmp").stat().st_size
    assert "levels" not in json.loads(mmp("encode", "a.png", "--fast", "-f", "--json").stdout)


def test_pictures_too_small_for_levels(mmp, source):
    pictures.write(source[:300, :400], "small.png")
    result = mmp("encode", "small.png", "--levels", "--fast")
    assert "no levels, as its longer side has less than 511 samples" in result.output
    assert mmpcodec.inspect(Path("small.mmp").read_bytes()).header.width == 400


@pytest.mark.parametrize("lossless", [False, True])
def test_tiles_from_parts_give_the_same_levels(mmp, source, lossless):
    how = ["--lossless"] if lossless else ["--lambda", "20"]
    pictures.write(source, "a.tif")
    for name in ("a.png", "a.tif"):  # TIFF is read part by part
        options = ("--levels", "--tile", "128", "--fast", "--verify", "-o", f"{name}.mmp")
        result = mmp("encode", name, *how, *options)
        assert result.exit_code == 0, result.stderr
    one, other = (mmpcodec.open(f"a.{kind}.mmp")[0] for kind in ("png", "tif"))
    np.testing.assert_array_equal(one, other)
    for pair in zip(one.renditions, other.renditions, strict=True):
        np.testing.assert_array_equal(*pair)
    assert len(one.renditions) == 2


def test_measurements_have_exact_levels(mmp, source):
    samples = source[..., 0].astype(np.uint16) + 1000
    np.save("ct.npy", samples)
    result = mmp("encode", "ct.npy", "--levels", "--fast")
    assert ", levels 1/2 to 1/4 +" in result.output
    assert "lossy" not in result.output
    for factor, level in zip((2, 4), renditions("ct.mmp"), strict=True):
        np.testing.assert_array_equal(level, reduced(samples, factor, 16, 16))
    metadata = Metadata(text=(Calibration(2.0, -5.0, "HU").text(),))
    pictures.write(pictures.Picture(samples, 16, metadata), "ct.png")
    mmp("encode", "ct.png", "--levels", "--lossless", "--fast", "-f")
    np.testing.assert_array_equal(renditions("ct.mmp")[0], reduced(samples, 2, 16, 16))
    assert renditions("ct.mmp")[0].metadata.calibration.unit == "HU"


def test_pages_of_books_and_inputs_together(mmp, source):
    gray = source[..., 0]
    bilevel = gray > 128
    for name, samples in (("1.png", source), ("2.png", gray[:, :400]), ("3.png", bilevel)):
        pictures.write(samples, name)
    options = ("--levels", "--fast", "--verify")
    result = mmp("encode", "1.png", "2.png", "3.png", "--together", "-o", "all.mmp", *options)
    assert result.exit_code == 0, result.stderr
    assert "3 pages, " in result.output
    assert ", lossy levels +" in result.output
    assert ", without level 1/2, which would take more than 35 % bytes (page 3)" in result.output
    shapes = [[each.shape for each in page.renditions] for page in mmpcodec.open("all.mmp")]
    assert shapes == [[(300, 550, 3), (150, 275, 3)], [(300, 200)], [(150, 275)]]
    assert mmp("decode", "all.mmp", "-o", "book.tif").exit_code == 0
    result = mmp("encode", "book.tif", "--levels", "--fast")
    again = [[each.shape for each in page.renditions] for page in mmpcodec.open("book.mmp")]
    assert again == shapes
    level = np.asarray(renditions("book.mmp", 2)[0])
    np.testing.assert_array_equal(level, reduced(bilevel.astype(np.uint8), 4, 1, 8))


def test_levels_that_are_left_out_are_named(mmp, source):
    pictures.write(source[..., 0] > 128, "a.png")
    result = mmp("encode", "a.png", "--levels", "--fast")
    left = "without level 1/2, which would take more than 35 % bytes"
    assert f", lossless, {left}" in result.output
    facts = json.loads(mmp("encode", "a.png", "--levels", "--fast", "-f", "--json").stdout)
    assert (facts["levels"]["factors"], facts["levels"]["left_out"]) == ([4], [2])
    result = mmp("info", "a.mmp")
    assert "without level 1/2" in result.output
    assert f"1/4, +{facts['levels']['bytes'] / own_bytes('a.mmp'):.1%} bytes" in result.output
    picture = json.loads(mmp("info", "a.mmp", "--json").stdout)["pictures"][0]
    assert picture["levels_left_out"] == [2]
    assert picture["renditions"][0]["factor"] == 4
    pictures.write(source[:520, :540, 0] > 128, "b.png")
    result = mmp("encode", "b.png", "--levels", "--fast")
    assert "no levels, as the smallest one, 1/2, would take more than 35 % bytes" in result.output
    assert "1 level" not in mmp("info", "b.mmp").output


def own_bytes(path):
    """The bytes of the picture itself."""
    return contents_of(memoryview(Path(path).read_bytes())).entries[0].size


@pytest.mark.parametrize("target", [("--target-size", "50kB"), ("--target-bpp", "1")])
def test_targets_of_bytes_are_wrong_use(mmp, source, target):
    result = mmp("encode", "a.png", "--levels", *target)
    assert result.exit_code == 2
    assert f"--levels and {target[0]}: give only one of them" in result.stderr
    assert not Path("a.mmp").exists()
