"""Operations in C++, on all processor cores; see ``kernels/cpu/solvers/selection/selection.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors


def select(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """See the function in ``reference``."""
    keys = np.empty(len(ranks), np.uint64)
    nans = _cpu.select(_plain(values), ranks, keys, processors())
    return keys, nans


def select_rows(rows: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    keys = np.empty(ranks.shape, np.uint64)
    nans = np.zeros(len(rows), np.int64)
    _cpu.select_rows(_plain(rows), np.ascontiguousarray(ranks, np.int64), keys, nans, processors())
    return keys, nans


def digit_counts(values: np.ndarray, prefix: int, shift: int, bits: int) -> np.ndarray:
    """See the function in ``reference``."""
    counts = np.empty(1 << bits, np.int64)
    _cpu.digit_counts(_plain(values), prefix, shift, bits, counts, processors())
    return counts


def _plain(values: np.ndarray) -> np.ndarray:
    """Return an array that C++ can read: in C order, aligned for its type, bool as uint8."""
    return np.require(values.view(np.uint8) if values.dtype == bool else values, None, ["C", "A"])
