"""Dask arrays that read from mmp files."""

import os
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pairs import every_pair
from support.tiled import SHAPES, damaged, large, samples_of, tiled

import mmpcodec.dask
from mmpcodec import DecodeLimits, MissingExtra, ParameterError, PictureError, pictures
from mmpcodec.codec import regions
from mmpcodec.dask.reading import from_mmp
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import MmpReader
from mmpcodec.runtime import stores

pytest.importorskip("dask.array", reason="needs dask, of the extra cluster")

WHOLE = samples_of((300, 520), 3, 8)


@pytest.fixture
def path(tmp_path):
    """A file of 5x9 tiles of RGB, at a path that tests may change."""
    path = tmp_path / "tiled.mmp"
    path.write_bytes(tiled(WHOLE, metadata=Metadata(white=200)))
    return path


@pytest.fixture
def decoded(monkeypatch):
    """Numbers of the tiles of each call of the decoder, and its threads."""
    calls = []
    real = regions.decode_tiles

    def counted(places, header, backend, threads, progress, **options):
        calls.append(([place.tile.number for place in places], threads))
        return real(places, header, backend, threads, progress, **options)

    monkeypatch.setattr(regions, "decode_tiles", counted)
    return calls


@every_pair(planes=[1, 2, 3, 4], depth=[1, 7, 8, 12, 16], shape=SHAPES)
def test_every_form_and_depth(tmp_path, planes, depth, shape):
    samples = samples_of(shape, planes, depth)
    (tmp_path / "a.mmp").write_bytes(tiled(samples, depth))
    array = from_mmp(tmp_path / "a.mmp", chunks=64)
    assert (array.shape, array.dtype) == (samples.shape, samples.dtype)
    found = array.compute(scheduler="threads")
    np.testing.assert_array_equal(found, samples)
    assert found.dtype == samples.dtype


def test_a_chunk_decodes_its_tiles_in_one_thread(path, decoded):
    array = from_mmp(path, chunks=(128, 64))
    assert array.chunks == ((128, 128, 44), (*[64] * 8, 8), (3,))
    assert decoded == []
    array.blocks[1, 2].compute(scheduler="sync")
    assert decoded == [([20, 29], 1)]
    decoded.clear()
    array[130:140, 500:].compute(scheduler="sync")
    tiles = {tile for tiles, _ in decoded for tile in tiles}
    assert {25, 26} <= tiles <= {25, 26, 34, 35}  # of two chunks


@pytest.mark.parametrize(
    ("tile_size", "expected"),
    [
        (64, ((256, 44), (256, 256, 8), (3,))),
        (100, ((300,), (300, 220), (3,))),
        (256, ((256, 44), (256, 256, 8), (3,))),
        (270, ((270, 30), (270, 250), (3,))),
        (0, ((300,), (520,), (3,))),
    ],
)
def test_usual_chunks_are_tiles_or_several_small_tiles(tmp_path, tile_size, expected):
    (tmp_path / "a.mmp").write_bytes(tiled(WHOLE, tile_size=tile_size))
    array = from_mmp(tmp_path / "a.mmp")
    assert array.chunks == expected
    np.testing.assert_array_equal(array.compute(), WHOLE)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (1, ((64, 64, 64, 64, 44), (*[64] * 8, 8))),
        (65, ((128, 128, 44), (128, 128, 128, 128, 8))),
        ((-1, 200), ((300,), (256, 256, 8))),
        ((64, 512, 1), ((64, 64, 64, 64, 44), (512, 8))),
        ({0: 192}, ((192, 108), (520,))),
        (((100, 10, 190), (520,), 3), ((128, 64, 108), (520,))),
        ("auto", ((300,), (520,))),
    ],
)
def test_chunks_are_enlarged_to_whole_tiles(path, chunks, expected):
    array = from_mmp(path, chunks=chunks)
    assert array.chunks == (*expected, (3,))
    np.testing.assert_array_equal(array.compute(), WHOLE)


