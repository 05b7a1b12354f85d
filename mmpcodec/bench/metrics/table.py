"""The table of metrics, and the measurement of a decoded picture with some of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.bench.metrics.butteraugli import butteraugli
from mmpcodec.bench.metrics.libraries import library
from mmpcodec.bench.metrics.ms_ssim import ms_ssim
from mmpcodec.bench.metrics.psnr import max_error, psnr
from mmpcodec.bench.metrics.psnr_hvs_m import psnr_hvs_m
from mmpcodec.bench.metrics.ssim import ssim
from mmpcodec.bench.metrics.xpsnr import xpsnr
from mmpcodec.errors import ParameterError
from mmpcodec.metrics.ssimulacra2 import ssimulacra2

ALL = "all"
DB = "dB"


@dataclass(frozen=True)
class Metric:
    """A metric of a decoded picture.

    Parameters
    ----------
    name : str
        As options have it, in small letters with hyphens.
    title : str
    unit : str
        "dB", or an empty string.
    best : float or None
        Value of equal pictures; None if they have none.
    more_is_better : bool
    digits : int
        Decimals that tables and messages show.
    needs : str or None
        Module of the extra ``measure``; None if NumPy is enough.
    function : callable
        ``function(original, decoded, white=white)`` returns the value, or None where there is none.
    part : int or None
        Place of the value, if the function returns several.
    delta_scale : int
        Factor of differences in tables.
    """

    name: str
    title: str
    unit: str
    best: float | None
    more_is_better: bool
    digits: int
    needs: str | None
    function: Callable[..., Any]
    part: int | None = None
    delta_scale: int = 1

    @property
    def key(self) -> str:
        """Name in rows of results and in JSON, with underscores."""
        return self.name.replace("-", "_")

    @property
    def axis(self) -> str:
        """Title and unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def sign(self) -> int:
        """1 if more is better, -1 if less is."""
        return 1 if self.more_is_better else -1

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:.{self.digits}f}{f' {self.unit}' * bool(self.unit)}"


_TABLE = (
    Metric("psnr", "PSNR", DB, None, True, 2, "skimage.metrics", psnr),
    Metric("ssim", "SSIM", "", 1, True, 5, "skimage.metrics", ssim, delta_scale=1000),
    Metric("ms-ssim", "MS-SSIM", "", 1, True, 5, "scipy.ndimage", ms_ssim, delta_scale=1000),
    Metric("ssimulacra2", "SSIMULACRA2", "", 100, True, 2, None, ssimulacra2),
    Metric("butteraugli", "Butteraugli", "", 0, False, 3, "scipy.ndimage", butteraugli, 0),
    Metric("butteraugli-3", "Butteraugli 3-norm", "", 0, False, 3, "scipy.ndimage", butteraugli, 1),
    Metric("psnr-hvs-m", "PSNR-HVS-M", DB, None, True, 2, "scipy.fft", psnr_hvs_m),
    Metric("xpsnr", "XPSNR", DB, None, True, 2, "scipy.ndimage", xpsnr),
)

METRICS: Mapping[str, Metric] = {metric.key: metric for metric in _TABLE}
"""All metrics by their keys."""

NAMES = tuple(metric.name for metric in _TABLE)

DEFAULT = tuple(METRICS[key] for key in ("psnr", "ssim", "ms_ssim"))
"""Metrics that are measured without a choice: the fastest ones."""


def metric_of(name: str, field: str = "metric") -> Metric:
    """Return the metric of a name, with hyphens or underscores.

    Raises
    ------
    ParameterError
        If there is none.
    """
    found = METRICS.get(name.strip().replace("-", "_"))
    if found is None:
        raise ParameterError(f"{field} = {name!r}: must be one of {', '.join(NAMES)}")
    return found


def metrics_of(text: str | None) -> tuple[Metric, ...]:
    """Return the metrics of names with commas between them, ``all``, or None for ``DEFAULT``.

    They are in the order of the table.

    Raises
    ------
    ParameterError
        If a name is not one of a metric.

    Examples
    --------
    >>> from mmpcodec.bench.metrics import metrics_of
    >>> [metric.title for metric in metrics_of("ssimulacra2,psnr")]
    ['PSNR', 'SSIMULACRA2']
    """
    if text is None:
        return DEFAULT
    if text.strip() == ALL:
        return _TABLE
    try:
        chosen = {metric_of(name).name for name in text.split(",")}
    except ParameterError as error:
        raise ParameterError(
            f"--metrics {text}: must be {ALL}, or some of {','.join(NAMES)}"
        ) from error
    return tuple(metric for metric in _TABLE if metric.name in chosen)


@dataclass(frozen=True)
class Quality:
    """Values of metrics of a decoded picture.

    Parameters
    ----------
    values : dict
        Value of each metric by its key; None where there is none: equal pictures have no PSNR,
        small pictures no SSIM.
    max_error : int
        Largest absolute difference of two samples.
    """

    values: dict[str, float | None]
    max_error: int

    def as_dict(self) -> dict[str, float | None]:
        """Return all values, with ``max_error`` last."""
        return {**self.values, "max_error": self.max_error}


def measure(
    original: np.ndarray,
    decoded: np.ndarray,
    *,
    white: int = 255,
    levels: tuple[int, int] | None = None,
    metrics: Sequence[Metric] = DEFAULT,
) -> Quality:
    """Measure a decoded picture.

    Parameters
    ----------
    original, decoded : (H, W) or (H, W, 3) integer arrays
        Arrays of equal shape.
    white : int
        Level of white, the data range of the metrics.
    levels : (int, int) or None
        Levels of black and white, in place of 0 and ``white``: PSNR has their difference as peak,
        and other metrics see pictures whose samples beyond them are black or white.
    metrics : sequence of Metric

    Raises
    ------
    ValueError
        When the shapes differ.
    MissingExtra
        If scikit-image or SciPy is not installed.
    """
    if original.shape != decoded.shape:
        raise ValueError(f"shapes differ: {original.shape} and {decoded.shape}")
    seen = original, decoded
    if levels is not None:
        low, high = levels
        white = high - low
        seen = original.clip(low, high) - low, decoded.clip(low, high) - low
    found: dict[Callable[..., Any], Any] = {}
    values: dict[str, float | None] = {}
    for metric in metrics:
        if metric.function not in found:
            pair = (original, decoded) if metric.function is psnr else seen
            found[metric.function] = metric.function(*pair, white=white)
        value = found[metric.function]
        whole = metric.part is None or value is None
        values[metric.key] = value if whole else value[metric.part]
    return Quality(values, max_error(original, decoded))


def check_libraries(metrics: Sequence[Metric] = DEFAULT) -> None:
    """Check that metrics can be measured.

    Raises
    ------
    MissingExtra
        If a package that they need is not installed.
    """
    for metric in metrics:
        if metric.needs is not None:
            library(metric.needs)
