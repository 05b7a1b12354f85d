"""Pictures in zarr stores: plain arrays and OME-Zarr images, read and written by parts."""

import json

import numpy as np
import pytest

from mmpcodec import DecodeLimits, PictureError, pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.ome_zarr import ZarrParts

zarr = pytest.importorskip("zarr", reason="needs zarr, of the extra arrays")


def shade(shape, kind=np.uint8):
    if kind is bool:
        return np.random.default_rng(1).integers(0, 2, shape).astype(bool)
    return np.random.default_rng(1).integers(0, np.iinfo(kind).max + 1, shape, kind)


def store(path, samples, **options):
    array = zarr.create_array(
        str(path),
        shape=samples.shape,
        dtype=samples.dtype,
        chunks=options.pop("chunks", "auto"),
        **options,
    )
    array[:] = samples
    return str(path)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint16, ">u2"])
@pytest.mark.parametrize("shape", [(30, 41), (30, 41, 1), (30, 41, 2), (7, 9, 3), (1, 1, 4)])
@pytest.mark.parametrize("version", [2, 3])
def test_arrays(tmp_path, kind, shape, version):
    samples = shade(shape, kind if isinstance(kind, type) else np.uint16).astype(kind)
    name = store(tmp_path / "a.zarr", samples, zarr_format=version)
    found = pictures.read(name)
    expected = samples[..., 0] if shape[2:] == (1,) else samples
    assert np.array_equal(found.samples, expected)
    assert found.depth == {"bool": 1, "uint8": 8}.get(samples.dtype.name, 16)
    with pictures.opened(name) as reader:
        assert reader.shape == expected.shape
        assert (
            np.array_equal(reader.read(slice(5, 20), slice(3, 99)), expected[5:20, 3:99])
            if shape[0] > 20
            else True
        )


def test_an_array_whose_axes_have_names(tmp_path):
    samples = shade((1, 3, 1, 20, 31))
    name = store(tmp_path / "a.zarr", samples, dimension_names=("t", "c", "z", "y", "x"))
    assert np.array_equal(pictures.read(name).samples, np.moveaxis(samples[0, :, 0], 0, 2))


def ome(path, samples, axes, version="0.5"):
    group = zarr.open_group(str(path), mode="w", zarr_format=3 if version == "0.5" else 2)
    named = [{"name": name, "type": "channel" if name == "c" else "space"} for name in axes]
    found = [{"axes": named, "datasets": [{"path": "full"}, {"path": "half"}]}]
    if version == "0.5":
        group.attrs["ome"] = {"version": version, "multiscales": found}
    else:
        group.attrs["multiscales"] = found
    array = group.create_array(
        "full", shape=samples.shape, dtype=samples.dtype, chunks=samples.shape
    )
    array[:] = samples
    return str(path)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_images_of_other_programs(tmp_path, version):
    samples = shade((1, 2, 1, 20, 31), np.uint16)
    name = ome(tmp_path / "a.zarr", samples, "tczyx", version)
    assert np.array_equal(pictures.read(name).samples, np.moveaxis(samples[0, :, 0], 0, 2))
    flat = ome(tmp_path / "b.zarr", samples[0, 0, 0], "yx", version)
    assert np.array_equal(pictures.read(flat).samples, samples[0, 0, 0])


def test_what_is_no_picture(tmp_path):
    several = ome(tmp_path / "a.zarr", shade((5, 20, 31)), "zyx")
    with pytest.raises(
        PictureError, match=r"a.zarr: has axis z of length 5; supported is a length"
    ):
        pictures.opened(several)
    many = ome(tmp_path / "b.zarr", shade((5, 20, 31)), "cyx")
    with pytest.raises(PictureError, match="holds 5 channels; supported are 1 to 4"):
        pictures.opened(many)
    zarr.open_group(str(tmp_path / "c.zarr"), mode="w").create_array("q", shape=(3, 3), dtype="u1")
    with pytest.raises(
        PictureError, match=r"without an image of OME-Zarr; name an array.*c.zarr/q"
    ):
        pictures.opened(tmp_path / "c.zarr")
    assert pictures.read(tmp_path / "c.zarr" / "q").samples.shape == (3, 3)
    number = store(tmp_path / "d.zarr", np.zeros((4, 4), np.float32))
    with pytest.raises(PictureError, match="numbers of type float32"):
        pictures.opened(number)
    line = store(tmp_path / "e.zarr", np.zeros((4,), np.uint8))
    with pytest.raises(PictureError, match=r"shape \(4,\), with 1 axis"):
        pictures.opened(line)
    (tmp_path / "f.zarr").mkdir()
    (tmp_path / "f.zarr" / "zarr.json").write_text("no metadata")
    with pytest.raises(PictureError, match=r"f\.zarr: is damaged"):
        pictures.opened(tmp_path / "f.zarr")


def test_limits_hold_for_parts(tmp_path):
    name = store(tmp_path / "a.zarr", shade((100, 100)))
    with pictures.opened(name, limits=DecodeLimits(max_samples=2500)) as reader:
        assert reader.read(slice(50), slice(50)).shape == (50, 50)
        with pytest.raises(PictureError, match="2550 samples"):
            reader.read(slice(50), slice(51))


def test_a_url(tmp_path):
    pytest.importorskip("fsspec")
    samples = shade((40, 50))
    name = store(tmp_path / "a.zarr", samples)
    with pictures.opened(f"file://{name}") as reader:
        assert np.array_equal(reader.read(slice(10, 30), slice(20)), samples[10:30, :20])


@pytest.mark.parametrize("depth", [1, 6, 8, 12, 16])
@pytest.mark.parametrize("shape", [(100, 150), (33, 17, 2), (70, 97, 3), (17, 129, 4)])
def test_written_parts(tmp_path, shape, depth):
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = np.random.default_rng(depth).integers(0, 1 << depth, shape, kind)
    path = tmp_path / "a.zarr"
    parts = ZarrParts.create(str(path), shape, depth, Metadata(), 32)
    assert pictures.read(path).samples.max() == 0
    for y in range(0, shape[0], 64):
        for x in range(0, shape[1], 32):
            parts.write(x, y, samples[y : y + 64, x : x + 32])
    found = pictures.read(path)
    assert (found.depth, np.array_equal(found.samples, samples)) == (depth, True)
    array = zarr.open_array(str(path), path="0", mode="r")
    assert array.chunks == (*shape[2:], 32, 32)
    assert array.metadata.dimension_names == (("c", "y", "x") if shape[2:] else ("y", "x"))
    assert "zstd" in json.dumps([codec.to_dict() for codec in array.compressors])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((700,), r"holds an array of shape \(700,\), with 1 axis; supported are 2 and 3$"),
        ((1, 3, 1, 5, 7), r"of shape \(1, 3, 1, 5, 7\), whose 5 axes need names, y and x among"),
        ((3, 5, 7), r"axes y, x, c, which is assumed as they have no names$"),
    ],
)
def test_axes_without_names(tmp_path, shape, message):
    with pytest.raises(PictureError, match=message):
        pictures.read(store(tmp_path / "a.zarr", shade(shape)))
