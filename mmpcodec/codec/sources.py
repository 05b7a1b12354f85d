"""Pictures that are checked and ready to be encoded."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mmpcodec import backends
from mmpcodec.checks import Bound, check_int
from mmpcodec.codec.borders import filter_borders, fixed_of
from mmpcodec.codec.candidates import candidates_at, fitted
from mmpcodec.codec.devices import Devices, host_copy
from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.levels import (
    Levels,
    coded_levels,
    is_lossy,
    may_have_fewer,
    scales,
    used_range,
)
from mmpcodec.codec.rate_control.quality import PartsOf, at_quality, seen_areas
from mmpcodec.codec.tile_coding import TileEncoding, TileSource, with_tool_sets
from mmpcodec.codec.tile_size import usual_tile_size
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.codec.weighting.maps import with_roi
from mmpcodec.depth import BYTE, MAX_DEPTH, most
from mmpcodec.errors import ParameterError
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Area, blocks_of, bounds_of, size_in_file
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.params import DEEP, EncodeParams, check_tile_size
from mmpcodec.samples import Form, Samples, SamplesLike, check_picture
from mmpcodec.tools import LOSSLESS_TOOLS

BLOCK_SIDE = 1 << 11
"""Side of the blocks whose levels are looked at together; a larger tile is alone."""
EQUAL = 2.0**-40
"""Numbers of a file that differ by a part of this are equal."""


def checked_pictures(
    arrays: Sequence[SamplesLike],
    depth: int | None,
    metadata: Metadata | Sequence[Metadata] | None,
) -> list[tuple[Any, int, Metadata]]:
    """Check each picture and return samples, depth, metadata; errors name its number, from 0.

    Raises
    ------
    ParameterError
        If a picture or its metadata is not supported, or their numbers differ.
    """
    if metadata is None or isinstance(metadata, Metadata):
        metadata = [metadata or Metadata()] * len(arrays)
    listed = isinstance(metadata, Sequence) and all(isinstance(own, Metadata) for own in metadata)
    if not listed:
        raise ParameterError(
            f"metadata of type {type(metadata).__name__}: must be Metadata, a sequence of it, or "
            "None"
        )
    if len(metadata) != len(arrays):
        raise ParameterError(
            f"metadata of {len(metadata)} pictures: must be of all {len(arrays)}, or one of each"
        )
    pictures = []
    for number, (array, own) in enumerate(zip(arrays, metadata, strict=True)):
        try:
            samples, bits = check_picture(array, depth)
            check_white(own, bits)
        except ParameterError as error:
            raise ParameterError(f"number {number}: {error}" if number else str(error)) from error
        pictures.append((samples, bits, own))
    return pictures


def check_white(metadata: Metadata, depth: int) -> None:
    """Check that the level shown as white is a sample of this depth.

    Raises
    ------
    ParameterError
    """
    if metadata.white is not None and not 1 <= metadata.white <= most(depth):
        raise ParameterError(
            f"white = {metadata.white}: must be from 1 to {most(depth)} at a depth of {depth}"
        )


class Kind(NamedTuple):
    """What decides about the parameters of a picture, besides those that are asked for.

    Parameters
    ----------
    shape : tuple of int
        (H, W) or (H, W, C).
    depth : int
        Bits per sample.
    metadata : Metadata
    has_map : bool
        Whether there is an ROI map, so that pixels may differ in importance.
    """

    shape: tuple[int, ...]
    depth: int
    metadata: Metadata
    has_map: bool = False

    @property
    def is_bilevel(self) -> bool:
        """Whether a sample has 1 bit."""
        return self.depth == 1

    @property
    def is_deep(self) -> bool:
        """Whether a sample has more than 8 bits."""
        return self.depth > BYTE


def params_of(
    params: EncodeParams, kind: Kind, parts_of: PartsOf
) -> tuple[EncodeParams, tuple[int, int]]:
    """Return the parameters of a picture from those that are asked for, and its range.

    Parameters
    ----------
    params : EncodeParams
    kind : Kind
    parts_of : callable
        Reads up to 256 parts of at most 32x32 pixels.

    Returns
    -------
    params : EncodeParams
        Their lambda is in squares of 1/255 of the range.
    range : (int, int)
        Samples that count as black and white; all levels if the file is lossless.

    Raises
    ------
    ParameterError
        If the parameters cannot code pictures with a map, the range is beyond the depth or the
        picture has no more than 8 bits, or the unit of a maximal error is not that of the picture.
    """
    calibration, whole = kind.metadata.calibration, (0, most(kind.depth))
    exact = calibration is not None or (bool(params.spared) and kind.is_bilevel)
    own = params.tuned(measured=kind.is_deep or exact)
    spared = own.spared and (exact or (own.spared == DEEP and kind.is_deep))
    own = own.without_loss() if spared and not kind.has_map else own
    if own.bound is not None:
        own = own.within(samples_of(own.bound, calibration))
    own = with_roi(own) if kind.has_map else own
    if own.range is not None and not kind.is_deep:
        raise ParameterError(
            f"range = {own.range}: pictures of {kind.depth} bits always have the range 0 to "
            f"{whole[1]}; leave it out"
        )
    if not is_lossy(own) or (own.quality is None and not kind.is_deep):
        return at_quality(own, (), 0), whole
    height, width = kind.shape[:2]
    areas = seen_areas(parts_of(areas_in(height, width)))
    metadata = kind.metadata if own.range is None else replace(kind.metadata, range=own.range)
    levels = Levels(kind.depth, used_range(kind.depth, metadata, areas), kind.depth)
    if own.quality is None:
        return own, levels.range
    shown_areas = [levels.shown_colours(area) for area in areas]
    return at_quality(own, shown_areas, height * width), levels.range


def samples_of(bound: Bound, calibration: Calibration | None) -> int:
    """Return the largest whole number of samples within a bound in the unit of a calibration.

    Raises
    ------
    ParameterError
        If the picture has no calibration, or one of another unit.
    """
    if calibration is None or calibration.unit.lower() != bound.unit.lower():
        has = (
            "no unit"
            if calibration is None or not calibration.unit
            else f"the unit {calibration.unit}"
        )
        raise ParameterError(
            f"max_error = {bound}: the picture has {has}; a whole number gives it in samples"
        )
    # 0.3 of a slope of 0.1 are 3 samples; the quotient of the floating-point numbers is less.
    found = bound.value / abs(calibration.slope) * (1 + EQUAL)
    return math.floor(min(found, LOSSLESS_TOOLS["max_error"].high))


class Prepared(NamedTuple):
    """What is known of a picture before its tiles are coded.

    Parameters
    ----------
    header : Header
        Without the sizes of the tiles.
    params : EncodeParams
        Those of the picture, see ``params_of``.
    levels : Levels
    """

    header: Header
    params: EncodeParams
    levels: Levels


def prepared(
    kind: Kind,
    tile_size: int | None,
    params: EncodeParams,
    parts_of: PartsOf,
    backend: str = "auto",
) -> Prepared:
    """Return header, parameters and levels of a picture from what is asked for.

    Parameters
    ----------
    kind : Kind
    tile_size : int or None
        Height and width of tiles, 64 to 2**24; 0 for one tile; None for ``usual_tile_size``.
    params : EncodeParams
    parts_of : callable
        See ``params_of``; it also reads a whole picture of more than 8 bits, in blocks of tiles.
    backend : str
        See ``EncodeOptions``.

    Raises
    ------
    ParameterError
        If an argument is out of its range, the level of white is beyond the depth, or the
        parameters cannot code samples of the depth or pictures with a map.
    MmpError
        The errors of ``parts_of``.
    """
    height, width, *planes = kind.shape
    depth = check_int("depth", kind.depth, 1, MAX_DEPTH)
    check_white(kind.metadata, depth)
    params, shown = params_of(fitted(params, backend, depth), kind, parts_of)
    tile_size = None if tile_size is None else check_tile_size(tile_size)
    bits, first, metadata = depth, 0, kind.metadata
    if scales(params) and may_have_fewer(kind.shape, depth):
        side = BLOCK_SIDE if tile_size is None else tile_size
        blocks = blocks_of(Area(0, 0, width, height), height, width, side, BLOCK_SIDE**2)
        bits, first = coded_levels(
            (part for tiles in blocks for part in parts_of([bounds_of(tiles).slices])), depth
        )
    levels = Levels(depth, shown, bits, first)
    if is_lossy(params):
        metadata = replace(metadata, range=params.range or levels.stored_range)
    candidates = candidates_at(levels.at_levels(params), bits, backend)
    if tile_size is None:
        areas = [levels.coded(area) for area in parts_of(areas_in(height, width))]
        tile_size = usual_tile_size(height, width, bits, candidates, areas)
    header = Header(
        width,
        height,
        Form(planes[0] - 1 if planes else 0),
        depth,
        size_in_file(height, width, tile_size),
        metadata,
        level_bits=0 if bits == depth else bits,
        first=first,
    )
    return Prepared(with_tool_sets(header, candidates), params, levels)


@dataclass(frozen=True)
class Source:
    """A picture in memory that is ready to be encoded.

    Parameters
    ----------
    header, params, levels
        See ``Prepared``.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Levels to code, in host or device memory.
    on_host : array
        The same levels in host memory.
    original : array
        The samples of the picture in host memory.
    roi : (H, W) int8 array or None
        Importance of the pixels; None if all count alike.
    """

    header: Header
    params: EncodeParams
    levels: Levels
    samples: Any
    on_host: Samples
    original: Samples
    roi: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        samples: Any,
        devices: Devices,
        depth: int,
        metadata: Metadata,
        tile_size: int | None,
        params: EncodeParams,
        roi: np.ndarray | None,
        backend: str,
    ) -> "Source":
        """Return a source; samples stay on their device if it is one of those that encode."""
        original = host_copy(samples)
        kind = Kind(original.shape, depth, metadata, roi is not None)
        plan = prepared(
            kind, tile_size, params, lambda parts: [original[part] for part in parts], backend
        )
        on_host = plan.levels.coded(original)
        stays = devices.home(samples) is not None
        return cls(*plan, plan.levels.coded(samples) if stays else on_host, on_host, original, roi)

    def with_usual_tiles(self, candidates: Sequence[EncodeParams]) -> "Source":
        """Return the source with the tile size for candidates at a lambda of coded levels."""
        height, width = self.on_host.shape[:2]
        areas = [self.on_host[area] for area in areas_in(height, width)]
        size = usual_tile_size(height, width, self.levels.bits, candidates, areas)
        return replace(self, header=replace(self.header, tile_size=size))

    @property
    def fragments(self) -> int:
        """Number of 16x16 fragments in all planes and tiles."""
        return sum(tile.fragments for tile in self.tiles())

    def tiles(self) -> Iterator[TileSource]:
        """Yield the tiles."""
        bits, size = self.levels.bits, self.header.tile_size
        for tile in self.header.tiles:
            own = None if self.roi is None else self.roi[tile.slices]
            samples = self.samples[tile.slices], self.on_host[tile.slices]
            yield TileSource(*samples, bits, own, size)

    def encoding(
        self, tiles: Sequence[TileEncoding], candidates: Sequence[EncodeParams]
    ) -> Encoding:
        """Return the file of the picture, whose tiles are coded with these candidates."""
        header = with_tool_sets(self.header, candidates)
        header = container.with_sizes(header, tuple(len(tile.data) for tile in tiles))
        levels = tiles[0].samples
        if len(tiles) > 1:
            levels = np.empty_like(self.on_host)
            for place, tile in zip(header.tiles, tiles, strict=True):
                levels[place.slices] = tile.samples
            fixed = [fixed_of(tile.stream, tile.drawn) for tile in tiles]
            whole = Area(0, 0, header.width, header.height)
            own = zip(header.tiles, fixed, strict=True)
            filter_borders(levels, whole, header.of_levels, own, backends.get("auto", decodes=True))
        layers = tuple(
            replace(layer, tile=number)
            for number, tile in enumerate(tiles)
            for layer in tile.layers
        )
        data = container.write(header, [tile.data for tile in tiles])
        return Encoding(
            header,
            candidates[0].lam,
            data,
            self.levels.samples(levels),
            layers,
            source=self.original,
        )
