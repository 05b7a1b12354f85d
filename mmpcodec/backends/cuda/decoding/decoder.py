"""Groups of tiles that a CUDA device decodes at once: memory, launches, checksums."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

import numpy as np

from mmpcodec.backends.cuda.decoding.host import HostLeaves, longest_for_host
from mmpcodec.backends.cuda.decoding.state import (
    PLANE_DTYPE,
    DevicePlane,
    coded_planes,
    filtered_planes,
    joined_tiles,
    planes_of,
    set_arrays,
    tickets_of,
)
from mmpcodec.backends.cuda.decoding.tables import filters_on, states_on, tables_on
from mmpcodec.backends.tiles import TileTask
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.runtime import kernels
from mmpcodec.runtime.cuda import attribute
from mmpcodec.tools import BlockTools

THREADS, READ_THREADS = 128, 32
FILTER_BLOCK = 4
"""Rows and columns of the samples that a thread filters."""
BUILDERS, READERS = 4, 16
"""Most blocks of ``build_rows`` and of ``read_planes`` on a multiprocessor."""
ALIGNMENT = 256
WORD_BYTES = 4
"""Bytes that the range decoder reads at once."""
MOST_GRID = 65535
"""Most planes or tiles of one launch of a kernel whose grid has three sides."""
STARTER = ThreadPoolExecutor(1, "mmp-decoder")
"""Its thread waits for the symbols that the host reads."""
SAMPLE_DEFINES = {True: ("MMP_SAMPLE=uint16_t",), False: ("MMP_SAMPLE=uint8_t",)}
"""Macros of kernels, by whether samples have more than 8 bits."""


def codes_on_device(stream: TileStream) -> bool:
    """Return whether the device decodes a tile: all layers are predicted blocks without trees."""
    return (
        stream.palette is None
        and stream.jpeg is None
        and all(isinstance(one.tools, BlockTools) and not one.tools.trees for one in stream.layers)
    )


class TileGroup:
    """Tiles of one or more pictures that are decoded at once, on the current device.

    Kernels start after those of the current stream; the constructor does not wait for them, nor
    for the threads of the host that read symbols. Groups run beside each other, each on a stream of
    its own.

    Parameters
    ----------
    tiles : sequence of (Header, TileTask)
        Tiles that ``codes_on_device`` names, with CuPy arrays as ``samples``.
    threads : int
        Threads of the host that read symbols beside the device.
    """

    def __init__(self, tiles: Sequence[tuple[Header, TileTask]], threads: int):
        import cupy

        self.cupy = cupy
        self.tiles = tiles
        self.device = cupy.cuda.Device().id
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.stream.wait_event(cupy.cuda.get_current_stream().record())
        self.tile_planes = [planes_of(header, task) for header, task in tiles]
        self.planes = [plane for planes in self.tile_planes for plane in planes]
        self.kept: list[Any] = []
        self._choose_readers(threads)
        self._allocate()
        self._read()
        self.started = STARTER.submit(self._start_rest, threads)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Wait for the device.

        Returns
        -------
        good : (N,) bool array
            Whether the payloads of each tile decode.
        crc : (N,) uint32 array
            CRC-32 of the samples of each tile.
        """
        self.started.result()
        states, crc = self.read_states.get(self.stream), self.crc.get(self.stream)
        faults = states.view(PLANE_DTYPE)["fault"]
        faults[self.on_host] = ~self.good_on_host
        counts = [len(planes) for planes in self.tile_planes]
        return np.add.reduceat(faults, np.cumsum([0, *counts[:-1]])) == 0, crc

    def _allocate(self) -> None:
        """Allocate the arrays of all planes, those that must be zeros side by side."""
        sizes = [plane.sizes() for plane in self.planes]
        end = zeros = 0
        for cleared in (True, False):
            for plane, own in zip(self.planes, sizes, strict=True):
                for name, (size, clear) in own.items():
                    if clear is cleared:
                        plane.arrays[name] = end
                        end += _aligned(size)
            zeros = zeros or end
        self.memory = self.cupy.empty(max(end, 1), np.uint8)
        self.memory.data.memset_async(0, zeros, self.stream)
        start = self.memory.data.ptr
        for plane in self.planes:
            plane.arrays = {name: start + place for name, place in plane.arrays.items()}
            plane.samples, plane.other = plane.arrays["samples"], plane.arrays["filtered"]

    def _upload(self, array: np.ndarray) -> Any:
        """Start the copy of an array to the device, which does not wait for kernels."""
        host, copied = self._pinned(array.nbytes)
        host[...] = array.view(np.uint8).reshape(-1)
        return copied()

    def _pinned(self, size: int) -> tuple[np.ndarray, Callable[[], Any]]:
        """Return an array of bytes on the host, and a function that starts its copy."""
        pinned = self.cupy.cuda.alloc_pinned_memory(size)
        host = np.frombuffer(pinned, np.uint8, size)
        found = self.cupy.empty(size, np.uint8)
        self.kept += [pinned, found]

        def copied() -> Any:
            found.data.copy_from_host_async(host.ctypes.data, size, self.stream)
            return found

        return host, copied

    def _launch(
        self,
        file: str,
        entry: str,
        grid: tuple[int, int, int],
        *arguments: Any,
        threads: int = THREADS,
        defines: tuple[str, ...] = (),
    ) -> None:
        kernel = kernels.function(
            file, entry, self.device, defines, threads=threads, shared_bytes=0
        )
        with self.stream:
            kernel(grid, arguments)

    def _choose_readers(self, threads: int) -> None:
        """Set the numbers of the planes whose symbols host and device read."""
        sizes = [len(plane.layer.payload) for plane in self.planes]
        readers = READERS * attribute("MultiProcessorCount", self.device)
        self.on_host = longest_for_host(sizes, threads, readers)
        for i in self.on_host:
            self.planes[i].on_host = True
        on_device = np.delete(np.arange(len(sizes)), self.on_host)
        self.on_device = on_device[np.argsort(np.array(sizes)[on_device])[::-1]]

    def _read(self) -> None:
        """Start to read the symbols that the device reads."""
        trained = states_on(self.device)
        self.coded = states = coded_planes(self.planes, trained.data.ptr, trained.nbytes)
        states["tables"] = tables_on(self.device).data.ptr
        if len(self.on_device):
            own = [self.planes[i].layer.payload for i in self.on_device]
            payloads, starts = _joined_payloads(own)
            states["payload"][self.on_device] = self._upload(payloads).data.ptr + starts
        self.read_states = self.states = self._upload(states)
        if len(self.on_device):
            arguments = self.states, self._upload(self.on_device.astype(np.int32))
            grid = len(self.on_device), 1, 1
            self._launch(
                "blocks/decode/read", "read_planes", grid, *arguments, threads=READ_THREADS
            )

    def _start_rest(self, threads: int) -> None:
        """Read the symbols that the host reads, and start all later kernels."""
        with self.cupy.cuda.Device(self.device):
            leaves = HostLeaves([self.planes[i] for i in self.on_host], threads)
            self.good_on_host = leaves.good
            if len(self.on_host):
                leaves.upload(self._pinned)
                set_arrays(self.coded, self.planes)
                self.states = self._upload(self.coded)
            for own_round in range(1 + max(plane.round for plane in self.planes)):
                numbers = [i for i, plane in enumerate(self.planes) if plane.round == own_round]
                self._build(numbers)
                self._filter([self.planes[i] for i in numbers])
            self._join()

    def _build(self, numbers: Sequence[int]) -> None:
        """Rebuild the samples of planes whose earlier planes are filtered."""
        blocks = BUILDERS * attribute("MultiProcessorCount", self.device)
        for wide in (False, True):
            if own := [i for i in numbers if self.planes[i].is_wide is wide]:
                tickets = tickets_of(self.planes, own)
                taken = self._upload(np.zeros(1, np.uint32))
                arguments = self.states, self._upload(tickets), np.int32(len(tickets)), taken
                grid = min(len(tickets), blocks), 1, 1
                defines = SAMPLE_DEFINES[wide]
                self._launch("blocks/decode/build", "build_rows", grid, *arguments, defines=defines)

    def _filter(self, planes: Sequence[DevicePlane]) -> None:
        """Filter planes by those filters that they have."""
        self._filter_by("filter_fixed", [one for one in planes if one.tools.fixed_filters])
        self._filter_by("filter_post", [one for one in planes if any(one.layer.coefficients)])
        self._filter_by("filter_by_planes", [one for one in planes if one.read])

    def _filter_by(self, entry: str, planes: Sequence[DevicePlane]) -> None:
        for wide in (False, True):
            some = [plane for plane in planes if plane.is_wide is wide]
            for first in range(0, len(some), MOST_GRID):
                own = some[first : first + MOST_GRID]
                states = filtered_planes(own, filters_on(self.device).data.ptr)
                across = -(-int(states["width"].max()) // (FILTER_BLOCK * THREADS))
                grid = across, -(-int(states["height"].max()) // FILTER_BLOCK), len(own)
                uploaded, defines = self._upload(states), SAMPLE_DEFINES[wide]
                self._launch("filters/filters", entry, grid, uploaded, defines=defines)

    def _join(self) -> None:
        """Write the samples of all tiles to their places, and compute their CRC-32."""
        tiles = joined_tiles(self.tiles, self.tile_planes)
        ends = np.cumsum(tiles["height"], dtype=np.int64)
        self.crc = self.cupy.empty(len(tiles), np.uint32)
        of_rows = self.cupy.empty(int(ends[-1]), np.uint32)
        self.kept.append(of_rows)
        tiles["crc"] = self.crc.data.ptr + 4 * np.arange(len(tiles))
        tiles["crc_rows"] = of_rows.data.ptr + 4 * (ends - tiles["height"])
        uploaded = self._upload(tiles)
        height, rows, columns = (int(tiles[name].max()) for name in ("height", "rows", "columns"))
        for first in range(0, len(tiles), MOST_GRID):
            count, own = min(len(tiles) - first, MOST_GRID), uploaded[first * tiles.itemsize :]
            if rows and columns:
                self._launch("tiles/join", "join_tiles", (-(-columns // THREADS), rows, count), own)
            self._launch("tiles/join", "check_rows", (-(-height // 4), count, 1), own)
            self._launch("tiles/join", "check_tiles", (count, 1, 1), own, threads=READ_THREADS)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _joined_payloads(payloads: Sequence[bytes | memoryview]) -> tuple[np.ndarray, np.ndarray]:
    """Return payloads as the range decoder of the device reads them, and where each begins.

    Each begins at a multiple of four bytes; at least four zeros follow it.
    """
    zeros, pieces, starts, end = bytes(WORD_BYTES), list[Any](), list[int](), 0
    for payload in payloads:
        more = zeros + zeros[: -len(payload) % WORD_BYTES]
        pieces += [payload, more]
        starts.append(end)
        end += len(payload) + len(more)
    return np.frombuffer(b"".join(pieces), np.uint8), np.array(starts)


def memory_of(header: Header, task: TileTask) -> int:
    """Return the bytes of device memory that decoding a tile takes."""
    sizes = (plane.sizes() for plane in planes_of(header, task))
    return sum(_aligned(size) for own in sizes for size, _ in own.values())


def in_groups(sizes: Sequence[int], free: int) -> list[list[int]]:
    """Group tiles, in their order, so that each group fits in free memory.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of each tile.
    free : int
        Bytes of a group at most; a larger tile is a group of its own.
    """
    numbers, used, group = [], 0, 0
    for size in sizes:
        if used and used + size > free:
            group, used = group + 1, 0
        numbers.append(group)
        used += size
    by_group = groupby(range(len(sizes)), key=numbers.__getitem__)
    return [list(own) for _, own in by_group]
