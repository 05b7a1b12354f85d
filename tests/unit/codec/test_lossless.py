"""Pictures of lossless samples: all forms and depths come back, and ``auto`` takes them."""

import io
import zlib

import numpy as np
import pytest
from mutate import places
from PIL import Image
from support.strategies import text_like

import mmpcodec
from mmpcodec import EncodeParams, ParameterError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.presets import PRESETS


def test_exact_and_prediction_exclude_each_other():
    with pytest.raises(ParameterError, match="prediction = True: must be False with lossless"):
        EncodeParams.from_options(9, preset="lossless", prediction=True, step=3)


def test_any_lambda_is_lossless():
    picture = np.random.default_rng(1).integers(0, 256, (20, 30), np.uint8)
    files = {lam: mmpcodec.encode(picture, lam, preset="lossless") for lam in (0, 40.5, 1e6)}
    assert len(set(files.values())) == 1
    np.testing.assert_array_equal(mmpcodec.decode(files[0]), picture)


def test_auto_takes_it_for_lossless_photographs():
    rows, columns = np.indices((64, 80))
    noise = np.random.default_rng(2).integers(0, 4, rows.shape)
    picture = (120 + 50 * np.sin(rows / 9) + 40 * np.cos(columns / 11) + noise).astype(np.uint8)
    data = mmpcodec.encode(picture, 0)
    assert mmpcodec.inspect(data).tools.lossless
    assert len(data) < len(mmpcodec.encode(picture, 0, preset="text")) / 2


def pictures():
    """Pictures of every form, with their depths."""
    rng = np.random.default_rng(8)
    shaded = np.add.outer(np.arange(5), 2 * np.arange(11))
    for depth in (1, 3, 8, 10, 12, 16):
        kind = np.uint8 if depth <= 8 else np.uint16
        for planes in (1, 2, 3, 4):
            noise = rng.integers(0, 3, (5, 11, planes))
            samples = ((shaded[..., None] + noise) % (1 << depth)).astype(kind)
            yield samples[..., 0] if planes == 1 else samples, depth


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_every_form_and_depth_comes_back(backend):
    options = {"preset": "lossless", "effort": 1}
    for samples, depth in pictures():
        data = mmpcodec.encode(samples, 0, depth=depth, backend=backend, **options)
        found = mmpcodec.inspect(data, decode=True, backend="cpu")
        assert (found.header.depth, found.header.planes) == (depth, samples[0, 0].size)
        assert found.samples.dtype == samples.dtype
        np.testing.assert_array_equal(found.samples, samples)
        assert data == mmpcodec.encode(samples, 0, depth=depth, **options)


def test_checksum_of_deep_samples_is_big_endian():
    samples = np.array([[[0x102, 0x304], [0x506, 0x708]]], np.uint16)
    data = mmpcodec.encode(samples, 0, depth=12)
    place = places(data)["samples CRC"]
    expected = zlib.crc32(bytes([1, 2, 3, 4, 5, 6, 7, 8]))
    assert int.from_bytes(data[place : place + 4], "big") == expected


def test_planes_that_are_alike_cost_little():
    rng = np.random.default_rng(4)
    gray = rng.integers(0, 256, (40, 50), np.uint8)
    alone = len(mmpcodec.encode(gray, 0, preset="lossless"))
    thrice = len(mmpcodec.encode(np.dstack([gray] * 3), 0, preset="lossless"))
    assert thrice < 1.15 * alone


@pytest.mark.parametrize(
    ("array", "options", "says"),
    [
        (
            np.zeros((3, 3), np.uint16),
            {"preset": "text"},
            "depth is 16, allowed with preset text is 1 to 8; take preset lossless",
        ),
        (
            np.array([[0, 511]], np.uint16),
            {"preset": "mixed", "depth": 9},
            "allowed with preset mixed is 1 to 8; take preset photo or lossless",
        ),
        (np.zeros((3, 3), np.uint8), {"lam": 0, "depth": 9}, "depth = 9: must be from 1 to 8"),
        (np.zeros((3, 3), np.uint8), {"lam": 0, "depth": 0}, "depth = 0: must be from 1 to 8"),
        (np.zeros((3, 3), np.uint16), {"lam": 0, "depth": 17}, "must be from 1 to 16 for uint16"),
        (np.full((3, 3), 4, np.uint8), {"lam": 0, "depth": 2}, "a sample of 4, allowed is 0 to 3"),
        (np.zeros((3, 3, 5), np.uint8), {"lam": 0}, r"shape \(3, 3, 5\) and type uint8: supported"),
        (np.zeros((3, 3), np.int16), {"lam": 0}, "type int16: supported are"),
    ],
)
def test_what_cannot_be_coded_is_reported(array, options, says):
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(array, **options)


def test_auto_takes_exact_for_what_only_it_can_code():
    samples = np.random.default_rng(1).integers(0, 4096, (6, 7, 3)).astype(np.uint16)
    np.testing.assert_array_equal(mmpcodec.decode(mmpcodec.encode(samples, 0, depth=12)), samples)


