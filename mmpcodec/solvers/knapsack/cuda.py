"""The operations on a CUDA device; see ``sweep.cu`` and ``trace.cu``.

One launch sweeps many stages, or many problems.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec.runtime import cuda, kernels
from mmpcodec.runtime.cuda import attribute
from mmpcodec.solvers.knapsack.bounds import SMALL_PROFITS, peak
from mmpcodec.solvers.knapsack.problem import Problem, decision_bits

REDUCES = True
DIRECT_CELLS = 1 << 33
SMALL_CELLS = 1 << 31
LEAST_STATES = 1 << 17
LOOK_CELLS = 1 << 34
CELLS_A_STATE = 1 << 14

NULL = np.uintp(0)
THREADS = 1024
WARP = 32
COUNTER_STEP = 32
"""Distance between the counters of two teams, in uint32."""
CACHE_SHARE = 2
"""Least ratio of the size of the L2 cache to the size of the rows of all teams."""
EACH = 4
"""States of a thread at a time in a pass of two items."""
LEAST_SHARE = 256
"""States for each block of a team if some stages are not items."""
MAX_INDEX = 1 << 31
"""Number of states from which on their indices take 64 bits."""
ROWS = 3
"""Rows of values that ``solve_many`` reserves for a table."""
SIMILAR = 4
"""Largest ratio of the numbers of states of two problems in one sweep."""

STAGE = np.dtype([("plane", np.int64), ("option", np.int32), ("options", np.int32)])


def value_bytes(problem: Problem) -> int:
    """See the function in ``reference``; 4 if all values fit into 32 bits, else 8."""
    return 4 if peak(problem) < SMALL_PROFITS else 8


def free_bytes() -> int:
    """Return the free memory of the device, in bytes."""
    return cuda.free_bytes()


def start_row(problem: Problem, deadline: float | None = None) -> Any:
    """See the function in ``reference``."""
    import cupy

    row = cupy.zeros(problem.states, _value_type(problem))
    if problem.exact_fill:
        row[1:] = _nothing(row)
    return row


@dataclass(frozen=True)
class Decisions:
    """Decisions of some stages of some problems.

    Parameters
    ----------
    stages : Stages
    words : (W,) uint32 array on the device
        The bit planes of each stage, lowest bit first, with one bit for each state.
    """

    stages: "Stages"
    words: Any


class Stages:
    """Kernel arguments for some stages of problems with equal numbers of budgets.

    Parameters
    ----------
    problems : list of Problem
    first, last : int or None
        Use the stages first to last - 1 of each problem; by default all stages.
    """

    def __init__(self, problems: list[Problem], first: int = 0, last: int | None = None):
        import cupy

        budgets = len(problems[0].capacities)
        ends = [problem.stages if last is None else last for problem in problems]
        states = np.array([problem.states for problem in problems], np.int64)
        shapes = np.array([problem.shape for problem in problems], np.int64)
        wide = int(states.max()) >= MAX_INDEX
        self.value_type = np.dtype(np.int64 if value_bytes(problems[0]) == 8 else np.int32)
        self.index_type = np.dtype(np.uint64 if wide else np.uint32)
        self.defines = (
            f"MMP_VALUE={kernels.c_type(self.value_type)}",
            f"MMP_INDEX={kernels.c_type(self.index_type)}",
            f"MMP_BUDGETS={budgets}",
        )
        counts = np.concatenate([p.options[first:e] for p, e in zip(problems, ends, strict=True)])
        stage_ends = np.cumsum([end - first for end in ends])
        stage_heads = np.concatenate([[0], stage_ends])
        begins = np.cumsum(counts) - counts
        used = [slice(p.starts[first], p.starts[e]) for p, e in zip(problems, ends, strict=True)]
        options = [part.stop - part.start for part in used]
        profits = np.concatenate([p.profits[u] for p, u in zip(problems, used, strict=True)])
        weights = np.concatenate([p.weights[u] for p, u in zip(problems, used, strict=True)])

        packed = np.zeros(len(profits), self._option_type(budgets))
        fits = (weights < np.repeat(shapes, options, axis=0)).all(axis=1)
        strides = np.cumprod(np.insert(shapes[:, :0:-1], 0, 1, axis=1), axis=1)[:, ::-1]
        shifts = (weights * np.repeat(strides, options, axis=0)).sum(axis=1)
        packed["weights"] = weights
        packed["shift"] = np.where(fits, shifts, 0)
        packed["profit"] = np.where(fits, profits, 0)

        planes = np.concatenate([[0], np.cumsum(decision_bits(counts))])
        before = np.repeat(planes[stage_heads[:-1]], np.diff(stage_heads))
        stages = np.zeros(len(counts), STAGE)
        stages["plane"], stages["option"], stages["options"] = planes[:-1] - before, begins, counts

        words = -(-states // WARP)
        sizes = words * np.diff(planes[stage_heads])
        items = (counts == 2) & ~weights[begins].any(axis=1)
        passes = _passes(items, stage_heads)
        tables = np.zeros(len(problems), self._table_type(budgets))
        tables["states"], tables["words"], tables["state"] = states, words, states - 1
        tables["decisions"] = np.cumsum(sizes) - sizes
        tables["sizes"] = shapes
        tables["magics"], tables["shifts"] = _divisors(shapes)
        tables["first_stage"], tables["last_stage"] = stage_heads[:-1], stage_heads[1:]
        tables["first_pass"] = np.searchsorted(passes, stage_heads[:-1])
        tables["last_pass"] = np.searchsorted(passes, stage_heads[1:])

        self.count = len(problems)
        self.total = len(counts)
        self.longest = int(states.max())
        share = EACH * THREADS if items.all() else LEAST_SHARE
        self.teams, self.blocks = _teams(self.count, self.longest, self.value_type.itemsize, share)
        self.passes = len(passes) - 1
        self.decision_words = int(sizes.sum())
        self.exact_fill = problems[0].exact_fill
        self.host_tables = tables
        self.tables = cupy.asarray(tables.view(np.uint8))
        self.arguments = tuple(
            cupy.asarray(part.view(np.uint8)) for part in (passes.astype(np.int32), stages, packed)
        )

    def _option_type(self, budgets: int) -> np.dtype:
        index, value = self.index_type, self.value_type
        fields: list = [("weights", index, (budgets,)), ("shift", index), ("profit", value)]
        return np.dtype(fields, align=True)

    def _table_type(self, budgets: int) -> np.dtype:
        fields: list = [(name, np.int64) for name in ("states", "words", "decisions", "state")]
        fields.append(("sizes", self.index_type, (budgets,)))
        fields += [(name, np.uint32, (budgets,)) for name in ("magics", "shifts")]
        names = "first_pass", "last_pass", "first_stage", "last_stage"
        return np.dtype(fields + [(name, np.int32) for name in names], align=True)

    def sweep(self, before: Any, rows: tuple[Any, Any], decisions: Any, values: Any) -> None:
        """Launch the kernel ``sweep_tables``.

        Parameters
        ----------
        before : (states,) array or None
            Row before the stages; None for the start row of each problem.
        rows : two arrays
            Scratch rows; each array has a row for each team.
        decisions, values : array or None
            Outputs: words of decisions, and the value of the last state of each problem.
        """
        import cupy

        counters = cupy.zeros(self.teams * COUNTER_STEP, np.uint32)
        launch = kernels.function(
            "solvers/knapsack/sweep",
            "sweep_tables",
            cupy.cuda.Device().id,
            self.defines,
            threads=THREADS,
            cooperative=True,
        )
        outputs = [NULL if array is None else array for array in (decisions, values)]
        numbers = np.int32(self.count), np.int32(self.blocks), np.int32(self.exact_fill)
        lines = (NULL if before is None else before), *rows, np.int64(self.longest)
        arguments = (self.tables, *numbers, *self.arguments, *lines, *outputs, counters)
        launch((self.teams * self.blocks,), arguments)

    def trace(self, decisions: Any, values: Any, state: int | None = None) -> np.ndarray:
        """Launch the kernel ``trace_choices`` and wait for it.

        Returns
        -------
        numbers : int64 array
            The choices of all stages, then for each problem the state before its first stage.
        """
        import cupy

        if state is not None:
            self.host_tables["state"] = state
            self.tables.set(self.host_tables.view(np.uint8))
        found = cupy.zeros(self.total + self.count, np.int64)
        device = cupy.cuda.Device().id
        launch = kernels.function(
            "solvers/knapsack/trace", "trace_choices", device, self.defines, threads=WARP
        )
        outputs = (NULL if values is None else values), found, found[self.total :]
        launch((self.count,), (self.tables, *self.arguments[1:], decisions, *outputs))
        return found.get()


def sweep(
    problem: Problem,
    first: int,
    last: int,
    row: Any,
    keep: bool,
    deadline: float | None = None,
) -> tuple[Any, Decisions | None]:
    """See the function in ``reference``."""
    import cupy

    stages = Stages([problem], first, last)
    words = cupy.empty(stages.decision_words, np.uint32) if keep else None
    after = row
    if stages.passes:
        even = cupy.empty_like(row)
        odd = cupy.empty_like(row) if stages.passes > 1 else even
        stages.sweep(row, (even, odd), words, None)
        # The caller tests the deadline between sweeps, so this sweep has to end first.
        cupy.cuda.get_current_stream().synchronize()
        after = even if stages.passes % 2 else odd
    return after, Decisions(stages, words) if keep else None


def trace(
    problem: Problem, first: int, last: int, decisions: Decisions, state: int, choices: np.ndarray
) -> int:
    """See the function in ``reference``."""
    *found, state = decisions.stages.trace(decisions.words, None, state).tolist()
    choices[first:last] = found
    return state


def value_at(row: Any, state: int) -> int | None:
    """See the function in ``reference``."""
    value = int(row[state])
    return None if value < _nothing(row) // 2 else value


def host_row(row: Any) -> tuple[np.ndarray, np.ndarray]:
    """See the function in ``reference``."""
    values = row.get()
    feasible = values >= _nothing(row) // 2
    return np.where(feasible, values, 0).astype(np.int64), feasible


def solve_many(problems: list[Problem], memory: int) -> list[tuple[int | None, np.ndarray]]:
    """See the function in ``reference``."""
    answers: list[Any] = [None] * len(problems)
    sizes = _value_bytes_each(problems)
    kinds = [(size, problem.states) for size, problem in zip(sizes, problems, strict=True)]
    # Number of decision planes of each problem.
    counts = np.concatenate([problem.options for problem in problems])
    planes = np.concatenate([[0], np.cumsum(decision_bits(counts))])
    stage_heads = np.cumsum([0, *(problem.stages for problem in problems)])
    bits = np.diff(planes[stage_heads]).tolist()
    some: list[int] = []
    room = 0
    for place in sorted(range(len(problems)), key=kinds.__getitem__, reverse=True):
        needed = bits[place] * plane_bytes(problems[place])
        itemsize, states = kinds[some[0] if some else place]
        similar = kinds[place][0] == itemsize and kinds[place][1] * SIMILAR >= states
        if some and (needed > room or not similar):
            _solve_similar(problems, some, answers)
            some = []
        if not some:
            room = memory - ROWS * kinds[place][0] * kinds[place][1]
        room -= needed
        some.append(place)
    if some:
        _solve_similar(problems, some, answers)
    return answers


def _value_bytes_each(problems: list[Problem]) -> list[int]:
    """Return ``value_bytes`` of each problem; one pass over all profits tells most of them."""
    counts = [len(problem.profits) for problem in problems]
    if not all(counts):
        return [value_bytes(problem) for problem in problems]
    # Sums of float64 are close enough to tell totals below half of the limit.
    magnitudes = abs(np.concatenate([problem.profits for problem in problems]).astype(np.float64))
    totals = np.add.reduceat(magnitudes, np.cumsum([0, *counts[:-1]]))
    return [
        4 if total < SMALL_PROFITS / 2 else value_bytes(problem)
        for total, problem in zip(totals.tolist(), problems, strict=True)
    ]


def _solve_similar(problems: list[Problem], some: list[int], answers: list) -> None:
    import cupy

    stages = Stages([problems[place] for place in some])
    rows = cupy.empty((2, stages.teams, stages.longest), stages.value_type)
    words = cupy.empty(stages.decision_words, np.uint32)
    values = cupy.empty(stages.count, stages.value_type)
    stages.sweep(None, (rows[0], rows[1]), words, values)
    choices = stages.trace(words, values)
    found = values.get()
    parts = np.split(choices, stages.host_tables["last_stage"])
    nothing = _nothing(found) // 2
    for place, value, part in zip(some, found.tolist(), parts[:-1], strict=True):
        answers[place] = (None if value < nothing else value), part


def plane_bytes(problem: Problem) -> int:
    """See the function in ``reference``; one bit for each state, in whole 32-bit words."""
    return -(-problem.states // WARP) * 4


def _value_type(problem: Problem) -> np.dtype:
    return np.dtype(f"i{value_bytes(problem)}")


def _nothing(row: Any) -> int:
    return -(1 << (8 * row.dtype.itemsize - 2))


def _passes(items: np.ndarray, stage_heads: np.ndarray) -> np.ndarray:
    """Return the first stage of each pass, then the number of stages; two items share a pass."""
    new = np.ones(len(items) + 1, bool)
    new[1:-1] = ~items[1:] | ~items[:-1]
    new[stage_heads] = True
    places = np.arange(len(items) + 1)
    run = np.maximum.accumulate(np.where(new, places, 0))
    return np.flatnonzero((places - run) % 2 == 0)


def _divisors(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return magic numbers and shifts to divide numbers below 2**31 by sizes; see ``table.cuh``."""
    # The kernels divide by larger sizes without magic numbers.
    narrow = np.where(sizes < MAX_INDEX, sizes, 1)
    shifts = np.frexp(narrow - 1.0)[1].astype(np.int64)
    magics = (((1 << shifts) - narrow) << 32) // narrow + 1
    return magics, shifts


def _teams(count: int, states: int, itemsize: int, share: int) -> tuple[int, int]:
    """Return the number of teams and of blocks of each; the rows of all teams stay in the cache.

    A team has at most ceil(states / share) blocks.
    """
    import cupy

    device = cupy.cuda.Device().id
    processors = attribute("MultiProcessorCount", device)
    cached = attribute("L2CacheSize", device) // (CACHE_SHARE * 2 * states * itemsize)
    teams = max(1, min(count, processors, cached))
    blocks = min(processors // teams, math.ceil(states / share))
    return min(count, processors // blocks), blocks
