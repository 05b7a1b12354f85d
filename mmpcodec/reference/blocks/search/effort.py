"""Efforts 1 to 9 of the search for predicted blocks. *Encoder only*."""

from dataclasses import dataclass

COARSE_SIZE = 16
"""Side, in samples, of the blocks in which the rough search coarsens the source."""
MOST_MATCHED_STEP = 256
"""Largest quantisation step, in 1/16 of a unit, for which a residual is large enough for template
matching: what repeats in a text or a halftone leaves residuals that do not grow with the step."""


@dataclass(frozen=True)
class Effort:
    """Limits of the search at one effort.

    Parameters
    ----------
    kept : int
        Number of modes for each block that the rough search keeps for the search.
    tried : int
        Number of these modes whose cost the search computes exactly.
    rough : int
        Number of modes for each block whose cost the rough search estimates with a transform.
    slack : int
        The search follows a split if its estimated cost is at most this per cent above the best
        estimate.
    matching : int
        The rough search tries template matching, which is slow, only if the least Hadamard
        difference of the other modes times this number is at least one quantisation step for each
        sample, of a step of at most ``MOST_MATCHED_STEP``.
    """

    kept: int
    tried: int
    rough: int
    slack: int
    matching: int


EFFORTS = {
    number: Effort(*setting)
    for number, setting in enumerate(
        (
            (4, 2, 1, 4, 16),
            (4, 2, 2, 8, 32),
            (5, 2, 2, 12, 64),
            (6, 3, 2, 12, 64),
            (6, 3, 3, 16, 64),
            (8, 4, 3, 20, 64),
            (8, 4, 4, 25, 64),
            (10, 5, 4, 40, 64),
            (12, 8, 4, 1000, 64),
        ),
        start=1,
    )
}
