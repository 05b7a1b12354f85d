"""Write TIFF files larger than memory: tiles in any order, also from several processes."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.tiff import tags
from mmpcodec.pictures.tiff.reader import load_tifffile
from mmpcodec.samples import Samples

MOST_SIDE, USUAL_SIDE = 1024, 512
_ALIGNED, _STEP = 16, 16
"""Bytes to which the samples are aligned, and of which the side of a tile is a multiple."""


@dataclass(frozen=True)
class TiffParts:
    """A tiled BigTIFF file without compression, whose place for each tile is known beforehand.

    Parameters
    ----------
    path : str
        The same for all processes that write.
    shape : tuple of int
        (H, W), or (H, W, C) with 2 to 4 planes.
    depth : int
        Bits per sample. Gray of 1 bit is packed, 8 pixels to a byte.
    side : int
        Height and width of a tile in pixels.
    start : int
        Byte of the first tile.
    """

    path: str
    shape: tuple[int, ...]
    depth: int
    side: int
    start: int

    @classmethod
    def create(
        cls, path: str, shape: tuple[int, ...], depth: int, metadata: Metadata, tile_size: int
    ) -> "TiffParts":
        """Write a file whose samples are 0; the file system need not store these.

        Parameters
        ----------
        path : str
            The file is replaced if it exists.
        shape, depth
            As of the class.
        metadata : Metadata
            All but EXIF, and what ``file.holds`` denies, is kept.
        tile_size : int
            Wanted height and width of tiles. Sizes above 1024, and those that are no multiple of
            16, become 512.

        Raises
        ------
        MissingExtra
            If tifffile is not installed.
        OSError
            If the file cannot be written.
        """
        side = tile_size if 0 < tile_size <= MOST_SIDE and tile_size % _STEP == 0 else USUAL_SIDE
        found = cls(path, shape, depth, side, 0)
        tifffile = load_tifffile(path)
        planes = shape[2] if len(shape) > 2 else 1
        extra = tags.extra_tags(metadata.without("exif"), "<")
        if depth < 8 * np.dtype(found._stored_type).itemsize and not found._packed:
            extra.append(tags.white_level(depth, planes, "<"))
        count = found._across * -(-shape[0] // side)
        with tifffile.TiffWriter(path, bigtiff=True, byteorder="<") as writer:
            writer.write(
                (b"\0" for _ in range(count)),
                shape=shape,
                dtype=found._stored_type,
                tile=(side, side),
                photometric="rgb" if planes > 2 else "minisblack",
                planarconfig="contig" if planes > 1 else None,
                extrasamples=["unassalpha"] if planes in (2, 4) else None,
                metadata=None,
                software=False,
                extratags=extra,
                **tags.resolution_options(metadata.resolution),
            )
        size = found._tile_bytes
        end = os.path.getsize(path) + 16 * count  # the tags below may be written anew at the end
        start = -(-end // _ALIGNED) * _ALIGNED
        with tifffile.TiffFile(path, mode="r+") as file:
            given = file.pages[0].tags
            given["TileByteCounts"].overwrite([size] * count, dtype="Q")
            given["TileOffsets"].overwrite([start + size * tile for tile in range(count)])
        os.truncate(path, start + size * count)
        return cls(path, shape, depth, side, start)

    @property
    def _packed(self) -> bool:
        return self.depth == 1 and len(self.shape) == 2

    @property
    def _stored_type(self) -> Any:
        return bool if self._packed else sample_type(self.depth)

    @property
    def _across(self) -> int:
        return -(-self.shape[1] // self.side)

    @property
    def _tile_bytes(self) -> int:
        if self._packed:
            return self.side * self.side // 8
        planes = self.shape[2] if len(self.shape) > 2 else 1
        return self.side**2 * planes * np.dtype(self._stored_type).itemsize

    def write(self, x: int, y: int, samples: Samples) -> None:
        """Write a part of the picture.

        Parameters
        ----------
        x, y : int
            Column and row of the first pixel, multiples of ``side``.
        samples : (H, W) or (H, W, C) array of uint8 or uint16
            H and W are multiples of ``side``, or reach the end of the picture.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        side = self.side
        with open(self.path, "r+b") as file:
            for top in range(0, samples.shape[0], side):
                for left in range(0, samples.shape[1], side):
                    own = samples[top : top + side, left : left + side]
                    tile = np.zeros((side, side, *samples.shape[2:]), samples.dtype)
                    tile[: own.shape[0], : own.shape[1]] = own
                    if self._packed:
                        tile = np.packbits(tile, axis=1)
                    number = (y + top) // side * self._across + (x + left) // side
                    file.seek(self.start + number * self._tile_bytes)
                    file.write(tile.astype(tile.dtype.newbyteorder("<"), copy=False).tobytes())
