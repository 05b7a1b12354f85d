"""Pictures that are checked and ready to be encoded."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.checks import Bound
from mmpcodec.codec.devices import Devices, host_copy
from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.levels import Levels, coded_levels, is_lossy, scales, used_range
from mmpcodec.codec.rate_control.quality import PartsOf, at_quality, seen_areas
from mmpcodec.codec.tile_coding import TileSource, with_tool_sets
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.codec.weighting.maps import with_roi
from mmpcodec.depth import BYTE, most
from mmpcodec.errors import ParameterError
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import size_in_file, tiles_of
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.params import DEEP, EncodeParams
from mmpcodec.samples import Samples, SamplesLike, check_picture, form_of
from mmpcodec.tools import LOSSLESS_TOOLS

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
    own = params.tuned(measured=kind.is_deep or calibration is not None)
    spared = own.spared and (calibration is not None or (own.spared == DEEP and kind.is_deep))
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
        return at_quality(own, ()), whole
    areas = seen_areas(parts_of(areas_in(*kind.shape[:2])))
    metadata = kind.metadata if own.range is None else replace(kind.metadata, range=own.range)
    levels = Levels(kind.depth, used_range(kind.depth, metadata, areas), kind.depth)
    if own.quality is None:
        return own, levels.range
    return at_quality(own, [levels.shown_colours(area) for area in areas]), levels.range


def levels_of(
    params: EncodeParams,
    kind: Kind,
    shown: tuple[int, int],
    whole: Callable[[], Samples] | None,
) -> tuple[Levels, Metadata]:
    """Return the levels that a picture codes, and the metadata of its file with the range.

    Parameters
    ----------
    params : EncodeParams
        Those of the picture, as ``params_of`` returns them.
    kind : Kind
    shown : (int, int)
        Range, as ``params_of`` returns it.
    whole : callable or None
        Returns all samples; None for a picture in tiles, whose samples are known only when each is
        coded. So tiles keep their samples.
    """
    bits, first = kind.depth, 0
    if whole is not None and scales(params):
        bits, first = coded_levels(whole(), kind.depth)
    found, metadata = Levels(kind.depth, shown, bits, first), kind.metadata
    if is_lossy(params):
        metadata = replace(metadata, range=params.range or found.stored_range)
    return found, metadata


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


@dataclass(frozen=True)
class Source:
    """A checked picture to encode.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        In host or device memory.
    on_host : array
        The same samples in host memory.
    depth : int
        Bits per sample.
    metadata : Metadata
    tile_size : int
        0 for one tile.
    roi : (H, W) int8 array or None
        Importance of the pixels; None if all count alike.
    own_levels : Levels or None
        Levels of the picture whose coded levels the samples are; None before they are known.
    """

    samples: Any
    on_host: Samples
    depth: int
    metadata: Metadata
    tile_size: int
    roi: np.ndarray | None = None
    own_levels: Levels | None = None

    @property
    def levels(self) -> Levels:
        """Levels of the picture: those of the depth before ``prepared`` finds others."""
        return self.own_levels or Levels(self.depth, (0, most(self.depth)), self.depth)

    @classmethod
    def of(
        cls,
        samples: Any,
        devices: Devices,
        depth: int,
        metadata: Metadata,
        tile_size: int,
        roi: np.ndarray | None = None,
    ) -> "Source":
        """Return a source; samples stay on their device if it is one of those that encode."""
        on_host = host_copy(samples)
        stays = devices.home(samples) is not None
        on_device = samples if stays else on_host
        return cls(on_device, on_host, depth, metadata, tile_size, roi)

    def prepared(self, params: EncodeParams) -> "tuple[Source, EncodeParams]":
        """Return the source of the levels to code, and the parameters; see ``params_of``."""
        kind = Kind(self.on_host.shape, self.depth, self.metadata, self.roi is not None)
        own, levels = params_of(params, kind, lambda parts: [self.on_host[part] for part in parts])
        found, metadata = levels_of(
            own, kind, levels, None if self.tile_size else lambda: self.on_host
        )
        host = found.coded(self.on_host)
        coded = host if self.samples is self.on_host else found.coded(self.samples)
        own_source = replace(
            self, samples=coded, on_host=host, depth=found.bits, metadata=metadata, own_levels=found
        )
        return own_source, own

    @property
    def fragments(self) -> int:
        """Number of 16x16 fragments in all planes and tiles."""
        return sum(tile.fragments for tile in self.tiles())

    def header(self, tile_bytes: tuple[int, ...], candidates: Sequence[EncodeParams]) -> Header:
        height, width = self.on_host.shape[:2]
        form = form_of(self.on_host)
        tile_size = size_in_file(height, width, self.tile_size)
        header = Header(
            width,
            height,
            form,
            self.levels.depth,
            tile_size,
            self.metadata,
            tile_bytes,
            level_bits=0 if self.levels.bits == self.levels.depth else self.levels.bits,
            first=self.levels.first,
        )
        header = with_tool_sets(header, candidates)
        size, trailer = len(container.write_header(header)), container.write_trailer(header)
        return replace(header, size=size, trailer=trailer)

    def tiles(self) -> Iterator[TileSource]:
        height, width = self.on_host.shape[:2]
        size = size_in_file(height, width, self.tile_size)
        for tile in tiles_of(height, width, self.tile_size):
            own = None if self.roi is None else self.roi[tile.slices]
            samples = self.samples[tile.slices], self.on_host[tile.slices]
            yield TileSource(*samples, self.depth, own, size)


def restored(sources: Sequence[Source], encodings: Sequence[Encoding]) -> list[Encoding]:
    """Return encodings with samples in place of coded levels."""
    return [
        replace(encoding, samples=source.levels.samples(encoding.samples))
        for source, encoding in zip(sources, encodings, strict=True)
    ]
