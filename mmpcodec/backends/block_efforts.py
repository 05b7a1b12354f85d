"""Efforts 1 to 9 of the searches of backends cpu and cuda for predicted blocks. *Encoder only*."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mmpcodec.reference.blocks.search.effort import EFFORTS as PLAIN

ALWAYS = 1 << 20
"""A factor that no difference is too small for; a value of ``hopeless`` that nothing exceeds."""


@dataclass(frozen=True)
class BlockEffort:
    """Limits and shortcuts of the search at one effort.

    Factors compare a Hadamard difference, times the factor, with one quantisation step, in 1/16 of
    a sample's unit, for each sample of the block.

    Parameters
    ----------
    surveyed, tried, rough, slack
        As in ``mmpcodec.reference.blocks.search.effort.Effort``.
    split_bits : int
        Number of bits that the survey adds to the cost of a split, because the least of many
        estimates is too low.
    elongation : int
        The survey looks at blocks whose sides differ by at most this factor, as a logarithm to
        base 2.
    every_angle : bool
        Whether the survey looks at every angle. Otherwise it looks at every fourth angle of square
        blocks and at those near the best; long blocks take the angles of the blocks of which they
        are a half and of their own halves, and blocks that only ternary splits make those of the
        blocks of their shape that overlap them. It looks at no angle where earlier planes leave
        less than two thirds of the difference that modes average and planar leave.
    angles : int
        The survey looks at angles only where the least difference of modes average and planar
        times this factor is at least one step.
    fitting : int
        The survey looks at least squares only where the least difference of the other modes times
        this factor is at least one step.
    matching : int
        The same for template matching.
    rounded : bool
        Whether the survey estimates the rate of rounded levels, instead of choosing levels by rate
        and distortion.
    hopeless : int
        A residual is not tried if its estimated cost exceeds the least estimate for the block by
        more than this number of per cent; ``ALWAYS`` tries all.
    trellised : int
        With dependent quantisation, only so many residuals of a block are tried: those of the
        least estimated cost.
    ternary : int
        As ``slack``, for ternary splits, and for all splits of the blocks that only ternary splits
        make; -1 tries none.
    inherited : bool
        Whether the survey looks at the slow modes (least squares, template matching and those of
        earlier planes) only if the blocks whose angles a block takes have this mode among their
        best two. ``every_angle`` excludes it.
    reserve : int
        While the search tries a part of a split, so many per cent of the estimated costs of the
        parts after it are taken off the bound; 0 takes nothing off. Blocks of less than 128
        samples count 10 per cent less, because their estimates are less exact. If it is above 0,
        the search tries the ways of coding a block by their costs, the least first.
    again : int
        A block, or one way of coding it, is tried again beside other neighbours only if so many
        per cent of its latest cost are below the bound; 0 tries it always. If it is above 0, the
        latest cost replaces the estimate also in ``reserve``.
    settled : int
        The survey looks at no part of an aligned square whose estimated cost as a leaf is below so
        many bits of probability 1/2, so the search does not split it; 0 looks at all. It has no
        effect with a dictionary. ``every_angle`` excludes it.
    patience : int
        Each time that the search has tried so many more blocks of a fragment as leaves, it adds one
        per cent to ``reserve`` and ``again``, 12 at most; ``again`` stays at most 100. 0 adds
        nothing.
    """

    surveyed: int
    tried: int
    rough: int
    slack: int
    split_bits: int = 0
    elongation: int = 4
    every_angle: bool = True
    angles: int = ALWAYS
    fitting: int = ALWAYS
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


CUDA_EFFORTS = {
    number: BlockEffort(*settings)
    for number, settings in enumerate(
        (
            (1, 3, 1, 4, 2, 1, False, 64, 0, 0, True, 3, 2, 2),
            (2, 3, 1, 8, 2, 1, False, 64, 0, 0, True, 3, 2, 2),
            (3, 4, 2, 32, 2, 1, False, 128, 0, 0, True, 5, 2, 4),
            (3, 5, 3, 40, 2, 1, False, ALWAYS, 16, 16, True, 8, 2, 8),
            (4, 5, 4, 100, 0, 1, False, ALWAYS, 48, 32, True, 10, 3, 8),
            (6, 6, 4, 80, 0, 2, False, ALWAYS, 64, 48, True, 12, 4, 12),
            (8, 6, 4, 80, 0, 3, False, ALWAYS, 96, 96, True, 15, 4, 12),
            (12, 8, 4, 120, 0, 3, False, ALWAYS, ALWAYS, 128, False, 15, ALWAYS, 20),
            (12, 8, 4, 120, 0, 4, True, ALWAYS, ALWAYS, 256, False, 45, ALWAYS, 20),
        ),
        start=1,
    )
}
"""The efforts of backend cuda, whose tools need other limits."""

_EFFORTS = (
    (2, 3, 1, 24, 2, 1, False, 64, 0, 0, True, 5, 1, 4, True, 94, 98, 40, 200),
    (2, 4, 1, 50, 0, 1, False, 64, 8, 0, True, 5, 2, 8, True, 95, 98, 24, 0),
    (3, 5, 3, 40, 0, 2, False, ALWAYS, 32, 16, True, 8, 2, 12, True, 92, 96, 16, 800),
    (3, 6, 3, 80, 0, 3, False, ALWAYS, 32, 24, True, 8, 3, 16, True, 95, 97, 24, 600),
    (4, 6, 4, 100, 0, 3, False, 96, 48, 24, True, 10, 3, 24, True, 89, 93, 0, 500),
    (6, 8, 4, 40, 0, 4, True, ALWAYS, 64, 64, False, 20, 6, 40, False, 86, 92, 0, 1200),
    (6, 8, 4, 80, 0, 3, True, 128, 64, 96, True, 30, 8, 50, False, 85, 93, 0, 2000),
    (12, 8, 4, 120, 0, 4, True, 128, ALWAYS, 96, False, 45, ALWAYS, 50, False, 87, 94, 0, 4000),
    (12, 8, 4, 120, 0, 4, True, ALWAYS, ALWAYS, 128, False, 45, ALWAYS, 64, False, 86, 93, 0, 6000),
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
        effort.surveyed,
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
    """Return the limits and shortcuts of backend cpu.

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
