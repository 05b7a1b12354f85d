"""What the solvers of knapsacks answer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Solution:
    """A choice, its profit and how good it can be at most.

    Parameters
    ----------
    value : int or None
        Sum of the profits chosen; None where no choice is feasible, or none was found in time.
    items : tuple of int
        Of a 0-1 knapsack the indices taken, ascending; of a multiple-choice knapsack the index of
        the option of each group.
    optimal : bool
        Whether it is proven that no choice is better; with value None, that there is none.
    bound : int or None
        No choice has more profit; the value where that is optimal.
    path : str
        What found it: "reduction", "core", "bound" where a choice met its bound, "enumeration" of
        all choices, "dense", "dense, items by halving", or "greedy" for the best that was known
        when time ran out. With "bound" another choice of the same profit may come first in the
        order of the package.
    seconds : float
        Time taken; in a batch that of the whole batch.
    backend : str
        Name of the backend that ran.
    """

    value: int | None
    items: tuple[int, ...]
    optimal: bool
    bound: int | None
    path: str
    seconds: float
    backend: str = ""
