"""The solvers of 0-1 and multiple-choice knapsacks, for one problem and for batches."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.solvers import dispatch
from mmpcodec.solvers.knapsack import branches, core, counting, enumeration, reference
from mmpcodec.solvers.knapsack.answers import Solution
from mmpcodec.solvers.knapsack.bounds import greedy, relax
from mmpcodec.solvers.knapsack.problem import ItemList, Problem, checked, checked_each, of_groups
from mmpcodec.solvers.knapsack.reduction import Reduced, exclude, reduce
from mmpcodec.solvers.knapsack.search import AnyBest, best_choices
from mmpcodec.solvers.knapsack.table import (
    Table,
    fits,
    table_backend,
    table_bytes,
    table_fits,
    usable_memory,
)
from mmpcodec.solvers.knapsack.units import Pieces, split, split_each
from mmpcodec.solvers.limits import CallLimits, OutOfTime, is_over


def knapsack(
    profits: Any,
    weights: Any,
    capacities: Any,
    *,
    exact_fill: bool = False,
    copies: Any = None,
    least_items: Any = None,
    most_items: Any = None,
    first_choice: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> Solution:
    """Find the items of the largest total profit whose weights fit into the capacities.

    Parameters
    ----------
    profits : (N,) array of integers
        Lists, tuples, pandas' Series and arrays of floats are taken, too. All floats, here and in
        weights and capacities, must be integers below 2**53 in magnitude.
    weights : (N,) or (N, M) array of integers from 0 up
        One row for each item and one column for each capacity, the transpose of what OR-Tools'
        ``KnapsackSolver.init`` takes. If N equals M, a transposed array is not noticed.
    capacities : int or sequence of M int
    exact_fill : bool
        Whether the weights must add up to the capacities exactly.
    copies : None, a number, or (N,) array
        How often each item can be taken, the same for all or one number for each: an integer, or
        ``math.inf`` for as often as it fits, as in ``scipy.optimize.Bounds``. None is once.
    least_items, most_items : int or None
        Limits of the number of items taken; each copy counts. If no choice is within the limits,
        the status of the solution is infeasible.
    first_choice : bool
        Whether to return, of the best choices, the one that ranks first in the order of the
        package. It costs up to three times the time for one capacity without ``exact_fill``;
        otherwise, and on the backend "reference", the first choice is always returned.
    time_limit : float or None
        Seconds after which the best choice so far and its bound are returned. The limit is tested
        about every tenth of a second. Checks of the arguments and the partition at the break item
        always finish, which takes 0.1 s for 10^6 items; so do the first bounds of several
        capacities, exact fills and first choices.
    memory_limit : int or None
        Bytes for tables; None takes half of the free memory.
    backend : {"auto", "cpu", "cuda", "reference"}

    Returns
    -------
    solution : Solution

    Raises
    ------
    ParameterError
        See ``problem.of_items``, for copies and their limits ``units.split``.
    LimitExceeded
        When the backend "reference" needs a table larger than the memory limit.

    Examples
    --------
    >>> import math
    >>> from mmpcodec.solvers.knapsack import knapsack
    >>> found = knapsack([7, 5, 5], [6, 5, 5], 10)
    >>> found.value, found.items, found.optimal
    (10, (1, 2), True)
    >>> knapsack([11, 11, 3, 4], [[4, 8], [4, 1], [1, 2], [6, 3]], [10, 10]).items
    (0, 1)
    >>> found = knapsack([7, 5, 2], [6, 5, 3], 17, copies=math.inf)
    >>> found.value, found.items, found.counts
    (19, (0, 1), (2, 1))
    >>> knapsack([7, 5, 5], [6, 5, 5], 10, most_items=1).items
    (0,)
    """
    items = checked(profits, weights, capacities)
    limits = CallLimits(time_limit, memory_limit)
    if copies is None and least_items is None and most_items is None:
        return _solve_items([items], exact_fill, first_choice, limits, backend)[0]
    pieces = split(items, copies, least_items, most_items, exact_fill)
    return _solve_pieces([pieces], exact_fill, first_choice, limits, backend)[0]


def knapsack_batch(
    instances: Iterable[tuple[Any, Any, Any]],
    *,
    exact_fill: bool = False,
    copies: Any = None,
    least_items: Any = None,
    most_items: Any = None,
    first_choice: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> list[Solution]:
    """Solve several 0-1 knapsacks, each with its own items and capacities.

    Parameters
    ----------
    instances : sequence of (profits, weights, capacities)
        As in ``knapsack``; numbers of items and of capacities may differ between instances.
    exact_fill : bool
        As in ``knapsack``, for all instances.
    copies, least_items, most_items
        As in ``knapsack``: None or one number for all instances, or a sequence with an entry for
        each instance.
    first_choice : bool
        As in ``knapsack``, for all instances.
    time_limit : float or None
        Seconds for all instances together.
    memory_limit, backend
        As in ``knapsack``, which also lists the errors.

    Returns
    -------
    list of Solution
        One solution for each instance.

    Examples
    --------
    >>> from mmpcodec.solvers.knapsack import knapsack_batch
    >>> [s.value for s in knapsack_batch([([3, 4], [1, 1], 1), ([5], [[2, 2]], [2, 2])])]
    [4, 5]
    """
    listed = _checked(instances, "profits, weights and capacities", 3)
    every = checked_each(listed)
    limits = CallLimits(time_limit, memory_limit)
    if copies is None and least_items is None and most_items is None:
        return _solve_items(every, exact_fill, first_choice, limits, backend)
    pieces = split_each(every, copies, least_items, most_items, exact_fill)
    return _solve_pieces(pieces, exact_fill, first_choice, limits, backend)


def multiple_choice(
    groups: Any,
    capacities: Any,
    *,
    exact_fill: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> Solution:
    """Find one option of each group such that the weights fit and the total profit is largest.

    Parameters
    ----------
    groups : sequence of (profits, weights)
        (K,) and (K,) or (K, M) arrays of integers; K may differ from group to group.
    capacities, exact_fill, time_limit, memory_limit, backend
        As in ``knapsack``, which also lists the errors.

    Returns
    -------
    Solution
        ``items`` has the index of the chosen option of each group.

    Examples
    --------
    >>> from mmpcodec.solvers.knapsack import multiple_choice
    >>> found = multiple_choice([([-22, -16, -1], [1, 2, 8]), ([-25, -3, 0], [4, 6, 7])], 14)
    >>> found.value, found.items
    (-4, (2, 1))
    """
    problem = of_groups(groups, capacities, exact_fill)
    return _solve([problem], False, CallLimits(time_limit, memory_limit), backend)[0]


def multiple_choice_batch(
    instances: Iterable[tuple[Any, Any]],
    *,
    exact_fill: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    backend: str = "auto",
) -> list[Solution]:
    """Solve several multiple-choice knapsacks.

    Parameters
    ----------
    instances : sequence of (groups, capacities)
        As in ``multiple_choice``; sizes and numbers of capacities may differ between instances.
    exact_fill : bool
        As in ``knapsack``, for all instances.
    time_limit : float or None
        Seconds for all instances together.
    memory_limit, backend
        As in ``knapsack``, which also lists the errors.

    Returns
    -------
    list of Solution
        One solution for each instance.
    """
    listed = _checked(instances, "groups and capacities", 2)
    problems = [of_groups(g, c, exact_fill) for g, c in listed]
    return _solve(problems, False, CallLimits(time_limit, memory_limit), backend)


def _checked(instances: Iterable, parts: str, count: int) -> list[Any]:
    """Check that each instance has the right number of parts, and return all instances."""
    try:
        listed = list(instances)
    except TypeError:
        raise ParameterError(f"instances = {instances!r}: must be a sequence") from None
    for index, instance in enumerate(listed):
        if not isinstance(instance, Sequence) or len(instance) != count:
            raise ParameterError(f"instance {index}: must be {parts}")
    return listed


class _Search:
    """The search for one problem of a batch: what is known so far."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.reduced: Reduced | None = None  # None without a reduction
        self.direct = False
        self.good: np.ndarray | None = None  # best known choice of `problem`
        self.known: int | None = None  # profit of some choice of the reduced problem
        self.value: int | None = None
        self.choices: np.ndarray | None = None
        self.bound: int | None = None
        self.path: str | None = None
        self.found: AnyBest | None = None  # answer of a search for any best choice

    @property
    def rest(self) -> Problem:
        """The reduced problem; the problem itself without a reduction."""
        return self.problem if self.reduced is None else self.reduced.problem

    def is_direct(self, operation: Any, memory: int) -> bool:
        """Return whether a table is filled faster than the problem is reduced; keep the answer."""
        # Items of one budget go to lists of states first.
        self.direct = (
            self.rest.items is None
            and self.rest.cells <= operation.DIRECT_CELLS
            and not branches.applies(self.problem)
            and table_fits(self.rest, operation, memory)
        )
        return self.direct

    def whole(self, choices: np.ndarray) -> np.ndarray:
        """Return the choices of the problem, given the choices of the reduced problem."""
        return choices if self.reduced is None else self.reduced.choices(choices)

    def know(self, choices: np.ndarray, value: int) -> None:
        """Record a choice of the reduced problem; ``value`` is its profit or a better one's."""
        whole = self.whole(choices)
        if self.good is None or self.problem.value(whole) > self.problem.value(self.good):
            self.good = whole
        self.known = value if self.known is None else max(value, self.known)

    def settle(self, choices: np.ndarray | None, path: str, value: int | None = None) -> None:
        """Record the best choice of the reduced problem; None if no choice is feasible.

        ``value`` is its profit, if known.
        """
        self.path = path
        if choices is None:
            return
        self.choices = self.whole(choices)
        if value is None or self.reduced is not None:
            value = self.problem.value(self.choices)
        self.value = self.bound = value

    def finish(self, path: str) -> None:
        """Record that the best known choice is the best; no choice is feasible without one."""
        self.path = path
        self.choices = self.good
        self.value = self.bound = None if self.good is None else self.problem.value(self.good)

    def settled(self) -> int:
        """Return the profit of the decisions that the reduction has settled."""
        first = np.zeros(self.rest.stages, np.int64)
        return self.problem.value(self.whole(first)) - self.rest.value(first)

    def run_out(self) -> None:
        """Record the best known or greedy choice and a bound, because time has run out."""
        self.path = "greedy"
        rest = self.rest
        if len(rest.capacities) > 1 and self.good is not None and self.bound is not None:
            # Branch and bound knows better ones, and these take seconds for many items.
            self.choices, self.value = self.good, self.problem.value(self.good)
            self.bound = min(self.bound, self.problem.magnitude)
            return
        relaxation = relax(rest)
        bounds = [self.settled() + relaxation.bound, self.problem.magnitude, self.bound]
        self.bound = min(bound for bound in bounds if bound is not None)
        choices = greedy(rest, relaxation)
        some = [self.good, None if choices is None else self.whole(choices)]
        known = [choices for choices in some if choices is not None]
        if known:
            self.choices = max(known, key=self.problem.value)
            self.value = self.problem.value(self.choices)

    def solution(self, items: bool, seconds: float, backend: str) -> Solution:
        path = self.path
        assert path is not None
        optimal = path != "greedy" or self.value == self.bound is not None
        chosen = np.zeros(0, np.int64) if self.choices is None else self.choices
        indices = chosen.nonzero()[0] if items else chosen
        if items and self.problem.items is not None:
            indices = np.sort(self.problem.items[indices])
        chosen_items = tuple(indices.tolist())
        return Solution(self.value, chosen_items, optimal, self.bound, path, seconds, backend)


