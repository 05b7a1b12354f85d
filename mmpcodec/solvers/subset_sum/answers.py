"""The answer of the subset-sum solver."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SubsetSum:
    """The largest sum of items that is not above a capacity.

    Parameters
    ----------
    sum : int
    items : (M,) int64 array or None
        Indices of the items taken, ascending; None if ``items`` was False.
    exact : bool
        Whether the sum equals the capacity.
    proven : bool
        Whether it is proven that no larger sum exists; all methods prove it.
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
    proven: bool
    method: str
    backend: str
    seconds: float
