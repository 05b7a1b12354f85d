"""Groups of pictures that a CUDA device codes by trees at the same time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from typing import Any, cast

import numpy as np

from mmpcodec.backends.cpu import bits_of
from mmpcodec.backends.cuda.trees_state import (
    PHASES,
    STATE_DTYPE,
    dictionary_sizes,
    has_dictionary_tools,
    make_state,
    plan_dictionaries,
    trees_dtype,
)
from mmpcodec.params import EncodeParams
from mmpcodec.reference.entropy.rates import LOG2
from mmpcodec.reference.entropy.syntax import TREE_SYNTAX
from mmpcodec.reference.trees.fragments import fragments_in, padded_shape
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE, SCALES
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute, kept
from mmpcodec.tools import TreeTools
from mmpcodec.trace import Coded, Trace

CHUNK = 128
"""Fragments of one launch; meanwhile the host codes the trees of the previous launch."""


def device_bytes(shape: tuple[int, int], params: EncodeParams) -> int:
    """Return the device memory that a picture needs while it is encoded, in bytes."""
    plan = plan_dictionaries(cast(TreeTools, params.coded_tools))
    height, width = padded_shape(shape)
    return plan.size + STATE_DTYPE.itemsize + 3 * height * width


class TreeGroup:
    """A group of pictures that are encoded at once: device memory, launches, entropy coding."""

    def __init__(
        self,
        planes: Sequence,
        params: EncodeParams,
        defines: tuple[str, ...],
        pool: ThreadPoolExecutor,
    ):
        import cupy

        from mmpcodec import _cpu

        self.params = params
        # The native coder releases the interpreter lock, so threads code pictures at once.
        self.map = map if len(planes) == 1 else pool.map
        self.shapes = [plane.shape for plane in planes]
        self.fragments = [fragments_in(shape) for shape in self.shapes]
        self.device = cupy.cuda.Device()
        self.stream = cupy.cuda.get_current_stream()
        self.start = kernels.function("trees/start", "start_pictures", self.device.id)
        tools = cast(TreeTools, params.coded_tools)
        loop = "encode_with_tools" if has_dictionary_tools(tools) else "encode"
        self.step = kernels.function(
            f"trees/{loop}", "encode_fragments", self.device.id, defines, cooperative=True
        )
        self.coders = [_cpu.TreeCoder(*shape, tools) for shape in self.shapes]
        self.planes = [cupy.ascontiguousarray(cupy.asarray(plane)) for plane in planes]
        self._allocate()

    def _allocate(self) -> None:
        import cupy

        count, tools = len(self.planes), cast(TreeTools, self.params.coded_tools)
        trees = trees_dtype(CHUNK, tools)
        self.pinned = cupy.cuda.alloc_pinned_memory(count * trees.itemsize)
        self.trees = np.frombuffer(self.pinned, trees, count)
        plan = plan_dictionaries(tools)
        self.dictionaries = cupy.empty((count, plan.size), np.uint8)
        self.dictionaries[:, : plan.cleared] = 0
        ends = list(accumulate(fragments * FRAGMENT_SIZE**2 for fragments in self.fragments))
        self.starts = [0, *ends]
        self.samples = cupy.empty(ends[-1], np.uint8)
        self.leaf_scales = cupy.empty(ends[-1], np.int8)
        states = np.zeros(count, STATE_DTYPE)
        for i, shape in enumerate(self.shapes):
            dictionaries = self.dictionaries.data.ptr + i * plan.size
            states[i] = make_state(self.params, shape, plan, dictionaries)
            picture = states[i]["picture"]
            picture["source"] = self.planes[i].data.ptr
            picture["samples"] = self.samples.data.ptr + self.starts[i]
            picture["leaf_scales"] = self.leaf_scales.data.ptr + self.starts[i]
            picture["rates"] = rate_table(self.device.id).data.ptr
            picture["chunk"] = CHUNK
            picture["class_room"] = self.trees["first_class"].shape[-1]
            for name in trees.names or ():
                picture[name] = self.trees[name][i].ctypes.data
        self.states = cupy.asarray(states.view(np.uint8))

    def encode(self) -> Iterator[int]:
        """Encode all pictures; yields the number of fragments done after each launch."""
        try:
            self.start((len(SCALES), len(self.planes)), (self.states,))
            running = self._launch(0)
            for first in range(CHUNK, max(self.fragments) + CHUNK, CHUNK):
                done, running = running, self._launch(first)
                done.synchronize()
                list(self.map(partial(self._code, first - CHUNK), range(len(self.planes))))
                yield sum(min(first, fragments) for fragments in self.fragments)
        finally:
            # The device must not write to host memory that is freed after this.
            self.stream.synchronize()

    def _launch(self, first: int) -> Any:
        """Start the search of the next fragments; returns the event of its end."""
        count = len(self.planes)
        if first < max(self.fragments):
            blocks = attribute("MultiProcessorCount", self.device.id) // count
            arguments = self.states, np.int32(first), np.int32(first + CHUNK), _slot(first)
            self.step((blocks, count), arguments)
        return self.stream.record()

    def _code(self, first: int, i: int) -> None:
        """Entropy-code the trees that one launch chose for a picture."""
        count = min(self.fragments[i] - first, CHUNK)
        if count > 0:
            slot, trees = _slot(first), self.trees[i]
            self.coders[i].code(
                trees["node_counts"][slot, :count],
                trees["nodes"][slot],
                trees["insertions"][slot, :count],
                trees["first_class"],
            )

    def results(self) -> Iterator[Coded]:
        """Yield the coded pictures in the order of the planes."""
        sizes = dictionary_sizes(self._states())
        samples, leaf_scales = self.samples.get(), self.leaf_scales.get()
        for i, (height, width) in enumerate(self.shapes):
            place = slice(self.starts[i], self.starts[i + 1])
            shape = padded_shape((height, width))
            coder = self.coders[i]
            bits, cell_rates = bits_of(coder.tally(), TREE_SYNTAX), coder.cell_rates()
            scales = leaf_scales[place].reshape(shape)
            yield Coded(
                coder.finish(),
                samples[place].reshape(shape)[:height, :width].copy(),
                Trace(bits, scales, sizes[i], cell_rates=cell_rates),
            )

    def _states(self) -> np.ndarray:
        return self.states.get().view(STATE_DTYPE)

    def phase_cycles(self) -> dict[str, int]:
        """Return the clock cycles of each phase, in the profiled block of the first picture."""
        cycles = self._states()["phase_cycles"][0]
        return dict(zip(PHASES, cycles.tolist(), strict=True))


def _slot(first: int) -> np.int32:
    return np.int32(first // CHUNK % 2)


@kept
def rate_table(device: int) -> Any:
    """Return log2 of every total that a model can have, in 2**-12 bit, on a device."""
    import cupy

    return cupy.asarray(LOG2.astype(np.int32))
