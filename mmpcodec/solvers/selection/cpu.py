"""Operations in C++, on all processor cores; see ``kernels/cpu/solvers/selection/selection.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.selection.keys import key_type

ALONE = 1 << 17
"""Fewer values are searched by one thread: starting others takes longer."""
ALONE_IN_LINES = 1 << 21
"""The same for lines, which sorting networks search faster."""


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