def _solve_pieces(
    listed: list[Pieces], exact_fill: bool, first_choice: bool, limits: CallLimits, backend: str
) -> list[Solution]:
    """Solve 0-1 knapsacks of pieces; see ``units``."""
    possible = [pieces.items for pieces in listed if pieces.items is not None]
    found = iter(_solve_items(possible, exact_fill, first_choice, limits, backend))
    name = dispatch.resolved(__package__, backend)
    impossible = Solution(None, (), True, None, "reduction", limits.seconds, name)
    return [
        impossible if pieces.items is None else pieces.solution(next(found)) for pieces in listed
    ]


def _solve_items(
    listed: list[ItemList], exact_fill: bool, first_choice: bool, limits: CallLimits, backend: str
) -> list[Solution]:
    """Solve 0-1 knapsacks, those of one budget by a search for any best choice if that is asked.

    Problems that the search does not finish in time get its choice and bound. Tables fill those
    for which its lists grow too long.
    """
    name = dispatch.resolved(__package__, backend)
    solutions: list[Solution | None] = [None] * len(listed)
    known: dict[int, AnyBest] = {}
    operation = dispatch.module(__package__, name)
    assert operation is not None
    memory = usable_memory(limits.memory, reference)
    if operation.REDUCES and not (exact_fill or first_choice):
        one_budget = [i for i, items in enumerate(listed) if len(items.capacities) == 1]
        some = [listed[i] for i in one_budget]
        answers = best_choices(some, memory, limits.deadline, backend) if some else []
        seconds = limits.seconds
        for index, found in zip(one_budget, answers, strict=True):
            if found.path is None and not is_over(limits.deadline):
                known[index] = found
                continue
            solutions[index] = Solution(
                found.value,
                tuple(np.flatnonzero(found.taken).tolist()),
                found.value == found.bound,
                found.bound,
                found.path or "greedy",
                seconds,
                name,
            )
    left = [index for index, solution in enumerate(solutions) if solution is None]
    if not left:
        return [solution for solution in solutions if solution is not None]
    problems = [listed[index].stages(exact_fill) for index in left]
    rest = _solve(problems, True, limits, backend, [known.get(index) for index in left])
    for index, solution in zip(left, rest, strict=True):
        solutions[index] = solution
    return [solution for solution in solutions if solution is not None]


