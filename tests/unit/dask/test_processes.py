"""Exact solvers on chunks that lie in the memory of other processes."""

import numpy as np
import pytest

from mmpcodec import ParameterError
from mmpcodec.solvers import max_sum, selection

da = pytest.importorskip("dask.array", reason="needs dask, of the extra cluster")
distributed = pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

from mmpcodec.dask import kth_smallest, max_interval, max_rectangle, quantile  # noqa: E402


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
        "local_directory": str(tmp_path_factory.mktemp("dask")),
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def bytes_sent(client):
    """Bytes of values that the workers have sent to each other and to this process."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def spread(client, values, chunks):
    """The values as a Dask array whose chunks lie on both workers."""
    array = da.from_array(values, chunks=chunks).persist()
    distributed.wait(array)
    client.rebalance()
    assert all(client.has_what().values())
    return array


def test_selection_leaves_the_values_where_they_are(client):
    values = np.random.default_rng(0).normal(size=(800, 1000)).astype(np.float32)
    array = spread(client, values, (100, 500))
    places = client.who_has(distributed.futures_of(array))
    before = bytes_sent(client)
    q = [0.01, 0.5, 0.75]
    for gather in (0, 1000):
        assert (
            quantile(array, q, gather=gather).tobytes() == selection.quantile(values, q).tobytes()
        )
    sent = bytes_sent(client) - before
    # Five rounds, in which half of the 16 chunks may send to the other worker: the first 2048
    # counts of 16 bits, the others 6 * 2048 or the candidates. Joins send as much as 3 chunks.
    assert 0 < sent < (2 * 1 + 3 * 6) * (16 / 2 + 3) * 2048 * 2
    # The scheduler may copy a chunk for an idle worker when the other one is slow.
    held = client.who_has(distributed.futures_of(array))
    assert all(set(places[key]) <= set(held[key]) for key in places)
    assert sum(held[key] != places[key] for key in places) <= 2
    values[0, 0] = np.nan
    with pytest.raises(ParameterError, match="values: 1 are NaN, which nan='raise' forbids"):
        kth_smallest(da.from_array(values, chunks=400), 5, nan="raise")


def test_intervals_and_rectangles(client):
    values = np.random.default_rng(1).integers(-100, 101, (150, 200))
    array = spread(client, values, 50)
    assert max_rectangle(array, parts=5) == max_sum.max_rectangle(values)
    assert max_rectangle(array.T, parts=3) == max_sum.max_rectangle(values.T)
    row = spread(client, values.ravel(), 1000)
    before = bytes_sent(client)
    assert max_interval(row) == max_sum.max_interval(values.ravel())
    assert 0 < bytes_sent(client) - before < 2 * 35 * 500
