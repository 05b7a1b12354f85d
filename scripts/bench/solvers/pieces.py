"""Measure the exact solvers on Dask arrays, by number of worker processes, beside the thesis.

    python scripts/bench/solvers/pieces.py [--workers 1,2,4,8] [--out FILE]

Each worker has one thread. The array lies in 16 chunks in the memory of the workers before the
clock starts, and the answer is compared with that of the solver in memory. A time is the median of
3 runs after one; times of the thesis are means of 10.

Bytes are counted in one more run. Dask's counters add the sizes of answers and chunks that a worker
sends to another worker or to the caller. The loopback interface counts all bytes between processes:
also graphs, messages of the scheduler, and what other programs send.

The script prints tables. FILE gets the JSON lines of docs/benchmarks/data/pieces.jsonl.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask.array as da
import numpy as np
import psutil  # type: ignore[import-untyped]
from distributed import Client, LocalCluster, wait

from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.tables import table
from mmpcodec.bench.timing import median_ms
from mmpcodec.dask import kth_smallest, max_interval, max_rectangle, rounds
from mmpcodec.runtime.machine import limited_processors
from mmpcodec.solvers import max_sum, selection

CHUNKS = 16
RUNS = 3

SELECTION = {
    20: (102.72, 297.6533, 28.7024, 356.7599, 371.392),
    22: (408.78598, 365.6411, 41.909, 219.35, 397.007),
    24: (1599.39032, 454.5355, 95.1613, 363.595, 971.121),
    26: (6261.39448, 1015.868, 322.1739, 319.1359, 1766.897),
    27: (12597.26318, 1688.6234, 640.9353, 522.0278, 1323.723),
}
"""Table 6.4, by the binary logarithm of the number of values: 1, 32, 64, 128, 256 processes."""
INTERVALS = {
    20: (9.5, 2.87492, 2.28464, 2.20983),
    22: (37.0, 9.15089, 5.47266, 3.78101),
    24: (133.0, 33.78429, 17.8839, 10.44182),
    25: (268.0, 66.89167, 34.4008, 18.41991),
}
"""Table 3.8: 1, 16, 32 and 64 processes."""
RECTANGLES = {
    256: (1849.6825, 15.1679, 8.5535, 5.3154),
    512: (14879.4916, 280.3312, 145.291, 77.4639),
    1024: (125239.8713, 3748.8917, 1896.4386, 966.3708),
    2048: (1038533.5501, 31783.7091, 15835.1481, 8046.7096),
    4096: (8460234.4575, 261292.5225, 130540.967, 65800.121),
}
"""Table 4.3 by the side of the matrix: 1, 16, 32 and 64 processes."""


def noise(number: int, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Return chunk ``number`` of an array, int32 from ``low`` to ``high``."""
    rng = np.random.default_rng(number)
    return rng.integers(low, high, shape, np.int32, endpoint=True)


