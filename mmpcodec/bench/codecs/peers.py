"""Codecs of other people in their best settings, from Pillow, imagecodecs and PyAV.

All take 8-bit gray and give it back; where a format knows only colour, that is said in its
settings. Each has its own ladder, because equal quality numbers are not equal quality.
"""

import io
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import Image, features
from PIL import __version__ as pillow_version

from mmpcodec.bench.codecs.base import Codec, operating_points, parse, spelled
from mmpcodec.errors import MissingExtra, ParameterError

Ladder = tuple[float, ...]

AVIF_TUNES = ("psnr", "default", "ssim", "iq")
"""What AVIF may be tuned for; "default" leaves it to the library."""


def peers(text: str) -> list[Codec]:
    """The codecs that a string names.

    Parameters
    ----------
    text : str
        One of ``NAMES``, and the codec's knob or, for AVIF, its tune as options, such as
        ``avif:tune=psnr`` or ``jpeg:quality=20/40/80``. ``avif`` alone is two codecs: tuned for
        PSNR, and as the library tunes it.

    Raises
    ------
    ParameterError
        For an unknown name or option.
    MissingExtra
        When a package is missing.
    """
    name, options = parse(text)
    if name not in _MAKERS:
        raise ParameterError(f"peer {text!r}: must be one of {', '.join(NAMES)}")
    if name == "avif" and "tune" not in options:
        return [_avif({**options, "tune": tune}) for tune in AVIF_TUNES[:2]]
    return [_MAKERS[name](options)]


_RANGES: dict[str, dict[str, Any]] = {
    "quality": {"low": 1, "high": 100, "whole": True},
    "qp": {"low": 1, "high": 51, "whole": True},
    "ratio": {"low": 1, "high": 10000},
    "distance": {"low": 0.05, "high": 25},
}
"""What each knob may be set to."""


def _ladder(
    name: str, options: Mapping[str, str], knob: str, default: Ladder
) -> tuple[Ladder, dict[str, str]]:
    """Operating points of a codec, and its other options."""
    rest = dict(options)
    given = rest.pop(knob, None)
    ladder = (
        default if given is None else operating_points(f"{name} {knob}", given, **_RANGES[knob])
    )
    return ladder, rest


def _reject(name: str, rest: Mapping[str, str], knob: str) -> None:
    if rest:
        raise ParameterError(f"{name}: unknown option {min(rest)!r}; known are {knob}")


def _pillow(
    name: str,
    format: str,
    feature: str,
    ladder: Ladder,
    settings: str,
    save: Callable[[float], dict[str, Any]],
    knob: str,
) -> Codec:
    """A codec of Pillow; ``save`` gives the arguments of ``Image.save`` at an operating point."""
    if not features.check(feature):
        raise MissingExtra(f"{name}: Pillow {pillow_version} was built without it")

    def encode(samples: np.ndarray, point: float) -> bytes:
        stream = io.BytesIO()
        Image.fromarray(samples).save(stream, format, **save(point))
        return stream.getvalue()

    def decode(data: bytes) -> np.ndarray:
        with Image.open(io.BytesIO(data), formats=[format]) as image:
            return np.array(image.convert("L"))

    versions = {"pillow": pillow_version, name.partition(":")[0]: str(features.version(feature))}
    return Codec(name, knob, ladder, settings, versions, encode, decode)


def _jpeg(options: Mapping[str, str]) -> Codec:
    default = (5.0, 10.0, 20.0, 35.0, 50.0, 65.0, 80.0, 90.0, 95.0)
    ladder, rest = _ladder("jpeg", options, "quality", default)
    _reject("jpeg", rest, "quality")
    return _pillow(
        "jpeg",
        "JPEG",
        "jpg",
        ladder,
        "gray, optimised Huffman tables, progressive",
        lambda point: {"quality": int(point), "optimize": True, "progressive": True},
        "quality",
    )


def _jpeg2000(options: Mapping[str, str]) -> Codec:
    default = (3.5, 5.0, 8.0, 12.0, 20.0, 32.0, 50.0, 80.0, 140.0)
    ladder, rest = _ladder("jpeg2000", options, "ratio", default)
    _reject("jpeg2000", rest, "ratio")
    return _pillow(
        "jpeg2000",
        "JPEG2000",
        "jpg_2000",
        ladder,
        "gray, irreversible 9/7 wavelet, one layer, bare codestream",
        lambda point: {
            "irreversible": True,
            "quality_mode": "rates",
            "quality_layers": [point],
            "no_jp2": True,
        },
        "ratio",
    )


