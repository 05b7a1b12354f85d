"""The codec of numcodecs, with the real library."""

import json
import sys

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import BadMagic, CorruptStream, ParameterError

numcodecs = pytest.importorskip("numcodecs", reason="numcodecs: pip install mmpcodec[arrays]")

GRAY = natural(np.random.default_rng(0), 40, 52)
DEEP = GRAY.astype(np.uint16) * 250
FIVE = np.uint8([[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]])


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
        GRAY > 99,
        GRAY[..., None],
        GRAY.view(np.int8),
        (DEEP - 30000).view(np.int16),
        np.stack([DEEP, DEEP[::-1], DEEP // 2]),
        np.stack([np.dstack([GRAY, GRAY, GRAY // 2])] * 2)[None],
        np.asfortranarray(np.stack([DEEP, DEEP[::-1], DEEP // 2])),
        (GRAY / 255 - 0.3).astype(np.float16),
        (GRAY / 255 - 0.3).astype(np.float32),
        np.dstack([GRAY / 255, -GRAY / 255, np.full(GRAY.shape, np.nan)]).astype(np.float32),
        np.stack([np.dstack([GRAY / 255, -GRAY / 9])] * 2).astype(np.float32),
        np.asfortranarray(np.stack([GRAY / 255, -GRAY / 9, GRAY]).astype(np.float32)),
        np.asfortranarray(GRAY[..., None]),
        np.asfortranarray(GRAY[None, None]),
        np.asfortranarray(np.dstack([GRAY, GRAY, GRAY // 2])),
        np.asfortranarray(GRAY[:2, :3]),
        np.asfortranarray(GRAY > 99),
        DEEP.astype(np.uint32) << 13,
        GRAY.astype(np.int32)[None] - 100,
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
    equal_nan = chunk.dtype.kind == "f"
    core = chunk.reshape(chunk.shape[-found.ndim :])
    assert np.array_equal(found, core, equal_nan=equal_nan)
    other = numcodecs.Zlib()  # every codec of numcodecs gives the bytes in their order in memory
    if not chunk.flags.forc:
        chunk = np.ascontiguousarray(chunk)
    bytes_of_other = bytes(other.decode(other.encode(chunk)))
    assert found.reshape(-1, order="A").tobytes() == bytes_of_other
    out = np.empty_like(chunk, order=order)
    assert codec.decode(bytearray(data), out=out) is out
    assert np.array_equal(out, chunk, equal_nan=equal_nan)


def test_a_chunk_that_claims_a_larger_picture_is_refused_before_it_is_decoded(monkeypatch):
    """A file of 36 bytes can hold a blank picture of 64 MB."""
    data = get().encode(np.zeros((2048, 2048), np.uint16))
    assert len(data) < 100
    out = np.empty((16, 16), np.uint16)
    monkeypatch.setattr(mmpcodec, "decode", None)
    with pytest.raises(mmpcodec.CorruptStream, match=r"2048x2048 pixels .* chunk of 512 bytes"):
        get().decode(data, out=out)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_every_bit_of_floating_point_numbers_comes_back(kind):
    bits = np.dtype(f"u{np.dtype(kind).itemsize}")
    some = np.random.default_rng(3).integers(0, 1 << 8 * bits.itemsize, 4096, bits)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan], kind).view(bits)
    some[: len(special)] = special
    some[-2:] = special[4] | 5, special[5] | 9  # NaN with a payload
    chunk = some.reshape(64, 64).view(kind)
    assert get().decode(get().encode(chunk)).tobytes() == chunk.tobytes()


@pytest.mark.parametrize(
    ("chunk", "samples", "text"),
    [
        (np.int16([[-32768, -1], [0, 32767]]), [[0, 32767], [32768, 65535]], "int16 2x2"),
        (np.int8([[-128, 127]]), [[0, 255]], "int8 1x2"),
        (np.float16([[-1, 0, 1]]), [[0x43FF, 0x8000, 0xBC00]], "float16 1x3"),
        (np.float32([[-1, 1]]), [[[0x407F, 0xFFFF], [0xBF80, 0]]], "float32 1x2"),
        (np.uint32([[1 << 16, 7]]), [[[1, 0], [0, 7]]], "uint32 1x2"),
        (
            np.uint8([[[1, 2, 3, 4, 5]], [[6, 7, 8, 9, 0]]]),
            [[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]],
            "uint8 2x1x5",
        ),
        (np.array([[True, False]]), [[1, 0]], "bool 1x2"),
    ],
    ids=lambda given: str(getattr(given, "dtype", "")),
)
def test_samples_have_the_order_of_the_numbers(chunk, samples, text):
    found = mmpcodec.inspect(get().encode(chunk), decode=True)
    assert found.samples.tolist() == samples
    assert found.header.metadata.text == (("mmpcodec array", text),)


def test_pictures_are_plain_files():
    for chunk in (GRAY, DEEP, np.dstack([GRAY] * 3)):
        assert get().encode(chunk[None]) == mmpcodec.encode(chunk, 0)


def test_integers_can_be_stored_with_loss():
    chunk = (DEEP.astype(np.int32) - 30000).astype(np.int16)
    codec = get(lam=20, preset="photo", effort=1, range=(-32768, 32767))
    found = codec.decode(codec.encode(chunk))
    assert found.dtype == np.int16
    assert 0 < np.abs(found.astype(int) - chunk).mean() < 2000
    narrow = get(lam=20, preset="photo", effort=1, range=(-30000, -29000))
    assert np.abs(narrow.decode(narrow.encode(chunk)).astype(int) - chunk).mean() < 40


def test_lossy_chunks_of_16_bits_need_a_range_that_all_share():
    chunk = (DEEP >> 4).astype(np.uint16)
    for codec in (get(lam=20), get(quality=80), get(target_psnr=50)):
        with pytest.raises(ParameterError, match="range: must be given for lossy chunks of uint16"):
            codec.encode(chunk)
    given = get(quality=80, range=(0, 4095))
    assert given.get_config()["range"] == (0, 4095)
    assert numcodecs.get_codec(json.loads(json.dumps(given.get_config()))) == given
    dark, bright = (given.encode(part) for part in (chunk // 64, chunk))
    for data in (dark, bright):
        assert mmpcodec.inspect(data).header.metadata.range == (0, 4095)
    by_depth = mmpcodec.inspect(get(quality=80, depth=12).encode(chunk)).header
    assert (by_depth.depth, by_depth.metadata.range) == (12, (0, 4095))
    assert get(target_size=2000).encode(chunk)
    assert get(max_error=3).encode(chunk)


@pytest.mark.parametrize(
    ("kind", "levels", "says"),
    [
        (np.uint8, (0, 99), "range = .* must be None for chunks of uint8"),
        (np.uint16, (-5, 99), "range = -5: must be from 0 to 65535 for chunks of uint16"),
        (np.int16, (0, 40000), "range = 40000: must be from -32768 to 32767 for chunks of int16"),
        (np.uint16, (9, 9), "range = .* must be two numbers, the lower one first"),
        (np.uint16, 5, "range = 5: must be two numbers"),
    ],
)
def test_wrong_ranges_are_refused(kind, levels, says):
    with pytest.raises(ParameterError, match=says):
        get(lam=9, range=levels).encode(np.zeros((8, 8), kind))


@pytest.mark.parametrize(
    "options", [{"quality": 100}, {"lam": 9, "preset": "lossless"}, {"lam": 0}]
)
def test_floats_take_options_without_loss(options):
    chunk = GRAY.astype(np.float32)
    assert np.array_equal(get().decode(get(**options).encode(chunk)), chunk)


@pytest.mark.parametrize(
    "text",
    [
        *("int16 40x51", "int16 2080", "int64 40x52", "int8 40x52", "float32 40x52", "int16"),
        *("int16 0x2", "int16 2080x1x1x52", f"int16 40x52{'x1' * 40}", f"int16 {'9' * 5000}x1"),
    ],
)
def test_a_description_of_another_array_is_damage(text):
    metadata = mmpcodec.metadata.Metadata(text=(("mmpcodec array", text),))
    data = mmpcodec.encode(DEEP, 0, metadata=metadata)
    with pytest.raises(CorruptStream, match=r"text 'mmpcodec array' is .*shape \(40, 52\)"):
        get().decode(data)


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


def test_a_score_can_be_the_target():
    options = {"target_ssimulacra2": 70, "preset": "photo", "effort": 1}
    assert get(**options).get_config() == {"id": "mmp", **options}
    assert get(**options).encode(GRAY) == mmpcodec.encode(GRAY, **options)


def test_config_goes_through_json():
    codec = get(target_psnr=40, depth=12, preset="photo", templates=1)
    config = json.loads(json.dumps(codec.get_config()))
    assert config == {
        "id": "mmp", "target_psnr": 40, "depth": 12, "preset": "photo", "templates": 1
    }  # fmt: skip
    assert numcodecs.get_codec(config) == codec != get()
    assert repr(codec) == "Mmp(target_psnr=40, preset='photo', templates=1, depth=12)"


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
        (np.zeros(8, np.uint8), {}, r"shape \(8,\): must have at least two axes"),
        (np.zeros((0, 8), np.uint8), {}, "must have at least two axes and one number"),
        (np.zeros((8, 8)), {}, "type float64: supported are bool, .*float32.*; astype converts"),
        (np.zeros((8, 8), np.int64), {}, "type int64: supported are"),
        (np.zeros((8, 8), complex), {}, "type complex128: supported are"),
        (
            np.zeros((8, 8), np.float16),
            {"quality": 90},
            "quality = 90: chunks of float16",
        ),
        (
            np.zeros((8, 8), np.float32),
            {"lam": 2},
            "lam = 2: .* scale the numbers to uint16",
        ),
        (np.zeros((8, 8), np.int32), {"target_size": 99}, "target_size = 99: chunks of int32"),
        (
            np.zeros((8, 8), np.float32),
            {"max_error": 2, "preset": "lossless"},
            "max_error = 2: chunks of float32",
        ),
        (np.zeros((8, 8), np.int16), {"depth": 12}, "depth = 12: must be None for chunks of int16"),
        (
            np.zeros((1 << 15, 1 << 12), bool),
            {},
            "allowed are .* 67108864 samples",
        ),
        (np.zeros((8, 8), np.uint16), {"depth": 8}, "depth = 8: must be from 9 to 16 for chunks"),
        (np.zeros((8, 8), np.uint8), {"depth": 12}, "depth = 12: must be from 1 to 8"),
        (np.full((8, 8), 4096, np.uint16), {"depth": 12}, "sample of 4096"),
        (np.zeros((8, 8), ">u2"), {}, "type >u2: supported are .* the machine's byte order"),
        (b"abc", {}, r"shape \(\): must have at least two axes"),
    ],
)
def test_other_chunks_are_refused(chunk, options, says):
    with pytest.raises(ParameterError, match=says):
        get(**options).encode(chunk)


def test_bad_data_is_reported():
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


@pytest.mark.parametrize("kind", ["bool", "int16", "float16", "float32"])
def test_zarr_of_format_2_stores_other_numbers(kind, tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr: pip install mmpcodec[arrays]")
    stack = (np.stack([GRAY, GRAY[::-1], GRAY // 2]) / 16 - 7).astype(kind)
    for order in "CF":
        options = {"zarr_format": 2, "chunks": (2, 30, 52), "compressors": get(), "order": order}
        stored = zarr.create_array(tmp_path / order, shape=stack.shape, dtype=kind, **options)
        stored[:] = stack
        assert np.array_equal(zarr.open_array(tmp_path / order, mode="r")[:], stack)


def test_samples_are_decoded_straight_into_an_array(monkeypatch):
    """Without a copy, if the array has their type and lies in C order."""
    chunk = np.arange(600, dtype=np.uint16).reshape(1, 20, 30)
    data = get().encode(chunk)

    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr(sys.modules[type(get()).__module__], "ndarray_copy", refuse)
    out = np.empty((1, 20, 30), np.uint16)
    assert get().decode(data, out=out) is out
    np.testing.assert_array_equal(out, chunk)
    with pytest.raises(AssertionError):
        get().decode(data, out=np.empty((30, 20), np.uint16).T)
