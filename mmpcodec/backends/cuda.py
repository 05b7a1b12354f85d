"""The cuda backend: the whole search loop on the device, entropy coding on the host."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from mmpcodec.backends import kernels
from mmpcodec.backends.base import Backend, Coded, Progress, Trace, report_progress
from mmpcodec.backends.device_state import (
    MAX_SYMBOLS,
    PHASES,
    STATE_DTYPE,
    make_state,
    padded_shape,
    plan_dictionaries,
)
from mmpcodec.codec.models import LOG2
from mmpcodec.codec.scales import FRAGMENT_SIZE, SCALES
from mmpcodec.codec.symbols import SYNTAX
from mmpcodec.errors import BackendUnavailable, LimitExceeded
from mmpcodec.params import EncodeParams, Tools

THREADS = 1024
CHUNK = 256
"""Fragments of one launch; while it runs the host codes the symbols of the one before."""


@cache
def _unavailable() -> str | None:
    try:
        import cupy
    except ImportError as error:
        return f"CuPy does not import ({error}); install mmpcodec[cuda13] or mmpcodec[cuda12]"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device ({error})"
    return None if count else "no CUDA device"


@cache
def _rate_table(device: int):
    import cupy

    with cupy.cuda.Device(device):
        return cupy.asarray(LOG2.astype(np.int32))


class CudaBackend(Backend):
    """The current device and stream of CuPy are used.

    Parameters
    ----------
    profile : bool
        Measure the phases of the search loop; ``phase_cycles`` then holds those of the last call.
    """

    name = "cuda"

    def __init__(self, profile: bool = False):
        self.profile = profile
        self.phase_cycles: dict[str, int] = {}

    def unavailable(self) -> str | None:
        return _unavailable()

    def describe(self) -> str:
        import cupy

        device = cupy.cuda.Device()
        name = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
        return f"{name}, CuPy {cupy.__version__}"

    def encode(
        self,
        plane: np.ndarray,
        params: EncodeParams,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        return self.encode_batch([plane], params, progress=progress)[0]

    def encode_batch(
        self, planes: Sequence, params: EncodeParams, *, progress: Progress | None = None
    ) -> list[Coded]:
        """Encode several planes at once, each as if alone.

        Parameters
        ----------
        planes : sequence of (H, W) uint8 NumPy or CuPy arrays
        params : EncodeParams
        progress : callable or None
            Called with the fragments done and their number, over all planes.

        Raises
        ------
        LimitExceeded
            When the device has too little free memory.
        """
        run = _Batch(planes, params, ("MMP_PROFILE=0",) if self.profile else ())
        coded = run.encode(progress)
        if self.profile:
            self.phase_cycles = run.phase_cycles()
        return coded

    def decode(
        self,
        payload: bytes,
        shape: tuple[int, int],
        tools: Tools,
        *,
        progress: Progress | None = None,
    ) -> Coded:
        raise BackendUnavailable("backend cuda cannot run here: it only encodes; cpu decodes")


class _Batch:
    """One call of encode_batch: memory, launches, and the host's part."""

    def __init__(self, planes: Sequence, params: EncodeParams, defines: tuple[str, ...]):
        import cupy

        self.cupy = cupy
        self.params = params
        self.shapes = [plane.shape for plane in planes]
        self.fragments = [
            height * width // FRAGMENT_SIZE**2 for height, width in map(padded_shape, self.shapes)
        ]
        self.plan = plan_dictionaries(params.tools.partition, params.tools.dictionary_limit)
        self.device = cupy.cuda.Device()
        self._check_memory()
        self.start = kernels.load("start", self.device.id).get_function("start_pictures")
        module = kernels.load("encode", self.device.id, defines, cooperative=True)
        self.step = module.get_function("encode_fragments")
        sizes = cupy.zeros(4, np.uint32)
        module.get_function("layout_sizes")((1,), (1,), (sizes,))
        self.shared_bytes = int(sizes[3])
        self.step.max_dynamic_shared_size_bytes = self.shared_bytes
        self.pictures = [cupy.ascontiguousarray(cupy.asarray(plane)) for plane in planes]
        self._allocate()

    def _check_memory(self) -> None:
        needed = sum(
            self.plan.size + 3 * height * width for height, width in map(padded_shape, self.shapes)
        )
        free = self.device.mem_info[0] + self.cupy.get_default_memory_pool().free_bytes()
        if needed > free:
            raise LimitExceeded(
                "Device memory",
                f"{len(self.shapes)} pictures need {needed} bytes "
                f"({self.plan.size} each for dictionaries), {free} are free",
            )

    def _allocate(self) -> None:
        cupy = self.cupy
        self.capacity = CHUNK * MAX_SYMBOLS
        count = len(self.pictures)
        pinned = cupy.cuda.alloc_pinned_memory(16 * self.capacity * count + 8 * count)
        words = np.frombuffer(pinned, np.uint64, 2 * self.capacity * count)
        self.symbols = words.reshape(count, 2, self.capacity)
        counts = np.frombuffer(pinned, np.uint32, 2 * count, offset=16 * self.capacity * count)
        self.symbol_counts = counts.reshape(count, 2)
        self.samples, self.leaf_scales, self.dictionaries = [], [], []
        states = np.zeros(count, STATE_DTYPE)
        for i, shape in enumerate(self.shapes):
            dictionaries = cupy.empty(self.plan.size, np.uint8)
            dictionaries[: self.plan.cleared] = 0
            self.dictionaries.append(dictionaries)
            self.samples.append(cupy.empty(padded_shape(shape), np.uint8))
            self.leaf_scales.append(cupy.empty(padded_shape(shape), np.int8))
            states[i] = make_state(self.params, shape, self.plan, dictionaries.data.ptr)
            states[i]["picture"]["source"] = self.pictures[i].data.ptr
            states[i]["picture"]["samples"] = self.samples[i].data.ptr
            states[i]["picture"]["leaf_scales"] = self.leaf_scales[i].data.ptr
            states[i]["picture"]["rates"] = _rate_table(self.device.id).data.ptr
            states[i]["picture"]["symbols"] = self.symbols[i].ctypes.data
            states[i]["picture"]["symbol_count"] = self.symbol_counts[i].ctypes.data
        self.states = cupy.asarray(states.view(np.uint8))

    def encode(self, progress: Progress | None) -> list[Coded]:
        from mmpcodec import _cpu

        cupy = self.cupy
        count = len(self.pictures)
        blocks = max(1, self.device.attributes["MultiProcessorCount"] // count)
        stream = cupy.cuda.get_current_stream()
        self.start((len(SCALES), count), (THREADS,), (self.states,))
        coders = [_cpu.RangeEncoder() for _ in self.pictures]
        total = sum(self.fragments)
        launched: list[tuple[int, Any]] = []
        for first in range(0, max(self.fragments) + CHUNK, CHUNK):
            if first < max(self.fragments):
                slot = first // CHUNK % 2
                arguments = (
                    self.states,
                    np.int32(first),
                    np.int32(first + CHUNK),
                    np.int32(slot),
                    np.int32(self.capacity),
                )
                self.step((blocks, count), (THREADS,), arguments, shared_mem=self.shared_bytes)
                launched.append((first, stream.record()))
            if len(launched) == 2 or first + CHUNK >= max(self.fragments):
                while launched and (len(launched) == 2 or first >= max(self.fragments)):
                    done, event = launched.pop(0)
                    event.synchronize()
                    self._code(coders, done // CHUNK % 2)
                    finished = sum(min(done, fragments) for fragments in self.fragments)
                    report_progress(progress, finished, total)
        report_progress(progress, total, total)
        return [self._coded(i, coder) for i, coder in enumerate(coders)]

    def phase_cycles(self) -> dict[str, int]:
        """Cycles of each phase, in the first block of the first picture."""
        cycles = self.states.get().view(STATE_DTYPE)["phase_cycles"][0]
        return dict(zip(PHASES, cycles.tolist(), strict=True))

    def _code(self, coders: list, slot: int) -> None:
        for i, coder in enumerate(coders):
            coder.encode_symbols(self.symbols[i, slot, : self.symbol_counts[i, slot]])

    def _coded(self, i: int, coder) -> Coded:
        height, width = self.shapes[i]
        state = self.states.reshape(len(self.pictures), -1)[i].get().view(STATE_DTYPE)
        sizes = state["scales"]["size"][0].astype(int)
        bits = {syntax: rate / 4096 for syntax, rate in zip(SYNTAX, coder.tally(), strict=True)}
        samples = self.samples[i].get()[:height, :width].copy()
        return Coded(coder.finish(), samples, Trace(bits, self.leaf_scales[i].get(), sizes))
