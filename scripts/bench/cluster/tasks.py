"""Plan and send work that does nothing, as `mmp encode FOLDER` does, and say what it cost.

    python scripts/bench/cluster/tasks.py FOLDER --manifest FILE [--address ADDRESS --batch B
        --pictures N --sleep --pids SCHEDULER WORKER...]

FOLDER has files in `in`, and for the cluster a file for each in `out`. Without an address, the work
is only planned. The workers look at both files, as after encoding, and return a result like that of
`mmp encode`; the client prints it and keeps the manifest. `scale.py` starts this program, so that
the client is a process of its own. It prints a JSON object on standard error.
"""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any
from unittest.mock import patch

import psutil  # type: ignore[import-untyped]
from giant import peak
from idle import idle
from usage import processor_seconds

from mmpcodec.cli.cluster.places import Place, spread
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.run import run

WARM_UP = 4
"""Tasks for each worker that are sent first, so that all have imported their modules."""

SLEEP, SLEEPING = 0.05, 60
"""Seconds of a task of sleep, and the number of such tasks."""


def planned(folder: str, place: Place) -> list[Job]:
    """Plan the work of a folder as `mmp encode` does."""
    return plan(
        [os.path.join(folder, "in")],
        PICTURE.without(".mmp")._replace(zarr=True),
        ".mmp",
        out=None,
        folder=os.path.join(folder, "out"),
        existing=Existing.REPLACE,
        resumed=place.resumed,
    )


def loopback_bytes() -> int:
    """Return the bytes that all programs have sent on the loopback interface; 0 without one."""
    found = psutil.net_io_counters(pernic=True).get("lo")
    return found.bytes_sent if found else 0


@contextlib.contextmanager
def gaps() -> Iterator[list[float]]:
    """Collect the wall seconds between a task that the client takes up and its wait for the next.

    In that time the client asks for the result, prints and notes it, and sends another task.
    """
    from distributed import as_completed  # planning does without it

    found: list[float] = []
    taken: list[float] = []
    following = as_completed.__next__

    def timed(self: Any) -> Any:
        if taken:
            found.append(time.perf_counter() - taken.pop())
        future = following(self)
        taken.append(time.perf_counter())
        return future

    with patch.object(as_completed, "__next__", timed):
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--address")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--pictures", type=int, help="number of files to send; by default all")
    parser.add_argument("--sleep", action="store_true", help="then send tasks of sleep as well")
    parser.add_argument("--pids", type=int, nargs="*", default=[])
    args = parser.parse_args()
    work, printer = idle(), Printer()
    at_start = peak(os.getpid())
    with spread("encode", args.address, None, args.batch, args.manifest, work.parameters) as place:
        started = time.process_time()
        jobs = planned(args.folder, place)
        found: dict[str, Any] = {
            "files": len(jobs),
            "to_do": sum(job.to_do for job in jobs),
            "plan_cpu_s": time.process_time() - started,
            "start_mib": at_start,
            "plan_mib": peak(os.getpid()),
        }
        if args.address is not None:
            first = WARM_UP * len(args.pids[1:]) * args.batch
            run(jobs[:first], work, printer, place=place)
            sent, wall, before = loopback_bytes(), time.perf_counter(), time.process_time()
            others = [processor_seconds(pid) for pid in args.pids]
            run(jobs[: args.pictures], work, printer, place=place)
            spent = [processor_seconds(pid) - at for pid, at in zip(args.pids, others, strict=True)]
            found |= {
                "client_cpu_s": time.process_time() - before,
                "wall_s": time.perf_counter() - wall,
                "scheduler_cpu_s": spent[0],
                "workers_cpu_s": sum(spent[1:]),
                "sent_bytes": loopback_bytes() - sent,
                "client_mib": peak(os.getpid()),
            }
        if args.sleep:
            # Workers that sleep leave the processors to client and scheduler.
            asleep = replace(work, sleep=SLEEP / args.batch)
            with gaps() as occupied:
                run(jobs[: SLEEPING * args.batch], asleep, printer, place=place)
            found["occupied_s"] = median(occupied)
    print(json.dumps(found), file=sys.stderr)


if __name__ == "__main__":
    main()
