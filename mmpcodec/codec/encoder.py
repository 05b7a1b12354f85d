"""Encoding: from an array to the bytes of a file."""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from mmpcodec.backends import DeviceLike
from mmpcodec.codec.candidates import backends_of, candidates_at, fitted
from mmpcodec.codec.devices import Devices, devices_for, each_on, encode_on
from mmpcodec.codec.encoding import Encoding, Pass
from mmpcodec.codec.layers.coding import KnownLossless
from mmpcodec.codec.limits.seconds import opens_by_default
from mmpcodec.codec.rate_control.targets import SSIMULACRA2, Target, rate_of
from mmpcodec.codec.sources import Source, checked_pictures, restored
from mmpcodec.codec.tile_coding import TileEncoding, TileSource
from mmpcodec.codec.weighting.maps import check_maps, check_palette
from mmpcodec.errors import Infeasible
from mmpcodec.format import container
from mmpcodec.format.tiles import grouped
from mmpcodec.metadata import Metadata
from mmpcodec.params import AUTO, DEEP, EncodeParams, check_progress, check_threads, check_tile_size
from mmpcodec.presets import DEFAULT_EFFORT
from mmpcodec.reference.trees.scales import FRAGMENT_SIZE
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.runtime.tasks import one_at_a_time
from mmpcodec.samples import SamplesLike
from mmpcodec.tools import ToolOptions

GROUP_PIXELS = 1 << 25
"""Most pixels of the tiles that are encoded in one call; larger groups are not faster."""
GROUP_FRAGMENTS = GROUP_PIXELS // FRAGMENT_SIZE**2


OPENABLE_TILE = 256
"""Side of the tiles of pictures that a decoder would refuse in one tile."""


