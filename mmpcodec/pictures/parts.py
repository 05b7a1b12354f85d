"""Decode an mmp file into a picture file part by part, in the memory of a few tiles."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mmpcodec.codec.decoder import BadTile, inspect
from mmpcodec.codec.kept_jpeg import with_metadata
from mmpcodec.codec.regions import RegionDecoder, levels_of
from mmpcodec.codec.tiles.reduction import reduced_depth
from mmpcodec.depth import sample_type
from mmpcodec.errors import FileError, FormatError, ParameterError
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Area, blocks_of, bounds_of, tiles_touching
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import PictureBytes, completed, picture_of
from mmpcodec.opening.header import read_any_header, read_header
from mmpcodec.pictures.ome_zarr import ZarrParts
from mmpcodec.pictures.tiff import tags
from mmpcodec.pictures.tiff.parts import TiffParts
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import FileBytes, LazyBytes, Source
from mmpcodec.samples import Samples

BLOCK_PIXELS = 1 << 22
"""Most pixels that are decoded at once, if tiles are not larger."""
FILTERED_FACTOR = 4
"""How much more they are with a border filter, because a block then decodes the tiles around it."""
ZARR, TIFF = "zarr", "tif"
KINDS: dict[str, type[TiffParts] | type[ZarrParts]] = {TIFF: TiffParts, ZARR: ZarrParts}
"""Files that are written part by part, by the extension of their names."""


class PartWriter(Protocol):
    """Writes parts of a picture file, in any order. It goes to the workers of a cluster."""

    @property
    def side(self) -> int:
        """Height and width of a stored tile in pixels."""

    def write(self, x: int, y: int, samples: Samples) -> None:
        """Write a part of whole stored tiles; (x, y) is its first pixel."""


@dataclass(frozen=True)
class DecodedParts:
    """Decodes blocks of an mmp file into a picture file.

    Parameters
    ----------
    name : str
        Path or URL of the mmp file.
    area : Area
        The part of the picture that the picture file holds.
    writer : PartWriter
    limits : DecodeLimits
        Limits of each block.
    allow_partial : bool
        Whether bad tiles are left 0, and reported.
    backend, threads
        See ``decode``.
    page : int or None
        Number of the picture, from 1; None takes the only one.
    """

    name: str
    area: Area
    writer: PartWriter
    limits: DecodeLimits
    allow_partial: bool = False
    backend: str = "auto"
    threads: int | None = None
    page: int | None = None

    def __call__(self, block: Area) -> list[BadTile]:
        """Decode a block and write its samples.

        Parameters
        ----------
        block : Area
            In pixels of the picture file.

        Returns
        -------
        list of BadTile
            Tiles that do not decode.

        Raises
        ------
        FormatError
            If the mmp file is damaged; with ``allow_partial``, only if its header is.
        OSError
            If a file cannot be read or written.
        """
        bad: list[BadTile] = []
        with bytes_of(self.name, self.limits.max_memory) as data:
            try:
                self._copy(data, block, bad)
            except FormatError:
                if not self.allow_partial:
                    raise
                bad.clear()
                self._copy_by_tiles(data, block, bad)
        return bad

    def _copy(self, data: LazyBytes, block: Area, bad: list[BadTile]) -> None:
        region = block.x + self.area.x, block.y + self.area.y, block.width, block.height
        found = inspect(
            data,
            decode=True,
            page=self.page,
            region=region,
            allow_partial=self.allow_partial,
            limits=self.limits,
            backend=self.backend,
            threads=self.threads,
        )
        assert found.samples is not None
        bad += found.bad_tiles
        self.writer.write(block.x, block.y, found.samples)

    def _copy_by_tiles(self, data: LazyBytes, block: Area, bad: list[BadTile]) -> None:
        """Write the stored tiles of a block of which something decodes."""
        for y in range(block.y, block.y + block.height, self.writer.side):
            for x in range(block.x, block.x + block.width, self.writer.side):
                width = min(self.writer.side, block.x + block.width - x)
                height = min(self.writer.side, block.y + block.height - y)
                own = Area(x, y, width, height)
                try:
                    self._copy(data, own, bad)
                except FormatError as error:
                    bad += self._all_bad(data, own, error)

    def _all_bad(self, data: LazyBytes, own: Area, error: FormatError) -> Iterator[BadTile]:
        header, _ = header_of(data, self.limits, self.allow_partial, self.page)
        place = Area(own.x + self.area.x, own.y + self.area.y, own.width, own.height)
        sides = header.height, header.width, header.tile_size
        return (BadTile(tile, error) for tile in tiles_touching(place, *sides))


@contextlib.contextmanager
def bytes_of(name: str, most: int | None = None) -> Iterator[LazyBytes]:
    """Open an mmp file, of which only the bytes that are needed are read.

    ``most`` limits the bytes of a URL; see ``stores.UrlBytes``.

    Raises
    ------
    FileError, MissingExtra
        If it cannot be read.
    """
    if stores.is_url(name):
        yield stores.UrlBytes(name, most)
        return
    try:
        with open(name, "rb") as stream:
            found = FileBytes(stream)
    except OSError as error:
        raise FileError.from_os(name, error) from error
    with found:
        yield found


def picture_in(
    data: LazyBytes, limits: DecodeLimits, allow_partial: bool = False, page: int | None = None
) -> Source:
    """Return the bytes of the file of a picture of an mmp file.

    ``page`` is its number, from 1; None takes the only one. With ``allow_partial``, a damaged index
    of a file of several pictures is passed over in silence.

    Raises
    ------
    FormatError, NoSuchPage
        See ``opening.contents.picture_of``.
    """
    return picture_of(data, page, limits, [] if allow_partial else None)


def header_of(
    data: LazyBytes, limits: DecodeLimits, allow_partial: bool = False, page: int | None = None
) -> tuple[Header, tuple[FormatError, ...]]:
    """Read the header of a picture of an mmp file, and its damage if that is allowed.

    Raises
    ------
    FormatError
        If it is damaged; with ``allow_partial``, only if it cannot be read.
    NoSuchPage
        See ``picture_in``.
    """
    view = picture_in(data, limits, allow_partial, page)
    header, faults = read_any_header(view) if allow_partial else (read_header(view), ())
    of_metadata: list[FormatError] = []
    header = completed(view, header, of_metadata if allow_partial else None)
    return with_metadata(header, view, limits), (*faults, *of_metadata)


def halves_of(
    data: LazyBytes, header: Header, limits: DecodeLimits, allow_partial: bool = False
) -> list[PictureBytes]:
    """Return the files of the levels of the only picture: of half its size, a quarter and so on.

    None are returned if they have other bits per sample than the picture.
    """
    found = levels_of(picture_in(data, limits, allow_partial), header)
    if reduced_depth(header.depth, header.metadata) != header.depth:
        return []
    halves: list[PictureBytes] = []
    while 2 << len(halves) in found:
        halves.append(found[2 << len(halves)])
    return halves


def copy_level(file: Source, writer: PartWriter, limits: DecodeLimits, **how: Any) -> None:
    """Decode a level block by block, and write its samples.

    Raises
    ------
    FormatError, OSError
        As for ``DecodedParts``.
    """
    regions = RegionDecoder(file, limits, **how)
    area = Area(0, 0, regions.header.width, regions.header.height)
    for block in blocks_to_copy(regions.header, area, writer.side):
        writer.write(block.x, block.y, regions.decode(block))


def create(
    path: str,
    kind: str,
    header: Header,
    area: Area,
    metadata: Metadata,
    levels: Sequence[tuple[int, ...]] = (),
) -> TiffParts | ZarrParts:
    """Make a picture file for an area of a picture, whose samples are 0.

    Parameters
    ----------
    path : str
    kind : {"tif", "zarr"}
    header : Header
        Of the mmp file.
    area : Area
    metadata : Metadata
    levels : sequence of tuple of int
        Shapes of the smaller levels of a zarr store.

    Raises
    ------
    ParameterError
        If the kind is unknown.
    MissingExtra, OSError
        As ``TiffParts.create`` and ``ZarrParts.create``.
    """
    if kind not in KINDS:
        raise ParameterError(f"kind = {kind!r}: must be one of {', '.join(KINDS)}")
    facts = header.shape_of(area), header.depth, metadata, header.tile_size
    if kind == ZARR:
        return ZarrParts.create(path, *facts, levels)
    return TiffParts.create(path, *facts)


def blocks_to_copy(header: Header, area: Area, side: int) -> Iterator[Area]:
    """Yield the blocks in which an area is decoded, in pixels of the picture file.

    They consist of whole stored tiles of ``side`` pixels, and of whole tiles of the mmp file where
    both begin at the same pixels.
    """
    pixels = BLOCK_PIXELS * (FILTERED_FACTOR if header.border_step else 1)
    coded = header.tile_size or max(area.width, area.height)
    unit = math.lcm(coded, side)
    if unit**2 > pixels:
        unit = -(-max(coded, side) // side) * side
    whole = Area(0, 0, area.width, area.height)
    for tiles in blocks_of(whole, area.height, area.width, unit, pixels):
        yield bounds_of(tiles)


def stored_bytes(header: Header, area: Area) -> int:
    """Return the bytes that the samples of an area take without compression."""
    return area.pixels * header.planes * sample_type(header.depth)().itemsize


def lost(kind: str, metadata: Metadata) -> tuple[str, ...]:
    """Name the metadata that a picture file written part by part does not keep."""
    there = (*metadata.kinds(), *(("white",) if metadata.white is not None else ()))
    if kind == ZARR:
        kept = {"resolution"}
        if metadata.resolution is not None and metadata.resolution.unit == "none":
            kept = set()
        return tuple(name for name in there if name not in kept)
    gone = {"exif", "white"}
    if metadata.resolution is not None and not tags.holds_resolution(metadata.resolution):
        gone.add("resolution")
    keywords = {keyword for keyword, _ in metadata.text}
    if len(keywords) < len(metadata.text) or not all(
        tags.holds_text(keyword, said) for keyword, said in metadata.text
    ):
        gone.add("text")
    return tuple(name for name in there if name in gone)
