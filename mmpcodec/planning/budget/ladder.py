"""Ladders: file size and distortion of a picture at several lambdas."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends import DeviceLike
from mmpcodec.codec.candidates import candidates_at
from mmpcodec.codec.distortion import Point, psnr_of
from mmpcodec.codec.encoder import encode_pictures
from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.levels import Levels
from mmpcodec.depth import BYTE
from mmpcodec.errors import (
    Cancelled,
    Infeasible,
    LimitExceeded,
    ParameterError,
    PictureError,
)
from mmpcodec.fingerprints import sha256_of
from mmpcodec.params import EncodeParams
from mmpcodec.picture import Picture
from mmpcodec.planning.budget.cache import PointCache, key_of
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import Form, form_of

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
        SHA-256 of samples and metadata.
    form : Form
    depth : int
        Bits per sample.
    """

    name: str
    pixels: int
    points: tuple[Point, ...]
    weight: int = 1
    picture: str = ""
    form: Form = Form.GRAY
    depth: int = BYTE

    def psnr(self, point: Point) -> float:
        """Return the PSNR of a point in dB, with the range as peak; infinite if lossless."""
        return psnr_of(point.distortion, self.pixels, self.depth)

    def at_least(self, psnr: float) -> "Ladder":
        """Return the ladder without points below a PSNR in dB.

        Raises
        ------
        Infeasible
            When no point is left.
        """
        kept = tuple(point for point in self.points if self.psnr(point) >= psnr)
        if not kept:
            best = min(self.points, key=lambda point: point.distortion)
            raise Infeasible(
                f"{self.name}: no lambda of the ladder reaches {psnr:g} dB; lambda {best.lam:g} "
                f"reaches {self.psnr(best):.2f} dB"
            )
        return replace(self, points=kept)


@dataclass(frozen=True)
class LazyPicture:
    """A picture that is read when its samples are needed.

    Parameters
    ----------
    name : str
    read : callable
        Function that returns a Picture, whose metadata go into the files, or an array as
        ``Picture.of`` takes it; each call returns an equal picture.
    """

    name: str
    read: Callable[[], Picture | np.ndarray]

    def picture(self) -> Picture:
        """Read the picture."""
        found = self.read()
        return found if isinstance(found, Picture) else Picture.of(found)


@dataclass(frozen=True)
class _Seen:
    """Facts about a picture, kept after its samples are released."""

    lazy: LazyPicture
    sha256: str
    pixels: int
    form: Form
    depth: int
    fragments: int

    @classmethod
    def of(cls, lazy: LazyPicture) -> "_Seen":
        picture = lazy.picture()
        shape, form = picture.samples.shape[:2], form_of(picture.samples)
        fragments = form.planes * fragments_in(shape)
        return cls(lazy, sha256_of(picture), math.prod(shape), form, picture.depth, fragments)

    def read_again(self) -> Picture:
        """Read the picture.

        Raises
        ------
        PictureError
            When it is another one than at first.
        """
        picture = self.lazy.picture()
        if sha256_of(picture) != self.sha256:
            raise PictureError(f"{self.lazy.name}: was changed while it was worked on")
        return picture


def measure(
    pictures: Sequence[LazyPicture],
    lambdas: Sequence[float],
    cache: PointCache,
    params: EncodeParams | None = None,
    *,
    backend: str = "cpu",
    device: DeviceLike | None = None,
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
    device : int, str, sequence of int, or None
        See ``encode_batch``. Several devices share a call for 64 times their number of pictures.
    threads : int or None
    progress : callable or None
        ``progress(done, total) -> bool`` counts 16x16 fragments of all planes of all pictures at
        all lambdas. Returning False cancels.

    Raises
    ------
    ParameterError
        When there is no lambda, one is out of range, or the tools cannot code the depth of a
        picture.
    PictureError
        When a picture cannot be read, or changed since it was first read.
    MmpError, OSError
        The errors of encoding and of the cache.
    """
    params = params or EncodeParams()
    if not lambdas:
        raise ParameterError("lambdas: must be one or more")
    at = {float(lam): params.at(float(lam)) for lam in sorted(lambdas)}
    seen = [_Seen.of(picture) for picture in pictures]
    for each in seen:
        for one in at.values():
            _check_depth(each, one)
    total = len(at) * sum(each.fragments for each in seen)
    numbers: tuple[int, ...] = ()
    if device is not None:
        backend = backends.for_device(backend, device)
        numbers = backends.numbers_of(device, backends.get(backend))
    batch = BATCH * max(len(numbers), 1) if backends.get(backend).batches else 1
    points: dict[tuple[str, float], Point] = {}
    before = 0
    for start in range(0, len(seen), batch):
        group = seen[start : start + batch]
        read: dict[str, Picture] = {}
        for lam, one in at.items():
            missing: dict[str, _Seen] = {}
            for each in group:
                found = cache.get(each.sha256, key_of(one))
                if found is None:
                    missing[each.sha256] = each
                else:
                    points[each.sha256, lam] = Point(lam, len(found[1]), found[0])
            for sha256 in missing.keys() - read.keys():
                read[sha256] = missing[sha256].read_again()
            done_before = before
            # A call encodes pictures of one depth.
            for depth in sorted({each.depth for each in missing.values()}):
                names = sorted(name for name, each in missing.items() if each.depth == depth)

                def advance(done: int, _: int, before: int = done_before) -> bool:
                    return progress is None or progress(before + done, total)

                encodings = _encodings(
                    [read[sha256] for sha256 in names],
                    one,
                    backend=backend,
                    device=numbers or None,
                    threads=threads,
                    progress=advance,
                )
                for sha256, encoding in zip(names, encodings, strict=True):
                    levels = Levels.of(encoding.header)
                    error = levels.distortion(read[sha256].samples, encoding.samples)
                    point = Point(lam, len(encoding.data), math.ceil(error))
                    cache.put(sha256, key_of(one), point.distortion, encoding.data)
                    points[sha256, lam] = point
                    done_before += missing[sha256].fragments
            before += sum(each.fragments for each in group)
            if progress is not None and progress(before, total) is False:
                raise Cancelled(f"stopped by the caller after {before} of {total} fragments")
    return [
        Ladder(
            each.lazy.name,
            each.pixels,
            tuple(points[each.sha256, lam] for lam in at),
            picture=each.sha256,
            form=each.form,
            depth=each.depth,
        )
        for each in seen
    ]


def _check_depth(seen: _Seen, params: EncodeParams) -> None:
    """Check before the first picture is encoded that the tools can code the depth of this one."""
    try:
        candidates_at(params, seen.depth)
    except ParameterError as error:
        raise ParameterError(f"{seen.lazy.name}: {error}") from error


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


def _encodings(pictures: list[Picture], params: EncodeParams, **options: Any) -> list[Encoding]:
    """Encode pictures of one depth in one call, or in halves if a device has too little memory."""
    arrays = [picture.samples for picture in pictures]
    metadata = [picture.metadata for picture in pictures]
    try:
        return encode_pictures(
            arrays, params, depth=pictures[0].depth, metadata=metadata, **options
        )
    except LimitExceeded:
        if len(pictures) < 2:
            raise
    middle = len(pictures) // 2
    halves = pictures[:middle], pictures[middle:]
    return [one for half in halves for one in _encodings(half, params, **options)]
