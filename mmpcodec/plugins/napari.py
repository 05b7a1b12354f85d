"""Reader of napari, which shows mmp files by tiles. napari finds it by ``napari.yaml``.

This module does not import napari: a layer is a tuple of data, options of the layer, and its kind.

>>> from mmpcodec.plugins.napari import get_reader
>>> get_reader("other.png") is None
True
"""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mmpcodec.depth import BYTE
from mmpcodec.pictures.mmp import MmpReader
from mmpcodec.pictures.mmp.series import Pictures
from mmpcodec.pictures.mmp.stack import MmpStack
from mmpcodec.plugins.attributes import ALPHA, attributes_of, channels_of

if TYPE_CHECKING:
    from dask.array import Array

SUFFIX = ".mmp"
LARGEST_SIDE = 4096
"""Most pixels of a side of the smallest scale."""

Path = str | os.PathLike[str]
Layer = tuple[Any, dict[str, Any], str]
"""Data, options of the layer, and "image"."""


def get_reader(
    path: Path | Sequence[Path],
) -> Callable[[Path | Sequence[Path]], list[Layer]] | None:
    """Return the function that reads some files, or None for files of other formats.

    Parameters
    ----------
    path : path or sequence of path
        Paths, or URLs that fsspec opens.

    Examples
    --------
    >>> from mmpcodec.plugins.napari import get_reader
    >>> get_reader("tiled.mmp").__name__
    'read_layers'
    """
    names = [os.fspath(each) for each in _listed(path)]
    if names and all(name.lower().endswith(SUFFIX) for name in names):
        return read_layers
    return None


def read_layers(path: Path | Sequence[Path]) -> list[Layer]:
    """Return the layers of one or several files.

    A file is one layer if it is gray, or RGB of 8 bits whose white is 255. Of any other file each
    plane is a layer, because napari takes colours as they are only in 8 bits; alpha is hidden then.
    The data are Dask arrays of ``mmpcodec.dask.from_mmp``. For pictures of more than 4096 pixels a
    side they are lists of arrays, each with every second row and column of the one before.

    Pictures of one size, form and depth are one layer with an axis in front, (N, H, W) or (N, H, W,
    C). Others are layers of their own.

    Parameters
    ----------
    path : path or sequence of path

    Returns
    -------
    list of (data, options, "image")
        The options ``metadata`` hold what ``attributes.attributes_of`` returns.

    Raises
    ------
    MmpError
        The errors of ``mmpcodec.dask.from_mmp``.
    """
    return [layer for each in _listed(path) for layer in _layers_of(each)]


def _listed(path: Path | Sequence[Path]) -> Sequence[Path]:
    return [path] if isinstance(path, str | os.PathLike) else path


def _layers_of(path: Path) -> list[Layer]:
    pictures = Pictures(path)
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    if len(pictures) == 1:
        return _layers_of_page(path, name, None)
    forms = {(picture.shape, picture.depth) for picture in pictures}
    if len(forms) == 1:
        return _layers_of_page(path, name, "all")
    return [
        layer
        for number, picture in enumerate(pictures, 1)
        for layer in _layers_of_page(path, f"{name} {picture.role} {number}", number)
    ]


def _layers_of_page(path: Path, name: str, page: int | Literal["all"] | None) -> list[Layer]:
    from mmpcodec.dask import from_mmp

    array = from_mmp(path, page=page)
    number = None if page == "all" else page
    reader = MmpStack(path) if page == "all" else MmpReader(path, page=number, keep_open=False)
    attributes, channels = attributes_of(reader), channels_of(reader)
    depth, white = attributes["depth"], attributes["white"]
    if len(channels) >= 3 and depth == BYTE and white == (1 << BYTE) - 1:
        return [_layer(array, {"name": name, "metadata": attributes, "rgb": True})]
    layers = []
    for number, channel in enumerate(channels):
        options: dict[str, Any] = {
            "name": name if len(channels) == 1 else f"{name} {channel}",
            "metadata": attributes,
            "rgb": False,
            "colormap": "gray" if channel == ALPHA else channel,
            "contrast_limits": [0, (1 << depth) - 1 if channel == ALPHA else white],
            "blending": "additive" if len(channels) > 1 else "translucent",
            "visible": channel != ALPHA,
        }
        plane = array if len(channels) == 1 else array[..., number]
        layers.append(_layer(plane, options))
    return layers


def _layer(array: "Array", options: dict[str, Any]) -> Layer:
    scales = [array]
    rows = array.ndim - (3 if options["rgb"] else 2)
    half = (*(slice(None),) * rows, slice(None, None, 2), slice(None, None, 2))
    while max(scales[-1].shape[rows : rows + 2]) > LARGEST_SIDE:
        scales.append(scales[-1][half])
    if len(scales) == 1:
        return array, options, "image"
    return scales, {**options, "multiscale": True}, "image"
