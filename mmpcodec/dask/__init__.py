"""Dask arrays: mmp files, pictures larger than memory, exact solvers; needs extra ``cluster``.

Work is a Dask graph, so it runs on the threads of this process, on a cluster of this machine or on
one that runs elsewhere, as the caller's Dask is set up.
"""

from typing import TYPE_CHECKING

from mmpcodec.runtime import lazy

if TYPE_CHECKING:
    from mmpcodec.dask.max_sum import max_interval, max_rectangle
    from mmpcodec.dask.pyramids import from_ome_zarr, to_ome_zarr
    from mmpcodec.dask.reading import from_mmp
    from mmpcodec.dask.selection import kth_smallest, median, quantile
    from mmpcodec.dask.writing import to_mmp

__all__ = [
    "from_mmp",
    "from_ome_zarr",
    "kth_smallest",
    "max_interval",
    "max_rectangle",
    "median",
    "quantile",
    "to_mmp",
    "to_ome_zarr",
]

__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "mmpcodec.dask.max_sum": ("max_interval", "max_rectangle"),
        "mmpcodec.dask.pyramids": ("from_ome_zarr", "to_ome_zarr"),
        "mmpcodec.dask.reading": ("from_mmp",),
        "mmpcodec.dask.selection": ("kth_smallest", "median", "quantile"),
        "mmpcodec.dask.writing": ("to_mmp",),
    },
)