def _solve(
    problems: list[Problem],
    items: bool,
    limits: CallLimits,
    backend: str,
    known: list[AnyBest | None] | None = None,
) -> list[Solution]:
    deadline = limits.deadline
    name = dispatch.resolved(__package__, backend)
    operation = dispatch.operations(__package__, name)
    memory = usable_memory(limits.memory, operation)
    searches = [_Search(problem) for problem in problems]
    for search, found in zip(searches, known or [], strict=False):
        search.found = found
    if operation.REDUCES:
        large = [s for s in searches if not s.is_direct(operation, memory)]
        for search in large:
            _reduce(search)
        ranked = [search for search in large if search.found is None]
        _try_large(ranked, deadline)
        _try_cores(ranked, usable_memory(limits.memory, reference), operation, memory, deadline)
        for search in large:
            if search.path is None and not search.is_direct(operation, memory):
                _try_branches(search, backend, limits.memory, deadline)
            if search.path is None and not search.is_direct(operation, memory):
                _exclude(search, deadline)
                _try_few(search, deadline)
    left = [search for search in searches if search.path is None]
    of_tables = table_backend(backend, sum(search.rest.cells for search in left))
    if of_tables != name:
        operation = dispatch.operations(__package__, of_tables)
        memory = usable_memory(limits.memory, operation)
    _fill_tables(left, operation, memory, deadline)
    in_tables, seconds = set(left), limits.seconds
    return [
        search.solution(items, seconds, of_tables if search in in_tables else name)
        for search in searches
    ]


