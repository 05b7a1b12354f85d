"""The first look after a change: every preset encodes and decodes a small picture of each form.

    .venv/bin/pytest tests/test_tiny.py

The run takes less than 3 seconds of one core, imports included.
"""

import numpy as np
import pytest

import mmpcodec

ROWS, COLUMNS = np.indices((20, 24))
GRAY = (5 * ROWS + 3 * COLUMNS + 90 * (ROWS // 5 % 2 & COLUMNS // 4 % 2)).astype(np.uint8)
ALPHA = (255 * (ROWS > 6)).astype(np.uint8)
RGB = np.dstack([GRAY, 255 - GRAY, GRAY // 2])
FORMS = {
    "gray": GRAY,
    "gray with alpha": np.dstack([GRAY, ALPHA]),
    "RGB": RGB,
    "RGBA": np.dstack([RGB, ALPHA]),
    "gray, 16 bits": GRAY.astype(np.uint16) * 257,
    "RGB, 16 bits": RGB.astype(np.uint16) * 257,
}
FILES = {
    ("auto", "gray"): (119, 9),
    ("auto", "gray with alpha"): (139, 8),
    ("auto", "RGB"): (177, 26),
    ("auto", "RGBA"): (191, 17),
    ("auto", "gray, 16 bits"): (120, 1836),
    ("auto", "RGB, 16 bits"): (180, 4922),
    ("photo", "gray"): (119, 9),
    ("photo", "gray with alpha"): (139, 8),
    ("photo", "RGB"): (145, 9),
    ("photo", "RGBA"): (155, 10),
    ("photo", "gray, 16 bits"): (120, 1836),
    ("photo", "RGB, 16 bits"): (180, 4922),
    ("text", "gray"): (141, 10),
    ("text", "gray with alpha"): (168, 8),
    ("text", "RGB"): (261, 14),
    ("text", "RGBA"): (245, 19),
    ("mixed", "gray"): (115, 9),
    ("mixed", "gray with alpha"): (134, 9),
    ("mixed", "RGB"): (194, 27),
    ("mixed", "RGBA"): (210, 22),
    ("lossless", "gray"): (326, 0),
    ("lossless", "gray with alpha"): (371, 0),
    ("lossless", "RGB"): (386, 0),
    ("lossless", "RGBA"): (391, 0),
    ("lossless", "gray, 16 bits"): (229, 0),
    ("lossless", "RGB, 16 bits"): (1126, 0),
    ("plain", "gray"): (155, 15),
    ("plain", "gray with alpha"): (186, 15),
    ("plain", "RGB"): (279, 17),
    ("plain", "RGBA"): (266, 20),
    ("classic", "gray"): (156, 15),
    ("classic", "gray with alpha"): (183, 9),
    ("classic", "RGB"): (267, 16),
    ("classic", "RGBA"): (273, 16),
}
"""Bytes of the file and largest absolute error of a sample, of each preset and form at lambda 20.

The search is deterministic: another number is another file.
"""


@pytest.mark.parametrize(("preset", "form"), FILES)
def test_file_and_largest_error(preset, form):
    picture = FORMS[form]
    data = mmpcodec.encode(picture, 20, preset=preset, effort=1)
    decoded = mmpcodec.decode(data)
    assert (decoded.shape, decoded.dtype) == (picture.shape, picture.dtype)
    errors = np.abs(decoded.astype(int) - picture)
    if picture.ndim == 3 and picture.shape[2] in (2, 4):
        errors[picture[..., -1] == 0] = 0  # colours of hidden pixels are free
    assert (len(data), errors.max()) == FILES[preset, form]


@pytest.mark.parametrize("form", FORMS)
def test_lambda_zero_is_lossless(form):
    data = mmpcodec.encode(FORMS[form], 0)
    np.testing.assert_array_equal(mmpcodec.decode(data), FORMS[form])


def test_every_preset_is_here():
    assert {preset for preset, _ in FILES} == {"auto", *mmpcodec.PRESETS}
