"""The cuda backend decodes to the samples of the cpu backend, on the device."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.strategies import CONTENT
from support.vectors import GOOD

import mmpcodec
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.cuda.decoding import decoder
from mmpcodec.backends.cuda.decoding.decoder import in_groups
from mmpcodec.backends.tiles import TileFault, TilesTask, TileTask
from mmpcodec.codec.decoder import read_tile
from mmpcodec.format.tiles import Area, tiles_touching
from mmpcodec.opening.header import read_header

pytestmark = pytest.mark.gpu

SHAPES = [(1, 1), (17, 33), (70, 90), (64, 130)]


@pytest.fixture(autouse=True, params=["host", "device", "both"])
def reader(request, monkeypatch):
    """Who reads the symbols of the planes."""
    choose = {
        "host": lambda sizes, *_: np.argsort(sizes),
        "device": lambda *_: np.zeros(0, int),
        "both": lambda sizes, *_: np.arange(1, len(sizes), 2),
    }
    monkeypatch.setattr(decoder, "longest_for_host", choose[request.param])


@pytest.fixture
def on_processor(monkeypatch):
    """The number of tiles that the processor decodes in place of the device."""
    counts = []
    decode_tiles = CpuBackend.decode_tiles

    def counted(self, task, **how):
        counts.append(len(task.tiles))
        return decode_tiles(self, task, **how)

    monkeypatch.setattr(CpuBackend, "decode_tiles", counted)
    return counts


def picture_of(content, shape, planes, depth):
    rng = np.random.default_rng(5)
    made = [CONTENT[content](rng, *shape).astype(np.uint16) << depth >> 8 for _ in range(planes)]
    samples = made[0] if planes == 1 else np.stack(made, -1)
    return np.ascontiguousarray(samples, np.uint8 if depth == 8 else np.uint16)


def check(data, on_processor, count=0):
    expected = mmpcodec.decode(data, backend="cpu")
    on_processor.clear()
    found = mmpcodec.decode(data, backend="cuda")
    assert sum(on_processor) == count
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("effort", [1, 3])
def test_gray(content, shape, effort, on_processor):
    picture = CONTENT[content](np.random.default_rng(5), *shape)
    data = mmpcodec.encode(picture, 30, preset="photo", effort=effort, backend="cpu")
    check(data, on_processor)


@pytest.mark.parametrize("tune", ["psnr", "eye"])
@pytest.mark.parametrize("planes", [2, 3, 4])
def test_colours_and_alpha(planes, tune, on_processor):
    picture = picture_of("natural", (70, 90), planes, 8)
    data = mmpcodec.encode(picture, 20, preset="photo", effort=3, tune=tune, backend="cpu")
    # Alpha is lossless, which the processor decodes.
    check(data, on_processor, planes % 2 == 0)


@pytest.mark.parametrize("depth", [10, 12, 16])
@pytest.mark.parametrize("planes", [1, 3])
def test_depths(planes, depth, on_processor):
    picture = picture_of("natural", (70, 90), planes, depth)
    data = mmpcodec.encode(picture, 5, preset="photo", effort=3, depth=depth, backend="cpu")
    check(data, on_processor)


def test_models_at_their_limits(on_processor):
    rows, columns = np.indices((256, 256))
    picture = np.stack([rows // 2 + columns // 2, rows, columns], -1).astype(np.uint8)
    picture[100:108, 60:70] ^= 0x55
    check(mmpcodec.encode(picture, 100, preset="photo", backend="cpu"), on_processor)


@pytest.mark.parametrize("planes", [1, 3])
def test_borders_of_tiles(planes, on_processor):
    import cupy

    picture = picture_of("natural", (150, 170), planes, 8)
    data = mmpcodec.encode(picture, 90, preset="photo", tile_size=64, backend="cpu")
    expected = mmpcodec.decode(data, backend="cpu")
    check(data, on_processor)
    out = cupy.empty(picture.shape, np.uint8)
    assert mmpcodec.decode(data, out=out) is out
    np.testing.assert_array_equal(out.get(), expected)
    part = mmpcodec.decode(data, backend="cuda", region=(30, 40, 50, 61))
    np.testing.assert_array_equal(part, expected[40:101, 30:80])


@pytest.mark.parametrize("vector", GOOD, ids=lambda path: Path(path).name)
def test_vectors(vector):
    data = (vector / "stream.mmp").read_bytes()
    expected = mmpcodec.decode(data, backend="cpu")
    np.testing.assert_array_equal(mmpcodec.decode(data, backend="cuda"), expected)


def test_batch(on_processor):
    import cupy

    pictures = [picture_of("natural", (40 + n, 60), 1 + 2 * (n % 2), 8) for n in range(5)]
    how = [("photo", 40), ("lossless", 0), ("photo", 40), ("plain", 40), ("photo", 40)]
    files = [
        mmpcodec.encode(picture, lam, preset=preset, backend="cpu")
        for picture, (preset, lam) in zip(pictures, how, strict=True)
    ]
    found = mmpcodec.decode_batch(files, backend="cuda")
    assert sum(on_processor) == 2
    for one, file in zip(found, files, strict=True):
        assert isinstance(one, cupy.ndarray)
        np.testing.assert_array_equal(one.get(), mmpcodec.decode(file, backend="cpu"))
    out = [cupy.empty(picture.shape, np.uint8) for picture in pictures]
    assert mmpcodec.decode_batch(files, out=out) == out
    np.testing.assert_array_equal(out[2].get(), found[2].get())


def test_out_of_another_shape():
    import cupy

    data = mmpcodec.encode(np.zeros((20, 30), np.uint8), 10, backend="cpu")
    with pytest.raises(mmpcodec.ParameterError, match=r"out has shape \(30, 20\): must be"):
        mmpcodec.decode(data, out=cupy.empty((30, 20), np.uint8))
    with pytest.raises(mmpcodec.ParameterError, match="out lies on a CUDA device, which only cuda"):
        mmpcodec.decode(data, backend="cpu", out=cupy.empty((20, 30), np.uint8))


def task_of(data, changed):
    """The tiles of a file, with a byte of the payload of a layer changed."""
    view = memoryview(data)
    header = read_header(view)
    area = Area(0, 0, header.width, header.height)
    tasks = []
    for tile in tiles_touching(area, header.height, header.width, header.tile_size):
        stream, layer = read_tile(view, header, tile), changed[0]
        payload = bytearray(stream.layers[layer].payload)
        payload[changed[1] % len(payload)] ^= changed[2]
        own = replace(stream.layers[layer], payload=bytes(payload[: changed[3] or None]))
        layers = *stream.layers[:layer], own, *stream.layers[layer + 1 :]
        place = np.full(header.shape_of(tile), 7, np.uint8)
        tasks.append(TileTask(replace(stream, layers=layers), (tile.height, tile.width), place))
    return TilesTask(header, tasks, False)


@pytest.mark.parametrize("layer", [0, 2])
def test_damaged_payloads(layer):
    picture = picture_of("noise", (70, 90), 3, 8)
    data = mmpcodec.encode(picture, 60, preset="photo", effort=3, backend="cpu")
    rng = np.random.default_rng(layer)
    for n in range(60):
        end = int(rng.integers(1, 40)) if n % 5 == 0 else 0
        changed = layer, int(rng.integers(1 << 30)), int(rng.integers(1, 256)), end
        expected, found = task_of(data, changed), task_of(data, changed)
        faults = CpuBackend().decode_tiles(expected)
        assert CudaBackend().decode_tiles(found) == faults
        assert isinstance(faults[0], TileFault)
        np.testing.assert_array_equal(found.tiles[0].samples, expected.tiles[0].samples)


def test_groups_fit_in_memory():
    assert in_groups([4, 4, 4, 9, 1, 2, 3], 8) == [[0, 1], [2], [3], [4, 5, 6]]
