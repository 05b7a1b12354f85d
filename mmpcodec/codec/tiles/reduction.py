"""Smaller renditions of pictures: each sample is the mean of a square of samples.

Means are of the stored samples, not of linear light, as in GDAL, libvips and the scaled decoding of
JPEG: so they are exact for measurements, and the same whatever a profile says. They are computed
from the sums over the whole square, not by halving several times, so that nothing is rounded twice.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.depth import BYTE, sample_type
from mmpcodec.errors import ParameterError
from mmpcodec.metadata import Metadata, Resolution, fitted
from mmpcodec.picture import planes_of
from mmpcodec.samples import MAX_DIMENSION, Samples

LEAST_SIDE = 256
"""Samples of the longer side of the smallest level."""
BAND_SAMPLES = 1 << 24
"""Samples of a picture that are reduced at once."""
_SCALE = re.compile(r"[0-9]{1,8}/[0-9]{1,8}|[0-9]{0,8}\.?[0-9]{1,20}", re.ASCII)


def factors_of(height: int, width: int) -> list[int]:
    """Return by which factors the levels of a picture are smaller, the largest level first.

    Examples
    --------
    >>> from mmpcodec.codec.tiles.reduction import factors_of
    >>> factors_of(3000, 4000), factors_of(300, 500)
    ([2, 4, 8], [])
    """
    factors, factor = [], 2
    while -(-max(height, width) // factor) >= LEAST_SIDE:
        factors.append(factor)
        factor *= 2
    return factors


def factor_between(shape: Sequence[int], smaller: Sequence[int]) -> int | None:
    """Return by which factor a rendition is smaller than a picture; None if there is none.

    Parameters
    ----------
    shape, smaller : sequence of int
        Height and width of the picture and of the rendition.
    """
    side, small = max(shape[:2]), max(smaller[:2])
    nearest = 1 << max(0, round(math.log2(side / small)))
    for factor in (nearest, -(-side // small)):
        if [reduced_side(each, factor) for each in shape[:2]] == list(smaller[:2]):
            return factor
    return None


def factor_of_scale(scale: Any) -> int:
    """Return the factor by which a picture becomes smaller.

    Parameters
    ----------
    scale : float, Fraction or str
        1/N of an integer N: ``Fraction(1, 8)``, ``0.125``, ``"1/8"`` or ``"0.125"``.

    Raises
    ------
    ParameterError
        If it is something else.

    Examples
    --------
    >>> from mmpcodec.codec.tiles.reduction import factor_of_scale
    >>> factor_of_scale("1/8"), factor_of_scale(0.5)
    (8, 2)
    """
    wrong = ParameterError(
        f"scale = {str(scale)[:40]}: must be 1/N, N from 1 to {MAX_DIMENSION}, such as 1/8 or 0.125"
    )
    if isinstance(scale, str) and not _SCALE.fullmatch(scale.strip()):
        raise wrong
    is_number = isinstance(scale, int | float | Fraction | np.integer | np.floating)
    if isinstance(scale, bool) or not (is_number or isinstance(scale, str)):
        raise wrong
    try:
        found = 1 / Fraction(scale.strip() if isinstance(scale, str) else scale)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise wrong from None
    # A third is no finite decimal: 0.3333 stands for it.
    factor = round(found)
    if not 1 <= factor <= MAX_DIMENSION or abs(found - factor) > Fraction(factor, 1000):
        raise wrong
    return factor


def reduced_depth(depth: int, metadata: Metadata) -> int:
    """Return the bits of the samples of a smaller rendition.

    They are 8 if the picture has fewer, because means of black and white are gray; samples that
    measure something keep their depth.
    """
    return depth if metadata.calibration else max(depth, BYTE)


def reduced_side(side: int, factor: int) -> int:
    """Return the pixels of a side of a rendition that is smaller by a factor."""
    return -(-side // factor)


def reduced_metadata(metadata: Metadata, depth: int, factor: int) -> Metadata:
    """Return the metadata of a rendition of a picture of ``depth`` bits.

    The resolution is lower by the factor, and the level of white is that of the rendition's depth.
    Attributes of DICOM are left out: they are those of the full size.
    """
    resolution, white = metadata.resolution, metadata.white
    if resolution is not None:
        x, y = fitted(resolution.x / factor), fitted(resolution.y / factor)
        resolution = Resolution(x, y, resolution.unit) if x and y else None
    to = reduced_depth(depth, metadata)
    if white is not None and to > depth:
        white = (white * ((1 << to) - 1) * 2 // ((1 << depth) - 1) + 1) // 2
    return replace(metadata, resolution=resolution, white=white, dicom=())


def reduced(samples: Samples, factor: int, depth: int, to_depth: int) -> Samples:
    """Return the means of squares of samples, rounded to the nearest integer, halves up.

    At the right and at the bottom, squares have fewer samples. Colours count as much as they are
    opaque, so that hidden colours do not show; those of a square without opacity count alike.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        With alpha, if C is 2 or 4.
    factor : int
        Side of a square.
    depth : int
        Bits of a sample.
    to_depth : int
        Bits of a sample of the result, at least ``depth``; black and white stay black and white.

    Returns
    -------
    array of ceil(H / factor) x ceil(W / factor) pixels

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.tiles.reduction import reduced
    >>> reduced(np.array([[0, 1, 1], [1, 1, 0]], np.uint8), 2, 1, 8).tolist()
    [[191, 128]]
    """
    factor = check_int("factor", factor, 1, MAX_DIMENSION)
    most, to_most = (1 << depth) - 1, (1 << to_depth) - 1
    kind = sample_type(to_depth)
    if factor == 1 and depth == to_depth:
        return samples
    sums = _sums(samples, factor, most)
    found = _squares_divided(sums, samples.shape, factor, to_most, most)
    if planes_of(samples) in (2, 4) and int(samples[..., -1].min()) < most:
        alpha = samples[..., -1:].astype(np.uint32)
        weighted = _sums(samples[..., :-1] * alpha, factor, most * most)
        opacity = sums[..., -1:].astype(np.uint64)
        means = _divided(weighted, np.maximum(opacity, 1), to_most, most)
        found[..., :-1] = np.where(opacity > 0, means, found[..., :-1])
    return found.astype(kind)


def _squares_divided(
    sums: np.ndarray, shape: tuple[int, ...], factor: int, times: int, by: int
) -> np.ndarray:
    """Return ``_divided`` of the sums over squares of a picture of this shape."""
    found = np.empty_like(sums, dtype=sums.dtype if times == by else np.uint64)
    parts = [_runs(side, factor) for side in shape[:2]]
    for rows, height in parts[0]:
        for columns, width in parts[1]:
            count = np.array(height * width, np.uint64)
            found[rows, columns] = _divided(sums[rows, columns], count, times, by)
    return found


def _runs(side: int, factor: int) -> list[tuple[slice, int]]:
    """Return the whole squares of a row or a column and their side, and the part of one."""
    whole, rest = divmod(side, factor)
    return [(slice(0, whole), factor), (slice(whole, whole + 1), rest)][: 1 + (rest > 0)]


def _sums(samples: np.ndarray, factor: int, most: int) -> np.ndarray:
    """Return the sums over squares of samples of at most ``most``."""
    kinds = (np.uint16, np.uint32, np.uint64)
    count = min(factor, samples.shape[0]) * min(factor, samples.shape[1])
    kind = next(kind for kind in kinds if (most + 1) * count <= np.iinfo(kind).max)
    rows: np.ndarray = samples[::factor].astype(kind)
    for place in range(1, min(factor, len(samples))):
        part = samples[place::factor]
        np.add(rows[: len(part)], part, out=rows[: len(part)])
    found = rows[:, ::factor].copy()
    for place in range(1, min(factor, rows.shape[1])):
        part = rows[:, place::factor]
        own = found[:, : part.shape[1]]
        np.add(own, part, out=own)
    return found


def _divided(sums: np.ndarray, counts: np.ndarray, times: int, by: int) -> np.ndarray:
    """Return ``sums * times / (counts * by)``, rounded to the nearest integer, halves up."""
    if times == by:
        times = by = 1
    if times > 1:
        sums = sums.astype(np.uint64) * np.uint64(times)
    parts = counts.astype(sums.dtype) * sums.dtype.type(by)
    return (sums + parts // 2) // parts


class ReducedReader:
    """Reads a smaller rendition of a picture in parts, in bounded memory; see ``Reader``.

    Parameters
    ----------
    read : callable
        ``read(rows, columns)`` reads a part of the picture, as that of a ``Reader``.
    shape : tuple of int
        That of the picture.
    depth : int
        Bits of its samples.
    metadata : Metadata
    factor : int
    unit : int
        Rows of the picture that are best read together.
    """

    def __init__(
        self,
        read: Callable[[slice, slice], Samples],
        shape: tuple[int, ...],
        depth: int,
        metadata: Metadata,
        factor: int,
        unit: int = 1,
    ):
        self._read, self._shape, self._factor, self._depth = read, shape, factor, depth
        self._unit = unit
        sides = (reduced_side(side, factor) for side in shape[:2])
        self.shape: tuple[int, ...] = (*sides, *shape[2:])
        self.depth = reduced_depth(depth, metadata)
        self.metadata = reduced_metadata(metadata, depth, factor)

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part; see ``Reader.read``."""
        (top, bottom, _), (left, right, _) = (
            part.indices(side) for part, side in zip((rows, columns), self.shape[:2], strict=True)
        )
        factor, (height, width, *planes) = self._factor, self._shape
        wide = slice(left * factor, min(right * factor, width))
        samples = (wide.stop - wide.start) * (planes[0] if planes else 1)
        step = max(1, BAND_SAMPLES // (factor * samples), -(-self._unit // factor))
        found = np.empty((bottom - top, right - left, *planes), sample_type(self.depth))
        for row in range(top, bottom, step):
            end = min(row + step, bottom)
            band = self._read(slice(row * factor, min(end * factor, height)), wide)
            found[row - top : end - top] = reduced(band, factor, self._depth, self.depth)
        return found

    def __enter__(self) -> "ReducedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: what reads the picture stays open."""
