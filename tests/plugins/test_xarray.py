"""xarray's door, with the real xarray."""

import os
import pickle
from fractions import Fraction
from importlib.metadata import entry_points

import numpy as np
import pytest
from support.pairs import every_pair
from support.tiled import SHAPES, damaged, large, samples_of, tiled, tiles_decoded

from mmpcodec import DecodeLimits, ParameterError, PictureError
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.runtime import stores

xarray = pytest.importorskip("xarray", reason="needs xarray")
pytest.importorskip("dask.array", reason="needs dask, of the extra cluster")
from mmpcodec.plugins.xarray import MmpBackend  # noqa: E402

WHOLE = samples_of((300, 520), 3, 8)
METADATA = Metadata(
    white=200,
    resolution=Resolution(Fraction(300), Fraction(600)),
    text=(("Title", "A slide"), Calibration(2.0, -1024.0, "HU", (0.0, 80.0)).text()),
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "tiled.mmp"
    path.write_bytes(tiled(WHOLE, metadata=METADATA))
    return path


def test_the_entry_point_names_the_backend(path):
    found = entry_points(group="xarray.backends", name="mmp")
    assert [one.load() for one in found] == [MmpBackend]
    with xarray.open_dataset(path, engine="mmp") as dataset:
        np.testing.assert_array_equal(dataset.samples.values, WHOLE)
    with xarray.open_dataset(path) as dataset:  # by its suffix
        assert dataset.samples.shape == WHOLE.shape


CHANNELS = [
    None,
    ["gray", "alpha"],
    ["red", "green", "blue"],
    ["red", "green", "blue", "alpha"],
]


@every_pair(channels=CHANNELS, depth=[1, 8, 12, 16], shape=SHAPES, chunks=[None, {}])
def test_every_form_and_depth(tmp_path, channels, depth, shape, chunks):
    planes = len(channels or ["gray"])
    samples = samples_of(shape, planes, depth)
    (tmp_path / "a.mmp").write_bytes(tiled(samples, depth))
    array = xarray.open_dataset(tmp_path / "a.mmp", engine=MmpBackend, chunks=chunks).samples
    assert array.dims == ("y", "x", "channel")[: samples.ndim]
    assert array.dtype == samples.dtype
    assert array.attrs["depth"] == depth
    assert array.attrs["white"] == (1 << depth) - 1
    if channels:
        assert array.channel.values.tolist() == channels
    np.testing.assert_array_equal(array.values, samples)


def test_chunks_are_those_of_tiles(path):
    opened = xarray.open_dataset(path, engine=MmpBackend, chunks={})
    assert opened.samples.chunks == ((256, 44), (256, 256, 8), (3,))
    opened = xarray.open_dataset(path, engine=MmpBackend, chunks={"y": -1, "x": 512})
    assert opened.samples.chunks == ((300,), (512, 8), (3,))
    np.testing.assert_array_equal(opened.samples.compute(), WHOLE)


def test_an_index_decodes_the_tiles_that_it_touches(path, monkeypatch):
    numbers = tiles_decoded(monkeypatch)
    array = xarray.open_dataset(path, engine=MmpBackend).samples
    part = array[70:80, 100:140]
    assert numbers == []
    np.testing.assert_array_equal(part, WHOLE[70:80, 100:140])
    assert numbers == [10, 11]


@pytest.mark.parametrize("chunks", [None, {}])
@pytest.mark.parametrize(
    "index",
    [
        {"y": 5},
        {"y": -1, "x": slice(None, None, -7)},
        {"y": slice(280, 20, -30), "x": [500, 0, 9]},
        {"y": [1, 299, 1], "x": [0, 5]},
        {"y": slice(9, 9)},
        {"channel": 1, "x": np.array([True] * 5 + [False] * 515)},
    ],
)
def test_indices_are_those_of_arrays_in_memory(path, index, chunks):
    in_memory = xarray.DataArray(WHOLE, dims=("y", "x", "channel"))
    array = xarray.open_dataset(path, engine=MmpBackend, chunks=chunks).samples
    np.testing.assert_array_equal(array.isel(index), in_memory.isel(index))


def test_points_and_names_of_channels(path):
    array = xarray.open_dataset(path, engine=MmpBackend).samples
    points = {name: xarray.DataArray([0, 70, 299], dims="point") for name in ("y", "x")}
    np.testing.assert_array_equal(array.isel(points), WHOLE[[0, 70, 299], [0, 70, 299]])
    np.testing.assert_array_equal(array.sel(channel="green"), WHOLE[..., 1])


def test_attributes_are_the_metadata(path, tmp_path):
    assert xarray.open_dataset(path, engine=MmpBackend).samples.attrs == {
        "depth": 8,
        "white": 200,
        "form": "RGB",
        "resolution": [300.0, 600.0],
        "resolution_unit": "inch",
        "slope": 2.0,
        "intercept": -1024.0,
        "unit": "HU",
        "window": [0.0, 80.0],
        "text": ["Title: A slide"],
    }
    (tmp_path / "plain.mmp").write_bytes(tiled(WHOLE[..., 0]))
    attributes = xarray.open_dataset(tmp_path / "plain.mmp", engine=MmpBackend).samples.attrs
    assert attributes == {"depth": 8, "white": 255, "form": "gray"}


def test_options(path):
    limits = DecodeLimits(64 * 64 * 3)
    opened = xarray.open_dataset(path, engine=MmpBackend, limits=limits, threads=1, backend="cpu")
    np.testing.assert_array_equal(opened.samples[:64, :64], WHOLE[:64, :64])
    with pytest.raises(PictureError, match="the limit is 12288; max_samples"):
        opened.samples.load()
    for dropped in ("samples", ["samples", "other"]):
        empty = xarray.open_dataset(path, engine=MmpBackend, drop_variables=dropped)
        assert list(empty.variables) == []
    with pytest.raises(ParameterError, match="limits = 3"):
        xarray.open_dataset(path, engine=MmpBackend, limits=3)


def test_pickled_datasets_open_the_file_again(path):
    opened = xarray.open_dataset(path, engine=MmpBackend)
    again = pickle.loads(pickle.dumps(opened))
    np.testing.assert_array_equal(again.samples[10:20], WHOLE[10:20])
    chunked = xarray.open_dataset(path, engine=MmpBackend, chunks={})
    found = chunked.samples.sum("channel").compute(scheduler="processes", num_workers=1)
    np.testing.assert_array_equal(found, WHOLE.sum(axis=2))


def test_many_files_keep_none_open(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.mmp").write_bytes(tiled(WHOLE[..., 0] // (number + 1)))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    names = sorted(tmp_path.glob("*.mmp"))
    with xarray.open_mfdataset(
        names, engine=MmpBackend, combine="nested", concat_dim="z", chunks={}
    ) as opened:
        if before:
            assert len(os.listdir("/proc/self/fd")) == before
        assert opened.samples.shape == (5, 300, 520)
        np.testing.assert_array_equal(opened.samples[3], WHOLE[..., 0] // 4)


def test_damage_and_limits(path, tmp_path):
    path.write_bytes(damaged(path.read_bytes(), 10))
    array = xarray.open_dataset(path, engine=MmpBackend).samples
    np.testing.assert_array_equal(array[:64], WHOLE[:64])
    with pytest.raises(PictureError, match="tile 10, 64x64"):
        array.load()
    path.unlink()
    with pytest.raises(FileNotFoundError):
        array[0, 0].load()
    data, tile = large()
    (tmp_path / "large.mmp").write_bytes(data)
    array = xarray.open_dataset(tmp_path / "large.mmp", engine=MmpBackend, chunks={}).samples
    np.testing.assert_array_equal(array[-5:, :9], tile[-5:, :9])


def test_urls(request):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    url = f"memory://{request.node.name}/tiled.mmp"
    with stores.written_whole(url) as stream:
        stream.write(tiled(WHOLE))
    array = xarray.open_dataset(url, engine=MmpBackend, chunks={}).samples
    np.testing.assert_array_equal(array[5:9], WHOLE[5:9])
    fsspec.filesystem("memory").store.clear()


def test_what_is_no_file_name_is_left_to_others(path):
    backend = MmpBackend()
    assert backend.guess_can_open(str(path))
    assert backend.guess_can_open("s3://bucket/A.MMP")
    assert not backend.guess_can_open("a.nc")
    with path.open("rb") as stream:
        assert not backend.guess_can_open(stream)
        with pytest.raises(ParameterError, match=r"source of type .*: must be a path or a URL"):
            backend.open_dataset(stream)
