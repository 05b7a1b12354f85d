"""Rounds over the chunks of a Dask array: every chunk answers a question, a tree joins the answers.

The values stay where the chunks are; only questions and answers move. A task takes one processor.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from mmpcodec.errors import MissingExtra, ParameterError, install
from mmpcodec.runtime.arrays import as_array
from mmpcodec.runtime.machine import limited_processors

Answer = TypeVar("Answer")

FAN_IN = 8
"""Number of answers that one task joins."""


def check_array(array: Any, instead: str) -> Any:
    """Return a Dask array.

    Parameters
    ----------
    array : dask.array.Array
    instead : str
        Name of the function for arrays in memory, for the error.

    Raises
    ------
    MissingExtra
        When Dask is not installed.
    ParameterError
        When the array is none of Dask's.
    """
    try:
        from dask.array import Array
    except ImportError as error:
        raise MissingExtra(f"array: needs Dask: {error}; {install('cluster')}") from error
    if not isinstance(array, Array):
        raise ParameterError(
            f"array of type {type(array).__name__}: must be a Dask array; {instead} takes arrays "
            "in memory"
        )
    return array


def ask(
    array: Any,
    question: Callable[[Any], Answer],
    join: Callable[[list[Answer]], Answer],
) -> Answer:
    """Compute the answer of all chunks, with the scheduler that the caller's Dask is set to.

    Parameters
    ----------
    array : dask.array.Array
    question : callable
        Function from a chunk, a NumPy or CuPy array, to a small answer. It can be pickled.
    join : callable
        Function from a list of answers of neighbouring chunks, in order, to one; associative.
    """
    import dask
    from dask.core import flatten
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph

    # A name of its own, because chunks may be read from files that change.
    name = uuid4().hex
    meta = np.empty((0,) * array.ndim, object)
    asked = array.map_blocks(answer, question=question, name=f"ask-{name}", dtype=object, meta=meta)
    (asked,) = dask.optimize(asked)
    keys = list(flatten(asked.__dask_keys__()))
    tasks: dict[Any, Any] = {}
    while len(keys) > 1 or not tasks:
        parts = [keys[i : i + FAN_IN] for i in range(0, len(keys), FAN_IN)]
        keys = [f"join-{name}-{len(tasks) + i}" for i in range(len(parts))]
        tasks |= {key: (join, part) for key, part in zip(keys, parts, strict=True)}
    graph = HighLevelGraph.from_collections(f"join-{name}", tasks, dependencies=[asked])
    return dask.compute(Delayed(keys[0], graph, layer=f"join-{name}"))[0]


def answer(chunk: Any, question: Callable[[Any], Answer]) -> Answer:
    """Return the answer of one chunk, computed on one processor, so that tasks run side by side."""
    with limited_processors(1):
        return question(as_array("array", chunk))
