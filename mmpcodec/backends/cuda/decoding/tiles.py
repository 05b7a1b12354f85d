"""Decoding of tiles on a device, and of the tiles that a device leaves to the processor."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.decoding.decoder import (
    TileGroup,
    codes_on_device,
    in_groups,
    memory_of,
)
from mmpcodec.backends.tiles import TileFault, TilesTask, TileTask, TileTraces
from mmpcodec.depth import sample_type
from mmpcodec.format.container import Header
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.arrays import device_module
from mmpcodec.runtime.cuda import free_bytes
from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress, report_progress

Found = list[TileFault | TileTraces]


def decode_tiles(
    tasks: Sequence[TilesTask], threads: int | None, progress: Progress | None
) -> list[Found]:
    """Decode the tiles of pictures into NumPy or CuPy arrays, those of a device all at once.

    Returns
    -------
    list
        For each picture what ``Backend.decode_tiles`` returns.
    """
    total = sum(fragments_in(one.size) for task in tasks for one in task.tiles)
    report_progress(progress, 0, total)
    found = start_tiles(tasks, threads)()
    report_progress(progress, total, total)
    return found


def start_tiles(tasks: Sequence[TilesTask], threads: int | None) -> Callable[[], list[Found]]:
    """Start the work of ``decode_tiles``; returns a function that waits for it."""
    on_device = [
        (picture, tile)
        for picture, task in enumerate(tasks)
        for tile, one in enumerate(task.tiles)
        if not task.traced and codes_on_device(one.stream)
    ]
    groups = _groups(tasks, on_device)
    found: list[list[Any]] = [[None] * len(task.tiles) for task in tasks]

    def finish(group: _Group) -> None:
        for (picture, tile), good in zip(group.numbers, group.finish(), strict=True):
            if good:  # the processor says what is wrong with the others
                found[picture][tile] = []

    # Each group takes the memory of the one before it; only the last one is not waited for.
    for numbers in groups[:-1]:
        finish(_Group(tasks, numbers, threads))
    last = _Group(tasks, groups[-1], threads) if groups else None

    def finish_all() -> list[Found]:
        if last is not None:
            finish(last)
        for task, own in zip(tasks, found, strict=True):
            left = [tile for tile, one in enumerate(own) if one is None]
            for tile, one in zip(left, _on_processor(task, left, threads), strict=True):
                own[tile] = one
        return found

    return finish_all


def _groups(
    tasks: Sequence[TilesTask], tiles: Sequence[tuple[int, int]]
) -> list[list[tuple[int, int]]]:
    """Group tiles that the device decodes at once, within half of its free memory."""
    if not tiles:
        return []
    sizes = [memory_of(tasks[p].header, tasks[p].tiles[t]) for p, t in tiles]
    return [[tiles[i] for i in group] for group in in_groups(sizes, free_bytes() // 2)]


class _Group:
    """Tiles that the device decodes at once, by picture and tile."""

    def __init__(
        self,
        tasks: Sequence[TilesTask],
        numbers: Sequence[tuple[int, int]],
        threads: int | None,
    ):
        import cupy

        self.numbers = numbers
        self.places = [tasks[picture].tiles[tile].samples for picture, tile in numbers]
        self.tiles: list[tuple[Header, TileTask]] = []
        for (picture, tile), place in zip(numbers, self.places, strict=True):
            one = tasks[picture].tiles[tile]
            if isinstance(place, np.ndarray):
                one = replace(one, samples=cupy.empty(place.shape, place.dtype))
            self.tiles.append((tasks[picture].header, one))
        self.group = TileGroup(self.tiles, threads or processors())

    def finish(self) -> list[bool]:
        """Return whether each tile has decoded to its checksum."""
        found = []
        parts = zip(self.places, self.tiles, *self.group.finish(), strict=True)
        for place, (header, one), sound, crc in parts:
            samples: Any = one.samples
            same = header.samples_crc(int(crc)) == header.samples_crc(one.stream.samples_crc)
            found.append(bool(sound and same))
            if isinstance(place, np.ndarray) and found[-1]:
                place[...] = samples.get()
        return found


def _on_processor(task: TilesTask, tiles: Sequence[int], threads: int | None) -> Found:
    """Decode tiles of a picture on the processor, and copy them to the device if need be."""
    own: list[TileTask] = []
    places: list[Any] = []
    for tile in tiles:
        one = task.tiles[tile]
        places.append(one.samples)
        if not isinstance(one.samples, np.ndarray):
            kind = sample_type(task.header.depth)
            one = replace(one, samples=np.empty(one.samples.shape, kind))
        own.append(one)
    found = CpuBackend().decode_tiles(replace(task, tiles=own), threads=threads) if own else []
    for place, one in zip(places, own, strict=True):
        if place is not one.samples:
            place[...] = device_module().asarray(one.samples)
    return found
