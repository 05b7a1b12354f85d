"""Encoding: from an array to the bytes of a file."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Unpack

from mmpcodec.backends import DeviceLike
from mmpcodec.checks import check_switch
from mmpcodec.codec.candidates import backends_of, candidates_at
from mmpcodec.codec.devices import Devices, devices_for, each_on, encode_on
from mmpcodec.codec.encoding import Encoding, Pass
from mmpcodec.codec.layers.coding import KnownLossless
from mmpcodec.codec.limits.seconds import opens_by_default
from mmpcodec.codec.rate_control.targets import SSIMULACRA2, Target, request_of
from mmpcodec.codec.series.chaining import check_chain_pages
from mmpcodec.codec.series.pictures import Number, facts_of_series, is_series, joined_series
from mmpcodec.codec.sources import Source, checked_pictures
from mmpcodec.codec.tile_size import openable_tile_size
from mmpcodec.codec.tiles.renditions import check_target_with_levels, with_levels
from mmpcodec.codec.weighting.maps import check_maps, check_palette
from mmpcodec.errors import Infeasible, ParameterError
from mmpcodec.format.tiles import grouped
from mmpcodec.metadata import Metadata
from mmpcodec.options import AUTO, EncodeOptions, RunOptions, given_of, names_of, written_out
from mmpcodec.params import EncodeParams, check_progress, check_threads, check_tile_size
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.tasks import one_at_a_time
from mmpcodec.samples import SamplesLike

GROUP_SAMPLES = 1 << 26
"""Most samples of the tiles that are encoded in one call; larger groups are not faster."""


def encode_pictures(
    arrays: Iterable[SamplesLike],
    params: EncodeParams,
    *,
    target: Target | None = None,
    depth: int | None = None,
    metadata: Metadata | Sequence[Metadata] | None = None,
    tile_size: int | None = None,
    backend: str | None = AUTO,
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    roi: Sequence[Any] | None = None,
) -> list[Encoding]:
    """Encode several pictures and return files, decoded samples and statistics.

    If the parameters hold several candidate sets of tools, those that a named backend cannot encode
    run on another backend. A single set of tools runs on the named backend or not at all.

    Parameters
    ----------
    arrays : iterable of arrays
        See ``encode_batch``.
    params : EncodeParams
        With a target, their lambda is ignored.
    target : Target or None
        Limit that each file keeps.
    depth, metadata
        See ``encode_batch``.
    tile_size, backend, device, threads, progress, on_pass, roi
        See ``EncodeOptions``.

    Returns
    -------
    list of Encoding
        In the order of the pictures.

    Raises
    ------
    MmpError
        The errors of ``encode_batch``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> params = mmpcodec.EncodeParams.from_options(40, preset="plain")
    >>> found = mmpcodec.encode_pictures([np.eye(8, dtype=bool)], params)
    >>> [(one.lam, one.header.depth) for one in found]
    [(40, 1)]
    """
    started = time.perf_counter()
    tile_size = None if tile_size is None else check_tile_size(tile_size)
    backend, threads = AUTO if backend is None else backend, check_threads(threads)
    check_progress(progress)
    arrays = list(arrays)
    pictures = checked_pictures(arrays, depth, metadata)
    if not pictures:
        return []
    maps = check_maps(roi, [samples.shape for samples, *_ in pictures])
    backend, devices = devices_for(backend, device, [samples for samples, *_ in pictures])

    def source_of(number: int, tile_size: int | None) -> Source:
        samples, bits, own = pictures[number]
        return Source.of(samples, devices, bits, own, tile_size, params, maps[number], backend)

    def coded(
        sources: Sequence[Source],
        progress: Progress | None = None,
        on_pass: Callable[[Pass], Any] | None = None,
    ) -> list[Encoding]:
        if target is None:
            return _encode_all(sources, backend, devices, threads, progress)
        to_target = partial(_encode_to, target, backend, on_pass, tile_size is None)
        return each_on(devices, sources, to_target, threads, progress)

    sources = [source_of(number, tile_size) for number in range(len(pictures))]
    encodings = coded(sources, progress, on_pass and one_at_a_time(on_pass))
    for number, one in enumerate(encodings):
        # Decoders refuse so large a picture in few bytes. Flat tiles take little time; a nearly
        # flat picture of lossless samples in one tile does not.
        if not (tile_size or len(one.header.tile_bytes) > 1 or opens_by_default(one.data)):
            size = openable_tile_size(one.header.height, one.header.width)
            with suppress(Infeasible):
                encodings[number] = coded([source_of(number, size)])[0]
    seconds = (time.perf_counter() - started) / len(pictures)
    return [replace(encoding, seconds=seconds) for encoding in encodings]


def _encode_all(
    sources: Sequence[Source],
    backend: str,
    devices: Devices,
    threads: int | None,
    progress: Progress | None,
) -> list[Encoding]:
    """Encode pictures, those of one depth and lambda together."""
    alike: dict[tuple[int, EncodeParams], list[int]] = {}
    for number, source in enumerate(sources):
        at_levels = source.levels.at_levels(source.params)
        alike.setdefault((source.levels.bits, at_levels), []).append(number)
    sizes = [sum(sources[number].fragments for number in group) for group in alike.values()]
    found: dict[int, Encoding] = {}
    for (kind, group), part in zip(alike.items(), in_turn(progress, sizes), strict=True):
        together = [sources[number] for number in group]
        made = _encode_alike(together, *kind, backend, devices, threads, part)
        found.update(zip(group, made, strict=True))
    return [
        # A lambda of coded levels may have become 0, which is lossless.
        replace(found[number], lam=source.params.lam) if found[number].lam else found[number]
        for number, source in enumerate(sources)
    ]


def _encode_alike(
    sources: Sequence[Source],
    bits: int,
    params: EncodeParams,
    backend: str,
    devices: Devices,
    threads: int | None,
    progress: Progress | None,
) -> list[Encoding]:
    """Encode pictures of one depth with the lambda of the parameters."""
    candidates = candidates_at(params, bits, backend)
    tiles = [tile for source in sources for tile in source.tiles()]
    chosen = backends_of(candidates, backend, bits, sum(tile.fragments for tile in tiles))
    groups = [tiles]
    if devices.threads < 2:
        groups = list(grouped(tiles, attrgetter("on_host.size"), GROUP_SAMPLES))
    parts = in_turn(progress, [sum(tile.fragments for tile in group) for group in groups])
    made = iter(
        [
            each
            for group, part in zip(groups, parts, strict=True)
            for each in encode_on(devices, group, candidates, chosen, threads, part)
        ]
    )
    return [
        source.encoding([next(made) for _ in source.header.tiles], candidates) for source in sources
    ]


def _encode_to(
    target: Target,
    backend: str,
    on_pass: Callable[[Pass], Any] | None,
    chooses_tiles: bool,
    devices: Devices,
    source: Source,
    number: int,
    threads: int | None,
    progress: Progress | None,
) -> Encoding:
    """Encode the picture of this number in the batch with the lambda that keeps a target.

    If the encoder chooses the tile size, it is that of the lambda that is predicted.
    """
    from mmpcodec.codec.rate_control.scores import Scores
    from mmpcodec.codec.rate_control.search import Attempt, expected_lambda, reach

    bits, levels = source.levels.bits, source.levels
    candidates = candidates_at(source.params, bits, backend)
    if chooses_tiles:
        lam = expected_lambda(target, source.on_host, levels, candidates)
        at = [levels.at_levels(replace(candidate, lam=lam)) for candidate in candidates]
        source = source.with_usual_tiles(at)
    tiles = list(source.tiles())
    chosen = backends_of(candidates, backend, bits, source.fragments)
    known = KnownLossless()
    scores: Scores | None = None

    def encoded(candidates: Sequence[EncodeParams]) -> Attempt:
        lam = candidates[0].lam
        candidates = [levels.at_levels(candidate) for candidate in candidates]
        made = encode_on(devices, tiles, candidates, chosen, threads, progress, known)
        encoding = replace(source.encoding(made, candidates), lam=lam)
        error = levels.distortion(source.original, encoding.samples)
        costs = tuple(map(sum, zip(*(tile.costs for tile in made), strict=True)))
        used = frozenset[int]().union(*(tile.used for tile in made))
        score = None if scores is None else scores.of(levels.coded(encoding.samples))
        return Attempt(encoding, math.ceil(error), costs, used, score)

    try:
        if target.name == SSIMULACRA2:
            scores = Scores(source.on_host, levels, source.header.metadata.white)
        return reach(
            target,
            source.on_host,
            levels,
            candidates,
            encoded,
            on_pass=on_pass,
            picture=number,
        )
    except Infeasible as error:
        if number == 0:
            raise
        raise Infeasible(f"number {number}: {error}") from error


@written_out
def encode_batch(
    arrays: Iterable[SamplesLike],
    /,
    lam: float | None = None,
    *,
    depth: int | None = None,
    metadata: Metadata | Sequence[Metadata] | None = None,
    **options: Unpack[EncodeOptions],
) -> list[bytes]:
    """Encode several pictures; each file equals the one that ``encode`` returns.

    A CUDA device encodes many pictures in parallel, in far less time than one after the other, and
    several devices share them. With a target, the pictures are encoded one after the other, each
    with a lambda of its own. The other options are those of ``EncodeOptions``.

    Parameters
    ----------
    arrays : iterable of (H, W) or (H, W, C) arrays of bool, uint8 or uint16
        NumPy arrays, or CuPy arrays. A CuPy array is coded on the device that holds it, unless
        ``device`` names others; then its copy on the host is coded.
    lam, depth
        As in ``encode``, for all pictures.
    metadata : Metadata, sequence of Metadata, or None
        Metadata of all pictures, or one for each picture.

    Returns
    -------
    list of bytes
        Files in the order of the pictures.

    Raises
    ------
    MmpError
        The errors of ``encode``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> pictures = [np.full((20, 30), level, np.uint8) for level in (10, 200)]
    >>> files = mmpcodec.encode_batch(pictures, lam=0)
    >>> [int(mmpcodec.decode(file).max()) for file in files]
    [10, 200]
    """
    given = given_of(options, EncodeOptions)
    levels = check_switch("levels", given.pop("levels", False))
    run: Any = {name: given.pop(name) for name in names_of(RunOptions) if name in given}
    check_palette(given.get("palette"), run.get("roi"))
    params, target = request_of(lam, **given)
    if levels:
        check_target_with_levels(target)
    encodings = encode_pictures(
        arrays, params, target=target, depth=depth, metadata=metadata, **run
    )
    if levels:
        run = {name: value for name, value in run.items() if name not in ("roi", "on_pass")}
        return [with_levels(encoding, params, **run) for encoding in encodings]
    return [encoding.data for encoding in encodings]


@written_out
def encode_picture(
    array: SamplesLike,
    params: EncodeParams,
    *,
    target: Target | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    **options: Unpack[RunOptions],
) -> Encoding:
    """Encode a picture and return the file, decoded samples and statistics.

    The other options are those of ``EncodeOptions`` from ``tile_size`` on.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of bool, uint8 or uint16
        See ``encode``.
    params : EncodeParams
    target, depth, metadata
        See ``encode_pictures``.

    Raises
    ------
    MmpError
        The errors of ``encode``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> params = mmpcodec.EncodeParams.from_options(0, preset="lossless")
    >>> found = mmpcodec.encode_picture(np.full((20, 30), 7, np.uint8), params)
    >>> found.header.width, int(found.samples.max()), len(found.data) < 100
    (30, 7, True)
    """
    alone = options | {"roi": None if options.get("roi") is None else [options["roi"]]}
    return encode_pictures([array], params, target=target, depth=depth, metadata=metadata, **alone)[
        0
    ]


@written_out
def encode(
    array: SamplesLike | Sequence[SamplesLike],
    /,
    lam: float | None = None,
    *,
    depth: int | None = None,
    metadata: Metadata | Sequence[Metadata] | None = None,
    durations: Number | Sequence[Number] | None = None,
    positions: Sequence[Number] | None = None,
    loops: int | None = None,
    chain_pages: int | None = None,
    **options: Unpack[EncodeOptions],
) -> bytes:
    """Encode a picture, or several to one file. The other options are those of ``EncodeOptions``.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of bool, uint8 or uint16, or a list of them
        A list or tuple of arrays gives a file of several pictures, of any sizes and forms, which
        ``mmpcodec.open`` opens.
        Gray, gray with alpha (C is 2), RGB, or RGB with alpha, from 1x1 pixels on. C of 1 is gray
        and decodes to (H, W). A CuPy array stays in device memory. Alpha is always lossless.
    lam : float or None
        Lagrange multiplier of the rate-distortion cost, in squared error per bit: a larger lambda
        makes a smaller file, 0 is lossless. The squared error of a pixel is the mean over its
        colours, in units of 8-bit samples.
    depth : int or None
        Bits per sample, 1 to 16; None takes 1 for bool, 8 for uint8 and 16 for uint16.
    metadata : Metadata, sequence of Metadata, or None
        Stored in the file; of several pictures, those of all, or one for each.
    durations : number, sequence of numbers, or None
        Seconds that each picture of a list is shown, of one for all: they are frames then, else
        pages. A Fraction is exact; a float becomes the nearest fraction with at most six digits
        below the line.
    positions : sequence of numbers or None
        Places of the pictures of a list along their series in millimetres, which are rounded to
        nanometres: they are slices then.
    loops : int or None
        How often frames are shown, one after the other; 0, and None, for without end.
    chain_pages : int or None
        Most pictures of a list, 1 to 64, that continue one another where that needs fewer bytes:
        lossless ones of two values. Such a picture decodes after those of its chain. None, and 1,
        for pictures that decode alone.

    Returns
    -------
    bytes
        A whole file.

    Raises
    ------
    ParameterError
        When the picture or an option is not supported, or there is no such device.
    Infeasible
        When no lambda keeps the target. The message names the nearest file.
    BackendUnavailable
        When the named backend cannot run here, or lacks a tool of the preset.
    LimitExceeded, KernelError
        When the device has too little memory, or a kernel does not compile.
    Cancelled
        When the callback returned False.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> int(mmpcodec.decode(mmpcodec.encode(np.full((48, 64), 7, np.uint8), lam=0)).max())
    7
    >>> frames = [np.full((48, 64), level, np.uint8) for level in (10, 200)]
    >>> data = mmpcodec.encode(frames, lam=0, durations=0.5)
    >>> int(mmpcodec.decode(data, page=2).max())
    200
    """
    if isinstance(array, list | tuple) and not array:
        raise ParameterError(f"array = {array!r}: must hold at least one picture")
    if is_series(array):
        facts = facts_of_series(len(array), durations, positions, loops)
        chain_pages = check_chain_pages(chain_pages)
        coded = encode_batch(array, lam, depth=depth, metadata=metadata, **options)
        return joined_series(coded, *facts, chain_pages)
    for name, value in (
        ("durations", durations),
        ("positions", positions),
        ("loops", loops),
        ("chain_pages", chain_pages),
    ):
        if value is not None:
            raise ParameterError(f"{name} = {value!r}: must be None for a single picture")
    if options.get("roi") is not None:
        options["roi"] = [options["roi"]]
    return encode_batch([array], lam, depth=depth, metadata=metadata, **options)[0]  # type: ignore[list-item]
