"""Subset sum: the items whose weights add up to the largest sum not above a capacity.

*Items.* Weights are integers from 0 up with a sum below 2**63. Each item exists once, and its index
names it. Items of weight 0 are never taken.

*Reductions.* Items heavier than the capacity are removed. If all others fit, they are the answer.
Weights and capacity are divided by the greatest common divisor of the weights; the capacity is
rounded down. ``dense`` and ``meet`` search for the items to leave out if this search covers fewer
sums than the search for the items to take.

*Methods.* ``auto`` first tries two quick methods that may meet the capacity: ``greedy`` (heaviest
first) and ``core`` (greedy for most items, ``dense`` for a few of all sizes). If both miss, it
takes the method of the least predicted time among those that fit into the memory:

- ``dense``: a bitset of all sums; n * c steps, 512 at a time;
- ``balanced``: only sums near the capacity; n * max(weights) steps;
- ``meet``: all sums of both halves of the items; 2**(n/2) steps.

A named method runs after the reductions. All methods are exact, and an answer names its method. If
``balanced`` runs out of memory, ``auto`` takes the next method.

*Ties.* Of several sets with the largest sum, ``dense`` and ``meet`` take the one whose largest
index is least, then the one whose second largest index is least, and so on. A search for the items
to leave out applies this rule to the items left out. ``quick.py`` states the order of ``greedy``
and ``core``, ``reference.py`` the order of ``balanced``. Answers are equal on all backends.

*Backends.* ``auto`` takes cuda for ``dense``, ``meet`` and all sums if a device has the memory and
is predicted to be faster, else the processor. An answer names its backend. ``balanced`` always runs
on the processor, because each of its steps needs the previous one.

Sources: R. Bellman, "Dynamic programming", 1957; E. Horowitz and S. Sahni, "Computing partitions
with applications to the knapsack problem", Journal of the ACM 1974; D. Pisinger, "Linear time
algorithms for knapsack problems with bounded weights", Journal of Algorithms 1999; H. Kellerer,
U. Pferschy and D. Pisinger, "Knapsack problems", 2004; V. V. Curtis, "Algoritmos para o problema
Subset-Sum em GPU", ITA 2013.
"""

from mmpcodec.solvers.subset_sum.answers import SubsetSum
from mmpcodec.solvers.subset_sum.solve import all_sums, fill_volumes, reachable, subset_sum

__all__ = ["SubsetSum", "all_sums", "fill_volumes", "reachable", "subset_sum"]
