"""The answer of the knapsack solvers."""

from dataclasses import dataclass, field

from mmpcodec.solvers.status import Status


@dataclass(frozen=True)
class Solution:
    """A choice, its profit, and an upper bound of the profit.

    Solutions are equal, and hash alike, if they say the same of the problem; how they were found
    (``path``, ``seconds`` and ``backend``) does not count.

    Parameters
    ----------
    value : int or None
        Profit of the choice; None if no choice is feasible or no feasible choice was found in time.
    items : tuple of int
        Indices of the items taken, ascending, each once. Multiple-choice knapsack: index of the
        option of each group.
    optimal : bool
        Whether it is proven that no choice is better or, with value None, that none is feasible.
    bound : int or None
        Upper bound of the profit of all choices; equals ``value`` if the choice is optimal.
    path : str
        Method that found the choice: "reduction", "core" (lists of states), "bound" (a choice met
        its bound), "subset sum", "branches" (branch and bound), "enumeration" of all choices,
        "dense", "dense, items by halving", or "greedy" (the best choice known when time ran out).
    seconds : float
        Wall time in seconds; in a batch, the time of the whole batch.
    backend : str
        Name of the backend that ran.
    counts : tuple of int
        How often each of ``items`` is taken; by default once.
    """

    value: int | None
    items: tuple[int, ...]
    optimal: bool
    bound: int | None
    path: str = field(compare=False)
    seconds: float = field(compare=False)
    backend: str = field(default="", compare=False)
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.items and not self.counts:
            object.__setattr__(self, "counts", (1,) * len(self.items))

    @property
    def status(self) -> Status:
        """What is known about the choice: ``optimal`` and ``value`` in one word."""
        if self.optimal:
            return Status.INFEASIBLE if self.value is None else Status.OPTIMAL
        return Status.UNKNOWN if self.value is None else Status.FEASIBLE
