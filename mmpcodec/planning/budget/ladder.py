"""Ladders: file size and distortion of a picture at several lambdas."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.codec.distortion import Point, psnr_of, squared_error
from mmpcodec.codec.encoder import encode_pictures
from mmpcodec.codec.encoding import Encoding
from mmpcodec.errors import (
    Cancelled,
    Infeasible,
    LimitExceeded,
    ParameterError,
    PictureError,
)
from mmpcodec.fingerprints import sha256_of
from mmpcodec.params import EncodeParams
from mmpcodec.planning.budget.cache import PointCache, key_of
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress

LAMBDAS = (4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0, 384.0,
           512.0, 1024.0)  # fmt: skip
BATCH = 64
"""Number of pictures that a batching backend encodes in one call."""


@dataclass(frozen=True)
class Ladder:
    """Points of a picture at several lambdas.

    Parameters
    ----------
    name : str
    pixels : int
        Number of pixels.
    points : tuple of Point
        Points in ascending order of lambda, at least one.
    weight : int
        Factor of the distortion, at least 0.
    picture : str
        SHA-256 of the samples.
    """

    name: str
    pixels: int
    points: tuple[Point, ...]
    weight: int = 1
    picture: str = ""

    def at_least(self, psnr: float) -> "Ladder":
        """Return the ladder without points below a PSNR in dB.

        Raises
        ------
        Infeasible
            When no point is left.
        """
        kept = tuple(
            point for point in self.points if psnr_of(point.distortion, self.pixels) >= psnr
        )
        if not kept:
            best = min(self.points, key=lambda point: point.distortion)
            raise Infeasible(
                f"{self.name}: no lambda of the ladder reaches {psnr:g} dB; lambda {best.lam:g} "
                f"reaches {psnr_of(best.distortion, self.pixels):.2f} dB"
            )
        return replace(self, points=kept)


@dataclass(frozen=True)
class LazyPicture:
    """A picture that is read when its samples are needed.

    Parameters
    ----------
    name : str
    read : callable
        Function that returns the (H, W) uint8 samples; each call returns equal samples.
    """

    name: str
    read: Callable[[], np.ndarray]


@dataclass(frozen=True)
class _Seen:
    """Hash and shape of a picture, kept after its samples are released."""

    picture: LazyPicture
    sha256: str
    shape: tuple[int, int]


def measure(
    pictures: Sequence[LazyPicture],
    lambdas: Sequence[float],
    cache: PointCache,
    params: EncodeParams | None = None,
    *,
    backend: str = "cpu",
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Ladder]:
    """Return the ladder of each picture; encode and store points that the cache lacks.

    Parameters
    ----------
    pictures : sequence of LazyPicture
        All pictures are read once before the first is encoded.
    lambdas : sequence of float
    cache : PointCache
    params : EncodeParams or None
        Parameters of the encoder; their lambda is ignored.
    backend : str
        See ``encode``. A batching backend encodes up to 64 pictures in one call.
    threads : int or None
    progress : callable or None
        ``progress(done, total) -> bool`` counts 16x16 fragments of all pictures at all lambdas.
        Returning False cancels.

    Raises
    ------
    ParameterError
        When there is no lambda, or one is out of range.
    PictureError
        When a picture cannot be read, or changed since it was first read.
    MmpError, OSError
        The errors of encoding and of the cache.
    """
    params = params or EncodeParams()
    if not lambdas:
        raise ParameterError("lambdas: must be one or more")
    at = {float(lam): params.at(float(lam)) for lam in sorted(lambdas)}
    seen = []
    for picture in pictures:
        samples = picture.read()
        seen.append(_Seen(picture, sha256_of(samples), samples.shape))
    total = len(at) * sum(fragments_in(each.shape) for each in seen)
    batch = BATCH if backends.get(backend).batches else 1
    points: dict[tuple[str, float], Point] = {}
    before = 0
    for start in range(0, len(seen), batch):
        group = seen[start : start + batch]
        samples_of: dict[str, np.ndarray] = {}
        for lam, one in at.items():
            missing: dict[str, _Seen] = {}
            for each in group:
                found = cache.get(each.sha256, key_of(one))
                if found is None:
                    missing[each.sha256] = each
                else:
                    points[each.sha256, lam] = Point(lam, len(found[1]), found[0])
            for sha256 in missing.keys() - samples_of.keys():
                samples_of[sha256] = _same(missing[sha256])

            def advance(done: int, _: int, before: int = before) -> bool:
                return progress is None or progress(before + done, total)

            names = sorted(missing)
            arrays = [samples_of[sha256] for sha256 in names]
            encodings = _encodings(arrays, one, backend=backend, threads=threads, progress=advance)
            for sha256, encoding in zip(names, encodings, strict=True):
                distortion = squared_error(samples_of[sha256], encoding.samples)
                cache.put(sha256, key_of(one), distortion, encoding.data)
                points[sha256, lam] = Point(lam, len(encoding.data), distortion)
            before += sum(fragments_in(each.shape) for each in group)
            if progress is not None and progress(before, total) is False:
                raise Cancelled(f"stopped by the caller after {before} of {total} fragments")
    return [
        Ladder(
            each.picture.name,
            math.prod(each.shape),
            tuple(points[each.sha256, lam] for lam in at),
            picture=each.sha256,
        )
        for each in seen
    ]


def encoded(
    ladder: Ladder, point: Point, cache: PointCache, params: EncodeParams | None = None
) -> bytes:
    """Return the file of a point from the cache.

    Raises
    ------
    PictureError
        When the cache no longer holds the measured file.
    """
    key = key_of((params or EncodeParams()).at(point.lam))
    found = cache.get(ladder.picture, key)
    if found is None or (found[0], len(found[1])) != (point.distortion, point.bytes):
        raise PictureError(
            f"{ladder.name}: {cache.path(ladder.picture, key)} was changed; start again"
        )
    return found[1]


def _encodings(arrays: list[np.ndarray], params: EncodeParams, **options: Any) -> list[Encoding]:
    """Encode pictures in one call, or in halves if the device has too little memory."""
    try:
        return encode_pictures(arrays, params, **options)
    except LimitExceeded:
        if len(arrays) < 2:
            raise
    middle = len(arrays) // 2
    halves = arrays[:middle], arrays[middle:]
    return [one for half in halves for one in _encodings(half, params, **options)]


def _same(seen: _Seen) -> np.ndarray:
    samples = seen.picture.read()
    if sha256_of(samples) != seen.sha256:
        raise PictureError(f"{seen.picture.name}: was changed while it was worked on")
    return samples