def encode_pictures(
    arrays: Iterable[SamplesLike],
    params: EncodeParams,
    *,
    target: Target | None = None,
    depth: int | None = None,
    metadata: Metadata | Sequence[Metadata] | None = None,
    tile_size: int = 0,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    roi: Sequence[Any] | None = None,
) -> list[Encoding]:
    """Encode several pictures and return files, decoded samples and statistics.

    If the parameters hold several candidate sets of tools, those that a named backend cannot encode
    run on another backend. A single set of tools runs on the named
    backend or not at all.

    Parameters
    ----------
    arrays : iterable of arrays
        See ``encode_batch``.
    params : EncodeParams
        With a target, their lambda is ignored.
    target : Target or None
        Limit that each file keeps.
    depth, metadata, tile_size, backend, device, threads, progress, on_pass, roi
        See ``encode_batch``.

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
    tile_size, threads = check_tile_size(tile_size), check_threads(threads)
    check_progress(progress)
    arrays = list(arrays)
    pictures = checked_pictures(arrays, depth, metadata)
    if not pictures:
        return []
    maps = check_maps(roi, [samples.shape for samples, *_ in pictures])
    backend, devices = devices_for(backend, device, [samples for samples, *_ in pictures])
    prepared = [
        Source.of(samples, devices, bits, own, tile_size, of_pixels).prepared(
            fitted(params, backend, bits)
        )
        for (samples, bits, own), of_pixels in zip(pictures, maps, strict=True)
    ]
    sources, own_params = [source for source, _ in prepared], [own for _, own in prepared]

    def openable(number: int, encoding: Encoding) -> Encoding:
        """Return the encoding, in tiles if decoders would refuse so large a picture in few bytes.

        Flat tiles take little time; a nearly flat picture of lossless samples in one tile does not.
        """
        if tile_size or len(encoding.header.tile_bytes) > 1 or opens_by_default(encoding.data):
            return encoding
        samples, bits, own = pictures[number]
        weights = None if roi is None else [roi[number]]
        with suppress(Infeasible):
            return encode_pictures(
                [samples],
                params,
                target=target,
                depth=bits,
                metadata=own,
                tile_size=OPENABLE_TILE,
                backend=backend,
                device=device,
                threads=threads,
                roi=weights,
            )[0]
        return encoding

    if target is not None:
        reported = on_pass and one_at_a_time(on_pass)
        to_target = partial(_encode_to, target, own_params, backend, reported)
        in_one = each_on(devices, sources, to_target, threads, progress)
        return [openable(*each) for each in enumerate(restored(sources, in_one))]
    alike: dict[tuple[int, EncodeParams], list[int]] = {}
    for number, (source, own) in enumerate(zip(sources, own_params, strict=True)):
        alike.setdefault((source.depth, source.levels.at_levels(own)), []).append(number)
    groups = list(alike.values())
    sizes = [sum(sources[number].fragments for number in group) for group in groups]
    found: dict[int, Encoding] = {}
    for (_, own), group, part in zip(alike, groups, in_turn(progress, sizes), strict=True):
        together = [sources[number] for number in group]
        made = _encode_at(together, own, backend, devices, threads, part)
        found.update(zip(group, made, strict=True))
    encodings = [
        # A lambda of coded levels may have become 0, which is lossless.
        replace(found[number], lam=own.lam) if found[number].lam else found[number]
        for number, own in enumerate(own_params)
    ]
    return [openable(*each) for each in enumerate(restored(sources, encodings))]


def _encode_at(
    sources: Sequence[Source],
    params: EncodeParams,
    backend: str,
    devices: Devices,
    threads: int | None,
    progress: Progress | None,
) -> list[Encoding]:
    """Encode pictures of one depth with the lambda of the parameters."""
    candidates = candidates_at(params, sources[0].depth, backend)
    fragments = sum(source.fragments for source in sources)
    chosen = backends_of(candidates, backend, sources[0].depth, fragments)
    tiles = [(number, tile) for number, one in enumerate(sources) for tile in one.tiles()]
    found: list[list[TileEncoding]] = [[] for _ in sources]
    groups = [[tile for _, tile in tiles]]
    if devices.threads < 2:
        groups = list(grouped(groups[0], _size, GROUP_PIXELS))
    parts = in_turn(progress, [sum(tile.fragments for tile in group) for group in groups])
    numbers = iter(number for number, _ in tiles)
    for group, part in zip(groups, parts, strict=True):
        for made in encode_on(
            devices, group, candidates, chosen, threads, part, most=GROUP_FRAGMENTS
        ):
            found[next(numbers)].append(made)
    return [
        _assembled(source, made, candidates) for source, made in zip(sources, found, strict=True)
    ]


def _size(tile: TileSource) -> int:
    return tile.on_host.size


def _assembled(
    source: Source, tiles: Sequence[TileEncoding], candidates: Sequence[EncodeParams]
) -> Encoding:
    """Return the file of a picture whose tiles are encoded."""
    header = source.header(tuple(len(tile.data) for tile in tiles), candidates)
    samples = tiles[0].samples
    if len(tiles) > 1:
        samples = np.empty_like(source.on_host)
        for place, tile in zip(header.tiles, tiles, strict=True):
            samples[place.slices] = tile.samples
    layers = tuple(
        replace(layer, tile=number) for number, tile in enumerate(tiles) for layer in tile.layers
    )
    data = container.write(header, [tile.data for tile in tiles])
    return Encoding(data, samples, header, layers, candidates[0].lam)


def _encode_to(
    target: Target,
    own_params: Sequence[EncodeParams],
    backend: str,
    on_pass: Callable[[Pass], Any] | None,
    devices: Devices,
    source: Source,
    number: int,
    threads: int | None,
    progress: Progress | None,
) -> Encoding:
    """Encode the picture of this number in the batch with the lambda that keeps a target."""
    from mmpcodec.codec.rate_control.scores import Scores
    from mmpcodec.codec.rate_control.search import Attempt, reach

    params = own_params[number]
    candidates = candidates_at(params, source.depth, backend)
    chosen = backends_of(candidates, backend, source.depth, source.fragments)
    tiles = list(source.tiles())
    known = KnownLossless()
    scores: Scores | None = None

    def encoded(candidates: Sequence[EncodeParams]) -> Attempt:
        lam = candidates[0].lam
        candidates = [source.levels.at_levels(candidate) for candidate in candidates]
        made = encode_on(
            devices,
            tiles,
            candidates,
            chosen,
            threads,
            progress,
            most=GROUP_FRAGMENTS,
            known=known,
        )
        encoding = replace(_assembled(source, made, candidates), lam=lam)
        error = source.levels.distortion(source.on_host, encoding.samples)
        costs = tuple(map(sum, zip(*(tile.costs for tile in made), strict=True)))
        used = frozenset[int]().union(*(tile.used for tile in made))
        score = None if scores is None else scores.of(encoding.samples)
        return Attempt(encoding, math.ceil(error), costs, used, score)

    try:
        if target.name == SSIMULACRA2:
            scores = Scores(source.on_host, source.levels, source.metadata.white)
        return reach(
            target,
            source.on_host,
            source.levels,
            candidates,
            encoded,
            on_pass=on_pass,
            picture=number,
        )
    except Infeasible as error:
        if number == 0:
            raise
        raise Infeasible(f"number {number}: {error}") from error


def encode_batch(
    arrays: Iterable[SamplesLike],
    /,
    lam: float | None = None,
    *,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    target_ssimulacra2: float | None = None,
    preset: str = AUTO,
    effort: int = DEFAULT_EFFORT,
    rate_model: str = "adaptive",
    depth: int | None = None,
    metadata: Metadata | Sequence[Metadata] | None = None,
    tile_size: int = 0,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    roi: Sequence[Any] | None = None,
    **tools: Unpack[ToolOptions],
) -> list[bytes]:
    """Encode several pictures; each file equals the one that ``encode`` returns.

    A CUDA device encodes many pictures in parallel, in far less time than one after the other, and
    several devices share them. With a target, the pictures are encoded one after the other, each
    with a lambda of its own.

    Parameters
    ----------
    arrays : iterable of (H, W) or (H, W, C) arrays of bool, uint8 or uint16
        NumPy arrays, or CuPy arrays. A CuPy array is coded on the device that holds it, unless
        ``device`` names others; then its copy on the host is coded.
    lam, quality, target_size, target_bpp, target_psnr, target_ssimulacra2
        As in ``encode``; a target holds for each file.
    preset, effort, rate_model
        As in ``encode``.
    depth : int or None
        As in ``encode``, for all pictures.
    metadata : Metadata, sequence of Metadata, or None
        Metadata of all pictures, or one for each picture.
    tile_size, backend
        As in ``encode``.
    device : int, str, sequence of int, or None
        CUDA devices to run on, which implies backend "cuda": a number, several numbers, "0,1" or
        "all". Several devices share pictures and tiles; a tile is coded on one device. None takes
        the current device of CuPy, and for a CuPy array the device that holds it. The devices
        never change a byte.
    threads : int or None
        Threads of the processor; None takes all processors. The number never changes a byte.
    progress : callable or None
        ``progress(done, total) -> bool`` gets the numbers of finished and of all 16x16 fragments,
        over all planes of all pictures. With several devices it is called from several threads, by
        one at a time. With a target, both count one picture and start again in
        each pass. Returning False cancels.
    on_pass : callable or None
        ``on_pass(Pass)`` is called after each lambda that is tried for a target.
    roi : sequence of arrays and None, or None
        For each picture, an (H, W) array of integers or bool: by how many quarters of a doubling
        the quantisation step is finer at a pixel, -24 to 24; see ``codec.weighting.maps``. It
        leaves out sets of tools without predicted blocks.
    **tools
        As in ``encode``.

    Returns
    -------
    list of bytes
        Files in the order of the pictures.

    Raises
    ------
    LimitExceeded
        When a picture does not fit into device memory.
    KernelError
        When a kernel does not compile.
    ParameterError, Infeasible, BackendUnavailable, Cancelled
        See ``encode``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> pictures = [np.full((20, 30), level, np.uint8) for level in (10, 200)]
    >>> files = mmpcodec.encode_batch(pictures, lam=0)
    >>> [int(mmpcodec.decode(file).max()) for file in files]
    [10, 200]
    """
    targets = target_size, target_bpp, target_psnr, target_ssimulacra2
    rate = rate_of(lam, quality, *targets, tools.get("max_error"))
    check_palette(tools.get("palette"), roi)
    tools["tune"] = rate.tuned(tools.get("tune"))
    how: Any = {"preset": preset, "effort": effort, "rate_model": rate_model}
    params = EncodeParams.from_options(rate.lam, quality=rate.quality, **how, **tools)
    encodings = encode_pictures(
        arrays,
        params if rate.asked else replace(params, spared=DEEP),
        target=rate.target,
        depth=depth,
        metadata=metadata,
        tile_size=tile_size,
        backend=backend,
        device=device,
        threads=threads,
        progress=progress,
        on_pass=on_pass,
        roi=roi,
    )
    return [encoding.data for encoding in encodings]


def encode_picture(
    array: SamplesLike,
    params: EncodeParams,
    *,
    target: Target | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    tile_size: int = 0,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    roi: Any = None,
) -> Encoding:
    """Encode a picture and return the file, decoded samples and statistics.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of bool, uint8 or uint16
        See ``encode``.
    params : EncodeParams
    target, depth, metadata, tile_size, backend, device, threads, progress, on_pass
        See ``encode_pictures``.
    roi
        See ``encode_batch``, of this picture.

    Returns
    -------
    Encoding

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
    return encode_pictures(
        [array],
        params,
        target=target,
        depth=depth,
        metadata=metadata,
        tile_size=tile_size,
        backend=backend,
        device=device,
        threads=threads,
        progress=progress,
        on_pass=on_pass,
        roi=None if roi is None else [roi],
    )[0]


