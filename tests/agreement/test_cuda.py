"""The cuda backend writes the bytes of the cpu backend."""

from pathlib import Path

import numpy as np
import pytest
from strategies import CONTENT
from test_backends import assert_same

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


def test_too_large_a_batch_is_refused_with_numbers():
    plane = np.zeros((16, 16), np.uint8)
    params = EncodeParams.from_options(32, dictionary_limit=65536)
    with pytest.raises(LimitExceeded, match=r"5000 pictures need \d+ bytes .* are free"):
        CudaBackend().encode_batch([plane] * 5000, params)
