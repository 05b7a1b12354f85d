"""Find bright regions: the rectangles in which a picture exceeds a level by the largest sum.

The luminance 0.30 R + 0.59 G + 0.11 B minus an offset is positive where a picture is bright. The
region is the rectangle of the largest sum of these values. The arithmetic is in integers, so the
result is identical on every backend and machine.

Source: A. C. de Lima, "Soluções para os problemas da soma máxima e do k-ésimo menor elemento de
uma sequência usando o modelo BSP/CGM", UFMS 2015, sections 4.7 and 4.8, with an offset of half the
full range. Other offsets, dark regions, several regions, limits and masks are not in the source.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmpcodec.errors import MissingExtra, ParameterError, install
from mmpcodec.pictures import Picture
from mmpcodec.samples import Samples
from mmpcodec.solvers.max_sum import disjoint_rectangles
from mmpcodec.solvers.selection import median, quantile

RED, GREEN, BLUE = 30, 59, 11
"""Weights of the luminance, in hundredths."""


@dataclass(frozen=True)
class Region:
    """A bright (or dark) rectangle of a picture.

    Parameters
    ----------
    rank : int
        1 for the region of the largest sum.
    left, top, width, height : int
        In pixels; the first column and row of the picture are 0.
    sum : float
        Sum over the pixels of luminance minus offset, in levels of the picture. For dark regions,
        the sum of offset minus luminance.
    mean, deviation, least, most : float
        Mean, standard deviation, least and largest luminance, in levels, of the pixels that the
        mask keeps; of all pixels if the mask excludes them all.
    """

    rank: int
    left: int
    top: int
    width: int
    height: int
    sum: float
    mean: float
    deviation: float
    least: float
    most: float

    @property
    def right(self) -> int:
        """Last column of the region."""
        return self.left + self.width - 1

    @property
    def bottom(self) -> int:
        """Last row of the region."""
        return self.top + self.height - 1

    @property
    def area(self) -> int:
        """Number of pixels."""
        return self.width * self.height


@dataclass(frozen=True)
class Regions:
    """The regions of a picture.

    Parameters
    ----------
    regions : tuple of Region
        Regions by rank. There are fewer than requested if no remaining rectangle has a positive
        sum.
    offset : float
        The offset in levels, after rounding.
    scale : int
        Number of the solver's integers per level.
    """

    regions: tuple[Region, ...]
    offset: float
    scale: int


@dataclass(frozen=True)
class Limits:
    """Limits on the sides of regions, in pixels; None is no limit."""

    min_width: int = 1
    max_width: int | None = None
    min_height: int = 1
    max_height: int | None = None


def luminance(samples: Samples) -> tuple[NDArray[np.int64], int]:
    """Compute the luminance as integers, and the number of integers per level.

    Parameters
    ----------
    samples : (H, W) or (H, W, 3) array of uint8 or uint16

    Returns
    -------
    (H, W) int64 array, int
        Luminance, and the number of integers per level: 1 for gray and 100 for colours.
    """
    if samples.ndim == 2:
        return samples.astype(np.int64), 1
    red, green, blue = np.moveaxis(samples.astype(np.int64), 2, 0)
    return RED * red + GREEN * green + BLUE * blue, 100


def offset_level(
    offset: str | float, values: NDArray[np.int64], unit: int, white: int, backend: str = "auto"
) -> float:
    """Convert an offset to a level.

    Parameters
    ----------
    offset : float or str
        A number from 0 to 1 is a part of white; a larger number is a level. "mean", "median" and
        "p0" to "p100" are the mean, the median and percentiles of ``values``. "otsu" is halfway
        between the means of the two classes of Otsu's threshold.
    values : array of integers
        Luminance of the pixels that the mask keeps.
    unit : int
        Number of integers of ``values`` per level.
    white : int
        Level of white.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    float
        The offset in levels of the picture.

    Raises
    ------
    ParameterError
        If the offset is invalid.
    MissingExtra
        If the offset is "otsu", and scikit-image is not installed.
    """
    if offset == "mean":
        return float(values.mean()) / unit
    if offset == "median":
        return float(median(values, backend=backend)) / unit
    if offset == "otsu":
        try:
            from skimage.filters import threshold_otsu
        except ImportError as error:
            raise MissingExtra(f"offset otsu: needs scikit-image; {install('measure')}") from error
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
    time_limit: float | None = None,
    backend: str = "auto",
) -> Regions:
    """Find up to k disjoint rectangles of the largest sums of luminance minus offset.

    Each rectangle has the largest sum of the rectangles that overlap no earlier one.

    Parameters
    ----------
    picture : Picture
        Gray or RGB, without alpha, of 1 to 16 bits.
    offset : float or str
        See ``offset_level``. It is rounded to half a level, or to 1/200 of a level for colours.
    white : int or None
        Level of white, such as 4095 for 12 bits stored in 16; None takes the picture's.
    dark : bool
        Find the darkest rectangles instead.
    k : int
        Largest number of rectangles, at least 1.
    limits : Limits or None
        Limits on the sides.
    mask : (H, W) array or None
        Pixels where the mask is 0 count as black (as white for dark regions) and are left out of
        the offset.
    border : int
        Number of rows and columns to leave out at each side.
    time_limit : float or None
        Seconds after which the search stops without an answer. A search on a device that has begun
        always ends.
    backend : {"auto", "cpu", "cuda", "reference"}
        The result does not depend on the backend.

    Returns
    -------
    Regions

    Raises
    ------
    ParameterError
        If the picture has alpha, or another argument is invalid for the picture.
    LimitExceeded
        If time runs out.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.analysis.regions import find_regions
    >>> from mmpcodec.pictures import Picture
    >>> samples = np.zeros((20, 30), np.uint8)
    >>> samples[5:9, 10:13] = 200
    >>> find_regions(Picture.of(samples)).regions
    (Region(rank=1, left=10, top=5, width=3, height=4, sum=870.0, mean=200.0, deviation=0.0, \
least=200.0, most=200.0),)
    """
    if picture.planes not in (1, 3):
        raise ParameterError(f"picture: holds {picture.kind}; must be gray or RGB")
    values, unit = luminance(picture.samples)
    given = weighed(
        values,
        unit,
        picture.white,
        offset=offset,
        white=white,
        dark=dark,
        mask=mask,
        border=border,
        backend=backend,
    )
    found = disjoint_rectangles(
        given.weights,
        k,
        **asdict(limits or Limits()),
        allow_empty=True,
        time_limit=time_limit,
        backend=backend,
    )
    regions = tuple(
        given.region(rank, rectangle, border) for rank, rectangle in enumerate(found, start=1)
    )
    return Regions(regions, given.offset, given.scale)


@dataclass(frozen=True)
class Weighed:
    """What a search for bright regions adds up.

    Parameters
    ----------
    values : (H, W) or (D, H, W) array of integers
        Luminance inside the border.
    counts : (H, W) bool array
        Pixels that the mask keeps.
    weights : int64 array of the shape of ``values``
        Integers whose sums are searched.
    offset : float
        The offset in levels, after rounding.
    scale : int
        Number of integers of the weights per level.
    """

    values: np.ndarray
    counts: np.ndarray
    weights: NDArray[np.int64]
    offset: float
    scale: int

    def region(self, rank: int, found: Any, border: int, slices: tuple[slice, ...] = ()) -> Region:
        """Return a rectangle, or a box in ``slices``, that was found inside a border."""
        place = *slices, slice(found.top, found.bottom), slice(found.left, found.right)
        corner, sides = (found.left + border, found.top + border), (found.width, found.height)
        return Region(rank, *corner, *sides, found.sum / self.scale, *self.statistics(place))

    def statistics(self, place: tuple[slice, ...]) -> tuple[float, float, float, float]:
        """Return mean, standard deviation, least and largest luminance of a place, in levels.

        They are of the values where ``counts`` is set, of all if it is set nowhere.
        """
        inside, counts = self.values[place], self.counts[place[-2:]]
        kept = inside[..., counts] if counts.any() else inside
        numbers = kept.mean(dtype=np.float64), kept.std(dtype=np.float64), kept.min(), kept.max()
        unit = self.scale // 2
        return tuple(float(number) / unit for number in numbers)  # type: ignore[return-value]


def weighed(
    values: np.ndarray,
    unit: int,
    most: int,
    *,
    offset: str | float,
    white: int | None,
    dark: bool,
    mask: np.ndarray | None,
    border: int,
    backend: str,
) -> Weighed:
    """Return what a search for regions adds up; options and errors are those of ``find_regions``.

    Parameters
    ----------
    values : (H, W) or (D, H, W) array of integers
        Luminance.
    unit : int
        Number of integers of ``values`` per level.
    most : int
        The picture's level of white.
    """
    white = most if white is None else white
    if not 1 <= white <= most:
        raise ParameterError(f"white = {white}: must be a level from 1 to {most}")
    height, width = values.shape[-2:]
    if not 0 <= 2 * border < min(height, width):
        raise ParameterError(f"border = {border}: leaves no pixel of a {width}x{height} picture")
    inside = slice(border, height - border), slice(border, width - border)
    values = values[..., *inside]
    counts = np.ones(values.shape[-2:], bool)
    if mask is not None:
        if mask.shape != (height, width):
            raise ParameterError(
                f"mask of shape {mask.shape}: must be {(height, width)}, the shape of the picture"
            )
        counts = mask[inside] != 0
        if not counts.any():
            raise ParameterError("mask: excludes every pixel of the picture")
    scale = 2 * unit
    level = offset_level(offset, values[..., counts], unit, white, backend)
    rounded = round(scale * level)
    sign = -1 if dark else 1
    weights = values.astype(np.int64)
    weights *= 2 * sign
    weights -= sign * rounded
    weights[..., ~counts] = sign * ((scale * white if dark else 0) - rounded)
    return Weighed(values, counts, weights, rounded / scale, scale)
