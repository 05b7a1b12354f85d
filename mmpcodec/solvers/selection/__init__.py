"""Selection: the k-th smallest value of an array, medians and quantiles, without sorting it.

*Order.* Numbers are compared by value, -0.0 comes before 0.0, and NaN after everything, whatever
its sign. An answer is one of the values, to the bit (of NaN there is one), or lies between two.

*NaN.* ``nan="propagate"`` (the default) answers NaN where there is one, ``"omit"`` leaves them out,
``"raise"`` refuses them.

*Axes.* Without ``axis`` the whole array is looked at, in any shape; with it each line along the
axis for itself. Several ks or quantiles come as the first dimension of the answer.

*Where.* Arrays are only read. What lies in host memory or in a memory-mapped file stays there; a
CuPy array stays on its device, and so do answers along an axis. The backend cuda brings an array
that is larger than the free memory of the device there in parts. Answers are the same on all
backends.

*Shards.* ``Search`` selects from an array that lies in several places: each place counts digits of
its values (``digit_counts``), the counts are added up, and after a few rounds the answer is known.

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
