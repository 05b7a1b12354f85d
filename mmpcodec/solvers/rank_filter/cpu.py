"""Operations in C++; see ``kernels/cpu/solvers/rank_filter/rank_filter.h``."""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.rank_filter.reference import Border, Window


def ranked(samples: np.ndarray, border: Border, window: Window, rank: int) -> np.ndarray:
    """See the function in ``reference``."""
    samples = np.require(samples, None, ["C", "A"])  # C++ reads aligned values in C order
    out = np.empty(_shape(border, window), samples.dtype)
    ranks = np.full(window[0] * window[1] + 1, rank, np.int32)
    _cpu.rank_filter(samples, None, border, window, ranks, out, None, processors())
    return out


def ranked_of_valid(
    samples: np.ndarray, valid: np.ndarray, border: Border, window: Window, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    out = np.empty(_shape(border, window), samples.dtype)
    found = np.empty(out.shape, bool)
    samples = np.require(samples, None, ["C", "A"])
    counts = valid.view(np.uint8)
    _cpu.rank_filter(
        samples, counts, border, window, ranks, out, found.view(np.uint8), processors()
    )
    return out, found


def _shape(border: Border, window: Window) -> tuple[int, ...]:
    return tuple(len(lines) - side + 1 for lines, side in zip(border, window, strict=True))
