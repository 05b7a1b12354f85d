"""Coding of a group of tiles: the piece of work of which a large picture has many.

A group needs nothing from other groups, so a worker of a cluster can code it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.codec.candidates import backends_of, candidates_at, fitted
from mmpcodec.codec.devices import Devices, encode_on
from mmpcodec.codec.distortion import largest_error
from mmpcodec.codec.encoder import GROUP_FRAGMENTS
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.rate_control.quality import PartsOf
from mmpcodec.codec.sources import Kind, check_white, levels_of, params_of
from mmpcodec.codec.tile_coding import TileSource, with_tool_sets
from mmpcodec.codec.weighting.maps import check_roi
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import MmpError, ParameterError, PictureError
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Tile, bounds_of, size_in_file
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams, check_threads, check_tile_size
from mmpcodec.picture import Reader
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.arrays import on_device
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import Form, Samples, check_picture
from mmpcodec.trace import Totals

Piece = tuple[Tile, Samples]
"""A tile and its samples."""


def prepared(
    shape: Sequence[int],
    depth: int,
    metadata: Metadata,
    tile_size: int,
    params: EncodeParams,
    parts_of: PartsOf,
    roi: Any = None,
    backend: str = "auto",
) -> tuple[Header, EncodeParams]:
    """Return the header of a picture whose tiles are not coded yet, and its parameters.

    Parameters
    ----------
    shape : sequence of int
        (H, W) or (H, W, C), C from 1 to 4.
    depth : int
        Bits per sample.
    metadata : Metadata
    tile_size : int
        Height and width of tiles, 64 to 2**24; 0 for one tile.
    params : EncodeParams
        Those that are asked for.
    parts_of : callable
        See ``params_of``.
    roi, backend
        See ``encode``.

    Raises
    ------
    ParameterError
        If an argument is out of its range, the level of white is beyond the depth, or the
        parameters cannot code samples of the depth or pictures with a map.
    MmpError
        The errors of ``parts_of``.
    """
    height, width, *planes = shape
    depth = check_int("depth", depth, 1, MAX_DEPTH)
    check_white(metadata, depth)
    form = Form(planes[0] - 1 if planes else 0)
    size = size_in_file(height, width, check_tile_size(tile_size))
    header = Header(width, height, form, depth, size, metadata)
    params = fitted(params, backend, depth)
    candidates_at(params, depth, backend)
    kind = Kind(tuple(shape), depth, metadata, roi is not None)
    params, levels = params_of(params, kind, parts_of)
    whole = [(slice(0, height), slice(0, width))]
    found, metadata = levels_of(
        params, kind, levels, None if tile_size else lambda: parts_of(whole)[0]
    )
    header = replace(header, metadata=metadata)
    if found.bits < depth:
        header = replace(header, level_bits=found.bits, first=found.first)
    candidates = candidates_at(found.at_levels(params), found.bits, backend)
    return with_tool_sets(header, candidates), params


@dataclass(frozen=True)
class CodedTiles:
    """Coded tiles, and statistics of their coding.

    Parameters
    ----------
    numbers : tuple of int
        Numbers of the tiles in the file.
    data : tuple of bytes
        Bytes of each tile in the file.
    distortion : float
        Squared error of the tiles; see ``distortion.distortion``.
    totals : Totals
        Sums over the traces of all layers.
    backend : str
        Name of the backend that coded the first layer.
    max_error : int
        Largest difference of a sample.
    """

    numbers: tuple[int, ...]
    data: tuple[bytes, ...]
    distortion: float
    totals: Totals
    backend: str
    max_error: int


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
        See ``encode``.
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
        header: Header,
        params: EncodeParams,
        backend: str,
        threads: int | None,
        devices: Devices | None = None,
        roi: Any = None,
    ) -> "TileCoder":
        """Return the coder for the tiles of a picture with this header.

        Raises
        ------
        ParameterError
            If an argument is out of its range, or the parameters cannot code samples of the depth.
        """
        roi = check_roi(roi, (header.height, header.width))
        candidates_at(params, header.level_depth, backend)
        threads = check_threads(threads)
        head = header.planes, header.depth, header.tile_size
        levels = Levels.of(header)
        return cls(*head, params, levels, backend, threads, devices or Devices(), roi)

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
        made = encode_on(
            self.devices,
            sources,
            candidates,
            chosen,
            self.threads,
            progress,
            most=GROUP_FRAGMENTS,
        )
        traces = (layer.trace for one in made for layer in one.layers)
        return CodedTiles(
            tuple(tile.number for tile in tiles),
            tuple(one.data for one in made),
            sum(
                self.levels.distortion(source.on_host, one.samples)
                for source, one in zip(sources, made, strict=True)
            ),
            Totals(trace for trace in traces if trace is not None),
            made[0].layers[0].backend,
            max(
                largest_error(source.on_host, one.samples)
                for source, one in zip(sources, made, strict=True)
            ),
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
