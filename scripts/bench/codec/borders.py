"""Steps of the error at the borders between tiles, without and with the border filter.

    python scripts/bench/codec/borders.py PICTURE... [--lambdas 32 144 432] [--tile 128]

The error of a sample is its decoded value less its source. A step is the absolute difference of
the errors of two samples side by side, or one above the other. The script prints a Markdown table
with a row for each lambda, for gray and for RGB pictures: the mean step across borders between
tiles, divided by the mean step elsewhere (8 samples or more from borders) and by the mean step
across the middle of tiles, where borders between blocks often are, and by the mean step 8 to 23
samples from a border, whose lines have the same content; PSNR, and PSNR of the samples within 8 of
a border.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.format import container

REACH = 8


@dataclass(frozen=True)
class Measured:
    """Mean steps across borders, elsewhere, in the middle of tiles, beside borders; mean squared
    errors."""

    border: float
    elsewhere: float
    middle: float
    near: float
    error: float
    error_beside: float

    @classmethod
    def of(cls, source: np.ndarray, decoded: np.ndarray, tile: int) -> "Measured":
        """Compare a decoded picture of tiles with its source."""
        error = decoded.astype(np.float64) - source
        steps: list[list[np.ndarray]] = [[], [], [], []]
        beside = np.zeros(error.shape[:2], bool)
        for axis in (0, 1):
            step = abs(np.diff(error, axis=axis))
            behind = np.arange(1, step.shape[axis] + 1)
            distance = np.minimum(behind % tile, -behind % tile)
            distance[(behind < tile // 2) | (behind > error.shape[axis] // tile * tile)] = tile
            middle = behind % tile == tile // 2
            near = (distance >= REACH) & (distance < 3 * REACH)
            kinds = distance == 0, distance >= REACH, middle, near
            for own, chosen in zip(steps, kinds, strict=True):
                own.append(np.compress(chosen, step, axis=axis).ravel())
            for border in range(tile, error.shape[axis], tile):
                place = [slice(None), slice(None)]
                place[axis] = slice(border - REACH, border + REACH)
                beside[tuple(place)] = True
        means = [float(np.concatenate(own).mean()) for own in steps]
        errors = float((error**2).mean()), float((error[beside] ** 2).mean())
        return cls(means[0], means[1], means[2], means[3], *errors)


def without_filter(data: bytes) -> bytes:
    """Return a file whose decoder does not filter borders."""
    header = mmpcodec.inspect(data).header
    places = zip(header.tile_offsets, header.tile_offsets[1:], strict=False)
    tiles = [data[start:end] for start, end in places]
    off = container.with_sizes(replace(header, border_step=0), header.tile_bytes)
    return container.write(off, tiles)


def both(path: Path, lam: float, tile: int, effort: int, tune: str) -> tuple[bool, list[Measured]]:
    """Return whether a picture has colours, and what is measured without and with the filter."""
    source = pictures.read(path).without_alpha().samples
    data = mmpcodec.encode(source, lam, tile_size=tile, preset="photo", effort=effort, tune=tune)
    files = without_filter(data), data
    return source.ndim == 3, [Measured.of(source, mmpcodec.decode(each), tile) for each in files]


def row(title: str, lam: float, found: Sequence[list[Measured]]) -> str:
    """Return the row of a lambda, over some pictures."""
    cells = []
    for own in zip(*found, strict=True):
        border = sum(each.border for each in own)
        ratio = border / sum(each.elsewhere for each in own)
        middle = border / sum(each.middle for each in own)
        near = border / sum(each.near for each in own)
        cells.append((f"{ratio:.3f}", f"{middle:.3f}", f"{near:.3f}"))
    pairs = [f"{before} to {after}" for before, after in zip(*cells, strict=True)]
    whole = [10 * np.log10(off.error / on.error) for off, on in found]
    beside = [10 * np.log10(off.error_beside / on.error_beside) for off, on in found]
    gains = f"{np.mean(whole):+.3f} | {np.mean(beside):+.3f}"
    return f"| {title} | {lam:g} | {' | '.join(pairs)} | {gains} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--lambdas", nargs="+", type=float, default=[32, 144, 432])
    parser.add_argument("--tile", type=int, default=128)
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--tune", default="psnr")
    args = parser.parse_args()
    print(
        "| pictures | lambda | by steps elsewhere | by steps in the middle | by steps beside "
        "| PSNR, dB | PSNR beside borders, dB |\n|---|---|---|---|---|---|---|"
    )
    for lam in args.lambdas:
        found = [both(path, lam, args.tile, args.effort, args.tune) for path in args.pictures]
        for colours, title in ((False, "gray"), (True, "RGB")):
            own = [measured for has_colours, measured in found if has_colours == colours]
            if own:
                print(row(title, lam, own), flush=True)


if __name__ == "__main__":
    main()
