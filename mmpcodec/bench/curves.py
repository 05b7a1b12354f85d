"""Rate-distortion curves from rows of results, and Bjontegaard deltas between two of them.

Rates are bits per pixel of whole files.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import CHROMA, OURS
from mmpcodec.bench.metrics import METRICS
from mmpcodec.bench.rows import EARLIER, Row
from mmpcodec.depth import BYTE
from mmpcodec.errors import MissingExtra, ParameterError, install
from mmpcodec.samples import Form

MIN_POINTS = 4
"""Smallest number of points of a curve for a Bjontegaard delta."""

Range = tuple[float, float]
"""The least and the largest value of a metric that a BD-rate counts."""


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
            Qualities are negative where less is better.
        """
        points: list[tuple[float, float]] = []
        for row in self.good:
            value = row.get(metric)
            if value is None:
                continue
            value *= METRICS[metric].sign
            if not points or (value > points[-1][1] and row["bpp"] > points[-1][0]):
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
        found = float(Akima1DInterpolator(np.log(rates), qualities)(math.log(rate)))
        return found * METRICS[metric].sign


@dataclass(frozen=True)
class PictureCurves:
    """All curves of one picture, curves of mmpcodec first.

    ``form`` is the title of a ``Form``, ``depth`` the bits per sample.
    """

    sha256: str
    name: str
    width: int
    height: int
    curves: tuple[Curve, ...]
    form: str = Form.GRAY.title
    depth: int = BYTE

    @property
    def title(self) -> str:
        """Name, size, form and depth; form and depth are left out for 8-bit gray."""
        plain = (self.form, self.depth) == (Form.GRAY.title, BYTE)
        kind = "" if plain else f", {self.form} of {self.depth} bit{'s' * (self.depth > 1)}"
        return f"{self.name}, {self.width}x{self.height}{kind}"

    @property
    def kind(self) -> str:
        """Kind of pictures that tables may compare: the form, and fewer or more bits than 8."""
        if self.depth == BYTE:
            return f"{self.form} of 8 bits"
        return f"{self.form} of {'1 to 7' if self.depth < BYTE else '9 to 16'} bits"

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
        Mean difference of the metric at equal rate, in its unit.
    overlap : float
        Part of the shorter range of quality that both curves cover, from 0 to 1; with limits, part
        of the limits.
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
        first = {**EARLIER, **next(iter(by_codec.values()))[0]}
        facts = {name: first[name] for name in ("name", "width", "height", "form", "depth")}
        found.append(PictureCurves(sha256, curves=tuple(curves), **facts))
    return found


def by_kind(pictures: Sequence[PictureCurves]) -> dict[str, list[PictureCurves]]:
    """Return the pictures of each kind, kinds in the order of their first picture."""
    found: dict[str, list[PictureCurves]] = {}
    for picture in pictures:
        found.setdefault(picture.kind, []).append(picture)
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


def anchors_in(pictures: Sequence[PictureCurves], wanted: str | None) -> dict[str, str]:
    """Return the codec string of the anchor of each kind of pictures.

    It is ``wanted``, or where a kind lacks it, ``wanted`` with another chroma. Without both it is
    the first codec that is not mmpcodec and has a result, or else the first codec.

    Raises
    ------
    ParameterError
        When no kind has ``wanted``, with any chroma.
    """
    base = None if wanted is None else without_chroma(wanted)
    found = {}
    for kind, own in by_kind(pictures).items():
        names = codecs_in(own)
        same = sorted(
            (name for name in names if without_chroma(name) == base),
            key=lambda name: name != wanted,
        )
        measured = {curve.codec for picture in own for curve in picture.curves if curve.good}
        peers = [name for name in names if name in measured and name.partition(":")[0] != OURS]
        found[kind] = (same or peers or names)[0]
    if base is not None and base not in map(without_chroma, found.values()):
        names = codecs_in(pictures)
        raise ParameterError(f"anchor {wanted!r}: must be one of {', '.join(names)}")
    return found


def without_chroma(codec: str) -> str:
    """Return a codec string without the option chroma, which codecs of gray lack.

    Examples
    --------
    >>> from mmpcodec.bench.curves import without_chroma
    >>> without_chroma("avif:chroma=420,tune=psnr"), without_chroma("jpeg:chroma=444")
    ('avif:tune=psnr', 'jpeg')
    """
    return re.sub(rf"(?<=[:,]){CHROMA}=[^,]*,?", "", codec).rstrip(":,")


def delta(
    anchor: Curve | None, test: Curve, metric: str = "psnr", limits: Range | None = None
) -> Delta:
    """Compute the Bjontegaard deltas of a curve against an anchor.

    The BD-rate is the mean over the range of the metric that both curves cover, and that the limits
    allow. The mean difference of the metric is over the rates that both cover.

    Source: Bjontegaard, "Calculation of average PSNR differences between RD-curves", ITU-T
    VCEG-M33, 2001, with the interpolations of the package bjontegaard in place of a polynomial.

    Parameters
    ----------
    anchor : Curve or None
    test : Curve
    metric : str
        Key of a metric.
    limits : tuple of two float or None
        Least and largest value of the metric that the BD-rate counts; None for no limits.

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
    sign = METRICS[metric].sign
    ends = [np.sort(sign * np.array(limits))] if limits else []
    low, high, covered = _shared(qualities_a, qualities_t, *ends)
    if covered == 0:
        return Delta(problem="no overlap")
    try:
        from bjontegaard import bd_psnr, bd_rate
    except ImportError as error:
        raise MissingExtra(f"BD-rate: needs bjontegaard; {install('bench')}") from error

    def interpolated(function, method: str) -> Any:
        return function(
            *(rates_a, qualities_a, rates_t, qualities_t),
            method=method,
            require_matching_points=False,
            interpolators=True,
            min_overlap=0,
        )

    def rate_of(method: str) -> float:
        _, *curves = interpolated(bd_rate, method)
        areas = [float(curve.integrate(low, high)) for curve in curves]
        return 100 * (10 ** ((areas[1] - areas[0]) / (high - low)) - 1)

    rate, rate_pchip = map(rate_of, ("akima", "pchip"))
    if _shared(np.log(rates_a), np.log(rates_t))[2] == 0:
        return Delta(rate, rate_pchip, overlap=covered, problem="no overlap of rates")
    quality, quality_pchip = (
        sign * float(interpolated(bd_psnr, method)[0]) for method in ("akima", "pchip")
    )
    return Delta(rate, rate_pchip, quality, quality_pchip, covered)


def _shared(a: np.ndarray, b: np.ndarray, *limits: np.ndarray) -> tuple[float, float, float]:
    """Return the ends of the range that ascending ranges share, and its part of the limits.

    Without limits it is the part of the shorter range.
    """
    ranges = [a, b, *limits]
    low, high = max(each[0] for each in ranges), min(each[-1] for each in ranges)
    whole = min(each[-1] - each[0] for each in limits or (a, b))
    return float(low), float(high), max(0.0, float((high - low) / whole))


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
