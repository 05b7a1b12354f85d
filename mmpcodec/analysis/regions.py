"""Bright regions: the rectangles in which a picture rises most above a level.

The luminance 0.30 R + 0.59 G + 0.11 B less an offset is positive where a picture is bright; the
rectangle of the largest sum is where most of the brightness is. It is found on integers, so it is
the same everywhere.

Source: A. C. de Lima, "Soluções para os problemas da soma máxima e do k-ésimo menor elemento de
uma sequência usando o modelo BSP/CGM", UFMS 2015, sections 4.7 and 4.8, whose offset is half of the
full range. Other offsets, dark regions, several regions, limits and masks are not in the source.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.pictures import Picture
from mmpcodec.solvers.max_sum import Rectangle, disjoint_rectangles
from mmpcodec.solvers.selection import median, quantile

RED, GREEN, BLUE = 30, 59, 11
"""Parts of the luminance, in hundredths."""


@dataclass(frozen=True)
class Region:
    """A rectangle of a picture.

    Parameters
    ----------
    rank : int
        1 is the best.
    left, top, width, height : int
        In pixels; the picture's first column and row are 0.
    sum : float
        Of the luminance less the offset (of the offset less the luminance for dark regions), in
        levels of the picture.
    mean : float
        Mean luminance of its pixels that count, in levels.
    """

    rank: int
    left: int
    top: int
    width: int
    height: int
    sum: float
    mean: float

    @property
    def right(self) -> int:
        """Its last column."""
        return self.left + self.width - 1

    @property
    def bottom(self) -> int:
        """Its last row."""
        return self.top + self.height - 1

    @property
    def area(self) -> int:
        """Its pixels."""
        return self.width * self.height


@dataclass(frozen=True)
class Regions:
    """What was found in a picture.

    Parameters
    ----------
    regions : tuple of Region
        By rank; fewer than asked for where nothing brighter than the offset is left.
    offset : float
        In levels, as it was used.
    scale : int
        The solver's integers are so many times the levels.
    """

    regions: tuple[Region, ...]
    offset: float
    scale: int


@dataclass(frozen=True)
class Limits:
    """Which rectangles may be regions, in pixels; None does not limit."""

    min_width: int = 1
    max_width: int | None = None
    min_height: int = 1
    max_height: int | None = None


def luminance(samples: np.ndarray) -> tuple[np.ndarray, int]:
    """Luminance as integers, and how many of them are one level.

    Parameters
    ----------
    samples : (H, W) or (H, W, 3) array of uint8 or uint16

    Returns
    -------
    (H, W) int64 array, int
        1 for gray pictures and 100 for colours.
    """
    if samples.ndim == 2:
        return samples.astype(np.int64), 1
    red, green, blue = np.moveaxis(samples.astype(np.int64), 2, 0)
    return RED * red + GREEN * green + BLUE * blue, 100


def offset_level(
    offset: str | float, values: np.ndarray, unit: int, white: int, backend: str = "auto"
) -> float:
    """The level that an offset means.

    Parameters
    ----------
    offset : float or str
        A number from 0 to 1 is that part of white, a larger one a level; or "mean", "median",
        a percentile "p0" to "p100" of the levels, or "otsu": halfway between the means of
        Otsu's two classes.
    values : array of integers
        Luminance of the pixels that count.
    unit : int
        Integers of one level.
    white : int
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        For anything else.
    """
    if offset == "mean":
        return float(values.mean()) / unit
    if offset == "median":
        return float(median(values, backend=backend)) / unit
    if offset == "otsu":
        from skimage.filters import threshold_otsu

        if values.min() == values.max():
            return float(values.min()) / unit
        bright = values > threshold_otsu(values)
        return float(values[bright].mean() + values[~bright].mean()) / (2 * unit)
    text = str(offset)
    try:
        number = float(text.removeprefix("p"))
    except ValueError:
        number = -1.0
    if text.startswith("p") and 0 <= number <= 100:
        return float(quantile(values, number / 100, backend=backend)) / unit
    if not text.startswith("p") and 0 <= number <= white:
        return number * white if number <= 1 else number
    raise ParameterError(
        f"offset = {offset!r}: must be a part of white from 0 to 1, a level up to {white}, mean, "
        "median, otsu, or a percentile p0 to p100"
    )


def find_regions(
    picture: Picture,
    *,
    offset: str | float = 0.5,
    white: int | None = None,
    dark: bool = False,
    k: int = 1,
    limits: Limits | None = None,
    mask: np.ndarray | None = None,
    border: int = 0,
    backend: str = "auto",
) -> Regions:
    """The k rectangles of the largest sums that do not overlap.

    Parameters
    ----------
    picture : Picture
        Gray or RGB, without alpha.
    offset : float or str
        See ``offset_level``. It is rounded to half a level, or a 200th of one for colours.
    white : int or None
        Level of white, where it is not what the picture says: 4095 for 12 bits in 16.
    dark : bool
        Look for the darkest instead.
    k : int
    limits : Limits or None
    mask : (H, W) array or None
        Where it is zero, pixels count as black (as white for dark regions) and do not enter the
        offset.
    border : int
        So many rows and columns at each side are left out altogether.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    Regions

    Raises
    ------
    ParameterError
        For a picture with alpha, or an offset, mask, border, limits or k that do not suit it.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.analysis.regions import find_regions
    >>> from mmpcodec.pictures import Picture
    >>> samples = np.zeros((20, 30), np.uint8)
    >>> samples[5:9, 10:13] = 200
    >>> find_regions(Picture.of(samples)).regions
    (Region(rank=1, left=10, top=5, width=3, height=4, sum=870.0, mean=200.0),)
    """
    if picture.planes not in (1, 3):
        raise ParameterError(f"picture: holds {picture.kind}; must be gray or RGB")
    white = picture.white if white is None else white
    if not 1 <= white <= picture.white:
        raise ParameterError(f"white = {white}: must be a level from 1 to {picture.white}")
    values, unit = luminance(picture.samples)
    height, width = values.shape
    if not 0 <= 2 * border < min(height, width):
        raise ParameterError(f"border = {border}: nothing is left of a {width}x{height} picture")
    inside = slice(border, height - border), slice(border, width - border)
    values = values[inside]
    counts = np.ones(values.shape, bool)
    if mask is not None:
        if mask.shape != (height, width):
            raise ParameterError(
                f"mask of shape {mask.shape}: must be {(height, width)} as the picture"
            )
        counts = mask[inside] != 0
        if not counts.any():
            raise ParameterError("mask: leaves no pixel")
    scale = 2 * unit
    level = offset_level(offset, values[counts], unit, white, backend)
    rounded = round(scale * level)
    sign = -1 if dark else 1
    weights = sign * (2 * values - rounded)
    weights[~counts] = sign * ((scale * white if dark else 0) - rounded)
    limits = limits or Limits()
    found = disjoint_rectangles(
        weights,
        k,
        min_height=limits.min_height,
        max_height=limits.max_height,
        min_width=limits.min_width,
        max_width=limits.max_width,
        allow_empty=True,
        backend=backend,
    )
    regions = tuple(
        Region(
            rank,
            r.left + border,
            r.top + border,
            r.width,
            r.height,
            r.sum / scale,
            _mean(values, counts, r) / unit,
        )
        for rank, r in enumerate(found, start=1)
    )
    return Regions(regions, rounded / scale, scale)


def _mean(values: np.ndarray, counts: np.ndarray, place: Rectangle) -> float:
    """Mean of a rectangle's values that count; of all where none does."""
    inside = slice(place.top, place.bottom), slice(place.left, place.right)
    kept = values[inside][counts[inside]]
    return float(kept.mean() if kept.size else values[inside].mean())
