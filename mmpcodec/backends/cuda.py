"""The cuda backend: the whole search loop on the device, entropy coding on the host."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import accumulate
from typing import Any

import numpy as np

from mmpcodec.backends import cuda_blocks, kernels
from mmpcodec.backends.base import Backend, Coded, Progress, Trace, report_progress
from mmpcodec.backends.cpu import NativePostFilter, bits_of, native_tools
from mmpcodec.backends.device_state import (
    PHASES,
    STATE_DTYPE,
    dictionary_sizes,
    has_text_tools,
    make_state,
    plan_dictionaries,
    trees_dtype,
)
from mmpcodec.codec.depths import BYTE
from mmpcodec.codec.fragments import fragments_in, padded_shape
from mmpcodec.codec.models import LOG2
from mmpcodec.codec.scales import FRAGMENT_SIZE, SCALES
from mmpcodec.codec.syntax import TREE_SYNTAX
from mmpcodec.devices import attribute, free_bytes, processors
from mmpcodec.errors import BackendUnavailable, LimitExceeded
from mmpcodec.params import EncodeParams, Tools

CHUNK = 128
"""Fragments of one launch; while it runs the host codes the trees of the one before."""


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
def rate_table(device: int):
    """The rates of every total that a model can have, on a device."""
    import cupy

    with cupy.cuda.Device(device):
        return cupy.asarray(LOG2.astype(np.int32))


class CudaBackend(Backend):
    """The current device and stream of CuPy are used, and planes may lie on that device.

    Parameters
    ----------
    profile : int or None
        Measure the phases of the search loop in this block; ``phase_cycles`` then holds those of
        the first picture of the last call.
    """

    name = "cuda"
    post_filter = NativePostFilter()

    def __init__(self, profile: int | None = None):
        self.profile = profile
        self.phase_cycles: dict[str, int] = {}

    def unavailable(self) -> str | None:
        return _unavailable()

    def lacks(self, tools: Tools, depth: int = BYTE) -> str | None:
        if tools.exact:
            return "exact samples"
        if depth != BYTE:
            return f"samples of {depth} bits"
        return "trees among predicted blocks" if tools.dictionary else None

    def describe(self) -> str:
        import cupy

        device = cupy.cuda.Device()
        name = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
        return f"{name}, CuPy {cupy.__version__}"

    def warm(self) -> None:
        """Compile the kernels for the current device, or find them in the cache."""
        for preset in ("plain", "text", "photo"):
            params = EncodeParams.from_options(preset=preset)
            self.encode(np.zeros((1, 1), np.uint8), params)

    def encode(
        self,
        plane: np.ndarray,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        return self.encode_batch([plane], params, depth=depth, threads=threads, progress=progress)[
            0
        ]

    def encode_batch(
        self,
        planes: Sequence,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Coded]:
        """Encode several planes at once, each as if alone.

        Parameters
        ----------
        planes : sequence of (H, W) uint8 NumPy or CuPy arrays
        params : EncodeParams
        depth : int
            8.
        threads : int or None
            Host threads for entropy coding; None takes what the machine has.
        progress : callable or None
            Called with the fragments done and their number, over all planes.

        Raises
        ------
        BackendUnavailable
            When it is asked for what it lacks.
        LimitExceeded
            When a picture needs more device memory than is free.
        KernelError
            When a kernel does not compile.
        """
        self.check_has(params.tools, depth)
        defines = () if self.profile is None else (f"MMP_PROFILE={self.profile}",)
        coded: list[Coded | None] = [None] * len(planes)
        total, done = sum(fragments_in(plane.shape) for plane in planes), 0
        with ThreadPoolExecutor(threads or processors()) as pool:
            for group in _groups([plane.shape for plane in planes], params):
                chosen = [planes[i] for i in group]
                run: _Group | cuda_blocks.BlockGroup
                if params.tools.prediction:
                    run = cuda_blocks.BlockGroup(chosen, params, pool)
                else:
                    run = _Group(chosen, params, defines, pool)
                own = sum(fragments_in(plane.shape) for plane in chosen)
                for finished in run.encode():
                    report_progress(progress, done + finished, total)
                done += own
                for i, result in zip(group, run.results(), strict=True):
                    coded[i] = result
                if self.profile is not None and isinstance(run, _Group):
                    self.phase_cycles = run.phase_cycles()
        return [result for result in coded if result is not None]

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
        raise BackendUnavailable("backend cuda cannot run here: it only encodes; cpu decodes")


def device_bytes(shape: tuple[int, int], params: EncodeParams) -> int:
    """Device memory that a picture takes while it is encoded."""
    plan = plan_dictionaries(params.coded_tools)
    height, width = padded_shape(shape)
    return plan.size + STATE_DTYPE.itemsize + 3 * height * width


def _groups(shapes: Sequence[tuple[int, int]], params: EncodeParams) -> Iterator[list[int]]:
    """Which pictures run at once: as many as find room on the multiprocessors and in memory.

    Pictures of like size go together, for a group takes as long as its largest.
    """
    import cupy

    device = cupy.cuda.Device().id
    if params.tools.prediction:
        most = cuda_blocks.most_workers(params, device)
        bytes_of = partial(cuda_blocks.device_bytes, params=params, device=device)
    else:
        most = attribute("MultiProcessorCount", device)
        bytes_of = partial(device_bytes, params=params)
    waiting = sorted(range(len(shapes)), key=lambda i: fragments_in(shapes[i]))
    while waiting:
        free = free_bytes()
        group: list[int] = []
        while waiting and len(group) < most:
            needed = bytes_of(shapes[waiting[-1]])
            if needed > free:
                break
            free -= needed
            group.append(waiting.pop())
        if not group:
            height, width = shapes[waiting[-1]]
            raise LimitExceeded(
                "Device memory",
                f"a picture of {width}x{height} needs {needed} bytes, {free} are free",
            )
        yield group


class _Group:
    """Pictures that are encoded at once: their memory, launches, and the host's part."""

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
        # Threads share the pictures; coding leaves the interpreter's lock.
        self.map = map if len(planes) == 1 else pool.map
        self.shapes = [plane.shape for plane in planes]
        self.fragments = [fragments_in(shape) for shape in self.shapes]
        self.device = cupy.cuda.Device()
        self.stream = cupy.cuda.get_current_stream()
        self.start = kernels.function("start", "start_pictures", self.device.id)
        tools = params.coded_tools
        loop = "encode_text" if has_text_tools(tools) else "encode"
        self.step = kernels.function(
            loop, "encode_fragments", self.device.id, defines, cooperative=True
        )
        self.coders = [_cpu.TreeCoder(native_tools(tools)) for _ in planes]
        self.planes = [cupy.ascontiguousarray(cupy.asarray(plane)) for plane in planes]
        self._allocate()

    def _allocate(self) -> None:
        import cupy

        count, tools = len(self.planes), self.params.coded_tools
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
        """Encode all; gives the number of fragments done from time to time."""
        try:
            self.start((len(SCALES), len(self.planes)), (self.states,))
            running = self._launch(0)
            for first in range(CHUNK, max(self.fragments) + CHUNK, CHUNK):
                done, running = running, self._launch(first)
                done.synchronize()
                list(self.map(partial(self._code, first - CHUNK), range(len(self.planes))))
                yield sum(min(first, fragments) for fragments in self.fragments)
        finally:
            # The host memory that the device writes to may be given away after this.
            self.stream.synchronize()

    def _launch(self, first: int) -> Any:
        """Start the search of the next fragments; gives the event of its end."""
        count = len(self.planes)
        if first < max(self.fragments):
            blocks = attribute("MultiProcessorCount", self.device.id) // count
            arguments = self.states, np.int32(first), np.int32(first + CHUNK), _slot(first)
            self.step((blocks, count), arguments)
        return self.stream.record()

    def _code(self, first: int, i: int) -> None:
        """Code the trees of a picture that one launch chose."""
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
        """The pictures in order."""
        sizes = dictionary_sizes(self._states())
        samples, leaf_scales = self.samples.get(), self.leaf_scales.get()
        for i, (height, width) in enumerate(self.shapes):
            place = slice(self.starts[i], self.starts[i + 1])
            shape = padded_shape((height, width))
            rates = self.coders[i].tally()
            bits = bits_of(rates, TREE_SYNTAX)
            yield Coded(
                self.coders[i].finish(),
                samples[place].reshape(shape)[:height, :width].copy(),
                Trace(bits, leaf_scales[place].reshape(shape), sizes[i]),
            )

    def _states(self) -> np.ndarray:
        return self.states.get().view(STATE_DTYPE)

    def phase_cycles(self) -> dict[str, int]:
        """Cycles of each phase, in the profiled block of the first picture."""
        cycles = self._states()["phase_cycles"][0]
        return dict(zip(PHASES, cycles.tolist(), strict=True))


def _slot(first: int) -> np.int32:
    return np.int32(first // CHUNK % 2)
