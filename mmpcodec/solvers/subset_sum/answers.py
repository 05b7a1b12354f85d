"""The answer of the subset-sum solver."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mmpcodec.solvers.status import Status


@dataclass(frozen=True, eq=False)
class SubsetSum:
    """The largest sum of items that is not above a capacity.

    Answers are equal if their sums, items and bounds are; method, backend and time may differ.

    Parameters
    ----------
    sum : int
    items : (M,) int64 array or None
        Indices of the items taken, ascending and read-only; None if ``items`` was False.
    exact : bool
        Whether the sum equals the capacity.
    bound : int
        Upper bound of the sums that are not above the capacity; equals ``sum`` if the sum is proven
        to be the largest.
    method : {"all", "greedy", "core", "dense", "balanced", "meet"}
        Method that gave the answer; "all" if all items that fit alone fit together.
    backend : str
        Name of the backend that ran.
    seconds : float
        Wall time in seconds.
    """

    sum: int
    items: NDArray[np.int64] | None
    exact: bool
    bound: int
    method: str = field(repr=False)
    backend: str = field(repr=False)
    seconds: float = field(repr=False)

    def __post_init__(self) -> None:
        if self.items is not None:
            self.items.flags.writeable = False

    @property
    def proven(self) -> bool:
        """Whether it is proven that no larger sum exists."""
        return self.sum == self.bound

    @property
    def status(self) -> Status:
        """OPTIMAL if the sum is proven to be the largest, else FEASIBLE."""
        return Status.OPTIMAL if self.proven else Status.FEASIBLE

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubsetSum):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple:
        items = None if self.items is None else self.items.tobytes()
        return self.sum, items, self.exact, self.bound
