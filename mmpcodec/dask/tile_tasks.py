"""Blocks of tiles as tasks of a cluster: a worker opens the file and codes or decodes the tiles.

The task carries names and numbers. Samples stay on the worker; only coded tiles go to the client.
"""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO
from uuid import uuid4

from mmpcodec import pictures
from mmpcodec.codec.decoder import BadTile
from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.tiles.tile_file import write_tiles
from mmpcodec.codec.tiles.tile_groups import CodedTiles, TileCoder, samples_of_block
from mmpcodec.dask.in_flight import as_they_come
from mmpcodec.errors import PictureError, PictureWarning
from mmpcodec.format.tiles import Area, Tile, blocks_of, bounds_of
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams
from mmpcodec.picture import Reader
from mmpcodec.pictures.parts import DecodedParts
from mmpcodec.runtime.progress import Progress

BLOCK_PIXELS = 1 << 22
"""Most pixels of the tiles of a task; a larger tile is alone."""


@dataclass(frozen=True)
class TileBlock:
    """Tiles that fill a rectangle."""

    tiles: tuple[Tile, ...]

    @property
    def bounds(self) -> Area:
        """The rectangle."""
        return bounds_of(self.tiles)

    def __str__(self):
        first, last = self.tiles[0].number, self.tiles[-1].number
        numbers = f"tile {first}" if first == last else f"tiles {first} to {last}"
        return f"{numbers}, {self.bounds}"


@dataclass(frozen=True)
class PictureBlocks:
    """Codes blocks of a picture file on workers.

    Parameters
    ----------
    name : str
        Path or URL of the picture, the same on all workers.
    shape : tuple of int
        Shape that the picture must have.
    coder : TileCoder
    limits : DecodeLimits
        Limits of each part that is read.
    page : int or None
        As in ``pictures.read``.
    """

    name: str
    shape: tuple[int, ...]
    coder: TileCoder
    limits: DecodeLimits
    page: int | None = None

    def __call__(self, block: TileBlock) -> CodedTiles:
        """Read and code a block.

        Raises
        ------
        MmpError
            If the picture cannot be read or coded; the message names the tile.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PictureWarning)  # the client has given them
            with pictures.opened(self.name, limits=self.limits, page=self.page) as reader:
                if reader.shape != self.shape:
                    raise PictureError(
                        f"{self.name}: has shape {reader.shape}, and had {self.shape} before"
                    )
                return self.coder(samples_of_block(reader, block.tiles))


def encode_on_cluster(
    client: Any,
    name: str,
    reader: Reader,
    file: BinaryIO,
    params: EncodeParams,
    *,
    depth: int | None = None,
    metadata: Metadata | None = None,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    threads: int | None = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Encoding:
    """Encode a picture on the workers of a cluster; the file equals the one of ``encode``.

    Each worker opens the picture by its name and reads only the tiles that it codes. Coded tiles
    come to this process, which writes the file. In flight are ``in_flight.TASKS_AHEAD`` blocks for
    each thread of the workers.

    Parameters
    ----------
    client : distributed.Client
    name : str
        Path or URL of the picture, the same on all workers.
    reader : Reader
        Of the picture; for a quality it also reads some areas of 32x32 pixels.
    file, params, depth, metadata, progress
        See ``streaming.encode_large``.
    limits : DecodeLimits or None
        Limits of each part that is read; None for the default limits.
    page : int or None
        As in ``pictures.read``.
    threads : int or None
        Threads of each task.
    **options
        ``tile_size`` and ``backend``; see ``EncodeOptions``.

    Raises
    ------
    MmpError
        The errors of ``encode_large``; those of a tile name it.
    """
    header, coder = TileCoder.of_reader(reader, params, depth, metadata, threads=threads, **options)
    code = PictureBlocks(name, reader.shape, coder, limits or DecodeLimits(), page)
    whole = Area(0, 0, header.width, header.height)
    sides = header.height, header.width, header.tile_size
    blocks = (TileBlock(tuple(tiles)) for tiles in blocks_of(whole, *sides, BLOCK_PIXELS))

    def submit(block: TileBlock) -> Any:
        return client.submit(code, block, key=f"mmp-encode-{uuid4().hex}")

    with contextlib.closing(as_they_come(client, submit, blocks, named=True)) as found:
        return write_tiles(file, header, coder, (coded for _, coded in found), progress)


def decode_on_cluster(
    client: Any, work: DecodedParts, blocks: Iterable[Area]
) -> Iterator[tuple[Area, list[BadTile]]]:
    """Decode blocks of an mmp file on the workers of a cluster, which write the samples.

    Parameters
    ----------
    client : distributed.Client
    work : DecodedParts
        Its files must have the same names on all workers.
    blocks : iterable of Area

    Yields
    ------
    (block, bad tiles)
        As they come.

    Raises
    ------
    MmpError
        The first error of a block. Also if the cluster is lost.
    """

    def submit(block: Area) -> Any:
        return client.submit(work, block, key=f"mmp-decode-{uuid4().hex}")

    return as_they_come(client, submit, blocks, named=True, writes=True)
