"""Images of Pillow given as arrays: their samples mean colours, or the mode is refused by name."""

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import ParameterError, pictures
from mmpcodec.picture import Picture
from mmpcodec.runtime.arrays import as_array

COLOURS = np.zeros((16, 16, 3), np.uint8)
COLOURS[:, :8], COLOURS[:, 8:] = (255, 0, 0), (0, 0, 255)
GRAY = np.arange(256, dtype=np.uint8).reshape(16, 16)
ALPHA = np.dstack([COLOURS, GRAY])


def doors():
    yield lambda image: mmpcodec.decode(mmpcodec.encode(image, lam=0))
    yield lambda image: mmpcodec.decode(mmpcodec.encode_batch([image], lam=0)[0])
    yield lambda image: pictures.from_bytes(mmpcodec.imwrite(None, image, "png")).samples
    yield lambda image: mmpcodec.decode(mmpcodec.imwrite(None, image, "mmp", lam=0))
    yield lambda image: Picture.of(image).samples


def transparent(image, colour):
    image.info["transparency"] = colour
    return image


rgb, gray = Image.fromarray(COLOURS), Image.fromarray(GRAY)
palette = rgb.convert("P", palette=Image.Palette.ADAPTIVE, colors=2)
big_endian = Image.frombytes("I;16B", (16, 16), (GRAY.astype(">u2") * 257).tobytes())
OPAQUE = np.full((16, 16), 255, np.uint8)
IMAGES = {
    "1": (gray.convert("1", dither=Image.Dither.NONE), (GRAY > 127).astype(np.uint8)),
    "L": (gray, GRAY),
    "LA": (Image.fromarray(np.dstack([GRAY, GRAY]), "LA"), np.dstack([GRAY, GRAY])),
    "La": (gray.convert("LA").convert("La"), np.dstack([GRAY, OPAQUE])),
    "P": (palette, COLOURS),
    "P transparent": (
        transparent(palette.copy(), palette.getpixel((0, 0))),
        np.dstack([COLOURS, np.where(COLOURS[..., 0] == 255, 0, 255)]),
    ),
    "PA": (palette.convert("PA"), np.dstack([COLOURS, OPAQUE])),
    "RGB": (rgb, COLOURS),
    "RGB transparent": (
        transparent(rgb.copy(), (255, 0, 0)),
        np.dstack([COLOURS, np.where(COLOURS[..., 0] == 255, 0, 255)]),
    ),
    "RGBA": (Image.fromarray(ALPHA), ALPHA),
    "RGBa": (rgb.convert("RGBA").convert("RGBa"), np.dstack([COLOURS, OPAQUE])),
    "RGBX": (rgb.convert("RGBX"), COLOURS),
    "I;16": (Image.fromarray(GRAY.astype(np.uint16) * 257), GRAY.astype(np.uint16) * 257),
    "I;16B": (big_endian, GRAY.astype(np.uint16) * 257),
}


@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("door", list(doors()))
def test_samples_are_colours(door, name):
    image, expected = IMAGES[name]
    assert image.mode == name.split()[0]
    assert np.array_equal(door(image), expected)


@pytest.mark.parametrize("door", list(doors()))
@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "LAB", "HSV", "I", "F"])
def test_other_modes_are_refused_by_name_with_a_next_step(door, mode):
    image = gray.convert(mode) if mode in ("I", "F") else Image.new(mode, (16, 16))
    advice = {"I": "astype", "F": "astype", "LAB": "profileToProfile"}.get(mode, 'convert."RGB"')
    with pytest.raises(ParameterError, match=f"mode {mode}.*{advice}"):
        door(image)


def test_arrays_of_solvers():
    """Numbers of 32 bits are an array as any other; indices of a palette are none."""
    assert as_array("values", gray.convert("F")).dtype == np.float32
    assert as_array("values", palette).shape == (16, 16, 3)
