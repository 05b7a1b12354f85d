"""The sweep: measure each picture with each codec at each operating point once.

Times are wall times in seconds, from array to bytes and back. They are valid only after
``warm_up``, and if no other process uses the processor.
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import GRAY, Codec, SampleKind, machine
from mmpcodec.bench.metrics import DEFAULT, Metric, Quality, measure
from mmpcodec.bench.metrics.psnr import max_error
from mmpcodec.bench.results import Results, Row, key_of, save_png
from mmpcodec.codec.levels import Levels
from mmpcodec.depth import BYTE, most, sample_type
from mmpcodec.fingerprints import sha256_of
from mmpcodec.limits import UNLIMITED
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.samples import form_of

WARM_UP_SIDE = 64


@dataclass(frozen=True)
class Original:
    """A picture to measure.

    Parameters
    ----------
    name : str
        Name in reports.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
    depth : int
        Bits per sample.
    white : int or None
        Level of white, the peak of the metrics; None for the largest level of the depth.
    range : (int, int) or None
        Levels of black and white, if they are not those of the depth; see ``codec.levels``.
    """

    name: str
    samples: np.ndarray
    depth: int = BYTE
    white: int | None = None
    range: tuple[int, int] | None = None

    @classmethod
    def of(cls, name: str, picture: Picture) -> "Original":
        """Return a picture without its metadata, except its level of white and its range."""
        levels = Levels.of_picture(picture).stored_range
        return cls(name, picture.samples, picture.depth, picture.metadata.white, levels)

    @property
    def kind(self) -> SampleKind:
        """What a codec must code."""
        return SampleKind(form_of(self.samples), self.depth)

    def picture(self, samples: np.ndarray | None = None) -> Picture:
        """Return the picture, or the picture of other samples with its depth and white."""
        samples = self.samples if samples is None else samples
        return Picture(samples, self.depth, Metadata(white=self.white, range=self.range))


def warm_up(codec: Codec, kind: SampleKind = GRAY) -> None:
    """Encode and decode a small picture once; errors are ignored and recur in the sweep."""
    ramp = np.add.outer(np.arange(WARM_UP_SIDE), np.arange(WARM_UP_SIDE)) * most(kind.depth)
    samples = (ramp // (2 * WARM_UP_SIDE)).astype(sample_type(kind.depth))
    if kind.form.planes > 1:
        samples = np.dstack([samples] * kind.form.planes)
    with contextlib.suppress(Exception):
        codec.decode(codec.encode(samples, codec.ladder[-1]))


def sweep(
    picture: Original,
    codecs: Sequence[Codec],
    results: Results,
    *,
    repeat: int = 1,
    retry: bool = False,
    metrics: Sequence[Metric] = DEFAULT,
) -> Iterator[Row]:
    """Measure the points that are not yet in the results, and append them.

    A result that lacks some of the metrics gets them from its decoded picture, and is appended
    again.

    Parameters
    ----------
    picture : Original
    codecs : sequence of Codec
        Codecs of the picture's kind.
    results : Results
    repeat : int
        Number of runs; times are medians of the runs.
    retry : bool
        Whether to measure failed points again.
    metrics : sequence of Metric

    Yields
    ------
    dict
        New row. Points that another process measures are skipped.
    """
    sha256 = sha256_of(picture.picture())
    if not results.original(sha256).exists():
        save_png(results.original(sha256), picture.picture())
    for codec in codecs:
        for point in codec.ladder:
            row = _identity(picture, sha256, codec, point)
            key = key_of(row)
            with results.claim(key) as claimed:
                results.refresh()
                if not claimed:
                    continue
                done = results.done.get(key)
                if done is None or (retry and "error" in done):
                    row |= _outcome(picture, codec, point, repeat, results, key, metrics)
                elif lacking := _lacking(picture, done, results.decoded(key), metrics):
                    row = {**done, **lacking}
                else:
                    continue
                results.append(row)
            yield row


def _identity(picture: Original, sha256: str, codec: Codec, point: float) -> Row:
    height, width = picture.samples.shape[:2]
    return {
        "picture": sha256,
        "name": picture.name,
        "width": width,
        "height": height,
        "form": picture.kind.planes,
        "depth": picture.depth,
        "white": picture.picture().white,
        **({} if picture.range is None else {"range": list(picture.range)}),
        "codec": codec.name,
        "knob": codec.knob,
        "point": point,
        "settings": codec.settings,
        "versions": dict(codec.versions),
        "backend": codec.backend,
        "machine": machine(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


@dataclass(frozen=True)
class Measurement:
    """A file of a picture, and its measurements.

    Parameters
    ----------
    data : bytes
    decoded : Picture
    quality : Quality
        Metrics of the colours, with the picture's range as their peak.
    alpha_error : int or None
        Largest error of alpha; None without alpha.
    encode_seconds, decode_seconds : float
    """

    data: bytes
    decoded: Picture
    quality: Quality
    alpha_error: int | None
    encode_seconds: float
    decode_seconds: float


def coded(
    picture: Original,
    codec: Codec,
    point: float,
    timed: Callable[..., tuple[float, Any]],
    metrics: Sequence[Metric] = DEFAULT,
) -> Measurement:
    """Encode, decode and measure a picture at an operating point.

    Parameters
    ----------
    picture : Original
    codec : Codec
        A codec of the picture's kind.
    point : float
    timed : callable
        ``timed(function)`` calls a function, and returns the time in seconds and the result.
    metrics : sequence of Metric

    Raises
    ------
    ValueError
        When the decoded picture has another shape or type.
    Exception
        What the codec raises.
    """
    samples = picture.samples
    encode_seconds, data = timed(lambda: codec.encode(samples, point))
    decode_seconds, decoded = timed(lambda: codec.decode(data))
    if decoded.shape != samples.shape or decoded.dtype != samples.dtype:
        raise ValueError(f"decodes to {decoded.shape} of {decoded.dtype}, not {samples.shape}")
    result = picture.picture(decoded)
    alpha = max_error(samples[..., -1], decoded[..., -1]) if picture.kind.alpha else None
    quality = _quality(picture, result, metrics)
    return Measurement(data, result, quality, alpha, encode_seconds, decode_seconds)


def _quality(picture: Original, decoded: Picture, metrics: Sequence[Metric]) -> Quality:
    """Measure the colours of a decoded picture."""
    original = picture.picture()
    shown = original.without_alpha().samples, decoded.without_alpha().samples
    return measure(*shown, white=original.white, levels=picture.range, metrics=metrics)


def _lacking(picture: Original, done: Row, path: Path, metrics: Sequence[Metric]) -> Row:
    """Return the values of metrics that a result lacks; none without its decoded picture."""
    lacking = [metric for metric in metrics if metric.key not in done]
    if "error" in done or not lacking or not path.is_file():
        return {}
    decoded = pictures.read(path, limits=UNLIMITED)
    return dict(_quality(picture, picture.picture(decoded.samples), lacking).values)


def _outcome(
    picture: Original,
    codec: Codec,
    point: float,
    repeat: int,
    results: Results,
    key: str,
    metrics: Sequence[Metric],
) -> Row:
    """Return the measurements of a point, or the error of the codec."""
    edges = None
    try:
        found = coded(picture, codec, point, partial(_timed, repeat=repeat), metrics)
        if codec.edges is not None:
            edges = codec.edges(found.data)
    except Exception as error:  # any codec may fail in any way
        reason = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {reason}" if reason else type(error).__name__}
    save_png(results.decoded(key), found.decoded)
    if codec.suffix is not None:
        results.keep_coded(key, codec.suffix, found.data)
    height, width = picture.samples.shape[:2]
    if edges is not None:
        top, left = (edge[:height, :width] for edge in edges)
        save_png(results.tree(key), Picture.of((top + 2 * left).astype(np.uint8)))
    megapixels = height * width / 1e6
    return {
        "bytes": len(found.data),
        "suffix": codec.suffix,
        "bpp": 8 * len(found.data) / (height * width),
        **found.quality.as_dict(),
        "alpha_error": found.alpha_error,
        "encode_seconds": found.encode_seconds,
        "decode_seconds": found.decode_seconds,
        "runs": repeat,
        "encode_megapixels_per_second": megapixels / found.encode_seconds,
        "decode_megapixels_per_second": megapixels / found.decode_seconds,
    }


def _timed(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the median wall time in seconds, and the last result."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), result
