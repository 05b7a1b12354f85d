"""Encode a book of scanned pages in runs that SIGKILL ends, and compare with undisturbed ones.

    python scripts/bench/codec/book.py --folder DIR [--pages 1000] [--seconds 570] [OPTION ...]

The book is a TIFF of A4 at 300 dpi, or of ``--size``: half of its pages gray, half of 1 bit. They
are made of ``images/page.pgm``, each with a displacement and noise of its own. Other arguments are
options of ``mmp encode``, by default ``--effort 1 -j 2``.

A call ends after ``--seconds``, and the next one with the same folder goes on: it makes the book,
encodes it in runs that are killed after ``--kill-after`` seconds, encodes some pages alone, and
encodes as many pages as the time allows to an undisturbed book. Printed are, for each run and all
of them, the seconds of all cores, the largest resident memory of all processes together (Linux),
the pages that a killed run has kept, and whether the bytes of the pages, and of the whole files
if the undisturbed book has all pages, are equal.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tifffile

from mmpcodec import pictures
from mmpcodec.cli.inputs.pages import text_of
from mmpcodec.opening.contents import contents_of
from mmpcodec.pictures.books.resuming import begun_in
from mmpcodec.runtime.files import FileBytes

ENCODE = (sys.executable, "-P", "-m", "mmpcodec", "encode")
STRIP_ROWS = 256
USUAL_OPTIONS = ("--effort", "1", "-j", "2")
LEAST_SECONDS = 10
"""Time for a run that is worth to be started."""
MARGIN = 1.3
"""How much longer an undisturbed page may take than the mean of the killed runs."""


def write_book(path: Path, pages: int, width: int, height: int) -> None:
    """Write a TIFF of pages, the first half gray."""
    part = pictures.read("images/page.pgm").samples
    times = -(-height // part.shape[0]), -(-width // part.shape[1])
    sheet = np.tile(part, times)[:height, :width].astype(np.int16)
    noise = np.random.default_rng(1).normal(0, 2, sheet.shape).astype(np.int16)
    unfinished = path.with_suffix(".unfinished")
    with tifffile.TiffWriter(unfinished, bigtiff=True) as stream:
        for number in range(pages):
            random = np.random.default_rng(number)
            moved = (np.roll(plane, random.integers(0, 512, 2), (0, 1)) for plane in (sheet, noise))
            gray = sum(moved).clip(0, 255).astype(np.uint8)  # type: ignore[union-attr]
            stream.write(
                gray > 128 if number >= pages // 2 else gray,
                photometric="minisblack",
                compression="deflate",
                compressionargs={"level": 1},
                rowsperstrip=STRIP_ROWS,
                maxworkers=os.cpu_count(),
                metadata=None,
            )
    unfinished.rename(path)


def tree_of(process: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [process]
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        found += [each for child in children.read_text().split() for each in tree_of(int(child))]
    return found


def resident(process: int) -> float:
    """Return the resident memory of a process and its descendants in MB; 0 if it has ended."""
    try:
        pages = [Path(f"/proc/{one}/statm").read_text().split()[1] for one in tree_of(process)]
    except (OSError, IndexError):
        return 0.0
    return sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass
class Run:
    """What a run took: seconds, seconds of all cores, most MB of all processes in each tenth."""

    seconds: float
    core_seconds: float
    memory: list[float]
    killed: bool
    first: int = 0
    pages: int = 0

    def text(self) -> str:
        """Return it in words."""
        new = self.pages - self.first
        each = f" ({self.core_seconds / new:.1f} a page)" if new else ""
        memory = ", ".join(f"{each:.0f}" for each in self.memory)
        kept = f"killed, {self.pages} pages kept" if self.killed else f"{self.pages} pages, whole"
        return (
            f"behind page {self.first}: {self.seconds:.1f} s, {self.core_seconds:.0f} s of all "
            f"cores{each}, most MB in each tenth: {memory}; {kept}"
        )


def run(arguments: list[str], seconds: float | None) -> tuple[Run, str]:
    """Encode, and kill the process after some seconds; return what it took and printed."""
    started, memory, killed, status = time.monotonic(), [], False, None
    with tempfile.TemporaryFile("w+") as out:  # a pipe would fill up
        child = subprocess.Popen([*ENCODE, *arguments, "--json"], stdout=out)
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            memory.append(resident(child.pid))
            if seconds is not None and time.monotonic() - started > seconds and not killed:
                child.kill()
                killed = True
            time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - started
        out.seek(0)
        facts = out.read()
    if child.returncode and not killed:
        sys.exit(f"mmp ended with exit code {child.returncode}")
    tenths = [round(max(part), 1) for part in np.array_split(memory, 10) if len(part)]
    return Run(took, usage.ru_utime + usage.ru_stime, tenths, child.returncode != 0), facts


class Folder:
    """The files of the calls: the book, and what was made of it.

    Parameters
    ----------
    path : Path
    kind : list
        Pages, size and options, which must be those of the call before.
    """

    def __init__(self, path: Path, kind: list):
        self.path, self.kind, self.runs = path, kind, []
        self.book, self.state = path / "book.tif", path / "runs.json"
        self.target = path / "killed" / "book.mmp"
        self.target.parent.mkdir(parents=True, exist_ok=True)
        if self.state.exists():
            state = json.loads(self.state.read_text())
            if state["kind"] != kind:
                sys.exit(f"{path}: was begun with {state['kind']}; give these, or another folder")
            self.runs = [Run(**one) for one in state["runs"]]

    def add(self, one: Run) -> None:
        """Keep a run for the calls to come."""
        self.runs.append(one)
        facts = {"kind": self.kind, "runs": [asdict(one) for one in self.runs]}
        self.state.write_text(json.dumps(facts))

    def kept(self) -> int:
        """Return how many pages are in the file of a killed run."""
        for part in self.target.parent.glob(".mmp-*.part"):
            with open(part, "rb") as stream:
                return begun_in(FileBytes(stream)).pages
        return 0


def encode_in_runs(folder: Folder, options: list[str], kill_after: float, end: float) -> None:
    """Encode the book in runs that are killed, until it is whole or the call's time is over."""
    while not folder.target.exists() and end - time.monotonic() > LEAST_SECONDS:
        first = folder.kept()
        seconds = min(kill_after, end - time.monotonic())
        one, _ = run([str(folder.book), "-o", str(folder.target), *options], seconds)
        one.first = first
        one.pages = folder.kept() if one.killed else pages_in(folder.target)
        folder.add(one)
        print(one.text(), flush=True)


