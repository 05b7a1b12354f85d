"""Selection from an array that is spread over several places, the shards, without moving values.

In each round, each shard counts one digit of its keys, and the sum of the counts gives the digit of
the answer. A shard sends at most 2048 numbers a round. 32-bit values take three rounds.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, on_device
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.selection.keys import check_type, from_keys, key_type, native, to_keys

DIGIT_BITS = 11
PART = 1 << 20
"""Number of values whose keys ``candidates`` holds at once."""


class Search:
    """Search for the k-th smallest value of all shards; NaN come last.

    Parameters
    ----------
    dtype : data type
        Type of the values of all shards.
    k : int
        Rank, where 1 is the smallest value.
    count : int
        Number of values of all shards.

    Attributes
    ----------
    candidates : int
        Number of values that begin with the known digits of the answer.

    Raises
    ------
    ParameterError
        When there is no k-th value, or the type is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.solvers.selection import Search, digit_counts
    >>> shards = [np.array([5, 1]), np.array([4]), np.array([1, 9, 7])]
    >>> search = Search(shards[0].dtype, 3, 6)
    >>> while not search.done:
    ...     search.take(sum(digit_counts(shard, search) for shard in shards))
    >>> int(search.value)
    4
    """

    def __init__(self, dtype: Any, k: int, count: int):
        k = check_int("k", k, 1, count, ", the number of values")
        self.dtype = np.dtype(dtype).newbyteorder("=")
        check_type(np.empty(0, self.dtype))
        self.rank = k - 1
        self.candidates = count
        self.prefix = 0
        self.shift = 8 * self.dtype.itemsize
        self._next_digit()

    def _next_digit(self) -> None:
        self.bits = min(DIGIT_BITS, self.shift)
        self.shift -= self.bits

    @property
    def done(self) -> bool:
        """Whether the value is known."""
        return self.bits == 0

    def skip(self, least: int, largest: int) -> None:
        """Skip the leading bits that the keys of all values share; allowed before the first round.

        Parameters
        ----------
        least, largest : int
            Keys of the smallest and the largest value. The answer must lie between them; values
            outside, such as NaN, must come after the answer.
        """
        self.shift = (least ^ largest).bit_length()
        self.prefix = least >> self.shift << self.shift
        self._next_digit()

    def take(self, counts: NDArray[np.integer]) -> None:
        """Find the next digit of the answer from the counts of one round.

        Parameters
        ----------
        counts : (2**bits,) array of int64
            Sum of ``digit_counts`` of all shards.

        Raises
        ------
        ParameterError
            When the counts have the wrong shape or add up to too few values.
        """
        if self.done or np.shape(counts) != (1 << self.bits,):
            wanted = 0 if self.done else 1 << self.bits
            raise ParameterError(f"counts of shape {np.shape(counts)}: must be {wanted} numbers")
        sums = np.cumsum(counts)
        digit = int(np.searchsorted(sums, self.rank, side="right"))
        if digit == len(sums):
            raise ParameterError(
                f"counts: {int(sums[-1])} values are fewer than the count of the search"
            )
        self.rank -= int(sums[digit - 1]) if digit else 0
        self.candidates = int(counts[digit])
        self.prefix |= digit << self.shift
        self._next_digit()

    @property
    def value(self) -> Any:
        """The k-th smallest value.

        Raises
        ------
        ParameterError
            When the search is not done.
        """
        if not self.done:
            raise ParameterError(f"value: {self.shift + self.bits} bits of it are still unknown")
        return from_keys(np.array([self.prefix], np.uint64), self.dtype)[0]


def digit_counts(values: Any, search: Search, *, backend: str = "auto") -> NDArray[np.int64]:
    """Count the next digit of a search in one shard.

    Parameters
    ----------
    values : array
        The shard, of any shape; may be empty.
    search : Search
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    (2**bits,) int64 array

    Raises
    ------
    ParameterError
        When the shard's type differs from the search's type, or the search is done.
    """
    values = _shard(values, search)
    operations = dispatch.operations(__package__, backend, values)
    flat = values.reshape(-1)
    if flat.size == 0:
        return np.zeros(1 << search.bits, np.int64)
    flat = flat if flat.flags.c_contiguous else flat.copy()
    return operations.digit_counts(flat, search.prefix, search.shift, search.bits)


def candidates(values: Any, search: Search) -> NDArray[np.unsignedinteger]:
    """Return the keys of the values of one shard that may be the answer of a search.

    Parameters
    ----------
    values, search
        As in ``digit_counts``, which also lists the errors.

    Returns
    -------
    (N,) array of unsigned integers of the item size of the values
        In host memory, in no particular order; see ``keys.to_keys``.
    """
    flat = _shard(values, search).reshape(-1)
    known = search.shift + search.bits
    keys_type = key_type(search.dtype)
    # A shift by all bits of a key is undefined, and then all values are candidates.
    all_of_them = known == 8 * keys_type.itemsize
    least = search.prefix >> known << known
    ends = from_keys(np.array([least, least + (1 << known) - 1], keys_type), search.dtype)
    found = [np.empty(0, keys_type)]
    for start in range(0, flat.size, PART):
        part = flat[start : start + PART]
        if not all_of_them:
            # Faster than keys of all values. NaN and both zeros may stay; their keys decide.
            with np.errstate(invalid="ignore"):
                part = part[~((part < ends[0]) | (part > ends[1]))]
        keys = to_keys(part)
        if not all_of_them:
            keys = keys[keys >> keys_type.type(known) == keys_type.type(least >> known)]
        found.append(keys.get() if on_device(keys) else keys)
    return np.concatenate(found)


def _shard(values: Any, search: Search) -> Any:
    values = native(as_array("values", values))
    if search.done:
        raise ParameterError("search: is done")
    if values.dtype != search.dtype:
        raise ParameterError(f"values of type {values.dtype}: the search is for {search.dtype}")
    return values


def kth_of_shards(shards: Iterable[Any], k: int, *, backend: str = "auto") -> Any:
    """Return the k-th smallest value of several arrays; NaN come last.

    Parameters
    ----------
    shards : arrays
        Arrays of one type and any shapes; each is read several times.
    k : int
        Rank, where 1 is the smallest value.
    backend : {"auto", "cpu", "cuda", "reference"}

    Raises
    ------
    ParameterError
        When there are no shards, their types differ, or there is no k-th value.
    """
    shards = [as_array("shards", shard) for shard in shards]
    if not shards:
        raise ParameterError("shards: must not be empty")
    search = Search(shards[0].dtype, k, sum(shard.size for shard in shards))
    while not search.done:
        counts = [digit_counts(shard, search, backend=backend) for shard in shards]
        search.take(np.sum(counts, axis=0))
    return search.value
