"""Encoding: from an array to the bytes of a file."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Backend, Coded, Progress, Trace, in_turn
from mmpcodec.codec import container
from mmpcodec.codec.container import BIT_DEPTH
from mmpcodec.codec.fragments import fragments_in
from mmpcodec.codec.planes import check_picture, is_plain, to_planes
from mmpcodec.codec.points import Point, squared_error
from mmpcodec.codec.postfilter import OFF, coefficient_bits
from mmpcodec.codec.target_search import Pass, reach
from mmpcodec.codec.targets import Target, lambda_or_target
from mmpcodec.devices import on_device, processors
from mmpcodec.errors import Infeasible, ParameterError
from mmpcodec.params import PRESETS, EncodeParams, Tools, check_threads

EXACT = PRESETS["exact"]


@dataclass(frozen=True)
class Encoding:
    """A file and what it decodes to.

    Parameters
    ----------
    data : bytes
        The whole file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        What a decoder will show.
    trace : Trace
    backend : str
        Name of the backend that ran.
    lam : float
        Lambda of the file.
    passes : tuple of Pass
        What was tried for a target; empty without one.
    """

    data: bytes
    samples: np.ndarray
    trace: Trace
    backend: str
    lam: float
    passes: tuple[Pass, ...] = ()


class SharedProgress:
    """Progress of several ways to encode the same pictures, which may run side by side.

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


def encode_pictures(
    arrays: Iterable[Any],
    params: EncodeParams,
    *,
    target: Target | None = None,
    depth: int | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
) -> list[Encoding]:
    """As ``encode_batch``, with parameters in one object, and with all that encoding found out.

    Of several candidates one that the named backend lacks a tool of is coded by another backend,
    since all write the same bytes; a single set of tools is not. With a target the lambda of the
    parameters has no part.
    """
    planes, depths = [], []
    for number, array in enumerate(arrays):
        try:
            plane, bits = check_picture(array, depth)
            if not is_plain(plane, bits):
                check_lossless(plane, bits, params, target)
            planes.append(plane)
            depths.append(bits)
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
    if not all(map(is_plain, planes, depths)):
        if len(planes) == 1:
            exact = next(each for each in params.each_alone() if each.tools.exact)
            coder = _backends_of(params, backend, fragments_in(planes[0].shape[:2]))[exact.tools]
            return [_encode_exact(sources[0], depths[0], params.lam, coder, progress)]
        return [
            encode_picture(
                plane, params, depth=bits, backend=backend, threads=threads, progress=part
            )
            for plane, bits, part in zip(planes, depths, in_turn(progress, planes), strict=True)
        ]
    if target is not None:
        return [
            _encode_to(target, plane, source, params, backend, threads, progress, on_pass, number)
            for number, (plane, source) in enumerate(zip(planes, sources, strict=True))
        ]
    chosen = _backends_of(params, backend, sum(fragments_in(plane.shape) for plane in planes))
    ways = _encode_ways(planes, sources, params.each_alone(), chosen, threads, progress)
    return [
        min(files, key=partial(_cost, source=source))
        for source, *files in zip(sources, *ways, strict=True)
    ]


def _encode_to(
    target: Target,
    plane: Any,
    source: np.ndarray,
    params: EncodeParams,
    backend: str,
    threads: int | None,
    progress: Progress | None,
    on_pass: Callable[[Pass], Any] | None,
    number: int,
) -> Encoding:
    """Search for the lambda of one picture, the one of that number."""
    chosen = _backends_of(params, backend, fragments_in(plane.shape))

    def encoded(ways: Sequence[EncodeParams]) -> list[Encoding]:
        found = _encode_ways([plane], [source], ways, chosen, threads, progress)
        return [files[0] for files in found]

    try:
        return reach(target, source, params, encoded, on_pass=on_pass, picture=number)
    except Infeasible as error:
        if number == 0:
            raise
        raise Infeasible(f"number {number}: {error}") from error


def _backends_of(params: EncodeParams, backend: str, fragments: int) -> dict[Tools, Backend]:
    """Who encodes with each set of tools."""
    alone = params.each_alone()
    if len(alone) == 1:
        return {params.tools: backends.get(backend, fragments, params.tools)}
    named = backends.get(backend)
    return {
        tools: backends.get("auto" if named.lacks(tools) else backend, fragments, tools)
        for tools in (each.tools for each in alone)
    }