def encode(
    array: SamplesLike,
    /,
    lam: float | None = None,
    *,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    target_ssimulacra2: float | None = None,
    preset: str = AUTO,
    effort: int = DEFAULT_EFFORT,
    rate_model: str = "adaptive",
    depth: int | None = None,
    metadata: Metadata | None = None,
    tile_size: int = 0,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    on_pass: Callable[[Pass], Any] | None = None,
    roi: Any = None,
    **tools: Unpack[ToolOptions],
) -> bytes:
    """Encode a picture.

    Parameters
    ----------
    array : (H, W) or (H, W, C) array of bool, uint8 or uint16
        Gray, gray with alpha (C is 2), RGB, or RGB with alpha, from 1x1 pixels on. C of 1 is gray
        and decodes to (H, W). A CuPy array stays in device memory. Alpha is always lossless.
    lam : float or None
        Lagrange multiplier of the rate-distortion cost, in squared error per bit: a larger lambda
        makes a smaller file, 0 is lossless. The squared error of a pixel is the mean over its
        colours, in units of 8-bit samples. At most one of lam, quality and the targets may be
        given; the default is quality 85, lambda 32 with a maximal error, 0 for measurements.
    quality : float
        0 to 100 (lossless): the score of SSIMULACRA2 to aim at, by a prediction.
    target_size : int
        Bytes: the file of the least error that is not larger, lossless if that fits.
    target_bpp : float
        Bits per pixel: as ``target_size``.
    target_psnr : float
        dB: the smallest file found whose PSNR is not lower. PSNR is that of the whole decoded
        picture without alpha, with the width of its range as peak.
    target_ssimulacra2 : float
        -100 to 100: the smallest file found whose SSIMULACRA2 is not lower; see ``Target``.
    preset : {"auto", "best", "photo", "text", "mixed", "lossless", "plain", "classic"}
        Set of tools. "auto" tries those that a classification of the samples recommends, "best"
        all. Only "photo" codes samples of more than 8 bits with loss.
    effort, rate_model
        See ``EncodeParams``.
    depth : int or None
        Bits per sample, 1 to 16; None takes 1 for bool, 8 for uint8 and 16 for uint16.
    metadata : Metadata or None
        Stored in the file.
    tile_size : int
        Height and width of tiles, which are coded independently, 64 to 2**24; 0 for one tile.
    backend : {"auto", "cpu", "cuda", "reference"}
        Hardware to run on. Backends write equal bytes, but search for predicted blocks each in its
        own way. "auto" takes cuda where that codes all tools and is predicted to be faster. A named
        backend leaves out tools of presets that it lacks. Candidates of preset "auto" that it
        cannot code at all, and alpha, run on another backend.
    device, threads, progress, on_pass, roi
        As in ``encode_batch``, of this picture; several devices share the tiles.
    **tools
        Fields of ``Tools`` that override the preset; ``palette``, whether tiles may have palettes;
        ``tune``. See ``EncodeParams.from_options``.

    Returns
    -------
    bytes
        A whole file.

    Raises
    ------
    ParameterError
        When the picture or a parameter is not supported, or there is no such device.
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
    """
    return encode_batch(
        [array],
        lam,
        quality=quality,
        target_size=target_size,
        target_bpp=target_bpp,
        target_psnr=target_psnr,
        target_ssimulacra2=target_ssimulacra2,
        preset=preset,
        effort=effort,
        rate_model=rate_model,
        depth=depth,
        metadata=metadata,
        tile_size=tile_size,
        backend=backend,
        device=device,
        threads=threads,
        progress=progress,
        on_pass=on_pass,
        roi=None if roi is None else [roi],
        **tools,
    )[0]
