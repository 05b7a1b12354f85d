"""Write the tables of docs/benchmarks and the summary table of README.md from the data files.

    python scripts/bench/pages.py

A table stands between the comments `<!-- table: NAME -->` and `<!-- end -->`; the text around it is
written by hand. NAME is a run of docs/benchmarks/data, a run and the word `means` for the means of
its groups, or one of the tables that TABLES computes.

Each line of a data file describes a run or is a row of a run; `run` is the name of the run in both.
A description has `what`, `command`, `date`, `hardware`, `software` and `columns`, the headings of
the keys to show. A run with `group` has a mean for each value of that key. A key ends in the unit
of its numbers.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from mmpcodec.bench.curves import delta, grouped, mean_delta
from mmpcodec.bench.tables import table
from mmpcodec.depth import BYTE
from mmpcodec.samples import Form

ROOT = Path(__file__).resolve().parents[2]

Row = dict[str, Any]
Runs = dict[str, tuple[Row, list[Row]]]
"""Description and rows of each run, by the name of the run."""

_PLACE = re.compile(r"(<!-- table: ([a-z0-9 -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read(folder: Path) -> Runs:
    """Read all runs from the data files of a folder."""
    runs: Runs = {}
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            if "command" in row:
                runs[row["run"]] = (row, [])
            else:
                runs[row["run"]][1].append(row)
    return runs


def pages() -> list[Path]:
    """Return the pages that may contain tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs/benchmarks").glob("*.md"))]


def filled(path: Path, runs: Runs) -> str:
    """Return the text of a page with its tables made from the data.

    Tables of docs/benchmarks name hardware, software, date, commit and command of the measurement.
    """
    brief = path.name == "README.md" and path.parent == ROOT
    return _PLACE.sub(
        lambda found: f"{found[1]}\n{made(found[2], runs, brief=brief)}\n\n{found[3]}",
        path.read_text(),
    )


def made(name: str, runs: Runs, *, brief: bool = False) -> str:
    """Return a table below a line that says what was measured and, unless ``brief``, how."""
    base, _, means = name.partition(" ")
    run, rows = runs[base]
    what = run["what"]
    if name in TABLES:
        what, compute = TABLES[name]
        text = compute(rows)
    elif means:
        columns = {run["group"]: run["group"], "count": "pictures", **_numeric(run, rows)}
        text = _table(columns, list(_means(run, rows)))
    else:
        text = _table(run["columns"], list(_with_means(run, rows)))
    if brief:
        return f"{what}.\n\n{text}"
    parts = [run[key] for key in ("hardware", "software", "date") if key in run]
    where = "; ".join([*parts, f"commit {run['commit']}"] if "commit" in run else parts)
    commands = ", then ".join(f"`{command}`" for command in run["command"].split("; "))
    return f"{what}. Measured by {commands} ({where}).\n\n{text}"


def _table(columns: dict[str, str], rows: Sequence[Row]) -> str:
    return table(
        list(columns.values()), [[cell(key, row.get(key)) for key in columns] for row in rows]
    )


def _numeric(run: Row, rows: Sequence[Row]) -> dict[str, str]:
    """Return the columns that contain floating-point numbers, of which means are taken."""
    return {
        key: heading
        for key, heading in run["columns"].items()
        if any(isinstance(row.get(key), float) for row in rows)
    }


