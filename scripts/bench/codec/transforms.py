"""Compare colour transforms of lossy pictures: their planes, resolution and lambda of chroma.

    python scripts/bench/codec/transforms.py PICTURE... --out ROWS [--preset photo] [--jobs 2]
    python scripts/bench/codec/forms.py table ROWS

The script codes the middle 256x256 pixels of each picture, or 256x256 pixels from `--at X,Y` on.
Each plane is coded as an 8-bit gray picture. The lambda of a plane follows from the effect of its
error on the mean error of red, green and blue. The bytes are the payloads plus 40 bytes. OpenJPEG
codes the same pixels with its own transform, libaom without subsampling.
"""

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import mmpcodec
from mmpcodec import EncodeParams, pictures
from mmpcodec.bench.codecs.base import RGB as COLOUR
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.metrics.psnr import psnr

PEERS = {
    "JPEG 2000": "jpeg2000:ratio=4/6/9/14/22/36/60/110",
    "AVIF 4:4:4, speed 6": "avif:speed=6,tune=psnr,quality=25/45/60/75/85/93",
}
LAMBDAS = (4, 8, 16, 32, 64, 128, 256, 512)
SIDE = 256
OTHER_BYTES = 40
MIDDLE = 128

Planes = list[np.ndarray]


def to_ycbcr(colours: np.ndarray) -> Planes:
    red, green, blue = np.moveaxis(colours.astype(float), 2, 0)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    return [luma, (blue - luma) / 1.772 + MIDDLE, (red - luma) / 1.402 + MIDDLE]


def from_ycbcr(planes: Planes) -> np.ndarray:
    luma, cb, cr = planes[0], planes[1] - MIDDLE, planes[2] - MIDDLE
    red, blue = luma + 1.402 * cr, luma + 1.772 * cb
    return np.dstack([red, (luma - 0.299 * red - 0.114 * blue) / 0.587, blue])


def to_ycocg(colours: np.ndarray) -> Planes:
    red, green, blue = np.moveaxis(colours.astype(float), 2, 0)
    purple = (red + blue) / 2
    return [(green + purple) / 2, (red - blue) / 2 + MIDDLE, (green - purple) / 2 + MIDDLE]


def from_ycocg(planes: Planes) -> np.ndarray:
    luma, co, cg = planes[0], planes[1] - MIDDLE, planes[2] - MIDDLE
    purple = luma - cg
    return np.dstack([purple + co, luma + cg, purple - co])


@dataclass(frozen=True)
class Transform:
    """A colour transform and its inverse.

    ``weights`` holds, for each plane, the factor from its squared error to the mean squared error
    of red, green and blue.
    """

    forward: Callable[[np.ndarray], Planes]
    back: Callable[[Planes], np.ndarray]
    weights: tuple[float, float, float]


RGB = Transform(lambda colours: list(np.moveaxis(colours, 2, 0)), np.dstack, (1 / 3, 1 / 3, 1 / 3))
YCBCR = Transform(to_ycbcr, from_ycbcr, (1, 3.258 / 3, 2.475 / 3))
YCOCG = Transform(to_ycocg, from_ycocg, (1, 2 / 3, 1))


@dataclass(frozen=True)
class Variant:
    """A transform, and how its chroma is coded.

    ``halved`` halves rows and columns of chroma, ``factor`` multiplies the lambda of chroma, and
    ``stacked`` codes both planes of chroma as one picture.
    """

    transform: Transform
    halved: bool = False
    factor: float = 1
    stacked: bool = False


VARIANTS = {
    "red, green, blue": Variant(RGB),
    "YCbCr": Variant(YCBCR),
    "YCoCg": Variant(YCOCG),
    "YCoCg, chroma halved": Variant(YCOCG, halved=True),
    "YCoCg, chroma at 0.7 lambda": Variant(YCOCG, factor=0.7),
    "YCoCg, chroma at 1.4 lambda": Variant(YCOCG, factor=1.4),
    "YCoCg, chroma in one": Variant(YCOCG, stacked=True),
}


