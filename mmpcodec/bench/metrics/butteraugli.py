"""Butteraugli: a map of visible errors in bands of frequency of opponent colours, and its norms."""

from typing import NamedTuple

import numpy as np

from mmpcodec.bench.metrics.libraries import library
from mmpcodec.bench.metrics.malta import DENSE, SPARSE, half_open, malta
from mmpcodec.metrics.samples import halved, linear_light

BUTTERAUGLI_SIDE = 8
"""Smallest side of a picture, in samples."""

NITS = 80.0
"""Luminance of white on the display, in candela per square metre."""

_CONES = np.array(
    [
        [0.29956550340058319, 0.63373087833825936, 0.077705617820981968],
        [0.22158691104574774, 0.69391388044116142, 0.0987313588422],
        [0.02, 0.02, 0.20480129041026129],
    ]
)
_DARK = (1.7557483643287353, 1.7557483643287353, 12.226454707163354)  # response to black

_LOW, _MIDDLE, _HIGH, _ADAPTATION, _MASK = 7.15593339443, 3.22489901262, 1.56416327805, 1.2, 2.7
"""Standard deviations of the windows, in samples."""

_MALTA_MIDDLE = ((8246.75321353, 1009002.70582), (37.0819870399, 130262059.556))
_MALTA_HIGH = ((6923.99476109, 8051.15833247), (18.7237414387, 4498534.45232))
_MALTA_HIGHEST = ((173.5, 5.0), (1.10039032555, 71.7800275169))
"""Weights and norms of bands X and Y."""

_SQUARES_LOW = (29.2353797994, 0.844626970982, 0.703646627719)
_SQUARES_MIDDLE = (2150.0, 10.6195433239, 16.2176043152)
_SQUARES_HIGH = (400.0, 1.50815703118)
"""Weights of squared differences of X, Y and B."""

_SCALE = 1 / (17.83 * 0.79079917404)  # a value of 1 is just visible


class Bands(NamedTuple):
    """Bands of frequency of a picture: planes X, Y and B, the higher two without B."""

    low: list[np.ndarray]
    middle: list[np.ndarray]
    high: list[np.ndarray]
    highest: list[np.ndarray]


def butteraugli(
    original: np.ndarray, decoded: np.ndarray, *, white: int
) -> tuple[float, float] | None:
    """Return the largest visible error, and the 3-norm of the errors of all pixels.

    Both are 0 for equal pictures; a largest error of 1 is just visible. The 3-norm is that of the
    program: the mean of the norms of the exponents 3, 6 and 12. None if a side has fewer than 8
    samples. Pictures are taken as sRGB on a display of 80 candela per square metre, gray as equal
    red, green and blue.

    Source: Alakuijala, Obryk, Stoliarchuk, Szabadka, Vandevenne, Wassenberg, "Guetzli: perceptually
    guided JPEG encoder", 2017, as defined since by the program ``butteraugli_main`` of libjxl.
    """
    found = error_map(original, decoded, white=white)
    if found is None:
        return None
    powers = found.astype(np.float64) ** 3
    norms = [(powers**more).mean() ** (1 / (3 * more)) for more in (1, 2, 4)]
    return float(found.max()), float(np.mean(norms))


def error_map(original: np.ndarray, decoded: np.ndarray, *, white: int) -> np.ndarray | None:
    """Return the visible error of each pixel, at two scales: 0 for none, 1 is just visible.

    Its largest value and its 3-norm are the values of the metric.

    Parameters
    ----------
    original, decoded : (H, W) or (H, W, 3) integer arrays
    white : int
        Level of white.

    Returns
    -------
    (H, W) array of float32 or None
        None if a side has fewer than 8 samples.
    """
    if min(original.shape[:2]) < BUTTERAUGLI_SIDE:
        return None
    light = [linear_light(each, white) for each in (original, decoded)]
    found = _error_map(*light)
    height, width = found.shape
    if min(height, width) > 2 * (BUTTERAUGLI_SIDE - 1):
        coarse = _error_map(*map(halved, light))
        found = 0.85 * found + 0.5 * coarse.repeat(2, 0).repeat(2, 1)[:height, :width]
    return found


def _error_map(original: np.ndarray, decoded: np.ndarray) -> np.ndarray:
    """Return the visible error of each pixel of linear light, at one scale."""
    a, b = (_bands(_opponent(each)) for each in (original, decoded))
    even = sum(
        weight * (x - y) ** 2 for weight, x, y in zip(_SQUARES_LOW, a.low, b.low, strict=True)
    )
    busy = sum(
        weight * (x - y) ** 2
        for weight, x, y in zip(_SQUARES_MIDDLE, a.middle, b.middle, strict=True)
    )
    for plane in (0, 1):
        x, y = a.high[plane], b.high[plane]
        stray = half_open(x, y, 0.4, 1.0)
        busy += 0.8 * _SQUARES_HIGH[plane] * ((x - y) ** 2 + stray**2)
        busy += malta(a.highest[plane], b.highest[plane], *_MALTA_HIGHEST[plane], DENSE)
        busy += malta(x, y, *_MALTA_HIGH[plane], SPARSE)
        busy += malta(a.middle[plane], b.middle[plane], *_MALTA_MIDDLE[plane], SPARSE)
    activity, other = (_blurred(_activity(each), _MASK) for each in (a, b))
    busy += 10 * (activity - other) ** 2
    masking = _eroded(activity)
    return np.sqrt(
        even * _visibility(masking, 0.505054525019, 3.87449418804, 0.20025578522)
        + busy * _visibility(masking, 2.5485944793, 0.451936922203, 0.829591754942)
    )


