"""The sweep: measure each picture with each codec at each operating point once.

Times are wall times in seconds, from array to bytes and back. They are valid only after
``warm_up``, and if no other process uses the processor.
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import Codec, machine
from mmpcodec.bench.metrics import measure
from mmpcodec.bench.results import Results, Row, key_of, save_png
from mmpcodec.fingerprints import sha256_of

WARM_UP_SIDE = 64


@dataclass(frozen=True)
class Original:
    """A picture to measure.

    Parameters
    ----------
    name : str
        Name in reports.
    samples : (H, W) uint8 array
    """

    name: str
    samples: np.ndarray


def warm_up(codec: Codec) -> None:
    """Encode and decode a small picture once; errors are ignored and recur in the sweep."""
    samples = np.add.outer(np.arange(WARM_UP_SIDE), np.arange(WARM_UP_SIDE)).astype(np.uint8)
    with contextlib.suppress(Exception):
        codec.decode(codec.encode(samples, codec.ladder[-1]))


def sweep(
    picture: Original,
    codecs: Sequence[Codec],
    results: Results,
    *,
    repeat: int = 1,
    retry: bool = False,
) -> Iterator[Row]:
    """Measure the points that are not yet in the results, and append them.

    Parameters
    ----------
    picture : Original
    codecs : sequence of Codec
    results : Results
    repeat : int
        Number of runs; times are medians of the runs.
    retry : bool
        Whether to measure failed points again.

    Yields
    ------
    dict
        New row. Points that another process measures are skipped.
    """
    sha256 = sha256_of(picture.samples)
    if not results.original(sha256).exists():
        save_png(results.original(sha256), picture.samples)
    for codec in codecs:
        for point in codec.ladder:
            row = _identity(picture, sha256, codec, point)
            key = key_of(row)
            with results.claim(key) as claimed:
                results.refresh()
                if not claimed or (key in results.done and not (retry and results.done[key])):
                    continue
                row |= _outcome(picture.samples, codec, point, repeat, results, key)
                results.append(row)
            yield row


def _identity(picture: Original, sha256: str, codec: Codec, point: float) -> Row:
    height, width = picture.samples.shape
    return {
        "picture": sha256,
        "name": picture.name,
        "width": width,
        "height": height,
        "codec": codec.name,
        "knob": codec.knob,
        "point": point,
        "settings": codec.settings,
        "versions": dict(codec.versions),
        "backend": codec.backend,
        "machine": machine(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _outcome(
    samples: np.ndarray, codec: Codec, point: float, repeat: int, results: Results, key: str
) -> Row:
    """Return the measurements of a point, or the error of the codec."""
    edges = None
    try:
        encode_seconds, data = _timed(lambda: codec.encode(samples, point), repeat)
        decode_seconds, decoded = _timed(lambda: codec.decode(data), repeat)
        if decoded.shape != samples.shape or decoded.dtype != np.uint8:
            raise ValueError(f"decodes to {decoded.shape} of {decoded.dtype}, not {samples.shape}")
        if codec.edges is not None:
            edges = codec.edges(data)
    except Exception as error:  # any codec may fail in any way
        reason = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {reason}" if reason else type(error).__name__}
    save_png(results.decoded(key), decoded)
    if edges is not None:
        height, width = samples.shape
        top, left = (edge[:height, :width] for edge in edges)
        save_png(results.tree(key), (top + 2 * left).astype(np.uint8))
    megapixels = samples.size / 1e6
    return {
        "bytes": len(data),
        "bpp": 8 * len(data) / samples.size,
        **asdict(measure(samples, decoded)),
        "encode_seconds": encode_seconds,
        "decode_seconds": decode_seconds,
        "runs": repeat,
        "encode_megapixels_per_second": megapixels / encode_seconds,
        "decode_megapixels_per_second": megapixels / decode_seconds,
    }


def _timed(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the median wall time in seconds, and the last result."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), result
