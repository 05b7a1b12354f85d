"""The codec of numcodecs, with the real library."""

import json

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import BadMagic, ParameterError

numcodecs = pytest.importorskip("numcodecs", reason="numcodecs: pip install mmpcodec[arrays]")

GRAY = natural(np.random.default_rng(0), 40, 52)
DEEP = GRAY.astype(np.uint16) * 250


def get(**options):
    return numcodecs.get_codec({"id": "mmp", **options})


@pytest.mark.parametrize(
    "chunk",
    [
        GRAY,
        DEEP,
        DEEP[None, None],
        np.dstack([GRAY, GRAY, GRAY // 2]),
        np.dstack([DEEP] * 4)[None],
        GRAY[:1, :1],
        GRAY[None, :, :3],
        GRAY[::2, 5:],
        np.asfortranarray(GRAY),
    ],
    ids=lambda chunk: f"{chunk.dtype}-{chunk.shape}",
)
def test_chunks_come_back(chunk):
    codec = get()
    data = codec.encode(chunk)
    assert isinstance(data, bytes)
    order = "F" if chunk.flags.fnc else "C"
    found = codec.decode(data)
    assert found.dtype == chunk.dtype
    assert np.array_equal(found.reshape(-1).reshape(chunk.shape, order=order), chunk)
    out = np.empty_like(chunk, order=order)
    assert codec.decode(bytearray(data), out=out) is out
    assert np.array_equal(out, chunk)


@pytest.mark.parametrize(
    "options", [{"lam": 30.0, "preset": "plain"}, {"quality": 70, "preset": "photo", "effort": 1}]
)
def test_options_reach_the_codec(options):
    assert get(**options).encode(GRAY) == mmpcodec.encode(GRAY, **options)


def test_lossless_unless_asked():
    assert get().encode(GRAY) == mmpcodec.encode(GRAY, 0)
    assert get().get_config() == {"id": "mmp", "lam": 0.0}


def test_numbers_of_numpy_go_through_json():
    config = get(quality=np.int64(90), effort=np.int8(3), post_filter=np.bool_(False)).get_config()
    expected = {"id": "mmp", "quality": 90, "effort": 3, "post_filter": False}
    assert json.loads(json.dumps(config)) == expected


def test_config_goes_through_json():
    codec = get(target_psnr=40, depth=12, preset="photo", templates=1)
    config = json.loads(json.dumps(codec.get_config()))
    assert config == {
        "id": "mmp", "target_psnr": 40, "depth": 12, "preset": "photo", "templates": 1
    }  # fmt: skip
    assert numcodecs.get_codec(config) == codec != get()
    assert repr(codec) == "Mmp(target_psnr=40, depth=12, preset='photo', templates=1)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": -1}, "lam = -1"),
        ({"lam": 1, "quality": 1}, "give only one"),
        ({"depth": 17}, "depth = 17: must be from 1 to 16"),
        ({"preset": "none"}, "preset = 'none'"),
        ({"backend": "cpu"}, "unknown option 'backend'"),
    ],
)
def test_bad_options_are_named_at_once(options, says):
    with pytest.raises(ParameterError, match=says):
        get(**options)


@pytest.mark.parametrize(
    ("chunk", "options", "says"),
    [
        (np.zeros(8, np.uint8), {}, r"shape \(8,\): must be one picture"),
        (np.zeros((2, 8, 8), np.uint8), {}, r"shape \(2, 8, 8\): must be one picture"),
        (np.zeros((0, 8), np.uint8), {}, "must be one picture"),
        (np.zeros((8, 8), np.float32), {}, "type float32: supported are uint8 and uint16"),
        (np.zeros((8, 8), np.uint16), {"depth": 8}, "depth = 8: must be from 9 to 16 for chunks"),
        (np.zeros((8, 8), np.uint8), {"depth": 12}, "depth = 12: must be from 1 to 8"),
        (np.full((8, 8), 4096, np.uint16), {"depth": 12}, "sample of 4096"),
        (np.zeros((8, 8), ">u2"), {}, "type >u2: supported are .* the machine's byte order"),
        (b"abc", {}, r"shape \(\): must be one picture"),
    ],
)
def test_other_chunks_are_refused(chunk, options, says):
    with pytest.raises(ParameterError, match=says):
        get(**options).encode(chunk)


def test_bad_data_is_told():
    with pytest.raises(BadMagic, match="magic is"):
        get().decode(b"something else")


def test_zarr_of_format_2_stores_and_reads(tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr: pip install mmpcodec[arrays]")
    stack = np.stack([DEEP, DEEP[::-1], DEEP // 2])
    for order in "CF":
        options = {"zarr_format": 2, "chunks": (1, 30, 52), "compressors": get(), "order": order}
        stored = zarr.create_array(tmp_path / order, shape=stack.shape, dtype="uint16", **options)
        stored[:] = stack
        assert np.array_equal(zarr.open_array(tmp_path / order, mode="r")[:], stack)
