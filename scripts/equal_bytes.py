"""Draw JPEG, AVIF and mmpcodec side by side at an equal number of bytes, as the README shows them.

    python scripts/equal_bytes.py [OUT]

OUT is docs/pictures/equal-bytes.png unless given. Each codec writes its best file of at most
``LIMIT`` bytes: JPEG and AVIF at the highest quality that fits, mmpcodec with ``target_size``. AVIF
and mmpcodec are tuned for PSNR.
Takes about two minutes, most of them for AVIF at speed 0.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.peers import peers

ROOT = Path(__file__).parents[1]
LIMIT = 6000
CROPS = {
    "page.pgm": (slice(20, 152), slice(268, 444)),
    "camera.pgm": (slice(62, 194), slice(160, 336)),
}
ZOOM, MARGIN, CAPTION = 2, 10, 20


def best_file(encode, limit: int) -> bytes:
    """The file of the highest quality, from 1 to 100, that has at most ``limit`` bytes."""
    best, low, high = b"", 1, 100
    while low <= high:
        quality = (low + high) // 2
        data = encode(quality)
        if len(data) <= limit:
            best, low = data, quality + 1
        else:
            high = quality - 1
    return best


def coded(picture: np.ndarray) -> Iterator[tuple[str, int, np.ndarray]]:
    """Name, bytes and decoded samples of each codec."""
    for name, peer in (("JPEG", "jpeg"), ("AVIF", "avif:tune=psnr")):
        (codec,) = peers(peer)
        data = best_file(lambda quality, codec=codec: codec.encode(picture, quality), LIMIT)
        yield name, len(data), codec.decode(data)
    data = mmpcodec.encode(picture, target_size=LIMIT, tune="psnr")
    yield "mmpcodec", len(data), mmpcodec.decode(data)


def psnr(original: np.ndarray, decoded: np.ndarray) -> float:
    """Peak signal-to-noise ratio of 8-bit samples, in dB."""
    return 10 * np.log10(255**2 / np.mean((original.astype(float) - decoded) ** 2))


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures/equal-bytes.png"
    font = ImageFont.load_default(CAPTION - 4)
    rows = []
    for name, crop in CROPS.items():
        picture = pictures.read(ROOT / "images" / name).samples
        panels = [(f"original: {picture.size} bytes", picture)]
        for codec, size, decoded in coded(picture):
            panels.append((f"{codec}: {size} bytes, {psnr(picture, decoded):.1f} dB", decoded))
            print(f"{name}: {panels[-1][0]}")
        rows.append([(caption, samples[crop]) for caption, samples in panels])
    height, width = (ZOOM * side for side in rows[0][0][1].shape)
    columns = len(rows[0])
    page_size = (
        MARGIN + columns * (width + MARGIN),
        MARGIN + len(rows) * (height + CAPTION + MARGIN),
    )
    page = Image.new("L", page_size, 255)
    draw = ImageDraw.Draw(page)
    for row, panels in enumerate(rows):
        top = MARGIN + row * (height + CAPTION + MARGIN)
        for column, (caption, samples) in enumerate(panels):
            left = MARGIN + column * (width + MARGIN)
            draw.text((left, top), caption, fill=0, font=font)
            page.paste(Image.fromarray(samples).resize((width, height), 0), (left, top + CAPTION))
    page.save(out, optimize=True)


if __name__ == "__main__":
    main()
