"""Search for files that this program makes worse than others that it makes of the same picture.

    python scripts/bench/choices.py --pictures CLASS PICTURE... [--pictures ...] --out ROWS
    python scripts/bench/choices.py --table ROWS

CLASS is the class of the pictures after it, for example "text". Of a larger picture only the middle
512x512 pixels are coded. ``--mosaics N`` adds N pictures of four parts of 256x256 pixels, of four
pictures at random. Each is coded by default with the lambdas 4 x 1.26^k up to 432, and with other
presets and lower efforts. The script appends one JSON object for each file to ROWS.

The cost of a file is its squared error and lambda times its bits. A file is worse by the part by
which its cost is above the least cost of all files of its picture, at its own lambda. The output is
a table by class; the files by default that are worse than 1 %, the worst ones first; and those that
are larger and have more error than one of a larger lambda.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.depth import BYTE

SIDE, PART = 512, 256
LAMBDAS = tuple(round(4 * 1.26**k, 2) for k in range(21))
DEFAULT = "default"
OTHERS = ("photo", "text", "mixed", "lossless")
"""Presets of the other files; "lossless" has one file for all lambdas."""
OF_BYTES = ("text", "mixed")
"""Presets that code at most 8 bits."""
BOUND = 0.01

Row = dict[str, Any]


class Job(NamedTuple):
    """A picture, its class, and how it is coded."""

    name: str
    kind: str
    samples: np.ndarray
    depth: int
    preset: str
    effort: int
    lambdas: tuple[float, ...]


def rows_of(job: Job) -> list[Row]:
    """Code a picture with each lambda."""
    found = []
    exact = job.samples.astype(np.int64)
    scale = 4.0 ** (8 - job.depth)  # squared errors of 8 bits
    for lam in job.lambdas:
        options: dict[str, Any] = {} if job.preset == DEFAULT else {"preset": job.preset}
        started = process_time()
        data = mmpcodec.encode(
            job.samples,
            lam,
            depth=job.depth,
            effort=job.effort,
            threads=1,
            backend="cpu",
            **options,
        )
        seconds = process_time() - started
        difference = exact - mmpcodec.decode(data)
        colours = 1 if exact.ndim == 2 else exact.shape[2]
        found.append(
            {
                "picture": job.name,
                "class": job.kind,
                "preset": job.preset,
                "effort": job.effort,
                "lambda": lam,
                "bytes": len(data),
                "error": float((difference**2).sum()) * scale / colours,
                "seconds": round(seconds, 3),
            }
        )
    return found


def middle(samples: np.ndarray, side: int) -> np.ndarray:
    """Return the middle of a picture, without alpha."""
    top, left = ((size - min(size, side)) // 2 for size in samples.shape[:2])
    part = samples[top : top + side, left : left + side]
    if part.ndim == 3 and part.shape[2] in (2, 4):
        part = part[..., :-1]
    return np.ascontiguousarray(part[..., 0] if part.ndim == 3 and part.shape[2] == 1 else part)


def pictures_of(given: Sequence[Sequence[str]], mosaics: int) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, class and picture of each, and then of mosaics in colours of 8 bits."""
    parts = []
    for kind, *paths in given:
        for path in paths:
            found = pictures.read(path)
            samples = middle(found.samples, SIDE)
            yield Path(path).stem, kind, pictures.Picture(samples, found.depth)
            if found.depth == 8 and min(samples.shape[:2]) >= PART:
                own = middle(samples, PART)
                parts.append(own if own.ndim == 3 else np.repeat(own[..., None], 3, 2))
    choices = random.Random(58)
    for number in range(mosaics):
        rows = [np.hstack(choices.sample(parts, 2)) for _ in range(2)]
        yield f"mosaic {number}", "mosaic", pictures.Picture.of(np.vstack(rows))


def jobs_of(args: argparse.Namespace, done: set[tuple[str, str, str, int]]) -> Iterator[Job]:
    """Yield what is not coded yet."""
    ways = [(DEFAULT, effort) for effort in range(args.effort, 0, -1)]
    ways += [(preset, args.effort) for preset in OTHERS]
    for name, kind, picture in pictures_of(args.pictures, args.mosaics):
        for preset, effort in ways:
            deep = picture.depth > BYTE and preset in OF_BYTES
            if (kind, name, preset, effort) not in done and preset not in args.without and not deep:
                lambdas = (0.0,) if preset == "lossless" else LAMBDAS[:: args.step]
                yield Job(name, kind, picture.samples, picture.depth, preset, effort, lambdas)


