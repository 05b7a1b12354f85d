"""Each operation on each backend gives the result of the reference, for each input of the table.

    .venv/bin/pytest tests/agreement/test_table.py --bench

With ``--bench`` the run ends with one line for each operation, input and backend: median wall and
processor time in milliseconds, and how many times faster the backend is than the reference.
"""

import time
from functools import lru_cache
from statistics import median

import pytest
from support.operations import LEVELS, OPERATIONS
from support.same import assert_same

RUNS = 5


ROWS = [
    pytest.param(
        *(name, given, backend),
        marks=[pytest.mark.gpu] if backend.startswith("cuda") else [],
        id=f"{name}-{given}-{backend}",
    )
    for name, operation in OPERATIONS.items()
    for given in operation.inputs
    for backend in operation.backends
]


@lru_cache(maxsize=1)
def judged(name, given):
    """Arguments of an input, and the result of the reference."""
    operation = OPERATIONS[name]
    arguments = operation.inputs[given]()
    return arguments, operation.reference(*arguments)


def milliseconds(work, arguments, runs):
    """Median wall and processor time of some runs."""
    times = []
    for _ in range(runs):
        wall, processor = time.perf_counter(), time.process_time()
        work(*arguments)
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return [1000 * median(part) for part in zip(*times, strict=True)]


@pytest.mark.parametrize(("name", "given", "backend"), ROWS)
def test_result_is_that_of_the_reference(name, given, backend, request, record_property):
    arguments, expected = judged(name, given)
    work = OPERATIONS[name].backends[backend]
    assert_same(expected, work(*arguments), f"{name}, {given}, {backend}")
    if request.config.getoption("--bench"):
        wall, processor = milliseconds(work, arguments, RUNS)
        reference, _ = milliseconds(OPERATIONS[name].reference, arguments, 1)
        record_property("bench", [name, given, backend, wall, processor, reference / wall])


def test_generic_level_is_always_there():
    assert LEVELS[-1] == "generic"
