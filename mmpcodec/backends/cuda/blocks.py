"""Groups of pictures that a CUDA device searches for predicted blocks at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from time import sleep
from typing import Any, cast

import numpy as np

from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import BlockEffort
from mmpcodec.backends.cpu import bits_of
from mmpcodec.backends.cuda.blocks_state import (
    PICTURE_DTYPE,
    ROOM_DTYPE,
    THREADS,
    TICKET_DTYPE,
    Arrays,
    Crew,
    DeviceBytes,
    arrays_of,
    arrays_of_room,
    fragments_of,
    make_picture,
    make_tables,
    make_tickets,
    place_arrays,
    rough_steps,
)
from mmpcodec.backends.cuda.decoding.decoder import SAMPLE_DEFINES
from mmpcodec.backends.cuda.decoding.tables import states_on
from mmpcodec.backends.cuda.native_tools import states_offset
from mmpcodec.depth import BYTE
from mmpcodec.errors import LimitExceeded
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.partition import padded_shape
from mmpcodec.reference.blocks.search import cell_weights
from mmpcodec.reference.blocks.search.effort import COARSE_SIZE
from mmpcodec.reference.blocks.steps import FragmentMap, flat_map, fragments_across
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute, free_bytes, kept
from mmpcodec.tools import BlockTools
from mmpcodec.trace import Coded, Trace

MOST_TICKETS = 4096
"""Most fragments of one launch."""
LEAST_CREW = Crew(workers=1, chunk=1)
SPARE = 1 << 16
"""Bytes of device memory that stay free, because allocations are rounded up."""
PAUSE = 0.002
"""Seconds between two looks at the device's progress."""


@kept
def tables_on(device: int) -> Any:
    """Return the constant tables, on a device."""
    import cupy

    return cupy.asarray(make_tables().reshape(1).view(np.uint8))


@cache
def _sizes(device: int, defines: tuple[str, ...]) -> DeviceBytes:
    import cupy

    module = kernels.load("blocks/encode", device, defines, True)
    with cupy.cuda.Device(device):
        array = cupy.ndarray(len(DeviceBytes._fields), np.int64, module.get_global("block_bytes"))
        return DeviceBytes(*array.get().tolist())


