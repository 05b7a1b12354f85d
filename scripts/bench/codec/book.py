"""Encode a book of scanned pages, end the run by SIGKILL, go on, and compare the files.

    python scripts/bench/codec/book.py [--pages 40] [--folder DIR] [--kill-after S] [OPTION ...]

The book is a TIFF of A4 at 300 dpi, 2480x3508: half of its pages gray, half of 1 bit. They are
made of ``images/page.pgm``, each with a displacement and noise of its own. Other arguments are
options of ``mmp encode``, by default ``--effort 1 -j 2``. Printed are times, bytes, and the largest
resident memory of the process in each tenth of the run (Linux).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tifffile

from mmpcodec import pictures

HEIGHT, WIDTH = 3508, 2480
ENCODE = (sys.executable, "-P", "-m", "mmpcodec", "encode")


def write_book(path: Path, pages: int) -> None:
    """Write a TIFF of pages, the first half gray."""
    part = pictures.read("images/page.pgm").samples
    times = -(-HEIGHT // part.shape[0]), -(-WIDTH // part.shape[1])
    sheet = np.tile(part, times)[:HEIGHT, :WIDTH]
    random = np.random.default_rng(1)
    with tifffile.TiffWriter(path, bigtiff=True) as stream:
        for number in range(pages):
            page = np.roll(sheet, random.integers(0, 512, 2), (0, 1)).astype(np.int16)
            page += random.normal(0, 2, page.shape).astype(np.int16)
            gray = page.clip(0, 255).astype(np.uint8)
            page_of_1_bit = number >= pages // 2
            samples = gray > 128 if page_of_1_bit else gray
            stream.write(samples, photometric="minisblack", compression="deflate", metadata=None)


def resident(process: int) -> float:
    """Return the resident memory of a process in MB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmRSS")]
    return int(lines[0][1]) / 1024 if lines else 0.0


def run(book: Path, target: Path, options: list[str], seconds: float | None) -> str:
    """Encode the book, or end the run after some seconds; print what it took."""
    started, memory = time.monotonic(), []
    command = [*ENCODE, str(book), "-o", str(target), "--json", *options]
    with tempfile.TemporaryFile("w+") as out:  # a pipe would fill up
        child = subprocess.Popen(command, stdout=out)
        while child.poll() is None:
            memory.append(resident(child.pid))
            if seconds is not None and time.monotonic() - started > seconds:
                child.kill()
            time.sleep(0.05)
        took = time.monotonic() - started
        out.seek(0)
        facts = out.read()
    tenths = [max(part) for part in np.array_split(memory, 10) if len(part)]
    print(f"{took:.1f} s, most MB in each tenth: {', '.join(f'{each:.0f}' for each in tenths)}")
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--kill-after", type=float, help="by default half of the first run's time")
    parsed, options = parser.parse_known_args()
    options = options or ["--effort", "1", "-j", "2"]
    with tempfile.TemporaryDirectory() as made:
        folder = parsed.folder or Path(made)
        book, whole, again = (folder / name for name in ("book.tif", "whole.mmp", "again.mmp"))
        if not book.exists():
            write_book(book, parsed.pages)
        started = time.monotonic()
        facts = json.loads(run(book, whole, options, None))
        seconds = parsed.kill_after or (time.monotonic() - started) / 2
        print(f"{facts['pictures']} pages, {facts['input_bytes']} -> {facts['output_bytes']} bytes")
        run(book, again, options, seconds)
        resumed = json.loads(run(book, again, options, None))["resumed"]
        equal = whole.read_bytes() == again.read_bytes()
        print(f"ended after {seconds:.0f} s; {resumed} pages stayed; equal bytes: {equal}")


if __name__ == "__main__":
    main()
