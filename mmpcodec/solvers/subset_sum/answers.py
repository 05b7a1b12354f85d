"""What the solver answers with."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SubsetSum:
    """The largest sum of items that is not above a capacity.

    Parameters
    ----------
    sum : int
    items : (M,) int64 array or None
        Indices of the items taken, ascending; None where they were not asked for.
    exact : bool
        Whether the sum is the capacity.
    proven : bool
        Whether no larger sum exists; every method so far proves its answer.
    method : {"all", "greedy", "core", "dense", "balanced", "meet"}
        Which one gave the answer; "all" where all items that fit alone fit together.
    backend : {"cpu", "cuda", "reference"}
        Which one ran it.
    seconds : float
        Wall time.
    """

    sum: int
    items: np.ndarray | None
    exact: bool
    proven: bool
    method: str
    backend: str
    seconds: float
