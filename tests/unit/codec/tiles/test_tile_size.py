"""Tile sizes that the encoder chooses."""

import io

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.codec import encoder, tile_size
from mmpcodec.codec.tile_size import openable_tile_size, usual_tile_size
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.picture import Picture
from mmpcodec.pictures.readers import WholeReader

QUICK = {"preset": "photo", "effort": 1}


def photograph(height, width, noise=8):
    rng = np.random.default_rng(height)
    samples = natural(rng, height, width) + rng.normal(0, noise, (height, width))
    return np.clip(samples, 0, 255).astype(np.uint8)


def page(height, width):
    rng = np.random.default_rng(3)
    letters = np.where(rng.random((12, 16, 16)) < 0.5, 0, 255).astype(np.uint8)
    rows = [np.hstack(letters[rng.integers(0, 12, width // 16)]) for _ in range(height // 16)]
    return np.vstack(rows)


def size_of(samples, lam=30, **options):
    ways = EncodeParams.from_options(lam, **options).each_alone()
    areas = [samples[area] for area in areas_in(*samples.shape[:2])]
    return usual_tile_size(*samples.shape[:2], 8, ways, areas)


def test_large_photographs_have_tiles():
    large = photograph(1200, 1400)
    assert size_of(large) == size_of(large, preset="photo") > 0
    assert size_of(photograph(1024, 1024)) == 0
    assert size_of(np.dstack([large] * 3)) > 0


@pytest.mark.parametrize("preset", ["plain", "classic", "text", "mixed", "lossless"])
def test_what_learns_from_a_whole_picture_has_one_tile(preset):
    assert size_of(photograph(1200, 1400), preset=preset) == 0


def test_pages_and_lossless_pictures_have_one_tile():
    assert size_of(page(1200, 1408)) == 0
    assert size_of(photograph(1200, 1400), lam=0) == 0


def test_tiles_of_few_bytes_are_larger():
    large = photograph(1536, 2048)
    assert [size_of(large, lam) for lam in (5, 10, 100, 1000)] == [512, 576, 1024, 0]


@pytest.mark.parametrize(("height", "width"), [(1100, 1000), (1536, 1540), (3072, 4096)])
def test_last_tiles_are_not_thin(height, width):
    size = size_of(photograph(height, width, noise=30), 5)
    assert 512 <= size <= 768
    assert min(side % size or size for side in (height, width)) >= size / 2


def test_every_way_takes_the_same_size(monkeypatch):
    monkeypatch.setattr(tile_size, "MOST_PIXELS", 200 * 200)
    monkeypatch.setattr(tile_size, "LEAST_SIZE", 128)
    monkeypatch.setattr(tile_size, "LEAST_BYTES", 1000)
    samples = photograph(256, 256)
    data = mmpcodec.encode(samples, 10, **QUICK)
    assert mmpcodec.inspect(data).header.tile_size == 128
    assert mmpcodec.encode(samples, 10, tile_size=128, **QUICK) == data
    assert (
        mmpcodec.inspect(mmpcodec.encode(samples, 10, tile_size=0, **QUICK)).header.tile_size == 0
    )
    file, params = io.BytesIO(), EncodeParams.from_options(10, **QUICK)
    encode_large(WholeReader(Picture(samples, 8), "a"), file, params, tile_size=None)
    assert file.getvalue() == data


def test_targets_take_the_size_of_the_lambda_that_is_predicted(monkeypatch):
    monkeypatch.setattr(tile_size, "MOST_PIXELS", 200 * 200)
    monkeypatch.setattr(tile_size, "LEAST_SIZE", 128)
    monkeypatch.setattr(tile_size, "LEAST_BYTES", 1000)
    samples = photograph(256, 256)
    for target, expected in ((8000, 128), (500, 0)):
        data = mmpcodec.encode(samples, target_size=target, **QUICK)
        assert mmpcodec.inspect(data).header.tile_size == expected


@pytest.mark.parametrize(
    ("height", "width", "size"),
    [
        (5000, 4000, 256),
        (4000, 256, 256),
        (1 << 20, 200, 384),
        (1 << 22, 1, 65536),
        (1, 1 << 22, 8192),
        (100, 1 << 20, 704),
    ],
)
def test_tiles_that_open_have_as_many_pixels_in_narrow_pictures(height, width, size):
    assert openable_tile_size(height, width) == size


def test_tall_picture_that_a_decoder_would_refuse(monkeypatch):
    """Tiles of one column are long, so that few learn anew."""
    monkeypatch.setattr(encoder, "opens_by_default", lambda data: False)
    tall = (np.arange(1 << 18) >> 3)[:, None].astype(np.uint8)
    data = mmpcodec.encode(tall, preset="lossless", effort=1)
    assert mmpcodec.inspect(data).header.tile_size == 65536
    assert len(data) < 1000
    np.testing.assert_array_equal(mmpcodec.decode(data), tall)
