"""Rate-distortion curves from rows of results, and Bjontegaard deltas between two of them.

Rates are bits per pixel of whole files.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmpcodec.bench.codecs.base import OURS
from mmpcodec.bench.results import Row
from mmpcodec.errors import MissingExtra, ParameterError, install

METRICS = {"psnr": "PSNR, dB", "ssim": "SSIM", "ms_ssim": "MS-SSIM"}
"""Metrics of curves, and their axis titles."""

MIN_POINTS = 4
"""Smallest number of points of a curve for a Bjontegaard delta."""


@dataclass(frozen=True)
class Curve:
    """Results of one codec on one picture.

    Parameters
    ----------
    codec : str
        Codec string without operating points.
    rows : tuple of dict
        Sorted by bytes; failed rows come last.
    """

    codec: str
    rows: tuple[Row, ...]

    @property
    def ours(self) -> bool:
        """Whether the codec is mmpcodec."""
        return self.codec.partition(":")[0] == OURS

    @property
    def good(self) -> tuple[Row, ...]:
        """Rows of operating points that did not fail."""
        return tuple(row for row in self.rows if "error" not in row)

    def frontier(self, metric: str = "psnr") -> tuple[np.ndarray, np.ndarray]:
        """Return rates and qualities, both ascending.

        Points whose quality a smaller file reaches are left out, and points without a value, such
        as the PSNR of a lossless file.

        Returns
        -------
        rates, qualities : (n,) float arrays
        """
        points: list[tuple[float, float]] = []
        for row in self.good:
            value = row[metric]
            if value is not None and (
                not points or (value > points[-1][1] and row["bpp"] > points[-1][0])
            ):
                points.append((row["bpp"], value))
        rates, qualities = np.array(points).reshape(-1, 2).T
        return rates, qualities

    def at(self, rate: float, metric: str = "psnr") -> float | None:
        """Return the quality at a rate in bits per pixel; None outside the curve.

        The quality is interpolated by Akima's method over the logarithm of the rate.
        """
        from scipy.interpolate import Akima1DInterpolator

        rates, qualities = self.frontier(metric)
        if len(rates) < 2 or not rates[0] <= rate <= rates[-1]:
            return None
        return float(Akima1DInterpolator(np.log(rates), qualities)(math.log(rate)))


@dataclass(frozen=True)
class PictureCurves:
    """All curves of one picture, curves of mmpcodec first."""

    sha256: str
    name: str
    width: int
    height: int
    curves: tuple[Curve, ...]

    def curve(self, codec: str) -> Curve | None:
        """Return the curve of a codec; None if there is none."""
        return next((curve for curve in self.curves if curve.codec == codec), None)


@dataclass(frozen=True)
class Delta:
    """Bjontegaard deltas of a curve against an anchor.

    Parameters
    ----------
    rate, rate_pchip : float or None
        Mean difference of rate at equal quality, in per cent, by Akima's interpolation and by
        PCHIP. Negative numbers mean fewer bits than the anchor.
    quality, quality_pchip : float or None
        Mean difference of quality at equal rate, in units of the metric.
    overlap : float
        Part of the shorter range of quality that both curves cover, from 0 to 1.
    problem : str
        Reason why a number is missing, or an empty string.
    """

    rate: float | None = None
    rate_pchip: float | None = None
    quality: float | None = None
    quality_pchip: float | None = None
    overlap: float = 0.0
    problem: str = ""


def grouped(rows: Sequence[Row]) -> list[PictureCurves]:
    """Return the curves of each picture, pictures in the order of their first result."""
    by_picture: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        by_picture.setdefault(row["picture"], {}).setdefault(row["codec"], []).append(row)
    found = []
    for sha256, by_codec in by_picture.items():
        curves = [
            Curve(codec, tuple(sorted(found, key=lambda row: row.get("bytes", math.inf))))
            for codec, found in by_codec.items()
        ]
        curves.sort(key=lambda curve: not curve.ours)
        first = next(iter(by_codec.values()))[0]
        found.append(
            PictureCurves(sha256, first["name"], first["width"], first["height"], tuple(curves))
        )
    return found


def without_container(rows: Sequence[Row], containers: Mapping[str, int]) -> list[Row]:
    """Return the rows with the bytes of a container subtracted from the sizes of some codecs.

    Parameters
    ----------
    rows : sequence of dict
    containers : mapping of str to int
        Bytes of the container to subtract from each file, by codec string.

    Raises
    ------
    ParameterError
        When no row has the codec, or a file of the codec is not larger than the container.
    """
    names = {row["codec"] for row in rows}
    if unknown := next((codec for codec in containers if codec not in names), None):
        raise ParameterError(f"container of {unknown!r}: must be one of {', '.join(sorted(names))}")
    found = []
    for row in rows:
        less = containers.get(row["codec"], 0)
        if less and "bytes" in row:
            left = row["bytes"] - less
            if left <= 0:
                raise ParameterError(
                    f"container of {row['codec']!r} = {less}: must be from 1 to "
                    f"{row['bytes'] - 1}, for a file of {row['name']} has {row['bytes']} bytes"
                )
            settings = f"{row['settings']}, less {less} bytes of container"
            bpp = 8 * left / (row["width"] * row["height"])
            row = {**row, "bytes": left, "bpp": bpp, "settings": settings}
        found.append(row)
    return found


def codecs_in(pictures: Sequence[PictureCurves]) -> list[str]:
    """Return all codec strings, those of mmpcodec first."""
    names = {curve.codec: curve.ours for picture in pictures for curve in picture.curves}
    return sorted(names, key=lambda name: not names[name])


def anchor_in(pictures: Sequence[PictureCurves], wanted: str | None) -> str:
    """Return the codec string of the anchor: ``wanted``, else the first that is not mmpcodec.

    Raises
    ------
    ParameterError
        When the results have no codec ``wanted``.
    """
    names = codecs_in(pictures)
    if wanted is None:
        return next((name for name in names if name.partition(":")[0] != OURS), names[0])
    if wanted not in names:
        raise ParameterError(f"anchor {wanted!r}: must be one of {', '.join(names)}")
    return wanted


def delta(anchor: Curve | None, test: Curve, metric: str = "psnr") -> Delta:
    """Compute the Bjontegaard deltas of a curve against an anchor.

    Source: Bjontegaard, "Calculation of average PSNR differences between RD-curves", ITU-T
    VCEG-M33, 2001, with the interpolations of the package bjontegaard in place of a polynomial.

    Raises
    ------
    MissingExtra
        When the package bjontegaard is missing.
    """
    if anchor is None:
        return Delta(problem="no anchor")
    (rates_a, qualities_a), (rates_t, qualities_t) = anchor.frontier(metric), test.frontier(metric)
    if min(len(rates_a), len(rates_t)) < MIN_POINTS:
        whose = "anchor has " if len(rates_a) < MIN_POINTS else ""
        return Delta(problem=f"{whose}fewer than {MIN_POINTS} points")
    covered = _overlap(qualities_a, qualities_t)
    if covered == 0:
        return Delta(problem="no overlap")
    try:
        from bjontegaard import bd_psnr, bd_rate
    except ImportError as error:
        raise MissingExtra(f"BD-rate: needs bjontegaard; {install('bench')}") from error

    def values(function) -> list[float]:
        return [
            float(
                function(
                    rates_a,
                    qualities_a,
                    rates_t,
                    qualities_t,
                    method=method,
                    require_matching_points=False,
                    min_overlap=0,
                )
            )
            for method in ("akima", "pchip")
        ]

    rate, rate_pchip = values(bd_rate)
    if _overlap(np.log(rates_a), np.log(rates_t)) == 0:
        return Delta(rate, rate_pchip, overlap=covered, problem="no overlap of rates")
    quality, quality_pchip = values(bd_psnr)
    return Delta(rate, rate_pchip, quality, quality_pchip, covered)


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Return the length that two ranges share, divided by the length of the shorter range."""
    common = min(a[-1], b[-1]) - max(a[0], b[0])
    return max(0.0, float(common / min(a[-1] - a[0], b[-1] - b[0])))


def mean_delta(deltas: Sequence[Delta]) -> Delta:
    """Return the means of the deltas that have numbers; ``problem`` counts the others."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    without = sum(d.rate is None for d in deltas)
    return Delta(
        mean([d.rate for d in deltas]),
        mean([d.rate_pchip for d in deltas]),
        mean([d.quality for d in deltas]),
        mean([d.quality_pchip for d in deltas]),
        mean([d.overlap for d in deltas if d.rate is not None]) or 0.0,
        f"without {without} of {len(deltas)}" if without else "",
    )
