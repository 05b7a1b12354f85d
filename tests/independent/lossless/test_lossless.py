"""A decoder that was written from the text decodes what the reference encodes as lossless samples.

The vectors are of few shapes; payloads of other ones come from the reference.
"""

import numpy as np
import pytest
from independent.file import form_of
from independent.lossless.samples import lossless_samples

from mmpcodec.reference.lossless.coder import encode_planes
from mmpcodec.reference.lossless.planes import to_planes
from mmpcodec.tools import LosslessTools


def picture(shape, depth, seed):
    """Waves with noise and a part that repeats itself, (H, W, C)."""
    height, width, _ = shape
    rng = np.random.default_rng(seed)
    i, j, c = np.indices(shape)
    waves = np.sin(i / 3 + c / 5) + np.cos(j / 4 - i / 9)
    samples = (2.2 + waves) / 4.4 * (2**depth - 1) + rng.normal(0, 2**depth / 60, shape)
    samples[height // 2 :, width // 2 :] = samples[: height - height // 2, : width - width // 2]
    return np.clip(samples, 0, 2**depth - 1).astype(np.uint16)


def check(samples, depth, form, error=0):
    tools = LosslessTools(form, error)
    planes = to_planes(samples)
    payload, decoded, *_ = encode_planes(planes, depth, tools, lambda done, total: None)
    height, width, count = samples.shape
    text_tools = {**form_of(form), "max error": error}
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
    check(picture((3, 8, count), depth, 8 * depth + count), depth, 3, error)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize(("depth", "error"), [(1, 0), (8, 0), (8, 2), (16, 0), (16, 600)])
def test_decodes_the_fast_mode(depth, count, error):
    check(picture((5, 12, count), depth, 11), depth, 1, error)


@pytest.mark.parametrize(
    ("shape", "depth", "form", "error"),
    [
        *[(shape, 8, 1, 0) for shape in [(1, 1, 3), (1, 40, 2), (40, 1, 1), (4, 70, 3)]],
        ((8, 41, 1), 8, 3, 0),  # several strips
        ((6, 70, 2), 8, 2, 0),
        ((4, 5, 1), 16, 3, 32767),
        *[((3, 7, 2), 8, form, 0) for form in (1, 2, 3)],
    ],
)
def test_decodes_other_shapes_and_forms(shape, depth, form, error):
    check(picture(shape, depth, 12), depth, form, error)


def test_decodes_what_repeats_itself_in_the_fast_mode():
    """Noise and rows of two colours that repeat themselves, but for some samples."""
    rng = np.random.default_rng(13)
    noise = np.tile(rng.integers(0, 200, (25, 40)), (2, 1))
    samples = np.vstack([noise, np.tile([0, 0, 0, 90], (6, 10))])
    samples += 50 * (rng.random(samples.shape) < 0.05)
    check(samples.astype(np.uint16)[..., None], 8, 1)


def test_decodes_planes_of_few_values():
    samples = picture((5, 8, 3), 8, 6) // 64 * 50
    samples[..., 0] = 33
    check(samples, 8, 3)


@pytest.mark.parametrize("noise", [20, 60])
@pytest.mark.parametrize(("count", "error"), [(1, 0), (3, 0), (1, 1)])
@pytest.mark.parametrize("form", [2, 3])
def test_decodes_runs(form, count, error, noise):
    """Flat areas beside columns of noise, with some broken runs."""
    rng = np.random.default_rng(14)
    samples = np.full((9, 70, count), 3)
    samples[:, :noise] = rng.integers(0, 8, (9, noise, count))
    samples[5:, 20:] = 4
    samples[8, 50] = 6
    check(samples.astype(np.uint16), 8, form, error)


def screen(height, width, count, depth, seed):
    """Glyphs of few shapes on one background, with noisy slopes in the right part."""
    rng = np.random.default_rng(seed)
    most = 2**depth - 1
    samples = np.full((height, width, count), most * 9 // 10)
    glyphs = [rng.integers(0, most + 1, (7, 5)) * (rng.random((7, 5)) > 0.4) for _ in range(3)]
    for i in range(1, height - 7, 8):
        for j in range(1, width - 5, 6):
            glyph = glyphs[rng.integers(3)]
            for k in range(count):
                shaded = glyph * (k + 2) // (count + 1)
                samples[i : i + 7, j : j + 5, k][glyph > 0] = shaded[glyph > 0]
    slope = np.add.outer(np.arange(height), np.arange(width))[:, 32:, None]
    samples[:, 32:] = slope + rng.integers(0, 4, samples[:, 32:].shape)
    return samples.astype(np.uint16)


@pytest.mark.parametrize(
    ("form", "count", "depth"),
    [(1, 3, 8), (2, 1, 8), (3, 2, 8), (3, 3, 8)],
)
def test_decodes_pixels_that_repeat(form, count, depth):
    """The left blocks repeat; the right ones are natural."""
    check(screen(34, 102, count, depth, depth), depth, form)


def test_decodes_pixels_that_all_repeat():
    check(screen(40, 30, 3, 8, 3), 8, 2)
