"""Decode and filter PNG samples of 16 bits in several planes, of which Pillow gives 8 bits.

Pillow undoes the filters of any bytes, but converts these samples to 8 bits. If it is given the
wrong order of the bytes of a sample, it takes the lower ones instead of the upper ones. Gray with
alpha has as many bytes a pixel as RGB with alpha of 8 bits.
"""

import io
from typing import Any

import numpy as np
from PIL import PngImagePlugin

_BAND = 1 << 16
"""Samples that are filtered at a time, in whole rows."""


def decoded(data: bytes, planes: int) -> np.ndarray:
    """Decode the samples of a file, (H, W, C) uint16, with C = 2, 3 or 4.

    Parameters
    ----------
    data : bytes
        A PNG file of 16 bits, whose size was checked.
    planes : int
    """
    if planes == 2:
        return _read(data, "RGBA", "RGBA").view(">u2").astype(np.uint16)
    mode = "RGB" if planes == 3 else "RGBA"
    samples = _read(data, mode, f"{mode};16B").astype(np.uint16)
    samples <<= 8
    samples |= _read(data, mode, f"{mode};16L")
    return samples


def _read(data: bytes, mode: str, stored: str) -> np.ndarray:
    """Decode a file as Pillow's mode ``mode``, with samples as its raw mode ``stored`` has them."""

    class Stored(PngImagePlugin.PngImageFile):
        def _open(self) -> None:
            super()._open()
            self._mode = mode
            self.tile: list[Any] = [(tile[0], tile[1], tile[2], stored) for tile in self.tile]

    with Stored(io.BytesIO(data)) as image:
        return np.array(image)


def filtered(rows: np.ndarray, first: bool) -> bytes:
    """Filter rows of samples, (H, W, C) uint16; each filtered row begins with its filter's number.

    Each row has the filter of the least sum of absolute differences, as the PNG specification
    recommends (section 12.7). The first row is only read, unless it is the ``first`` of a picture.
    """
    height, width, planes = rows.shape
    above = np.zeros((1, 2 * width * planes), np.uint8)
    step = max(1, _BAND // (width * planes))
    parts = []
    for top in range(0, height, step):
        band = rows[top : top + step].astype(">u2").view(np.uint8).reshape(-1, above.shape[1])
        parts.append(_filtered(band, above, 2 * planes).tobytes())
        above = band[-1:]
    found = b"".join(parts)
    return found if first else found[len(found) // height :]


def _filtered(rows: np.ndarray, above: np.ndarray, pixel: int) -> np.ndarray:
    """Filter rows of bytes; each filtered row begins with the number of its filter.

    Parameters
    ----------
    rows : (N, B) uint8 array
    above : (1, B) uint8 array
        The row before the first one.
    pixel : int
        Bytes of a pixel.
    """
    up = np.vstack([above, rows[:-1]]).astype(np.int16)
    left, corner = (np.pad(each, ((0, 0), (pixel, 0)))[:, :-pixel] for each in (rows, up))
    left, corner = left.astype(np.int16), corner.astype(np.int16)
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    nearest = np.where(
        (to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner)
    )
    guesses = np.stack([np.zeros_like(up), left, up, (left + up) >> 1, nearest])
    found = (rows - guesses).astype(np.uint8)
    costs = np.abs(found.view(np.int8).astype(np.int16)).sum(axis=2, dtype=np.int64)
    best = costs.argmin(axis=0)
    chosen = found[best, np.arange(len(rows))]
    return np.hstack([best[:, None].astype(np.uint8), chosen])
