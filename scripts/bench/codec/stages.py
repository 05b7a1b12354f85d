"""Where the time of encoding or decoding a picture goes, by stage and by function.

    make profile PICTURE=images/camera.pgm WORK=decode     (or WORK=encode)
    python scripts/bench/codec/stages.py decode PICTURE [-l LAMBDA] [--preset NAME] [--effort N]

One thread repeats the work for some seconds while Linux's ``perf`` takes samples. A stage is the
source file of the innermost function at a sample, so what the compiler inlines counts where it is
written; vector types and the library of C++ count where they are used. Only a module that is built
with lines and symbols names its functions: ``make profile`` builds one. PICTURE may be an mmp file,
which is decoded as it is.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mmpcodec
from mmpcodec import pictures

SAMPLES_PER_SECOND = 5000
SOURCES = "kernels/"
LIBRARY = "library of C++: "
TOOLS = frozenset({"cpu/runtime/simd.h", "shared/host_device.h", "shared/integers.h"})
"""Sources whose time counts for the function that uses them."""
LEAST = 0.005
"""Share of the time from which a stage or a function has a row."""


class Place(NamedTuple):
    """Where a sample was taken."""

    stage: str
    function: str


def work(task: str, path: Path, options: argparse.Namespace) -> Callable[[], Any]:
    """Return the work on a picture as a function."""
    data = path.read_bytes()
    how = {"preset": options.preset, "effort": options.effort, "threads": 1}
    if task == "encode":
        picture = pictures.from_bytes(data, str(path))
        return lambda: mmpcodec.encode(picture.samples, options.lam, depth=picture.depth, **how)
    return lambda: mmpcodec.decode(data, threads=1)


def repeat(run: Callable[[], object], seconds: float) -> None:
    """Run for some processor seconds, at least twice.

    Prints the milliseconds of the fastest run, the number of runs, and when they began and ended.
    """
    times: list[float] = []
    run()
    begun = time.monotonic()
    while len(times) < 2 or sum(times) < seconds:
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    print(1000 * min(times), len(times), begun, time.monotonic())


def recorded(command: list[str], data: Path) -> tuple[float, int, str]:
    """Run a command that calls ``repeat`` under ``perf``.

    Returns
    -------
    milliseconds : float
    runs : int
    times : str
        When the runs began and ended, as ``perf script --time`` takes it.
    """
    perf = shutil.which("perf")
    if perf is None:
        sys.exit("profile: perf is missing; Debian has it in linux-perf, Ubuntu in linux-tools")
    record: list[str] = [perf, "record", "-q", "-e", "cpu-clock:u", "-F", str(SAMPLES_PER_SECOND)]
    record += ["-k", "CLOCK_MONOTONIC"]
    found = subprocess.run(
        [*record, "-o", str(data), "--", *command], capture_output=True, text=True
    )
    if found.returncode:
        sys.exit(f"profile: perf failed: {found.stderr.strip()}")
    milliseconds, runs, *times = found.stdout.split()
    return float(milliseconds), int(runs), ",".join(times)


def samples_of(data: Path, times: str) -> Iterator[tuple[int, str, str]]:
    """Yield the address in its file, the file and the symbol of each sample of these times.

    Start and imports of Python lie before them.
    """
    script = ["perf", "script", "-i", str(data)]
    of_files, of_samples = (
        subprocess.run([*script, *options], capture_output=True, text=True, check=True).stdout
        for options in (
            ["--show-mmap-events", "-F", "ip,sym,dso"],
            ["--time", times, "-F", "ip,sym,dso"],
        )
    )
    starts: dict[str, list[tuple[int, int]]] = {}
    for line in of_files.splitlines():
        if found := re.search(r"\[0x(\w+)\(0x\w+\) @ (0x\w+|0) .*\]: \S+ (\S+)$", line):
            starts.setdefault(found[3], []).append((int(found[1], 16), int(found[2], 0)))
    for line in of_samples.splitlines():
        if found := re.match(r"\s*(\w+) (.*) \((.*)\)$", line):
            address, symbol, file = int(found[1], 16), found[2], found[3]
            below = [each for each in starts.get(file, []) if each[0] <= address]
            start, offset = max(below, default=(0, 0))
            yield address - start + offset, file, symbol


def lines_of(module: str, offsets: list[int]) -> list[Place]:
    """Return the innermost function at places of the compiled module."""
    headers = subprocess.run(["readelf", "-lW", module], capture_output=True, text=True, check=True)
    loaded = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", headers.stdout)
    parts = [tuple(int(number, 16) for number in part) for part in loaded]
    addresses = []
    for place in offsets:
        first, address, _ = next(p for p in parts if p[0] <= place < p[0] + p[2])
        addresses.append(hex(place - first + address))
    asked = ["addr2line", "-aifC", "-e", module]
    lines_found = subprocess.run(
        asked, input="\n".join(addresses), capture_output=True, text=True, check=True
    )
    found: list[Place] = []
    for chain in re.split(r"^0x\w+\n", lines_found.stdout, flags=re.MULTILINE)[1:]:
        lines = chain.splitlines()
        places = [
            Place(_stage(file), _short(name))
            for name, file in zip(lines[::2], lines[1::2], strict=True)
        ]
        found.append(next((place for place in places if _is_own(place)), places[-1]))
    return found


def _is_own(place: Place) -> bool:
    """Return whether a place is a stage, and no tool of all stages."""
    return place.stage not in TOOLS and not place.stage.startswith(LIBRARY)


def _stage(line: str) -> str:
    """Return the source file of a line, from its folder in ``kernels`` on."""
    path = re.sub(r"\s*\(.*", "", line).rpartition(":")[0]
    return path.partition(SOURCES)[2] or f"{LIBRARY}{Path(path).name}"


def _short(function: str) -> str:
    """Return the name of a function without parameters, template arguments and namespaces."""
    name = re.sub(r"\[clone [^]]*\]|\(anonymous namespace\)::|\bmmp::", "", function)
    while (bare := re.sub(r"<[^<>]*>", "", name)) != name:
        name = bare
    words = name.replace("operator()", "lambda").partition("(")[0].split()
    return words[-1] if words else function


def places_of(data: Path, times: str) -> Counter[Place]:
    """Count the samples of some times by place."""
    found: Counter[Place] = Counter()
    inside: Counter[tuple[str, int]] = Counter()
    for offset, file, symbol in samples_of(data, times):
        name = Path(file).name
        if name.startswith("_cpu"):
            inside[file, offset] += 1
        elif name.startswith(("python", "libpython")):
            found[Place("Python", symbol)] += 1
        else:
            found[Place(f"library {name}", symbol)] += 1
    for module in {file for file, _ in inside}:
        offsets = [offset for file, offset in inside if file == module]
        for offset, place in zip(offsets, lines_of(module, offsets), strict=True):
            found[place] += inside[module, offset]
    return found


def table(counts: Counter[str], milliseconds: float) -> str:
    """Return the rows of a table: milliseconds, share and name."""
    total = sum(counts.values())
    rows = [
        f"{milliseconds * count / total:9.2f} ms {100 * count / total:5.1f} %  {name}"
        for name, count in counts.most_common()
        if count >= LEAST * total
    ]
    rest = sum(count for count in counts.values() if count < LEAST * total)
    rows.append(f"{milliseconds * rest / total:9.2f} ms {100 * rest / total:5.1f} %  the rest")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", choices=["decode", "encode"])
    parser.add_argument("picture", type=Path)
    parser.add_argument("-l", "--lam", type=float, default=48)
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4, help="processor time of the samples")
    parser.add_argument("--repeat", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.repeat:
        repeat(work(options.task, options.picture, options), options.seconds)
        return
    with tempfile.TemporaryDirectory() as folder:
        source, given = options.picture, Path(folder, "picture.mmp")
        if options.task == "decode" and source.suffix != ".mmp":
            given.write_bytes(work("encode", source, options)())
            source = given
        data = Path(folder, "perf.data")
        again = [sys.executable, "-P", __file__, options.task, str(source), "--repeat"]
        again += ["-l", str(options.lam), "--preset", options.preset]
        again += ["--effort", str(options.effort), "--seconds", str(options.seconds)]
        milliseconds, runs, times = recorded(again, data)
        places = places_of(data, times)
    title = f"{options.task} {options.picture}, one thread: {milliseconds:.1f} ms, {runs} runs"
    print(f"{title}\n\nBy stage (source file)")
    stages: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for place, count in places.items():
        stages[place.stage] += count
        functions[f"{place.function}, {place.stage}"] += count
    print(table(stages, milliseconds))
    print("\nBy function")
    print(table(functions, milliseconds))


if __name__ == "__main__":
    main()
