"""Rounds over the chunks of a Dask array: every chunk answers a question, a tree joins the answers.

The values stay where the chunks are; only questions and answers move. A task takes one processor.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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


def blocks(array: Any) -> Any:
    """Return the chunks of a Dask array as an object array of delayed values, in its grid."""
    return array.to_delayed(optimize_graph=True)


def ask(
    chunks: Sequence[Any],
    question: Callable[[Any], Answer],
    join: Callable[[list[Answer]], Answer],
) -> Answer:
    """Compute the answer of all chunks, with the scheduler that the caller's Dask is set to.

    Parameters
    ----------
    chunks : sequence of delayed values
    question : callable
        Function from a chunk, a NumPy or CuPy array, to a small answer. It can be pickled.
    join : callable
        Function from a list of answers of neighbouring chunks, in order, to one; associative.
    """
    import dask

    asked = dask.delayed(answer)
    return dask.compute(tree([asked(question, chunk) for chunk in chunks], join))[0]


def tree(answers: Sequence[Any], join: Callable[[list[Answer]], Answer]) -> Any:
    """Return the delayed join of delayed answers, in order, by tasks of ``FAN_IN`` answers."""
    import dask

    joined = dask.delayed(join)
    while len(answers) > 1:
        answers = [joined(answers[i : i + FAN_IN]) for i in range(0, len(answers), FAN_IN)]
    return answers[0]


def answer(question: Callable[[Any], Answer], chunk: Any) -> Answer:
    """Return the answer of one chunk, computed on one processor, so that tasks run side by side."""
    with limited_processors(1):
        return question(as_array("array", chunk))
