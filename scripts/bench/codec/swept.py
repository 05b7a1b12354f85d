"""Make the rows of a table of docs/benchmarks from the results of `mmp sweep`.

    python scripts/bench/codec/swept.py --results FOLDER CLASS... --anchor CODEC \\
        --codec HEADING CODEC... --run NAME --what TEXT --command TEXT --into DATA

FOLDER has the results of a sweep, CLASS says in the table what its pictures are, and CODEC is a
codec string of the sweep; --results and --codec can be repeated. The rows have BD-rate and BD-PSNR
of each codec against the anchor, as `mmp report` computes them. They replace the run NAME in DATA,
a file of docs/benchmarks/data. `make bench-pages` then writes the table.
"""

import argparse
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mmpcodec.bench.curves import PictureCurves, by_kind, grouped
from mmpcodec.bench.results import Results
from mmpcodec.bench.tables import deltas

Row = dict[str, Any]


def key_of(heading: str) -> str:
    """Return the beginning of the keys of a codec's columns.

    Examples
    --------
    >>> key_of("AVIF, 4:2:0")
    'bd_avif_4_2_0'
    """
    return "bd_" + re.sub("[^a-z0-9]+", "_", heading.lower()).strip("_")


def rows_of(
    pictures: Sequence[PictureCurves], anchor: str, codecs: Sequence[tuple[str, str]]
) -> Iterator[Row]:
    """Yield a row for each picture, sorted by name, with the deltas of each codec."""
    found = deltas(pictures, anchor, "psnr")
    for place, picture in sorted(enumerate(pictures), key=lambda pair: pair[1].name):
        row: Row = {"picture": Path(picture.name).stem}
        for heading, codec in codecs:
            own = found[codec][place]
            for key, value in (("percent", own.rate), ("db", own.quality)):
                if value is not None:
                    row[f"{key_of(heading)}_{key}"] = round(value, 4)
        yield row


def description(args: argparse.Namespace, rows: Sequence[Row]) -> Row:
    """Return the description of the run: its columns, and date and software of the results."""
    names = {args.anchor, *(codec for _, codec in args.codec)}
    versions: dict[str, str] = {}
    for row in rows:
        if row["codec"] in names:
            versions |= row["versions"]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    columns = {f"{key_of(heading)}_percent": f"{heading}, %" for heading, _ in args.codec}
    return {
        "run": args.run,
        "what": args.what,
        "group": "class",
        "command": args.command,
        "date": max(row["time"] for row in rows)[:10],
        "commit": commit.stdout.strip(),
        "hardware": "rates only, which do not depend on the machine",
        "software": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "columns": {"picture": "picture", **columns},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", action="append", nargs=2, required=True)
    parser.add_argument("--anchor", required=True, metavar="CODEC")
    parser.add_argument("--codec", action="append", nargs=2, required=True)
    for name in ("--run", "--what", "--command"):
        parser.add_argument(name, required=True, metavar="TEXT")
    parser.add_argument("--into", type=Path, required=True, metavar="DATA")
    args = parser.parse_args()
    measured: list[Row] = []
    made: list[Row] = []
    for folder, group in args.results:
        rows = Results(folder).rows()
        kinds = by_kind(grouped(rows))
        if len(kinds) > 1:
            raise SystemExit(f"{folder}: holds {', '.join(kinds)}; must be of one kind")
        measured += rows
        for pictures in kinds.values():
            own = rows_of(pictures, args.anchor, args.codec)
            made += [{"run": args.run, "class": group, **row} for row in own]
    made.insert(0, description(args, measured))
    lines = args.into.read_text().splitlines()
    place = next((k for k, line in enumerate(lines) if _run(line) == args.run), len(lines))
    kept = [line for line in lines if _run(line) != args.run]
    kept[place:place] = map(json.dumps, made)
    args.into.write_text("".join(f"{line}\n" for line in kept))


def _run(line: str) -> str:
    return json.loads(line)["run"]


if __name__ == "__main__":
    main()
