"""Backend "mmp" of xarray, which opens mmp files by tiles. xarray finds it by its entry point.

>>> import xarray
>>> found = xarray.open_dataset("tiled.mmp", engine="mmp", chunks={})  # doctest: +SKIP
>>> found.samples.dims, found.samples.attrs["depth"]                   # doctest: +SKIP
(('y', 'x', 'channel'), 8)
"""

import os
from collections.abc import Iterable
from typing import Any, ClassVar

import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from mmpcodec.dask.reading import usual_chunks
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.mmp import MmpReader
from mmpcodec.pictures.registry import MMP
from mmpcodec.plugins.attributes import attributes_of, channels_of

SAMPLES = "samples"
"""Name of the variable."""
DIMENSIONS = ("y", "x", "channel")


class MmpArray(BackendArray):
    """The samples of a file, for xarray's lazy indexing.

    Parameters
    ----------
    reader : MmpReader
    """

    def __init__(self, reader: MmpReader):
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
    ``attributes.attributes_of``: depth, white, form, resolution and others. Only the header is read
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
    )

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        limits: DecodeLimits | None = None,
        backend: str = "auto",
        threads: int | None = None,
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

        Raises
        ------
        MmpError
            The errors of ``MmpReader``. Reading a part can raise them, too.
        """
        reader = MmpReader(
            filename_or_obj,
            limits=limits,
            backend=backend,
            threads=threads,
            cache_bytes=0,
            keep_open=False,
        )
        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables
        if SAMPLES in (dropped or ()):
            return xarray.Dataset()
        dimensions = DIMENSIONS[: reader.ndim]
        samples = xarray.Variable(
            dimensions,
            indexing.LazilyIndexedArray(MmpArray(reader)),
            attributes_of(reader),
            {"preferred_chunks": dict(zip(dimensions, usual_chunks(reader), strict=True))},
        )
        channels = {"channel": channels_of(reader)} if reader.ndim == 3 else {}
        found = xarray.Dataset({SAMPLES: samples}, channels)
        found.set_close(_close)
        return found

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a name ends in ".mmp"."""
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        return os.fspath(filename_or_obj).lower().endswith(f".{MMP}")


def _close() -> None:
    """Do nothing: no file stays open. ``xarray.open_mfdataset`` needs a function."""
