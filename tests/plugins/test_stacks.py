"""Files of several pictures as lazy arrays: Dask, xarray, zarr and napari."""

import pickle

import numpy as np
import pytest
from support.books import collection, noisy

import mmpcodec
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.mmp.stack import MOST_OPEN, MmpStack

GRAY = [noisy((20, 30), 12, seed) for seed in range(6)]
RGB = [noisy((20, 30, 3), 8, seed) for seed in range(3)]


def stacked(pictures):
    return np.stack([one.samples for one in pictures])


@pytest.fixture
def path(tmp_path):
    def write(pictures, *how):
        found = tmp_path / "a.mmp"
        found.write_bytes(collection(pictures, *how))
        return found

    return write


def damage(path, picture):
    """Damage the samples of a page, so that to decode it is an error."""
    data = path.read_bytes()
    coded = mmpcodec.encode(picture.samples, 0, depth=picture.depth)
    place = data.index(coded) + len(coded) - 9
    path.write_bytes(data[:place] + bytes(9) + data[place + 9 :])


INDEXES = [
    np.s_[2],
    np.s_[-1, 3:9],
    np.s_[1:4, 5:7, ::2],
    np.s_[::-2, 4],
    np.s_[..., 2],
    np.s_[:, ..., 2:4],
    np.s_[3:3],
    np.s_[0, 1, 2],
    np.s_[...],
    np.s_[4:1],
]


@pytest.mark.parametrize("index", INDEXES, ids=str)
@pytest.mark.parametrize("pictures", [GRAY, RGB], ids=["gray", "RGB"])
def test_a_stack_has_the_parts_of_an_array(path, pictures, index):
    if pictures is RGB and index in (np.s_[4:1], np.s_[3:3]):
        index = np.s_[2:1]
    wanted = stacked(pictures)
    stack = MmpStack(path(pictures))
    assert (stack.shape, stack.dtype, stack.ndim) == (wanted.shape, wanted.dtype, wanted.ndim)
    found = stack[index]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted[index])


WRONG = [np.s_[6], np.s_[0, 20], np.s_[[0, 1]], np.s_[None], np.s_[True], "a"]


@pytest.mark.parametrize("index", WRONG, ids=str)
def test_wrong_indexes_of_a_stack_are_errors(path, index):
    with pytest.raises(IndexError):
        _ = MmpStack(path(GRAY))[index]


def test_a_stack_reads_only_the_pictures_of_an_index(path):
    found = path(GRAY)
    damage(found, GRAY[3])
    stack = MmpStack(found)
    np.testing.assert_array_equal(stack[:3], stacked(GRAY[:3]))
    with pytest.raises(PictureError, match=r"a\.mmp"):
        _ = stack[3]


def test_a_stack_is_pickled_and_keeps_few_pictures_open(path):
    stack = pickle.loads(pickle.dumps(MmpStack(path(GRAY))))
    np.testing.assert_array_equal(stack[...], stacked(GRAY))
    assert len(stack._open) == MOST_OPEN


def test_a_changed_file_is_noticed(path):
    stack = MmpStack(path(GRAY))
    path(RGB)
    with pytest.raises(PictureError):
        _ = stack[0]


def test_the_first_picture_that_differs_is_named(path):
    found = path([*GRAY[:2], noisy((20, 31), 12), noisy((20, 30), 11)])
    with pytest.raises(PictureError, match="page 3 is 31x20 gray of 12 bits, page 1 is 30x20"):
        MmpStack(found)
    with pytest.raises(PictureError, match="holds no pictures"):
        MmpStack(path([]))


@pytest.mark.parametrize("pictures", [GRAY, RGB], ids=["gray", "RGB"])
def test_dask_reads_pages_lazily(path, pictures):
    pytest.importorskip("dask.array")
    from mmpcodec.dask import from_mmp

    found = path(pictures)
    array = from_mmp(found, page="all")
    assert array.shape == stacked(pictures).shape
    assert array.chunks[0] == (1,) * len(pictures)
    np.testing.assert_array_equal(array.compute(scheduler="threads"), stacked(pictures))
    one = from_mmp(found, page=2)
    np.testing.assert_array_equal(one.compute(), pictures[1].samples)
    damage(found, pictures[0])
    later = from_mmp(found, page="all")
    assert later.name != array.name
    np.testing.assert_array_equal(later[1:, 3:5].compute(), stacked(pictures)[1:, 3:5])
    with pytest.raises(PictureError):
        later[0].compute()


