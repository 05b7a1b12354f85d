"""Dask arrays written as mmp files: equal bytes for all chunks and schedulers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import natural

import mmpcodec
from mmpcodec import Cancelled, ParameterError
from mmpcodec.codec.sources import Kind, prepared
from mmpcodec.errors import FileError
from mmpcodec.metadata import Metadata
from mmpcodec.quality import usual_lambda

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
import dask
import dask.array
from support.clusters import local_client

from mmpcodec.dask import to_mmp, writing

FAST = {"lam": 20, "preset": "photo", "effort": 1}


def shade(shape, planes=0, kind=np.uint8):
    found = [natural(np.random.default_rng(plane), *shape) for plane in range(max(planes, 1))]
    samples = np.stack(found, axis=2)
    samples = samples > 128 if kind is bool else samples.astype(kind)
    return samples if planes else samples[..., 0]


@pytest.fixture(params=["synchronous", "threads", "processes", "distributed"], scope="module")
def scheduler(request):
    """Each kind of scheduler, as the caller's Dask is set up."""
    if request.param == "distributed":
        with local_client() as client, client.as_current():
            yield request.param
    else:
        with dask.config.set(scheduler=request.param):
            yield request.param


def test_bytes_are_those_of_one_call(scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "BLOCK_PIXELS", 128 * 128)
    samples, path = shade((200, 280), 3), tmp_path / "a.mmp"
    array = dask.array.from_array(samples, chunks=(100, 150, 2))
    found = to_mmp(array, path, tile_size=64, **FAST)
    expected = mmpcodec.encode(samples, tile_size=64, **FAST)
    assert path.read_bytes() == expected
    assert (found.size, found.header.width, found.header.depth) == (len(expected), 280, 8)
    with pytest.raises(ValueError, match="trace: a file that was written tile by tile has totals"):
        _ = found.trace


def test_an_error_of_the_graph_is_raised_as_it_is(scheduler, tmp_path):
    def fail(block):
        raise KeyError("of the caller")

    array = dask.array.zeros((128, 128), dtype="uint8", chunks=64).map_blocks(fail, dtype="uint8")
    with pytest.raises(KeyError, match="of the caller"):
        to_mmp(array, tmp_path / "a.mmp", tile_size=64, **FAST)
    assert not list(tmp_path.iterdir())


def test_an_error_names_the_tile(scheduler, tmp_path):
    samples = np.zeros((128, 128), np.uint8)
    samples[100, 100] = 200
    array = dask.array.from_array(samples, chunks=64)
    with pytest.raises(ParameterError, match=r"sample of 200.*\(tile 3, 64x64 at \(64, 64\)\)"):
        to_mmp(array, tmp_path / "a.mmp", tile_size=64, depth=7, **FAST)


@given(
    shape=st.tuples(st.integers(1, 200), st.integers(1, 200)),
    planes=st.integers(0, 4),
    kind=st.sampled_from([bool, np.uint8, np.uint16]),
    tile_size=st.sampled_from([0, 64, 70, 128]),
    chunks=st.tuples(st.integers(20, 200), st.integers(20, 200)),
)
def test_bytes_for_all_forms_and_chunks(tmp_path_factory, shape, planes, kind, tile_size, chunks):
    samples = shade(shape, planes, kind)
    array = dask.array.from_array(samples, chunks=(*chunks, *(1,) * (planes > 0)))
    path = tmp_path_factory.mktemp("coded") / "a.mmp"
    options = {"lam": 0, "preset": "lossless", "effort": 1, "tile_size": tile_size}
    with dask.config.set(scheduler="synchronous"):
        to_mmp(array, path, **options)
    assert path.read_bytes() == mmpcodec.encode(samples, **options)


def test_chunks_of_whole_tiles_are_kept():
    samples = dask.array.zeros((300, 500), dtype="uint8", chunks=(128, 192))
    params = mmpcodec.EncodeParams()
    header = prepared(Kind(samples.shape, 8, Metadata()), 64, params, list).header
    assert writing.chunks_of(samples.chunks, header) == samples.chunks
    others = dask.array.zeros((300, 500), dtype="uint8", chunks=(100, 192))
    assert writing.chunks_of(others.chunks, header) == (2048, 2048)
    large = dask.array.zeros((8192, 8192), dtype="uint8", chunks=8192)
    assert writing.chunks_of(large.chunks, header) == (2048, 2048)