def _means(run: Row, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the means of each group and of all rows, over the rows that have all numbers."""
    keys = _numeric(run, rows)
    complete = [row for row in rows if all(key in row for key in keys)]
    for name, group in (*_groups(run, complete), ("all", complete)):
        means = {key: fmean(row[key] for row in group) for key in keys}
        yield {run["group"]: name, "count": len(group), **means}


def _groups(run: Row, rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for name, group in groupby(rows, key=lambda row: row[run["group"]]):
        yield name, list(group)


def _with_means(run: Row, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows, and after each group its means, with the group's name in the first column."""
    if "group" not in run:
        yield from rows
        return
    means = {row[run["group"]]: row for row in _means(run, rows)}
    first = next(iter(run["columns"]))
    for name, group in _groups(run, rows):
        yield from group
        yield {**means[name], first: f"**{name}, mean of {means[name]['count']}**"}


def cell(key: str, value: Any) -> str:
    """Return a value as text; the unit at the end of ``key`` sets the decimals of floats."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    sign = "+" if key.startswith(("bd_", "more_", "gain_")) else ""
    if key.endswith("_percent"):
        return f"{value:{sign}.1f}"
    if key.endswith("_db"):
        return f"{value:{sign}.2f}"
    return significant(value)


def significant(value: float, digits: int = 3) -> str:
    """Return a number from 0 up with ``digits`` significant digits, without trailing zeros."""
    places = digits - 1 - math.floor(math.log10(value)) if value else 0
    text = f"{round(value, places):,.{max(0, places)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def by(key: str, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by the value of a key, in the order of first appearance."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def per_megapixel(key: str, rows: Sequence[Row]) -> float:
    """Return the sum of a key of some rows, divided by their megapixels."""
    pixels = sum(row["width"] * row["height"] for row in rows)
    return 1e6 * sum(row[key] for row in rows) / pixels


def _seconds(key: str, rows: Sequence[Row]) -> str:
    return significant(per_megapixel(key, rows), 2)


def rate(codec: str, rows: Sequence[Row]) -> float | None:
    """Return the mean rate of a codec at equal PSNR, in per cent of the rate of the first codec.

    None if the ranges of PSNR do not overlap.
    """
    anchor = rows[0]["codec"]
    points = [
        {
            **row,
            "name": row["picture"],
            "psnr": row["psnr_db"],
            "bpp": 8 * row["bytes"] / (row["width"] * row["height"]),
        }
        for row in rows
    ]
    curves = [(each.curve(anchor), each.curve(codec)) for each in grouped(points)]
    found = mean_delta([delta(other, own) for other, own in curves if other and own])
    return None if found.rate is None else 100 + found.rate


def _percent(codec: str, rows: Sequence[Row]) -> str:
    found = rate(codec, rows)
    return "none" if found is None else f"{found:.0f}"


def by_class(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by class, with RGB and other depths in classes of their own.

    A class in which no picture has a curve of the first codec is left out.
    """
    found: dict[str, list[Row]] = {}
    for row in rows:
        kind = "" if row["form"] == Form.GRAY.title else f" in {row['form']}"
        kind += "" if row["depth"] == BYTE else f" of {row['depth']} bits"
        found.setdefault(row["class"] + kind, []).append(row)
    return {name: group for name, group in found.items() if rate(group[0]["codec"], group)}


def _summary(rows: Sequence[Row]) -> str:
    """Return a table of the rate of each codec on each class, and of its times on all pictures."""
    classes = by_class(rows)
    head = [*(f"rate on {name}, %" for name in classes), "encode, s/MP", "decode, s/MP"]
    return table(
        ["codec", *head],
        [
            [
                codec,
                *(_percent(codec, group) for group in classes.values()),
                _seconds("encode_cpu_s", own),
                _seconds("decode_cpu_s", own),
            ]
            for codec, own in by("codec", rows).items()
        ],
    )


def _frontier(rows: Sequence[Row]) -> str:
    """Make the table of the rate and the encoding time of each codec on each class of pictures."""
    classes = by_class(rows)
    head = [text for name in classes for text in (f"{name}, %", "s/MP")]
    body = [
        [
            codec,
            *(
                text
                for group in classes.values()
                for text in (
                    _percent(codec, group),
                    _seconds("encode_cpu_s", by("codec", group)[codec]),
                )
            ),
        ]
        for codec in by("codec", rows)
    ]
    return table(["codec", *head], body)


def _times(key: str, rows: Sequence[Row]) -> str:
    """Return a table of the processor seconds a megapixel of each codec on each picture."""
    body = [
        [codec, *(_seconds(key, files) for files in by("picture", own).values())]
        for codec, own in by("codec", rows).items()
    ]
    return table(["codec", *by("picture", rows)], body)


_SECONDS = "processor seconds a megapixel, one thread"
TABLES: dict[str, tuple[str, Callable[[Sequence[Row]], str]]] = {
    "summary": (
        f"Mean rate of whole files for equal PSNR, where AVIF at speed 0 has 100 %, and {_SECONDS}",
        _summary,
    ),
    "frontier": (
        "Mean rate of whole files for equal PSNR, where AVIF at speed 0 has 100 %, and processor "
        "seconds of encoding a megapixel, one thread, by class of pictures",
        _frontier,
    ),
    "summary encode": (f"Encoding, {_SECONDS}", partial(_times, "encode_cpu_s")),
    "summary decode": (f"Decoding, {_SECONDS}", partial(_times, "decode_cpu_s")),
}
"""Tables that are computed from the rows of a run: title and function, by name."""


def main() -> None:
    runs = read(ROOT / "docs/benchmarks/data")
    for path in pages():
        path.write_text(filled(path, runs))


if __name__ == "__main__":
    main()
