"""Symbols of predicted blocks are read without samples."""

import numpy as np
import pytest
from support.strategies import CONTENT, deepened, earlier_planes

from mmpcodec import EncodeParams
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.reference.blocks.coder import BlockPicture, code_blocks
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import block_syntax


class Garbage(BlockPicture):
    """A picture whose blocks get random samples."""

    random = np.random.default_rng(1)

    def rebuild(self, place, block):
        samples = self.random.integers(0, 1 << self.depth, self.samples.shape)
        self.samples[place.slices] = samples[place.slices]
        self.units.mark(place, block)


def symbols_of(payload, picture):
    """Return places, modes, kinds and levels of all blocks."""
    reader = SymbolReader(payload, block_syntax(picture.tools.dictionary))
    found = []
    for fragment in picture.fragments(None):
        for node in code_blocks(reader, picture, fragment, None):
            block = node.block
            if block is None:
                found.append((node.place, node.flag))
                continue
            levels = None if block.levels is None else block.levels.tolist()
            types = block.sine, block.trained, block.skipped
            found.append((node.place, block.mode, types, levels))
    reader.finish()
    return found, picture.changes.tolist()


@pytest.mark.parametrize(("depth", "planes"), [(8, 0), (8, 2), (12, 1)])
def test_symbols_do_not_depend_on_samples(depth, planes):
    rng = np.random.default_rng(depth + planes)
    picture = deepened(rng, CONTENT["natural"](rng, 70, 90), depth)
    params = EncodeParams.from_options(
        20, preset="photo", effort=4, tune="eye", cross_component=planes
    )
    tools, shape = params.coded_tools, picture.shape
    earlier = earlier_planes(shape, tools, depth)
    coded = CpuBackend().encode(PlaneTask(picture, params, depth=depth, earlier=earlier))
    right = symbols_of(coded.payload, BlockPicture(shape, tools, depth, earlier))
    others = [plane[::-1] for plane in earlier]
    assert symbols_of(coded.payload, Garbage(shape, tools, depth, others)) == right
