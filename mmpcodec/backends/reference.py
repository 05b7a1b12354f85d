"""The reference backend: runs the definition of the codec in ``mmpcodec.reference``."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.depth import BYTE
from mmpcodec.reference.blocks.coder import BlockPicture, decode_blocks
from mmpcodec.reference.blocks.search.search import encode_blocks
from mmpcodec.reference.lossless.coder import decode_planes, encode_planes
from mmpcodec.reference.lossless.planes import from_planes, to_planes
from mmpcodec.reference.lossless.two_values.plane import TwoValuesChain
from mmpcodec.reference.trees.coder import (
    PictureState,
    decode_trees,
    dictionary_sizes,
    encode_trees,
)
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.tools import BlockTools, LosslessTools, Tools
from mmpcodec.trace import Coded, Trace


class ReferenceBackend(Backend):
    """NumPy on one thread: slow, and the judge of what the other backends compute.

    Its search for predicted blocks takes no shortcut, as that of `CpuBackend` with `PLAIN_EFFORTS`.
    """

    name = "reference"
    own_search = "predicted blocks"

    def unavailable(self) -> None:
        return None

    def describe(self) -> str:
        return f"NumPy {np.__version__}, one thread"

    def new_chain(self, most_width: int, most_rows: int) -> TwoValuesChain:
        return TwoValuesChain()

    def encode(
        self, task: PlaneTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> Coded:
        self.check(task)
        plane, params = task.plane, task.params
        tools, lambda_fixed = params.coded_tools, params.lambda_fixed
        report = partial(report_progress, progress)
        if isinstance(tools, BlockTools):
            more = params.rate_model, task.depth, task.earlier, task.fragments
            return _coded_blocks(
                *encode_blocks(plane, tools, lambda_fixed, params.effort, report, *more)
            )
        if isinstance(tools, LosslessTools):
            planes = to_planes(plane)
            found = encode_planes(planes, task.depth, tools, report, task.chain, task.source)
            return _coded_lossless(task.depth, *found)
        return _coded_trees(*encode_trees(plane, tools, lambda_fixed, report, params.rate_model))

    def decode(
        self,
        payload: bytes,
        shape: tuple[int, ...],
        tools: Tools,
        *,
        depth: int = BYTE,
        earlier: Sequence[np.ndarray] = (),
        threads: int | None = None,
        progress: Progress | None = None,
        chain: TwoValuesChain | None = None,
    ) -> Coded:
        self.check_has(tools, depth)
        self.check_earlier(tools, shape, earlier)
        report = partial(report_progress, progress)
        height, width, *planes = shape
        if isinstance(tools, BlockTools):
            found = decode_blocks(payload, (height, width), tools, report, depth, earlier)
            return _coded_blocks(payload, *found)
        if isinstance(tools, LosslessTools):
            size = planes[0] if planes else 1, height, width
            lossless = decode_planes(payload, size, depth, tools, report, chain)
            return _coded_lossless(depth, payload, *lossless)
        return _coded_trees(payload, *decode_trees(payload, (height, width), tools, report))


def _coded_lossless(depth: int, payload: bytes, planes, bits, cell_rates) -> Coded:
    return Coded(payload, from_planes(planes, depth), Trace(bits, cell_rates=cell_rates))


def _coded_trees(payload: bytes, bits, cell_rates, state: PictureState) -> Coded:
    sizes = dictionary_sizes(state.dictionaries)
    trace = Trace(bits, state.leaf_scales, sizes, cell_rates=cell_rates)
    return Coded(payload, state.shown(), trace)


def _coded_blocks(payload: bytes, samples, bits, cell_rates, picture: BlockPicture) -> Coded:
    changes = picture.changes if picture.tools.delta_step else None
    trace = Trace(bits, units=picture.units.known, changes=changes, cell_rates=cell_rates)
    if picture.trees:
        sizes = dictionary_sizes(picture.trees.dictionaries)
        trace = replace(trace, leaf_scales=picture.trees.leaf_scales, dictionary_sizes=sizes)
    return Coded(payload, samples, trace)
