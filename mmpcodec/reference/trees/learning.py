"""Learning: how the dictionaries grow after a fragment is decoded.

Source: section "Learning" of ``docs/format/format.md``.
"""

from collections.abc import Sequence

import numpy as np

from mmpcodec.reference.trees.copies import Copies, are_copies
from mmpcodec.reference.trees.dictionary import Dictionary
from mmpcodec.reference.trees.scales import LEAF, Scale, rescale, scale_distance
from mmpcodec.reference.trees.segments import Node
from mmpcodec.tools import TreeTools


def learns(scale: Scale, origin: Scale, tools: TreeTools) -> bool:
    """Return whether the dictionary of a scale learns from split segments of the scale ``origin``.

    Where leaves can be copies, segments are not made larger.
    """
    larger = scale.n < origin.n or scale.m < origin.m
    return scale_distance(origin, scale) <= tools.copy_radius and not (larger and are_copies(tools))


def learn(
    dictionaries: dict[Scale, Dictionary],
    nodes: Sequence[Node],
    coded: np.ndarray,
    tools: TreeTools,
) -> None:
    """Insert the split segments of a decoded fragment into the dictionaries.

    Parameters
    ----------
    dictionaries : dict of Scale to Dictionary
        Changed in place.
    nodes : sequence of Node
        The fragment's tree in coding order.
    coded : (16, 16) uint8 array
        The samples that the elements of the leaves build.
    tools : TreeTools
    """
    for node in nodes:
        if node.flag == LEAF:
            continue
        block = coded[node.segment.slices]
        for scale, dictionary in dictionaries.items():
            if learns(scale, node.segment.scale, tools):
                dictionary.insert(rescale(block, scale).ravel(), node.segment.scale)


def learn_copies(
    dictionaries: dict[Scale, Dictionary],
    copies: Copies,
    nodes: Sequence[Node],
    row: int,
    column: int,
    samples: np.ndarray,
) -> None:
    """Insert the copies of a decoded 16x16 area into the dictionaries; then copies can end in it.

    Parameters
    ----------
    dictionaries : dict of Scale to Dictionary
        Changed in place.
    copies : Copies
        Changed in place.
    nodes : sequence of Node
        The trees of the area in coding order.
    row, column : int
        First sample of the area.
    samples : (H, W) uint8 array
        The padded picture, decoded up to and including the area.
    """
    for node in nodes:
        if node.index is not None and node.index < 0:
            block = samples[row:, column:][node.segment.slices]
            dictionaries[node.segment.scale].insert(block.ravel(), None, used=True)
    copies.add_area(row, column, samples)
