"""Coding of a group of tiles: the piece of work of which a large picture has many.

A group needs nothing from other groups, so a worker of a cluster can code it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmpcodec.codec.candidates import backends_of, candidates_at
from mmpcodec.codec.devices import Devices, encode_on
from mmpcodec.codec.encoding import Statistics
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.rate_control.quality import PartsOf
from mmpcodec.codec.sources import Kind, prepared
from mmpcodec.codec.tile_coding import TileSource
from mmpcodec.codec.weighting.maps import check_roi
from mmpcodec.errors import MmpError, ParameterError, PictureError
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Tile, bounds_of
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams, check_threads
from mmpcodec.picture import Reader
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.arrays import on_device
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import Samples, check_picture

Piece = tuple[Tile, Samples]
"""A tile and its samples."""


@dataclass(frozen=True)
class CodedTiles:
    """Coded tiles, and statistics of their coding.

    Parameters
    ----------
    numbers : tuple of int
        Numbers of the tiles in the file.
    data : tuple of bytes
        Bytes of each tile in the file.
    statistics : Statistics
    """

    numbers: tuple[int, ...]
    data: tuple[bytes, ...]
    statistics: Statistics


@dataclass(frozen=True)
class TileCoder:
    """Codes groups of tiles of a picture. It is small, and goes to the workers of a cluster.

    Parameters
    ----------
    planes, depth, tile_size : int
        Samples of a pixel, bits of a sample, and the tile size of the file.
    params : EncodeParams
        Those of the picture, see ``prepared``.
    levels : Levels
    backend, threads
        See ``EncodeOptions``.
    devices : Devices
        Devices that share the tiles of a group.
    roi : (H, W) int8 array or None
        Importance of the pixels of the picture; None if all count alike.
    """

    planes: int
    depth: int
    tile_size: int
    params: EncodeParams
    levels: Levels
    backend: str = "auto"
    threads: int | None = None
    devices: Devices = field(default_factory=Devices)
    roi: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        kind: Kind,
        params: EncodeParams,
        parts_of: PartsOf,
        *,
        tile_size: int | None,
        backend: str = "auto",
        threads: int | None = None,
        devices: Devices | None = None,
        roi: Any = None,
    ) -> "tuple[Header, TileCoder]":
        """Return the header of a picture, without the sizes of its tiles, and their coder.

        Parameters
        ----------
        kind, params, parts_of, tile_size
            See ``prepared``.
        backend, threads, roi
            See ``EncodeOptions``.
        devices : Devices or None

        Raises
        ------
        MmpError
            As ``prepared``; also if the threads or the ROI map are out of range.
        """
        roi, threads = check_roi(roi, kind.shape), check_threads(threads)
        kind = kind._replace(has_map=roi is not None)
        header, params, levels = prepared(kind, tile_size, params, parts_of, backend)
        head = header.planes, header.depth, header.tile_size
        return header, cls(*head, params, levels, backend, threads, devices or Devices(), roi)

    @classmethod
    def of_reader(
        cls,
        reader: Reader,
        params: EncodeParams,
        depth: int | None,
        metadata: Metadata | None,
        **options: Any,
    ) -> "tuple[Header, TileCoder]":
        """Return ``of`` for a picture of which parts are read; None takes what the reader says."""
        kind = Kind(
            tuple(reader.shape),
            reader.depth if depth is None else depth,
            reader.metadata if metadata is None else metadata,
        )
        return cls.of(kind, params, lambda parts: [reader.read(*part) for part in parts], **options)

    def fragments(self, tiles: Iterable[Tile]) -> int:
        """Return the number of 16x16 fragments of tiles, summed over the planes."""
        return self.planes * sum(fragments_in((tile.height, tile.width)) for tile in tiles)

    def __call__(self, pieces: Iterable[Piece], progress: Progress | None = None) -> CodedTiles:
        """Code tiles together.

        Parameters
        ----------
        pieces : iterable of (Tile, samples)
        progress : callable or None
            See ``encode``.

        Raises
        ------
        MmpError
            The errors of ``encode``; that of samples beyond the depth names the tile.
        """
        tiles, sources = [], []
        for tile, samples in pieces:
            try:
                checked, _ = check_picture(samples, self.depth)
            except ParameterError as error:
                raise at_tile(error, tile) from error
            tiles.append(tile)
            on_host = self.levels.coded(checked.get() if on_device(checked) else checked)
            own = None if self.roi is None else self.roi[tile.slices]
            sources.append(TileSource(on_host, on_host, self.levels.bits, own, self.tile_size))
        params, bits = self.levels.at_levels(self.params), self.levels.bits
        candidates = candidates_at(params, bits, self.backend)
        chosen = backends_of(candidates, self.backend, bits, self.fragments(tiles))
        made = encode_on(self.devices, sources, candidates, chosen, self.threads, progress)
        pairs = [(source.on_host, one.samples) for source, one in zip(sources, made, strict=True)]
        layers = [layer for one in made for layer in one.layers]
        return CodedTiles(
            tuple(tile.number for tile in tiles),
            tuple(one.data for one in made),
            Statistics.of(self.levels, pairs, layers),
        )


def samples_in(reader: Reader, tiles: Iterable[Tile]) -> Iterator[Piece]:
    """Read the samples of tiles, one tile after the other.

    Raises
    ------
    MmpError
        Any error of the reader; one of a damaged picture names the tile.
    """
    for tile in tiles:
        try:
            samples = reader.read(*tile.slices)
        except PictureError as error:
            raise at_tile(error, tile) from error
        yield tile, samples


def samples_of_block(reader: Reader, tiles: Sequence[Tile]) -> Iterator[Piece]:
    """Read the samples of tiles that fill a rectangle, all at once.

    Raises
    ------
    MmpError
        As ``samples_in``.
    """
    block = bounds_of(tiles)
    try:
        samples = reader.read(*block.slices)
    except PictureError:
        yield from samples_in(reader, tiles)  # one of the tiles raises the error
        return
    for tile in tiles:
        yield tile, samples[tile.within(block).slices]


def at_tile(error: MmpError, tile: Tile) -> MmpError:
    """Return an error with the number and the place of a tile; errors of the system stay."""
    if isinstance(error, OSError) or len(error.args) != 1:
        return error
    return type(error)(f"{error} (tile {tile.number}, {tile})")
