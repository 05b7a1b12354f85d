"""Feed the readers of pictures files that are nearly valid, under limits of memory and time.

    python scripts/fuzz/pictures.py [--inputs N] [--seed S] [--jobs J] [--formats tiff,png]

It needs NumPy and Pillow, and reads the installed package or, with PYTHONPATH=., the checkout.
Inputs whose format needs a package that is missing count as MissingExtra. A finding is printed with
its recipe and its file is kept in --out, once for each cause. ``--recipe "png 1 42"`` tries one.

The exit code is 1 if there are findings.
"""

import argparse
import itertools
import multiprocessing
import multiprocessing.connection
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trial
from makers import FORMATS, made

_AT_ONCE = 100
"""Inputs after which a process reports."""
_STUCK = 60.0
"""Seconds at one input after which a process counts as stuck."""


@dataclass
class Tally:
    """What became of the inputs of a format."""

    inputs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)
    memory: int = 0
    seconds: float = 0.0

    def add(self, recipe: str, outcome: trial.Outcome) -> None:
        """Count an input."""
        self.inputs += 1
        self.kinds[outcome.kind] += 1
        self.memory = max(self.memory, outcome.memory)
        self.seconds = max(self.seconds, outcome.seconds)
        if outcome.finding:
            self.findings.setdefault(outcome.finding, []).append(recipe)

    def join(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        self.inputs += other.inputs
        self.kinds += other.kinds
        self.memory = max(self.memory, other.memory)
        self.seconds = max(self.seconds, other.seconds)
        for cause, recipes in other.findings.items():
            self.findings.setdefault(cause, []).extend(recipes)


def _work(format: str, seed: int, numbers: range, at: Any, pipe: Any) -> None:
    """Try inputs in this process; ``at`` holds the number of the input that is being tried."""
    trial.prepare()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libpng and others print what they find
    _warm(format)
    tally = Tally()
    for number in numbers:
        at.value = number
        recipe = f"{format} {seed} {number}"
        tally.add(recipe, trial.tried(made(recipe), number))
        if tally.inputs == _AT_ONCE:
            pipe.send(tally)
            tally = Tally()
    pipe.send(tally)
    pipe.send(None)


def _warm(format: str) -> None:
    """Let modules be imported before memory is measured."""
    for number in range(40):
        trial.tried(made(f"{format} warm {number}"), number)


class Worker:
    """A process that tries some of the inputs of a format, and is replaced if it dies."""

    def __init__(self, format: str, seed: int, numbers: range):
        self.format = format
        self.seed = seed
        self.numbers = numbers
        self.done = False
        self._start()

    def _start(self) -> None:
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        self.at = multiprocessing.Value("q", self.numbers.start, lock=False)
        self.tried, self.since = -1, 0.0
        arguments = (self.format, self.seed, self.numbers, self.at, other)
        self.process = multiprocessing.Process(target=_work, args=arguments)
        self.process.start()
        other.close()

    def hear(self, tally: Tally) -> None:
        """Add what the process has reported to a tally."""
        try:
            while self.pipe.poll():
                found = self.pipe.recv()
                if found is None:
                    self.done = True
                    self.process.join()
                    return
                tally.join(found)
        except EOFError:
            self.process.join()
            self._died(tally, f"ended with exit code {self.process.exitcode}")
            return
        if self.tried != self.at.value:
            self.tried, self.since = self.at.value, time.monotonic()
        elif time.monotonic() - self.since > _STUCK:
            self.process.kill()
            self.process.join()
            self._died(tally, f"no answer for {_STUCK:.0f} s")

    def _died(self, tally: Tally, why: str) -> None:
        number = self.at.value
        tally.add(f"{self.format} {self.seed} {number}", trial.Outcome("died", why, 0, 0.0))
        self.numbers = range(number + 1, self.numbers.stop)
        self._start()


def fuzzed(format: str, seed: int, count: int, jobs: int) -> Tally:
    """Try ``count`` inputs of a format in ``jobs`` processes."""
    tally = Tally()
    cuts = [count * job // jobs for job in range(jobs + 1)]
    workers = [
        Worker(format, seed, range(start, end))
        for start, end in itertools.pairwise(cuts)
        if start < end
    ]
    while any(not worker.done for worker in workers):
        going = [worker for worker in workers if not worker.done]
        multiprocessing.connection.wait([worker.pipe for worker in going], 1.0)
        for worker in going:
            worker.hear(tally)
    return tally


def shown(format: str, tally: Tally, seconds: float, out: Path) -> None:
    """Print a tally, and keep the first input of each finding."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in tally.kinds.most_common())
    print(
        f"{format}: {tally.inputs} inputs in {seconds:.0f} s, {tally.inputs / seconds:.0f} "
        f"a second; {kinds}; most memory {tally.memory / 2**20:.0f} MiB, "
        f"most time {tally.seconds:.2f} s; {len(tally.findings)} findings",
        flush=True,
    )
    for cause, recipes in sorted(tally.findings.items()):
        path = out / f"{recipes[0].replace(' ', '-')}"
        out.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made(recipes[0]))
        print(f"  {len(recipes)} x {cause}\n    recipe {recipes[0]!r}, file {path}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="inputs of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--out", type=Path, default=Path("build/fuzz/pictures"))
    parser.add_argument("--recipe", help="try one input, for example 'png 1 42'")
    given = parser.parse_args()
    if given.recipe:
        trial.prepare()
        _warm(given.recipe.split()[0])
        for number in range(2):
            print(trial.tried(made(given.recipe), number))
        return
    findings = 0
    for format in given.formats.split(","):
        start = time.monotonic()
        tally = fuzzed(format, given.seed, given.inputs, given.jobs)
        shown(format, tally, time.monotonic() - start, given.out)
        findings += len(tally.findings)
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
