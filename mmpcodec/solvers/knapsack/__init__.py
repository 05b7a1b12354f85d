"""Knapsacks: the most profit that fits, and what to take for it.

*Problems.* 0-1 knapsack (each item once or not) and multiple-choice knapsack (one option of each
group), both with one or more budgets. Profits are integers of any sign whose magnitudes add up to
less than 2**61; weights and capacities are integers from 0 up, capacities below 2**62. With
``exact_fill`` the weights must add up to the capacities themselves, not to at most them.

*Which of several.* Of the best choices the one that comes first in the order of the last item or
group, then of the one before it, and so on: an item is taken only where leaving it out is worse,
and of two options the one with the lower index. This names one choice, whatever the method: all
that is done before and beside the dense dynamic programme keeps every best choice, so every
backend and every path returns the same items. Answers cut short by a time limit are the exception.

*Methods.* The reference fills the whole table. The other backends first remove what no best choice
holds (options too heavy, dominated, or excluded by a Lagrangian bound strictly below a choice
already found) and divide weights by their common divisor. One budget is then tried by lists of
states, first over a core that grows around the break item, which gives the best value, then over
the items left in their order, which gives the items. Where lists grow too long, and for several
budgets, a dense table of states follows: two rows of values, and of each stage ceil(log2(options))
bits a state. Where these bits do not fit in memory, the stages are halved until they do and the
rows in front of the halves computed again, log2(parts) / 2 sweeps more.

*No answer.* Where no choice is feasible, value and bound are None and nothing is chosen.

Sources: R. Bellman, "Dynamic programming", 1957; D. Pisinger, "A minimal algorithm for the 0-1
knapsack problem", Operations Research 1997; H. Kellerer, U. Pferschy and D. Pisinger, "Knapsack
problems", 2004; D. Lemos, H. Longo and W. Martins, "Programação dinâmica paralela em GPU para os
problemas da mochila uni e bi-dimensional", ERIGO 2023.
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
