"""Size and time of JPEG files that are kept bit for bit, beside the programs that keep them.

    python scripts/bench/jpeg_files.py FILE... --out ROWS [--program NAME=PATH]...

Keeps each file with each coder, gives it back and compares. Writes
a data file of docs/benchmarks to ROWS, and prints its table as Markdown: for each coder the mean of
its bytes in per cent of the file, over the files that all coders gave back; the mean of the same
over these files with the fewest bytes of all peers; how many files it gave back; and megabytes of
the files in a second of the processor, each way.

lepton is of https://github.com/dropbox/lepton (in one segment, as its smallest output is), packjpg
of https://github.com/packjpg/packJPG, cbrunsli and dbrunsli of https://github.com/google/brunsli,
cjxl and djxl of libjxl. A program is found on PATH, or where ``--program`` says. A coder that lacks
a program is left out, and standard error says so.

Seconds are those of the processor, with one thread: the least of three runs, or one run if it takes
2 s or more. Those of a program include its start, and reading and writing its files; those of
mmpcodec include the comparison of what it has written.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import mmpcodec
from mmpcodec.bench.codecs.base import machine

RUNS = 3
LONG_SECONDS = 2.0
EFFORTS = (1, 2, 6)
MOST_SECONDS = 120.0


@dataclass(frozen=True)
class Program:
    """A peer: command lines of both directions, and the names of what they write.

    ``{0}`` and others in the first words are programs by their names.
    """

    encode: tuple[str, ...]
    coded: str
    decode: tuple[str, ...]
    back: str

    @property
    def names(self) -> set[str]:
        return {self.encode[0], self.decode[0]}


LEPTON = "lepton", "-allowprogressive", "-singlethread", "-maxencodethreads=1"
JXL = "--lossless_jpeg=1", "--num_threads=0", "-e"
PEERS = {
    "Lepton": Program(
        (*LEPTON, "in.jpg", "out.lep"),
        "out.lep",
        ("lepton", "out.lep", "back.jpg"),
        "back.jpg",
    ),
    "packJPG": Program(
        ("packjpg", "-np", "-o", "in.jpg"),
        "in.pjg",
        ("packjpg", "-np", "-o", "back/in.pjg"),
        "back/in.jpg",
    ),
    "brunsli": Program(
        ("cbrunsli", "in.jpg", "out.br"), "out.br", ("dbrunsli", "out.br", "back.jpg"), "back.jpg"
    ),
    "JPEG XL 9": Program(
        ("cjxl", *JXL, "9", "in.jpg", "out.jxl"),
        "out.jxl",
        ("djxl", "--num_threads=0", "out.jxl", "back.jpg"),
        "back.jpg",
    ),
}


@dataclass(frozen=True)
class Kept:
    """What a coder made of a file; no bytes if it refuses the file, or another one came back."""

    bytes: int | None
    encode_seconds: float = 0.0
    decode_seconds: float = 0.0


def timed(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[Any, float]:
    """Return the result of work and its least seconds."""
    best = float("inf")
    for _ in range(RUNS):
        start = clock()
        found = work()
        best = min(best, clock() - start)
        if best > LONG_SECONDS:
            break
    return found, best


def ours(file: bytes, effort: int) -> Kept:
    """Keep a file with mmpcodec."""
    encode = partial(mmpcodec.encode_file, file, 0, effort=effort, threads=1)
    data, encode_seconds = timed(encode, time.process_time)
    back, decode_seconds = timed(partial(mmpcodec.kept_file, data, threads=1), time.process_time)
    return Kept(len(data) if back == file else None, encode_seconds, decode_seconds)


def children() -> float:
    """Return the seconds of the processor that ended programs took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words: tuple[str, ...], programs: Mapping[str, str], folder: Path) -> bool:
    command = [programs[words[0]], *words[1:]]
    pipes: Any = {"stdin": subprocess.DEVNULL, "capture_output": True}
    try:
        return subprocess.run(command, cwd=folder, timeout=MOST_SECONDS, **pipes).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def theirs(file: bytes, peer: Program, programs: Mapping[str, str]) -> Kept:
    """Keep a file with a program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "back").mkdir()
        (folder / "in.jpg").write_bytes(file)
        coded, back = folder / peer.coded, folder / peer.back
        done, encode_seconds = timed(partial(run, peer.encode, programs, folder), children)
        if not done or not coded.exists() or not coded.stat().st_size:
            return Kept(None)
        if back.parent != folder:
            shutil.copy(coded, back.parent)
        done, decode_seconds = timed(partial(run, peer.decode, programs, folder), children)
        same = done and back.exists() and back.read_bytes() == file
        return Kept(coded.stat().st_size if same else None, encode_seconds, decode_seconds)


def by_all(file: bytes, programs: Mapping[str, str]) -> dict[str, Kept]:
    """Keep a file with each coder whose programs are there."""
    found = {f"mmp, effort {effort}": ours(file, effort) for effort in EFFORTS}
    for name, peer in PEERS.items():
        if all(programs[each] for each in peer.names):
            found[name] = theirs(file, peer, programs)
    return found


def rows_of(files: Mapping[str, bytes], kept: Mapping[str, Mapping[str, Kept]]) -> Iterator[Any]:
    """Yield the row of each coder."""
    common = [name for name in files if all(own[name].bytes is not None for own in kept.values())]
    peers = [own for coder, own in kept.items() if not coder.startswith("mmp")]
    for coder, own in kept.items():
        returned = [name for name in files if own[name].bytes is not None]
        size = sum(len(files[name]) for name in returned) / 1e6
        shares = {name: 100 * (own[name].bytes or 0) / len(files[name]) for name in returned}
        row: dict[str, Any] = {"coder": coder, "percent": fmean(shares[name] for name in common)}
        row["returned"] = len(returned)
        row["all_percent"] = fmean(shares.values())
        row["encode_mbs"] = size / sum(own[name].encode_seconds for name in returned)
        row["decode_mbs"] = size / sum(own[name].decode_seconds for name in returned)
        if coder.startswith("mmp") and peers:
            best = {
                name: min(one[name].bytes or len(files[name]) for one in peers) for name in returned
            }
            ratios = [(own[name].bytes or 0) / best[name] for name in returned]
            row["worst_ratio"] = max(ratios)
        yield {name: round(each, 3) if isinstance(each, float) else each
               for name, each in row.items()}  # fmt: skip


COLUMNS = {
    "coder": "coder",
    "percent": "bytes, % of the file, files that all keep",
    "all_percent": "the same, all files that it keeps",
    "returned": "files that come back",
    "worst_ratio": "largest ratio to the best peer of a file",
    "encode_mbs": "MB/s to write",
    "decode_mbs": "MB/s to read",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--commit", default="")
    parser.add_argument("--jobs", type=int, default=1, help="files at once, each in a process")
    given = parser.parse_args()
    named = dict(each.split("=", 1) for each in given.program)
    wanted = {name for peer in PEERS.values() for name in peer.names}
    programs = {name: named.get(name) or shutil.which(name) or "" for name in wanted}
    files = {str(path): path.read_bytes() for path in given.files}
    for name, peer in PEERS.items():
        if missing := sorted(each for each in peer.names if not programs[each]):
            print(f"{name} is left out: no {' and '.join(missing)}", file=sys.stderr)
    kept: dict[str, dict[str, Kept]] = {}
    with ProcessPoolExecutor(given.jobs) as pool:
        found = pool.map(partial(by_all, programs=programs), files.values())
        for number, (name, of_file) in enumerate(zip(files, found, strict=True), 1):
            for coder, own in of_file.items():
                kept.setdefault(coder, {})[name] = own
            print(f"{number} of {len(files)}: {name}", file=sys.stderr)
    rows = list(rows_of(files, kept))
    size = sum(map(len, files.values())) / 1e6
    what = f"JPEG files kept bit for bit: {len(files)} files, {size:.0f} MB"
    head = {
        "run": "jpeg-files",
        "what": what,
        "command": "python scripts/bench/jpeg_files.py FILE... --out ROWS",
        "date": f"{date.today()}",
        "commit": given.commit,
        "hardware": machine(),
        "software": f"mmpcodec {mmpcodec.__version__}",
        "columns": COLUMNS,
    }
    lines = [head, *({"run": "jpeg-files", **row} for row in rows)]
    given.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for row in rows:
        print(" | ".join(str(row.get(name, "")) for name in COLUMNS))


if __name__ == "__main__":
    main()
