"""Operations in C++, on all processor cores; see ``kernels/cpu/solvers/selection/selection.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.selection.keys import key_type

ALONE = 1 << 17
"""Fewer values are searched by one thread: starting others takes longer."""
ALONE_IN_LINES = 1 << 21
"""The same for lines, which sorting networks search faster."""


_NAMES = "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"
TYPES: frozenset[np.dtype] = frozenset(map(np.dtype, _NAMES))
"""Types that C++ reads as they are."""


def kth_of_few(values: np.ndarray, k: int) -> np.generic | None:
    """Return the k-th smallest value in a few microseconds; None where other ways are needed.

    NaN is the answer if a value is NaN.
    """
    flags, size = values.flags, values.size
    plain = flags.c_contiguous and flags.aligned and values.dtype in TYPES
    if not (plain and 0 < k <= size < ALONE):
        return None
    found = np.empty(1, values.dtype)
    _cpu.kth_value(values, k - 1, found)
    return found[0]


def select(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """See the function in ``reference``."""
    keys = np.empty(len(ranks), np.uint64)
    threads = 1 if values.size < ALONE else processors()
    nans = _cpu.select(_plain(values), ranks, keys, threads)
    return keys, nans


def select_lines(lines: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    count = lines.shape[0] * lines.shape[2]
    keys = np.empty((count, ranks.shape[1]), key_type(lines.dtype))
    nans = np.zeros(count, np.int64)
    threads = 1 if lines.size < ALONE_IN_LINES else processors()
    ranks = np.ascontiguousarray(ranks, np.int64)
    _cpu.select_lines(_plain(lines), ranks, keys, nans, threads)
    return keys, nans


def digit_counts(values: np.ndarray, prefix: int, shift: int, bits: int) -> np.ndarray:
    """See the function in ``reference``."""
    counts = np.empty(1 << bits, np.int64)
    _cpu.digit_counts(_plain(values), prefix, shift, bits, counts, processors())
    return counts


def _plain(values: np.ndarray) -> np.ndarray:
    """Return an array that C++ can read: in C order, aligned for its type, bool as uint8."""
    if values.dtype == bool:
        values = values.view(np.uint8)
    flags = values.flags
    return values if flags.c_contiguous and flags.aligned else np.require(values, None, ["C", "A"])
