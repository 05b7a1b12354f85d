"""OME-Zarr images whose chunks are mmp files: samples, levels, metadata."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from support.strategies import natural

import mmpcodec
from mmpcodec import ParameterError, PictureError, pictures
from mmpcodec.metadata import Metadata, Resolution

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
pytest.importorskip("zarr", reason="needs zarr, of the extra arrays")
import dask
import dask.array
import zarr
from support.clusters import local_client

from mmpcodec.dask import from_ome_zarr, pyramids, to_ome_zarr


@pytest.fixture(autouse=True)
def this_process(monkeypatch):
    """Dask in one thread, and blocks of 2x2 chunks of 64 pixels."""
    monkeypatch.setattr(pyramids, "BLOCK_SIDE", 128)
    with dask.config.set(scheduler="synchronous"):
        yield


def shade(shape, planes=0, kind=np.uint8):
    found = [natural(np.random.default_rng(plane), *shape) for plane in range(max(planes, 1))]
    samples = np.stack(found, axis=2)
    samples = (
        samples > 128 if kind is bool else samples.astype(kind) * ((kind is np.uint16 and 200) or 1)
    )
    return samples if planes else samples[..., 0]


def plain_means(samples):
    """Means pixel by pixel."""
    height, width = samples.shape[:2]
    found = np.empty((-(-height // 2), -(-width // 2), *samples.shape[2:]), samples.dtype)
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            part = samples[2 * row : 2 * row + 2, 2 * column : 2 * column + 2].astype(int)
            mean = part.sum(axis=(0, 1)) / (part.shape[0] * part.shape[1])
            found[row, column] = np.floor(mean + 0.5)
    return found


@given(
    arrays.arrays(
        st.sampled_from([np.bool_, np.uint8, np.uint16]),
        st.one_of(
            st.tuples(st.integers(1, 7), st.integers(1, 7)),
            st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 4)),
        ),
    )
)
def test_means(samples):
    found = pyramids.means(samples)
    assert found.dtype == samples.dtype
    assert np.array_equal(found, plain_means(samples))


@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint16])
@pytest.mark.parametrize(("shape", "planes"), [((300, 431), 0), ((129, 64), 3), ((70, 200), 4)])
def test_levels_without_loss(tmp_path, kind, shape, planes):
    samples, path = shade(shape, planes, kind), tmp_path / "a.zarr"
    array = dask.array.from_array(samples, chunks=90)
    to_ome_zarr(array, path, tile_size=64, preset="lossless", effort=1)
    level = samples
    for number in range({(300, 431): 4, (129, 64): 3, (70, 200): 3}[shape]):
        found = from_ome_zarr(path, number)
        assert found.chunks[0][0] == min(64, level.shape[0])
        assert np.array_equal(found.compute(), level)
        level = plain_means(level)
    assert max(level.shape[:2]) <= 32
    with pytest.raises(PictureError, match="has levels 0 to"):
        from_ome_zarr(path, number + 1)
    assert np.array_equal(pictures.read(path).samples, samples)
    assert sorted(item.name for item in path.iterdir()) == [
        *map(str, range(number + 1)),
        "zarr.json",
    ]


def test_chunks_are_mmp_files(tmp_path):
    samples, path = shade((130, 140), 3), tmp_path / "a.zarr"
    to_ome_zarr(
        dask.array.from_array(samples),
        path,
        tile_size=64,
        lam=30,
        levels=2,
        preset="photo",
        effort=1,
    )
    data = (path / "0" / "c" / "0" / "1" / "0").read_bytes()
    assert data == mmpcodec.encode(samples[64:128, :64], 30, preset="photo", effort=1)
    coded = from_ome_zarr(path, 1).compute()
    alone = mmpcodec.decode(
        mmpcodec.encode(plain_means(samples)[:64, :64], 30, preset="photo", effort=1)
    )
    assert np.array_equal(coded[:64, :64], alone)  # of the samples before their coding


def test_metadata_is_that_of_the_specification(tmp_path):
    metadata = Metadata(resolution=Resolution(Fraction(2540), Fraction(5080), "inch"))
    path = tmp_path / "a.zarr"
    to_ome_zarr(
        dask.array.from_array(shade((100, 130), 3)),
        path,
        tile_size=64,
        metadata=metadata,
        preset="lossless",
    )
    found = json.loads((path / "zarr.json").read_text())
    assert (found["zarr_format"], found["node_type"]) == (3, "group")
    ome = found["attributes"]["ome"]
    assert ome["version"] == "0.5"
    (scales,) = ome["multiscales"]
    assert scales["axes"] == [
        {"name": "c", "type": "channel"},
        {"name": "y", "type": "space", "unit": "micrometer"},
        {"name": "x", "type": "space", "unit": "micrometer"},
    ]
    assert [each["path"] for each in scales["datasets"]] == ["0", "1", "2"]
    assert [each["coordinateTransformations"] for each in scales["datasets"]] == [
        [{"type": "scale", "scale": [1.0, 5.0 * 2**level, 10.0 * 2**level]}] for level in range(3)
    ]
    array = json.loads((path / "0" / "zarr.json").read_text())
    assert array["dimension_names"] == ["c", "y", "x"]
    assert [codec["name"] for codec in array["codecs"]] == ["transpose", "mmp"]
    models = pytest.importorskip("ome_zarr_models.v05", reason="needs ome-zarr-models")
    image = models.Image.from_zarr(zarr.open_group(str(path), mode="r"))
    assert len(image.ome_attributes.multiscales[0].datasets) == 3


@pytest.mark.parametrize("name", ["a.tif", "a.npy", "a.pgm"])
def test_a_picture(tmp_path, name):
    samples = shade((200, 150), kind=np.uint16) >> 4
    picture = pictures.Picture(samples, 16 if name == "a.npy" else 12)
    pictures.write(picture, tmp_path / name)
    to_ome_zarr(tmp_path / name, tmp_path / "a.zarr", tile_size=64, preset="lossless")
    found = pictures.read(tmp_path / "a.zarr")
    assert (found.depth, np.array_equal(found.samples, samples)) == (picture.depth, True)


@pytest.mark.parametrize("planes", [0, 3])
def test_levels_of_a_file_are_taken_and_means_made_of_the_last(tmp_path, planes):
    samples = shade((1060, 700), planes)
    path = tmp_path / "a.mmp"
    # A picture without loss, whose levels have some.
    path.write_bytes(mmpcodec.encode(samples, 0, tile_size=256, effort=1, levels=True))
    with pictures.opened(path) as reader:
        held = {int(1 / scale): reader.scaled(scale).samples for scale in reader.scales}
    assert sorted(held) == [1, 2, 4, 8][: len(held)]
    assert 2 in held
    assert not np.array_equal(held[2], plain_means(samples))
    to_ome_zarr(path, tmp_path / "a.zarr", tile_size=64)
    last, before = max(held), samples
    for level in range(6):
        found = from_ome_zarr(tmp_path / "a.zarr", level).compute()
        if 1 << level <= last:
            np.testing.assert_array_equal(found, held[1 << level])
        else:
            np.testing.assert_array_equal(found, plain_means(before))
        before = found
    names = sorted(each.name for each in (tmp_path / "a.zarr").iterdir() if each.is_dir())
    assert names == [str(level) for level in range(len(names))]


def test_levels_of_more_bits_than_the_picture_are_no_levels_of_a_store(tmp_path):
    samples = shade((600, 520), kind=bool)
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(samples, 0, levels=True))
    to_ome_zarr(path, tmp_path / "a.zarr", tile_size=256)
    found = from_ome_zarr(tmp_path / "a.zarr", 1).compute()
    np.testing.assert_array_equal(found, plain_means(samples))


def test_on_a_cluster(tmp_path):
    samples = shade((300, 300))
    array = dask.array.from_array(samples, chunks=128)
    to_ome_zarr(array, tmp_path / "a.zarr", tile_size=64, lam=20, preset="photo", effort=1)
    with local_client() as client, client.as_current(), dask.config.set(scheduler=None):
        to_ome_zarr(array, tmp_path / "b.zarr", tile_size=64, lam=20, preset="photo", effort=1)
    for path in (tmp_path / "a.zarr").rglob("*"):
        if path.is_file():
            other = tmp_path / "b.zarr" / path.relative_to(tmp_path / "a.zarr")
            assert other.read_bytes() == path.read_bytes(), path


def test_a_store_is_replaced_and_another_folder_is_not(tmp_path):
    array = dask.array.from_array(shade((70, 70)))
    path = tmp_path / "a.zarr"
    to_ome_zarr(array, path, tile_size=64, preset="lossless", levels=2)
    to_ome_zarr(array[:50], path, tile_size=64, preset="lossless", levels=1)
    assert from_ome_zarr(path).shape == (50, 70)
    (tmp_path / "b").mkdir()
    (tmp_path / "c.txt").write_text("kept")
    for name in ("b", "c.txt"):
        with pytest.raises(
            mmpcodec.errors.FileError, match=f"/{name}: exists, and is no zarr store"
        ):
            to_ome_zarr(array, tmp_path / name, tile_size=64)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.zarr", "b", "c.txt"]
    assert (tmp_path / "c.txt").read_text() == "kept"


def test_masked_arrays_are_refused(tmp_path):
    array = dask.array.from_array(shade((70, 70)), chunks=50)
    started = []

    def seen(block):
        started.append(block.shape)
        return block

    masked = dask.array.ma.masked_equal(array.map_blocks(seen, meta=array._meta), 0)
    with pytest.raises(ParameterError, match="array: masked arrays are not supported"):
        to_ome_zarr(masked, tmp_path / "a.zarr", tile_size=64)
    assert not started
    hidden = array.map_blocks(
        np.ma.masked_equal, 0, dtype=np.uint8, meta=np.zeros((0, 0), np.uint8)
    )
    with pytest.raises(ParameterError, match="array: masked arrays are not supported"):
        to_ome_zarr(hidden, tmp_path / "a.zarr", tile_size=64)
    assert not list(tmp_path.iterdir())


def test_what_is_no_store(tmp_path):
    with pytest.raises(PictureError, match=r"/none\.zarr: No such file or directory") as caught:
        from_ome_zarr(tmp_path / "none.zarr")
    assert isinstance(caught.value, FileNotFoundError)
    (tmp_path / "a.mmp").write_bytes(mmpcodec.encode(shade((9, 9)), 0))
    with pytest.raises(PictureError, match=r"/a\.mmp: is no zarr store"):
        from_ome_zarr(tmp_path / "a.mmp")
    for function in (from_ome_zarr, lambda path: to_ome_zarr(dask.array.zeros((9, 9)), path)):
        with pytest.raises(ParameterError, match="path of type NoneType: must be a path or a URL"):
            function(None)


def test_a_url(tmp_path):
    samples = shade((100, 100))
    url = f"file://{tmp_path}/a.zarr"
    to_ome_zarr(dask.array.from_array(samples), url, tile_size=64, preset="lossless")
    assert np.array_equal(from_ome_zarr(url).compute(), samples)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tile_size": 0}, "tile_size = 0"),
        ({"levels": 0}, "levels = 0"),
        ({"levels": 25}, "levels = 25"),
        ({"lam": -1}, "lam = -1"),
        ({"preset": "fast"}, "preset = 'fast'"),
    ],
)
def test_options_out_of_range(tmp_path, options, message):
    with pytest.raises(ParameterError, match=message):
        to_ome_zarr(dask.array.zeros((70, 70), dtype="uint8"), tmp_path / "a.zarr", **options)
    assert not list(tmp_path.iterdir())


def test_a_single_array(tmp_path):
    samples = shade((50, 60), 3)
    zarr.create_array(str(tmp_path / "a.zarr"), data=samples, chunks=(32, 32, 3))
    assert np.array_equal(from_ome_zarr(tmp_path / "a.zarr").compute(), samples)
    with pytest.raises(PictureError, match="single array, of level 0, not 1"):
        from_ome_zarr(tmp_path / "a.zarr", 1)
    with pytest.raises(ParameterError, match="level = -1"):
        from_ome_zarr(tmp_path / "a.zarr", -1)
