"""The cuda backend writes the bytes of the cpu backend."""

import os
from pathlib import Path

import numpy as np
import pytest
from strategies import CONTENT
from test_backends import assert_same

import mmpcodec
from mmpcodec import EncodeParams, LimitExceeded, pictures
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda import CudaBackend

pytestmark = pytest.mark.gpu

IMAGES = sorted((Path(__file__).parents[2] / "images").glob("*.pgm"))


def check(picture, params):
    expected = CpuBackend().encode(picture, params)
    assert_same(expected, CudaBackend().encode(picture, params), f"cuda, {params}")


@pytest.mark.parametrize("lam", [0, 1, 16, 32, 128, 512])
@pytest.mark.parametrize("partition", ["flexible", "dyadic"])
@pytest.mark.parametrize("rate_model", ["adaptive", "log2"])
@pytest.mark.parametrize("preset", ["default", "classic"])
def test_pictures(preset, rate_model, partition, lam):
    params = EncodeParams.from_options(
        lam, preset=preset, rate_model=rate_model, partition=partition
    )
    for path in IMAGES:
        check(pictures.read(path)[:256, :256].copy(), params)


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (17, 33), (100, 75)])
@pytest.mark.parametrize("limit", [256, 300, 65536])
def test_sizes_and_limits(content, shape, limit):
    picture = CONTENT[content](np.random.default_rng(3), *shape)
    for lam in (0, 20):
        check(picture, EncodeParams.from_options(lam, dictionary_limit=limit))


def test_counts_are_halved():
    picture = CONTENT["noise"](np.random.default_rng(5), 512, 512)
    check(picture, EncodeParams.from_options(0, preset="classic", dictionary_limit=256))


def test_batch_is_one_by_one():
    planes = [pictures.read(path)[: 100 + i, : 200 - i].copy() for i, path in enumerate(IMAGES)]
    params = EncodeParams(24)
    for plane, coded in zip(planes, CudaBackend().encode_batch(planes, params), strict=True):
        assert_same(CpuBackend().encode(plane, params), coded, "batch")


def test_many_pictures_run_in_groups():
    whole = next(picture for picture in map(pictures.read, IMAGES) if picture.shape[0] > 330)
    planes = [whole[i : i + 30, :40].copy() for i in range(300)]
    expected = [CpuBackend().encode(plane, EncodeParams(30)).payload for plane in planes]
    calls = []
    coded = CudaBackend().encode_batch(
        planes, EncodeParams(30), progress=lambda done, total: calls.append((done, total))
    )
    assert [each.payload for each in coded] == expected
    assert calls == sorted(calls)
    assert calls[-1] == (300 * 6, 300 * 6)


def test_arrays_on_the_device_and_any_stream():
    import cupy

    plane = pictures.read(IMAGES[0])[:64, :80].copy()
    expected = mmpcodec.encode(plane, 20, backend="cpu")
    assert mmpcodec.encode(cupy.asarray(plane), 20) == expected
    whole = cupy.asarray(pictures.read(IMAGES[0]))
    with cupy.cuda.Stream(non_blocking=True):
        assert mmpcodec.encode_batch([whole[:64, :80], plane], 20, backend="cuda") == [expected] * 2
    with pytest.raises(mmpcodec.ParameterError, match="lies on a CUDA device"):
        mmpcodec.encode(whole, 20, backend="cpu")


def test_too_little_memory_is_refused_with_numbers():
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(
            LimitExceeded, match=r"a picture of 64x48 needs \d+ bytes, \d+ are free"
        ):
            mmpcodec.encode(np.zeros((48, 64), np.uint8), backend="cuda")
    finally:
        pool.set_limit(size=0)
    assert mmpcodec.encode(np.zeros((48, 64), np.uint8), backend="cuda")


def test_cancelling_leaves_the_device_usable():
    plane = pictures.read(IMAGES[0])[:256, :256].copy()
    with pytest.raises(mmpcodec.Cancelled):
        CudaBackend().encode(plane, EncodeParams(), progress=lambda done, total: False)
    check(plane, EncodeParams())


def test_a_thousand_encodes_leak_nothing():
    import cupy

    planes = [pictures.read(path)[:32, :48].copy() for path in IMAGES]
    used = []
    for i in range(1000):
        CudaBackend().encode(planes[i % len(planes)], EncodeParams(16 + i % 3))
        if i % 100 == 99:
            used.append(
                (cupy.get_default_memory_pool().total_bytes(), cupy.cuda.Device().mem_info[0])
            )
    assert used[-1][0] == used[0][0]
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers take memory of the same device
        assert used[-1][1] == used[0][1]
