"""Knapsacks: the items or options of the largest total profit whose weights fit.

*Problems.* A 0-1 knapsack takes each item once or not at all. A multiple-choice knapsack takes one
option of each group. Both have one or several budgets. Profits are integers of any sign whose
magnitudes, times the copies that fit, add up to less than 2**61. Weights are integers from 0 up,
capacities integers from 0 to 2**62 - 1. With ``exact_fill``, the weights must add up to the
capacities exactly.

*Copies and numbers.* A 0-1 knapsack can have several copies of items, or as many as fit, and limits
of the number of units taken. Items with copies are split into pieces of 1, 2, 4, ... copies, and a
number is one more budget (see ``units``), so all methods below apply to the pieces, in the order of
the items. Where the number is limited, branch and bound comes before each table, whatever its size.

*Ties.* Of equally good choices of items of one budget without exact fill, the search returns the
one that it finds. It takes its steps in one order on the processor, so this choice depends on the
problem and the limits only and is the same on every backend that reduces; without a memory limit,
long lists stop at a share of the free memory. All other functions, and ``first_choice=True``,
return the best choice that ranks first, and so does the backend "reference".

Decisions have an order. The last decision ranks the best choices first, then the decision before
it, and so on: leaving an item out ranks before taking it, and an option ranks before options of
higher index. Groups keep the order of the caller, and so do items of several budgets, of exact
fills and of curves. Items of one budget are ordered by their distance from the break item: sorted
by falling profit per weight, then by rising weight and index, the break item is the first that does
not fit beside all items before it. It comes first, then in turn the next item before it and the
next after it. Lists of states stay short in this order; in the order of the caller they can grow to
whole tables if profits and weights are strongly correlated. Items of weight 0, items without
positive profit, and items heavier than the capacity are decided separately.

This order defines one choice: every step before and beside the dense dynamic programme keeps the
best choice that ranks first, and every backend and path returns equal items. Exceptions: answers
after a time limit, and answers of the paths "bound" (with ``first_choice``) and "branches", whose
choice is one of the best and equal on all backends that reduce, but does not always rank first.
Branch and bound also answers where a table does not fit into memory; so with less memory, the
choice can be another one of the best.

*Methods.* The reference fills the whole table, and so does a CUDA device if that is fastest. The
other backends search in C++ for any best choice of items of one budget: a partition finds the break
item, bounds decide most items, then lists of states over a core that grows around the break item
and choices and bounds by the number of items (see ``counting.py``) take turns with growing limits.
The search ends when its value meets the bound. Items whose profits are one multiple of their
weights go to ``subset_sum`` if short lists do not suffice and there is no time limit.

For all other problems, these backends first remove options that are too heavy, dominated, or
excluded by a Lagrangian bound strictly below a known choice, and divide weights by their common
divisor. For a first choice of items of one budget the processor then searches the lists twice, for
the best value and for the items; if a table would have more than 2**38 cells (states times
options), short lists come first, then choices and bounds by the number of items, then long lists.

Several budgets, exact fills and groups go to branch and bound with exact Lagrangian bounds (see
``branches.py``) if the table of the whole problem would have 2**24 cells or more for three budgets
and more, 2**31 or more for fewer budgets, or does not fit into memory. If the table fits, the
search stops after a few hundredths of the time that the processor needs for the table.

If lists or branches grow too many, up to 2**20 choices are tried one by one before a large table;
for exact fills they come before branch and bound. Last comes the dense dynamic programme over all
states: two rows of values, and ceil(log2(options)) bits for each state and stage. If these bits do
not fit into memory, the stages are halved until they fit, and the rows before the halves are
computed again, in about halvings / 2 more sweeps. The backend "auto" fills large tables on a CUDA
device if there is one.

*No answer.* If no choice is feasible, value and bound are None and no item is chosen.

Sources: R. Bellman, "Dynamic programming", 1957; D. Pisinger, "A minimal algorithm for the 0-1
knapsack problem", Operations Research 1997; S. Martello, D. Pisinger and P. Toth, "Dynamic
programming and strong bounds for the 0-1 knapsack problem", Management Science 1999; H. Kellerer,
U. Pferschy and D. Pisinger, "Knapsack problems", 2004; D. Lemos, H. Longo and W. Martins,
"Programação dinâmica paralela em GPU para os problemas da mochila uni e bi-dimensional", ERIGO
2023; M. Fisher, "The Lagrangian relaxation method", Management Science 1981; M. Vasquez and Y.
Vimont, "Improved results on the 0-1 multidimensional knapsack problem", European Journal of
Operational Research 2005.
"""

from mmpcodec.solvers.knapsack.answers import Solution
from mmpcodec.solvers.knapsack.curve import Curve, choice_curve, value_curve
from mmpcodec.solvers.knapsack.solve import (
    knapsack,
    knapsack_batch,
    multiple_choice,
    multiple_choice_batch,
)
from mmpcodec.solvers.status import Status

__all__ = [
    "Curve",
    "Solution",
    "Status",
    "choice_curve",
    "knapsack",
    "knapsack_batch",
    "multiple_choice",
    "multiple_choice_batch",
    "value_curve",
]
