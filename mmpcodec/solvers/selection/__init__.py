"""Selection: the k-th smallest value of an array, medians and quantiles, without sorting.

*Order.* Numbers are compared by value; -0.0 comes before 0.0, and NaN comes last for either sign.
An answer is one of the values, bit by bit (all NaN become one NaN), or lies between two values.

*NaN.* ``nan="propagate"``, the default, answers NaN if there is one. ``"omit"`` ignores NaN, and
``"raise"`` refuses it.

*Axes.* Without ``axis``, the whole array is searched, in any shape. With ``axis``, each line along
the axis is searched. Several ks or quantiles form the first dimension of the answer.

*Memory.* Arrays are only read. Values in host memory or in a memory-mapped file stay there. A CuPy
array stays on its device, and so do answers along an axis. The backend cuda copies an array larger
than the free device memory in parts. Answers are equal on all backends.

*Shards.* ``Search`` selects from an array that lies in several places. Each place counts digits of
its values (``digit_counts``), the caller adds the counts up, and a few rounds give the answer.

Sources: R. Floyd and R. Rivest, "Expected time bounds for selection", Communications of the ACM
1975; E. Saukas and S. Song, "A note on parallel selection on coarse-grained multicomputers",
Algorithmica 1999; A. C. de Lima, "Soluções para os problemas da soma máxima e do k-ésimo menor
elemento de uma sequência usando o modelo BSP/CGM", UFMS 2015.
"""

from mmpcodec.solvers.selection.order import kth_smallest, median, quantile
from mmpcodec.solvers.selection.shards import Search, digit_counts, kth_of_shards
from mmpcodec.solvers.selection.weighted import weighted_median

__all__ = [
    "Search",
    "digit_counts",
    "kth_of_shards",
    "kth_smallest",
    "median",
    "quantile",
    "weighted_median",
]
