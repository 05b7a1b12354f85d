"""Convert the colours of DICOM to RGB: luminance and colour differences, and palettes."""

from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.pictures.tiff.colour_maps import colours_of

_BAND = 1 << 18
"""Pixels that are converted at a time, in whole rows."""
_ONE = 1 << 16
_RED = (round(1.402 * _ONE), 0)
_GREEN = (-round(0.714136 * _ONE), -round(0.344136 * _ONE))
_BLUE = (0, round(1.772 * _ONE))
"""Factors of the red and the blue colour difference, as JFIF has them."""
_PALETTES = ("Red", "Green", "Blue")
_MOST_ENTRIES = 1 << 16


def rgb_of_ybr(samples: np.ndarray, bits: int, *, partial: bool = False) -> np.ndarray:
    """Convert (H, W, 3) samples of YBR_FULL to RGB, in integers.

    Source: PS3.3, C.7.6.3.1.2.

    Parameters
    ----------
    samples : array of uint8 or uint16
    bits : int
        Bits per sample.
    partial : bool
        Whether black is 16 and white is 235, of 255, and colour differences are 16 to 240.
    """
    white, half = (1 << bits) - 1, 1 << (bits - 1)
    found = np.empty(samples.shape, sample_type(bits))
    # Factors of luminance and of colour differences, in 65536ths.
    grey, colour, black = _ONE, (1, 1), 0
    if partial:
        grey, colour, black = round(_ONE * 255 / 219), (255, 224), half >> 3
    rows = max(1, _BAND // samples.shape[1])
    for top in range(0, len(samples), rows):
        y, blue, red = np.moveaxis(samples[top : top + rows].astype(np.int64), 2, 0)
        y = (y - black) * grey + _ONE // 2
        for plane, (of_red, of_blue) in enumerate((_RED, _GREEN, _BLUE)):
            difference = of_red * (red - half) + of_blue * (blue - half)
            value = (y + difference * colour[0] // colour[1]) >> 16
            found[top : top + rows, :, plane] = np.clip(value, 0, white)
    return found


def shown(indexes: np.ndarray, file: Any) -> tuple[np.ndarray, int]:
    """Return the colours that a palette gives to indexes, (H, W, 3), and their depth.

    Source: PS3.3, C.7.6.3.1.5 and C.7.6.3.1.6.

    Raises
    ------
    ValueError
        If the palette is damaged.
    """
    tables, first = [], 0
    for colour in _PALETTES:
        count, first, bits = map(int, file[f"{colour}PaletteColorLookupTableDescriptor"].value)
        data = file[f"{colour}PaletteColorLookupTableData"].value
        tables.append(_entries(data, count or _MOST_ENTRIES, bits, file.original_encoding[1]))
    if len({len(table) for table in tables}) > 1:
        raise ValueError("palette whose colours have other numbers of entries")
    colours, depth = colours_of(np.stack(tables, axis=1))
    # An index outside of the palette has the colour of its first or last entry.
    return colours[np.clip(indexes.astype(np.int64) - first, 0, len(colours) - 1)], depth


def _entries(data: bytes, count: int, bits: int, little: bool) -> np.ndarray:
    """Return the entries of a table, of 8 bits in the upper byte."""
    if bits not in (8, 16) or not 0 < count <= _MOST_ENTRIES:
        raise ValueError(f"palette of {count} entries of {bits} bits")
    if bits == 16 or len(data) >= 2 * count:
        return np.frombuffer(data, "<u2" if little else ">u2", count).astype(np.uint16)
    packed = np.frombuffer(data, np.uint8)  # two entries in a word
    if not little:
        packed = packed[: len(packed) // 2 * 2].reshape(-1, 2)[:, ::-1].ravel()
    if len(packed) < count:
        raise ValueError(f"palette of {len(packed)} entries, {count} are needed")
    return packed[:count].astype(np.uint16) << 8
