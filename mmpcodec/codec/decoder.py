"""Decoding: from the bytes of a file to samples, or to a description of the file."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Backend
from mmpcodec.codec import kept_jpeg
from mmpcodec.codec.borders import Fixed, filter_borders, fixed_of, joined_area, read_area
from mmpcodec.codec.tile_coding import LayerCoding
from mmpcodec.codec.tiles.chains import Chain
from mmpcodec.codec.tiles.decoding import TilePlace, decode_tiles, described
from mmpcodec.codec.tiles.limits import check_area, check_described, check_work
from mmpcodec.depth import sample_type
from mmpcodec.errors import (
    FormatError,
    ParameterError,
    TruncatedStream,
)
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.tiles import Area, Tile, check_region, spans_touching, tiles_touching
from mmpcodec.limits import DEFAULT_LIMITS, DecodeLimits
from mmpcodec.opening.contents import (
    PictureBytes,
    completed,
    errors_named,
    picture_of,
)
from mmpcodec.opening.header import check_end, read_any_header, read_header
from mmpcodec.params import check_progress, check_threads
from mmpcodec.runtime.arrays import device_module, module_of, on_device
from mmpcodec.runtime.files import LazyBytes, Source
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import Samples
from mmpcodec.tools import Tools
from mmpcodec.trace import Trace


@dataclass(frozen=True)
class BadTile:
    """A tile that does not decode.

    Parameters
    ----------
    tile : Tile
        Number and place of the tile.
    error : FormatError
        The reason.
    missing : bool
        Whether bytes of the tile lie beyond an end of a cut file.
    """

    tile: Tile
    error: FormatError
    missing: bool = False


@dataclass(frozen=True)
class Inspection:
    """Description of a file.

    Parameters
    ----------
    header : Header
        Size, form, depth, tiles and metadata of the picture.
    file_size : int
        Bytes of the file.
    layers : tuple of LayerCoding
        Palettes and layers of the tiles that were read, in the order of the file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16, or None
        Samples of the region; None if only headers were read.
    area : Area or None
        Place of the samples in the picture; None if only headers were read.
    bad_tiles : tuple of BadTile
        Tiles that do not decode; their samples are 0.
    faults : tuple of FormatError
        Damage of the header that ``allow_partial`` passed over. It costs metadata.
    continues : int or None
        Number of the page, from 1, that this one continues; None if it decodes alone.
    """

    header: Header
    file_size: int
    layers: tuple[LayerCoding, ...] = ()
    samples: Samples | None = None
    area: Area | None = None
    bad_tiles: tuple[BadTile, ...] = ()
    faults: tuple[FormatError, ...] = ()
    continues: int | None = None

    @property
    def bits_per_pixel(self) -> float:
        """Bits of the whole file divided by the number of pixels."""
        return 8 * self.file_size / (self.header.width * self.header.height)

    @property
    def payload_size(self) -> int:
        """Bytes of the payloads in ``layers``."""
        return sum(layer.payload_bytes for layer in self.layers)

    @property
    def tools(self) -> Tools | None:
        """Tools of the first layer or palette; None without one.

        Gray pictures without palettes have one layer per tile.
        """
        return self.layers[0].tools if self.layers else None

    @property
    def trace(self) -> Trace | None:
        """Trace of the first layer or palette; None if only headers were read."""
        return self.layers[0].trace if self.layers else None


def inspect(
    data: Any,
    /,
    *,
    decode: bool = False,
    page: int | None = None,
    region: Sequence[int] | None = None,
    allow_partial: bool = False,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    out: Samples | None = None,
) -> Inspection:
    """Describe a file.

    Parameters
    ----------
    data : bytes-like or LazyBytes
        A whole file. Of ``mmpcodec.runtime.files.LazyBytes`` only the header and the tiles of the
        region are read.
    decode : bool
        Whether to decode samples and traces (bits by syntax element, leaf scales, dictionary
        sizes). Without it, only headers and checksums are read, of at most 65536 tiles.
    page, region
        See ``decode``.
    allow_partial : bool
        Whether to return bad and missing tiles in ``bad_tiles`` rather than raise their error. A
        damaged or missing header is then passed over, too: ``faults`` names the metadata that it
        costs. Files of several tiles have the rest of the header at their end again. Bytes after
        the end of the file are ignored. At least one tile of the region must decode.
    limits, backend, threads, progress, out
        See ``decode``.

    Returns
    -------
    Inspection

    Raises
    ------
    FormatError
        When the bytes are not a valid file.
    ParameterError, BackendUnavailable, Cancelled
        See ``decode``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> data = mmpcodec.encode(np.zeros((30, 40, 3), np.uint8), depth=5)
    >>> header = mmpcodec.inspect(data).header
    >>> header.width, header.height, header.form.title, header.depth
    (40, 30, 'RGB', 5)
    """
    if out is not None and not decode:
        raise ParameterError("out = an array: must be None without decode=True")
    given = checked_limits(limits), backend, check_threads(threads), progress
    how = How(region, allow_partial, *given, out, decode)
    return _inspected(data, page, how)


@dataclass(frozen=True)
class How:
    """How a picture is inspected.

    Parameters
    ----------
    region, allow_partial, limits, backend, threads, progress, out, decode
        See ``inspect``.
    traced : bool
        Whether decoded samples come with their layers.
    on_device : bool
        Whether an array that is made without ``out`` lies on the current CUDA device.
    """

    region: Sequence[int] | None
    allow_partial: bool
    limits: DecodeLimits
    backend: str
    threads: int | None
    progress: Progress | None
    out: Samples | None
    decode: bool = True
    traced: bool = True
    on_device: bool = False


def checked_limits(limits: DecodeLimits | None) -> DecodeLimits:
    if limits is not None and not isinstance(limits, DecodeLimits):
        raise ParameterError(f"limits = {limits!r}: must be DecodeLimits or None")
    return limits or DEFAULT_LIMITS


def _inspected(data: Any, page: int | None, how: How) -> Inspection:
    check_progress(how.progress)
    of_file: list[FormatError] = []
    view = picture_of(viewed(data), page, how.limits, of_file if how.allow_partial else None)
    if how.decode and how.region is None and isinstance(view, PictureBytes):
        view.fetch()
    with errors_named(view):
        found = _inspected_picture(view, how)
    if not isinstance(view, PictureBytes):
        return found
    bad = tuple(replace(one, error=view.within(one.error)) for one in found.bad_tiles)
    faults = (*of_file, *map(view.within, found.faults))
    return replace(found, bad_tiles=bad, faults=faults, continues=view.continued_page)


def _inspected_picture(view: Source, how: How) -> Inspection:
    """Do what ``inspect`` does for the file of one picture."""
    opened = opened_picture(view, how)
    if isinstance(opened, Inspection):
        return opened
    chosen, places = opened.backend, opened.places
    how_to = chosen, how.threads, how.progress
    decoded = decode_tiles(places, opened.header, *how_to, chain=opened.chain, traced=how.traced)
    return opened.finished(decoded)


def opened_picture(view: Source, how: How) -> "OpenedPicture | Inspection":
    """Read what decoding the picture of a file needs; without samples, describe the picture."""
    region, allow_partial, limits = how.region, how.allow_partial, how.limits
    header, faults = read_any_header(view) if allow_partial else (read_header(view), ())
    of_metadata: list[FormatError] = []
    header = completed(view, header, of_metadata if allow_partial else None)
    header = kept_jpeg.with_metadata(header, view, limits)
    faults = (*faults, *of_metadata)
    if region is None and not allow_partial:
        check_end(header, view)
    whole = Area(0, 0, header.width, header.height)
    area = whole if region is None else check_region(region, header.height, header.width)
    grid = header.height, header.width, header.tile_size
    read = read_area(header, area) if how.decode else area
    padded = 0
    # Headers take little memory, unless many tiles of a short file are reported as bad ones.
    if how.decode or allow_partial:
        what = "picture" if region is None else "region with the tiles that it touches"
        padded = check_area(what, area, header.planes, spans_touching(read, *grid), limits)
    else:
        check_described(spans_touching(read, *grid))
    tiles = list(tiles_touching(read, *grid))
    streams: list[tuple[Tile, TileStream]] = []
    bad: list[BadTile] = []
    moved = _moved(header, view) if allow_partial else 0
    for tile in tiles:
        try:
            streams.append((tile, _read_moved(view, header, tile, moved)))
        except FormatError as error:
            first, end = header.tile_offsets[tile.number : tile.number + 2]
            missing = first < 0 or end > len(view)
            bad.append(_bad(header, tile, error, allow_partial, missing))
    if not how.decode:
        found = tuple(
            layer for tile, one in streams for layer in described(tile, one, header.level_depth)
        )
        return Inspection(header, len(view), found, bad_tiles=tuple(bad), faults=faults)
    chain = Chain.of(view)
    size = len(view)
    check_work(streams, header, size, padded, limits, threads=how.threads, chain=chain)
    chosen = backends.get(_name_for(how), decodes=True)
    samples = _place(header, area, how)
    joined = joined_area(header, area)
    shown = samples
    by_host = chain is not None or any(stream.jpeg is not None for _, stream in streams)
    if joined != area or not samples.flags.c_contiguous or (by_host and on_device(samples)):
        module = np if by_host else module_of(samples)
        shown = module.zeros(header.shape_of(joined), samples.dtype)
    for one in bad:  # tiles that were not read; decode_tiles clears those that it finds bad
        common = one.tile.common(joined)
        assert common is not None
        shown[common.within(joined).slices] = 0
    places = [TilePlace.within(shown, joined, tile, stream, header) for tile, stream in streams]
    return OpenedPicture(
        view, how, chosen, header, faults, area, joined, samples, shown, tiles, places, bad, chain
    )


@dataclass(frozen=True, eq=False)
class OpenedPicture:
    """A picture whose tiles are read: what ``decode_tiles`` needs, and what follows it.

    Parameters
    ----------
    view : Source
    how : How
    backend : Backend
    header : Header
    faults : sequence of FormatError
    area : Area
        What is wanted of the picture.
    joined : Area
        ``joined_area`` of ``area``.
    samples, shown : array
        Of ``area``, and of ``joined``; one array if they are equal.
    tiles : list of Tile
        All that ``joined`` needs.
    places : list of TilePlace
        Of the tiles that were read.
    bad : list of BadTile
        The others.
    chain : Chain or None
        What the picture continues.
    """

    view: Source
    how: How
    backend: Backend
    header: Header
    faults: Sequence[FormatError]
    area: Area
    joined: Area
    samples: Samples
    shown: Samples
    tiles: list[Tile]
    places: list[TilePlace]
    bad: list[BadTile]
    chain: Chain | None

    @property
    def is_tiles(self) -> bool:
        """Whether the tiles decode by themselves: no chain, and no JPEG file that is kept."""
        return self.chain is None and all(place.stream.jpeg is None for place in self.places)

    def finished(self, decoded: Sequence[list[LayerCoding] | FormatError]) -> Inspection:
        """Return the picture with what ``decode_tiles`` returned."""
        header, area, bad = self.header, self.area, list(self.bad)
        coded: list[LayerCoding] = []
        good: list[tuple[Tile, Fixed]] = []
        for place, found_in in zip(self.places, decoded, strict=True):
            if isinstance(found_in, FormatError):
                bad.append(_bad(header, place.tile, found_in, self.how.allow_partial))
                continue
            good.append((place.tile, fixed_of(place.stream, place.drawn)))
            if place.tile.common(area) is not None:
                coded += found_in
        filter_borders(self.shown, self.joined, header, good, self.backend)
        if self.shown is not self.samples:
            part = self.shown[area.within(self.joined).slices]
            self.samples[...] = module_of(self.samples).asarray(part)
        # Other tiles are read for their borders only.
        bad = [one for one in bad if one.tile.common(area) is not None]
        bad.sort(key=lambda one: one.tile.number)
        if len(bad) == sum(tile.common(area) is not None for tile in self.tiles):
            raise _hopeless(header, bad, self.faults, len(self.view))
        faults = tuple(self.faults)
        return Inspection(
            header, len(self.view), tuple(coded), self.samples, area, tuple(bad), faults
        )


def _name_for(how: How) -> str:
    """Return the name of the backend: for an array on a device, one that writes to it."""
    if how.out is None or not on_device(how.out):
        return how.backend
    return backends.for_device_arrays(how.backend, "out lies")


def decode(
    data: Any,
    /,
    *,
    page: int | None = None,
    region: Sequence[int] | None = None,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    out: Samples | None = None,
) -> Samples:
    """Decode a picture of a file.

    Parameters
    ----------
    data : bytes-like or LazyBytes
        See ``inspect``.
    page : int or None
        Number of the picture in a file of several, from 1; None takes the only one.
    region : (x, y, width, height) or None
        Column and row of the first pixel, and size in pixels. Only the tiles that the region
        touches are read, and those within 8 pixels of it if the file has a border filter. Other
        tiles may be damaged or missing. None is the whole picture.
    limits : DecodeLimits or None
        Largest picture or region to decode, and most memory and work, checked before samples are
        decoded; None takes ``DecodeLimits()``.
    backend : {"auto", "cpu", "cuda", "reference"}
        "cuda" decodes predicted blocks on the current CUDA device, and what is coded otherwise on
        the processor.
    threads : int or None
        Threads of the processor; None takes all processors.
    progress : callable or None
        ``progress(done, total) -> bool`` gets the numbers of finished and of all 16x16 fragments,
        at most about every 30 ms. Returning False cancels.
    out : array or None
        Array that receives the samples: of the shape and type of the result, writable, the samples
        of a pixel side by side, pixels and rows at any distance. Backend "cuda" also takes an array
        on a CUDA device, of CuPy, PyTorch or another package, and writes it on the current stream
        of CuPy; "auto" then means "cuda". If decoding fails, some samples have changed. None makes
        a new array of NumPy.

    Returns
    -------
    (H, W) or (H, W, C) array
        ``out``, if it is given. uint8 up to 8 bits per sample, else uint16. C is 2 for gray with
        alpha, 3 for RGB, 4 for RGB with alpha.

    Raises
    ------
    FormatError
        When the bytes are not a valid file: ``BadMagic``, ``UnsupportedVersion``,
        ``TruncatedStream``, ``CorruptStream`` or ``LimitExceeded``. ``inspect(data, decode=True,
        allow_partial=True)`` decodes the other tiles of a damaged file.
    ParameterError
        When the file has no such page, or several and none is given, when the region does not lie
        within the picture, or ``out`` does not fit.
    BackendUnavailable
        When the named backend cannot run here, or does not decode.
    Cancelled
        When the callback returned False.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> data = mmpcodec.encode(np.arange(12, dtype=np.uint16).reshape(3, 4), lam=0)
    >>> mmpcodec.decode(data, region=(1, 0, 2, 3)).tolist()
    [[1, 2], [5, 6], [9, 10]]
    >>> stack = np.empty((2, 3, 4), np.uint16)
    >>> mmpcodec.decode(data, out=stack[1])[2].tolist()
    [8, 9, 10, 11]
    """
    how = How(
        region,
        False,
        checked_limits(limits),
        backend,
        check_threads(threads),
        progress,
        out,
        traced=False,
    )
    found = _inspected(data, page, how)
    assert found.samples is not None
    return found.samples if out is None else out


def _place(header: Header, area: Area, how: How) -> Samples:
    """Return ``out``, if it can take the samples of an area, or a new array if it is None."""
    shape, kind = header.shape_of(area), np.dtype(sample_type(header.depth))
    out: Any = how.out
    if out is None:
        return device_module().empty(shape, kind) if how.on_device else np.empty(shape, kind)
    if on_device(out):
        out = module_of(out).asarray(out)
    elif not isinstance(out, np.ndarray):
        raise ParameterError(
            f"out of type {type(out).__name__}: must be a NumPy array, an array on a CUDA device, "
            "or None"
        )
    if out.shape != shape:
        raise ParameterError(f"out has shape {out.shape}: must be {shape}")
    if out.dtype != kind:
        raise ParameterError(f"out has type {out.dtype.str}: must be {kind.str} ({kind})")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ParameterError("out is read-only: must be writable")
    apart = [step for step in out.strides if step % kind.itemsize]
    if apart or (out.ndim == 3 and out.strides[2] != kind.itemsize):
        raise ParameterError(
            f"out has strides {out.strides}: the samples of a pixel must lie side by side, pixels "
            f"and rows at multiples of {kind.itemsize} bytes"
        )
    return out


def viewed(data: Any) -> Source:
    """Return the bytes of a file that a caller gives.

    Raises
    ------
    ParameterError
        If they are something else.
    """
    if isinstance(data, LazyBytes):
        return data
    try:
        return memoryview(data).cast("B")
    except TypeError:
        raise ParameterError(
            f"data of type {type(data).__name__}: must be bytes or a contiguous buffer"
        ) from None


def read_tile(source: Source, header: Header, tile: Tile) -> TileStream:
    """Read the bytes of a tile and compare them with their checksum."""
    start, end = header.tile_offsets[tile.number : tile.number + 2]
    return tile_of(source[max(0, start) : max(0, end)], header, tile, len(source))


def tile_of(data: memoryview, header: Header, tile: Tile, size: int) -> TileStream:
    """Take the bytes of a tile of a file of ``size`` bytes apart, and check their checksum."""
    start, end = header.tile_offsets[tile.number : tile.number + 2]
    if start < 0:
        text = f"{-header.size} bytes are missing at the front of the file"
        raise TruncatedStream(container.SECTION, text, 0)
    if end > size:
        raise container.cut_at(size, end)
    if len(data) < end - start:  # the file has become shorter
        raise container.cut_at(start + len(data), end)
    return layers.read(data, start, header)


def named(header: Header, tile: Tile, error: FormatError) -> FormatError:
    """Return the error of a tile; it names the tile if the picture has several."""
    if len(header.tile_bytes) == 1:
        return error
    return error.within(f"tile {tile.number}, {tile}")


def _moved(header: Header, source: Source) -> int:
    """Return how far the last tiles of a damaged file lie from their places.

    Bytes in the middle of the file are missing or too many, if it ends with its trailer elsewhere.
    """
    size, own = len(source), len(header.trailer)
    if own and size >= own and source[size - own : size] == header.trailer:
        return size - header.file_bytes
    return 0


def _read_moved(source: Source, header: Header, tile: Tile, moved: int) -> TileStream:
    """Read a tile at its place or, if it is not there, ``moved`` bytes behind its place."""
    try:
        return read_tile(source, header, tile)
    except FormatError:
        if not moved:
            raise
        with contextlib.suppress(FormatError):
            return read_tile(source, replace(header, size=header.size + moved), tile)
        raise


def _bad(
    header: Header, tile: Tile, error: FormatError, allow_partial: bool, missing: bool = False
) -> BadTile:
    """Return the tile with its error, or raise the error."""
    error = named(header, tile, error)
    if not allow_partial:
        raise error
    return BadTile(tile, error, missing)


def _hopeless(
    header: Header, bad: Sequence[BadTile], faults: Sequence[FormatError], size: int
) -> FormatError:
    """Return the error of a file of which no tile decodes."""
    if faults and not bad[0].missing:
        return faults[0]
    if len(header.tile_bytes) == 1 and bad[0].missing:
        text = f"file has {size} of {header.file_bytes} bytes, and is one tile: it opens whole only"
        return TruncatedStream(container.SECTION, text, size)
    return bad[0].error
