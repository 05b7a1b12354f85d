"""A decoder that was written from the text decodes what the reference encodes as two values."""

import numpy as np
import pytest
from independent.file import form_of
from independent.lossless.samples import lossless_samples

from mmpcodec.reference.lossless.coder import encode_planes
from mmpcodec.reference.lossless.planes import to_planes
from mmpcodec.tools import LosslessTools

FORMS = range(1, 4)


def glyphs(height, width):
    """Lines of a few small patterns that repeat, with a wide margin and a blank part."""
    rng = np.random.default_rng(21)
    patterns = rng.random((3, 6, 5)) < 0.5
    picture = np.zeros((height, width), int)
    for row in range(1, height - 8, 9):
        for column in range(3, width * 2 // 3 - 5, 6):
            picture[row : row + 6, column : column + 5] = patterns[rng.integers(3)]
    picture[-3:, 5:] = 1
    return picture


def halftone(height, width):
    """A ramp of grey, drawn with an ordered matrix of thresholds."""
    rng = np.random.default_rng(22)
    thresholds = np.tile(rng.permutation(64).reshape(8, 8), (-(-height // 8), -(-width // 8)))
    return (thresholds[:height, :width] < np.linspace(0, 64, width)).astype(int)


def stripes(height, width):
    """Wide stripes, each row the same but for one pixel of the plane."""
    picture = np.tile(np.arange(width) // 24 % 2, (height, 1))
    picture[height // 2, width // 3] ^= 1
    return picture


def single_pixels(height, width):
    """White with single pixels, whose rows repeat further below."""
    picture = (np.random.default_rng(23).random((height, width)) < 0.006).astype(int)
    picture[height // 2 :] |= picture[: height - height // 2]
    return picture


def solid(height, width):
    """An area of ink with two holes, one of them at the end of a group of ink."""
    picture = np.zeros((height, width), int)
    picture[1:, 2:56] = 1
    picture[height - 5, 47] = picture[height - 3, 26] = 0
    return picture


def noise(height, width):
    return np.random.default_rng(24).integers(0, 2, (height, width))


def check(planes, form, depth, max_error=0):
    """Planes (C, H, W) survive the encoder of the reference and the decoder of the text."""
    tools = LosslessTools(form, max_error)
    samples = np.stack(planes, axis=2).astype(np.uint16)
    payload, decoded, *_ = encode_planes(to_planes(samples), depth, tools, lambda done, total: None)
    height, width, count = samples.shape
    text_tools = {**form_of(form), "max error": max_error}
    found = np.stack(lossless_samples(payload, height, width, depth, count, text_tools), axis=2)
    assert (to_planes(found) == decoded).all()
    assert abs(found.astype(int) - samples).max() <= max_error


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kind", "height", "width"),
    [
        (glyphs, 39, 83),
        (halftone, 18, 45),
        (stripes, 20, 101),
        (single_pixels, 30, 133),
        (solid, 14, 115),
        (noise, 16, 33),
    ],
)
def test_decodes_what_the_reference_encodes(kind, height, width, form):
    check([kind(height, width)], form, 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [noise, single_pixels])
@pytest.mark.parametrize(
    ("height", "width"), [(1, 2), (1, 8), (1, 70), (2, 9), (40, 1), (7, 7), (9, 16)]
)
def test_decodes_thin_and_small_planes(kind, height, width, form):
    picture = kind(height, width)
    picture[-1, -1] = 1 - picture[0, 0]  # both values occur
    check([picture], form, 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", [(7, 200), (200, 7), (0, 255)])
def test_decodes_any_two_values(values, form):
    """Ink is the rarer value, which is the lower or the higher one."""
    check([np.array(values)[glyphs(12, 41)]], form, 8)


@pytest.mark.parametrize("form", FORMS)
def test_decodes_two_values_that_are_not_alone(form):
    """Several planes, and planes with an error, are coded as other samples are."""
    picture = stripes(5, 17)
    check([picture, 1 - picture], form, 1)
    check([picture], form, 1, max_error=1)
