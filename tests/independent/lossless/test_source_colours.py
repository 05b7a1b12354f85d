"""A decoder that was written from the text decodes what the encoder codes by source colours."""

import io
from dataclasses import replace

import numpy as np
import pytest
from independent.container import decode
from independent.file import built, parsed, tools_of
from independent.lossless.samples import coded_planes
from independent.lossless.source_colours import JPEG, PHOTO_CD, SourceColours
from PIL import Image

import mmpcodec

EFFORTS = 1, 2, 6
HALVED = (0, 0), (0, 1), (1, 1)  # rows and columns, by the subsampling of Pillow
FIELDS = "colours", "rows_halved", "columns_halved", "y0", "x0"


def waves(shape, seed, middle=130, height=50):
    """Smooth waves with some noise."""
    rng = np.random.default_rng(seed)
    i, j = np.indices(shape[:2])
    c = np.arange(shape[2]) if len(shape) > 2 else 0
    i, j = (np.expand_dims(axis, 2) if len(shape) > 2 else axis for axis in (i, j))
    found = middle + height * np.sin(i / 7 + j / 9 + 2 * c + seed) + rng.normal(0, 4, shape)
    return np.clip(found, 0, 255).astype(int)


def jpeg(height, width, subsampling):
    """Red, green and blue (height, width, 3) of a JPEG file, decoded by libjpeg."""
    file = io.BytesIO()
    picture = Image.fromarray(waves((height, width, 3), subsampling).astype(np.uint8))
    picture.save(file, "JPEG", quality=92, subsampling=subsampling)
    return np.array(Image.open(file))


def made(colours, halved, phases, *, touched=0, shape=(26, 31), height=25):
    """Red, green and blue by the formulas of the text; some pixels have other chroma."""
    rng = np.random.default_rng(5)
    source = SourceColours(*shape)
    source.colours = colours
    source.rows_halved, source.columns_halved = halved
    source.y0, source.x0 = phases
    middles = (110, 128, 128) if colours == JPEG else (90, 156, 137)
    planes = [waves(source.shape(k), k, middles[k], height) for k in range(3)]
    for number in (1, 2):
        places = rng.permutation(shape[0] * shape[1])[:touched].tolist()
        sizes = rng.choice([-60, -9, -2, -1, 1, 3, 30], touched).tolist()
        source.corrections[number] = dict(zip(places, sizes, strict=True))
    green, red, blue = source.pixels(planes)
    return np.stack([red, green, blue], axis=2).astype(np.uint8)


def check(picture, effort, **expected):
    """The picture survives, coded by source colours with the expected fields; its corrections."""
    data = mmpcodec.encode(np.ascontiguousarray(picture), lossless=True, effort=effort)
    file = parsed(data)
    (own,) = file.tiles
    assert own.layout == 0
    assert own.palette is None
    (layer,) = own.layers
    tools = tools_of(layer.coding, layer.tools)
    count = file.form + 1
    planes, source = coded_planes(layer.payload, file.height, file.width, 8, count, tools)
    assert {name: getattr(source, name) for name in expected} == expected
    assert [plane.shape for plane in planes] == [source.shape(k) for k in range(count)]
    green, red, *others = source.pixels(planes)
    np.testing.assert_array_equal(np.stack([red, green, *others], axis=2), picture)
    return source.corrections


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_decodes_jpeg(subsampling, effort):
    fields = dict(zip(FIELDS, (JPEG, *HALVED[subsampling], 0, 0), strict=True))
    height, width = {1: (40, 56), 2: (33, 41), 6: (24, 30)}[effort]
    check(jpeg(height, width, subsampling), effort, **fields)


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_decodes_jpeg_with_alpha(subsampling, effort):
    """Alpha is predicted from two planes if chroma has all samples, else from luma."""
    alpha = np.random.default_rng(6).integers(0, 256, (24, 30), dtype=np.uint8)
    picture = np.dstack([jpeg(24, 30, subsampling), alpha])
    fields = dict(zip(FIELDS, (JPEG, *HALVED[subsampling], 0, 0), strict=True))
    check(picture, effort, **fields)


