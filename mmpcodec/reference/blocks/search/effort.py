"""What each effort of the search for predicted blocks tries."""

from dataclasses import dataclass

COARSE_SIZE = 16
"""Side of the blocks that the source is coarsened in."""


@dataclass(frozen=True)
class Effort:
    """How hard the encoder searches.

    Parameters
    ----------
    surveyed : int
        Modes of a block that the survey leaves.
    tried : int
        Of them, those that the search tries in full.
    rough : int
        Modes that the survey itself tries.
    slack : int
        Per cent by which a partition may look worse than the best one.
    matching : int
        Templates, which take long, are tried where the best other mode's Hadamard difference times
        this is at least a step a sample.
    """

    surveyed: int
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
