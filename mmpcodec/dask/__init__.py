"""Dask arrays: mmp files, pictures larger than memory, exact solvers; needs extra ``cluster``.

Work is a Dask graph, so it runs on the threads of this process, on a cluster of this machine or on
one that runs elsewhere, as the caller's Dask is set up.
"""

from mmpcodec.runtime import lazy

__all__: list[str] = []

__getattr__, __dir__ = lazy.names(__name__, {})
