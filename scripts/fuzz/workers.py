"""Try many inputs in several processes, and count what became of them.

A process that dies or stops is a finding of the input that it was trying; another one goes on.
"""

import argparse
import multiprocessing
import multiprocessing.connection
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from trial import Outcome

_AT_ONCE = 100
"""Inputs after which a process reports."""
_STUCK = 60.0
"""Seconds at one input after which a process counts as stuck."""

_fork = multiprocessing.get_context("fork")  # a child sees what its parent has changed


class Entry(NamedTuple):
    """What is fuzzed.

    Parameters
    ----------
    prepare : callable
        ``prepare(kind)`` readies a process for inputs of a kind.
    tried : callable
        ``tried(recipe, number)`` makes an input from "KIND SEED NUMBER" and tries it.
    kept : callable
        ``kept(recipe)`` returns the input as bytes.
    """

    prepare: Callable[[str], None]
    tried: Callable[[str, int], Outcome]
    kept: Callable[[str], bytes]


@dataclass
class Tally:
    """What became of the inputs of a kind."""

    inputs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[str]] = field(default_factory=dict)
    memory: int = 0
    seconds: float = 0.0

    def add(self, recipe: str, outcome: Outcome) -> None:
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


def _work(
    entry: Entry, kind: str, seed: int, numbers: range, end: float, at: Any, pipe: Any
) -> None:
    """Try inputs in this process until ``end``; ``at`` holds the number of the one in work."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libpng and others print what they find
    entry.prepare(kind)
    tally = Tally()
    for number in numbers:
        if time.monotonic() > end:
            break
        at.value = number
        recipe = f"{kind} {seed} {number}"
        tally.add(recipe, entry.tried(recipe, number))
        if tally.inputs == _AT_ONCE:
            pipe.send(tally)
            tally = Tally()
    pipe.send(tally)
    pipe.send(None)


class Worker:
    """A process that tries some of the inputs of a kind, and is replaced if it dies."""

    def __init__(self, entry: Entry, kind: str, seed: int, numbers: range, end: float):
        self.arguments = (entry, kind, seed)
        self.numbers = numbers
        self.end = end
        self.done = False
        self._start()

    def _start(self) -> None:
        self.pipe, other = _fork.Pipe(duplex=False)
        self.at = _fork.Value("q", self.numbers.start, lock=False)
        self.tried, self.since = -1, 0.0
        arguments = (*self.arguments, self.numbers, self.end, self.at, other)
        self.process = _fork.Process(target=_work, args=arguments)
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
        _, kind, seed = self.arguments
        tally.add(f"{kind} {seed} {number}", Outcome("died", why, 0, 0.0))
        self.numbers = range(number + self.numbers.step, self.numbers.stop, self.numbers.step)
        self.done = not self.numbers
        if not self.done:
            self._start()


def fuzzed(entry: Entry, kind: str, seed: int, count: int, jobs: int, seconds: float) -> Tally:
    """Try ``count`` inputs of a kind, or those of ``seconds``, in ``jobs`` processes."""
    tally = Tally()
    end = time.monotonic() + seconds
    workers = [
        Worker(entry, kind, seed, numbers, end)
        for job in range(min(jobs, count))
        if (numbers := range(job, count, jobs))
    ]
    while any(not worker.done for worker in workers):
        going = [worker for worker in workers if not worker.done]
        multiprocessing.connection.wait([worker.pipe for worker in going], 1.0)
        for worker in going:
            worker.hear(tally)
    return tally


def shown(entry: Entry, kind: str, tally: Tally, seconds: float, out: Path) -> None:
    """Print a tally, and keep the first input of each finding."""
    kinds = ", ".join(f"{name} {count}" for name, count in tally.kinds.most_common())
    print(
        f"{kind}: {tally.inputs} inputs in {seconds:.0f} s, {tally.inputs / seconds:.0f} "
        f"a second; {kinds}; most memory {tally.memory / 2**20:.0f} MiB, "
        f"most time {tally.seconds:.2f} s; {len(tally.findings)} findings",
        flush=True,
    )
    for cause, recipes in sorted(tally.findings.items()):
        path = out / f"{recipes[0].replace(' ', '-')}"
        out.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.kept(recipes[0]))
        print(f"  {len(recipes)} x {cause}\n    recipe {recipes[0]!r}, file {path}", flush=True)


def main(entry: Entry, kinds: tuple[str, ...], about: str, option: str, out: str) -> None:
    """Read the command line, and fuzz; the exit code is 1 if there are findings.

    Parameters
    ----------
    entry : Entry
        What is fuzzed.
    kinds : tuple of str
        All kinds of inputs.
    about, option, out : str
        What the program does; the option that chooses kinds; the folder of findings.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--inputs", type=int, help="inputs of each kind; default 10000")
    parser.add_argument("--seconds", type=float, help="seconds for all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(f"--{option}", dest="kinds", default=",".join(kinds))
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--recipe", help=f"try one input, for example '{kinds[0]} 1 42'")
    given = parser.parse_args()
    if given.recipe:
        entry.prepare(given.recipe.split()[0])
        for number in range(2):
            print(entry.tried(given.recipe, number))
        return
    chosen = given.kinds.split(",")
    count = given.inputs or (1 << 60 if given.seconds else 10_000)
    most = given.seconds / len(chosen) if given.seconds else float("inf")
    findings = 0
    for kind in chosen:
        start = time.monotonic()
        tally = fuzzed(entry, kind, given.seed, count, given.jobs, most)
        shown(entry, kind, tally, time.monotonic() - start, given.out)
        findings += len(tally.findings)
    sys.exit(findings > 0)
