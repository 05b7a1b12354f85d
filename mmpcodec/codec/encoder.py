"""Encoding: from an array to the bytes of a file."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Backend, Coded, Progress, Trace
from mmpcodec.codec import container
from mmpcodec.codec.fragments import fragments_in
from mmpcodec.codec.postfilter import OFF, coefficient_bits
from mmpcodec.devices import on_device, processors
from mmpcodec.errors import ParameterError
from mmpcodec.params import EncodeParams, check_threads


@dataclass(frozen=True)
class Encoding:
    """A file and what it decodes to.

    Parameters
    ----------
    data : bytes
        The whole file.
    samples : (H, W) uint8 array
        What a decoder will show.
    trace : Trace
    backend : str
        Name of the backend that ran.
    """

    data: bytes
    samples: np.ndarray
    trace: Trace
    backend: str


class Passes:
    """Progress of several passes over the same pictures, which may run side by side.

    Parameters
    ----------
    progress : Progress or None
        Told of all of them as one.
    count : int
    """

    def __init__(self, progress: Progress | None, count: int):
        self._progress = progress
        self._done = [0] * count
        self._stopped = False
        self._lock = Lock()

    def of(self, number: int) -> Progress:
        """Progress of one of them."""

        def advance(done: int, total: int) -> bool:
            with self._lock:
                self._done[number] = done
                if self._progress and not self._stopped:
                    whole = len(self._done) * total
                    self._stopped = self._progress(sum(self._done), whole) is False
                return not self._stopped

        return advance

    def stop(self) -> None:
        """Cancel those that still run."""
        self._stopped = True


def check_picture(array: Any) -> Any:
    """The array as the codec takes it.

    Returns
    -------
    (H, W) uint8 array in C order
        Where it lay: a CuPy array stays on its device.

    Raises
    ------
    ParameterError
        For anything but 8-bit gray with at least one pixel.
    """
    if not on_device(array):
        array = np.asarray(array)
    if array.dtype != np.uint8 or array.ndim != 2 or array.size == 0:
        raise ParameterError(
            f"picture of shape {array.shape} and type {array.dtype}: "
            "supported are (height, width) arrays of uint8 (8-bit gray) with at least one pixel"
        )
    if max(array.shape) > container.MAX_DIMENSION:
        raise ParameterError(
            f"picture of shape {array.shape}: at most {container.MAX_DIMENSION} pixels a side"
        )
    return array if on_device(array) else np.ascontiguousarray(array)


def encode_pictures(
    arrays: Iterable[Any],
    params: EncodeParams,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Encoding]:
    """As ``encode_batch``, with parameters in one object, and with all that encoding found out.

    Of several candidates one that the named backend lacks a tool of is coded by another backend,
    since all write the same bytes; a single set of tools is not.
    """
    planes = []
    for number, array in enumerate(arrays):
        try:
            planes.append(check_picture(array))
        except ParameterError as error:
            raise ParameterError(f"number {number}: {error}" if number else str(error)) from error
    check_threads(threads)
    if not planes:
        return []
    if any(map(on_device, planes)):
        if backend not in ("auto", "cuda"):
            raise ParameterError(
                f"backend = {backend!r}: a picture lies on a CUDA device, which only cuda reads; "
                "copy it with cupy.asnumpy"
            )
        backend = "cuda"
    sources = [plane.get() if on_device(plane) else plane for plane in planes]
    fragments = sum(map(fragments_in, (plane.shape for plane in planes)))
    alone = params.each_alone()
    if len(alone) == 1:
        chosen = backends.get(backend, fragments, params.tools)
        return _encode_planes(planes, sources, params, chosen, threads, progress)
    named = backends.get(backend)
    ways = _encode_ways(
        planes,
        sources,
        [
            (
                each,
                backends.get("auto" if named.lacks(each.tools) else backend, fragments, each.tools),
            )
            for each in alone
        ],
        threads,
        Passes(progress, len(alone)),
    )
    return [
        min(files, key=partial(_cost, source=source, lam=params.lam))
        for source, *files in zip(sources, *ways, strict=True)
    ]


def _encode_ways(
    planes: list[Any],
    sources: list[np.ndarray],
    ways: list[tuple[EncodeParams, Backend]],
    threads: int | None,
    passes: Passes,
) -> list[list[Encoding]]:
    """The files of each of several ways; those of the compiled backend go side by side."""
    # A device is that of the calling thread, and threads do nothing for Python.
    aside = [number for number, (_, backend) in enumerate(ways) if backend.name == "cpu"]
    available = threads or processors()
    at_once = min(available, max(len(aside), 1))
    share = max(available // at_once, 1)

    def encoded(number: int) -> list[Encoding]:
        params, backend = ways[number]
        given = planes if backend.name == "cuda" else sources
        return _encode_planes(given, sources, params, backend, share, passes.of(number))

    with ThreadPoolExecutor(at_once) as pool:
        try:
            waiting = {number: pool.submit(encoded, number) for number in aside}
            return [
                _result(waiting[number]) if number in waiting else encoded(number)
                for number in range(len(ways))
            ]
        except BaseException:
            passes.stop()
            raise


def _result(waiting: Future) -> Any:
    """What comes of it; a wait without end could not be interrupted everywhere."""
    while not waiting.done():
        wait([waiting], timeout=0.1)
    return waiting.result()


def _encode_planes(
    planes: list[Any],
    sources: list[np.ndarray],
    params: EncodeParams,
    backend: Backend,
    threads: int | None,
    progress: Progress | None,
) -> list[Encoding]:
    """Encode pictures that were checked with one set of tools; sources are they on the host."""
    coded = backend.encode_batch(planes, params, threads=threads, progress=progress)
    finished = partial(finish, params=params, backend=backend)
    if len(coded) == 1:
        return [finished(sources[0], coded[0])]
    with ThreadPoolExecutor(threads or processors()) as pool:
        return list(pool.map(finished, sources, coded))


def _cost(encoding: Encoding, source: np.ndarray, lam: float) -> tuple[float, int]:
    """D + lambda R of a whole file, and its bytes, which decide where lambda is 0."""
    difference = source.astype(np.int32) - encoding.samples
    distortion = int((difference * difference).sum(dtype=np.int64))
    return distortion + lam * 8 * len(encoding.data), len(encoding.data)


def finish(source: np.ndarray, coded: Coded, params: EncodeParams, backend: Backend) -> Encoding:
    """Fit and apply the post filter, and write the file.

    Parameters
    ----------
    source : (H, W) uint8 array
        The picture, on the host.
    coded : Coded
        What the backend made of it.
    params : EncodeParams
    backend : Backend
    """
    coefficients = OFF
    if params.tools.post_filter and not params.tools.exact:
        coefficients = backend.post_filter.fit(source, coded.samples, params.lambda_fixed)
    samples = backend.post_filter.apply(coded.samples, coefficients)
    return Encoding(
        container.write(samples, params.coded_tools, coded.payload, coefficients),
        samples,
        coded.trace.with_filter(coefficient_bits(coefficients)),
        backend.name,
    )


def encode_picture(
    array: Any,
    params: EncodeParams,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Encoding:
    """As ``encode``, with parameters in one object, and with all that encoding found out."""
    return encode_pictures([array], params, backend=backend, threads=threads, progress=progress)[0]


def encode_batch(
    arrays: Iterable[Any],
    /,
    lam: float = 32.0,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> list[bytes]:
    """Encode several pictures; each file is the one that ``encode`` gives.

    On a CUDA device they are encoded at once, which takes far less time than one after the other.

    Parameters
    ----------
    arrays : iterable of (H, W) uint8 arrays
        NumPy arrays, or CuPy arrays, which stay on their device.
    lam, backend, threads, options
        As of ``encode``.
    progress : callable or None
        ``progress(done, total) -> bool`` counts the fragments of all pictures.

    Returns
    -------
    list of bytes
        Files in the order of the pictures.

    Raises
    ------
    LimitExceeded
        When a picture does not fit into the device's memory.
    KernelError
        When a kernel does not compile.
    ParameterError, BackendUnavailable, Cancelled
        As ``encode``.
    """
    params = EncodeParams.from_options(lam, **options)
    encodings = encode_pictures(arrays, params, backend=backend, threads=threads, progress=progress)
    return [encoding.data for encoding in encodings]


def encode(
    array: Any,
    /,
    lam: float = 32.0,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> bytes:
    """Encode a picture.

    Parameters
    ----------
    array : (H, W) uint8 array
        8-bit gray samples, any size from 1x1 up. A CuPy array is encoded where it lies.
    lam : float
        Lagrange multiplier in squared error per bit: larger makes smaller files. 0 is lossless.
    backend : {"auto", "cpu", "cuda", "reference"}
        Where to run. All backends write the same bytes. "auto" takes cuda where that is faster.
        What preset "auto" tries and the named one lacks is coded by another.
    threads : int or None
        Threads of the cpu backend; None takes what the machine has. Never changes a byte.
    progress : callable or None
        ``progress(done, total) -> bool`` is called with the number of finished fragments;
        returning False cancels.
    **options
        ``preset`` ("auto", "photo", "text", "mixed", "exact", "plain" or "classic"), ``rate_model``
        ("adaptive" or "log2"), ``effort``, and the tools that override the preset; see
        ``EncodeParams`` and ``Tools``.

    Returns
    -------
    bytes
        A whole file, as ``docs/format.md`` describes it.

    Raises
    ------
    ParameterError
        For a picture or parameter that is not supported.
    BackendUnavailable
        When the named backend cannot run here, or lacks a tool of the preset.
    LimitExceeded, KernelError
        When the device has too little memory, or a kernel does not compile.
    Cancelled
        When the callback returned False.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> picture = np.zeros((48, 64), np.uint8)
    >>> data = mmpcodec.encode(picture, lam=0)
    >>> bool((mmpcodec.decode(data) == picture).all())
    True
    """
    params = EncodeParams.from_options(lam, **options)
    return encode_picture(array, params, backend=backend, threads=threads, progress=progress).data
