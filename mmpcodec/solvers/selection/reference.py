"""Reference of each operation in NumPy; the other backends must return the same answers.

Arrays are in C order. Ranks count from 0. Keys come from ``keys.to_keys``.
"""

import numpy as np

from mmpcodec.solvers.selection.keys import to_keys


def select(values: np.ndarray, ranks: list[int]) -> tuple[np.ndarray, int]:
    """Return the keys at M ranks of an (N,) array, as (M,) uint64, and the number of NaN."""
    keys = np.sort(to_keys(values))
    return keys[ranks].astype(np.uint64), _nans(values)


def select_lines(lines: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the keys at the ranks of each line along axis 1 of an (A, N, B) array.

    Parameters
    ----------
    lines : (A, N, B) array
        Line a * B + b holds the values at (a, :, b).
    ranks : (1, M) or (A * B, M) array of int64
        In any order. One row serves all lines.

    Returns
    -------
    keys : (A * B, M) array of unsigned integers of the item size of the values
    nans : (A * B,) array of int64
        Numbers of NaN.
    """
    rows = np.moveaxis(lines, 1, 2).reshape(-1, lines.shape[1])
    keys = np.sort(to_keys(rows), axis=1)
    nans = np.array([_nans(row) for row in rows])
    return np.take_along_axis(keys, np.broadcast_to(ranks, (len(rows), ranks.shape[1])), 1), nans


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
