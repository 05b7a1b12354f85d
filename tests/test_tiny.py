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
    ("auto", "gray"): (109, 9),
    ("auto", "gray with alpha"): (118, 9),
    ("auto", "RGB"): (185, 18),
    ("auto", "RGBA"): (193, 18),
    ("auto", "gray, 16 bits"): (111, 1582),
    ("auto", "RGB, 16 bits"): (184, 4119),
    ("photo", "gray"): (109, 9),
    ("photo", "gray with alpha"): (118, 9),
    ("photo", "RGB"): (185, 18),
    ("photo", "RGBA"): (193, 18),
    ("photo", "gray, 16 bits"): (111, 1582),
    ("photo", "RGB, 16 bits"): (184, 4119),
    ("text", "gray"): (140, 10),
    ("text", "gray with alpha"): (150, 10),
    ("text", "RGB"): (255, 14),
    ("text", "RGBA"): (263, 14),
    ("mixed", "gray"): (114, 8),
    ("mixed", "gray with alpha"): (123, 8),
    ("mixed", "RGB"): (212, 19),
    ("mixed", "RGBA"): (220, 19),
    ("lossless", "gray"): (230, 0),
    ("lossless", "gray with alpha"): (237, 0),
    ("lossless", "RGB"): (275, 0),
    ("lossless", "RGBA"): (281, 0),
    ("lossless", "gray, 16 bits"): (739, 0),
    ("lossless", "RGB, 16 bits"): (1657, 0),
    ("plain", "gray"): (155, 15),
    ("plain", "gray with alpha"): (164, 15),
    ("plain", "RGB"): (280, 17),
    ("plain", "RGBA"): (288, 17),
    ("classic", "gray"): (155, 15),
    ("classic", "gray with alpha"): (164, 15),
    ("classic", "RGB"): (266, 16),
    ("classic", "RGBA"): (274, 16),
}
"""Bytes of the file and largest absolute error of a sample, of each preset and form at lambda 20.

The format is frozen and the search is deterministic: another number is another file.
"""


@pytest.mark.parametrize(("preset", "form"), FILES)
def test_file_and_largest_error(preset, form):
    picture = FORMS[form]
    data = mmpcodec.encode(picture, 20, preset=preset, effort=1)
    decoded = mmpcodec.decode(data)
    assert (decoded.shape, decoded.dtype) == (picture.shape, picture.dtype)
    error = np.abs(decoded.astype(int) - picture).max()
    assert (len(data), error) == FILES[preset, form]


@pytest.mark.parametrize("form", FORMS)
def test_lambda_zero_is_lossless(form):
    data = mmpcodec.encode(FORMS[form], 0)
    np.testing.assert_array_equal(mmpcodec.decode(data), FORMS[form])


def test_every_preset_is_here():
    assert {preset for preset, _ in FILES} == {"auto", *mmpcodec.PRESETS}
