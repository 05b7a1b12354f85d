"""Read and write pictures in zarr stores: single arrays, and images of OME-Zarr.

A store is a folder or a URL. Pixels are stored by chunks, so parts are read and written alone.
Source of the metadata: OME-NGFF 0.5, https://ngff.openmicroscopy.org/0.5/.
"""

import errno
import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.picture import PLANES
from mmpcodec.pictures.limits import (
    check_levels,
    check_part,
    check_size,
    damage_reported,
    library,
    one_line,
)
from mmpcodec.runtime import stores
from mmpcodec.samples import MOST_BITS, Samples, shape_of

OME_VERSION = "0.5"
OWN = "mmpcodec"
"""Attribute of arrays that has the depth, where the type does not tell it."""
HALVING = "means of 2x2 pixels, of fewer at the right and at the bottom; halves are rounded up"
LEVEL = "0"
"""Path of the array of full size."""
MOST_SIDE, USUAL_SIDE = 4096, 1024
_MICROMETRES = {"inch": 25400, "centimetre": 10000, "metre": 1000000}
_COLOURS = {"red": "FF0000", "green": "00FF00", "blue": "0000FF"}
_OLD_AXES = ("t", "c", "z", "y", "x")


class ZarrReader:
    """Reads parts of a zarr array, or of the full level of an OME-Zarr image; see ``Reader``.

    The axes y and x are the picture, c or a last axis of 1 to 4 are its planes. All other axes must
    have a length of 1.

    Parameters
    ----------
    name : str
        Path or URL of a store, or of an array in it.
    limits : DecodeLimits
        Limits of each part.

    Raises
    ------
    PictureError
        If the store holds no such array, or it is damaged.
    MissingExtra
        If zarr is not installed.
    """

    def __init__(self, name: str, limits: DecodeLimits):
        self.name = name
        self.metadata = Metadata()
        self._limits = limits
        zarr = library("zarr", "a zarr store", name, extra="arrays")
        check_store(name)
        with damage_reported(name):
            node = zarr.open(store=name, mode="r", storage_options=stores.zarr_options(name))
            axes = None
            if isinstance(node, zarr.Group):
                node, axes = level_of(node, 0, name)
            self._array = node
            self._axes = checked_axes(node, axes, name, PLANES)
        kind = self._array.dtype.newbyteorder("=")
        if kind not in MOST_BITS:
            raise PictureError(
                f"{name}: holds numbers of type {one_line(str(kind))}; supported are bool, uint8 "
                "and uint16"
            )
        given = self._array.attrs.asdict().get(OWN)
        depth = given.get("depth") if isinstance(given, Mapping) else None
        most = MOST_BITS[kind]
        self.depth = depth if isinstance(depth, int) and most - 8 < depth <= most else most
        if self.depth < 1:
            self.depth = most
        sides = dict(zip(self._axes, self._array.shape, strict=True))
        planes = sides.get("c", 1)
        check_size(sides["x"], sides["y"], planes, name, UNLIMITED)
        self.shape: tuple[int, ...] = shape_of(sides["y"], sides["x"], planes)

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part of the picture; see ``Reader.read``."""
        rows, columns = check_part(self.shape, rows, columns, self.name, self._limits)
        index: dict[str, Any] = {"y": rows, "x": columns, "c": slice(None)}
        with damage_reported(self.name):
            found = np.asarray(self._array[tuple(index.get(axis, 0) for axis in self._axes)])
            kept = [axis for axis in self._axes if axis in index]
            found = found.transpose([kept.index(axis) for axis in ("y", "x", "c") if axis in kept])
        if found.ndim == 3 and found.shape[2] == 1:
            found = found[..., 0]
        check_levels(found, (1 << self.depth) - 1, self.name)
        return np.ascontiguousarray(found.astype(sample_type(self.depth), copy=False))

    def __enter__(self) -> "ZarrReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: each part that is read opens its own files."""


def check_store(name: str) -> None:
    """Check that a path is that of a zarr store; a URL may be one.

    Raises
    ------
    PictureError
        If nothing is there, or something else.
    """
    if stores.is_url(name):
        return
    if not os.path.exists(name):
        raise PictureError.because(errno.ENOENT, name, os.strerror(errno.ENOENT))
    if not stores.is_zarr(name):
        raise PictureError(f"{name}: is no zarr store")


