"""The values that occur in a plane.

Source: part "Values" of section "Lossless samples" of ``docs/format/format.md``.
"""

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import ONE, BinaryModels, BitCoder


def code_values(
    coder: BitCoder,
    depth: int,
    used: np.ndarray | None,
    wanted: int,
) -> np.ndarray:
    """Code which values occur in a plane.

    Parameters
    ----------
    coder : BitCoder
    depth : int
        Bits of a sample.
    used : (2**depth,) bool array or None
        Whether each value occurs, to encode; None decodes.
    wanted : int
        1 to encode one bit for each value, 0 to encode that all values occur. Used only when
        encoding.

    Returns
    -------
    (N,) int array
        The values that occur, in ascending order.

    Raises
    ------
    CorruptStream
        If no value occurs.
    """
    if not coder.bit("map", ONE // 2, None if used is None else wanted):
        return np.arange(1 << depth)
    models, last, found = BinaryModels("map", (2,)), 0, []
    for value in range(1 << depth):
        last = models.code(coder, (last,), None if used is None else int(used[value]))
        if last:
            found.append(value)
    if not found:
        raise CorruptStream("Lossless samples", "no value occurs")
    return np.array(found)


def map_pays(used: np.ndarray, samples: int) -> bool:
    """Return whether it pays to encode which values occur.

    *Encoder only*. It pays if less than 3/4 of the possible values occur, and if the number of
    possible values is below four times the number of samples.
    """
    return 4 * int(used.sum()) < 3 * len(used) and len(used) < 4 * samples


def used_values(plane: np.ndarray, depth: int) -> np.ndarray:
    """Return whether each value occurs in a plane, a (2**depth,) bool array."""
    used = np.zeros(1 << depth, bool)
    used[plane] = True
    return used
