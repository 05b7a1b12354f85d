"""The cuda backend: the whole search loop on the device, entropy coding on the host."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS, BlockEffort, block_effort
from mmpcodec.backends.cpu import (
    CpuBackend,
    NativeCrossComponentFilter,
    NativeEstimates,
    NativeFixedFilters,
    NativePostFilter,
)
from mmpcodec.backends.cuda.blocks import BlockGroup, DeviceSearch
from mmpcodec.backends.cuda.decoding.borders import DeviceBorderFilter
from mmpcodec.backends.cuda.decoding.tiles import decode_tiles, start_tiles
from mmpcodec.backends.cuda.trees import TreeGroup, device_bytes
from mmpcodec.backends.tiles import TileFault, TilesTask, TileTraces
from mmpcodec.depth import BYTE
from mmpcodec.errors import LimitExceeded
from mmpcodec.params import EncodeParams
from mmpcodec.presets import PRESETS
from mmpcodec.reference.trees.copies import are_copies
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime import cuda
from mmpcodec.runtime.cuda import attribute, free_bytes
from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.tools import BlockTools, Tools, TreeTools
from mmpcodec.trace import Coded


class CudaBackend(NativeEstimates):
    """Encode on the current device and stream of CuPy. Planes may lie on that device.

    Parameters
    ----------
    profile : int or None
        Number of the CUDA block whose phases of the search loop are measured. ``phase_cycles`` then
        holds the clock cycles of each phase, for the first picture of the last call.
    plain : bool
        Whether to search for predicted blocks without shortcuts, as backend reference does.
    """

    name = "cuda"
    missing = frozenset(["displaced_blocks"])
    decodes_tiles = True
    reads_device_arrays = True
    batches = True
    fixed_filters = NativeFixedFilters()
    post_filter = NativePostFilter()
    cross_component_filter = NativeCrossComponentFilter()
    border_filter = DeviceBorderFilter()

    def __init__(self, profile: int | None = None, *, plain: bool = False):
        self.profile = profile
        self.plain = plain
        self.phase_cycles: dict[str, int] = {}

    def unavailable(self) -> str | None:
        return cuda.unavailable()

    def lacks(self, tools: Tools, depth: int = BYTE) -> str | None:
        if tools.lossless:
            return "lossless samples"
        if lacking := Backend.lacks(self, tools, depth):
            return lacking
        if isinstance(tools, TreeTools):
            return "copies of displaced blocks" if are_copies(tools) else None
        assert isinstance(tools, BlockTools)
        return "trees among predicted blocks" if tools.trees else None

    def describe(self) -> str:
        import cupy

        device = cupy.cuda.Device()
        name = cupy.cuda.runtime.getDeviceProperties(device.id)["name"].decode()
        return f"{name}, CuPy {cupy.__version__}"

    def device(self, number: int | None = None) -> dict[str, Any]:
        return cuda.device_facts(number)

    def device_count(self) -> int:
        return cuda.count()

    def current_device(self) -> int:
        import cupy

        return cupy.cuda.Device().id

    def on(self, number: int) -> AbstractContextManager[Any]:
        import cupy

        return cupy.cuda.Device(number)

    def warm(self) -> None:
        """Compile the kernels for the current device, or load them from CuPy's cache."""
        for preset in ("plain", "text", "photo"):
            params = EncodeParams(tools=self.able(PRESETS[preset]))
            self.encode(PlaneTask(np.zeros((1, 1), np.uint8), params))

    def encode(
        self, task: PlaneTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> Coded:
        return self.encode_batch([task], threads=threads, progress=progress)[0]

    def encode_batch(
        self,
        tasks: Sequence[PlaneTask],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Coded]:
        """Encode several planes at once, NumPy or CuPy arrays; ``threads`` code the entropy.

        Raises
        ------
        BackendUnavailable, ParameterError
            See ``check``.
        LimitExceeded
            When a picture needs more device memory than is free.
        KernelError
            When a kernel does not compile.
        """
        for task in tasks:
            self.check(task)
        planes, params = [task.plane for task in tasks], tasks[0].params
        defines = () if self.profile is None else (f"MMP_PROFILE={self.profile}",)
        coded: list[Coded | None] = [None] * len(planes)
        total, done = sum(fragments_in(plane.shape) for plane in planes), 0
        with ThreadPoolExecutor(threads or processors()) as pool:
            for effort, group in self._groups(tasks):
                run: TreeGroup | BlockGroup
                if isinstance(params.tools, BlockTools):
                    run = BlockGroup([tasks[i] for i in group], effort, pool)
                else:
                    run = TreeGroup([planes[i] for i in group], params, defines, pool)
                own = sum(fragments_in(planes[i].shape) for i in group)
                for finished in run.encode():
                    report_progress(progress, done + finished, total)
                done += own
                for i, result in zip(group, run.results(), strict=True):
                    coded[i] = result
                if self.profile is not None and isinstance(run, TreeGroup):
                    self.phase_cycles = run.phase_cycles()
        return [result for result in coded if result is not None]

    def _groups(self, tasks: Sequence[PlaneTask]) -> Iterator[tuple[BlockEffort, list[int]]]:
        """Group pictures that run at once; they have the same limits of the search."""
        params = tasks[0].params
        alike: dict[BlockEffort, list[int]] = {}
        for i, task in enumerate(tasks):
            effort = PLAIN_EFFORTS[params.effort]
            if isinstance(params.tools, BlockTools) and not self.plain:
                effort = block_effort(params.effort, task.plane.size)
            alike.setdefault(effort, []).append(i)
        for effort, own in alike.items():
            for group in _fitting([tasks[i] for i in own], effort):
                yield effort, [own[i] for i in group]

    def decode(self, payload, shape, tools, **how) -> Coded:
        """Decode a payload on the processor: a device decodes whole tiles only."""
        return CpuBackend().decode(payload, shape, tools, **how)

    def decode_tiles(
        self, task: TilesTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> list[TileFault | TileTraces]:
        """Decode tiles into NumPy or CuPy arrays.

        The device decodes the tiles whose layers are all predicted blocks without trees. The
        processor decodes other tiles, damaged ones, and all where traces are wanted.
        """
        return decode_tiles([task], threads, progress)[0]

    def start_pictures(
        self, tasks: Sequence[TilesTask], *, threads: int | None = None
    ) -> Callable[[], list[list[TileFault | TileTraces]]]:
        """Start to decode the tiles of several pictures at once."""
        return start_tiles(tasks, threads)


def _fitting(tasks: Sequence[PlaneTask], effort: BlockEffort) -> Iterator[list[int]]:
    """Group pictures that run at once, as many as the multiprocessors and free memory allow.

    A group takes as long as its largest picture, so pictures of similar size go together.
    """
    import cupy

    device, params = cupy.cuda.Device().id, tasks[0].params
    shapes = [task.plane.shape for task in tasks]
    if isinstance(params.tools, BlockTools):
        search = DeviceSearch(device, effort, tasks[0].depth)
        most, shared = len(shapes), search.least_bytes()
        bytes_of = partial(search.picture_bytes, params=params)
    else:
        most, shared = attribute("MultiProcessorCount", device), 0
        bytes_of = partial(device_bytes, params=params)
    waiting = sorted(range(len(shapes)), key=lambda i: fragments_in(shapes[i]))
    while waiting:
        free = free_bytes()
        # Pictures leave half of the memory to what they share: more of it makes the search faster.
        spare = free // 2 if shared else 0
        group: list[int] = []
        while waiting and len(group) < most:
            needed = bytes_of(shapes[waiting[-1]])
            if needed + (spare if group else shared) > free:
                break
            free -= needed
            group.append(waiting.pop())
        if not group:
            height, width = shapes[waiting[-1]]
            raise LimitExceeded(
                "Device memory",
                f"a picture of {width}x{height} needs {needed + shared} bytes, {free} are free",
            )
        yield group
