"""Dask clusters of real processes on this machine."""

import contextlib
import warnings


@contextlib.contextmanager
def local_client(workers=2):
    """A client of a cluster whose workers are processes with one thread each."""
    import distributed

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
