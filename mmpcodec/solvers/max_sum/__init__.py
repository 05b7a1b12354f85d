"""Maximum sums: the interval, rectangle or box of an array whose values have the largest sum.

Values may be negative. If all values are positive, the answer is the whole array. Intervals,
rectangles and boxes are half open: ``start`` is the index of the first value, ``stop`` the index
after the last.

*Sums.* Integers are added exactly in 64 bits. An array whose magnitudes add up to 2**63 or more is
refused. Floating-point numbers are first rounded to a grid and then added exactly. The grid holds
the multiples of a power of two that keeps all sums at or below 2**62 steps. The answer therefore
depends neither on the order of additions nor on the backend. NaN and infinities are refused.

*Ties.* Of several answers with the largest sum, the first is taken, in the order of (start, stop),
of (top, left, bottom, right) or of (front, top, left, back, bottom, right).

*Empty answers.* An answer holds at least one value. With ``allow_empty``, the answer is empty, with
sum 0 at the start of the array, if the largest sum is not positive.

*Shards.* Arrays that lie in several places need not be gathered. ``interval_summary`` says what an
interval of the whole sequence needs to know of a shard, and summaries are joined in order.
``max_interval_of_shards`` and ``max_rectangle_of_shards`` do so for arrays that one process can
read. ``mmpcodec.dask`` does the same on a cluster.

Sources: J. Bentley, "Programming pearls", 1984; A. C. de Lima, "Soluções para os problemas da soma
máxima e do k-ésimo menor elemento de uma sequência usando o modelo BSP/CGM", UFMS 2015; W. L. Ruzzo
and M. Tompa, "A linear time algorithm for finding all maximal scoring subsequences", ISMB 1999;
C. E. R. Alves, E. N. Cáceres and S. W. Song, "BSP/CGM algorithms for maximum subsequence and
maximum subarray", EuroPVM/MPI 2004, for the summaries of shards.
"""

from mmpcodec.solvers.grid import Magnitudes
from mmpcodec.solvers.max_sum.answers import (
    Box,
    BoxCensus,
    Interval,
    IntervalCensus,
    Intervals,
    Rectangle,
    RectangleCensus,
)
from mmpcodec.solvers.max_sum.boxes import box_census, disjoint_boxes, max_box
from mmpcodec.solvers.max_sum.intervals import (
    disjoint_intervals,
    interval_census,
    max_interval,
    maximal_intervals,
    sums_through,
)
from mmpcodec.solvers.max_sum.rectangles import (
    column_range_rectangle,
    disjoint_rectangles,
    max_rectangle,
    rectangle_census,
)
from mmpcodec.solvers.max_sum.shards import (
    IntervalSummary,
    interval_summary,
    max_interval_of_shards,
    shard_magnitudes,
)
from mmpcodec.solvers.max_sum.strips import max_rectangle_of_shards

__all__ = [
    "Box",
    "BoxCensus",
    "Interval",
    "IntervalCensus",
    "IntervalSummary",
    "Intervals",
    "Magnitudes",
    "Rectangle",
    "RectangleCensus",
    "box_census",
    "column_range_rectangle",
    "disjoint_boxes",
    "disjoint_intervals",
    "disjoint_rectangles",
    "interval_census",
    "interval_summary",
    "max_box",
    "max_interval",
    "max_interval_of_shards",
    "max_rectangle",
    "max_rectangle_of_shards",
    "maximal_intervals",
    "rectangle_census",
    "shard_magnitudes",
    "sums_through",
]
