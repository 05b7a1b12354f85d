"""Knapsacks: the most profit that fits, and what to take for it.

*Problems.* 0-1 knapsack (each item once or not) and multiple-choice knapsack (one option of each
group), both with one or more budgets. Profits are integers of any sign whose magnitudes add up to
less than 2**61; weights and capacities are integers from 0 up, capacities below 2**62. With
``exact_fill`` the weights must add up to the capacities themselves, not to at most them.

*Which of several.* Decisions stand in an order. Of the best choices the one is taken that comes
first by the last decision, then by the one before it, and so on: an item is taken only where
leaving it out is worse, and of two options the one with the lower index. Groups, and items of
several budgets, of exact fills and of curves, stand as given. Items of one budget stand by their
distance from the break item: sorted by falling profit per weight, then by rising weight and index,
the break item is the first that does not fit beside all in front of it. It comes first, then in
turn the next one in front of it and the next one behind. Items without profit or weight, and those
above the capacity, have no part in this; they are decided by themselves. So one choice is named,
whatever the method: all that is done before and beside the dense dynamic programme keeps every best
choice, and every backend and path returns the same items. There are two exceptions: answers cut
short by a time limit, and those of the path "bound", where the choice is one of the best, the same
on each backend that reduces, but not always the first one. The order of one budget is the one in
which lists of states stay short; in the order given they grow to whole tables on classes where
profits and weights are strongly correlated.

*Methods.* The reference fills the whole table, and so does a CUDA device where that takes less time
than anything else. The other backends first remove what no best choice holds (options too heavy,
dominated, or excluded by a Lagrangian bound strictly below a choice already found) and divide
weights by their common divisor. Items of one budget are then tried by lists of states over a core
that grows around the break item, on the processor and twice: for the best value, and for the items.
Where a table would have more than 2**38 cells, states times options, short lists are followed by
choices and bounds that often meet, by the number of items that fit (see ``counting.py``), and only
then by long lists. Where those grow too long, for several budgets, exact fills and groups, up to
2**20 choices are tried one by one if a large table would follow. Else that follows, dense, of all
states: two rows of values, and of each stage ceil(log2(options)) bits a state. Where these
bits do not fit in memory, the stages are halved until they do and the rows in front of the halves
computed again, about halvings / 2 sweeps more. The backend "auto" fills large tables on a CUDA
device where there is one.

*No answer.* Where no choice is feasible, value and bound are None and nothing is chosen.

Sources: R. Bellman, "Dynamic programming", 1957; D. Pisinger, "A minimal algorithm for the 0-1
knapsack problem", Operations Research 1997; S. Martello, D. Pisinger and P. Toth, "Dynamic
programming and strong bounds for the 0-1 knapsack problem", Management Science 1999; H. Kellerer,
U. Pferschy and D. Pisinger, "Knapsack problems", 2004; D. Lemos, H. Longo and W. Martins,
"Programação dinâmica paralela em GPU para os problemas da mochila uni e bi-dimensional", ERIGO
2023.
"""

from mmpcodec.solvers.knapsack.answers import Solution
from mmpcodec.solvers.knapsack.curve import Curve, choice_curve, value_curve
from mmpcodec.solvers.knapsack.solve import (
    knapsack,
    knapsack_batch,
    multiple_choice,
    multiple_choice_batch,
)

__all__ = [
    "Curve",
    "Solution",
    "choice_curve",
    "knapsack",
    "knapsack_batch",
    "multiple_choice",
    "multiple_choice_batch",
    "value_curve",
]