def test_a_batch_of_all_forms_gives_each_its_own_file():
    arrays = [samples for samples, depth in pictures() if depth in (8, 16)]
    reported = []
    batch = mmpcodec.encode_batch(arrays, 0, progress=lambda *both: reported.append(both) or True)
    assert batch == [mmpcodec.encode(array, 0) for array in arrays]
    done = [count for count, _ in reported]
    assert done == sorted(done)
    assert {total for _, total in reported} == {20} == {done[-1]}


def test_a_device_does_not_code_it():
    class Device(mmpcodec.backends.cpu.CpuBackend):
        name = "device"
        lacks = CudaBackend.lacks

    task = PlaneTask(np.zeros((2, 2), np.uint8), EncodeParams(tools=PRESETS["lossless"]))
    with pytest.raises(mmpcodec.BackendUnavailable, match="it has no lossless samples"):
        Device().encode(task)


def test_few_values_are_coded_without_loss_where_that_is_smaller():
    """A bounded error names no values, so a text of five colours takes more bytes with it."""
    picture = text_like(np.random.default_rng(3), 48, 64)
    near = mmpcodec.encode(picture, max_error=3)
    assert [layer.tools.max_error for layer in mmpcodec.inspect(near).layers] == [0]
    np.testing.assert_array_equal(mmpcodec.decode(near), picture)
    assert len(near) <= len(mmpcodec.encode(picture, 0))

    noise = np.random.default_rng(4).choice(np.array([10, 20, 30, 40], np.uint8), (48, 64))
    near = mmpcodec.encode(noise, max_error=20)
    assert [layer.tools.max_error for layer in mmpcodec.inspect(near).layers] == [20]
    assert len(near) < len(mmpcodec.encode(noise, 0, preset="lossless")) - 100
    assert np.abs(mmpcodec.decode(near).astype(int) - noise).max() <= 20


@pytest.mark.parametrize("effort", [1, 2])
def test_one_plane_of_few_values_is_enough_to_try_it_without_loss(effort):
    """Squares of black and white in red; green and blue have all values."""
    i, j = np.indices((64, 96))
    squares = np.random.default_rng(5).integers(0, 2, (32, 48)).repeat(2, 0).repeat(2, 1)
    picture = np.dstack([255 * squares, (3 * i + j) % 256, (i + 5 * j) % 256]).astype(np.uint8)
    lossless = mmpcodec.encode(picture, 0, effort=effort)
    for bound in (1, 5):
        near = mmpcodec.encode(picture, max_error=bound, effort=effort)
        assert len(near) <= len(lossless)
        assert np.abs(mmpcodec.decode(near).astype(int) - picture).max() <= bound


def test_few_values_for_their_range_are_coded_without_loss():
    """Every fourth value occurs, and in one row half of the others too."""
    i, j = np.indices((80, 100))
    picture = (4 * ((i * i // 9 + j) % 64)).astype(np.uint8)
    picture[0] = np.clip(2 * np.arange(100), 0, 120)
    lossless = mmpcodec.encode(picture, 0)
    assert len(mmpcodec.encode(picture, max_error=1)) <= len(lossless)


def decoded_jpeg(subsampling, shape=(70, 90)):
    """RGB that Pillow decodes from a JPEG file."""
    rows, columns = np.indices(shape)
    noise = np.random.default_rng(subsampling).normal(0, 10, (*shape, 3))
    waves = np.stack([np.sin(rows / 7), np.cos(columns / 9), np.sin((rows + columns) / 11)], -1)
    pixels = np.clip(125 + 70 * waves + noise, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=93, subsampling=subsampling)
    return np.asarray(Image.open(file))


@pytest.mark.parametrize("effort", [1, 2])
@pytest.mark.parametrize(("subsampling", "share"), [(0, 0.9), (1, 0.8), (2, 0.75)])
def test_decoded_jpegs_need_fewer_bytes(subsampling, share, effort):
    """The same pixels with one that JPEG cannot have are coded as other pictures are."""
    picture = decoded_jpeg(subsampling)
    data = mmpcodec.encode(picture, lossless=True, effort=effort)
    np.testing.assert_array_equal(mmpcodec.decode(data), picture)
    others = picture ^ (np.arange(picture.size).reshape(picture.shape) % 2).astype(np.uint8)
    assert len(data) < share * len(mmpcodec.encode(others, lossless=True, effort=effort))
    cut = picture[5:, 3:]
    alpha = np.dstack([cut, cut[..., 1]])
    for made in (cut, alpha):
        again = mmpcodec.encode(made, lossless=True, effort=effort, tile_size=64)
        np.testing.assert_array_equal(mmpcodec.decode(again), made)


def test_decoded_jpegs_with_errors_and_more_bits():
    picture = decoded_jpeg(2, (30, 40))
    near = mmpcodec.decode(mmpcodec.encode(picture, max_error=1))
    assert np.abs(near.astype(int) - picture).max() == 1
    deep = picture.astype(np.uint16) * 4
    found = mmpcodec.decode(mmpcodec.encode(deep, lossless=True, depth=10))
    np.testing.assert_array_equal(found, deep)


def test_edited_jpegs():
    """Text on a picture that was JPEG: the pixels come back."""
    picture = decoded_jpeg(2).copy()
    picture[20:24, 10:40] = (255, 0, 1)
    data = mmpcodec.encode(picture, lossless=True)
    np.testing.assert_array_equal(mmpcodec.decode(data), picture)