def worse(rows: Sequence[Row], effort: int) -> Iterator[tuple[float, Row, Row]]:
    """Yield each file by default, by how much it is worse, and the better file."""
    of_picture: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        of_picture[row["class"], row["picture"]].append(row)
    for own in of_picture.values():
        bits, errors = (np.array([row[key] for row in own], float) for key in ("bytes", "error"))
        for row in own:
            if (row["preset"], row["effort"]) == (DEFAULT, effort):
                costs = errors + 8 * row["lambda"] * bits
                best = int(costs.argmin())
                cost = row["error"] + 8 * row["lambda"] * row["bytes"]
                yield cost / max(costs[best], 1) - 1, row, own[best]


def dominated(rows: Sequence[Row], effort: int) -> Iterator[tuple[Row, Row]]:
    """Yield files by default, and ones of a larger lambda that are smaller and better."""
    of_picture: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if (row["preset"], row["effort"]) == (DEFAULT, effort):
            of_picture[row["class"], row["picture"]].append(row)
    for own in of_picture.values():
        for row in own:
            better = [
                one
                for one in own
                if one["lambda"] > row["lambda"]
                and one["bytes"] < row["bytes"]
                and one["error"] < row["error"]
            ]
            if better:
                yield row, min(better, key=lambda one: one["bytes"])


def table(rows: Sequence[Row], effort: int) -> Iterator[str]:
    """Yield the lines of the table."""
    found = sorted(worse(rows, effort), key=lambda each: each[0], reverse=True)
    by_class: dict[str, list[float]] = defaultdict(list)
    for part, row, _ in found:
        by_class[row["class"]].append(part)
    yield "| class | files | above 1 % | above 3 % | worst, % | larger and worse | s a picture |"
    yield "|---|---|---|---|---|---|---|"
    outdone = list(dominated(rows, effort))
    for kind, parts in [("all", [part for part, *_ in found]), *sorted(by_class.items())]:
        own = [row for _, row, _ in found if kind in ("all", row["class"])]
        yield (
            f"| {kind} | {len(parts)} | {sum(part > BOUND for part in parts)} "
            f"| {sum(part > 3 * BOUND for part in parts)} | {100 * max(parts):.1f} "
            f"| {sum(kind in ('all', row['class']) for row, _ in outdone)} "
            f"| {sum(row['seconds'] for row in own) / len(own):.2f} |"
        )
    yield ""
    for part, row, best in found:
        if part > BOUND:
            way = f"{best['preset']}, effort {best['effort']}, lambda {best['lambda']}"
            yield (
                f"{100 * part:5.1f} % {row['class']} {row['picture']} lambda {row['lambda']}: "
                f"{row['bytes']} bytes, error {row['error']:.0f}; {way}: {best['bytes']} bytes, "
                f"error {best['error']:.0f}"
            )
    for row, best in outdone:
        yield (
            f"larger and worse: {row['class']} {row['picture']} lambda {row['lambda']}: "
            f"{row['bytes']} bytes, error {row['error']:.0f}; lambda {best['lambda']}: "
            f"{best['bytes']} bytes, error {best['error']:.0f}"
        )


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file, none if it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main(given: Sequence[str] | None = None) -> None:
    """Code what is not coded yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", nargs="+", action="append", default=[])
    parser.add_argument("--mosaics", type=int, default=0)
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--step", type=int, default=1, help="each how many-th lambda is taken")
    parser.add_argument("--without", nargs="*", default=[], help="presets that are left out")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    args = parser.parse_args(given)
    if args.out is not None:
        known = read_rows(args.out)
        done = {
            tuple(row[key] for key in ("class", "picture", "preset", "effort")) for row in known
        }
        with args.out.open("a") as stream, ProcessPoolExecutor(args.jobs) as pool:
            results: Iterable[list[Row]] = pool.map(rows_of, jobs_of(args, done))
            for rows in results:
                stream.writelines(json.dumps(row) + "\n" for row in rows)
                stream.flush()
    rows = read_rows(args.table or args.out)
    sys.stdout.writelines(line + "\n" for line in table(rows, args.effort))


if __name__ == "__main__":
    main()
