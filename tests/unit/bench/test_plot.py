"""Colours and markers of codecs: that all readers can distinguish, on a light and on a dark
page."""

import re
from importlib import resources

import numpy as np
import pytest

import mmpcodec
from mmpcodec.bench import plot

# Machado, Oliveira and Fernandes 2009: linear RGB as dichromats see it.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colours):
    """Linear RGB, (n, 3), of colours such as #aabbcc."""
    levels = np.array([list(bytes.fromhex(colour[1:])) for colour in colours]) / 255
    return np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def contrasts(colours, page):
    """WCAG's contrast of each colour with the page."""
    light, ground = (linear(each) @ [0.2126, 0.7152, 0.0722] + 0.05 for each in (colours, [page]))
    return np.maximum(light, ground) / np.minimum(light, ground)


def page_colour(theme):
    """The background of the report's page."""
    style = resources.files(mmpcodec).joinpath("web", "shared", "base.css").read_text()
    light, dark = re.findall(r"--page: (#[0-9a-f]{6})", style)
    return {"light": light, "dark": dark}[theme]


@pytest.mark.parametrize(
    ("theme", "colours"), [("light", plot.COLOURS), ("dark", plot.DARK_COLOURS)]
)
def test_colours_are_distinguished(theme, colours):
    color = pytest.importorskip("skimage.color")
    assert contrasts(colours, page_colour(theme)).min() >= 3
    for sight in SIGHTS.values():
        seen = np.clip(linear(colours) @ np.transpose(sight), 0, 1)
        curved = np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)
        lab = color.rgb2lab(curved)
        away = color.deltaE_ciede2000(lab[:, None], lab[None]) + 1000 * np.eye(len(lab))
        assert away.min() >= 10


def test_contrast_is_that_of_wcag():
    assert contrasts(["#000000", "#ffffff", "#767676"], "#ffffff") == pytest.approx(
        [21, 1, 4.54], abs=0.01
    )


def test_up_to_100_codecs_look_different():
    styles = [plot.style_of(number) for number in range(100)]
    assert len(set(styles)) == 100
    assert styles[:3] == [(0, "o"), (1, "s"), (2, "D")]
    assert styles[10] == (0, "s")
    assert len(plot.DARK_COLOURS) == len(plot.COLOURS)


def test_codecs_of_one_drawing_differ_in_colour():
    ours = ["mmp:preset=photo", "mmp:preset=exact"]
    gray = [*ours, "jpeg", "jpeg2000", "webp", "jxl", "avif:tune=psnr", "avif:tune=default"]
    tunings = [f"avif:chroma={c},tune={t}" for t in ("psnr", "default") for c in ("444", "420")]
    rgb = [*ours, "jpeg:chroma=444", "jpeg2000", "webp", "jxl", *tunings]
    numbers = plot.numbers_of([gray, rgb])
    assert [numbers[codec] for codec in gray] == list(range(8))
    assert len({plot.style_of(number) for number in numbers.values()}) == len({*gray, *rgb})
    for drawing in (gray, rgb):
        assert len({plot.style_of(numbers[codec])[0] for codec in drawing}) == len(drawing)


def test_a_drawing_of_many_codecs_repeats_the_last_colours():
    names = [f"codec {number}" for number in range(25)]
    styles = [plot.style_of(number) for number in plot.numbers_of([names]).values()]
    assert [colour for colour, _ in styles[8:13]] == [8, 9, 9, 8, 7]
    assert len(set(styles)) == 25