def level_of(group: Any, level: int, name: str) -> tuple[Any, list[str]]:
    """Return the array of a level of an OME-Zarr image, and the names of its axes.

    Raises
    ------
    PictureError
        If the group holds no such image, or fewer levels.
    """
    attributes = group.attrs.asdict()
    found = attributes.get("ome", attributes)
    multiscales = found.get("multiscales") if isinstance(found, Mapping) else None
    if not multiscales:
        names = sorted(key for key, _ in group.members())
        raise PictureError(
            f"{name}: is a group without an image of OME-Zarr; name an array in it, as "
            f"{name.rstrip('/')}/{one_line(names[0]) if names else 'ARRAY'}"
        )
    first = multiscales[0]
    axes = [
        str(axis["name"] if isinstance(axis, Mapping) else axis).lower()
        for axis in first.get("axes", _OLD_AXES)
    ]
    datasets = first["datasets"]
    if not 0 <= level < len(datasets):
        raise PictureError(f"{name}: has levels 0 to {len(datasets) - 1}, not {level}")
    return group[datasets[level]["path"]], axes


def checked_axes(
    array: Any, axes: Sequence[str] | None, name: str, channels: Container[int] | None = None
) -> list[str]:
    """Return the names of the axes of an array: y, x, perhaps c, and others of length 1.

    Parameters
    ----------
    array : zarr.Array
    axes : sequence of str or None
        Names that the image gives; None takes those of the array. An array without names is taken
        as y, x, c.
    name : str
        Name of the store in error messages.
    channels : container of int or None
        Supported lengths of the axis c; None for all.

    Raises
    ------
    PictureError
        If they are not those of a picture.
    """
    shape = array.shape
    assumed = ""
    if axes is None:
        given = getattr(array.metadata, "dimension_names", None) or ()
        axes = [str(axis).lower() for axis in given]
        if not {"y", "x"} <= set(axes):
            axes, assumed = _assumed_axes(shape, name), ", which is assumed as they have no names"
    found = list(axes)
    others = [
        f"{axis} of length {side}"
        for axis, side in zip(found, shape, strict=False)
        if axis not in ("y", "x", "c") and side != 1
    ]
    if len(found) != len(shape) or not {"y", "x"} <= set(found) or len(set(found)) < len(found):
        raise PictureError(
            f"{name}: holds an array of shape {shape} with axes {', '.join(found)}; supported are "
            "y and x, and c"
        )
    planes = dict(zip(found, shape, strict=True)).get("c", 1)
    if channels is not None and planes not in channels:
        raise PictureError(
            f"{name}: holds {planes} channels; supported are 1 to 4. The array has shape {shape} "
            f"and axes {', '.join(found)}{assumed}"
        )
    if others:
        raise PictureError(f"{name}: has axis {', '.join(others)}; supported is a length of 1")
    return found


def _assumed_axes(shape: tuple[int, ...], name: str) -> list[str]:
    """Return the axes of an array that does not name y and x.

    Raises
    ------
    PictureError
        If their number does not tell them.
    """
    if len(shape) < 2:
        axes = "1 axis" if shape else "no axis"
        raise PictureError(
            f"{name}: holds an array of shape {shape}, with {axes}; supported are 2 and 3"
        )
    if len(shape) > 3:
        raise PictureError(
            f"{name}: holds an array of shape {shape}, whose {len(shape)} axes need names, y and "
            "x among them: by the dimension names of zarr 3, or as an image of OME-Zarr"
        )
    return ["y", "x", "c"][: len(shape)]


