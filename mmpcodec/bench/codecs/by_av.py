"""The peer of PyAV: HEVC by x265, of 8, 10 or 12 bits a sample."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import Codec, SampleKind
from mmpcodec.bench.codecs.by_pillow import SUBSAMPLINGS
from mmpcodec.bench.codecs.conversion import at_depth, luma_and_chroma, rgb_of, scaling
from mmpcodec.bench.codecs.settings import Settings
from mmpcodec.errors import MissingExtra, ParameterError, install

PRESETS = (
    *("ultrafast", "superfast", "veryfast", "faster", "fast"),
    *("medium", "slow", "slower", "veryslow", "placebo"),
)
DEPTHS = (8, 10, 12)
"""Bits per sample of HEVC."""


def hevc(settings: Settings, kind: SampleKind) -> Codec:
    """Return HEVC by x265."""
    ladder = settings.ladder("qp", (18.0, 22.0, 26.0, 30.0, 34.0, 38.0, 42.0, 46.0))
    named = settings.spelled()
    preset = settings.choice("preset", PRESETS, "placebo")
    threads = settings.option("threads")
    if threads not in (None, "1"):
        raise ParameterError(f"hevc: threads = {threads!r}: must be 1, or left out")
    try:
        import av
    except ImportError as error:
        raise MissingExtra(f"hevc: needs PyAV; {install('bench')}") from error
    if "libx265" not in av.codecs_available:
        raise MissingExtra(f"hevc: PyAV {av.__version__} was built without x265")
    # With several threads x265 codes wavefronts, which takes 0.8 % more bytes.
    more = "" if threads is None else ":pools=none:frame-threads=1"
    coded = next(depth for depth in DEPTHS if kind.depth <= depth)
    chroma = settings.choice("chroma", (*SUBSAMPLINGS,), "444") if kind.colour else ""
    format = f"yuv{chroma}p" if chroma else "gray"
    format += f"{coded}le" if coded > 8 else ""

    def encode(samples: np.ndarray, point: float) -> bytes:
        height, width = samples.shape[:2]
        if chroma == "420" and (height % 2 or width % 2):
            raise ParameterError(
                f"hevc: 4:2:0 needs an even width and height, not {width}x{height}"
            )
        scaled = at_depth(samples, kind.depth, coded)
        halved = chroma == "420"
        planes = luma_and_chroma(scaled, coded, halved=halved) if chroma else [scaled]
        context: Any = av.CodecContext.create("libx265", "w")
        context.height, context.width = height, width
        context.pix_fmt, context.time_base = format, Fraction(1, 25)
        context.options = {
            "preset": preset,
            "tune": "psnr",
            "x265-params": f"qp={int(point)}:keyint=1:info=0:log-level=none{more}",
        }
        frame = _frame(av.VideoFrame(width, height, format), planes)
        return b"".join(bytes(packet) for packet in [*context.encode(frame), *context.encode(None)])

    def decode(data: bytes) -> np.ndarray:
        context: Any = av.CodecContext.create("hevc", "r")
        frame = [*context.decode(av.Packet(data)), *context.decode(None)][0]
        planes = [_array(plane, coded) for plane in frame.planes]
        found = rgb_of(planes, coded) if chroma else planes[0]
        return at_depth(found, coded, kind.depth)

    return Codec(
        named,
        "qp",
        ladder,
        f"x265, {kind.planes} ({SUBSAMPLINGS.get(chroma, '4:0:0')}), one intra picture, "
        f"preset {preset}, tune psnr, "
        f"{'several threads' if threads is None else 'one thread'}, no info message"
        f"{scaling(kind.depth, coded)}",
        {"av": av.__version__},
        encode,
        decode,
    )


def _frame(frame: Any, planes: Sequence[np.ndarray]) -> Any:
    """Fill the planes of a frame, whose rows end in padding."""
    for target, plane in zip(frame.planes, planes, strict=True):
        height, width = plane.shape
        rows = np.zeros((height, target.line_size), np.uint8)
        rows[:, : width * plane.itemsize] = plane.astype(plane.dtype.newbyteorder("<")).view(
            np.uint8
        )
        target.update(rows)
    frame.pts = 0
    return frame


def _array(plane: Any, depth: int) -> np.ndarray:
    """Return the samples of a plane of a frame."""
    kind = np.dtype("u1" if depth == 8 else "<u2")
    rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height]
    return np.ascontiguousarray(rows[:, : plane.width * kind.itemsize]).view(kind)
