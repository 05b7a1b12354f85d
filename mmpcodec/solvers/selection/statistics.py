"""Order statistics as ranks: which values a statistic needs, and how they make its answer.

Ranks count from 0. An array of R lines has (R, M) ranks and (R, M) values at the ranks. One number
of values and one row of ranks serve for all lines if they are equal.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of

NAN_RULES = ("propagate", "omit", "raise")
CONVENTIONS = ("mean", "lower", "upper")
OFFSETS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""The numbers alpha and beta of methods whose rank is n q + alpha + q (1 - alpha - beta) - 1."""
INTERPOLATED = ("linear", "midpoint", "averaged_inverted_cdf", *OFFSETS)
"""Methods that interpolate between two values."""
METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", *OFFSETS),
    *("linear", "lower", "higher", "midpoint", "nearest"),
)


@dataclass(frozen=True)
class Statistic:
    """One or several order statistics of each line.

    Parameters
    ----------
    ranks : callable
        Function from the number of values of each line, (R,) int64, to (R, M) ranks, or to (1, M)
        ranks that serve all lines. It raises ParameterError if a line has no such rank.
    answer : callable
        Function from (R, M) values at the ranks and (R,) numbers of values to (R, A) answers.
    number : int
        A, the number of statistics.
    several : bool
        Whether the caller asked for a sequence of statistics.
    result : callable
        Function from the type of the values to the type of the answers.
    """

    ranks: Callable[[np.ndarray], np.ndarray]
    answer: Callable[[Any, np.ndarray], Any]
    number: int
    several: bool
    result: Callable[[np.dtype], np.dtype]


def smallest(k: int | Sequence[int]) -> Statistic:
    """Return the k-th smallest value, or the values of several ks.

    Raises
    ------
    ParameterError
        When a k is not an integer, or there is none.
    """
    ks = [check_int("k", one) for one in (k if isinstance(k, Iterable) else [k])]
    if not ks:
        raise ParameterError("k: must not be empty")

    wanted = np.array([[one - 1 for one in ks]], np.int64)

    def ranks(counts: np.ndarray) -> np.ndarray:
        least = counts.item() if counts.size == 1 else int(counts.min())
        if least < max(ks) or min(ks) < 1:
            for one in ks:
                check_int("k", one, 1, least, ", the number of values")
        return wanted

    return Statistic(ranks, _as_found, len(ks), isinstance(k, Iterable), np.dtype)


def middle(convention: str) -> Statistic:
    """Return the median.

    Raises
    ------
    ParameterError
        When there is no such convention.
    """
    if convention not in CONVENTIONS:
        raise ParameterError(
            f"convention = {convention!r}: must be one of {', '.join(CONVENTIONS)}"
        )
    both = np.array({"lower": [1], "upper": [0], "mean": [1, 0]}[convention])

    def ranks(counts: np.ndarray) -> np.ndarray:
        # The two middle values of odd numbers of values are one.
        asked = both if not (counts & 1).all() else both[:1]
        return np.maximum(counts[:, None] - asked, 0) // 2

    def mean(found: Any, counts: np.ndarray) -> Any:
        if found.shape[1] == 1:
            return found.astype(_mean(found.dtype), copy=False)
        return _halfway(found[:, :1], found[:, 1:])

    if convention == "mean":
        return Statistic(ranks, mean, 1, False, _mean)
    return Statistic(ranks, _as_found, 1, False, np.dtype)


def quantiles(q: float | Sequence[float], method: str) -> Statistic:
    """Return quantiles.

    Raises
    ------
    ParameterError
        When there is no such method, or a q is no number from 0 to 1.
    """
    if method not in METHODS:
        raise ParameterError(f"method = {method!r}: must be one of {', '.join(METHODS)}")
    try:
        wanted = np.atleast_1d(np.asarray(q, np.float64))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"q = {q!r}: must be numbers from 0 to 1") from error
    if wanted.ndim != 1 or not wanted.size or not ((wanted >= 0) & (wanted <= 1)).all():
        raise ParameterError(f"q = {q!r}: must be numbers from 0 to 1")

    if method not in INTERPOLATED:

        def single(counts: np.ndarray) -> np.ndarray:
            return _single_rank(method, counts[:, None], wanted)

        return Statistic(single, _as_found, wanted.size, bool(np.ndim(q)), np.dtype)

    def both(counts: np.ndarray) -> np.ndarray:
        low = np.floor(_place(method, counts[:, None], wanted))
        pairs = np.concatenate([low, low + 1], axis=1)
        return np.clip(pairs, 0, np.maximum(counts[:, None] - 1, 0)).astype(np.int64)

    def answer(found: Any, counts: np.ndarray) -> Any:
        place = _place(method, counts[:, None], wanted)
        part = place - np.floor(place)
        if method == "averaged_inverted_cdf":
            part = np.where(part > 0, 1.0, 0.5)
        return _between(found[:, : wanted.size], found[:, wanted.size :], part)

    return Statistic(both, answer, wanted.size, bool(np.ndim(q)), _mean)


