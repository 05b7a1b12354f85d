"""``mmp decode --scale``, and levels in thumbnails and zarr stores."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import METADATA

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.exits import ExitCode
from mmpcodec.codec.tiles.reduction import reduced, reduced_metadata
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.opening.contents import contents_of

HOW = {"effort": 1, "preset": "lossless"}


def shades(height, width, planes=3):
    rows, columns = np.indices((height, width))
    return np.stack([rows * k + columns for k in range(planes)], axis=2).astype(np.uint8)


@pytest.fixture
def marked():
    """A page of zeros with levels of 20 and 40, and a page of 100 without levels."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(mmpcodec.encode(np.zeros((600, 800), np.uint8), 0, tile_size=128, **HOW))
    for factor in (2, 4):
        level = np.full((600 // factor, 800 // factor), 10 * factor, np.uint8)
        writer.add(mmpcodec.encode(level, 0, **HOW), Role.LEVEL, (0,))
    writer.close()
    Path("marked.mmp").write_bytes(stream.getvalue())
    return "marked.mmp"


@pytest.fixture
def book():
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for page in (10, 90):
        writer.add(mmpcodec.encode(np.full((40, 60), page, np.uint8), 0, **HOW))
    writer.close()
    Path("book.mmp").write_bytes(stream.getvalue())
    return "book.mmp"


@pytest.mark.parametrize("scale", ["1/3", "0.25"])
def test_values_are_means(mmp, scale):
    samples = shades(90, 121)
    Path("a.mmp").write_bytes(mmpcodec.encode(samples, 0, metadata=METADATA, **HOW))
    result = mmp("decode", "a.mmp", "--scale", scale, "-o", "a.tif")
    factor = {"1/3": 3, "0.25": 4}[scale]
    assert f", at 1/{factor} of the size, " in result.stderr + result.output
    found = pictures.read("a.tif")
    np.testing.assert_array_equal(found.samples, reduced(samples, factor, 8, 8))
    resolution = reduced_metadata(METADATA, 8, factor).resolution
    assert found.metadata.resolution.per_metre() == resolution.per_metre()
    assert found.metadata.icc == METADATA.icc


def test_the_nearest_larger_level_is_decoded_and_named(mmp, marked):
    for scale, level, text in (
        ("1/2", 20, "at 1/2 of the size, from level 1/2, "),
        ("1/8", 40, "at 1/8 of the size, from level 1/4, "),
        ("1/3", 0, "at 1/3 of the size, "),
    ):
        result = mmp("decode", marked, "--scale", scale, "-o", "a.png", "-f")
        assert text in result.stderr + result.output
        assert (pictures.read("a.png").samples == level).all()
    facts = json.loads(mmp("decode", marked, "--scale", "1/8", "--json", "-f").stdout)
    assert (facts["factor"], facts["level"], facts["width"], facts["height"]) == (8, 4, 100, 75)
    part = mmp("decode", marked, "--scale", "1/2", "--region", "2,2,21,20", "-o", "b.png")
    assert "from level" not in part.output  # it has half squares of the level
    assert pictures.read("b.png").samples.shape == (10, 11)


def test_a_picture_with_levels_is_no_book(mmp, marked):
    result = mmp("decode", marked)
    assert "page" not in result.output
    assert (pictures.read("marked.png").samples == 0).all()


def test_pages_of_books(mmp, book):
    assert mmp("decode", book, "--scale", "1/4", "-o", "b.tif").exit_code == 0
    for page in (1, 2):
        found = pictures.read("b.tif", page=page).samples
        assert (found.shape, set(found.flat)) == ((10, 15), {(10, 90)[page - 1]})
    assert mmp("decode", book, "--page", "2", "--scale", "0.5", "-o", "b.png").exit_code == 0
    assert (pictures.read("b.png").samples == 90).all()
    assert pictures.read("b.png").samples.shape == (20, 30)


@pytest.mark.parametrize("scale", ["3", "0", "1/0", "letters", "", "2/3", "0.3", "-1/2", "1/1/2"])
def test_other_scales_are_wrong_use(mmp, encoded, scale, files):
    result = mmp("decode", encoded, "--scale", scale)
    assert result.exit_code == 2
    assert f"scale = {scale}: must be 1/N, N from 1 to 16777216" in result.stderr
    assert files() == ["a.mmp"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "a.zarr"], "--scale and zarr: give only one of them; a store gets all levels"),
    ],
)
def test_what_excludes_scales(mmp, encoded, arguments, message):
    result = mmp("decode", encoded, "--scale", "1/2", *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True)


def broken(path, number, back=1):
    """Damage a record of a file: flip a bit ``back`` bytes before its end."""
    data = bytearray(Path(path).read_bytes())
    entry = contents_of(memoryview(bytes(data))).entries[number]
    data[entry.place + entry.size - back] ^= 1
    Path("broken.mmp").write_bytes(data)


