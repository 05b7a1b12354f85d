"""Measure how `mmp encode --cluster` scales, and compute how many workers one client serves.

    python scripts/bench/cluster/scale.py tasks [--workers 1,2,4] [--runs 3]
    python scripts/bench/cluster/scale.py folder [--files 100000]
    python scripts/bench/cluster/scale.py speedup [--pictures 96] [--workers 1,2] [--runs 5]
    python scripts/bench/cluster/scale.py codecs [--pictures 8]
    python scripts/bench/cluster/scale.py devices [--pictures 256] [--runs 3]
    python scripts/bench/cluster/scale.py limits

`tasks` sends work that does nothing through the cluster of `mmp encode`: processor seconds of
scheduler, client and workers. `folder` measures the client for a large folder. `speedup` encodes
parts of the pictures of `images` with workers and without Dask. `codecs` measures AVIF beside
mmpcodec, `devices` a CUDA device. `limits` needs the rows of `tasks`, `speedup` and `devices`.
Each replaces its runs in FILE, by default docs/benchmarks/data/scale.jsonl (`--out FILE`);
`make bench-pages` writes the tables.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import beside
import forecast
import overhead
import speedup
from usage import DATA, ROOT, Row, described, keep, rows_of

IMAGES = ROOT / "images"
Runs = Iterator[tuple[Row, Sequence[Row]]]
"""Descriptions of runs, and their rows."""


def counts(text: str) -> list[int]:
    """Read numbers that commas separate."""
    return [int(count) for count in text.split(",")]


def tasks(args: argparse.Namespace, command: str) -> Runs:
    """Measure the costs of a task."""
    what = (
        "Processor time of a task without encoding, of each process, and wall time of the run; "
        f"medians of {args.runs} runs"
    )
    rows = list(overhead.task_rows(counts(args.workers), args.runs))
    yield described("scale-tasks", what, command, overhead.TASK_COLUMNS), rows


def folder(args: argparse.Namespace, command: str) -> Runs:
    """Measure the client for a large folder."""
    what = (
        "The client for a folder of files of one byte, without encoding, with a manifest, "
        f"{overhead.FOLDER_BATCH} pictures a task"
    )
    rows = list(overhead.folder_rows(args.files))
    yield described("scale-folder", what, command, overhead.FOLDER_COLUMNS), rows


def encoding(args: argparse.Namespace, command: str) -> Runs:
    """Measure the encoding of folders, and of each picture."""
    with tempfile.TemporaryDirectory() as place:
        crops, squares = Path(place, "crops"), Path(place, "squares")
        speedup.make_crops(IMAGES, crops, args.pictures)
        speedup.make_squares(IMAGES, squares, args.pictures)
        what = (
            "Processor time of pictures, one thread: reading, encoding and writing; lambda "
            f"{speedup.LAMBDA:g}"
        )
        rows = [
            speedup.time_row(name, speedup.seconds_of(crops if "crops" in name else squares, name))
            for name in speedup.SETTINGS
        ]
        yield described("scale-times", what, command, speedup.TIME_COLUMNS), rows
        for path in crops.glob("*.mmp"):
            path.unlink()
        rows = list(speedup.speed_rows(crops, counts(args.workers), args.runs))
        what = (
            f"{args.pictures} parts of camera.pgm and page.pgm with sides from {speedup.LEAST} to "
            f"{speedup.MOST}, default preset; medians of {args.runs} runs, in turn"
        )
        yield described("scale-speedup", what, command, speedup.SPEED_COLUMNS), rows


def codecs(args: argparse.Namespace, command: str) -> Runs:
    """Measure AVIF beside mmpcodec."""
    what = (
        f"Encoding on one core, {args.pictures} pictures of 512x512 pixels, gray; mmpcodec at "
        f"lambda {beside.LAMBDA:g}, AVIF at the quality nearest in PSNR to {beside.AIM}"
    )
    rows = list(beside.rows(IMAGES, args.pictures))
    yield described("scale-codecs", what, command, beside.COLUMNS), rows


def limits(args: argparse.Namespace, command: str) -> Runs:
    """Compute the workers at which a process limits, from the measured costs and times."""
    measured = rows_of("scale-tasks", args.out)
    costs = forecast.costs_of(measured)
    most = max(row["workers"] for row in measured)
    what = f"Lines through the measured costs with {most} workers"
    rows = list(forecast.cost_rows(costs))
    yield described("scale-costs", what, command, forecast.COST_COLUMNS), rows
    what = "Number of workers at which the scheduler or the client limits"
    rows = list(forecast.limit_rows(args.out, costs))
    yield described("scale-limits", what, command, forecast.LIMIT_COLUMNS), rows


def on_devices(args: argparse.Namespace, command: str) -> Runs:
    """Measure one CUDA device, in this process and with Dask-CUDA."""
    what = f"One CUDA device and the cores of its host, {args.pictures} pictures of 512x512 pixels"
    rows = list(forecast.device_rows(IMAGES, args.pictures, args.runs))
    device = rows[0].pop("device")
    for row in rows[1:]:
        del row["device"]
    found = described("scale-devices", what, command, forecast.DEVICE_COLUMNS)
    yield {**found, "hardware": f"{device}, {found['hardware']}"}, rows


PARTS: dict[str, tuple[Callable[[argparse.Namespace, str], Runs], dict[str, str | int]]] = {
    "tasks": (tasks, {"workers": "1,2,4", "runs": 3}),
    "folder": (folder, {"files": 100_000}),
    "speedup": (encoding, {"pictures": 96, "workers": "1,2", "runs": 5}),
    "codecs": (codecs, {"pictures": 8}),
    "devices": (on_devices, {"pictures": 256, "runs": 3}),
    "limits": (limits, {}),
}
"""Function and options of each part, with their default values."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    for name, (_, options) in PARTS.items():
        part = parts.add_parser(name)
        part.add_argument("--out", type=Path, default=DATA)
        for option, value in options.items():
            part.add_argument(f"--{option}", type=type(value), default=value)
    args = parser.parse_args()
    run, options = PARTS[args.part]
    given = "".join(f" --{name} {vars(args)[name]}" for name in options)
    command = f"python scripts/bench/cluster/scale.py {args.part}{given}"
    for description, rows in run(args, command):
        keep(description, rows, args.out)
        print(f"{description['what']}: {len(rows)} rows", flush=True)


if __name__ == "__main__":
    main()
