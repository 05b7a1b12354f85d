"""Regions in Node: crops of the whole picture, from as few bytes of a server as they need."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from support.strategies import natural, text_like
from support.tiled import damaged, repeated, samples_of, tiled
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec import pictures

PHOTO = Path(__file__).parents[2] / "images" / "camera.pgm"
SIDE_28 = 1 << 14
"""Side of a picture of 2^28 pixels."""
TILE_28 = 256
MOST_FETCHED = 2 << 20
"""Bytes that the first region of such a picture may need."""


def sha(samples):
    """Return the SHA-256 of samples, two bytes each, high byte first, above 8 bits."""
    return hashlib.sha256(samples.astype(samples.dtype.newbyteorder(">")).tobytes()).hexdigest()


def crop(samples, x, y, width, height):
    return samples[y : y + height, x : x + width]


@pytest.mark.parametrize(("planes", "depth"), [(1, 8), (2, 12), (3, 8), (4, 16), (3, 5)])
def test_regions_are_crops(node, planes, depth):
    samples = samples_of((130, 200), planes, depth)
    data = tiled(samples, depth)
    parts = [(0, 0, 200, 130), (63, 63, 2, 2), (64, 64, 64, 64), (199, 129, 1, 1), (9, 99, 150, 7)]
    found = node.ask(data, open=parts)
    assert found["header"] == {"width": 200, "height": 130}
    for part, own in zip(parts, found["regions"], strict=True):
        assert (own["width"], own["height"]) == part[2:]
        assert own["sha"] == sha(crop(samples, *part))


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize(("planes", "depth"), [(1, 8), (2, 8), (3, 8), (4, 8), (1, 12), (3, 5)])
def test_regions_of_lossy_files_are_crops(node, planes, depth, workers):
    """Regions that share tiles, one after the other; borders between tiles are filtered."""
    rng = np.random.default_rng(planes)
    samples = np.dstack([natural(rng, 130, 200) for _ in range(planes)])
    if planes % 2 == 0:
        samples[..., -1] = np.where(np.add.outer(range(130), range(200)) % 90 < 30, 0, 200)
    samples = samples.astype(np.uint16) << 4 if depth == 12 else samples >> 8 - depth
    samples = samples[..., 0] if planes == 1 else samples
    options = {"preset": "photo", "effort": 1, "tile_size": 64, "depth": depth}
    data = mmpcodec.encode(samples, 200, **options)
    whole = mmpcodec.decode(data)
    parts = [(63, 63, 2, 2), (64, 64, 64, 64), (0, 0, 200, 130), (75, 75, 40, 40), (9, 99, 150, 7)]
    found = node.ask(data, open=parts, workers=workers)
    for part, own in zip(parts, found["regions"], strict=True):
        assert own["sha"] == sha(crop(whole, *part))


def test_pixels_of_palettes_beside_borders(node):
    text = np.where(text_like(np.random.default_rng(0), 128, 384) < 100, 0, 255)
    samples = np.dstack([text, text, np.where(text > 0, 255, 120)]).astype(np.uint8)
    smooth = natural(np.random.default_rng(1), 43, 192)
    samples[85:, :192] = np.dstack([smooth, smooth[::-1], 255 - smooth])
    data = mmpcodec.encode(samples, 200, preset="auto", effort=1, tile_size=128)
    found = mmpcodec.inspect(data, decode=True)
    assert [part.transparent for part in found.layers if part.entries] == [True, True, False]
    assert node.ask(data)["sha"] == sha(found.samples)


@pytest.mark.parametrize("region", [(-1, 0, 2, 2), (0, 0, 0, 1), (199, 0, 2, 1), (0, 0, 1.5, 1)])
def test_regions_beyond_the_picture_are_refused(node, region):
    found = node.ask(tiled(samples_of((130, 200), 1, 8)), region=region)
    assert found["error"] == "ParameterError"
    assert "region" in found["message"]


def test_a_damaged_tile_harms_no_other(node):
    samples = samples_of((130, 200), 1, 8)
    data = damaged(tiled(samples), 1)
    good = node.ask(data, region=(0, 0, 64, 130))
    assert good["sha"] == sha(samples[:, :64])
    bad = node.ask(data)
    assert bad["error"] == "CorruptStream"
    with pytest.raises(mmpcodec.CorruptStream) as caught:
        mmpcodec.decode(data)
    assert bad["message"] == str(caught.value)


def test_a_server_sends_the_header_and_the_tiles_of_a_region(node):
    samples = samples_of((1024, 1024), 1, 8)
    data = tiled(samples, tile_size=128)
    header = mmpcodec.inspect(data).header
    with RangeServer({"a.mmp": data}).running() as server:
        # Tiles 9, 10, 17 and 18: two requests besides that of the header.
        found = node.ask(url=server.url("a.mmp"), open=[(130, 130, 200, 200)])
    assert found["regions"][0]["sha"] == sha(crop(samples, 130, 130, 200, 200))
    of_tiles = sum(header.tile_bytes[number] for number in (9, 10, 17, 18))
    assert server.sent == [1 << 16, *server.sent[1:]]
    assert len(server.sent) == 3
    assert sum(server.sent[1:]) == of_tiles
    assert found["traffic"] == {"bytes": sum(server.sent), "requests": 3}


def test_a_server_without_ranges_sends_the_whole_file_once(node):
    samples = samples_of((130, 200), 3, 8)
    data = tiled(samples)
    with RangeServer({"a.mmp": data}, ranges=False).running() as server:
        parts = [(0, 0, 10, 10), (100, 100, 50, 30)]
        found = node.ask(url=server.url("a.mmp"), open=parts)
    assert [own["sha"] for own in found["regions"]] == [sha(crop(samples, *p)) for p in parts]
    assert server.sent == [len(data)]


def test_a_small_file_of_a_server_is_fetched_once(node):
    samples = samples_of((130, 200), 1, 8)
    data = tiled(samples)
    assert len(data) < 1 << 16
    with RangeServer({"a.mmp": data}).running() as server:
        part = (100, 100, 50, 30)
        found = node.ask(url=server.url("a.mmp"), open=[part])
    assert found["regions"][0]["sha"] == sha(crop(samples, *part))
    assert server.sent == [len(data)]
    assert found["traffic"] == {"bytes": len(data), "requests": 1}


def test_a_server_that_does_not_answer_is_an_error_with_its_reason(node):
    with RangeServer({}).running() as server:
        url = server.url("a.mmp")
    found = node.ask(url=url)
    assert found["error"] == "SourceError"
    assert found["message"].startswith(f"{url}: fetch failed: ")
    assert "ECONNREFUSED" in found["message"]


def test_a_file_that_is_not_there_is_an_error_with_its_address(node):
    with RangeServer({}).running() as server:
        found = node.ask(url=server.url("b.mmp"))
    assert found["error"] == "SourceError"
    assert "404" in found["message"]
    assert server.url("b.mmp") in found["message"]


@pytest.mark.parametrize("cut", [0, 5, 40, 300])
def test_a_file_that_is_cut_on_the_server_is_truncated(node, cut):
    data = tiled(samples_of((130, 200), 1, 8))
    with RangeServer({"a.mmp": data[:cut]}).running() as server:
        found = node.ask(url=server.url("a.mmp"))
    assert found["error"] == "TruncatedStream"


def test_the_first_region_of_a_picture_of_2_to_the_28_pixels_needs_less_than_2_megabytes(node):
    photo = pictures.read(PHOTO).samples[:TILE_28, :TILE_28]
    one = mmpcodec.encode(photo, quality=85)
    data = repeated(one, SIDE_28)
    with RangeServer({"a.mmp": data}).running() as server:
        part = (8000, 8000, 1000, 700)
        found = node.ask(url=server.url("a.mmp"), open=[part])
    whole = np.tile(mmpcodec.decode(one), (4, 5))
    place = (8000 % TILE_28, 8000 % TILE_28, 1000, 700)
    assert found["regions"][0]["sha"] == sha(crop(whole, *place))
    assert sum(server.sent) < MOST_FETCHED < len(data) // 4
