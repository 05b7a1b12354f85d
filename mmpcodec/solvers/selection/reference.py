"""The readable definition of each operation, in NumPy; the judge of the other backends.

Arrays are in C order; ranks count from 0 and ascend; keys are those of ``keys.to_keys``, as uint64.
"""

import numpy as np

from mmpcodec.solvers.selection.keys import to_keys


def select(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """The keys of some ranks of an (N,) array, and the number of NaN."""
    keys = np.sort(to_keys(values))
    return keys[ranks].astype(np.uint64), _nans(values)


def select_rows(rows: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for each row of an (R, N) array: keys for (R, M) ranks, and (R,) numbers of NaN."""
    keys = np.sort(to_keys(rows), axis=1)
    nans = np.array([_nans(row) for row in rows])
    return np.take_along_axis(keys, ranks, axis=1).astype(np.uint64), nans


def digit_counts(values: np.ndarray, prefix: int, shift: int, bits: int) -> np.ndarray:
    """How many keys have each digit (key >> shift) % 2**bits, of those that begin with a prefix.

    They begin with it where key >> shift >> bits is prefix >> shift >> bits.
    """
    keys = to_keys(values).astype(np.uint64) >> np.uint64(shift)
    begin = (keys >> np.uint64(bits)) == np.uint64(prefix >> shift >> bits)
    digits = keys[begin] & np.uint64((1 << bits) - 1)
    return np.bincount(digits.astype(np.int64), minlength=1 << bits)


def _nans(values: np.ndarray) -> int:
    return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
