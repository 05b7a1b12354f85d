"""Dask arrays in random chunks, and what the tasks of a computation return."""

import pickle

from dask.array import Array, from_array
from dask.callbacks import Callback
from hypothesis import strategies as st

MOST_CHUNKS = 3
"""Along an axis, because the cost of an example is that of its chunks."""


@st.composite
def chunks_of(draw, size):
    """Sizes of a few chunks that add up to ``size``; all but the first may be 0."""
    sizes = [draw(st.integers(min(size, 1), size))]
    while sum(sizes) < size and len(sizes) < MOST_CHUNKS - 1:
        sizes.append(draw(st.integers(0, size - sum(sizes))))
    rest = size - sum(sizes)
    return (*sizes, rest) if rest else tuple(sizes)


@st.composite
def in_chunks(draw, values):
    """The values as a Dask array in any chunks."""
    return from_array(values, chunks=tuple(draw(chunks_of(side)) for side in values.shape))


def of_unknown_sizes(array):
    """The Dask array without the sizes of its chunks, as after a selection by a condition."""
    unknown = tuple((float("nan"),) * len(sizes) for sizes in array.chunks)
    return Array(array.dask, array.name, unknown, array.dtype, array._meta)


class Counted(Callback):
    """Counts rounds, and the pickled bytes of what tasks return whose names begin so."""

    def __init__(self, *tasks):
        self.tasks = tasks
        self.rounds = 0
        self.sizes = []

    def _start(self, graph):
        self.rounds += 1

    def _posttask(self, key, result, graph, state, worker):
        name = key[0] if isinstance(key, tuple) else key
        if name.split("-")[0] in self.tasks:
            self.sizes.append(len(pickle.dumps(result)))
