"""Order statistics as ranks: which values a statistic needs, and how they make its answer.

Ranks count from 0. An array of R lines has (R, M) ranks and (R, M) values at the ranks.
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
METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


@dataclass(frozen=True)
class Statistic:
    """One or several order statistics of each line.

    Parameters
    ----------
    ranks : callable
        Function from the number of values of each line, (R,) int64, to (R, M) ranks. It raises
        ParameterError if a line has no such rank.
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

    def ranks(counts: np.ndarray) -> np.ndarray:
        least = int(counts.min())
        for one in ks:
            check_int("k", one, 1, least, ", the number of values")
        return np.broadcast_to(np.array(ks, np.int64) - 1, (len(counts), len(ks)))

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
    both = {"lower": [1], "upper": [0], "mean": [1, 0]}[convention]

    def ranks(counts: np.ndarray) -> np.ndarray:
        return np.maximum(counts[:, None] - np.array(both), 0) // 2

    def mean(found: Any, counts: np.ndarray) -> Any:
        return _between(found[:, :1], found[:, 1:], 0.5)

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

    def places(counts: np.ndarray) -> np.ndarray:
        return wanted * np.maximum(counts[:, None] - 1, 0)

    def single(counts: np.ndarray) -> np.ndarray:
        turn = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method]
        return turn(places(counts)).astype(np.int64)

    def both(counts: np.ndarray) -> np.ndarray:
        exact = places(counts)
        return np.concatenate([np.floor(exact), np.ceil(exact)], axis=1).astype(np.int64)

    def answer(found: Any, counts: np.ndarray) -> Any:
        part = places(counts) - np.floor(places(counts))
        if method == "midpoint":
            part = np.where(part > 0, 0.5, 0.0)
        return _between(found[:, : wanted.size], found[:, wanted.size :], part)

    if method in ("linear", "midpoint"):
        return Statistic(both, answer, wanted.size, bool(np.ndim(q)), _mean)
    return Statistic(single, _as_found, wanted.size, bool(np.ndim(q)), np.dtype)


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


def _between(low: Any, high: Any, part: Any) -> Any:
    """Return low + (high - low) * part, computed in float64.

    Floating-point values keep their type; other values give float64.
    """
    xp = module_of(low)
    result = _mean(low.dtype)
    part = xp.asarray(part)
    low, high = low.astype(np.float64), high.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = xp.where(part == 0.5, (low + high) / 2, low + (high - low) * part)
        # The sum or difference of two large numbers may overflow although the result does not.
        apart = low * (1 - part) + high * part
    found = xp.where(xp.isfinite(found) | ~xp.isfinite(low) | ~xp.isfinite(high), found, apart)
    found = xp.where((low == high) | (part == 0), low, found)
    # Between a finite number and an infinity, the answer is the infinity.
    inside = (part > 0) & (part < 1)
    found = xp.where(inside & xp.isinf(low) & xp.isfinite(high), low, found)
    found = xp.where(inside & xp.isinf(high) & xp.isfinite(low), high, found)
    with np.errstate(over="ignore"):
        return found.astype(result)
