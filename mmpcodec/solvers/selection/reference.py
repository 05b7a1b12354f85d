"""Reference of each operation in NumPy; the other backends must return the same answers.

Arrays are in C order. Ranks count from 0 and ascend. Keys come from ``keys.to_keys``, as uint64.
"""

import numpy as np

from mmpcodec.solvers.selection.keys import to_keys


def select(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """Return the keys at M ranks of an (N,) array, as (M,) uint64, and the number of NaN."""
    keys = np.sort(to_keys(values))
    return keys[ranks].astype(np.uint64), _nans(values)


def select_rows(rows: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys at (R, M) ranks of the rows of an (R, N) array, and (R,) numbers of NaN."""
    keys = np.sort(to_keys(rows), axis=1)
    nans = np.array([_nans(row) for row in rows])
    return np.take_along_axis(keys, ranks, axis=1).astype(np.uint64), nans


def digit_counts(values: np.ndarray, prefix: int, shift: int, bits: int) -> np.ndarray:
    """Count, for each digit (key >> shift) % 2**bits, the keys that begin with ``prefix``.

    A key begins with the prefix if key >> shift >> bits equals prefix >> shift >> bits. The answer
    is a (2**bits,) int64 array.
    """
    keys = to_keys(values).astype(np.uint64) >> np.uint64(shift)
    begin = (keys >> np.uint64(bits)) == np.uint64(prefix >> shift >> bits)
    digits = keys[begin] & np.uint64((1 << bits) - 1)
    return np.bincount(digits.astype(np.int64), minlength=1 << bits)


def _nans(values: np.ndarray) -> int:
    return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
