"""Decoding of many regions of one file, whose header is read once."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from mmpcodec import backends
from mmpcodec.codec.decoder import check_area, check_memory, check_seconds, named, tile_of
from mmpcodec.codec.opening import Source, read_header
from mmpcodec.codec.tiles.decoding import TilePlace, decode_tiles
from mmpcodec.depth import sample_type
from mmpcodec.errors import FormatError
from mmpcodec.format.layers import TileStream
from mmpcodec.format.tiles import Area, Tile, spans_touching, tiles_touching
from mmpcodec.limits import DecodeLimits
from mmpcodec.params import check_threads
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
        self.header = read_header(source)
        self.decoded = 0
        self._source = source
        self._limits = limits
        self._backend = backends.get(backend, decodes=True)
        self._threads = check_threads(threads)
        self._kept = KeptTiles(CACHE_BYTES if cache_bytes is None else cache_bytes)

    def tiles_of(self, area: Area) -> list[Tile]:
        """Return the tiles that an area touches."""
        header = self.header
        return list(tiles_touching(area, header.height, header.width, header.tile_size))

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
        header = self.header
        tiles = self.tiles_of(area)
        padded = self._check(area, tiles)
        kept = {tile: self._kept.get(tile.number) for tile in tiles}
        parts = self._decoded([tile for tile, own in kept.items() if own is None], padded)
        samples = np.empty(header.shape_of(area), sample_type(header.depth))
        for tile, own in kept.items():
            common = tile.common(area)
            assert common is not None
            found = parts[tile] if own is None else own
            samples[common.within(area).slices] = found[common.within(tile).slices]
        return samples

    def _check(self, area: Area, tiles: Sequence[Tile]) -> int:
        """Compare an area with the limits, and return the samples of its tiles.

        Tiles that are kept count as if they were decoded, so that the outcome does not depend on
        earlier regions.
        """
        header = self.header
        spans = spans_touching(area, header.height, header.width, header.tile_size)
        what = "region with the tiles that it touches"
        padded = check_area(what, area, header.planes, spans, self._limits)
        return padded

    def _decoded(self, tiles: Sequence[Tile], padded: int) -> dict[Tile, Samples]:
        """Decode tiles and keep their samples."""
        header = self.header
        streams: list[tuple[Tile, TileStream]] = []
        for tile, data in self._read(tiles):
            try:
                streams.append((tile, tile_of(data, header, tile, len(self._source))))
            except FormatError as error:
                raise named(header, tile, error) from None
        check_memory(streams, header.planes, padded, self._threads, self._limits)
        check_seconds(streams, header, len(self._source), self._limits)
        found: dict[Tile, Samples] = {
            tile: np.empty(header.shape_of(tile), sample_type(header.depth)) for tile in tiles
        }
        places = [TilePlace(tile, stream, found[tile]) for tile, stream in streams]
        decoded = decode_tiles(places, header, self._backend, self._threads, None)
        for tile, part in zip(tiles, decoded, strict=True):
            if isinstance(part, FormatError):
                raise named(header, tile, part)
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
        self._tiles: OrderedDict[int, Samples] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, number: int) -> Samples | None:
        """Return the samples of the tile of this number, or None."""
        with self._lock:
            if number in self._tiles:
                self._tiles.move_to_end(number)
            return self._tiles.get(number)

    def add(self, number: int, samples: Samples) -> None:
        """Keep the samples of a tile instead of the tiles that were not used for longest."""
        with self._lock:
            if not self._most or number in self._tiles:
                return
            self._tiles[number] = samples
            self._size += samples.nbytes
            while self._size > self._most and len(self._tiles) > 1:
                _, oldest = self._tiles.popitem(last=False)
                self._size -= oldest.nbytes