def test_a_damaged_level_is_passed_over_and_named(mmp, marked):
    broken(marked, 2)
    result = mmp("decode", "broken.mmp", "--scale", "1/8", "-o", "a.png")
    assert result.exit_code == 1
    assert "level 1/4" in result.stderr
    assert "--allow-partial" in result.stderr
    result = mmp("decode", "broken.mmp", "--scale", "1/8", "-o", "a.png", "--allow-partial")
    assert (result.exit_code, "from level 1/2" in result.output) == (ExitCode.PARTLY_FAILED, True)
    assert "level 1/4: " in result.stderr
    assert "; a larger one is taken" in result.stderr
    assert (pictures.read("a.png").samples == 20).all()
    whole = mmp("decode", marked, "--scale", "1/8", "-o", "b.png", "--allow-partial")
    assert (whole.exit_code, "level 1/4, " in whole.output) == (0, True)


def test_bad_tiles_are_black_at_a_scale(mmp):
    samples = np.full((256, 384), 200, np.uint8)
    data = bytearray(mmpcodec.encode(samples, 0, tile_size=128, **HOW))
    header = mmpcodec.inspect(bytes(data)).header
    data[header.tile_offsets[4] + 5] ^= 255
    Path("a.mmp").write_bytes(data)
    assert mmp("decode", "a.mmp", "--scale", "1/4").exit_code == 1
    result = mmp("decode", "a.mmp", "--scale", "1/4", "--allow-partial", "--json")
    assert result.exit_code == ExitCode.PARTLY_FAILED
    facts = json.loads(result.stdout)
    assert (facts["bad_tiles"], facts["factor"], facts["level"]) == (1, 4, 1)
    assert "tile 4" in result.stderr
    wanted = np.full((64, 96), 200, np.uint8)
    wanted[32:, 32:64] = 0
    np.testing.assert_array_equal(pictures.read("a.png").samples, wanted)
    part = ("--scale", "1/4", "--allow-partial", "--region", "0,0,384,128", "-o", "b.png")
    assert mmp("decode", "a.mmp", *part).exit_code == 0
    assert (pictures.read("b.png").samples == 200).all()


def test_a_damaged_header_at_a_scale(mmp):
    samples = shades(200, 300)
    data = bytearray(mmpcodec.encode(samples, 0, tile_size=64, metadata=METADATA, **HOW))
    data[data.index(METADATA.icc[:20]) + 4] ^= 1
    Path("a.mmp").write_bytes(data)
    assert mmp("decode", "a.mmp", "--scale", "1/2").exit_code == 1
    result = mmp("decode", "a.mmp", "--scale", "1/2", "--allow-partial")
    assert result.exit_code == ExitCode.PARTLY_FAILED
    assert "the samples are not affected, metadata can be" in result.stderr
    np.testing.assert_array_equal(pictures.read("a.png").samples, reduced(samples, 2, 8, 8))


def test_damaged_pages_of_books_at_a_scale(mmp, book):
    broken(book, 0)
    result = mmp("decode", "broken.mmp", "--scale", "1/4", "--allow-partial", "-o", "b.tif")
    assert result.exit_code == ExitCode.PARTLY_FAILED
    assert "page 1" in result.stderr
    for page in (1, 2):
        found = pictures.read("b.tif", page=page).samples
        assert (found.shape, set(found.flat)) == ((10, 15), {(0, 90)[page - 1]})


def test_zarr_stores_get_the_levels(mmp, marked):
    zarr = pytest.importorskip("zarr")
    result = mmp("decode", marked, "-o", "a.zarr")
    assert result.exit_code == 0, result.output
    group = zarr.open_group("a.zarr", mode="r")
    assert [(group[str(k)].shape, int(group[str(k)][3, 5])) for k in range(3)] == [
        ((600, 800), 0),
        ((300, 400), 20),
        ((150, 200), 40),
    ]
    (image,) = group.attrs["ome"]["multiscales"]
    scales = [each["coordinateTransformations"][0]["scale"] for each in image["datasets"]]
    assert scales == [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]
    assert mmp("decode", marked, "-o", "b.zarr", "--region", "0,0,64,64").exit_code == 0
    assert set(zarr.open_group("b.zarr", mode="r")) == {"0"}


def test_thumbnails_are_made_of_levels(mmp, marked):
    for size, level in ((200, 40), (201, 20), (401, 0), (64, 40)):
        assert mmp("thumbnail", marked, "t.png", size).exit_code == 0
        found = pictures.read("t.png").samples
        assert max(found.shape) == size
        assert (found == level).all()
    assert mmp("thumbnail", marked, "t.png", "100", "--max-samples", "40000").exit_code == 0
    assert mmp("thumbnail", marked, "t.png", "300", "--max-samples", "40000").exit_code == 1
