"""Encoding of pictures larger than memory, tile by tile."""

import shutil
from dataclasses import dataclass, replace
from operator import attrgetter
from tempfile import TemporaryFile
from typing import BinaryIO

from mmpcodec.backends import DeviceLike
from mmpcodec.codec.devices import devices_for, encode_on
from mmpcodec.codec.distortion import distortion
from mmpcodec.codec.encoder import GROUP_FRAGMENTS, backends_of, candidates_at, check_white
from mmpcodec.codec.layer_choice import TileSource
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Tile, grouped, size_in_file
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams, check_progress, check_threads, check_tile_size
from mmpcodec.picture import Reader
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.samples import Form, check_picture
from mmpcodec.trace import Totals

GROUP_PIXELS = 1 << 24
"""Most pixels of the tiles that are in memory at once for each device; a larger tile is alone."""


@dataclass(frozen=True)
class LargeEncoding:
    """Statistics of a file that ``encode_large`` wrote.

    Parameters
    ----------
    header : Header
    size : int
        Bytes of the file.
    distortion : float
        Squared error of the picture; see ``distortion.distortion``.
    totals : Totals
        Sums over the traces of all layers.
    backend : str
        Name of the backend that coded the first layer.
    """

    header: Header
    size: int
    distortion: float
    totals: Totals
    backend: str


def encode_large(
    reader: Reader,
    file: BinaryIO,
    params: EncodeParams,
    *,
    tile_size: int,
    depth: int | None = None,
    metadata: Metadata | None = None,
    backend: str = "auto",
    device: DeviceLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LargeEncoding:
    """Encode a picture tile by tile; the file equals the one that ``encode`` returns.

    A few tiles are in memory at once. Coded tiles go to a temporary file first, because the file
    begins with their sizes.

    Parameters
    ----------
    reader : Reader
    file : binary stream
        Receives the file; need not be seekable.
    params : EncodeParams
    tile_size : int
        Height and width of tiles, 64 to 2**24.
    depth : int or None
        Bits per sample; None takes the reader's.
    metadata : Metadata or None
        None takes the reader's.
    backend, device, threads, progress
        See ``encode``.

    Returns
    -------
    LargeEncoding

    Raises
    ------
    MmpError
        The errors of ``encode`` and of the reader.
    """
    tile_size, threads = check_tile_size(tile_size), check_threads(threads)
    check_progress(progress)
    height, width, *planes = reader.shape
    form = Form(planes[0] - 1 if planes else 0)
    metadata = reader.metadata if metadata is None else metadata
    depth = reader.depth if depth is None else depth
    check_white(metadata, depth)
    tile_size = size_in_file(height, width, tile_size)
    header = Header(width, height, form, depth, tile_size, metadata)
    candidates = candidates_at(params, depth)
    backend, devices = devices_for(backend, device, ())
    pixels = GROUP_PIXELS * max(len(devices.numbers), 1)
    groups = list(grouped(header.tiles, attrgetter("pixels"), pixels))
    shares = [sum(map(_fragments, group)) * form.planes for group in groups]
    chosen = backends_of(candidates, backend, depth, max(shares))
    sizes: list[int] = []
    totals = Totals()
    error, by = 0.0, ""
    with TemporaryFile() as coded:
        for group, part in zip(groups, in_turn(progress, shares), strict=True):
            sources = [_read(reader, tile, depth) for tile in group]
            encoded = encode_on(
                devices, sources, candidates, chosen, threads, part, most=GROUP_FRAGMENTS
            )
            for source, made in zip(sources, encoded, strict=True):
                coded.write(made.data)
                sizes.append(len(made.data))
                error += distortion(source.on_host, made.samples, depth)
                by = by or made.layers[0].backend
                for layer in made.layers:
                    assert layer.trace is not None
                    totals.add(layer.trace)
        head = container.write_header(replace(header, tile_bytes=tuple(sizes)))
        header = replace(header, tile_bytes=tuple(sizes), size=len(head))
        file.write(head)
        coded.seek(0)
        shutil.copyfileobj(coded, file, 1 << 20)
    return LargeEncoding(header, header.tile_offsets[-1], error, totals, by)


def _fragments(tile: Tile) -> int:
    return fragments_in((tile.height, tile.width))


def _read(reader: Reader, tile: Tile, depth: int) -> TileSource:
    samples, _ = check_picture(reader.read(*tile.slices), depth)
    return TileSource(samples, samples, depth)