def test_a_quality_is_that_of_the_whole_picture(tmp_path):
    samples = shade((300, 500), 3)
    array = dask.array.from_array(samples, chunks=(100, 200, 1))
    options = {"quality": 70, "preset": "photo", "effort": 1, "tile_size": 128}
    found = to_mmp(array, tmp_path / "a.mmp", **options)
    expected = mmpcodec.encode(samples, **options)
    assert (tmp_path / "a.mmp").read_bytes() == expected
    assert found.lam != usual_lambda(70)


@pytest.mark.parametrize("tile_size", [0, 64])
def test_deep_arrays_are_lossless_unless_loss_is_asked_for(tmp_path, tile_size):
    samples = shade((100, 130), kind=np.uint16) * 16
    array = dask.array.from_array(samples, chunks=50)
    for asked in ({}, {"quality": 80}):
        found = to_mmp(array, tmp_path / "a.mmp", tile_size=tile_size, **asked)
        data = (tmp_path / "a.mmp").read_bytes()
        assert data == mmpcodec.encode(samples, tile_size=tile_size, **asked)
        assert (found.max_error == 0) is (not asked)
        assert np.array_equal(mmpcodec.decode(data), samples) is (not asked)


def test_depth_metadata_and_progress(tmp_path):
    samples, reported = shade((100, 130), kind=np.uint16), []
    metadata = Metadata(text=(("Title", "slide"),), white=1000)
    options = {"depth": 12, "metadata": metadata, "tile_size": 64, **FAST}
    array = dask.array.from_array(samples, chunks=64)
    to_mmp(array, tmp_path / "a", **options, progress=lambda *both: reported.append(both) or True)
    assert (tmp_path / "a").read_bytes() == mmpcodec.encode(samples, **options)
    assert reported[-1] == (63, 63)
    with pytest.raises(Cancelled):
        to_mmp(array, tmp_path / "b", **options, progress=lambda done, total: False)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_url(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    samples = shade((100, 130))
    to_mmp(dask.array.from_array(samples, chunks=50), "memory://to_mmp/a.mmp", tile_size=64, **FAST)
    stored = fsspec.filesystem("memory").cat("/to_mmp/a.mmp")
    assert stored == mmpcodec.encode(samples, tile_size=64, **FAST)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            dask.array.zeros((4, 4, 5), dtype="uint8"),
            r"shape \(4, 4, 5\) and type uint8",
        ),
        (dask.array.zeros((4, 4), dtype="float32"), "type float32: supported"),
        (dask.array.zeros((4,), dtype="uint8"), r"shape \(4,\)"),
        (dask.array.zeros((0, 4), dtype="uint8"), r"shape \(0, 4\)"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, message):
    with pytest.raises(ParameterError, match=message):
        to_mmp(array, tmp_path / "a.mmp")


def test_unknown_sizes_and_missing_folders_are_refused(tmp_path):
    array = dask.array.zeros((8, 8), dtype="uint8")
    with pytest.raises(ParameterError, match="must have known sizes"):
        to_mmp(array[array[:, 0] == 0], tmp_path / "a.mmp")
    with pytest.raises(FileError, match="No such file"):
        to_mmp(array, tmp_path / "none" / "a.mmp")
    with pytest.raises(ParameterError, match="tile_size = 63"):
        to_mmp(array, tmp_path / "a.mmp", tile_size=63)


@pytest.mark.parametrize(
    "target", ["target_size", "target_bpp", "target_psnr", "target_ssimulacra2"]
)
def test_targets_are_refused(tmp_path, target):
    array = dask.array.zeros((8, 8), dtype="uint8")
    with pytest.raises(
        ParameterError, match=f"option '{target}': a target needs the whole picture"
    ):
        to_mmp(array, tmp_path / "a.mmp", **{target: 30})


@pytest.mark.parametrize("path", [None, 3, b"a.mmp"])
def test_what_is_no_path_is_refused(path):
    array = dask.array.zeros((8, 8), dtype="uint8")
    with pytest.raises(ParameterError, match=f"path of type {type(path).__name__}: must be a path"):
        to_mmp(array, path)


def test_masked_arrays_are_refused(tmp_path):
    masked = dask.array.ma.masked_equal(dask.array.zeros((8, 8), dtype="uint8"), 1)
    with pytest.raises(ParameterError, match="array: masked arrays are not supported"):
        to_mmp(masked, tmp_path / "a.mmp")
    assert not list(tmp_path.iterdir())
