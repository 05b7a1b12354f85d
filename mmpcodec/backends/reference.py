"""The reference backend: plain NumPy, one line a step, the definition of the codec."""

from dataclasses import replace
from functools import partial

import numpy as np

from mmpcodec.backends.base import Backend, Coded, Progress, Trace, report_progress
from mmpcodec.codec import exact
from mmpcodec.codec.block_coder import BlockPicture, decode_blocks
from mmpcodec.codec.block_search import encode_blocks
from mmpcodec.codec.costmap import cost_map, index_costs
from mmpcodec.codec.depths import BYTE
from mmpcodec.codec.dictionary import Dictionary, learn, make_dictionaries
from mmpcodec.codec.displaced import learn_displaced
from mmpcodec.codec.fragments import (
    fragment_origins,
    pad,
    padded_shape,
    predict,
    reconstruct,
    residual,
)
from mmpcodec.codec.models import Models
from mmpcodec.codec.scales import FRAGMENT_SIZE, OUTSIDE, SCALES, Scale
from mmpcodec.codec.symbols import SymbolReader, SymbolWriter
from mmpcodec.codec.tree import Neighbours, code_tree, mark_leaves, optimal_tree, rebuild
from mmpcodec.params import EncodeParams, Tools


class ReferenceBackend(Backend):
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
        state = PictureState(plane.shape, params.coded_tools)
        writer = SymbolWriter()
        fragments = zip(state.walk(progress), state.fragments_of(plane), strict=True)
        for neighbours, fragment in fragments:
            prediction = predict()
            target = residual(fragment, prediction)
            costs = {
                scale: index_costs(state.models, dictionary, params.lambda_fixed, params.rate_model)
                for scale, dictionary in state.dictionaries.items()
            }
            cost, index = cost_map(target, state.dictionaries, costs)
            nodes = optimal_tree(cost, index, state.models, neighbours, params.lambda_fixed)
            code_tree(writer, state.models, state.dictionaries, neighbours, nodes)
            state.finish_fragment(nodes, prediction)
        return state.coded(writer.finish(), writer.tally.bits())

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
        for neighbours in state.walk(progress):
            nodes = code_tree(reader, state.models, state.dictionaries, neighbours, None)
            state.finish_fragment(nodes, predict())
        reader.finish()
        return state.coded(payload, reader.tally.bits())

    def encode_exact(
        self, planes: np.ndarray, depth: int, *, progress: Progress | None = None
    ) -> tuple[bytes, Trace]:
        report = partial(report_progress, progress)
        payload, bits = exact.encode_planes(planes, depth, report)
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
        planes, bits = exact.decode_planes(payload, shape, depth, report)
        return planes, Trace(bits)


def _coded_blocks(payload: bytes, samples, bits, picture: BlockPicture) -> Coded:
    trace = Trace(bits, units=picture.units.known)
    if picture.trees:
        sizes = dictionary_sizes(picture.trees.dictionaries)
        trace = replace(trace, leaf_scales=picture.trees.leaf_scales, dictionary_sizes=sizes)
    return Coded(payload, samples, trace)


def dictionary_sizes(dictionaries: dict[Scale, Dictionary]) -> np.ndarray:
    """(25,) int array: as ``Trace.dictionary_sizes``."""
    sizes = np.zeros(len(SCALES), int)
    for scale, dictionary in dictionaries.items():
        sizes[scale.number] = len(dictionary)
    return sizes


class PictureState:
    """What encoder and decoder both hold while a picture is coded.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the plane.
    tools : Tools
    """

    def __init__(self, shape: tuple[int, int], tools: Tools):
        self.shape = shape
        self.tools = tools
        self.models = Models(tools)
        self.dictionaries = make_dictionaries(tools)
        padded = padded_shape(shape)
        self.samples = np.zeros(padded, np.uint8)
        self.leaf_scales = np.full(padded, OUTSIDE, np.int8)
        self.row = self.column = 0

    def fragments_of(self, plane: np.ndarray):
        """The padded plane's fragments in coding order."""
        padded = pad(plane).astype(np.int32)
        for row, column in fragment_origins(*padded.shape):
            yield padded[row : row + FRAGMENT_SIZE, column : column + FRAGMENT_SIZE]

    def walk(self, progress: Progress | None):
        """Go through the fragments, yielding the neighbours of each."""
        origins = list(fragment_origins(*self.samples.shape))
        for done, (self.row, self.column) in enumerate(origins):
            if self.column == 0:
                report_progress(progress, done, len(origins))
            yield Neighbours(self.leaf_scales, self.row, self.column)
        report_progress(progress, len(origins), len(origins))

    def finish_fragment(self, nodes: list, prediction: np.ndarray) -> None:
        """Rebuild the current fragment from its coded tree and learn from it."""
        coded = rebuild(nodes, self.dictionaries)
        rows = slice(self.row, self.row + FRAGMENT_SIZE)
        columns = slice(self.column, self.column + FRAGMENT_SIZE)
        self.samples[rows, columns] = reconstruct(coded, prediction)
        mark_leaves(nodes, self.leaf_scales, self.row, self.column)
        learn(self.dictionaries, nodes, coded, self.tools)
        learn_displaced(self.dictionaries, self.samples, self.row, self.column, self.tools)

    def coded(self, payload: bytes, bits: dict[str, float]) -> Coded:
        """The finished picture."""
        height, width = self.shape
        return Coded(
            payload,
            self.samples[:height, :width].copy(),
            Trace(bits, self.leaf_scales, dictionary_sizes(self.dictionaries)),
        )
