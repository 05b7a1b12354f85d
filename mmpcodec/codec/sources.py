"""Pictures that are checked and ready to be encoded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.codec.devices import Devices, host_copy
from mmpcodec.codec.importance.maps import with_importance
from mmpcodec.codec.rate_control.quality import PartsOf, at_quality
from mmpcodec.codec.tile_coding import TileSource, with_tool_sets
from mmpcodec.depth import BYTE, most
from mmpcodec.errors import ParameterError
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import size_in_file, tiles_of
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams
from mmpcodec.samples import Samples, SamplesLike, check_picture, form_of


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
    calibrated : bool
        Whether samples stand for measured values.
    has_map : bool
        Whether pixels may differ in importance.
    """

    shape: tuple[int, ...]
    depth: int
    calibrated: bool
    has_map: bool = False


def params_of(params: EncodeParams, kind: Kind, parts_of: PartsOf) -> EncodeParams:
    """Return the parameters of a picture from those that are asked for.

    Parameters
    ----------
    params : EncodeParams
    kind : Kind
    parts_of : callable
        See ``at_quality``.

    Raises
    ------
    ParameterError
        If the parameters cannot code pictures with a map.
    """
    own = params.aiming(measured=kind.depth > BYTE or kind.calibrated)
    own = with_importance(own) if kind.has_map else own
    return at_quality(own, kind.shape, kind.depth, parts_of)


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
    importance : (H, W) int8 array or None
        Importance of the pixels; None if all count alike.
    """

    samples: Any
    on_host: Samples
    depth: int
    metadata: Metadata
    tile_size: int
    importance: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        samples: Any,
        devices: Devices,
        depth: int,
        metadata: Metadata,
        tile_size: int,
        importance: np.ndarray | None = None,
    ) -> "Source":
        """Return a source; samples stay on their device if it is one of those that encode."""
        on_host = host_copy(samples)
        stays = devices.home(samples) is not None
        on_device = samples if stays else on_host
        return cls(on_device, on_host, depth, metadata, tile_size, importance)

    def params(self, params: EncodeParams) -> EncodeParams:
        """Return the parameters of the picture; see ``params_of``."""
        calibrated = self.metadata.calibration is not None
        kind = Kind(self.on_host.shape, self.depth, calibrated, self.importance is not None)
        return params_of(params, kind, lambda parts: [self.on_host[part] for part in parts])

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
            self.depth,
            tile_size,
            self.metadata,
            tile_bytes,
        )
        header = with_tool_sets(header, candidates)
        size, trailer = len(container.write_header(header)), container.write_trailer(header)
        return replace(header, size=size, trailer=trailer)

    def tiles(self) -> Iterator[TileSource]:
        height, width = self.on_host.shape[:2]
        size = size_in_file(height, width, self.tile_size)
        for tile in tiles_of(height, width, self.tile_size):
            own = None if self.importance is None else self.importance[tile.slices]
            samples = self.samples[tile.slices], self.on_host[tile.slices]
            yield TileSource(*samples, self.depth, own, size)