@dataclass(frozen=True)
class Problem:
    """One kind of array, its solver on Dask arrays and its solver in memory.

    Parameters
    ----------
    run, what : str
        Name and title of the table.
    thesis : mapping of int to tuple of float
        Times of the thesis in ms, by size.
    processes : tuple of int
        Numbers of processes of these times.
    span : tuple of int
        Smallest and largest value.
    solve, judge : callable
        Functions from a Dask array, and from an array in memory, to the answer.
    flat : bool
        Whether a size is the binary logarithm of a length, instead of the side of a square.
    """

    run: str
    what: str
    thesis: Mapping[int, tuple[float, ...]]
    processes: tuple[int, ...]
    span: tuple[int, int]
    solve: Callable[[Any], Any]
    judge: Callable[[Any], Any]
    flat: bool = True

    def shape(self, size: int) -> tuple[int, ...]:
        """Return the shape of one chunk."""
        return ((1 << size) // CHUNKS,) if self.flat else (size // CHUNKS, size)

    def name(self, size: int) -> str:
        """Return the size as it stands in the table."""
        return f"2^{size}" if self.flat else f"{size}x{size}"

    def in_memory(self, size: int) -> np.ndarray:
        """Return the whole array."""
        return np.concatenate([noise(i, self.shape(size), *self.span) for i in range(CHUNKS)])

    def in_pieces(self, size: int, client: Client) -> Any:
        """Return the array as chunks that lie on the workers in turn."""
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        shape = self.shape(size)
        chunks = [
            client.submit(noise, i, shape, *self.span, workers=workers[i % len(workers)])
            for i in range(CHUNKS)
        ]
        wait(chunks)
        return da.concatenate([da.from_delayed(chunk, shape, np.int32) for chunk in chunks])


PROBLEMS = (
    Problem(
        "pieces-selection",
        "k-th smallest of int32 values over the type's range, k a third of their number; the "
        "thesis's times are its table 6.4",
        SELECTION,
        (1, 32, 64, 128, 256),
        (-(1 << 31), (1 << 31) - 1),
        lambda array: kth_smallest(array, array.size // 3),
        lambda values: selection.kth_smallest(values, values.size // 3),
    ),
    Problem(
        "pieces-intervals",
        "Interval of largest sum, int32 values from -100 to 100; the thesis's times are its table "
        "3.8",
        INTERVALS,
        (1, 16, 32, 64),
        (-100, 100),
        max_interval,
        max_sum.max_interval,
    ),
    Problem(
        "pieces-rectangles",
        "Rectangle of largest sum, int32 values from -128 to 127, one task up to 512x512 and 30 "
        "tasks above; the thesis's times are its table 4.3",
        RECTANGLES,
        (1, 16, 32, 64),
        (-128, 127),
        max_rectangle,
        max_sum.max_rectangle,
        flat=False,
    ),
)


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Start worker processes of one thread each."""
    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as started, Client(started) as client:
        yield client


def counted(client: Client, work: Callable[[], Any]) -> tuple[Any, int, dict[str, float | None]]:
    """Return the answer of a function, its number of rounds, and the KiB that were sent.

    ``sent`` are answers and chunks that workers sent. ``messages`` are all messages, or None if the
    system has no interface ``lo``.
    """

    def bytes_sent() -> tuple[int, int | None]:
        totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
        loopback = psutil.net_io_counters(pernic=True).get("lo")
        return sum(totals.values()), loopback.bytes_sent if loopback else None

    before, messages_before = bytes_sent()
    with patch.object(rounds, "ask", side_effect=rounds.ask) as asked:
        answer = work()
    after, messages = bytes_sent()
    kib = None
    if messages is not None and messages_before is not None:
        kib = (messages - messages_before) / 1024
    return answer, asked.call_count, {"sent": (after - before) / 1024, "messages": kib}


def in_memory(problem: Problem, size: int, thesis: tuple[float, ...]) -> tuple[dict[str, Any], Any]:
    """Return the row of a table with the times that need no cluster, and the answer."""
    values = problem.in_memory(size)
    judge = partial(problem.judge, values)
    with limited_processors(1):
        thread = median_ms(judge, RUNS)
    row = {
        "run": problem.run,
        "size": problem.name(size),
        "array_kib": values.nbytes / 1024,
        "thread_ms": thread,
        "memory_ms": median_ms(judge, RUNS),
        **{f"thesis_{p}_ms": ms for p, ms in zip(problem.processes, thesis, strict=True)},
    }
    return row, judge()


def measure(workers: list[int]) -> list[dict[str, Any]]:
    """Return the rows of all tables."""
    cases = [(problem, size) for problem in PROBLEMS for size in problem.thesis]
    found = [in_memory(problem, size, problem.thesis[size]) for problem, size in cases]
    for count in workers:
        with cluster(count) as client:
            for (problem, size), (row, expected) in zip(cases, found, strict=True):
                work = partial(problem.solve, problem.in_pieces(size, client))
                row[f"workers_{count}_ms"] = median_ms(work, RUNS)
                answer, asked, bytes_here = counted(client, work)
                assert answer == expected
                # The search for rectangles is one more graph, in which chunks move.
                row["rounds"] = asked + (not problem.flat)
                row |= {f"{key}_{count}_kib": kib for key, kib in bytes_here.items()}
    return [
        {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
        for row, _ in found
    ]


def tables(rows: list[dict[str, Any]], workers: list[int]) -> Iterator[tuple[dict, list[dict]]]:
    """Yield the description and the rows of each table, as docs/benchmarks/data holds them."""
    names = {n: f"{n} worker{'s' if n > 1 else ''}" for n in workers}
    for problem in PROBLEMS:
        columns = {
            "size": "values" if problem.flat else "matrix",
            **{f"workers_{n}_ms": f"{names[n]}, ms" for n in workers},
            "thread_ms": "in memory, one thread, ms",
            "memory_ms": "in memory, all cores, ms",
            **{
                f"thesis_{p}_ms": f"thesis, {p} process{'es' if p > 1 else ''}, ms"
                for p in problem.processes
            },
        }
        own = [row for row in rows if row["run"] == problem.run]
        kept = ["run", *columns]
        yield (
            {"run": problem.run, "what": problem.what, "columns": columns},
            [{key: row[key] for key in kept} for row in own],
        )
    most = workers[-1]
    columns = {
        "array": "array",
        "rounds": "rounds",
        "array_kib": "its size, KiB",
        **{f"sent_{n}_kib": f"sent by {names[n]}, KiB" for n in workers},
        f"messages_{most}_kib": f"all messages of {names[most]}, KiB",
    }
    yield (
        {"run": "pieces-bytes", "what": "Answers and chunks that workers send", "columns": columns},
        [
            {
                "run": "pieces-bytes",
                "array": f"{row['run'].removeprefix('pieces-')}, {row['size']}",
                **{key: row[key] for key in columns if key != "array"},
            }
            for row in rows
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,2,4,8", help="numbers of workers")
    parser.add_argument("--out", type=Path, help="file for JSON lines")
    args = parser.parse_args()
    workers = [int(count) for count in args.workers.split(",")]
    lines: list[dict[str, Any]] = []
    for run, rows in tables(measure(workers), workers):
        run |= {
            "command": f"python scripts/bench/solvers/pieces.py --workers {args.workers}",
            "date": str(date.today()),
            "hardware": machine(),
            "software": f"Dask {version('dask')}",
        }
        lines += [run, *rows]
        head = run["columns"]
        cells = [[str(row[key]) for key in head] for row in rows]
        print(f"{run['what']} ({run['hardware']}, {run['date']})\n")
        print(f"{table(list(head.values()), cells)}\n")
    if args.out:
        args.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