@dataclass(frozen=True)
class ZarrParts:
    """An OME-Zarr image, whose chunks are written in any order, by any process.

    Chunks are compressed by zstd, so every program for OME-Zarr reads them. A chunk holds all
    planes, in the order c, y, x that OME-Zarr asks for.

    Parameters
    ----------
    path : str
        The same for all processes that write.
    side : int
        Height and width of a chunk in pixels.
    level : str
        Path of the array that is written.
    """

    path: str
    side: int
    level: str = LEVEL

    @classmethod
    def create(
        cls,
        path: str,
        shape: tuple[int, ...],
        depth: int,
        metadata: Metadata,
        tile_size: int,
        levels: Sequence[tuple[int, ...]] = (),
    ) -> "ZarrParts":
        """Make a store whose samples are 0.

        Parameters
        ----------
        path : str
            Must not exist.
        shape : tuple of int
            (H, W), or (H, W, C) with 2 to 4 planes.
        depth : int
            Bits per sample.
        metadata : Metadata
            Only the resolution is kept, as a scale in micrometres.
        tile_size : int
            Wanted height and width of chunks; 0, and sizes above 4096, become 1024.
        levels : sequence of tuple of int
            Shapes of smaller levels, each of half the size of the one before.

        Raises
        ------
        MissingExtra
            If zarr is not installed.
        OSError
            If the store cannot be written.
        """
        zarr = library("zarr", "a zarr store", path, extra="arrays")
        side = tile_size if 0 < tile_size <= MOST_SIDE else USUAL_SIDE
        group = zarr.open_group(path, mode="w-", zarr_format=3)
        paths = [str(number) for number in range(1 + len(levels))]
        group.attrs["ome"] = image_metadata(shape, depth, metadata.resolution, paths)
        planes = shape[2:]
        for name, own in zip(paths, (shape, *levels), strict=True):
            group.create_array(
                name,
                shape=(*planes, *own[:2]),
                chunks=(*planes, side, side),
                dtype=np.dtype(bool if depth == 1 else sample_type(depth)).name,
                dimension_names=axes_of(shape),
                attributes={OWN: {"depth": depth}},
            )
        return cls(path, side)

    def of_level(self, number: int) -> "ZarrParts":
        """Return what writes a smaller level, from 1."""
        return replace(self, level=str(number))

    def write(self, x: int, y: int, samples: Samples) -> None:
        """Write a part of the picture; see ``TiffParts.write``."""
        zarr = library("zarr", "a zarr store", self.path, extra="arrays")
        array = zarr.open_array(self.path, path=self.level, mode="r+")
        height, width = samples.shape[:2]
        planes_first = np.moveaxis(samples, 2, 0) if samples.ndim == 3 else samples
        array[..., y : y + height, x : x + width] = planes_first.astype(array.dtype, copy=False)


def axes_of(shape: Sequence[int]) -> list[str]:
    """Return the names of the axes of a stored picture of shape (H, W) or (H, W, C)."""
    return ["y", "x"] if len(shape) == 2 else ["c", "y", "x"]


def image_metadata(
    shape: Sequence[int], depth: int, resolution: Resolution | None, paths: Sequence[str]
) -> dict[str, Any]:
    """Return the metadata of an OME-Zarr image whose levels halve in size.

    Parameters
    ----------
    shape : sequence of int
        (H, W) or (H, W, C), of the first level.
    depth : int
        Bits per sample.
    resolution : Resolution or None
    paths : sequence of str
        Path of each level.
    """
    axes: list[dict[str, str]] = [
        {"name": name, "type": "channel" if name == "c" else "space"} for name in axes_of(shape)
    ]
    y = x = 1.0
    if resolution is not None and resolution.unit in _MICROMETRES:
        unit = _MICROMETRES[resolution.unit]
        y, x = float(unit / resolution.y), float(unit / resolution.x)
        for axis in axes[-2:]:
            axis["unit"] = "micrometer"
    others = [1.0] * (len(axes) - 2)
    datasets = [
        {
            "path": path,
            "coordinateTransformations": [
                {"type": "scale", "scale": [*others, y * 2**level, x * 2**level]},
            ],
        }
        for level, path in enumerate(paths)
    ]
    found: dict[str, Any] = {
        "version": OME_VERSION,
        "multiscales": [{"name": "image", "axes": axes, "datasets": datasets}],
    }
    if len(paths) > 1:
        found["multiscales"][0] |= {"type": "mean", "metadata": {"description": HALVING}}
    if len(shape) > 2 and shape[2] >= 3:
        window = {"min": 0, "start": 0, "max": (1 << depth) - 1, "end": (1 << depth) - 1}
        channels = [
            {"label": name, "color": colour, "active": True, "window": window}
            for name, colour in _COLOURS.items()
        ]
        if shape[2] == 4:
            channels.append(
                {"label": "alpha", "color": "FFFFFF", "active": False, "window": window}
            )
        found["omero"] = {"channels": channels, "rdefs": {"model": "color"}}
    return found
