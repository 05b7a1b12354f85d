"""Efforts 1 to 9 of the searches of backends cpu and cuda for predicted blocks. *Encoder only*."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mmpcodec.reference.blocks.search.effort import EFFORTS as PLAIN

ALWAYS = 1 << 20
"""Factor that lets every block pass; threshold or limit that nothing exceeds."""


@dataclass(frozen=True)
class BlockEffort:
    """Limits and early-termination thresholds of the search at one effort.

    The rough search (rough mode decision) estimates the cost of every block of a fragment from a
    coarsely quantised source. The search then codes the promising blocks and modes in full. Where
    two candidates compete, the *bound* is the least rate-distortion cost found so far.

    A *factor* is a threshold of the SATD (sum of absolute Hadamard differences) of a block: the
    block passes if factor * SATD is at least step * number of samples, where the quantisation step
    is in 1/16 of a sample's unit.

    Parameters
    ----------
    kept, tried, rough, slack
        As in ``mmpcodec.reference.blocks.search.effort.Effort``.
    split_bits : int
        Number of bits that the rough search adds to the estimated cost of a split, because the
        minimum of many noisy estimates is too low.
    elongation : int
        Largest log2 of the ratio of the longer to the shorter side of a block that the rough search
        estimates; more oblong blocks are skipped.
    every_angle : bool
        Whether the rough search tests every angle. Otherwise square blocks test every fourth angle
        and then refine around the best one. Oblong blocks test the angles found for their parent
        and their halves. Blocks that only a ternary split creates test the angles found for
        overlapping blocks of equal shape. If false, the rough search also skips all angles where
        the modes from earlier planes reduce the SATD of average and planar below two thirds.
    angles : int
        Factor for angles: the rough search tests them only if the least SATD of average and planar
        passes.
    matching : int
        Factor for template matching: the rough search tests the mode only if the least SATD of the
        other modes passes, for a step of at most ``MOST_MATCHED_STEP``.
    rounded : bool
        Whether the rough search estimates the rate of rounded levels, instead of choosing levels by
        rate-distortion optimisation.
    hopeless : int
        Early termination of residuals: a residual is skipped if its estimated cost exceeds the
        least estimate of the block by more than this percentage. ``ALWAYS`` skips none.
    trellised : int
        Maximum number of residuals of a block that are quantised in full with dependent
        quantisation, those with the least estimated costs. ``ALWAYS`` is no limit.
    ternary : int
        As ``slack``, for ternary splits and for all splits of blocks that only a ternary split
        creates; -1 disables ternary splits.
    inherited : bool
        Early termination of slow modes (template matching, modes from earlier planes): an oblong
        block tests such a mode only if the mode is among the best two of the blocks whose angles it
        tests. Not together with ``every_angle``.
    reserve : int
        Early termination of splits: while the search codes one part of a split, this percentage of
        the estimated costs of the following parts is subtracted from the bound. Blocks of less than
        128 samples use 10 percentage points less, because their estimates are less exact. 0
        subtracts nothing. Above 0, the search tries the ways of coding a block (leaf, splits) in
        order of increasing estimated cost.
    again : int
        Early termination of repeated trials: a block, or one way of coding it, whose neighbours
        have changed is tried again only if this percentage of its latest cost is below the bound;
        0 always tries it. Above 0, ``reserve`` uses this percentage of the latest cost instead of
        the estimate.
    settled : int
        Early termination of the rough search: the parts of an aligned square are not estimated, and
        the square is not split, if its estimated cost as a leaf is below the cost of this number of
        bits of probability 1/2; 0 estimates all parts. It has no effect with a dictionary.
        Only with ``rounded`` levels, and not together with ``every_angle``.
    patience : int
        Number of blocks tried as leaves in a fragment after which ``reserve`` and ``again`` grow by
        one percentage point, by 12 at most; ``again`` stays at most 100. 0 keeps both constant.
    """

    kept: int
    tried: int
    rough: int
    slack: int
    split_bits: int = 0
    elongation: int = 4
    every_angle: bool = True
    angles: int = ALWAYS
    matching: int = ALWAYS
    rounded: bool = False
    hopeless: int = ALWAYS
    trellised: int = ALWAYS
    ternary: int = -1
    inherited: bool = False
    reserve: int = 0
    again: int = 0
    settled: int = 0
    patience: int = 0


_EFFORTS = (
    (2, 3, 1, 24, 2, 1, False, 64, 6, True, 5, 1, 4, True, 94, 98, 40, 200),
    (2, 4, 1, 50, 0, 1, False, 64, 10, True, 5, 2, 8, True, 95, 98, 24, 0),
    (3, 5, 3, 40, 0, 2, False, ALWAYS, 16, True, 8, 2, 12, True, 92, 96, 16, 800),
    (3, 6, 3, 80, 0, 3, False, ALWAYS, 24, True, 8, 3, 16, True, 95, 97, 24, 600),
    (4, 6, 4, 100, 0, 3, False, 96, 24, True, 10, 3, 24, True, 89, 93, 0, 500),
    (6, 8, 4, 40, 0, 4, True, ALWAYS, 64, False, 20, 6, 40, False, 86, 92, 0, 1200),
    (6, 8, 4, 80, 0, 3, True, 128, 96, True, 30, 8, 50, False, 85, 93, 0, 2000),
    (12, 8, 4, 120, 0, 4, True, 128, 96, False, 45, ALWAYS, 50, False, 87, 94, 0, 4000),
    (12, 8, 4, 120, 0, 4, True, ALWAYS, 128, False, 45, ALWAYS, 64, False, 86, 93, 0, 6000),
)
EFFORTS = {number: BlockEffort(*row) for number, row in enumerate(_EFFORTS, start=1)}
"""The efforts of backend cpu, by measuring rate and time on photographs and x-rays."""

OF_SMALL_PLANES: Mapping[int, Mapping[int, Mapping[str, Any]]] = {
    2: {
        1 << 16: {"elongation": 2},
        1 << 14: {"elongation": 2, "angles": ALWAYS, "rough": 2, "reserve": 94},
    }
}
"""Fields of ``EFFORTS`` that are others for planes of at most this number of samples, by effort.

Much of a small plane lies at its borders. The last entry that fits counts.
"""

PLAIN_EFFORTS = {
    number: BlockEffort(
        effort.kept,
        effort.tried,
        effort.rough,
        effort.slack,
        matching=effort.matching,
        ternary=effort.slack,
    )
    for number, effort in PLAIN.items()
}
"""The efforts of backend reference, without shortcuts."""


def block_effort(number: int, samples: int) -> BlockEffort:
    """Return the limits and shortcuts of backends cpu and cuda.

    Parameters
    ----------
    number : int
        Effort, 1 to 9.
    samples : int
        Number of samples of the plane.
    """
    effort = EFFORTS[number]
    for most, changes in OF_SMALL_PLANES.get(number, {}).items():
        if samples <= most:
            effort = replace(EFFORTS[number], **changes)
    return effort