def _reduce(search: _Search) -> None:
    search.reduced = reduce(search.problem)
    if search.reduced is None:
        search.settle(None, "reduction")
    elif not search.rest.stages:
        filled = not (search.problem.exact_fill and any(search.rest.capacities))
        search.settle(np.zeros(0, np.int64) if filled else None, "reduction")
    elif search.found is not None:
        search.good = search.found.taken[search.problem.items].astype(np.int64)
        search.known = search.found.value - search.settled()
        search.bound = search.found.bound


def _try_cores(
    searches: list[_Search],
    memory: int,
    operation: Any,
    table_memory: int,
    deadline: float | None,
) -> None:
    chosen = [s for s in searches if s.path is None and core.applies(s.problem, s.rest)]
    if not chosen:
        return
    answers = core.solve([s.rest for s in chosen], memory, operation, table_memory, deadline)
    for search, answer in zip(chosen, answers, strict=True):
        _take_in(search, answer)


def _take_in(search: _Search, answer: core.Answer) -> None:
    """Record the lists' answer."""
    if answer.found:
        search.settle(answer.choices, "core")
        return
    search.know(answer.choices, answer.value)
    if answer.proven:
        search.bound = search.settled() + answer.value


def _try_large(searches: list[_Search], deadline: float | None) -> None:
    """Solve problems too large for a table by short lists or by a choice that meets its bound.

    Without a deadline, the steps, and so the choice, depend only on the problem.
    """
    chosen = [
        s
        for s in searches
        if s.path is None and core.applies(s.problem, s.rest) and counting.applies(s.rest)
    ]
    if not chosen:
        return
    answers = core.solve_short([s.rest for s in chosen], deadline)
    for search, answer in zip(chosen, answers, strict=True):
        _take_in(search, answer)
        if search.path is not None:
            continue
        found = counting.bracket(counting.of_problem(search.rest), deadline)
        if found.value == found.bound:
            search.settle(found.taken.astype(np.int64), "bound")
        else:
            left = int(search.rest.profits[::2].sum())
            search.know(found.taken.astype(np.int64), left + found.value)
            bound = search.settled() + left + found.bound
            search.bound = bound if search.bound is None else min(bound, search.bound)


