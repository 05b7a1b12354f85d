"""A decoder that was written from the text decodes what the reference encodes as lossless samples.

Payloads come from the reference, because a file can hold one only where a backend writes it.
"""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from independent.file import LOSSLESS, tools_of
from independent.lossless import FastDecoder, Plane, lossless_samples

from mmpcodec.reference.lossless.coder import encode_planes
from mmpcodec.reference.lossless.planes import to_planes

NAMES = ("predictors", "models", "weight_sets", "last_stage", "max_error")
TEXT_NAMES = ("predictors", "models", "weight sets", "last stage", "max error")
ALL_ON = (3, 16, 4, True)
FAST = (1, 2, 1, False)


def picture(shape, depth, seed):
    """Waves with noise and a part that repeats itself, (H, W, C)."""
    height, width, _ = shape
    rng = np.random.default_rng(seed)
    i, j, c = np.indices(shape)
    waves = np.sin(i / 3 + c / 5) + np.cos(j / 4 - i / 9)
    samples = (2.2 + waves) / 4.4 * (2**depth - 1) + rng.normal(0, 2**depth / 60, shape)
    samples[height // 2 :, width // 2 :] = samples[: height - height // 2, : width - width // 2]
    return np.clip(samples, 0, 2**depth - 1).astype(np.uint16)


def check(samples, depth, values):
    tools = SimpleNamespace(**dict(zip(NAMES, values, strict=True)))
    planes = to_planes(samples)
    payload, decoded, *_ = encode_planes(planes, depth, tools, lambda done, total: None)
    height, width, count = samples.shape
    text_tools = dict(zip(TEXT_NAMES, values, strict=True))
    found = to_planes(
        np.stack(lossless_samples(payload, height, width, depth, count, text_tools), axis=2)
    )
    assert (found == decoded).all()
    assert abs(found.astype(int) - planes).max() <= tools.max_error


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("depth", [1, 5, 8, 12, 16])
def test_decodes_what_the_reference_encodes(depth, count):
    """The planes have few rows, but all margins; the errors take turns."""
    error = (0, 1, 7)[(depth + count) % 3]
    check(picture((3, 8, count), depth, 8 * depth + count), depth, (*ALL_ON, error))


@pytest.mark.parametrize(
    "values",
    [*product((1, 2, 3), (8, 16), (1, 4), (False, True)), FAST],
)
def test_decodes_with_all_values_of_the_tools(values):
    check(picture((3, 7, 2), 8, 4), 8, (*values, 0))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize(("depth", "error"), [(1, 0), (8, 0), (8, 2), (16, 0), (16, 600)])
def test_decodes_the_fast_mode(depth, count, error):
    check(picture((5, 12, count), depth, 11), depth, (*FAST, error))


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 40, 2), (40, 1, 1), (4, 70, 3)])
def test_decodes_other_shapes_of_the_fast_mode(shape):
    check(picture(shape, 8, 12), 8, (*FAST, 0))


def test_decodes_what_repeats_itself_in_the_fast_mode():
    """Noise and rows of two colours that repeat themselves, but for some samples."""
    rng = np.random.default_rng(13)
    noise = np.tile(rng.integers(0, 200, (25, 40)), (2, 1))
    samples = np.vstack([noise, np.tile([0, 0, 0, 90], (6, 10))])
    samples += 50 * (rng.random(samples.shape) < 0.05)
    check(samples.astype(np.uint16)[..., None], 8, (*FAST, 0))


class Answers:
    """Stands for a range coder that decodes these bits and plain numbers."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def bit(self, p):
        assert 0 < p < 65536
        return self.numbers.pop(0)

    def plain(self, bits):
        assert 0 <= self.numbers[0] < 2**bits
        return self.numbers.pop(0)


def first_sample(numbers, error=0):
    """The only sample of a plane of 16 bits; its prediction is 32768."""
    plane, answers = Plane(1, 1, 65535), Answers(*numbers)
    tools = dict(zip(TEXT_NAMES, (*FAST, error), strict=True))
    FastDecoder(answers, plane, [], tools).decode()
    assert not answers.numbers
    return plane.x[0][0]


@pytest.mark.parametrize(
    ("numbers", "error", "sample"),
    [
        ([0], 0, 32768),
        ([1, 0], 0, 32767),
        ([1, 1, 0], 0, 32769),
        ([*[1] * 13, 0], 0, 32761),
        ([*[1] * 14, 0], 0, 32775),
        ([*[1] * 14, 1, 0], 0, 32760),
        ([*[1] * 14, 2, 3], 0, 32778),
        ([*[1] * 14, 15, 32753], 0, 65535),
        ([*[1] * 14, 15, 32754], 0, 0),
        ([1, 0], 32767, 0),
        ([1, 1, 0], 32766, 65535),
    ],
)
def test_distances_of_the_fast_mode(numbers, error, sample):
    assert first_sample(numbers, error) == sample


@pytest.mark.parametrize(
    ("numbers", "error", "fault"),
    [
        ([*[1] * 14, 17], 0, "n of a distance is 17, allowed is 0 to 16"),
        ([*[1] * 14, 15, 32755], 0, "sample is 65536, allowed is 0 to 65535"),
        ([*[1] * 14, 16, 0], 0, "sample is -7, allowed is 0 to 65535"),
        ([1, 1, 1, 0], 32766, "sample is -98298, allowed is -32766 to 98301"),
    ],
)
def test_refuses_distances_of_the_fast_mode(numbers, error, fault):
    with pytest.raises(ValueError, match=fault):
        first_sample(numbers, error)


@pytest.mark.parametrize("form", [0, 5])
def test_refuses_other_forms(form):
    with pytest.raises(ValueError, match=f"lossless form is {form}"):
        tools_of(LOSSLESS, (form, 0))


def test_decodes_planes_of_several_strips():
    check(picture((8, 41, 1), 8, 5), 8, (*ALL_ON, 0))


def test_decodes_planes_of_few_values():
    samples = picture((5, 8, 3), 8, 6) // 64 * 50
    samples[..., 0] = 33
    check(samples, 8, (*ALL_ON, 0))


def test_decodes_a_large_error():
    check(picture((4, 5, 1), 16, 7), 16, (*ALL_ON, 32767))


def test_refuses_a_stream_that_ends_early():
    tools = SimpleNamespace(**dict(zip(NAMES, (*ALL_ON, 0), strict=True)))
    planes = to_planes(picture((5, 6, 2), 8, 8))
    payload, *_ = encode_planes(planes, 8, tools, lambda done, total: None)
    text_tools = dict(zip(TEXT_NAMES, (*ALL_ON, 0), strict=True))
    with pytest.raises(ValueError, match="truncated"):
        lossless_samples(payload[: payload[0]], 5, 6, 8, 2, text_tools)
    with pytest.raises(ValueError, match="payload has"):
        lossless_samples(payload + bytes(9), 5, 6, 8, 2, text_tools)
