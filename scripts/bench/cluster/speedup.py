"""Measure `mmp encode` of a folder by number of workers, and the time of each picture."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from threading import Event

import numpy as np
from devices import batch_of
from usage import Row, used_by

from mmpcodec import EncodeParams, pictures
from mmpcodec.cli.commands.encode import EncodeFiles
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.progress import Bar
from mmpcodec.cli.work import JobProgress

LEAST, MOST = 256, 512
LAMBDA = 32.0
SOURCES = ("camera.pgm", "page.pgm")
ALONE = "one process"
SPEED_COLUMNS = {
    "way": "`mmp encode FOLDER`",
    "wall_s": "wall seconds",
    "wall_range": "least to most",
    "work_s": "without the start, s",
    "cpu_s": "processor seconds",
    "cpu_range": "least to most",
    "times": "times one process",
}
SETTINGS = {
    "crops, default": ("auto", 2),
    "512x512, default": ("auto", 2),
    "512x512, photo, effort 1": ("photo", 1),
}
"""Preset and effort, by pictures and setting."""
TIME_COLUMNS = {
    "setting": "pictures and setting",
    "pictures": "pictures",
    "mean_s": "mean, s",
    "median_s": "median, s",
    "least_s": "least, s",
    "most_s": "most, s",
}


def make_crops(images: Path, folder: Path, count: int) -> None:
    """Write parts of two pictures with sides from 256 to 512, chosen with a fixed seed."""
    rng = np.random.default_rng(1)
    whole = [pictures.read(images / name) for name in SOURCES]
    folder.mkdir()
    for number in range(count):
        picture = whole[number % len(whole)]
        height, width = (int(side) for side in rng.integers(LEAST, MOST + 1, 2))
        top, left = (
            int(rng.integers(0, side - own + 1))
            for side, own in zip(picture.samples.shape[:2], (height, width), strict=True)
        )
        part = picture.samples[top : top + height, left : left + width]
        pictures.write(pictures.Picture(part, picture.depth), folder / f"{number:04}.pgm")


def make_squares(images: Path, folder: Path, count: int) -> None:
    """Write the pictures of 512x512 samples that `devices.py` encodes."""
    folder.mkdir()
    for number, samples in enumerate(batch_of(sorted(images.glob("*.pgm")), count)):
        pictures.write(pictures.Picture(samples, 8), folder / f"{number:04}.pgm")


def ways(workers: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Return the options of `mmp encode` with threads and with workers, by a name."""
    found: dict[str, tuple[str, ...]] = {ALONE: ("-j", "1", "--threads", "1")}
    for count in workers:
        if count > 1:
            found[f"one process, `-j {count}`"] = ("-j", f"{count}", "--threads", "1")
    for count in workers:
        found[f"`--cluster local --workers {count}`"] = (
            "--cluster",
            "local",
            "--workers",
            f"{count}",
        )
    return found


def speed_rows(folder: Path, workers: Sequence[int], runs: int) -> Iterator[Row]:
    """Run `mmp encode` in each way, the ways one after the other in each run."""
    options_of = ways(workers)
    found: dict[str, list[tuple[float, float, float | None]]] = {way: [] for way in options_of}
    target = folder.with_name("coded")
    for _ in range(runs):
        for way, options in options_of.items():
            arguments = ("encode", str(folder), "-O", str(target), "-f", "-l", f"{LAMBDA:g}")
            used = used_by(["-m", "mmpcodec.cli", *arguments, "--json", *options])
            last = json.loads(used.output.splitlines()[-1])
            work = last["seconds"] if last.get("event") == "end" else None
            found[way].append((used.wall_s, used.cpu_s, work))
    first = median(wall for wall, _, _ in found[ALONE])
    for way, several in found.items():
        walls, cpus, works = zip(*several, strict=True)
        row: Row = {
            "way": way,
            "wall_s": median(walls),
            "wall_range": f"{min(walls):.2f} to {max(walls):.2f}",
            "cpu_s": median(cpus),
            "cpu_range": f"{min(cpus):.2f} to {max(cpus):.2f}",
            "times": first / median(walls),
        }
        if None not in works:
            row["work_s"] = median(works)
        yield row


def seconds_of(folder: Path, setting: str) -> list[float]:
    """Return the processor seconds of each picture: reading, encoding on one thread, writing."""
    preset, effort = SETTINGS[setting]
    params = EncodeParams.from_options(LAMBDA, preset=preset, effort=effort)
    jobs = [
        Job(str(path), str(path.with_suffix(".mmp")), overwrite=True)
        for path in sorted(folder.glob("*.pgm"))
    ]
    work, _ = EncodeFiles(Setting(params, "cpu", 1)).on(jobs)
    progress = JobProgress(Bar(), Event(), lambda _: None)
    work(jobs[0], progress)
    found = []
    for job in jobs:
        started = time.process_time()
        work(job, progress)
        found.append(time.process_time() - started)
    return found


def time_row(setting: str, seconds: Sequence[float]) -> Row:
    """Return the row of a setting."""
    return {
        "setting": setting,
        "pictures": len(seconds),
        "mean_s": sum(seconds) / len(seconds),
        "median_s": median(seconds),
        "least_s": min(seconds),
        "most_s": max(seconds),
    }