def halved(plane: np.ndarray) -> np.ndarray:
    return plane.reshape(SIDE // 2, 2, SIDE // 2, 2).mean(axis=(1, 3))


def doubled(plane: np.ndarray) -> np.ndarray:
    image = Image.fromarray(plane.astype(np.float32))
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR), float)


def coded(plane: np.ndarray, lam: float, preset: str, effort: int) -> tuple[int, np.ndarray]:
    """Return the size of the payload in bytes, and its decoded samples."""
    samples = np.clip(np.rint(plane), 0, 255).astype(np.uint8)
    params = EncodeParams.from_options(lam, preset=preset, effort=effort)
    made = mmpcodec.encode_picture(samples, params, backend="cpu", threads=1)
    return sum(layer.payload_bytes for layer in made.layers), made.samples.astype(float)


def ours(
    picture: pictures.Picture, variant: Variant, lam: float, preset: str, effort: int
) -> tuple[int, np.ndarray]:
    transform = variant.transform
    luma, *chroma = transform.forward(picture.samples)
    lambdas = [lam / weight for weight in transform.weights]
    of_chroma = [variant.factor * own for own in lambdas[1:]]
    size, first = coded(luma, lambdas[0], preset, effort)
    if variant.stacked:
        chroma_size, both = coded(
            np.concatenate(chroma), sum(of_chroma) / len(of_chroma), preset, effort
        )
        rest = [both[:SIDE], both[SIDE:]]
        size += chroma_size
    else:
        rest = []
        for plane, own in zip(chroma, of_chroma, strict=True):
            # One sample of a halved plane represents four samples.
            given, lam_of_it = (halved(plane), own / 4) if variant.halved else (plane, own)
            plane_size, decoded = coded(given, lam_of_it, preset, effort)
            rest.append(doubled(decoded) if variant.halved else decoded)
            size += plane_size
    colours = np.clip(np.rint(transform.back([first, *rest])), 0, 255)
    return size + OTHER_BYTES, colours.astype(np.uint8)


def measured(
    path: str, place: tuple[int, int] | None, codec: str, point: float, preset: str, effort: int
) -> dict[str, Any]:
    """Measure one file; return a row in the form that ``forms.py`` reads."""
    samples = pictures.read(path).without_alpha().samples
    height, width = samples.shape[:2]
    left, top = place or ((width - SIDE) // 2, (height - SIDE) // 2)
    piece = pictures.Picture.of(np.ascontiguousarray(samples[top : top + SIDE, left : left + SIDE]))
    if codec in PEERS:
        peer = peers(PEERS[codec], COLOUR)[0]
        data = peer.encode(piece.samples, point)
        size, decoded = len(data), peer.decode(data)
    else:
        size, decoded = ours(piece, VARIANTS[codec], point, preset, effort)
    return {
        "picture": Path(path).stem,
        "codec": codec,
        "point": point,
        "bytes": size,
        "pixels": SIDE**2,
        "depth": piece.depth,
        "psnr": psnr(piece.samples, decoded, white=(1 << piece.depth) - 1),
    }


def place_of(text: str) -> tuple[int, int]:
    x, y = map(int, text.split(","))
    return x, y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--out", type=Path, default=Path("rows.jsonl"))
    parser.add_argument("--preset", default="photo")
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--at", type=place_of, metavar="X,Y", help="first pixel of the piece")
    parser.add_argument("--jobs", type=int, default=None)
    args = parser.parse_args()
    points: list[tuple[str, float]] = [*product(VARIANTS, LAMBDAS)]
    for title, text in PEERS.items():
        points += [(title, point) for point in peers(text, COLOUR)[0].ladder]
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        rows = [
            pool.submit(measured, path, args.at, codec, point, args.preset, args.effort)
            for path in args.pictures
            for codec, point in points
        ]
        for row in rows:
            out.write(json.dumps(row.result()) + "\n")


if __name__ == "__main__":
    main()