def pages_in(path: Path) -> int:
    """Return the number of pages of a file."""
    return len(page_bytes(path))


def page_bytes(path: Path) -> list[tuple[tuple[object, ...], int, int]]:
    """Return role and facts, place, and number of bytes of each page of a file."""
    with open(path, "rb") as stream:
        return [
            ((one.role, one.facts), one.place, one.size)
            for one in contents_of(FileBytes(stream)).pictures
        ]


def equal_pages(whole: Path, some: Path, numbers: list[int]) -> int:
    """Return how many pages of a file have the bytes of these pages, from 0, of the whole file."""
    found, expected, equal = page_bytes(some), page_bytes(whole), 0
    with open(some, "rb") as own, open(whole, "rb") as other:
        for page, number in zip(found, numbers, strict=True):
            parts = []
            for stream, (_, place, size) in ((own, page), (other, expected[number])):
                stream.seek(place)
                parts.append(stream.read(size))
            # A file of one page has no index, and so no facts.
            equal += parts[0] == parts[1] and (len(found) == 1 or page[0] == expected[number][0])
    return equal


def spread(pages: int, count: int) -> list[int]:
    """Return numbers from 0 that lie evenly in the book."""
    return sorted({int(place) for place in np.linspace(0, pages - 1, min(count, pages))})


def compare_alone(folder: Folder, pages: int, count: int, options: list[str]) -> None:
    """Encode some pages alone, on a thread each, and compare them with those of the book."""
    numbers = spread(pages, count)
    place = folder.path / "alone"
    shutil.rmtree(place, ignore_errors=True)
    own = [
        str(folder.book),
        "--pages",
        text_of([number + 1 for number in numbers]),
        "--split",
        "-O",
        str(place),
        *options,
    ]
    run([*own, "-j", str(os.cpu_count()), "--threads", "1"], None)
    files = sorted(place.iterdir())
    equal = sum(
        equal_pages(folder.target, path, [number])
        for path, number in zip(files, numbers, strict=True)
    )
    print(f"pages alone: {equal} of {len(numbers)} have equal bytes", flush=True)


def compare_undisturbed(folder: Folder, pages: int, options: list[str], end: float) -> None:
    """Encode as many pages as the time allows without a break, and compare the files."""
    each = MARGIN * sum(one.seconds for one in folder.runs) / pages
    count = min(int((end - time.monotonic()) / each), pages)
    if count < 2:
        print(f"an undisturbed book of 2 pages takes {2 * each:.0f} s: call again")
        return
    numbers = spread(pages, count)
    target = folder.path / "undisturbed" / "book.mmp"
    shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir()
    some = [] if count == pages else ["--pages", text_of([number + 1 for number in numbers])]
    one, _ = run([str(folder.book), *some, "-o", str(target), *options], None)
    one.pages = len(numbers)
    print(f"undisturbed, {one.text()}")
    equal = equal_pages(folder.target, target, numbers)
    print(f"undisturbed: {equal} of {len(numbers)} pages have equal bytes")
    if count == pages:
        same = folder.target.read_bytes() == target.read_bytes()
        print(f"undisturbed: equal bytes of the whole files: {same}")


def summary(folder: Folder, pages: int) -> str:
    """Return what all runs took together."""
    runs = folder.runs
    cores, kills = sum(one.core_seconds for one in runs), sum(one.killed for one in runs)
    return (
        f"{runs[-1].pages if runs else 0} of {pages} pages in {len(runs)} runs, {kills} killed: "
        f"{sum(one.seconds for one in runs):.0f} s, {cores / max(runs[-1].pages, 1):.1f} s of all "
        f"cores a page, most MB {max(max(one.memory) for one in runs):.0f}"
    )


def main() -> None:
    end = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--size", default="2480x3508", help="width x height of a page")
    parser.add_argument("--seconds", type=float, default=570, help="of this call")
    parser.add_argument("--kill-after", type=float, default=150, help="seconds of a run")
    parser.add_argument("--alone", type=int, default=8, help="pages that are encoded alone")
    parsed, options = parser.parse_known_args()
    options, end = options or list(USUAL_OPTIONS), end + parsed.seconds
    folder = Folder(parsed.folder, [parsed.pages, parsed.size, options])
    if not folder.book.exists():
        started = time.monotonic()
        write_book(folder.book, parsed.pages, *map(int, parsed.size.split("x")))
        size = folder.book.stat().st_size / 1e6
        print(
            f"the book, {size:.0f} MB, was made in {time.monotonic() - started:.0f} s", flush=True
        )
    encode_in_runs(folder, options, parsed.kill_after, end)
    print(summary(folder, parsed.pages), flush=True)
    if not folder.target.exists() or end - time.monotonic() < parsed.seconds / 4:
        print("the pages are not compared yet: call again")
        return
    compare_alone(folder, parsed.pages, parsed.alone, options)
    compare_undisturbed(folder, parsed.pages, options, end)


if __name__ == "__main__":
    main()
