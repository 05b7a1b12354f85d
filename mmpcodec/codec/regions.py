"""Decoding of many regions of one file, whose header is read once."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from mmpcodec import backends
from mmpcodec.codec import kept_jpeg
from mmpcodec.codec.borders import Fixed, filter_borders, fixed_of, joined_area, read_area
from mmpcodec.codec.decoder import (
    named,
    tile_of,
    viewed,
)
from mmpcodec.codec.tiles.chains import Chain
from mmpcodec.codec.tiles.decoding import TilePlace, decode_tiles
from mmpcodec.codec.tiles.limits import check_area, check_work
from mmpcodec.codec.tiles.reduction import (
    ReducedReader,
    factor_between,
    factor_of_scale,
    reduced_depth,
    reduced_metadata,
    reduced_side,
)
from mmpcodec.depth import sample_type
from mmpcodec.errors import FormatError
from mmpcodec.format.container import Header
from mmpcodec.format.layers import TileStream
from mmpcodec.format.tiles import Area, Tile, check_region, spans_touching, tiles_touching
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, completed, errors_named, picture_of
from mmpcodec.opening.header import read_header
from mmpcodec.params import check_progress, check_threads
from mmpcodec.picture import Picture
from mmpcodec.runtime.files import Source
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.samples import Samples

CACHE_BYTES = 1 << 26
"""Most bytes of decoded tiles that are kept for the next regions; the newest tile always stays."""


class RegionDecoder:
    """Decodes regions of a file, in any number of threads at once.

    Parameters
    ----------
    source : memoryview or LazyBytes
        The bytes of the file.
    limits : DecodeLimits
        Limits of each region.
    backend : {"auto", "cpu", "reference"}
    threads : int or None
        Threads that decode the tiles of a region; None takes all processors.
    cache_bytes : int or None
        Most bytes of decoded tiles to keep; 0 keeps none, None takes ``CACHE_BYTES``. A tile that
        is kept alone may be larger.

    Raises
    ------
    FormatError
        When the header is damaged. Tiles are read later.
    ParameterError, BackendUnavailable
        See ``decode``.

    Attributes
    ----------
    header : Header
    decoded : int
        Number of tiles that were decoded so far.
    """

    def __init__(
        self,
        source: Source,
        limits: DecodeLimits,
        *,
        backend: str = "auto",
        threads: int | None = None,
        cache_bytes: int | None = None,
    ):
        with errors_named(source):
            header = completed(source, read_header(source))
            self.header = kept_jpeg.with_metadata(header, source, limits)
        self.decoded = 0
        self._source = source
        self._limits = limits
        self._backend = backends.get(backend, decodes=True)
        self._threads = check_threads(threads)
        self._kept = KeptTiles(CACHE_BYTES if cache_bytes is None else cache_bytes)

    def tiles_of(self, area: Area) -> list[Tile]:
        """Return the tiles that an area depends on: those it touches, and those whose border with
        one of them is filtered within the area."""
        header, read = self.header, read_area(self.header, area)
        return list(tiles_touching(read, header.height, header.width, header.tile_size))

    def fault(self, area: Area) -> FormatError | None:
        """Return the error of an area that is beyond the limits, or None."""
        try:
            self._check(area, self.tiles_of(area))
        except FormatError as error:
            return error
        return None

    def decode(self, area: Area) -> Samples:
        """Decode an area of the picture.

        Returns
        -------
        (H, W) or (H, W, C) array of uint8 or uint16
            The caller's own.

        Raises
        ------
        FormatError
            When the tiles that the area touches are damaged, missing or beyond the limits. If the
            picture has several tiles, the message names the bad one.
        """
        with errors_named(self._source):
            return self._decode(area)

    def _decode(self, area: Area) -> Samples:
        header = self.header
        tiles = self.tiles_of(area)
        padded = self._check(area, tiles)
        kept = {tile: self._kept.get(tile.number) for tile in tiles}
        parts = self._decoded([tile for tile, own in kept.items() if own is None], padded)
        joined = joined_area(header, area)
        samples = np.empty(header.shape_of(joined), sample_type(header.depth))
        found = {tile: parts[tile] if own is None else own for tile, own in kept.items()}
        for tile, (own, _) in found.items():
            common = tile.common(joined)
            assert common is not None
            samples[common.within(joined).slices] = own[common.within(tile).slices]
        fixed = ((tile, own) for tile, (_, own) in found.items())
        filter_borders(samples, joined, header, fixed, self._backend)
        return np.ascontiguousarray(samples[area.within(joined).slices])

    def _check(self, area: Area, tiles: Sequence[Tile]) -> int:
        """Compare an area with the limits, and return the samples of its tiles.

        Tiles that are kept count as if they were decoded, so that the outcome does not depend on
        earlier regions.
        """
        header = self.header
        read = read_area(header, area)
        spans = spans_touching(read, header.height, header.width, header.tile_size)
        what = "region with the tiles that it touches"
        padded = check_area(what, area, header.planes, spans, self._limits)
        return padded

    def _decoded(self, tiles: Sequence[Tile], padded: int) -> "dict[Tile, KeptTile]":
        """Decode tiles and keep them."""
        header = self.header
        streams: list[tuple[Tile, TileStream]] = []
        for tile, data in self._read(tiles):
            try:
                streams.append((tile, tile_of(data, header, tile, len(self._source))))
            except FormatError as error:
                raise named(header, tile, error) from None
        chain = Chain.of(self._source)
        size, threads = len(self._source), self._threads
        check_work(streams, header, size, padded, self._limits, threads=threads, chain=chain)
        kind = sample_type(header.depth)
        places = [
            TilePlace.within(np.empty(header.shape_of(tile), kind), tile, tile, stream, header)
            for tile, stream in streams
        ]
        found: dict[Tile, KeptTile] = {}
        decoded = decode_tiles(places, header, self._backend, self._threads, None, chain=chain)
        for (tile, stream, samples, _, drawn), part in zip(places, decoded, strict=True):
            if isinstance(part, FormatError):
                raise named(header, tile, part)
            found[tile] = KeptTile(samples, fixed_of(stream, drawn))
            self._kept.add(tile.number, found[tile])
        self.decoded += len(found)
        return found

    def _read(self, tiles: Sequence[Tile]) -> Iterator[tuple[Tile, memoryview]]:
        """Yield the bytes of tiles; those that follow one another in the file are read at once.

        A file in a store needs a request for each row of tiles, instead of one for each tile.
        """
        offsets = self.header.tile_offsets
        for _, run in groupby(enumerate(tiles), lambda each: each[1].number - each[0]):
            own = [tile for _, tile in run]
            start = offsets[own[0].number]
            data = self._source[start : offsets[own[-1].number + 1]]
            for tile in own:
                first, end = offsets[tile.number : tile.number + 2]
                yield tile, data[first - start : end - start]


class KeptTile(NamedTuple):
    """Samples of a tile before the border filter, and the pixels that this filter leaves."""

    samples: Samples
    fixed: Fixed

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self.samples.nbytes + (0 if isinstance(self.fixed, bool) else self.fixed.nbytes)


class KeptTiles:
    """The tiles that were used last, in a bounded number of bytes; for several threads.

    Parameters
    ----------
    most : int
        Most bytes of all tiles; the newest one stays however large it is, unless ``most`` is 0.
    """

    def __init__(self, most: int):
        self._most = most
        self._size = 0
        self._tiles: OrderedDict[int, KeptTile] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, number: int) -> KeptTile | None:
        """Return the tile of this number, or None."""
        with self._lock:
            if number in self._tiles:
                self._tiles.move_to_end(number)
            return self._tiles.get(number)

    def add(self, number: int, tile: KeptTile) -> None:
        """Keep a tile instead of the tiles that were not used for longest."""
        with self._lock:
            if not self._most or number in self._tiles:
                return
            self._tiles[number] = tile
            self._size += tile.nbytes
            while self._size > self._most and len(self._tiles) > 1:
                _, oldest = self._tiles.popitem(last=False)
                self._size -= oldest.nbytes


class ScaledDecoder:
    """Decodes regions of a picture at a fraction of their size, in any number of threads at once.

    Parameters
    ----------
    source : memoryview or LazyBytes
        The file of the picture; one of a collection has the levels.
    limits : DecodeLimits
        Limits of each region, of the level that is decoded.
    regions : RegionDecoder or None
        That of the picture, if there is one.
    **how
        Other parameters of ``RegionDecoder``.

    Raises
    ------
    FormatError, ParameterError, BackendUnavailable
        See ``RegionDecoder``.

    Attributes
    ----------
    header : Header
        That of the picture.
    factors : tuple of int
        By which factors the levels are smaller, in rising order; 1 is the picture.
    """

    def __init__(
        self,
        source: Source,
        limits: DecodeLimits,
        regions: RegionDecoder | None = None,
        **how: Any,
    ):
        own = RegionDecoder(source, limits, **how) if regions is None else regions
        self.header = own.header
        self._limits, self._how = limits, how
        self._files = levels_of(source, own.header)
        self._regions = {1: own}
        self.factors = (1, *sorted(self._files))

    def picture(
        self, factor: int, region: Sequence[int] | None = None, progress: Progress | None = None
    ) -> Picture:
        """Decode the picture, or a region of it, with its metadata at 1/factor of its size.

        Raises
        ------
        FormatError
            See ``decode``.
        ParameterError
            If the region does not lie within the picture.
        """
        header = self.header
        samples = self.decode(self.area_of(region), factor, progress)
        if factor == 1:
            return Picture(samples, header.depth, header.metadata)
        metadata = reduced_metadata(header.metadata, header.depth, factor)
        return Picture(samples, reduced_depth(header.depth, header.metadata), metadata)

    def area_of(self, region: Sequence[int] | None) -> Area:
        """Return a region of the picture; None is all of it.

        Raises
        ------
        ParameterError
            If it does not lie within the picture.
        """
        header = self.header
        if region is None:
            return Area(0, 0, header.width, header.height)
        return check_region(region, header.height, header.width)

    def level_for(self, area: Area, factor: int) -> int:
        """Return the factor of the smallest level that a region at a scale can be made of.

        The squares of the level must lie within those of the result, and the region must consist of
        whole ones.
        """
        ends = (area.x + area.width, self.header.width), (area.y + area.height, self.header.height)

        def fits(level: int) -> bool:
            whole = all(end % level == 0 or end == side for end, side in ends)
            return factor % level == 0 and area.x % level == area.y % level == 0 and whole

        return max(filter(fits, self.factors))

    def decode(self, area: Area, factor: int, progress: Progress | None = None) -> Samples:
        """Decode a region of the picture at 1/factor of its size.

        Parameters
        ----------
        area : Area
            In pixels of the picture.
        factor : int
        progress : callable or None
            Gets the rows of the result that are done, and all.

        Returns
        -------
        array of ceil(height / factor) x ceil(width / factor) pixels
            Of ``reduced_depth`` bits a sample, if the factor is not 1.

        Raises
        ------
        FormatError
            As ``RegionDecoder.decode``; that of a level names it.
        """
        level = self.level_for(area, factor)
        try:
            return self._reduced(area, level, factor, progress)
        except FormatError as error:
            raise (error if level == 1 else error.within(f"level 1/{level}")) from None

    def _reduced(self, area: Area, level: int, factor: int, progress: Progress | None) -> Samples:
        if level not in self._regions:
            self._regions[level] = RegionDecoder(self._files[level], self._limits, **self._how)
        regions = self._regions[level]
        left, top = area.x // level, area.y // level
        width, height = reduced_side(area.width, level), reduced_side(area.height, level)
        if factor == level:
            return regions.decode(Area(left, top, width, height))
        header = regions.header
        whole = Area(left, top, width, height)
        spans = spans_touching(whole, header.height, header.width, header.tile_size)
        check_area("picture to reduce", whole, header.planes, spans, self._limits)

        def read(rows: slice, columns: slice) -> Samples:
            report_progress(progress, rows.start, height)
            size = columns.stop - columns.start, rows.stop - rows.start
            return regions.decode(Area(left + columns.start, top + rows.start, *size))

        shape = header.shape_of(whole)
        reader = ReducedReader(
            read, shape, header.depth, header.metadata, factor // level, header.tile_size
        )
        found = reader.read(slice(None), slice(None))
        report_progress(progress, height, height)
        return found


def levels_of(source: Source, header: Header) -> dict[int, PictureBytes]:
    """Return the files of the levels of a picture, by the factor by which they are smaller.

    Those of another form or depth than levels have are left out.
    """
    found: dict[int, PictureBytes] = {}
    if not isinstance(source, PictureBytes):
        return found
    kind = header.form, reduced_depth(header.depth, header.metadata)
    for entry, file in source.levels:
        factor = factor_between((header.height, header.width), (entry.height, entry.width))
        if factor is not None and factor > 1 and (entry.form, entry.depth) == kind:
            found.setdefault(factor, file)
    return found


def decode_scaled(
    data: Any,
    /,
    scale: float | Fraction | str,
    *,
    page: int | None = None,
    region: Sequence[int] | None = None,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Picture:
    """Decode a picture at a fraction of its size.

    The nearest larger level of the file is decoded, if it has one whose factor divides that of the
    scale; else the picture is. A sample is the mean of a square of stored samples, see
    ``reduction.reduced``; a level may have been coded with loss.

    Parameters
    ----------
    data : bytes-like or LazyBytes
    scale : float, Fraction or str
        1/N, N an integer: ``Fraction(1, 8)``, 0.125 or "1/8".
    page, region
        See ``decode``. The region is in pixels of the full size.
    limits : DecodeLimits or None
        Limits of what is decoded: of the level, or of the picture, which is decoded part by part.
    backend, threads
        See ``decode``.
    progress : callable or None
        Gets the rows of the decoded level that are reduced.

    Returns
    -------
    Picture
        Of ceil(height / N) x ceil(width / N) pixels, with its metadata. A picture of less than 8
        bits becomes one of 8, unless it is calibrated. Scale 1 keeps all as it is.

    Raises
    ------
    MmpError
        As ``decode`` raises them; ``ParameterError`` for another scale.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> data = mmpcodec.encode(np.full((600, 800), 7, np.uint8), levels=True)
    >>> mmpcodec.decode_scaled(data, "1/4").samples.shape
    (150, 200)
    """
    check_progress(progress)
    factor = factor_of_scale(scale)
    limits = limits or DecodeLimits()
    source = picture_of(viewed(data), page, limits)
    decoder = ScaledDecoder(source, limits, backend=backend, threads=threads)
    return decoder.picture(factor, region, progress)
