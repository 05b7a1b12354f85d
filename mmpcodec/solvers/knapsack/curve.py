"""The value curve: the best value for each capacity, with the items of any point."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.knapsack.problem import Problem, of_groups, of_items
from mmpcodec.solvers.knapsack.table import Table, table_backend, usable_memory
from mmpcodec.solvers.limits import CallLimits, OutOfTime

_HOST_BYTES = 17


class Curve:
    """The best value for each capacity, or tuple of capacities, up to the given ones.

    Attributes
    ----------
    values : int64 array of shape (C + 1,), or (C1 + 1, C2 + 1), ...
        Best values; 0 where no choice is feasible.
    feasible : bool array
        Whether a choice is feasible, in the shape of ``values``.
    """

    def __init__(self, problem: Problem, table: Table, items: bool):
        self._problem, self._table, self._items = problem, table, items
        row, self._pieces = table.fill()
        table.deadline = None  # for the items of later calls
        values, feasible = table.operation.host_row(row)
        self.values = values.reshape(problem.shape)
        self.feasible = feasible.reshape(problem.shape)

    def items(self, capacities: int | Sequence[int]) -> tuple[int, ...]:
        """Return the items to take, or the option of each group, for some capacities.

        Of equally good choices, it returns the first in the order of the package.

        Raises
        ------
        ParameterError
            When the capacities lie outside the curve, or no choice is feasible.
        """
        point = tuple(np.atleast_1d(capacities).tolist())
        if len(point) != len(self._problem.shape) or not all(
            isinstance(c, int) and 0 <= c < size
            for c, size in zip(point, self._problem.shape, strict=True)
        ):
            raise ParameterError(
                f"capacities = {capacities}: must be from 0 to {self._problem.capacities}"
            )
        if not self.feasible[point]:
            raise ParameterError(f"capacities = {capacities}: no choice is feasible there")
        choices = self._table.trace(self._pieces, self._problem.state(point))
        return tuple((np.flatnonzero(choices) if self._items else choices).tolist())


def value_curve(
    profits: Any,
    weights: Any,
    capacities: Any,
    *,
    exact_fill: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> Curve:
    """Compute the values of a 0-1 knapsack for all capacities up to the given ones.

    Arguments and other errors are those of ``knapsack``.

    Parameters
    ----------
    time_limit : float or None
        Seconds for the table; the items of a point are found without a limit.

    Raises
    ------
    LimitExceeded
        When the table needs more than the memory limit, or more time than the time limit; a part of
        a curve is no answer.

    Examples
    --------
    >>> from mmpcodec.solvers.knapsack import value_curve
    >>> curve = value_curve([7, 5, 5], [6, 5, 5], 10)
    >>> curve.values.tolist(), curve.items(9), curve.items(10)
    ([0, 0, 0, 0, 0, 5, 7, 7, 7, 7, 10], (0,), (1, 2))
    """
    problem = of_items(profits, weights, capacities, exact_fill, around_break=False)
    return _curve(problem, time_limit, memory_limit, backend, True)


def choice_curve(
    groups: Any,
    capacities: Any,
    *,
    exact_fill: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> Curve:
    """Compute the values of a multiple-choice knapsack for all capacities up to the given ones.

    ``multiple_choice`` and ``value_curve`` document the parameters and errors.

    Examples
    --------
    >>> from mmpcodec.solvers.knapsack import choice_curve
    >>> ladders = [([-22, -16, -1], [1, 2, 8]), ([-25, -3, 0], [4, 6, 7])]
    >>> choice_curve(ladders, 15).items(14)
    (2, 1)
    """
    problem = of_groups(groups, capacities, exact_fill)
    return _curve(problem, time_limit, memory_limit, backend, False)


def _curve(
    problem: Problem,
    time_limit: float | None,
    memory_limit: int | None,
    backend: str,
    items: bool,
) -> Curve:
    limits = CallLimits(time_limit, memory_limit)
    operation = dispatch.operations(__package__, table_backend(backend, problem.cells))
    memory = usable_memory(limits.memory, operation)
    table = Table(problem, operation, memory, limits.deadline, _HOST_BYTES)
    try:
        return Curve(problem, table, items)
    except OutOfTime as error:
        raise LimitExceeded(
            "Knapsack time",
            f"a curve of {problem.cells} cells needs more than time_limit = {time_limit} s",
        ) from error
