"""Backend "mmp" of xarray, which opens mmp files by tiles. xarray finds it by its entry point.

>>> import xarray
>>> found = xarray.open_dataset("tiled.mmp", engine="mmp", chunks={})  # doctest: +SKIP
>>> found.samples.dims, found.samples.attrs["depth"]                   # doctest: +SKIP
(('y', 'x', 'channel'), 8)
"""

import os
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, ClassVar

import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from mmpcodec.dask.reading import usual_chunks
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.mmp import MmpReader
from mmpcodec.pictures.mmp.series import Pictures
from mmpcodec.pictures.mmp.stack import MmpStack
from mmpcodec.pictures.registry import MMP
from mmpcodec.plugins.attributes import attributes_of, channels_of

SAMPLES = "samples"
"""Name of the variable."""
DIMENSIONS = ("y", "x", "channel")


class MmpArray(BackendArray):
    """The samples of a file, for xarray's lazy indexing.

    Parameters
    ----------
    reader : MmpReader or MmpStack
    """

    def __init__(self, reader: MmpReader | MmpStack):
        self._reader = reader
        self.shape = reader.shape
        self.dtype = reader.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._reader.__getitem__
        )


class MmpBackend(BackendEntrypoint):
    """Opens an mmp file as a dataset with the variable "samples".

    The dimensions are "y", "x" and, with several planes, "channel", whose coordinates are "red",
    "green", "blue", "gray" and "alpha". The attributes of the variable are those of
    ``attributes.attributes_of``: depth, white, form, resolution and others; of several pictures,
    those of the first.

    A file of several pictures of one size, form and depth has a first dimension "page", "frame" or
    "slice". Its coordinates are the numbers of pages, from 1, the seconds after which a frame is
    shown, or the places of slices in millimetres. Only the header is read
    on opening; an index decodes the tiles that it touches. With ``chunks={}`` the chunks are those
    of ``mmpcodec.dask.from_mmp``.
    """

    description = "Open pictures of the format mmp by their tiles"
    open_dataset_parameters: ClassVar[Any] = (
        "filename_or_obj",
        "drop_variables",
        "limits",
        "backend",
        "threads",
        "page",
    )

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        limits: DecodeLimits | None = None,
        backend: str = "auto",
        threads: int | None = None,
        page: int | None = None,
    ) -> xarray.Dataset:
        """Open a file.

        Parameters
        ----------
        filename_or_obj : path or str
            Path, or URL that fsspec opens.
        drop_variables : str or iterable of str or None
            With "samples", the dataset is empty.
        limits : DecodeLimits or None
            Limits of each part that is read; None for the default limits.
        backend : {"auto", "cpu", "reference"}
        threads : int or None
            Threads that decode a part of several tiles; None takes all processors.
        page : int or None
            Number of one picture of a file of several, from 1; None takes all.

        Raises
        ------
        MmpError
            The errors of ``MmpReader`` and ``MmpStack``. Reading a part can raise them, too.
        """
        how: Any = {"limits": limits, "backend": backend, "threads": threads}
        pictures = Pictures(filename_or_obj, **how)
        reader: MmpReader | MmpStack
        if page is None and len(pictures) != 1:
            reader = MmpStack(filename_or_obj, **how)
        else:
            reader = MmpReader(filename_or_obj, page=page, cache_bytes=0, keep_open=False, **how)
        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables
        if SAMPLES in (dropped or ()):
            return xarray.Dataset()
        coordinates: dict[str, Any] = {}
        dimensions = DIMENSIONS[: reader.ndim]
        if isinstance(reader, MmpStack):
            dimensions = (reader.role, *DIMENSIONS[: reader.ndim - 1])
            coordinates[reader.role] = _places(reader)
        samples = xarray.Variable(
            dimensions,
            indexing.LazilyIndexedArray(MmpArray(reader)),
            attributes_of(reader),
            {"preferred_chunks": dict(zip(dimensions, usual_chunks(reader), strict=True))},
        )
        if "channel" in dimensions:
            coordinates["channel"] = channels_of(reader)
        found = xarray.Dataset({SAMPLES: samples}, coordinates)
        found.set_close(_close)
        return found

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a name ends in ".mmp"."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        return os.fspath(filename_or_obj).lower().endswith(f".{MMP}")


def _places(stack: MmpStack) -> xarray.Variable:
    """Return the coordinates of the pictures: numbers, seconds or millimetres."""
    if stack.role == "frame":
        ends = accumulate(picture.duration or 0 for picture in stack.pictures)
        starts = [0.0, *map(float, ends)][: len(stack)]
        return xarray.Variable(stack.role, starts, {"units": "s"})
    if stack.role == "slice":
        places = [picture.position for picture in stack.pictures]
        return xarray.Variable(stack.role, places, {"units": "mm"})
    return xarray.Variable(stack.role, range(1, len(stack) + 1))


def _close() -> None:
    """Do nothing: no file stays open. ``xarray.open_mfdataset`` needs a function."""
