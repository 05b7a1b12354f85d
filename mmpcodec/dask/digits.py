"""Selection from all values of a Dask array, by rounds of digit counts; see ``selection``."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.dask import rounds
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import module_of
from mmpcodec.solvers.selection import Search, digit_counts, statistics
from mmpcodec.solvers.selection.keys import from_keys, key_type, to_keys
from mmpcodec.solvers.selection.shards import candidates
from mmpcodec.solvers.selection.statistics import Statistic


def empty(array: Any) -> ParameterError:
    """Return the error of an array without values."""
    return ParameterError(f"array of shape {array.shape}: must not be empty")


class _Survey(NamedTuple):
    """What the first round finds.

    Parameters
    ----------
    size, nans : int
        Number of values and of NaN.
    ends : tuple of int
        Smallest and largest key, NaN left out; empty without such values.
    counts : (2**bits,) array of unsigned integers
        Numbers of values by the first digit.
    """

    size: int
    nans: int
    ends: tuple[int, ...]
    counts: np.ndarray


def of_all(array: Any, asked: Statistic, nan: str, gather: int, backend: str) -> Any:
    """Return the answers for all values of an array; the arguments are checked but for the size.

    Raises
    ------
    ParameterError
        When the array is empty, lacks a rank, or holds NaN that ``nan`` forbids.
    """
    dtype = np.dtype(array.dtype)
    found = rounds.ask(array, partial(_survey, dtype=dtype, backend=backend), _joined)
    if found.size == 0:
        raise empty(array)
    counts = np.array([found.size - (found.nans if nan == "omit" else 0)])
    ranks = asked.ranks(counts)
    if found.nans and nan == "raise":
        raise statistics.forbidden(found.nans)
    if found.nans and nan == "propagate":
        values = np.full(ranks.shape, np.nan, dtype)
    elif not found.ends:
        values = from_keys(np.full(ranks.shape, np.iinfo(key_type(dtype)).max), dtype)
    else:
        different = np.unique(ranks)
        keys = _keys_at(different.tolist(), found, array, gather, backend)
        values = from_keys(keys[np.searchsorted(different, ranks)], dtype)
    answers = asked.answer(values, counts)[0]
    return answers if asked.several else answers[0]


def _survey(chunk: Any, *, dtype: np.dtype, backend: str) -> _Survey:
    first = Search(dtype, 1, 1)
    counts = digit_counts(chunk, first, backend=backend)
    xp = module_of(chunk)
    nans = int(xp.isnan(chunk).sum()) if dtype.kind == "f" else 0
    ends: tuple[int, ...] = ()
    if chunk.size > nans:
        least, most = (xp.nanmin, xp.nanmax) if nans else (xp.min, xp.max)
        ends = _key(least(chunk), -0.0, dtype), _key(most(chunk), 0.0, dtype)
    return _Survey(chunk.size, nans, ends, _narrow(counts))


def _key(value: Any, zero: float, dtype: np.dtype) -> int:
    """Return the key of a value; of both zeros, which compare as equal, the key of ``zero``."""
    value = np.array([value.item() or zero] if dtype.kind == "f" else [value.item()], dtype)
    return int(to_keys(value)[0])


def _joined(surveys: list[_Survey]) -> _Survey:
    ends = [key for survey in surveys for key in survey.ends]
    return _Survey(
        sum(survey.size for survey in surveys),
        sum(survey.nans for survey in surveys),
        (min(ends), max(ends)) if ends else (),
        _sum([survey.counts for survey in surveys]),
    )


def _keys_at(
    ranks: list[int],
    found: _Survey,
    array: Any,
    gather: int,
    backend: str,
) -> np.ndarray:
    """Return the keys at different ranks, as uint64."""
    searches = [Search(array.dtype, rank + 1, found.size) for rank in ranks]
    least, largest = found.ends
    shares = 8 * array.dtype.itemsize - (least ^ largest).bit_length()
    for search in searches:
        if shares >= search.bits:
            search.skip(least, largest)
        else:
            search.take(found.counts)
    while not searches[0].done:
        by_prefix = {search.prefix: search for search in searches}
        different = list(by_prefix.values())
        if sum(search.candidates for search in different) <= gather:
            keys = rounds.ask(array, partial(_candidates, searches=different), np.concatenate)
            return _among(searches, np.sort(keys))
        ask = partial(_digits, searches=different, backend=backend)
        counts = rounds.ask(array, ask, _sum)
        rows = dict(zip(by_prefix, counts, strict=True))
        for search in searches:
            search.take(rows[search.prefix])
    return np.array([search.prefix for search in searches], np.uint64)


def _digits(chunk: Any, *, searches: list[Search], backend: str) -> np.ndarray:
    return _narrow(np.array([digit_counts(chunk, search, backend=backend) for search in searches]))


def _candidates(chunk: Any, *, searches: list[Search]) -> np.ndarray:
    return np.concatenate([candidates(chunk, search) for search in searches])


def _among(searches: list[Search], keys: np.ndarray) -> np.ndarray:
    """Return the keys that searches seek among the sorted keys of all candidates."""
    starts = np.searchsorted(keys, np.array([search.prefix for search in searches], keys.dtype))
    return keys[starts + np.array([search.rank for search in searches])].astype(np.uint64)


def _sum(counts: list[np.ndarray]) -> np.ndarray:
    return _narrow(sum(counts[1:], counts[0].astype(np.int64)))


def _narrow(counts: np.ndarray) -> np.ndarray:
    """Return counts in the smallest type that holds them, because they are sent."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
