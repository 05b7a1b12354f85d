"""Wall time of encoding and decoding a large picture on several cores, beside other codecs.

    python scripts/bench/codec/cores.py PICTURE [--megapixels 12] [--threads 1 2 4 16] [--out ROWS]

The RGB picture is mirrored and stacked until it has the megapixels. Every codec codes it at its
usual speed, at the point of its ladder whose PSNR is nearest to that of mmpcodec at lambda 48. A
process for each number of threads is bound to as many processor cores. Wall times are the least of
several runs, from array to bytes and back. JPEG and WebP have one thread. ROWS gets lines for
`docs/benchmarks/data`.
"""

import argparse
import io
import json
import math
import multiprocessing
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import imagecodecs
import numpy as np
import PIL
from PIL import AvifImagePlugin, Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.bench.tables import table

LAMBDA = 48
RUNS = 5
ENOUGH_SECONDS = 3.0

Row = dict[str, Any]


class Peer(NamedTuple):
    """A codec: how it encodes samples at a point and decodes, each with a number of threads."""

    name: str
    encode: Callable[[np.ndarray, int, int], bytes]
    decode: Callable[[bytes, int], np.ndarray]
    ladder: tuple[int, ...]


def by_pillow(format: str, **options: Any) -> Callable[[np.ndarray, int, int], bytes]:
    """Return the encoder of a format of Pillow; the point is its quality."""

    def encode(samples: np.ndarray, point: int, threads: int) -> bytes:
        stream, more = io.BytesIO(), {"max_threads": threads} if format == "AVIF" else {}
        Image.fromarray(samples).save(stream, format, quality=point, **options, **more)
        return stream.getvalue()

    return encode


def opened(data: bytes, threads: int) -> np.ndarray:
    """Decode a file by Pillow."""
    AvifImagePlugin.DEFAULT_MAX_THREADS = threads
    return np.array(Image.open(io.BytesIO(data)))


def jpegxl(samples: np.ndarray, point: int, threads: int) -> bytes:
    """Encode at a distance of tenths."""
    return bytes(
        imagecodecs.jpegxl_encode(samples, distance=point / 10, effort=7, numthreads=threads)
    )


def jpeg2000(samples: np.ndarray, point: int, threads: int) -> bytes:
    """Encode at a PSNR in dB."""
    return bytes(
        imagecodecs.jpeg2k_encode(samples, level=point, codecformat="jp2", numthreads=threads)
    )


PEERS = (
    Peer(
        "mmpcodec",
        lambda samples, point, threads: mmpcodec.encode(samples, point, threads=threads),
        lambda data, threads: mmpcodec.decode(data, threads=threads),
        (LAMBDA,),
    ),
    Peer(
        "AVIF, speed 6",
        by_pillow("AVIF", speed=6, subsampling="4:4:4", advanced={"tune": "psnr"}),
        opened,
        (40, 48, 56, 64, 72, 80),
    ),
    Peer(
        "JPEG XL, effort 7",
        jpegxl,
        lambda data, threads: imagecodecs.jpegxl_decode(data, numthreads=threads),
        (5, 8, 12, 18, 25),
    ),
    Peer(
        "JPEG 2000",
        jpeg2000,
        lambda data, threads: imagecodecs.jpeg2k_decode(data, numthreads=threads),
        (34, 36, 38, 40, 42),
    ),
    Peer("WebP, method 4", by_pillow("WEBP", method=4), opened, (40, 60, 75, 85, 92)),
    Peer("JPEG", by_pillow("JPEG", subsampling=0), opened, (40, 60, 75, 85, 92)),
)


def stacked(path: Path, megapixels: float) -> np.ndarray:
    """Return a picture, mirrored and stacked until it has the megapixels."""
    one = pictures.read(path).without_alpha().samples
    parts = [one]
    while sum(part.shape[0] * part.shape[1] for part in parts) < 1e6 * megapixels:
        parts.append(parts[-1][::-1])
    return np.ascontiguousarray(np.concatenate(parts))


def quality(samples: np.ndarray, shown: np.ndarray) -> float:
    """Return the PSNR in dB."""
    return psnr(samples, shown, white=255) or math.inf


def nearest(found: dict[int, float], aim: float) -> int:
    """Return the point whose PSNR is nearest."""
    return min(found, key=lambda point: abs(found[point] - aim))


def fastest(work: Callable[[], Any]) -> float:
    """Return the least wall time of several runs in seconds."""
    times: list[float] = []
    while len(times) < RUNS and sum(times) < ENOUGH_SECONDS:
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def measured(path: Path, megapixels: float, threads: int) -> list[Row]:
    """Measure all codecs on as many cores as threads."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    samples = stacked(path, megapixels)
    aim: float | None = None
    rows: list[Row] = []
    for peer in PEERS:
        files = {point: peer.encode(samples, point, threads) for point in peer.ladder}
        found = {point: quality(samples, peer.decode(files[point], threads)) for point in files}
        aim = aim or found[LAMBDA]
        point = nearest(found, aim)
        encode_seconds = fastest(partial(peer.encode, samples, point, threads))
        decode_seconds = fastest(partial(peer.decode, files[point], threads))
        rows.append(
            {
                "run": "cores",
                "codec": peer.name,
                "bytes": len(files[point]),
                "psnr_db": round(found[point], 2),
                f"encode_{threads}_s": round(encode_seconds, 3),
                f"decode_{threads}_s": round(decode_seconds, 4),
            }
        )
    return rows


def description(args: argparse.Namespace) -> Row:
    """Return what the rows are: title, columns, command, date, hardware, software."""
    columns = {"codec": "codec", "bytes": "bytes", "psnr_db": "PSNR, dB"}
    for what in ("encode", "decode"):
        columns |= {f"{what}_{n}_s": f"{what}, {n}" for n in args.threads}
    command = ["python", "scripts/bench/codec/cores.py", args.picture.name]
    command += ["--megapixels", f"{args.megapixels:g}", "--threads", *map(str, args.threads)]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    height, width = stacked(args.picture, args.megapixels).shape[:2]
    return {
        "run": "cores",
        "what": f"Wall time of {width}x{height} pixels in seconds, by number of threads",
        "columns": columns,
        "command": shlex.join(command),
        "date": str(date.today()),
        "commit": commit.stdout.strip(),
        "hardware": machine(),
        "software": f"pillow {PIL.__version__}, imagecodecs {imagecodecs.__version__}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--megapixels", type=float, default=12)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 16])
    parser.add_argument("--out", type=Path, help="append the rows to this file of JSON lines")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    rows: dict[str, Row] = {}
    for threads in args.threads:
        with context.Pool(1) as pool:
            for row in pool.apply(measured, (args.picture, args.megapixels, threads)):
                rows.setdefault(row["codec"], row).update(row)
    about = description(args)
    if args.out:
        with args.out.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in (about, *rows.values()))
    head = list(about["columns"].values())
    body = [[str(row[key]) for key in about["columns"]] for row in rows.values()]
    print(f"{about['what']}. {machine()}, {date.today()}\n\n{table(head, body)}")


if __name__ == "__main__":
    main()
