"""The codec of zarr 3, with real stores on disk."""

import json
import subprocess
import sys

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import ParameterError

zarr = pytest.importorskip("zarr", minversion="3.1", reason="zarr: pip install mmpcodec[arrays]")

from mmpcodec.plugins.zarr import MmpCodec  # noqa: E402

GRAY = natural(np.random.default_rng(0), 40, 52)
STACK = np.stack([GRAY, GRAY[::-1], GRAY // 2]).astype(np.uint16) * 250


def create(store, samples, codec, **options):
    options = {"chunks": (1, *samples.shape[1:]), "compressors": None, **options}
    stored = zarr.create_array(
        store, shape=samples.shape, dtype=samples.dtype, serializer=codec, **options
    )
    stored[:] = samples
    return stored


def test_a_store_is_read_by_another_process(tmp_path):
    create(tmp_path / "a.zarr", STACK, MmpCodec())
    program = (
        "import sys, zarr\n"
        "assert 'mmpcodec' not in sys.modules\n"
        f"array = zarr.open_array({str(tmp_path / 'a.zarr')!r}, mode='r')\n"
        f"array[1:].tofile({str(tmp_path / 'samples')!r})\n"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
    assert np.array_equal(np.fromfile(tmp_path / "samples", np.uint16), STACK[1:].ravel())


def test_chunks_are_mmp_files_and_named_in_the_metadata(tmp_path):
    codec = MmpCodec(20.0, preset="plain")
    create(tmp_path, STACK[:, :, :, None].repeat(3, 3) >> 8 << 8, MmpCodec())
    stored = create(tmp_path / "b", (STACK >> 8).astype(np.uint8), codec)
    written = json.loads((tmp_path / "b" / "zarr.json").read_text())
    assert written["codecs"] == [{"name": "mmp", "configuration": {"lam": 20.0, "preset": "plain"}}]
    chunk = (tmp_path / "b" / "c" / "1" / "0" / "0").read_bytes()
    assert chunk == mmpcodec.encode((STACK[1] >> 8).astype(np.uint8), 20.0, preset="plain")
    assert np.array_equal(stored[1], mmpcodec.decode(chunk))
    assert np.array_equal(zarr.open_array(tmp_path, mode="r")[..., 2], STACK >> 8 << 8)


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (1, 17, 30)},  # chunks at the edges are filled up
        {"chunks": (1, 20, 26), "shards": (3, 40, 52)},
        {"dtype": ">u2"},
        {"filters": [zarr.codecs.TransposeCodec(order=(0, 2, 1))]},
    ],
    ids=str,
)
def test_what_was_written_is_read(tmp_path, options):
    samples = STACK.astype(options.pop("dtype", "=u2"))
    create(tmp_path, samples, MmpCodec(), **options)
    stored = zarr.open_array(tmp_path)
    assert np.array_equal(stored[:], STACK)
    assert np.array_equal(stored[:, 3:19:2, 40], STACK[:, 3:19:2, 40])
    stored[1, 5:7, 8:9] = 77
    assert stored[1, 4:8, 8].tolist() == [STACK[1, 4, 8], 77, 77, STACK[1, 7, 8]]


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "int16", ">i2", "float16", "float32", ">f4", "int32", "uint32"]
)
@pytest.mark.parametrize(
    "options", [{"chunks": (2, 17, 30)}, {"chunks": (2, 20, 26), "shards": (4, 40, 52)}], ids=str
)
def test_several_planes_of_other_numbers(kind, options, tmp_path):
    samples = (STACK.astype(float) / 4096 - 7).astype(kind)
    create(tmp_path, samples, MmpCodec(), **options)
    found = zarr.open_array(tmp_path, mode="r")
    assert found[:].dtype.newbyteorder("=") == samples.dtype.newbyteorder("=")
    assert np.array_equal(found[:], samples)


def test_a_chunk_that_claims_a_larger_picture_is_refused_before_it_is_decoded(
    tmp_path, monkeypatch
):
    stored = create(tmp_path, STACK, MmpCodec())
    blank = mmpcodec.encode(np.zeros((4096, 4096), np.uint16), 0)
    (tmp_path / "c" / "0" / "0" / "0").write_bytes(blank)
    monkeypatch.setattr(mmpcodec, "decode", None)
    with pytest.raises(mmpcodec.CorruptStream, match=r"4096x4096 pixels .* chunk of \d+ bytes"):
        stored[0]


def test_chunks_of_another_type_are_reported(tmp_path):
    stored = create(tmp_path, STACK.astype(np.int16), MmpCodec())
    (tmp_path / "c" / "0" / "0" / "0").write_bytes(mmpcodec.encode(STACK[0], 0))
    with pytest.raises(mmpcodec.CorruptStream, match=r"type uint16 in a chunk of shape .* int16"):
        stored[0]


def test_a_depth_of_12_bits():
    stored = create({}, STACK >> 4, MmpCodec(depth=12))
    assert np.array_equal(stored[:], STACK >> 4)
    assert stored.metadata.codecs == (MmpCodec(depth=12),)
    assert stored.metadata.codecs != (MmpCodec(),)


@pytest.mark.parametrize(
    ("shape", "dtype", "options", "says"),
    [
        ((8,), "uint8", {"chunks": (8,)}, "must have at least two axes"),
        (
            (8, 8),
            "int64",
            {},
            "type int64: supported are bool, uint8, uint16, int8",
        ),
        (
            (8, 8),
            "float32",
            {"serializer": MmpCodec(quality=90)},
            "quality = 90: chunks of flo",
        ),
        ((1 << 14,) * 2, "float32", {}, "allowed are .* 67108864 samples"),
        ((8, 8), "uint16", {"serializer": MmpCodec(depth=8)}, "depth = 8: must be from 9 to 16"),
        (
            (8, 8),
            "float64",
            {"chunks": (4, 4), "shards": (8, 8)},
            "type float64: supported are bool",
        ),
    ],
)
def test_arrays_that_it_cannot_hold_are_refused_when_they_are_made(shape, dtype, options, says):
    given = {"chunks": shape, "serializer": MmpCodec(), "compressors": None, **options}
    with pytest.raises(ParameterError, match=says):
        zarr.create_array({}, shape=shape, dtype=dtype, **given)


def test_bad_options_are_named():
    with pytest.raises(ParameterError, match="unknown option 'speed'"):
        MmpCodec(speed=3)


def test_damaged_and_other_chunks_are_reported(tmp_path):
    stored = create(tmp_path, STACK, MmpCodec())
    chunk = tmp_path / "c" / "0" / "0" / "0"
    good = chunk.read_bytes()
    chunk.write_bytes(good[:-1])
    with pytest.raises(mmpcodec.TruncatedStream, match="bytes"):
        stored[0]
    chunk.write_bytes(mmpcodec.encode(GRAY, 0))
    with pytest.raises(mmpcodec.CorruptStream, match=r"type uint8 in a chunk of shape \(1, 40, 52"):
        stored[0]