def test_dask_takes_chunks_of_several_pages(path):
    pytest.importorskip("dask.array")
    from mmpcodec.dask import from_mmp

    array = from_mmp(path(RGB), page="all", chunks=(2, -1, -1))
    assert array.chunks == ((2, 1), (20,), (30,), (3,))
    np.testing.assert_array_equal(array.compute(), stacked(RGB))
    with pytest.raises(mmpcodec.ParameterError, match="chunks"):
        from_mmp(path(RGB), page="all", chunks=(2, "x", 1))
    with pytest.raises(PictureError, match="page"):
        from_mmp(path(RGB))


def test_a_stack_goes_to_zarr_page_by_page(path, tmp_path):
    zarr = pytest.importorskip("zarr")
    pytest.importorskip("dask.array")
    from mmpcodec.dask import from_mmp

    from_mmp(path(GRAY), page="all").to_zarr(str(tmp_path / "a.zarr"))
    found = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert found.chunks == (1, 20, 30)
    np.testing.assert_array_equal(found[:], stacked(GRAY))


@pytest.mark.parametrize(
    ("role", "facts", "places", "units"),
    [
        (Role.PAGE, None, [1, 2, 3], {}),
        (Role.FRAME, [(1, 10), (1, 2), (3, 1)], [0, 0.1, 0.6], {"units": "s"}),
        (Role.SLICE, [(-1_500_000,), (0,), (2_000_000,)], [-1.5, 0, 2], {"units": "mm"}),
    ],
)
def test_xarray_names_the_pictures(path, role, facts, places, units):
    xarray = pytest.importorskip("xarray")
    found = path(RGB, role, facts)
    with xarray.open_dataset(found, engine="mmp") as data:
        name = role.name.lower()
        assert data.samples.dims == (name, "y", "x", "channel")
        np.testing.assert_allclose(data[name], places)
        assert data[name].attrs == units
        np.testing.assert_array_equal(data.samples, stacked(RGB))
        one = data.samples.sel({name: places[1]})
        np.testing.assert_array_equal(one, RGB[1].samples)
    with xarray.open_dataset(found, engine="mmp", page=3) as data:
        np.testing.assert_array_equal(data.samples, RGB[2].samples)


def test_xarray_reads_pages_lazily(path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    found = path(GRAY)
    damage(found, GRAY[0])
    with xarray.open_dataset(found, engine="mmp", chunks={}) as data:
        assert data.samples.chunks[0] == (1,) * 6
        np.testing.assert_array_equal(data.samples[2:4], stacked(GRAY[2:4]))
        assert data.samples.attrs["depth"] == 12
        assert "channel" not in data.coords


def test_napari_has_a_layer_with_an_axis_of_pictures(path):
    pytest.importorskip("dask.array")
    from mmpcodec.plugins.napari import read_layers

    ((array, options, kind),) = read_layers(path(RGB))
    assert (array.shape, options["rgb"], kind) == ((3, 20, 30, 3), True, "image")
    ((array, options, _),) = read_layers(path(GRAY))
    assert (array.shape, options["contrast_limits"]) == ((6, 20, 30), [0, 4095])
    np.testing.assert_array_equal(array[5], GRAY[5].samples)


def test_napari_has_a_layer_of_each_picture_of_another_size(path):
    pytest.importorskip("dask.array")
    from mmpcodec.plugins.napari import read_layers

    layers = read_layers(path([GRAY[0], RGB[0]]))
    assert [options["name"] for _, options, _ in layers] == ["a page 1", "a page 2"]
    np.testing.assert_array_equal(layers[1][0], RGB[0].samples)


def test_scales_of_napari_halve_rows_and_columns_only(path, monkeypatch):
    pytest.importorskip("dask.array")
    from mmpcodec.plugins import napari

    monkeypatch.setattr(napari, "LARGEST_SIDE", 16)
    for pictures, end in ((RGB, (3,)), (GRAY, ())):
        ((scales, options, _),) = napari.read_layers(path(pictures))
        assert options["multiscale"]
        assert [one.shape for one in scales] == [
            (len(pictures), 20, 30, *end),
            (len(pictures), 10, 15, *end),
        ]
