"""The devices that code the tiles of a call: which they are, and which tiles each one takes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, cast

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Backend
from mmpcodec.codec.layers.coding import KnownLossless
from mmpcodec.codec.tile_choice import encode_tiles
from mmpcodec.codec.tile_coding import TileEncoding, TileSource
from mmpcodec.params import EncodeParams
from mmpcodec.runtime.arrays import beside, on_device
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.shares import Share, run_shares, shares_of
from mmpcodec.runtime.tasks import threads_of_each
from mmpcodec.tools import BlockTools, Tools
from mmpcodec.trace import Coded

GROUP_FRAGMENTS = 1 << 17
"""Most fragments of the tiles that a device encodes in one call; larger groups are not faster."""


@dataclass(frozen=True)
class Devices:
    """Devices of a backend.

    Parameters
    ----------
    backend : Backend or None
    numbers : tuple of int
        Empty for what the backend chooses by itself: the processor, or the current device.
    lanes : int
        Threads for each device. With two threads the device searches the tiles of one, while the
        processor filters and stores the tiles of the other.
    """

    backend: Backend | None = None
    numbers: tuple[int, ...] = ()
    lanes: int = 1

    @property
    def threads(self) -> int:
        """Number of threads that encode; 0 or 1 stands for the calling thread."""
        return len(self.numbers) * self.lanes

    def on(self, place: int) -> AbstractContextManager[Any]:
        """Make the device at this place of ``numbers`` the current one while the context lasts."""
        if self.backend is None or not self.numbers:
            return nullcontext()
        return self.backend.on(self.numbers[place])

    def only(self, place: int) -> "Devices":
        """Return the device at this place alone."""
        return replace(self, numbers=self.numbers[place : place + 1])

    def home(self, samples: Any) -> int | None:
        """Return the place of the device that holds the samples; None if none of them does."""
        if not on_device(samples) or samples.device.id not in self.numbers:
            return None
        return self.numbers.index(samples.device.id)


def devices_for(
    backend: str, device: backends.DeviceLike | None, arrays: Sequence[Any]
) -> tuple[str, Devices]:
    """Return the backend and the devices that code some pictures.

    Parameters
    ----------
    backend : str
    device : int, str, sequence of int, or None
        None takes the devices on which pictures lie, and the current device for other pictures.
    arrays : sequence of arrays
        The pictures.

    Raises
    ------
    ParameterError
        When the backend has no devices, or not these.
    BackendUnavailable
        When the backend cannot run here.
    """
    beside = [array for array in arrays if on_device(array)]
    if beside:
        backend = backends.for_device_arrays(backend, "a picture lies")
    if device is not None:
        backend = backends.for_device(backend, device)
        one = backends.get(backend)
        # What a second thread splits on a device takes memory that the first one counts as free.
        return backend, Devices(one, backends.numbers_of(device, one), 1 if beside else 2)
    if not beside:
        return backend, Devices()
    one = backends.get(backend)
    numbers = {array.device.id for array in beside}
    if len(beside) < len(arrays):
        numbers.add(one.current_device())
    return backend, Devices(one, tuple(sorted(numbers)))


def host_copy(samples: Any) -> np.ndarray:
    """Return samples in host memory; the writes that are pending on their device finish first."""
    if not on_device(samples):
        return samples
    with beside(samples):
        return samples.get()


class _InTurn:
    """A backend whose calls wait for each other, because each divides the device's free memory."""

    def __init__(self, backend: Backend, lock: Lock):
        self._backend, self._lock = backend, lock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def encode_batch(self, *arguments: Any, **options: Any) -> list[Coded]:
        with self._lock:
            return self._backend.encode_batch(*arguments, **options)


def encode_on(
    devices: Devices,
    tiles: Sequence[TileSource],
    candidates: Sequence[EncodeParams],
    chosen: Mapping[Tools, Backend],
    threads: int | None,
    progress: Progress | None,
    known: KnownLossless | None = None,
) -> list[TileEncoding]:
    """Encode tiles, each on one device; each device has threads of its own.

    Parameters
    ----------
    devices : Devices
    tiles, candidates, chosen, threads, progress, known
        See ``encode_tiles``.
    """
    if devices.threads < 2 or len(tiles) < 2:
        with devices.on(devices.home(tiles[0].samples) or 0):
            return encode_tiles(tiles, candidates, chosen, threads, progress, known)
    known, most = {} if known is None else known, GROUP_FRAGMENTS
    if devices.lanes > 1 and not any(
        isinstance(candidate.tools, BlockTools) for candidate in candidates
    ):
        most //= 2  # trees are searched so fast that the work of the processor matters
    homes = [devices.home(tile.samples) for tile in tiles]
    sizes = [tile.fragments for tile in tiles]
    shares = shares_of(sizes, homes, len(devices.numbers), most)
    each = threads_of_each(threads, min(len(devices.numbers), len(shares)))
    in_turn_on = [
        {
            tools: cast(Backend, _InTurn(backend, lock)) if backend.batches else backend
            for tools, backend in chosen.items()
        }
        for lock in [Lock() for _ in devices.numbers]
    ]

    def run(place: int, share: Share, part: Progress) -> list[TileEncoding]:
        own = [tiles[number] for number in share.items]
        with devices.on(place):
            return encode_tiles(own, candidates, in_turn_on[place], each, part, known, share.items)

    found: dict[int, TileEncoding] = {}
    encoded = run_shares(run, shares, len(devices.numbers), progress, devices.lanes)
    for share, made in zip(shares, encoded, strict=True):
        found.update(zip(share.items, made, strict=True))
    return [found[number] for number in range(len(tiles))]


def each_on(
    devices: Devices,
    sources: Sequence[Any],
    encode: Callable[[Devices, Any, int, int | None, Progress], Any],
    threads: int | None,
    progress: Progress | None,
) -> list[Any]:
    """Encode pictures one by one, on several devices one on each at a time.

    Parameters
    ----------
    devices : Devices
    sources : sequence of Source
    encode : callable
        ``encode(devices, source, number, threads, progress)`` encodes the picture of this number.
    threads, progress
        See ``encode``.
    """
    places = min(len(devices.numbers), len(sources))
    shares = [
        Share((number,), source.fragments, devices.home(source.samples))
        for number, source in enumerate(sources)
    ]
    if places < 2:
        parts = in_turn(progress, [share.size for share in shares])
        return [
            encode(devices, source, number, threads, part)
            for number, (source, part) in enumerate(zip(sources, parts, strict=True))
        ]
    each = threads_of_each(threads, places)

    def run(place: int, share: Share, part: Progress) -> Any:
        number = share.items[0]
        return encode(devices.only(place), sources[number], number, each, part)

    return run_shares(run, shares, len(devices.numbers), progress)