def _encode_ways(
    planes: list[Any],
    sources: list[np.ndarray],
    ways: Sequence[EncodeParams],
    chosen: dict[Tools, Backend],
    threads: int | None,
    progress: Progress | None,
) -> list[list[Encoding]]:
    """The files of each of several ways; those of the compiled backend go side by side.

    Parameters
    ----------
    planes, sources : list
        Pictures that were checked, where they lie and on the host.
    ways : sequence of EncodeParams
        Of one set of tools each.
    chosen : dict of Tools to Backend
    threads, progress
        As of ``encode``.
    """

    def encoded(number: int, threads: int | None, progress: Progress | None) -> list[Encoding]:
        params, backend = ways[number], chosen[ways[number].tools]
        given = planes if backend.name == "cuda" else sources
        return _encode_planes(given, sources, params, backend, threads, progress)

    if len(ways) == 1:
        return [encoded(0, threads, progress)]  # in this thread, which Ctrl-C stops at once
    shared = SharedProgress(progress, len(ways))
    # A device is that of the calling thread, and threads do nothing for Python.
    aside = [number for number, way in enumerate(ways) if chosen[way.tools].name == "cpu"]
    available = threads or processors()
    at_once = min(available, max(len(aside), 1))
    share = max(available // at_once, 1)

    def one(number: int) -> list[Encoding]:
        return encoded(number, share, shared.of(number))

    with ThreadPoolExecutor(at_once) as pool:
        try:
            waiting = {number: pool.submit(one, number) for number in aside}
            return [
                _result(waiting[number]) if number in waiting else one(number)
                for number in range(len(ways))
            ]
        except BaseException:
            shared.stop()
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
    if params.tools.exact:
        return [
            _encode_exact(source, BIT_DEPTH, params.lam, backend, progress) for source in sources
        ]
    coded = backend.encode_batch(planes, params, threads=threads, progress=progress)
    finished = partial(finish, params=params, backend=backend)
    if len(coded) == 1:
        return [finished(sources[0], coded[0])]
    with ThreadPoolExecutor(threads or processors()) as pool:
        return list(pool.map(finished, sources, coded))


def check_lossless(array: Any, depth: int, params: EncodeParams, target: Target | None) -> None:
    """Check that a picture that only exact samples can code is to be coded by them.

    Raises
    ------
    ParameterError
        When something may be lost.
    """
    wanted = target is None and any(tools.exact for tools in (params.tools, *params.candidates))
    if not (wanted and (params.lam == 0 or not params.candidates)):
        planes = 1 if array.ndim == 2 else array.shape[2]
        raise ParameterError(
            f"picture of {planes} plane{'s' * (planes > 1)} of {depth} bits: only gray of "
            f"{BIT_DEPTH} bits can be coded with loss; lambda must be 0, or preset exact"
        )


def _encode_exact(
    source: np.ndarray, depth: int, lam: float, backend: Backend, progress: Progress | None
) -> Encoding:
    """Encode a picture that was checked, without loss."""
    payload, trace = backend.encode_exact(to_planes(source), depth, progress=progress)
    data = container.write(source, EXACT, payload, bit_depth=depth)
    return Encoding(data, source, trace.with_filter(0), backend.name, lam)


def _cost(encoding: Encoding, source: np.ndarray) -> tuple[float, int]:
    """D + lambda R of a whole file, and its bytes, which decide where lambda is 0."""
    distortion = squared_error(source, encoding.samples)
    size = len(encoding.data)
    return Point(encoding.lam, size, distortion).cost, size


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
    if params.tools.post_filter:
        coefficients = backend.post_filter.fit(source, coded.samples, params.lambda_fixed)
    samples = backend.post_filter.apply(coded.samples, coefficients)
    return Encoding(
        container.write(samples, params.coded_tools, coded.payload, coefficients),
        samples,
        coded.trace.with_filter(coefficient_bits(coefficients)),
        backend.name,
        params.lam,
    )


def encode_picture(array: Any, params: EncodeParams, **options: Any) -> Encoding:
    """As ``encode``, with parameters in one object, and with all that encoding found out.

    Takes the options of ``encode_pictures``.
    """
    return encode_pictures([array], params, **options)[0]


def encode_batch(
    arrays: Iterable[Any],
    /,
    lam: float | None = None,
    *,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    depth: int | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    **options: Any,
) -> list[bytes]:
    """Encode several pictures; each file is the one that ``encode`` gives.

    On a CUDA device they are encoded at once, which takes far less time than one after the other;
    with a target each picture has its own search, one after the other.

    Parameters
    ----------
    arrays : iterable of arrays
        NumPy arrays, or CuPy arrays, which stay on their device.
    lam, quality, target_size, target_bpp, target_psnr, depth, backend, threads, on_pass, options
        As of ``encode``; a target is that of each file.
    progress : callable or None
        ``progress(done, total) -> bool`` counts the fragments of all pictures; with a target those
        of one picture, anew in each pass.

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
    ParameterError, Infeasible, BackendUnavailable, Cancelled
        As ``encode``.
    """
    lam, target = lambda_or_target(lam, quality, target_size, target_bpp, target_psnr)
    encodings = encode_pictures(
        arrays,
        EncodeParams.from_options(lam, **options),
        target=target,
        depth=depth,
        backend=backend,
        threads=threads,
        progress=progress,
        on_pass=on_pass,
    )
    return [encoding.data for encoding in encodings]


def encode(array: Any, /, lam: float | None = None, **options: Any) -> bytes:
    """Encode a picture.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of uint8 or uint16
        Gray; or gray and alpha, red, green and blue, these and alpha, which so far are coded
        without loss only, as are other depths than 8. Any size from 1x1 up. A CuPy array is
        encoded where it lies.
    lam : float or None
        Lagrange multiplier in squared error per bit: larger makes smaller files. 0 is lossless.
        None is 32 where none of the next four is given; of all five at most one may be.
    quality : float
        0 to 100: lambda is 4 (2^((100 - quality) / 10) - 1); see ``docs/targets.md``.
    target_size : int
        The best file of at most so many bytes, lossless if that fits.
    target_bpp : float
        The same in bits a pixel.
    target_psnr : float
        The smallest file found of at least so many dB, of the whole decoded picture.
    depth : int or None
        Bits of a sample, 1 to 16: of samples of 12 bits in uint16 it is 12. None takes all that
        the type has.
    backend : {"auto", "cpu", "cuda", "reference"}
        Where to run. All backends write the same bytes. "auto" takes cuda where that is faster.
        What preset "auto" tries and the named one lacks is coded by another.
    threads : int or None
        Threads of the cpu backend; None takes what the machine has. Never changes a byte.
    progress : callable or None
        ``progress(done, total) -> bool`` is called with the number of finished fragments, with a
        target anew in each pass; returning False cancels.
    on_pass : callable or None
        ``on_pass(Pass)`` is told of each lambda that was tried for a target.
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
    Infeasible
        When no lambda keeps the target; the message says what comes nearest.
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
    return encode_batch([array], lam, **options)[0]
