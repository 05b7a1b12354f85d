"""Speed of the codec beside a brute-force search and two common codecs, in one run.

    python scripts/bench/codec/speed.py PICTURE... [-l LAMBDA] [--skip-brute-force]

The script prints Markdown tables. Times are median wall times from array to bytes and back, after a
warm-up; the brute-force search runs once. Peak memory is measured in a separate process. Each other
codec runs at the operating point whose file is nearest in size to the file of the default preset.
"""

import argparse
import math
import subprocess
import sys
import time
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.bench.codecs.base import machine
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.metrics.psnr import psnr
from mmpcodec.bench.timing import median_seconds
from mmpcodec.codec.tile_choice import encode_tiles
from mmpcodec.codec.tile_coding import TileSource
from mmpcodec.format.container import Header, write
from mmpcodec.metadata import Metadata
from mmpcodec.samples import Form


def row(name: str, encode: float, decode: float | None, size: int, picture, decoded) -> str:
    bpp = 8 * size / picture.size
    decode_ms = "" if decode is None else f"{1000 * decode:.1f}"
    quality = psnr(picture, decoded, white=255) or math.inf
    return f"| {name} | {1000 * encode:.1f} | {decode_ms} | {bpp:.4f} | {quality:.2f} |"


def encoded_by(
    backend: CpuBackend, picture: np.ndarray, params: EncodeParams, threads: int
) -> tuple[bytes, np.ndarray]:
    """Encode a picture as one tile with a backend; return the file and its decoded samples."""
    source = TileSource(picture, picture, 8)
    (tile,) = encode_tiles([source], [params], {params.tools: backend}, threads, None)
    height, width = picture.shape
    header = Header(width, height, Form.GRAY, 8, 0, Metadata(), (len(tile.data),))
    return write(header, [tile.data]), tile.samples


def bench_mmp(picture: np.ndarray, lam: float, preset: str, brute_force: bool) -> None:
    params = EncodeParams.from_options(lam, preset=preset)
    levels = CpuBackend.levels()
    for level in levels[: levels.index("generic")] or levels:
        for threads in (1, 2):
            backend = CpuBackend(level)

            def encode(backend=backend, threads=threads):
                return encoded_by(backend, picture, params, threads)

            data, samples = encode()
            seconds = median_seconds(encode)
            decode = median_seconds(partial(mmpcodec.decode, data))
            size = len(data)
            name = f"mmp {preset}, {level}, {threads} thread{'s'[: threads - 1]}"
            print(row(name, seconds, decode, size, picture, samples))
    if brute_force:
        start = time.perf_counter()
        plain, samples = encoded_by(CpuBackend("brute-force"), picture, params, 1)
        seconds = time.perf_counter() - start
        assert plain == data
        print(row(f"mmp {preset}, brute force", seconds, None, size, picture, samples))


def bench_peer(picture: np.ndarray, name: str, ladder: str, target: int) -> None:
    """Print the row of another codec at the operating point with a size nearest to ``target``."""
    (codec,) = peers(f"{name}{ladder}")
    nearest = min(codec.ladder, key=lambda point: abs(len(codec.encode(picture, point)) - target))
    data = codec.encode(picture, nearest)
    encode = median_seconds(partial(codec.encode, picture, nearest), 3)
    decode = median_seconds(partial(codec.decode, data), 3)
    title = f"{codec.name}, {codec.knob} {nearest:g}"
    print(row(title, encode, decode, len(data), picture, codec.decode(data)))


def peak_memory(path: Path, lam: float) -> float:
    """Return the peak resident memory in MiB of a new process that encodes the picture."""
    program = (
        "import sys, mmpcodec; from mmpcodec import pictures;"
        "mmpcodec.encode(pictures.read(sys.argv[1]).samples, lam=float(sys.argv[2]));"
        "print(open('/proc/self/status').read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(lam)],
        capture_output=True,
        check=True,
        text=True,
    )
    # ru_maxrss would include the memory that the parent held before exec.
    (peak,) = (line for line in done.stdout.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=32.0)
    parser.add_argument("--skip-brute-force", action="store_true")
    args = parser.parse_args()
    print(f"{date.today()}, {machine()}, lambda {args.lam:g}")
    for path in args.pictures:
        picture = np.asarray(Image.open(path))
        print(f"\n{path.name}, {picture.shape[1]}x{picture.shape[0]}; ", end="")
        print(f"peak memory {peak_memory(path, args.lam):.0f} MiB\n")
        print("| codec | encode ms | decode ms | bpp | PSNR dB |")
        print("|---|---|---|---|---|")
        size = len(mmpcodec.encode(picture, args.lam))
        bench_mmp(picture, args.lam, "plain", not args.skip_brute_force)
        bench_mmp(picture, args.lam, "classic", False)
        ratios = "/".join(f"{ratio:.2f}" for ratio in np.geomspace(2, 100, 60))
        bench_peer(picture, "jpeg2000", f":ratio={ratios}", size)
        bench_peer(picture, "avif", ":tune=psnr,quality=20/30/40/50/60/70/80/90", size)


if __name__ == "__main__":
    main()
