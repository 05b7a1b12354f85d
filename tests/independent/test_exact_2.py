"""A decoder that was written from the text decodes what the reference encodes as exact samples 2.

Payloads come from the reference, because a file can hold one only where a backend writes it.
"""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from independent.exact_2 import exact_samples_2

from mmpcodec.reference.exact.coder_2 import encode_planes_2
from mmpcodec.reference.exact.planes import to_planes

NAMES = ("predictors", "models", "weight_sets", "last_stage", "max_error")
TEXT_NAMES = ("predictors", "models", "weight sets", "last stage", "max error")
ALL_ON = (3, 16, 4, True)


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
    payload, decoded, *_ = encode_planes_2(planes, depth, tools, lambda done, total: None)
    height, width, count = samples.shape
    text_tools = dict(zip(TEXT_NAMES, values, strict=True))
    found = to_planes(
        np.stack(exact_samples_2(payload, height, width, depth, count, text_tools), axis=2)
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
    [*product((1, 2, 3), (8, 16), (1, 4), (False, True)), (1, 2, 1, False)],
)
def test_decodes_with_all_values_of_the_tools(values):
    check(picture((3, 7, 2), 8, 4), 8, (*values, 0))


@pytest.mark.parametrize(("depth", "count", "error"), [(8, 1, 0), (16, 4, 0), (8, 3, 2)])
def test_decodes_with_two_models(depth, count, error):
    check(picture((4, 12, count), depth, 11), depth, (1, 2, 1, False, error))


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
    payload, *_ = encode_planes_2(planes, 8, tools, lambda done, total: None)
    text_tools = dict(zip(TEXT_NAMES, (*ALL_ON, 0), strict=True))
    with pytest.raises(ValueError, match="truncated"):
        exact_samples_2(payload[: payload[0]], 5, 6, 8, 2, text_tools)
    with pytest.raises(ValueError, match="payload has"):
        exact_samples_2(payload + bytes(9), 5, 6, 8, 2, text_tools)
