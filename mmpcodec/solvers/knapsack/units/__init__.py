"""Copies of items, and limits of the number of units taken.

A unit is one copy of an item. A problem with copies becomes a 0-1 knapsack of pieces: an item of up
to u copies is split into pieces of 1, 2, 4, ... copies and a rest, which together are u, so that
some of them add up to each number from 0 to u. No more copies are split than fit alone.

A largest number of units is one more budget, of which a piece takes its size. For a least number,
the pieces that are left take their sizes from a budget of all units minus the least number. With
exact fill, one more budget is filled exactly: by the pieces taken, and by pieces without profit or
weight that together are the difference of both limits.

Source of the splitting: S. Martello and P. Toth, "Knapsack problems: algorithms and computer
implementations", 1990, chapter 3.
"""

from mmpcodec.solvers.knapsack.units.pieces import Pieces, split, split_each

__all__ = ["Pieces", "split", "split_each"]
