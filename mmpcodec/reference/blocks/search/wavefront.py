"""The models from which the search of each fragment takes its costs. *Encoder only*.

Backends search the fragments of several rows at once, each row ``LAG`` samples behind the row
above. So the costs of a fragment come from models that have counted only fragments which are done
by then: those before it in its row, and those of the rows above up to this lag. The models that
code the payload count all fragments in coding order. Decision 19 has the loss.
"""

from copy import deepcopy

import numpy as np

from mmpcodec.reference.blocks.coder import BlockPicture, code_blocks
from mmpcodec.reference.blocks.models import BlockModels, ModeModels
from mmpcodec.reference.blocks.partition import MAX_LOG2, BlockNode, BlockPlace
from mmpcodec.reference.entropy.binary import BinaryModels
from mmpcodec.reference.entropy.symbols import SymbolCounter

LAG = 2 << MAX_LOG2
"""Number of samples that a row of fragments is behind the row above."""


class ModelLine:
    """The models after the latest fragment in each column of fragments.

    Parameters
    ----------
    picture : BlockPicture
        State of the coder.
    """

    def __init__(self, picture: BlockPicture):
        self.picture = picture
        size = picture.tools.fragment_size
        self._lag = LAG // size
        self._line = [self._at_start() for _ in range(-(-picture.shape[1] // size))]

    def models_at(self, fragment: BlockPlace) -> BlockModels:
        """Return a copy of the models for the search of a fragment.

        Call before ``count``, for each fragment in coding order.
        """
        column = fragment.column // fragment.width
        above = self._line[min(column + self._lag, len(self._line)) - 1]
        if column == 0:
            return deepcopy(above) if fragment.row else self._at_start()
        models = deepcopy(self._line[column - 1])
        if fragment.row:
            merge(models, above)
        return models

    def _at_start(self) -> BlockModels:
        return self.picture.models_at_start()

    def count(self, fragment: BlockPlace, nodes: list[BlockNode], models: BlockModels) -> None:
        """Let the models of a fragment's search count its plan, which is coded already."""
        exact, self.picture.models = self.picture.models, models
        self.picture.units.forget(fragment)
        code_blocks(SymbolCounter(), self.picture, fragment, nodes)
        self.picture.models = exact
        self._line[fragment.column // fragment.width] = models


def merge(models: BlockModels, other: BlockModels) -> None:
    """Let models take what other models have learned.

    A probability becomes the mean of both, weighted by the bits that each was learned from. Each
    mode has the larger of both frequencies.
    """
    for name, own in vars(models).items():
        theirs = getattr(other, name)
        if isinstance(own, ModeModels):
            _merge_bits(own.likely, theirs.likely)
            np.maximum(own.frequency, theirs.frequency, out=own.frequency)
            for size in range(len(own.frequency)):
                own.halve(size)
        else:
            _merge_bits(own, theirs)


def _merge_bits(own: BinaryModels, other: BinaryModels) -> None:
    weight = own.uses + other.uses
    mean = own.probability * own.uses + other.probability * other.uses + weight // 2
    used = weight > 0
    own.probability[used] = mean[used] // weight[used]
    np.maximum(own.uses, other.uses, out=own.uses)