def _place(method: str, counts: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the places of quantiles between ranks, as ``numpy.quantile`` computes them.

    Source: R. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American
    Statistician 1996.
    """
    if method in OFFSETS:
        alpha, beta = OFFSETS[method]
        return counts * q + (alpha + q * (1 - alpha - beta)) - 1
    if method == "averaged_inverted_cdf":
        return counts * q - 1
    place = np.maximum(counts - 1, 0) * q
    return 0.5 * (np.floor(place) + np.ceil(place)) if method == "midpoint" else place


def _single_rank(method: str, counts: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the ranks of quantiles that are values of the array."""
    if method == "inverted_cdf":
        rank = np.ceil(counts * q - 1)
    elif method == "closest_observation":
        # Of two equally near values the one of even rank, counted from 1.
        place = counts * q - 1.5
        low = np.floor(place)
        rank = np.where((place == low) & (low % 2 == 1), low, low + 1)
    else:
        turn = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method]
        rank = turn(_place("linear", counts, q))
    return np.maximum(rank, 0).astype(np.int64)


def check_nan_rule(nan: str) -> None:
    """Check the argument ``nan``.

    Raises
    ------
    ParameterError
        When there is no such rule.
    """
    if nan not in NAN_RULES:
        raise ParameterError(f"nan = {nan!r}: must be one of {', '.join(NAN_RULES)}")


def forbidden(nans: int) -> ParameterError:
    """Return the error of ``nan="raise"``."""
    return ParameterError(f"values: {nans} are NaN, which nan='raise' forbids")


def _as_found(found: Any, counts: np.ndarray) -> Any:
    return found


def _mean(dtype: np.dtype) -> np.dtype:
    """Return the type of a number between two values."""
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def _halfway(low: Any, high: Any) -> Any:
    """Return the mean of two values, computed in float64; see ``_between``."""
    dtype, result = low.dtype, _mean(low.dtype)
    low, high = low.astype(np.float64), high.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = (low + high) / 2
    # Only zeros of two signs, and sums beyond float64, need a look.
    if dtype.kind != "f" or (dtype.itemsize < 8 and found.all()):
        return found.astype(result, copy=False)
    return _checked(found, low, high, 0.5, result)


def _between(low: Any, high: Any, part: Any) -> Any:
    """Return the number at ``part``, from 0 to 1, of the way from low to high.

    Floating-point values keep their type; other values give float64. The number is computed in
    float64, as ``numpy.quantile`` computes it.
    """
    xp = module_of(low)
    result = _mean(low.dtype)
    part = xp.asarray(part)
    low, high = low.astype(np.float64), high.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        difference = high - low
        found = xp.where(part < 0.5, low + difference * part, high - difference * (1 - part))
    return _checked(found, low, high, part, result)


def _checked(found: Any, low: Any, high: Any, part: Any, result: np.dtype) -> Any:
    """Return interpolated numbers without overflow, and ends as they are, in the given type."""
    xp = module_of(found)
    if not xp.isfinite(found).all():
        with np.errstate(over="ignore", invalid="ignore"):
            # The sum or difference of two large numbers may overflow although the result does not.
            apart = low * (1 - part) + high * part
        found = xp.where(xp.isfinite(found) | ~xp.isfinite(low) | ~xp.isfinite(high), found, apart)
        # Between a finite number and an infinity, the answer is the infinity.
        inside = (part > 0) & (part < 1)
        found = xp.where(inside & xp.isinf(low) & xp.isfinite(high), low, found)
        found = xp.where(inside & xp.isinf(high) & xp.isfinite(low), high, found)
    found = xp.where(part == 1, high, xp.where((low == high) | (part == 0), low, found))
    with np.errstate(over="ignore"):
        return found.astype(result, copy=False)
