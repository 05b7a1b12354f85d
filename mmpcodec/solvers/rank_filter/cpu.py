"""Operations in C++; see the headers in ``kernels/cpu/solvers/rank_filter``.

The least and the greatest value of a rectangle are found along columns, then along rows. Networks
of comparisons find the other ranks of small windows. For larger ones, histograms slide over the
picture, or sets of bits where the window is not a rectangle.
"""

import numpy as np

from mmpcodec import _cpu
from mmpcodec.runtime.machine import processors
from mmpcodec.solvers.rank_filter.network import network
from mmpcodec.solvers.rank_filter.reference import Border, Cells, Window

NETWORK_CELLS = {1: 169, 2: 169, 4: 121, 8: 121}
"""Largest number of cells of a rectangle that a network searches, by bytes of a sample."""
SHAPE_CELLS = {1: 400, 2: 256, 4: 144, 8: 100}
"""The same of other windows."""
THREAD_BYTES = 1 << 22
"""Bytes of a picture per thread for the quickest filters: a thread takes long to start."""
NETWORK_STEPS = 8
"""Steps of a network that take about the time of the quickest filters."""


def ranked(
    samples: np.ndarray, border: Border, window: Window, rank: int, cells: Cells = None
) -> np.ndarray | None:
    """See the function in ``reference``."""
    samples = np.require(samples, None, ["C", "A"])  # C++ reads aligned values in C order
    out = np.empty(_shape(border, window), samples.dtype)
    area = window[0] * window[1] if cells is None else int(np.count_nonzero(cells))
    most = (NETWORK_CELLS if cells is None else SHAPE_CELLS)[samples.dtype.itemsize]
    if cells is None and rank in (0, area - 1):
        nan = _cpu.extreme_filter(samples, border, window, rank > 0, out, _threads(out, 1))
    elif cells is None and window in ((3, 3), (5, 5)) and rank == area // 2:
        work = area // 9
        nan = _cpu.median_filter(samples, border, window, out, _threads(out, work))
    elif area <= most:
        belong = bytes([1]) * area if cells is None else cells.tobytes()
        steps, lines, answer = network(window, belong, rank)
        nan = _cpu.network_filter(samples, border, window, steps, lines, answer, out, processors())
    else:
        ranks = np.full(area + 1, rank, np.int32)
        if cells is None:
            nan = _cpu.rank_filter(samples, None, border, window, ranks, out, None, processors())
        else:
            nan = _cpu.shape_filter(
                samples, None, border, cells.view(np.uint8), ranks, out, None, processors()
            )
    return None if nan else out


def ranked_of_valid(
    samples: np.ndarray,
    valid: np.ndarray,
    border: Border,
    window: Window,
    ranks: np.ndarray,
    cells: Cells = None,
) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    out = np.empty(_shape(border, window), samples.dtype)
    found = np.empty(out.shape, bool)
    samples = np.require(samples, None, ["C", "A"])
    planes = samples, valid.view(np.uint8), border
    results = ranks, out, found.view(np.uint8), processors()
    if cells is None:
        _cpu.rank_filter(*planes, window, *results)
    else:
        _cpu.shape_filter(*planes, cells.view(np.uint8), *results)
    return out, found


def _threads(out: np.ndarray, work: int) -> int:
    """Return the number of threads for work that takes ``work`` times that of a quick filter."""
    return min(processors(), max(1, out.nbytes * work // THREAD_BYTES))


def _shape(border: Border, window: Window) -> tuple[int, ...]:
    return tuple(len(lines) - side + 1 for lines, side in zip(border, window, strict=True))