@pytest.mark.parametrize(("row", "column"), [(1, 0), (0, 1), (3, 5), (4, 2)])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_decodes_parts_of_jpeg(subsampling, row, column):
    """The phases say where the part begins."""
    rows_halved, columns_halved = HALVED[subsampling]
    phases = row % 2 * rows_halved, column % 2 * columns_halved
    fields = dict(zip(FIELDS, (JPEG, rows_halved, columns_halved, *phases), strict=True))
    picture = jpeg(40, 56, subsampling)[row : row + 29, column : column + 34]
    corrections = check(picture, 1 + row % 2, **fields)
    if (subsampling, row, column) == (2, 3, 5):
        assert all(corrections[number] for number in (1, 2))


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize(
    ("halved", "phases"),
    [((0, 0), (0, 0)), *(((1, 1), phases) for phases in [(0, 0), (0, 1), (1, 0), (1, 1)])],
)
def test_decodes_photo_cd(halved, phases, effort):
    fields = dict(zip(FIELDS, (PHOTO_CD, *halved, *phases), strict=True))
    check(made(PHOTO_CD, halved, phases), effort, **fields)


@pytest.mark.parametrize("colours", [JPEG, PHOTO_CD])
def test_decodes_strong_chroma(colours):
    """Many strong samples show whether the factors of the text are right."""
    picture = made(colours, (0, 0), (0, 0), shape=(64, 64), height=75)
    check(picture, 1, colours=colours, rows_halved=0, columns_halved=0)


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("phase", [0, 1])
def test_decodes_jpeg_with_halved_rows(phase, effort):
    """Pillow does not write such files."""
    fields = dict(zip(FIELDS, (JPEG, 1, 0, phase, 0), strict=True))
    check(made(JPEG, (1, 0), (phase, 0)), effort, **fields)


@pytest.mark.parametrize(
    ("colours", "halved"), [(JPEG, (0, 1)), (JPEG, (1, 0)), (JPEG, (1, 1)), (PHOTO_CD, (1, 1))]
)
def test_decodes_corrections(colours, halved):
    """Pixels that were changed need some of several sizes, of both signs."""
    fields = dict(zip(FIELDS, (colours, *halved, *halved), strict=True))
    corrections = check(made(colours, halved, halved, touched=4), 2, **fields)
    for number in (1, 2):
        sizes = corrections[number].values()
        assert min(sizes) < 0 < max(sizes)
        assert max(map(abs, sizes)) > 1


def test_decodes_tiles():
    """Each tile has fields of its own; the second one begins in the middle of a sample."""
    picture = jpeg(24, 90, 2)
    data = mmpcodec.encode(picture, lossless=True, effort=2, tile_size=65)
    np.testing.assert_array_equal(decode(data)[0], picture)
    phases = []
    for own, width in zip(parsed(data).tiles, (65, 25), strict=True):
        (layer,) = own.layers
        _, source = coded_planes(layer.payload, 24, width, 8, 3, tools_of(2, layer.tools))
        assert (source.colours, source.halved) == (JPEG, True)
        phases.append(source.x0)
    assert phases == [0, 1]


def test_decodes_levels_of_8_bits():
    """The depth of the layer decides, not that of the samples."""
    picture = jpeg(24, 30, 2)
    file = parsed(mmpcodec.encode(picture, lossless=True, effort=1))
    data = built(replace(file, depth=16 + 12, levels=(8, 1000)))
    np.testing.assert_array_equal(decode(data)[0], picture.astype(int) + 1000)
    np.testing.assert_array_equal(mmpcodec.decode(data), picture.astype(int) + 1000)


@pytest.mark.parametrize("shape", [(7, 30, 3), (30, 7, 3), (8, 8, 3), (8, 8, 4)])
def test_decodes_small_pictures_without(shape):
    """Fields need 8 rows and 8 columns; noise has none of their colours."""
    picture = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    check(picture, 1, colours=0)


def test_decodes_near_lossless():
    picture = jpeg(24, 30, 2)
    data = mmpcodec.encode(picture, max_error=1, effort=1)
    found = decode(data)[0]
    np.testing.assert_array_equal(found, mmpcodec.decode(data))
    assert 0 < abs(found.astype(int) - picture).max() <= 1


class Numbers:
    """Plain numbers in the place of a range coder."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def plain(self, bits):
        number = self.numbers.pop(0)
        assert number < 2**bits
        return number


@pytest.mark.parametrize("numbers", [(3,), (2, 1, 0, 0), (2, 0, 1, 0)])
def test_refuses_other_fields(numbers):
    with pytest.raises(ValueError, match=r"colours|PhotoCD"):
        SourceColours(8, 8, Numbers(*numbers))
