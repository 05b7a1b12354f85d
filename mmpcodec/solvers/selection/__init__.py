"""Selection: the k-th smallest value of an array, medians and quantiles, without sorting.

*Order.* Numbers are compared by value. -0.0 comes before 0.0, and NaN of either sign comes last. An
answer has the bits of one of the values (all NaN become one NaN) or is interpolated between two.

*NaN.* With ``nan="propagate"``, the default, the answer is NaN if a value is NaN. ``"omit"``
ignores NaN, and ``"raise"`` refuses it.

*Axes.* Without ``axis``, the whole array is searched, in any shape. With ``axis``, each line along
the axis is searched; several axes make one line of the values that differ only in them. Several ks
or quantiles form the first dimension of the answer.

*Speed.* On a processor, lines of up to 1024 values are sorted by networks, 8 to 64 lines at once.

*Memory.* Arrays are only read. Values in host memory or in a memory-mapped file stay there. A CuPy
array stays on its device, and so do answers along an axis. The backend cuda copies an array that is
larger than half of the free device memory in parts. Answers are equal on all backends.

*Shards.* ``Search`` selects from an array that is spread over several shards. In each of a few
rounds, each shard counts a digit of its values (``digit_counts``), and the caller adds the counts.

Sources: K. Batcher, "Sorting networks and their applications", AFIPS 1968; R. Floyd and R. Rivest,
"Expected time bounds for selection", Communications of the ACM 1975; R. Hyndman and Y. Fan, "Sample
quantiles in statistical packages", The American Statistician 1996; E. Saukas and S. Song, "A note
on parallel selection on coarse-grained multicomputers", Algorithmica 1999; A. C. de Lima, "Soluções
para os problemas da soma máxima e do k-ésimo menor elemento de uma sequência usando o modelo
BSP/CGM", UFMS 2015.
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
