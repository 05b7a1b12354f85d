"""Processor seconds and peak memory of processes, and files of rows for docs/benchmarks."""

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]

from mmpcodec.bench.codecs.base import machine

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs/benchmarks/data/scale.jsonl"
Row = dict[str, Any]


def processor_seconds(pid: int) -> float:
    """Return the processor seconds that a running process has taken, with those of the system."""
    used = psutil.Process(pid).cpu_times()
    return used.user + used.system


class Used(NamedTuple):
    """What a program took: wall and processor seconds, peak memory in MiB, and its output.

    Processor seconds are those of the program and of the processes that it has waited for; the
    memory is that of the largest of them.
    """

    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str


MEASURE = """
import json, os, sys, time
started = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawn(sys.executable, sys.argv[1:], os.environ), 0)
found = time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
print(json.dumps([*found, os.waitstatus_to_exitcode(status)]), file=sys.__stderr__)
"""
"""Runs a program and writes what it took as the last line of standard error."""


def used_by(arguments: Sequence[str]) -> Used:
    """Run a program of Python and return what it took.

    ``arguments`` come after `python -P`. A status other than 0 ends this script. A small process
    starts the program: Linux counts the peak memory of the process that starts one as its own.
    """
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(
        [sys.executable, "-I", "-c", MEASURE, *command], capture_output=True, text=True
    )
    remarks, _, measured = done.stderr.rstrip("\n").rpartition("\n")
    wall, cpu, peak, status = json.loads(measured)
    if status:
        raise SystemExit(f"{' '.join(arguments)}: exit {status}: {remarks}")
    return Used(wall, cpu, peak, done.stdout)


def described(run: str, what: str, command: str, columns: dict[str, str], **more: Any) -> Row:
    """Return the description of a run on this machine, as docs/benchmarks/data holds it."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return {
        "run": run,
        "what": what,
        "command": command,
        "date": str(date.today()),
        "hardware": machine(),
        "software": f"Python {sys.version.split()[0]}, Dask {version('distributed')}",
        "commit": commit.stdout.strip(),
        "columns": columns,
        **more,
    }


def rounded(row: Row) -> Row:
    """Return a row with floats of 4 significant digits, also in lists."""

    def short(value: Any) -> Any:
        if isinstance(value, list):
            return [short(one) for one in value]
        return float(f"{value:.4g}") if isinstance(value, float) else value

    return {key: short(value) for key, value in row.items()}


def rows_of(run: str, path: Path = DATA) -> list[Row]:
    """Return the rows of a run in a file, without its description."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in found if row["run"] == run and "command" not in row]


def keep(description: Row, rows: Sequence[Row], path: Path = DATA) -> None:
    """Write a run to a file, in place of the run of the same name; other runs stay."""
    run = description["run"]
    lines = path.read_text().splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["run"] != run]
    kept += [json.dumps(description), *(json.dumps(rounded({"run": run, **row})) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in kept))
