"""Subset sum: which of some items add up to the most that is not above a capacity.

*Items.* Weights are integers from 0 up, each item is there once, and an item is named by its index.
All weights together stay below 2**63. Items of weight 0 are never taken.

*Reductions.* First, items heavier than the capacity go; if all others fit, they are the answer.
Weights and capacity are divided by the weights' greatest common divisor (the capacity rounded
down). Where less lies outside the capacity than inside, the items to leave out are looked for.

*Methods.* ``auto`` tries two quick ones that may hit the capacity: ``greedy`` (heaviest first) and
``core`` (greedy for all items but a few that are spread over the weights, dense for those). If both
miss, it takes the one with the least predicted cost of those that fit into the memory:

- ``dense``: a bitset of all sums; n * c steps, 512 at a time;
- ``balanced``: sums near the capacity only; n * max(weights) steps;
- ``meet``: all sums of both halves of the items; 2**(n/2) steps, where a search of all sets takes
  2**n.

A method that is named runs, after the reductions; and an answer says which method gave it. All are
exact. Where ``balanced`` runs out of memory, ``auto`` goes on with the next one.

*Which of several sets.* The greedy ones are as ``quick.py`` says, those of ``balanced`` as its
reference says. Of several sets with the sum, ``dense`` and ``meet`` find the one whose largest
index is least, then the second largest, and so on; where they look for what to leave out, this
holds for the items left out. Answers are the same on all backends.

*Backends.* ``auto`` takes cuda for ``dense``, ``meet`` and all sums where a device is there, has
the memory and is predicted to be quicker, and else cpu; an answer says which it was. ``balanced``
always runs on a processor, since each of its steps needs the one before.

Sources: R. Bellman, "Dynamic programming", 1957; E. Horowitz and S. Sahni, "Computing partitions
with applications to the knapsack problem", Journal of the ACM 1974; D. Pisinger, "Linear time
algorithms for knapsack problems with bounded weights", Journal of Algorithms 1999; H. Kellerer,
U. Pferschy and D. Pisinger, "Knapsack problems", 2004; V. V. Curtis, "Algoritmos para o problema
Subset-Sum em GPU", ITA 2013.
"""

from mmpcodec.solvers.subset_sum.answers import SubsetSum
from mmpcodec.solvers.subset_sum.solve import reachable, subset_sum
from mmpcodec.solvers.subset_sum.sums import all_sums
from mmpcodec.solvers.subset_sum.volumes import fill_volumes

__all__ = ["SubsetSum", "all_sums", "fill_volumes", "reachable", "subset_sum"]
