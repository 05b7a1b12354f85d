"""TIFF files written part by part, in any order."""

import random
from fractions import Fraction

import numpy as np
import pytest
import tifffile
from support.picture_files import METADATA

from mmpcodec import pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures.tiff.parts import TiffParts


def write_parts(path, samples, depth, side, metadata=Metadata()):  # noqa: B008
    parts = TiffParts.create(str(path), samples.shape, depth, metadata, side)
    places = [
        (x, y)
        for y in range(0, samples.shape[0], 2 * parts.side)
        for x in range(0, samples.shape[1], 3 * parts.side)
    ]
    random.Random(1).shuffle(places)
    for x, y in places:
        parts.write(x, y, samples[y : y + 2 * parts.side, x : x + 3 * parts.side])
    return parts


@pytest.mark.parametrize("depth", [1, 5, 8, 12, 16])
@pytest.mark.parametrize(
    "shape", [(100, 150), (1, 1), (33, 16, 2), (70, 97, 3), (17, 129, 4), (64, 64)]
)
def test_samples_and_depth(tmp_path, shape, depth):
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = np.random.default_rng(depth).integers(0, 1 << depth, shape, kind)
    write_parts(tmp_path / "a.tif", samples, depth, 16)
    found = pictures.read(tmp_path / "a.tif")
    assert found.depth == depth
    assert np.array_equal(found.samples, samples)
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), samples)
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert file.is_bigtiff
        assert file.pages[0].tile == (16, 16)
        assert file.pages[0].bitspersample == (
            1 if depth == 1 and len(shape) == 2 else max(8, depth > 8 and 16)
        )


@pytest.mark.parametrize(
    ("wanted", "side"), [(64, 64), (1024, 1024), (1040, 512), (100, 512), (0, 512)]
)
def test_side_of_tiles(tmp_path, wanted, side):
    samples = np.arange(600 * 700, dtype=np.uint16).reshape(600, 700)
    assert write_parts(tmp_path / "a.tif", samples, 16, wanted).side == side
    assert np.array_equal(pictures.read(tmp_path / "a.tif").samples, samples)


def test_metadata(tmp_path):
    resolution = Resolution(Fraction(300), Fraction(301, 2), "inch")
    metadata = Metadata(
        icc=METADATA.icc,
        xmp=METADATA.xmp,
        resolution=resolution,
        text=(("Title", "slide"), ("Software", "test")),
    )
    write_parts(tmp_path / "a.tif", np.zeros((40, 50, 3), np.uint8), 8, 16, metadata)
    found = pictures.read(tmp_path / "a.tif").metadata
    assert (found.icc, found.xmp, found.resolution) == (metadata.icc, metadata.xmp, resolution)
    assert dict(found.text) == dict(metadata.text)


def test_samples_that_are_not_written_are_0(tmp_path):
    TiffParts.create(str(tmp_path / "a.tif"), (4000, 5000), 8, Metadata(), 512)
    assert (tmp_path / "a.tif").stat().st_size > 4000 * 5000
    assert pictures.read(tmp_path / "a.tif").samples.max() == 0