def _webp(options: Mapping[str, str]) -> Codec:
    default = (1.0, 10.0, 25.0, 45.0, 65.0, 80.0, 90.0, 95.0, 99.0)
    ladder, rest = _ladder("webp", options, "quality", default)
    _reject("webp", rest, "quality")
    return _pillow(
        "webp",
        "WEBP",
        "webp",
        ladder,
        "method 6; WebP knows no gray: equal red, green and blue",
        lambda point: {"quality": int(point), "method": 6},
        "quality",
    )


def _avif(options: Mapping[str, str]) -> Codec:
    default = (15.0, 30.0, 45.0, 60.0, 75.0, 90.0)
    ladder, rest = _ladder("avif", options, "quality", default)
    tune = rest.pop("tune")
    _reject("avif", rest, "quality, tune")
    if tune not in AVIF_TUNES:
        raise ParameterError(f"avif: tune = {tune!r}: must be one of {', '.join(AVIF_TUNES)}")
    advanced = {} if tune == "default" else {"advanced": {"tune": tune}}
    return _pillow(
        spelled("avif", {"tune": tune}),
        "AVIF",
        "avif",
        ladder,
        f"gray (4:0:0), speed 0, tune {tune}",
        lambda point: {"quality": int(point), "speed": 0, "subsampling": "4:0:0", **advanced},
        "quality",
    )


def _jxl(options: Mapping[str, str]) -> Codec:
    default = (0.3, 0.6, 1.0, 1.8, 3.0, 5.0, 8.0, 14.0)
    ladder, rest = _ladder("jxl", options, "distance", default)
    _reject("jxl", rest, "distance")
    try:
        import imagecodecs
    except ImportError as error:
        raise MissingExtra("jxl: needs imagecodecs; install mmpcodec[bench]") from error
    versions = {
        "imagecodecs": imagecodecs.__version__,
        "jxl": imagecodecs.jpegxl_version().removeprefix("libjxl "),
    }
    return Codec(
        "jxl",
        "distance",
        ladder,
        "gray, effort 9",
        versions,
        lambda samples, point: bytes(imagecodecs.jpegxl_encode(samples, distance=point, effort=9)),
        lambda data: np.asarray(imagecodecs.jpegxl_decode(data)),
    )


def _hevc(options: Mapping[str, str]) -> Codec:
    default = (18.0, 22.0, 26.0, 30.0, 34.0, 38.0, 42.0, 46.0)
    ladder, rest = _ladder("hevc", options, "qp", default)
    _reject("hevc", rest, "qp")
    try:
        import av
    except ImportError as error:
        raise MissingExtra("hevc: needs PyAV; install mmpcodec[bench]") from error

    def encode(samples: np.ndarray, point: float) -> bytes:
        height, width = samples.shape
        context: Any = av.CodecContext.create("libx265", "w")
        context.width, context.height, context.pix_fmt = width, height, "gray"
        context.time_base = Fraction(1, 25)
        context.options = {
            "preset": "placebo",
            "tune": "psnr",
            "x265-params": f"qp={int(point)}:keyint=1:info=0:log-level=none",
        }
        frame = av.VideoFrame.from_ndarray(samples, format="gray")
        frame.pts = 0
        return b"".join(bytes(packet) for packet in [*context.encode(frame), *context.encode(None)])

    def decode(data: bytes) -> np.ndarray:
        context: Any = av.CodecContext.create("hevc", "r")
        return [*context.decode(av.Packet(data)), *context.decode(None)][0].to_ndarray()

    versions = {"av": av.__version__}
    settings = "x265, gray (4:0:0), one intra picture, preset placebo, tune psnr, no info message"
    return Codec("hevc", "qp", ladder, settings, versions, encode, decode)


_MAKERS: dict[str, Callable[[Mapping[str, str]], Codec]] = {
    "jpeg": _jpeg,
    "jpeg2000": _jpeg2000,
    "webp": _webp,
    "avif": _avif,
    "jxl": _jxl,
    "hevc": _hevc,
}
NAMES = tuple(_MAKERS)
"""Names of all peers."""

IN_PILLOW = ("jpeg", "jpeg2000", "webp", "avif")
"""Peers that need nothing but Pillow."""
