"""Speed of the codec beside a brute-force search and two common codecs, in one run.

    python scripts/bench/codec/speed.py PICTURE... [-l LAMBDA] [--skip-brute-force] [--growth]

Prints Markdown tables. Times are medians of wall seconds, array to bytes and back, after one
warm-up; the brute-force search runs once. Peak memory is that of a process of its own.
"""

import argparse
import io
import os
import platform
import subprocess
import sys
import time
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.bench.timing import median_seconds
from mmpcodec.codec.layer_choice import TileEncoding, TileSource, encode_tiles


def psnr(picture: np.ndarray, decoded: np.ndarray) -> float:
    return float(peak_signal_noise_ratio(picture, decoded, data_range=255))


def row(name: str, encode: float, decode: float | None, size: int, picture, decoded) -> str:
    bpp = 8 * size / picture.size
    decode_ms = "" if decode is None else f"{1000 * decode:.1f}"
    quality = psnr(picture, decoded)
    return f"| {name} | {1000 * encode:.1f} | {decode_ms} | {bpp:.4f} | {quality:.2f} |"


def encoded_by(
    backend: CpuBackend, picture: np.ndarray, params: EncodeParams, threads: int
) -> TileEncoding:
    """The picture as one tile, by a backend of some SIMD level."""
    source = TileSource(picture, picture, 8)
    return encode_tiles([source], [params], {params.tools: backend}, threads, None)[0]


def bench_mmp(picture: np.ndarray, lam: float, preset: str, brute_force: bool) -> None:
    params = EncodeParams.from_options(lam, preset=preset)
    levels = CpuBackend.levels()
    for level in levels[: levels.index("generic")] or levels:
        for threads in (1, 2):
            backend = CpuBackend(level)

            def encode(backend=backend, threads=threads):
                return encoded_by(backend, picture, params, threads)

            encoding = encode()
            data = encoding.data
            seconds = median_seconds(encode)
            decode = median_seconds(partial(mmpcodec.decode, data))
            size = len(data)
            name = f"mmp {preset}, {level}, {threads} thread{'s'[: threads - 1]}"
            print(row(name, seconds, decode, size, picture, encoding.samples))
    if brute_force:
        start = time.perf_counter()
        plain = encoded_by(CpuBackend("brute-force"), picture, params, 1)
        seconds = time.perf_counter() - start
        assert plain.data == data
        print(row(f"mmp {preset}, brute force", seconds, None, size, picture, plain.samples))


def bench_peer(picture: np.ndarray, name: str, ladder: list[dict], target: int) -> None:
    """One row for a Pillow codec at the setting whose file is nearest in size to ours."""
    image = Image.fromarray(picture)

    def save(options: dict) -> bytes:
        buffer = io.BytesIO()
        image.save(buffer, **options)
        return buffer.getvalue()

    nearest = min(ladder, key=lambda options: abs(len(save(options)) - target))
    data = save(nearest)

    def opened() -> np.ndarray:
        return np.asarray(Image.open(io.BytesIO(data)).convert("L"))

    encode, decode = median_seconds(lambda: save(nearest), 3), median_seconds(opened, 3)
    print(row(name, encode, decode, len(data), picture, opened()))


def peak_memory(path: Path, lam: float) -> float:
    """Peak resident MiB of a fresh process that encodes the picture."""
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
    # Not ru_maxrss: that counts what the parent held before exec.
    (peak,) = (line for line in done.stdout.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def bench_growth(picture: np.ndarray, lam: float) -> None:
    """Time a fragment as the picture grows.

    The picture is repeated, each time shifted and with another contrast, so that it goes on
    teaching until the dictionaries are full.
    """
    if min(picture.shape) < 512:
        raise SystemExit("--growth needs a picture of at least 512x512 pixels")
    print("\n| megapixels | seconds | microseconds a fragment | largest dictionary |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(0)
    for side in (1024, 2048, 4096):
        mosaic = np.zeros((side, side), np.uint8)
        for top in range(0, side, 512):
            for left in range(0, side, 512):
                tile = np.roll(picture[:512, :512], rng.integers(512, size=2), (0, 1))
                mosaic[top : top + 512, left : left + 512] = tile * rng.uniform(0.4, 1)
        start = time.perf_counter()
        encoding = mmpcodec.encode_picture(mosaic, EncodeParams(lam))
        seconds = time.perf_counter() - start
        fragment = 1e6 * seconds / (side // 16) ** 2
        largest = np.asarray(encoding.trace.dictionary_sizes).max()
        print(f"| {side * side / 2**20:.0f} | {seconds:.2f} | {fragment:.0f} | {largest} |")


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("-l", "--lambda", dest="lam", type=float, default=32.0)
    parser.add_argument("--skip-brute-force", action="store_true")
    parser.add_argument("--growth", action="store_true", help="1, 4 and 16 megapixels too")
    args = parser.parse_args()
    print(
        f"{date.today()}, {cpu_model()}, {len(os.sched_getaffinity(0))} cores, lambda {args.lam:g}"
    )
    for path in args.pictures:
        picture = np.asarray(Image.open(path))
        print(f"\n{path.name}, {picture.shape[1]}x{picture.shape[0]}; ", end="")
        print(f"peak memory {peak_memory(path, args.lam):.0f} MiB\n")
        print("| codec | encode ms | decode ms | bpp | PSNR dB |")
        print("|---|---|---|---|---|")
        size = len(mmpcodec.encode(picture, args.lam))
        bench_mmp(picture, args.lam, "plain", not args.skip_brute_force)
        bench_mmp(picture, args.lam, "classic", False)
        jpeg2000 = [
            {"format": "JPEG2000", "irreversible": True, "quality_layers": [r]}
            for r in np.geomspace(2, 100, 60).tolist()
        ]
        bench_peer(picture, "JPEG 2000 (OpenJPEG)", jpeg2000, size)
        avif = [{"format": "AVIF", "quality": q, "speed": 0} for q in range(20, 96, 10)]
        bench_peer(picture, "AVIF (speed 0)", avif, size)
        if args.growth:
            bench_growth(picture, args.lam)


if __name__ == "__main__":
    main()
