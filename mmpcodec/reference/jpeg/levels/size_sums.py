"""The predicted size of forms 1 and 2.

Source: section "Levels of a stripe", "Sizes", of ``docs/format/format.md``.
"""

from collections.abc import Sequence

from mmpcodec.reference.jpeg.levels.block import BLOCK, BlocksAround
from mmpcodec.reference.jpeg.levels.near import Near
from mmpcodec.reference.jpeg.levels.scales import logarithm

NEAR = (-1, -2, -8, -16, -9, -7, 7, -10)
"""Where the levels of the block lie that predict a size, from its place."""


def predicted_size(
    around: BlocksAround,
    own: Sequence[int],
    at: Near,
    kind: int,
    difference: int,
    weights: Sequence[int],
) -> int:
    """Return the predicted logarithm of a size, in 1/64.

    Parameters
    ----------
    around : BlocksAround
    own : sequence of 64 int
        The levels of the block that are known; the others are 0.
    at : Near
        The place of the level.
    kind : int
    difference : int
        Of the first level of the block.
    weights : sequence of 25 int
        In 1/4096.

    Returns
    -------
    int
    """
    k = at.k

    def beside(block: Sequence[int], place: int, inside: bool) -> int:
        return logarithm(abs(block[place])) if inside and 0 < place < BLOCK else 0

    blocks = around.left, around.above
    across = sum(
        beside(block, k - 1, at.u > 0) + beside(block, k + 1, at.u < 7) for block in blocks
    )
    down = sum(beside(block, k - 8, True) + beside(block, k + 8, True) for block in blocks)
    earlier = sum(abs(block[k]) for block in around.luma) if kind else 0
    earlier = 4 * earlier // max(1, len(around.luma))
    inputs = [
        *(logarithm(size) for size in (at.left, at.above, at.above_left, at.above_right)),
        logarithm(abs(around.left_left[k])),
        logarithm(abs(around.above_above[k])),
        across,
        down,
        logarithm(at.rest),
        logarithm(around.left_count + around.above_count),
        logarithm(at.end),
        logarithm(abs(difference)),
        64,
        logarithm(earlier),
        logarithm(at.before),
        *(beside(own, k + near, True) for near in NEAR),
        logarithm(abs(at.up)),
        logarithm(abs(at.side)),
    ]
    return sum(weight * size for weight, size in zip(weights, inputs, strict=True)) >> 12
