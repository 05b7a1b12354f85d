"""Operations in C++, on all processor cores; see ``kernels/cpu/solvers/max_sum/max_sum.h``."""

import numpy as np

from mmpcodec._cpu import (
    interval_census,
    max_interval,
    maximal_intervals,
    sums_through,
)
from mmpcodec._cpu import max_rectangle as _max_rectangle
from mmpcodec._cpu import strip_maxima as _strip_maxima
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.max_sum.reference import Limits

__all__ = [
    "interval_census",
    "max_interval",
    "max_rectangle",
    "maximal_intervals",
    "strip_maxima",
    "sums_through",
]


def max_rectangle(
    values: np.ndarray, heights: Limits, widths: Limits, transposed: bool
) -> tuple[int, int, int, int, int]:
    """See the function in ``reference``."""
    return _max_rectangle(values, heights, widths, transposed, processors())


def strip_maxima(values: np.ndarray) -> np.ndarray:
    """See the function in ``reference``."""
    return _strip_maxima(values, processors())