@given(
    shape=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    chunks=st.tuples(st.integers(1, 400), st.integers(1, 400)),
)
def test_borders_of_chunks_are_those_of_tiles(shape, chunks, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"flat-{shape[0]}-{shape[1]}.mmp"
    path.write_bytes(tiled(np.zeros(shape, np.uint8)))
    found = from_mmp(path, chunks=chunks).chunks
    path.unlink()
    for lengths, length, asked in zip(found, shape, chunks, strict=True):
        assert sum(lengths) == length
        assert all(each % 64 == 0 and each - asked < 64 for each in lengths[:-1])
        assert all(each >= asked for each in lengths[:-1])
        assert lengths[-1] > 0


@pytest.mark.parametrize(
    "chunks", [0, (0, 5), (5,), "fast", (1, 2, 3, 4), object(), ((5,), (5,), (3,))]
)
def test_wrong_chunks_are_named(path, chunks):
    with pytest.raises(ParameterError, match=r"^chunks = "):
        from_mmp(path, chunks=chunks)


@pytest.mark.parametrize(
    ("options", "says"), [({"limits": 3}, "limits = 3"), ({"backend": "fast"}, "backend")]
)
def test_wrong_options_are_named(path, options, says):
    with pytest.raises(ParameterError, match=says):
        from_mmp(path, **options)


def test_the_bytes_of_a_file_are_no_source(path):
    with pytest.raises(ParameterError, match="source of type bytes: must be a path or a URL"):
        from_mmp(path.read_bytes())


@given(
    index=st.tuples(st.slices(130) | st.integers(-130, 129), st.slices(200), st.slices(3)),
    new=st.integers(0, 4),
    again=st.slices(1),
)
def test_indices_that_dask_fuses_with_reading(index, new, again, tmp_path_factory):
    path, samples = tmp_path_factory.getbasetemp() / "sliced.mmp", WHOLE[:130, :200]
    if not path.exists():
        path.write_bytes(tiled(samples))
    index = (*index[:new], None, *index[new:])[: 3 + (new < 3)]
    expected = samples[index][again]
    found = from_mmp(path, chunks=(64, 128))[index][again].compute(scheduler="sync")
    np.testing.assert_array_equal(found, expected)


def test_lists_and_masks(path):
    array = from_mmp(path)
    rows = [299, 0, 5]
    np.testing.assert_array_equal(array[rows].compute(), WHOLE[rows])
    gray = array[..., 0]
    np.testing.assert_array_equal(gray[gray > 250].compute(), WHOLE[..., 0][WHOLE[..., 0] > 250])


def test_the_name_tells_contents_and_options(path, tmp_path, monkeypatch):
    name = from_mmp(path).name
    assert name == from_mmp(str(path)).name
    monkeypatch.chdir(tmp_path)
    assert name == from_mmp("tiled.mmp").name
    others = [
        from_mmp(path, chunks=64),
        from_mmp(path, limits=DecodeLimits(1 << 20)),
        from_mmp(path, backend="cpu"),
    ]
    (tmp_path / "other.mmp").write_bytes(path.read_bytes())
    others.append(from_mmp("other.mmp"))
    os.utime(path, ns=(1, 1))
    others.append(from_mmp(path))
    names = [name, *(array.name for array in others)]
    assert len({*names}) == len(names)


def test_other_processes_open_the_file_themselves(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    array = from_mmp("tiled.mmp")
    found = array[::3].sum(axis=1).compute(scheduler="processes", num_workers=2)
    np.testing.assert_array_equal(found, WHOLE[::3].sum(axis=1))


def test_tasks_are_small_and_hold_no_file(tmp_path):
    data, _ = large(tile_size=250)
    (tmp_path / "large.mmp").write_bytes(data)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    arrays = [from_mmp(tmp_path / "large.mmp") for _ in range(3)]
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    assert arrays[0].npartitions == 1600
    with MmpReader(tmp_path / "large.mmp") as reader:
        assert len(pickle.dumps(reader)) < 1000 < len(pickle.dumps(reader.header))


def test_a_picture_beyond_the_limits(tmp_path):
    data, tile = large()
    (tmp_path / "large.mmp").write_bytes(data)
    array = from_mmp(tmp_path / "large.mmp")
    assert array.shape == (20000, 20000)
    np.testing.assert_array_equal(array[-9:, 5:8].compute(), tile[-9:, 5:8])
    with pytest.raises(PictureError, match="max_samples"):
        from_mmp(tmp_path / "large.mmp", chunks=-1)[0, 0].compute()


def test_a_damaged_tile_is_named_and_other_chunks_are_read(path):
    path.write_bytes(damaged(path.read_bytes(), 11))
    array = from_mmp(path, chunks=64)
    with pytest.raises(PictureError, match=rf"^{path}: .* tile 11, 64x64 at \(128, 64\)"):
        array.compute()
    np.testing.assert_array_equal(array[:64].compute(), WHOLE[:64])


def test_a_file_that_changed_or_is_gone(path):
    array = from_mmp(path)
    path.write_bytes(tiled(255 - WHOLE))
    os.utime(path, ns=(1, 1))
    with pytest.raises(PictureError, match=f"^{path}: has changed since it was opened"):
        array.compute()
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"^{path}: No such file"):
        array.compute()
    with pytest.raises(FileNotFoundError, match=f"^{path}: No such file"):
        from_mmp(path)


def test_a_url(request):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    url = f"memory://{request.node.name}/tiled.mmp"
    with stores.written_whole(url) as stream:
        stream.write(tiled(WHOLE))
    array = from_mmp(url)
    np.testing.assert_array_equal(array.compute(scheduler="threads"), WHOLE)
    assert array.name == from_mmp(url).name
    with stores.written_whole(url) as stream:
        stream.write(tiled(WHOLE[:200]))
    assert array.name != from_mmp(url).name
    with pytest.raises(PictureError, match=f"^{url}: "):
        array.compute()
    fsspec.filesystem("memory").store.clear()


def test_metadata_are_in_the_file(path):
    with pictures.opened(path) as reader:
        assert (reader.depth, reader.metadata.white) == (8, 200)


def test_missing_dask_is_reported(path, monkeypatch):
    for name in ("dask", "dask.array"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"from_mmp needs Dask; .*pip install '\.\[cluster\]'"):
        from_mmp(path)


def test_the_package_names_it():
    assert mmpcodec.dask.from_mmp is from_mmp
    assert "from_mmp" in dir(mmpcodec.dask)
