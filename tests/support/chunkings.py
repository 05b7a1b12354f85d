"""Dask arrays in random chunks, and what the tasks of a computation return."""

import pickle

from dask.array import Array, from_array
from dask.callbacks import Callback
from hypothesis import strategies as st


@st.composite
def chunks_of(draw, size):
    """Sizes of chunks that add up to ``size``; all but the first may be 0."""
    sizes = []
    while sum(sizes) < size:
        sizes.append(draw(st.integers(0 if sizes else 1, size - sum(sizes))))
    return tuple(sizes) or (0,)


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
