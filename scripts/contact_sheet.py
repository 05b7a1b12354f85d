"""Draw crops of pictures side by side, coded to equal bytes by four encoders, at three rates.

    python scripts/contact_sheet.py OUT PICTURE:X,Y ...

Writes OUT/seen-low.webp, seen-middle.webp and seen-high.webp, without loss, and prints a table of
bytes and scores of SSIMULACRA2. X,Y is the first pixel of a crop of 128x128 pixels. AVIF sets the
number of bytes with its qualities ``QUALITIES``; the others write their best file of at most so
many. AVIF is that of Pillow at speed 0, tuned for SSIMULACRA2. JPEG XL is the program cjxl at
effort 9, which must be on PATH with djxl. mmpcodec encodes at effort 4.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import mmpcodec
from mmpcodec.bench.codecs.base import RGB
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.metrics.ssimulacra2 import ssimulacra2

QUALITIES = {"low": 30, "middle": 50, "high": 70}
SIDE, MARGIN, CAPTION, EFFORT = 128, 4, 14, 4
TRIALS = 8
LEAST_DISTANCE, MOST_DISTANCE = 0.1, 25.0


class Panel(NamedTuple):
    """A decoded picture, and the bytes of its file."""

    name: str
    size: int
    samples: np.ndarray


def jpeg_xl(samples: np.ndarray, limit: int) -> tuple[int, np.ndarray]:
    """Return the bytes and the samples of the file of the least distance within the limit."""
    with tempfile.TemporaryDirectory() as folder:
        source, coded, decoded = (str(Path(folder) / name) for name in ("a.png", "a.jxl", "b.png"))
        Image.fromarray(samples).save(source)
        low, high = LEAST_DISTANCE, MOST_DISTANCE
        best = b""
        for _ in range(TRIALS):
            distance = (low * high) ** 0.5
            options = ["-d", f"{distance:.4f}", "-e", "9", "--num_threads=0", "--quiet"]
            subprocess.run(["cjxl", source, coded, *options], check=True)
            data = Path(coded).read_bytes()
            if len(data) <= limit:
                best, high = data, distance
            else:
                low = distance
        Path(coded).write_bytes(best)
        subprocess.run(["djxl", coded, decoded, "--quiet"], check=True)
        return len(best), np.asarray(Image.open(decoded).convert("RGB"))


def ours(tune: str) -> Callable[[np.ndarray, int], tuple[int, np.ndarray]]:
    """Return an encoder to a limit of bytes."""

    def encode(samples: np.ndarray, limit: int) -> tuple[int, np.ndarray]:
        data = mmpcodec.encode(samples, target_size=limit, effort=EFFORT, tune=tune, threads=1)
        return len(data), mmpcodec.decode(data)

    return encode


OTHERS = {"mmp, eye": ours("eye"), "mmp, psnr": ours("psnr"), "JPEG XL": jpeg_xl}


def panels(path: str, quality: int) -> list[Panel]:
    """Return the original and the decoded files of a picture, AVIF last."""
    samples = np.asarray(Image.open(path).convert("RGB"))
    (codec,) = peers("avif:tune=ssimulacra2,chroma=444", RGB)
    data = codec.encode(samples, quality)
    found = [Panel("original", samples.size, samples)]
    for name, encode in OTHERS.items():
        found.append(Panel(name, *encode(samples, len(data))))
    return [*found, Panel("AVIF", len(data), codec.decode(data))]


def main() -> None:
    out, *wanted = sys.argv[1:]
    places = [text.rsplit(":", 1) for text in wanted]
    jobs = [(path, quality) for quality in QUALITIES.values() for path, _ in places]
    with ProcessPoolExecutor() as pool:
        done = dict(zip(jobs, pool.map(panels, *zip(*jobs, strict=True)), strict=True))
    font = ImageFont.load_default(CAPTION - 4)
    across, down = SIDE + MARGIN, SIDE + CAPTION + MARGIN
    for rate, quality in QUALITIES.items():
        columns = len(OTHERS) + 2
        page = Image.new("RGB", (MARGIN + columns * across, MARGIN + len(places) * down), "white")
        draw = ImageDraw.Draw(page)
        for row, (path, place) in enumerate(places):
            x, y = map(int, place.split(","))
            original, *coded = done[path, quality]
            for column, panel in enumerate([original, *coded]):
                left, top = MARGIN + column * across, MARGIN + row * down
                caption = f"{Path(path).stem.split('-')[0]}, original"
                if column:
                    score = ssimulacra2(original.samples, panel.samples, white=255)
                    caption = f"{panel.name}: {panel.size} B, {score:.1f}"
                    print(f"{rate} {Path(path).stem}: {caption}")
                draw.text((left, top), caption, fill="black", font=font)
                crop = panel.samples[y : y + SIDE, x : x + SIDE]
                page.paste(Image.fromarray(crop), (left, top + CAPTION))
        page.save(Path(out) / f"seen-{rate}.webp", lossless=True, method=6)


if __name__ == "__main__":
    main()
