"""Groups of pictures that a CUDA device searches for predicted blocks at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np

from mmpcodec.backends.cpu import bits_of
from mmpcodec.backends.cuda.blocks_state import (
    BLOCKS,
    PICTURE_DTYPE,
    arrays_of,
    fragments_of,
    make_picture,
    make_tables,
    place_arrays,
)
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.partition import padded_shape
from mmpcodec.reference.blocks.search.effort import COARSE_SIZE, EFFORTS
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute, free_bytes
from mmpcodec.trace import Coded, Trace

CHUNK = 32
"""Fragments of one launch."""
THREADS = 128
MOST_WORKERS = 16
MOST_PER_PROCESSOR = 4
"""Most workers that fit in the registers of a multiprocessor."""
RESERVED = 1024
"""Bytes of shared memory that the device reserves for each worker."""


@cache
def tables_on(device: int) -> Any:
    """Return the constant tables, on a device."""
    import cupy

    with cupy.cuda.Device(device):
        return cupy.asarray(make_tables().reshape(1).view(np.uint8))


@cache
def _sizes(device: int) -> tuple[int, int, int, int]:
    """Return sizes in bytes: state, memory of a worker, its shared memory, one more candidate."""
    import cupy

    module = kernels.load("blocks/encode", device, (), True)
    return tuple(cupy.ndarray(4, np.int64, module.get_global("block_bytes")).get().tolist())


def _shared_bytes(device: int, params: EncodeParams) -> int:
    _, _, first, more = _sizes(device)
    return first + (EFFORTS[params.effort].tried - 1) * more


def device_bytes(shape: tuple[int, int], params: EncodeParams, device: int) -> int:
    """Return the device memory that a picture with one worker needs, in bytes."""
    state, worker_bytes, *_ = _sizes(device)
    return state + place_arrays(arrays_of(shape, params, CHUNK, 1, worker_bytes))[1]


def most_workers(params: EncodeParams, device: int) -> int:
    """Return the most workers (CUDA blocks of a picture's search) that the device runs at once."""
    shared = attribute("MaxSharedMemoryPerMultiprocessor", device)
    each = min(MOST_PER_PROCESSOR, shared // (_shared_bytes(device, params) + RESERVED))
    return attribute("MultiProcessorCount", device) * each


def workers_for(shapes: Sequence[tuple[int, int]], params: EncodeParams, device: int) -> int:
    """Return the workers per picture: a power of two that fits the device and its memory."""
    _, worker_bytes, *_ = _sizes(device)
    workers = MOST_WORKERS
    room = free_bytes() - sum(device_bytes(shape, params, device) for shape in shapes)
    while workers > 1 and (
        workers * len(shapes) > most_workers(params, device)
        or (workers - 1) * len(shapes) * worker_bytes > room
    ):
        workers //= 2
    return workers


class BlockGroup:
    """A group of pictures that are encoded at once: device memory, launches, entropy coding.

    Parameters
    ----------
    planes : sequence of (H, W) uint8 NumPy or CuPy arrays
    params : EncodeParams
    pool : ThreadPoolExecutor
        Threads for entropy coding, one picture each at a time.
    """

    def __init__(self, planes: Sequence, params: EncodeParams, pool: ThreadPoolExecutor):
        import cupy

        from mmpcodec import _cpu

        self.params = params
        self.map = map if len(planes) == 1 else pool.map
        self.shapes = [plane.shape for plane in planes]
        self.fragments = [fragments_of(shape, params) for shape in self.shapes]
        self.device = cupy.cuda.Device().id
        self.stream = cupy.cuda.get_current_stream()
        state_bytes, worker_bytes, *_ = _sizes(self.device)
        self.workers = workers_for(self.shapes, params, self.device)
        self.coders = [_cpu.PlanCoder(*shape, params.coded_tools) for shape in self.shapes]
        self.memory: list[Any] = []
        self.arrays: list[dict[str, Any]] = []
        states = np.zeros((len(planes), state_bytes), np.uint8)
        for plane, state in zip(planes, states, strict=True):
            picture = make_picture(plane.shape, params, worker_bytes)
            self._place(cupy.asarray(plane), picture, worker_bytes)
            state[: PICTURE_DTYPE.itemsize] = picture.reshape(1).view(np.uint8)
        self.states = cupy.asarray(states)

    def _place(self, plane: Any, picture: np.ndarray, worker_bytes: int) -> None:
        """Allocate the arrays of a picture and set its pointers."""
        import cupy

        from mmpcodec.backends.cuda.trees import rate_table

        arrays = arrays_of(plane.shape, self.params, CHUNK, self.workers, worker_bytes)
        offsets, size = place_arrays(arrays)
        memory = cupy.zeros(size, np.uint8)
        views = {}
        for name, (dtype, shape) in arrays.items():
            picture[name] = memory.data.ptr + offsets[name]
            length = dtype.itemsize * int(np.prod(shape))
            part = memory[offsets[name] : offsets[name] + length]
            views[name] = part.view(dtype).reshape(shape)
        picture["tables"] = tables_on(self.device).data.ptr
        picture["rates"] = rate_table(self.device).data.ptr
        height, width = plane.shape
        rows, columns = padded_shape(plane.shape)
        more = (0, rows - height), (0, columns - width)
        views["source"][...] = cupy.pad(plane, more, "edge")
        self.memory.append(memory)
        self.arrays.append(views)

    def encode(self) -> Iterator[int]:
        """Encode all pictures; yields the number of 16x16 fragments done after each launch."""
        count, most = len(self.shapes), max(self.fragments)
        load = partial(kernels.function, device=self.device)
        start = load("blocks/encode", "start_models", threads=32, cooperative=True, shared_bytes=0)
        coarsen = load("blocks/search/coarsen", "coarsen_source", threads=COARSE_SIZE**2)
        survey = load("blocks/search/survey", "survey_blocks", threads=THREADS)
        search = load(
            "blocks/encode",
            "search_blocks",
            threads=THREADS,
            cooperative=True,
            shared_bytes=_shared_bytes(self.device, self.params),
        )
        rows, columns = (-(-max(sides) // COARSE_SIZE) for sides in zip(*self.shapes, strict=True))
        try:
            start((count,), (self.states,))
            coarsen((columns, rows, count), (self.states,))
            for first in range(0, most, CHUNK):
                fragments = min(CHUNK, most - first)
                survey((BLOCKS, fragments, count), (self.states, np.int32(first)))
                arguments = self.states, np.int32(first), np.int32(first + fragments)
                search((self.workers, count), arguments)
                list(self.map(partial(self._code, first), range(count)))
                yield sum(
                    fragments_in(shape) * min(first + fragments, each) // each
                    for shape, each in zip(self.shapes, self.fragments, strict=True)
                )
        finally:
            self.stream.synchronize()

    def _code(self, first: int, i: int) -> None:
        """Entropy-code the plans that one launch chose for a picture."""
        part = slice(first, min(first + CHUNK, self.fragments[i]))
        if part.start < part.stop:
            with self.stream:
                nodes = self.arrays[i]["plan_nodes"][part].get()
                levels = self.arrays[i]["plan_levels"][part].get()
            self.coders[i].code(nodes, levels)

    def results(self) -> Iterator[Coded]:
        """Yield the coded pictures in the order of the planes."""
        for (height, width), coder, arrays in zip(
            self.shapes, self.coders, self.arrays, strict=True
        ):
            payload, rates, units = coder.finish()
            samples = np.ascontiguousarray(arrays["samples"].get()[:height, :width])
            yield Coded(payload, samples, Trace(bits_of(rates, BLOCK_SYNTAX), units=units))