def _try_branches(
    search: _Search, backend: str, memory_limit: int | None, deadline: float | None
) -> None:
    """Search by branch and bound, until a table is predicted to be faster."""
    if core.applies(search.problem, search.rest) or is_over(deadline):
        return
    if search.problem.exact_fill:  # which bounds exclude few choices of
        _try_few(search, deadline)
        if search.path is not None:
            return
    cells = search.rest.cells
    operation = dispatch.operations(__package__, table_backend(backend, cells))
    if not fits(search.rest, operation, usable_memory(memory_limit, operation)):
        _branch(search, deadline)
    elif branches.applies(search.problem):
        _branch(search, deadline, branches.work(search.problem, cells))


def _branch(search: _Search, deadline: float | None, work: int = branches.MOST_WORK) -> None:
    rest = search.rest
    known = None if search.good is None else search.problem.value(search.good) - search.settled()
    found = branches.solve(rest, known, work, deadline)
    if found.choices is not None:
        search.know(found.choices, rest.value(found.choices))
    if found.proven:
        search.finish("branches")
        return
    assert found.bound is not None
    bound = search.settled() + found.bound
    search.bound = bound if search.bound is None else min(bound, search.bound)


def _exclude(search: _Search, deadline: float | None) -> None:
    if search.problem.exact_fill or not search.rest.stages or is_over(deadline):
        return
    assert search.reduced is not None
    fewer, _, _ = exclude(search.rest, search.known)
    further = reduce(fewer.problem)
    assert further is not None
    search.reduced = search.reduced.then(fewer).then(further)
    if not search.rest.stages:
        search.settle(np.zeros(0, np.int64), "reduction")


def _try_few(search: _Search, deadline: float | None) -> None:
    """Enumerate all choices if there are few."""
    if search.path is None and not is_over(deadline) and enumeration.applies(search.rest):
        search.settle(enumeration.solve(search.rest), "enumeration")


def _fill_tables(
    searches: list[_Search], operation: Any, memory: int, deadline: float | None
) -> None:
    grouped: dict[int, list[_Search]] = {}
    for search in searches:
        problem = search.rest
        # After the deadline, no table is filled, so its size must raise no error.
        if is_over(deadline):
            search.run_out()
            continue
        small = len(searches) > 1 and problem.cells <= operation.SMALL_CELLS
        if small and (search.direct or table_bytes(problem, operation) <= memory):
            grouped.setdefault(len(problem.capacities), []).append(search)
            continue
        if operation.REDUCES and not fits(problem, operation, memory):
            _branch(search, deadline)
            if search.path is None:
                search.run_out()
            continue
        table = Table(problem, operation, memory, deadline)
        try:
            value, choices = table.solve()
        except OutOfTime:
            search.run_out()
            continue
        path = "dense, items by halving" if table.halved else "dense"
        search.settle(None if value is None else choices, path)
    for group in grouped.values():
        for some in _shares(group, operation.LOOK_CELLS) if deadline is not None else [group]:
            if is_over(deadline):
                for search in some:
                    search.run_out()
                continue
            answers = operation.solve_many([search.rest for search in some], memory)
            for search, (value, choices) in zip(some, answers, strict=True):
                search.settle(None if value is None else choices, "dense", value)


def _shares(searches: list[_Search], most: int) -> list[list[_Search]]:
    """Group neighbours up to ``most`` table cells in total; a larger table stays alone."""
    shares: list[list[_Search]] = []
    left = 0
    for search in searches:
        cells = search.rest.cells
        if not shares or cells > left:
            shares.append([])
            left = most
        shares[-1].append(search)
        left -= cells
    return shares
