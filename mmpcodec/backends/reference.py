"""The reference backend: runs the definition of the codec in ``mmpcodec.reference``."""

from dataclasses import replace
from functools import partial

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.depth import BYTE
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture, decode_blocks
from mmpcodec.reference.blocks.search.search import encode_blocks
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.exact import coder
from mmpcodec.reference.trees.coder import PictureState, dictionary_sizes
from mmpcodec.reference.trees.costs import cost_map, index_costs
from mmpcodec.reference.trees.tree import code_tree, optimal_tree
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.tools import Tools
from mmpcodec.trace import Coded, Trace


class ReferenceBackend(Backend):
    """NumPy on one thread; slow, and the judge of all other backends."""

    name = "reference"

    def unavailable(self) -> None:
        return None

    def describe(self) -> str:
        return f"NumPy {np.__version__}, one thread"

    def encode(
        self,
        plane: np.ndarray,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        self.check_has(params.tools, depth)
        if params.tools.prediction:
            return _coded_blocks(
                *encode_blocks(
                    plane,
                    params.coded_tools,
                    params.lambda_fixed,
                    params.effort,
                    partial(report_progress, progress),
                    params.rate_model,
                    depth,
                )
            )
        report = partial(report_progress, progress)
        state = PictureState(plane.shape, params.coded_tools)
        writer = SymbolWriter()
        fragments = zip(state.walk(report), state.fragments_of(plane), strict=True)
        for neighbours, fragment in fragments:
            costs = {
                scale: index_costs(state.models, dictionary, params.lambda_fixed, params.rate_model)
                for scale, dictionary in state.dictionaries.items()
            }
            cost, index = cost_map(fragment, state.dictionaries, costs)
            nodes = optimal_tree(cost, index, state.models, neighbours, params.lambda_fixed)
            code_tree(writer, state.models, state.dictionaries, neighbours, nodes)
            state.finish_fragment(nodes)
        return _coded_trees(writer.finish(), writer.tally.bits(), state)

    def decode(
        self,
        payload: bytes,
        shape: tuple[int, int],
        tools: Tools,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        self.check_has(tools, depth)
        if tools.prediction:
            found = decode_blocks(payload, shape, tools, partial(report_progress, progress), depth)
            return _coded_blocks(payload, *found)
        state = PictureState(shape, tools)
        reader = SymbolReader(payload)
        for neighbours in state.walk(partial(report_progress, progress)):
            nodes = code_tree(reader, state.models, state.dictionaries, neighbours, None)
            state.finish_fragment(nodes)
        reader.finish()
        return _coded_trees(payload, reader.tally.bits(), state)

    def encode_exact(
        self, planes: np.ndarray, depth: int, *, progress: Progress | None = None
    ) -> tuple[bytes, Trace]:
        report = partial(report_progress, progress)
        payload, bits = coder.encode_planes(planes, depth, report)
        return payload, Trace(bits)

    def decode_exact(
        self,
        payload: bytes,
        shape: tuple[int, int, int],
        depth: int,
        *,
        progress: Progress | None = None,
    ) -> tuple[np.ndarray, Trace]:
        report = partial(report_progress, progress)
        planes, bits = coder.decode_planes(payload, shape, depth, report)
        return planes, Trace(bits)


def _coded_trees(payload: bytes, bits: dict[str, float], state: PictureState) -> Coded:
    sizes = dictionary_sizes(state.dictionaries)
    return Coded(payload, state.shown(), Trace(bits, state.leaf_scales, sizes))


def _coded_blocks(payload: bytes, samples, bits, picture: BlockPicture) -> Coded:
    trace = Trace(bits, units=picture.units.known)
    if picture.trees:
        sizes = dictionary_sizes(picture.trees.dictionaries)
        trace = replace(trace, leaf_scales=picture.trees.leaf_scales, dictionary_sizes=sizes)
    return Coded(payload, samples, trace)