@dataclass(frozen=True)
class DeviceSearch:
    """A search on a device, and the memory that it takes.

    Parameters
    ----------
    device : int
        Number of the CUDA device.
    effort : BlockEffort
    depth : int
        Bits of a sample, 8 to 16.
    """

    device: int
    effort: BlockEffort
    depth: int

    @property
    def defines(self) -> tuple[str, ...]:
        """Macros for the kernels."""
        return SAMPLE_DEFINES[self.depth > BYTE]

    @property
    def sizes(self) -> DeviceBytes:
        """What the compiler says."""
        return _sizes(self.device, self.defines)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a worker."""
        sizes = self.sizes
        return max(sizes.least_shared, sizes.shared + self.effort.tried * sizes.candidate)

    def picture_bytes(self, shape: tuple[int, int], params: EncodeParams) -> int:
        """Return the device memory of a picture in bytes, without what all pictures share."""
        rows, columns = fragments_of(shape, params)
        arrays = arrays_of(shape, params, self.sizes, self.depth)
        tickets = rows * columns * TICKET_DTYPE.itemsize
        return PICTURE_DTYPE.itemsize + tickets + place_arrays(arrays)[1]

    def least_bytes(self) -> int:
        """Return the least device memory in bytes that all pictures of a group share."""
        return self._room_bytes(LEAST_CREW, 1) + SPARE

    def _room_bytes(self, crew: Crew, tickets: int) -> int:
        arrays = arrays_of_room(tickets, crew, self.effort, self.sizes)
        return ROOM_DTYPE.itemsize + place_arrays(arrays)[1]

    def most_workers(self) -> int:
        """Return the most workers (CUDA blocks of the search) that the device runs at once."""
        each = kernels.resident_blocks(
            "blocks/encode", "search_blocks", self.device, self.defines, THREADS, self.shared_bytes
        )
        return attribute("MultiProcessorCount", self.device) * each

    def crew(self, shapes: Sequence[tuple[int, int]], params: EncodeParams) -> Crew:
        """Return workers that keep the device busy and whose memory is free."""
        tickets = sum(rows * columns for rows, columns in (fragments_of(s, params) for s in shapes))
        crew = Crew(min(self.most_workers(), tickets), min(tickets, MOST_TICKETS))
        free = free_bytes() - SPARE
        while self._room_bytes(crew, tickets) > free and crew != LEAST_CREW:
            if crew.chunk > 2 * crew.workers:
                crew = crew._replace(chunk=crew.chunk // 2)
            else:
                crew = Crew(max(1, crew.workers // 2), max(1, crew.chunk // 2))
        return crew


def _fragments_of(task: PlaneTask, tools: BlockTools) -> FragmentMap:
    """Return how much the fragments and cells of a plane count."""
    shape = task.plane.shape
    found = task.fragments or flat_map(shape, tools.fragment_size)
    if tools.quantisation_matrix and found.cells is not None:
        return found
    cells = np.full(fragments_across(shape, cell_weights.CELL), cell_weights.ONE, np.uint8)
    return replace(found, cells=cells)


class BlockGroup:
    """A group of pictures that are encoded at once: device memory, launches, entropy coding.

    Parameters
    ----------
    tasks : sequence of PlaneTask
        Planes of one depth, NumPy or CuPy arrays, with equal parameters.
    effort : BlockEffort
    pool : ThreadPoolExecutor
        Threads for entropy coding, one picture each at a time.
    """

    def __init__(
        self,
        tasks: Sequence[PlaneTask],
        effort: BlockEffort,
        pool: ThreadPoolExecutor,
    ):
        import cupy

        from mmpcodec import _cpu

        self.params = params = tasks[0].params
        self.tools = cast(BlockTools, params.coded_tools)
        self.search = DeviceSearch(cupy.cuda.Device().id, effort, tasks[0].depth)
        self.map = map if len(tasks) == 1 else pool.map
        self.shapes = [task.plane.shape for task in tasks]
        self.fragments = [fragments_of(shape, params) for shape in self.shapes]
        self.coded = [0] * len(tasks)
        self.device = self.search.device
        self.stream = cupy.cuda.get_current_stream()
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.memory: list[Any] = []
        self._place_host_memory()
        self.arrays: list[dict[str, Any]] = []
        maps = [_fragments_of(task, self.tools) for task in tasks]
        states = np.zeros(len(tasks), PICTURE_DTYPE)
        for i, task in enumerate(tasks):
            states[i] = make_picture(task.plane.shape, params, effort, task.depth)
            self._place_picture(task, maps[i], states[i], self.reported[i].ctypes.data)
        self.states = cupy.asarray(states.view(np.uint8))
        self.coders = [
            _cpu.PlanCoder(*shape, self.tools, each.changes)
            for shape, each in zip(self.shapes, maps, strict=True)
        ]
        self._place_room()

    def _place_host_memory(self) -> None:
        """Allocate what the device and the host both read and write while kernels run."""
        import cupy

        rows = [rows for rows, _ in self.fragments]
        self.pinned = cupy.cuda.alloc_pinned_memory(4 * (2 + sum(rows)))
        words = np.frombuffer(self.pinned, np.uint32, 2 + sum(rows))
        words[...] = 0
        self.stop, self.full, *self.reported = np.split(words, np.cumsum([1, 1, *rows[:-1]]))

    def _place_picture(
        self, task: PlaneTask, fragments: FragmentMap, picture: np.void, reported: int
    ) -> None:
        """Allocate the arrays of a picture, fill them and set its pointers."""
        import cupy

        from mmpcodec.backends.cuda.trees import rate_table

        plane, tools = task.plane, self.tools
        arrays = arrays_of(plane.shape, self.params, self.search.sizes, task.depth)
        views = self._allocate(arrays, picture)
        picture["reported"] = reported
        picture["tables"] = tables_on(self.device).data.ptr
        picture["rates"] = rate_table(self.device).data.ptr
        if tools.initial_states:
            states = states_on(self.device)
            place = states_offset(tools, padded_shape(plane.shape), states.nbytes)
            picture["states"] = states.data.ptr + place
        for i, earlier in enumerate(task.earlier):
            picture["earlier"][i] = views["earlier"][i].data.ptr
            views["earlier"][i].set(np.ascontiguousarray(earlier), stream=self.stream)
        views["changes"].set(fragments.changes, stream=self.stream)
        views["lambdas"].set(fragments.lambdas(self.params.lambda_fixed), stream=self.stream)
        views["weights"].set(fragments.cells, stream=self.stream)
        (height, width), (rows, columns) = plane.shape, padded_shape(plane.shape)
        more = (0, rows - height), (0, columns - width)
        if isinstance(plane, np.ndarray):
            source = np.ascontiguousarray(np.pad(plane, more, "edge"))
            views["source"].set(source, stream=self.stream)
        else:
            views["source"][...] = cupy.pad(plane, more, "edge")
        self.arrays.append(views)

    def _place_room(self) -> None:
        """Allocate what all pictures share."""
        import cupy

        tickets = make_tickets(self.shapes, self.params)
        search = self.search
        self.crew = search.crew(self.shapes, self.params)
        arrays = arrays_of_room(len(tickets), self.crew, search.effort, search.sizes)
        room = np.zeros((), ROOM_DTYPE)
        self.shared = self._allocate(arrays, room)
        self.shared["tickets"].set(tickets, stream=self.stream)
        room["stop"], room["full"] = self.stop.ctypes.data, self.full.ctypes.data
        room["worker_bytes"] = search.sizes.worker
        self.room = cupy.asarray(room.reshape(1).view(np.uint8))

    def _allocate(self, arrays: Arrays, pointers: np.ndarray | np.void) -> dict[str, Any]:
        """Allocate arrays of zeros in one piece of memory and set the pointers to them."""
        import cupy

        offsets, size = place_arrays(arrays)
        memory = cupy.empty(size, np.uint8)
        memory.data.memset_async(0, size, self.stream)
        self.memory.append(memory)
        views = {}
        for name, (dtype, shape) in arrays.items():
            pointers[name] = memory.data.ptr + offsets[name]
            views[name] = cupy.ndarray(shape, dtype, memory.data + offsets[name])
        return views

    def encode(self) -> Iterator[int]:
        """Encode all pictures; yields the number of 16x16 fragments that are searched."""
        try:
            end = self._launch()
            last = -1
            while True:
                ended = end.done
                if self.full[0]:
                    raise LimitExceeded(
                        "Device memory", "a fragment has more plans than the search keeps"
                    )
                # Few pictures go to threads, which would keep Python's lock from other devices.
                ready = [i for i in range(len(self.shapes)) if self._rows(i) > self.coded[i]]
                list(self.map(self._code, ready))
                done = sum(map(self._searched, range(len(self.shapes))))
                if done != last:
                    yield done
                if ended:
                    break
                last = done
                sleep(PAUSE)
        finally:
            self.stop[0] = 1
            self.stream.synchronize()

    def _launch(self) -> Any:
        """Start all kernels; returns the event of their end."""
        import cupy

        load = partial(kernels.function, device=self.device, defines=self.search.defines)
        coarsen = load(
            "blocks/search/coarsen", "coarsen_source", threads=COARSE_SIZE**2, shared_bytes=0
        )
        rough_search = load("blocks/search/rough_search", "search_roughly", threads=THREADS)
        search = load(
            "blocks/encode",
            "search_blocks",
            threads=THREADS,
            cooperative=True,
            shared_bytes=self.search.shared_bytes,
        )
        rows, columns = (-(-max(sides) // COARSE_SIZE) for sides in zip(*self.shapes, strict=True))
        coarsen((columns, rows, len(self.shapes)), (self.states,))
        steps = [cupy.asarray(step) for step in rough_steps(self.tools, self.search.effort)]
        tickets, chunk = len(self.shared["tickets"]), self.crew.chunk
        for first in range(0, tickets, chunk):
            last = min(first + chunk, tickets)
            taken = self.shared["taken"]
            taken.data.memset_async(0, taken.nbytes, self.stream)
            for step in steps:
                arguments = self.states, self.room, np.int32(first), step
                rough_search((len(step), last - first), arguments)
            arguments = self.states, self.room, np.int32(first), np.int32(last)
            search((self.crew.workers,), arguments)
        return self.stream.record()

    def _searched(self, i: int) -> int:
        """Return the number of 16x16 fragments of a picture that are searched."""
        rows, columns = self.fragments[i]
        return fragments_in(self.shapes[i]) * int(self.reported[i].sum()) // (rows * columns)

    def _rows(self, i: int) -> int:
        """Return the number of rows of fragments of a picture, from the top, that are searched."""
        complete = self.reported[i] == self.fragments[i][1]
        return len(complete) if complete.all() else int(complete.argmin())

    def _code(self, i: int) -> None:
        """Entropy-code the plans of the rows of fragments that are searched."""
        import cupy

        columns = self.fragments[i][1]
        first = self.coded[i]
        last = self._rows(i)
        if first < last:
            part = slice(first * columns, last * columns)
            # A thread of the pool starts with device 0 as its current device.
            with cupy.cuda.Device(self.device), self.copies:
                nodes = self.arrays[i]["plan_nodes"][part].get()
                levels = self.arrays[i]["plan_levels"][part].get()
            self.coders[i].code(nodes, levels)
            self.coded[i] = last

    def results(self) -> Iterator[Coded]:
        """Yield the coded pictures in the order of the planes."""
        for (height, width), coder, arrays in zip(
            self.shapes, self.coders, self.arrays, strict=True
        ):
            payload, rates, units, changes, cell_rates = coder.finish()
            samples = np.ascontiguousarray(arrays["samples"].get()[:height, :width])
            bits = bits_of(rates, BLOCK_SYNTAX)
            changes = changes if self.tools.delta_step else None
            trace = Trace(bits, units=units, changes=changes, cell_rates=cell_rates)
            yield Coded(payload, samples, trace)
