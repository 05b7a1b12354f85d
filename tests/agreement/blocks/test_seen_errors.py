"""Errors that are seen in C++ against the reference."""

import numpy as np
import pytest
from support.pairs import every_pair
from support.same import assert_same

from mmpcodec import backends

SHAPES = [(1, 1), (16, 16), (17, 31), (5, 200), (300, 70)]


@every_pair(shape=SHAPES, strength=[0, 6, 15], depth=[8, 12, 16], kind=["near", "any", "extremes"])
def test_errors_of_any_planes(shape, strength, depth, kind):
    rng = np.random.default_rng(depth + strength)
    dtype, most = np.uint8 if depth == 8 else np.uint16, (1 << depth) - 1
    source = rng.integers(0, most + 1, shape)
    samples = {
        "near": np.clip(source + rng.integers(-9, 10, shape), 0, most),
        "any": rng.integers(0, most + 1, shape),
        "extremes": most * rng.integers(0, 2, shape),
    }[kind]
    source = most * (source & 1) if kind == "extremes" else source
    planes = source.astype(dtype), samples.astype(dtype)
    expected = backends.get("reference").seen_errors(*planes, strength)
    assert_same(expected, backends.get("cpu").seen_errors(*planes, strength), "cpu")


@pytest.mark.parametrize("threads", [1, 3])
def test_bands_and_threads(monkeypatch, threads):
    monkeypatch.setattr("mmpcodec.backends.cpu.SEEN_BAND_BLOCKS", 7)
    rng = np.random.default_rng(threads)
    source, samples = rng.integers(0, 256, (2, 90, 50), dtype=np.uint8)
    expected = backends.get("reference").seen_errors(source, samples, 6)
    found = backends.get("cpu").seen_errors(source, samples, 6, threads=threads)
    assert_same(expected, found, "cpu")