def _opponent(light: np.ndarray) -> list[np.ndarray]:
    """Return the planes X, Y and B of linear light, in perceived units, as float32."""
    around = np.stack([_mirrored(plane, _ADAPTATION) for plane in light])
    found = []
    for cone, dark in zip(_CONES, _DARK, strict=True):
        adapted = np.maximum(NITS * np.tensordot(cone, around, axes=1) + dark, dark)
        logarithm = 19.245013259874995 * np.log(adapted + 9.9710635769299145) - 23.16046239805755
        response = NITS * np.tensordot(cone, light, axes=1) + dark
        found.append(np.maximum(response * np.maximum(logarithm / adapted, 1e-4), dark))
    planes = found[0] - found[1], found[0] + found[1], found[2]
    return [plane.astype(np.float32) for plane in planes]


def _bands(planes: list[np.ndarray]) -> Bands:
    """Split planes into bands of frequency; small amounts of some count less or more."""
    low = [_blurred(plane, _LOW) for plane in planes]
    rest = [plane - each for plane, each in zip(planes, low, strict=True)]
    middle = [_blurred(plane, _MIDDLE) for plane in rest]
    x, y = (plane - each for plane, each in zip(rest[:2], middle[:2], strict=True))
    x = x * (0.653020556257 + (1 - 0.653020556257) * 46 / (y * y + 46))
    high_x, high_y = _blurred(x, _HIGH), _compressed(_blurred(y, _HIGH), 28.4691806922)
    highest = [_shrunk(x - high_x, 0.04), 2.69313763794 * _compressed(y - high_y, 5.19175294647)]
    return Bands(
        [
            33.832837186260 * low[0],
            14.458268100570 * low[1],
            49.87984651440 * (low[2] - 0.362267051518 * low[1]),
        ],
        [_shrunk(middle[0], 0.29), _stretched(middle[1], 0.1), middle[2]],
        [_shrunk(high_x, 1.5), _stretched(2.155 * high_y, 0.132)],
        highest,
    )


def _shrunk(values: np.ndarray, by: float) -> np.ndarray:
    """Return values moved towards 0, those near it to 0."""
    return values - np.clip(values, -by, by)


def _stretched(values: np.ndarray, by: float) -> np.ndarray:
    """Return values moved away from 0, those near it doubled."""
    return values + np.clip(values, -by, by)


def _compressed(values: np.ndarray, most: float) -> np.ndarray:
    """Return values with less of what is beyond ``most``, on both sides of 0."""
    inside = np.clip(values, -most, most)
    return inside + 0.724216145665 * (values - inside)


def _activity(bands: Bands) -> np.ndarray:
    """Return the activity that masks errors, from the high bands of X and Y."""
    x = 2.5 * (bands.highest[0] + bands.high[0])
    y = 0.4 * (bands.highest[1] + bands.high[1])
    gain, bias = 6.19424080439, 6.19424080439 * 12.61050594197
    return np.sqrt(gain * np.hypot(x, y) + bias) - np.float32(bias**0.5)


def _eroded(values: np.ndarray) -> np.ndarray:
    """Return a mean of the three smallest of each value and the eight around it, 3 samples away.

    Twice the value itself stands in for the second and third smallest.
    """
    height, width = values.shape
    padded = np.pad(values, 3, constant_values=np.inf)
    first, second, third = values, 2 * values, 2 * values
    for row, column in np.ndindex(3, 3):
        if (row, column) == (1, 1):
            continue
        other = padded[3 * row : 3 * row + height, 3 * column : 3 * column + width]
        third = np.minimum(third, np.maximum(second, other))
        second = np.minimum(second, np.maximum(first, other))
        first = np.minimum(first, other)
    return 0.45 * first + 0.3 * second + 0.25 * third


def _visibility(masking: np.ndarray, gain: float, slope: float, offset: float) -> np.ndarray:
    """Return the weight of errors; it is larger where little masks them."""
    return (_SCALE * (1 + gain / (slope * masking + offset))) ** 2


def _blurred(values: np.ndarray, sigma: float) -> np.ndarray:
    """Return values under a Gaussian window that is cut at the border of the picture."""
    correlate, window = library("scipy.ndimage").correlate1d, _window(sigma)
    for axis in (0, 1):
        inside = correlate(np.ones(values.shape[axis]), window, mode="constant")
        values = correlate(values, window, axis, mode="constant")
        values /= inside.astype(np.float32)[:, None] if axis == 0 else inside.astype(np.float32)
    return values


def _mirrored(values: np.ndarray, sigma: float) -> np.ndarray:
    """Return values under a Gaussian window, with the picture mirrored at its border."""
    correlate, window = library("scipy.ndimage").correlate1d, _window(sigma)
    return correlate(correlate(values, window, 0, mode="reflect"), window, 1, mode="reflect")


def _window(sigma: float) -> np.ndarray:
    radius = max(1, int(2.25 * sigma))
    window = np.exp(-np.square(np.arange(-radius, radius + 1)) / (2 * sigma**2))
    return window / window.sum()
