"""The levels that drawings show black and white."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec.analysis import outlines
from mmpcodec.analysis.drawings.file import draw_file
from mmpcodec.analysis.drawings.levels import as_shown, shown_range
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.pictures import Picture


def test_eight_bits_stay_as_they_are():
    samples = np.array([[3, 90]], np.uint8)
    assert shown_range(samples, 8, Metadata()) == (0, 255)
    assert as_shown(samples, 0, 255) is samples
    assert shown_range(samples, 7, Metadata()) == (0, 127)
    assert shown_range(samples, 8, Metadata(white=100)) == (0, 100)


@pytest.mark.parametrize("depth", [9, 12, 16])
def test_deep_pictures_show_nearly_all_their_levels(depth):
    samples = np.linspace(100, 300, 4000).round().astype(np.uint16).reshape(40, 100)
    assert shown_range(samples, depth, Metadata()) == (101, 299)
    samples[0, :10] = (1 << depth) - 1  # specks do not count
    assert shown_range(samples, depth, Metadata())[1] == 299
    two = np.full((40, 100), 200, np.uint16)
    two[0, 0] = 210
    assert shown_range(two, depth, Metadata()) == (200, 210)
    assert shown_range(samples[1:], depth, Metadata(white=500)) == (0, 500)
    assert shown_range(samples[1:], depth, Metadata(white=511)) == (0, 511)
    assert shown_range(samples[1:20], depth, Metadata(white=511)) == (105, 200)
    flat = np.full((4, 4), 200, np.uint16)
    assert shown_range(flat, depth, Metadata()) == (0, (1 << depth) - 1)


def test_the_window_of_the_file_is_shown():
    samples = np.arange(4096, dtype=np.uint16).reshape(64, 64)
    for slope, ends in ((1.0, (864, 1264)), (-2.0, (-632, -432))):
        calibration = Calibration(slope, -1024.0, "HU", (-160.0, 240.0))
        assert shown_range(samples, 12, Metadata(text=(calibration.text(),))) == ends
    assert as_shown(samples, 864, 1264)[0].max() == 0
    assert as_shown(samples, 864, 1264).ravel()[[864, 1064, 1264, 4095]].tolist() == [
        0,
        127,
        255,
        255,
    ]


def dark(planes):
    """A picture of 16 bits that uses 100 of its levels, and alpha."""
    samples = np.linspace(20, 119, 32 * 32 * planes).astype(np.uint16).reshape(32, 32, planes)
    if planes in (2, 4):
        samples[..., -1] = 65535
    return samples[..., 0] if planes == 1 else samples


@pytest.mark.parametrize("planes", [1, 3])
def test_outlines_lie_on_a_visible_picture(planes):
    drawn = outlines.as_rgb(Picture(dark(planes), 16))
    assert drawn.min() == 0
    assert drawn.max() == 255
    assert 110 < drawn.mean() < 145
    assert outlines.as_rgb(Picture(dark(planes), 16), 65535).max() == 0


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_maps_lie_on_a_visible_picture(planes):
    data = mmpcodec.encode(dark(planes), 0.001, depth=16, preset="photo")
    drawn = draw_file(mmpcodec.inspect(data, decode=True))
    assert drawn[-40:].max() > 200
    assert drawn[:20].mean() < 100
