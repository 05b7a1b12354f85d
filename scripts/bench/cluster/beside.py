"""Measure processor seconds, bytes and PSNR of mmpcodec and AVIF on the same pictures."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from devices import SETTINGS, batch_of
from usage import Row

import mmpcodec
from mmpcodec.bench.codecs.base import Codec
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.metrics.psnr import psnr

LAMBDA = 32.0
OURS: dict[str, dict[str, Any]] = {
    "mmpcodec, plain": SETTINGS["plain"],
    "mmpcodec, photo, effort 1": SETTINGS["photo-1"],
    "mmpcodec, default": {},
    "mmpcodec, photo, effort 6": SETTINGS["photo-6"],
}
AIM = "mmpcodec, photo, effort 1"
"""The codec whose PSNR AVIF meets, picture by picture."""
SPEEDS = (8, 6, 4, 2, 0)
SEARCHED = 4
"""Slower speeds take the qualities of this speed, because each trial takes them long."""
COLUMNS = {
    "codec": "codec",
    "psnr_db": "PSNR of all samples, dB",
    "mean_bytes": "bytes a picture",
    "cpu_s": "processor seconds a picture",
    "core_hours": "core hours for 10^6 pictures",
}
HOURS = 1e6 / 3600


def quality_of(codec: Codec, picture: np.ndarray, aim: float) -> float:
    """Return the quality from 1 to 100 whose PSNR is nearest to ``aim``, by bisection."""

    def reached(quality: int) -> float:
        return psnr(picture, codec.decode(codec.encode(picture, quality)), white=255) or np.inf

    low, high = 1, 100
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) < aim else (low, middle)
    return min((low, high), key=lambda quality: abs(reached(quality) - aim))


def row(name: str, batch: Sequence[np.ndarray], found: Sequence[tuple[float, bytes, Any]]) -> Row:
    """Return the row of a codec from seconds, file and decoded samples of each picture."""
    errors = [
        np.mean(np.square(picture.astype(float) - decoded))
        for picture, (_, _, decoded) in zip(batch, found, strict=True)
    ]
    seconds = fmean(each for each, _, _ in found)
    return {
        "codec": name,
        "psnr_db": float(10 * np.log10(255**2 / np.mean(errors))),
        "mean_bytes": round(fmean(len(data) for _, data, _ in found)),
        "cpu_s": seconds,
        "core_hours": HOURS * seconds,
    }


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Keep this process on one core, so that AVIF starts one thread."""
    given = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(given)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, given)


def encoded(
    encode: Callable[[np.ndarray, float], bytes],
    decode: Callable[[bytes], np.ndarray],
    batch: Sequence[np.ndarray],
    points: Sequence[float],
) -> list[tuple[float, bytes, np.ndarray]]:
    """Return processor seconds, file and decoded samples of each picture at its own point."""
    found = []
    for picture, point in zip(batch, points, strict=True):
        started = time.process_time()
        data = encode(picture, point)
        found.append((time.process_time() - started, data, decode(data)))
    return found


def rows(images: Path, count: int) -> Iterator[Row]:
    """Yield the rows of all codecs, each on one thread."""
    batch = batch_of(sorted(images.glob("*.pgm")), count)
    aims: list[float] = []
    for name, options in OURS.items():
        encode: Any = partial(mmpcodec.encode, threads=1, **options)
        encode(batch[0], LAMBDA)
        found = encoded(encode, mmpcodec.decode, batch, [LAMBDA] * count)
        if name == AIM:
            aims = [
                psnr(picture, decoded, white=255) or np.inf
                for picture, (_, _, decoded) in zip(batch, found, strict=True)
            ]
        yield row(name, batch, found)
    qualities: list[float] = []
    with on_one_core():
        for speed in SPEEDS:
            (codec,) = peers(f"avif:tune=psnr,speed={speed}")
            if speed >= SEARCHED:
                qualities = [quality_of(codec, *each) for each in zip(batch, aims, strict=True)]
            yield row(
                f"AVIF, speed {speed}",
                batch,
                encoded(codec.encode, codec.decode, batch, qualities),
            )
