"""Other codecs at their best settings, from Pillow, imagecodecs and PyAV.

All codecs code 8-bit gray, and those in ``IN_COLOUR`` also code 8-bit RGB. If a format has no gray,
the settings say so. Each codec has its own ladder, because equal quality numbers of two codecs do
not mean equal quality.
"""

import io
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from PIL import Image, features
from PIL import __version__ as pillow_version

from mmpcodec.bench.codecs.base import Codec, operating_points, parse, spelled
from mmpcodec.errors import MissingExtra, ParameterError, install

Ladder = tuple[float, ...]

HEVC_PRESETS = (
    *("ultrafast", "superfast", "veryfast", "faster", "fast"),
    *("medium", "slow", "slower", "veryslow", "placebo"),
)
AVIF_TUNES = ("psnr", "default", "ssim", "iq")
"""Allowed values of AVIF's tune; "default" leaves the choice to the library."""


def peers(text: str, *, colour: bool = False) -> list[Codec]:
    """Return the codecs that a string names.

    Parameters
    ----------
    text : str
        One of ``NAMES`` with options: the codec's knob, WebP's method, AVIF's tune and speed,
        JPEG XL's effort, x265's preset and threads. Examples are ``avif:tune=psnr,speed=6`` and
        ``jpeg:quality=20/40/80``. ``avif`` without a tune gives two codecs: one tuned for PSNR, one
        with the library's default.
    colour : bool
        Code (H, W, 3) arrays in place of (H, W) arrays.

    Raises
    ------
    ParameterError
        For an unknown name or option, or for colour where the codec is not in ``IN_COLOUR``.
    MissingExtra
        When a package is missing.
    """
    name, options = parse(text)
    if name not in NAMES:
        raise ParameterError(f"peer {text!r}: must be one of {', '.join(NAMES)}")
    if name in IN_COLOUR:
        tunes = AVIF_TUNES[:2] if name == "avif" and "tune" not in options else ()
        chosen = [{**options, "tune": tune} for tune in tunes] or [options]
        return [IN_COLOUR[name](each, colour) for each in chosen]
    if colour:
        raise ParameterError(f"peer {text!r}: codes gray; colour is for {', '.join(IN_COLOUR)}")
    return [_GRAY[name](options)]


_RANGES: dict[str, dict[str, Any]] = {
    "quality": {"low": 1, "high": 100, "whole": True},
    "qp": {"low": 1, "high": 51, "whole": True},
    "ratio": {"low": 1, "high": 10000},
    "distance": {"low": 0.05, "high": 25},
    "speed": {"low": 0, "high": 10, "whole": True},
    "effort": {"low": 1, "high": 10, "whole": True},
    "method": {"low": 0, "high": 6, "whole": True},
}
"""Limits of the knobs, of AVIF's speed, of JPEG XL's effort and of WebP's method."""


def _ladder(
    name: str, options: Mapping[str, str], knob: str, default: Ladder
) -> tuple[Ladder, dict[str, str]]:
    """Return the operating points of a codec, and its other options."""
    rest = dict(options)
    given = rest.pop(knob, None)
    ladder = (
        default if given is None else operating_points(f"{name} {knob}", given, **_RANGES[knob])
    )
    return ladder, rest


def _level(name: str, rest: dict[str, str], option: str, default: str) -> int:
    """Return the value of speed, effort or method, and remove it from ``rest``."""
    text = rest.pop(option, default)
    (value,) = operating_points(f"{name} {option}", text, ",", **_RANGES[option])
    return int(value)


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
    mode: str = "L",
) -> Codec:
    """Return a codec of Pillow.

    ``save(point)`` returns the arguments of ``Image.save`` at an operating point.
    """
    if not features.check(feature):
        raise MissingExtra(f"{name}: Pillow {pillow_version} was built without it")

    def encode(samples: np.ndarray, point: float) -> bytes:
        stream = io.BytesIO()
        Image.fromarray(samples).save(stream, format, **save(point))
        return stream.getvalue()

    def decode(data: bytes) -> np.ndarray:
        with Image.open(io.BytesIO(data), formats=[format]) as image:
            return np.array(image.convert(mode))

    versions = {"pillow": pillow_version, name.partition(":")[0]: str(features.version(feature))}
    return Codec(name, knob, ladder, settings, versions, encode, decode)


def _kind(colour: bool) -> str:
    return "RGB" if colour else "gray"


def _mode(colour: bool) -> str:
    """Return Pillow's mode of the decoded picture."""
    return "RGB" if colour else "L"


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


def _jpeg2000(options: Mapping[str, str], colour: bool) -> Codec:
    default = (3.5, 5.0, 8.0, 12.0, 20.0, 32.0, 50.0, 80.0, 140.0)
    ladder, rest = _ladder("jpeg2000", options, "ratio", default)
    _reject("jpeg2000", rest, "ratio")
    return _pillow(
        "jpeg2000",
        "JPEG2000",
        "jpg_2000",
        ladder,
        f"{_kind(colour)}, irreversible 9/7 wavelet, one layer, bare codestream",
        lambda point: {
            "irreversible": True,
            "quality_mode": "rates",
            "quality_layers": [point],
            "no_jp2": True,
            "mct": int(colour),
        },
        "ratio",
        _mode(colour),
    )


def _webp(options: Mapping[str, str], colour: bool) -> Codec:
    default = (1.0, 10.0, 25.0, 45.0, 65.0, 80.0, 90.0, 95.0, 99.0)
    ladder, rest = _ladder("webp", options, "quality", default)
    named, method = spelled("webp", rest), _level("webp", rest, "method", "6")
    _reject("webp", rest, "method, quality")
    kind = "RGB (4:2:0)" if colour else "WebP knows no gray: equal red, green and blue"
    return _pillow(
        named,
        "WEBP",
        "webp",
        ladder,
        f"method {method}; {kind}",
        lambda point: {"quality": int(point), "method": method},
        "quality",
        _mode(colour),
    )


def _avif(options: Mapping[str, str], colour: bool) -> Codec:
    default = (15.0, 30.0, 45.0, 60.0, 75.0, 90.0)
    ladder, rest = _ladder("avif", options, "quality", default)
    named = spelled("avif", rest)
    tune, speed = rest.pop("tune"), _level("avif", rest, "speed", "0")
    _reject("avif", rest, "quality, speed, tune")
    if tune not in AVIF_TUNES:
        raise ParameterError(f"avif: tune = {tune!r}: must be one of {', '.join(AVIF_TUNES)}")
    subsampling = "4:4:4" if colour else "4:0:0"
    settings: dict[str, Any] = {"speed": speed, "subsampling": subsampling}
    if tune != "default":
        settings["advanced"] = {"tune": tune}
    return _pillow(
        named,
        "AVIF",
        "avif",
        ladder,
        f"{_kind(colour)} ({subsampling}), speed {speed}, tune {tune}",
        lambda point: {"quality": int(point), **settings},
        "quality",
        _mode(colour),
    )


def _jxl(options: Mapping[str, str], colour: bool) -> Codec:
    default = (0.3, 0.6, 1.0, 1.8, 3.0, 5.0, 8.0, 14.0)
    ladder, rest = _ladder("jxl", options, "distance", default)
    named, effort = spelled("jxl", rest), _level("jxl", rest, "effort", "9")
    _reject("jxl", rest, "distance, effort")
    try:
        import imagecodecs
    except ImportError as error:
        raise MissingExtra(f"jxl: needs imagecodecs; {install('bench')}") from error
    versions = {
        "imagecodecs": imagecodecs.__version__,
        "jxl": imagecodecs.jpegxl_version().removeprefix("libjxl "),
    }

    def encode(samples: np.ndarray, point: float) -> bytes:
        return bytes(imagecodecs.jpegxl_encode(samples, distance=point, effort=effort))

    return Codec(
        named,
        "distance",
        ladder,
        f"{_kind(colour)}, effort {effort}",
        versions,
        encode,
        lambda data: np.asarray(imagecodecs.jpegxl_decode(data)),
    )


def _hevc(options: Mapping[str, str], colour: bool) -> Codec:
    default = (18.0, 22.0, 26.0, 30.0, 34.0, 38.0, 42.0, 46.0)
    ladder, rest = _ladder("hevc", options, "qp", default)
    named, preset = spelled("hevc", rest), rest.pop("preset", "placebo")
    threads = rest.pop("threads", None)
    _reject("hevc", rest, "preset, qp, threads")
    if threads not in (None, "1"):
        raise ParameterError(f"hevc: threads = {threads!r}: must be 1, or left out")
    if preset not in HEVC_PRESETS:
        raise ParameterError(f"hevc: preset = {preset!r}: must be one of {', '.join(HEVC_PRESETS)}")
    try:
        import av
    except ImportError as error:
        raise MissingExtra(f"hevc: needs PyAV; {install('bench')}") from error
    if "libx265" not in av.codecs_available:
        raise MissingExtra(f"hevc: PyAV {av.__version__} was built without x265")
    # With several threads x265 codes wavefronts, which takes 0.8 % more bytes.
    more = "" if threads is None else ":pools=none:frame-threads=1"
    format, subsampling = ("yuv444p", "4:4:4") if colour else ("gray", "4:0:0")

    def encode(samples: np.ndarray, point: float) -> bytes:
        context: Any = av.CodecContext.create("libx265", "w")
        context.height, context.width = samples.shape[:2]
        context.pix_fmt, context.time_base = format, Fraction(1, 25)
        context.options = {
            "preset": preset,
            "tune": "psnr",
            "x265-params": f"qp={int(point)}:keyint=1:info=0:log-level=none{more}",
        }
        frame = av.VideoFrame.from_ndarray(_planes(samples) if colour else samples, format=format)
        frame.pts = 0
        return b"".join(bytes(packet) for packet in [*context.encode(frame), *context.encode(None)])

    def decode(data: bytes) -> np.ndarray:
        context: Any = av.CodecContext.create("hevc", "r")
        found = [*context.decode(av.Packet(data)), *context.decode(None)][0].to_ndarray()
        return _rgb(found) if colour else found

    versions = {"av": av.__version__}
    settings = (
        f"x265, {_kind(colour)} ({subsampling}), one intra picture, preset {preset}, tune psnr, "
        f"{'several threads' if threads is None else 'one thread'}, no info message"
    )
    return Codec(named, "qp", ladder, settings, versions, encode, decode)


def _planes(samples: np.ndarray) -> np.ndarray:
    """Return the (3, H, W) planes of luma and chroma of an RGB picture, in full range."""
    coded = Image.fromarray(samples).convert("YCbCr")
    return np.ascontiguousarray(np.moveaxis(np.asarray(coded), 2, 0))


def _rgb(planes: np.ndarray) -> np.ndarray:
    """Return the RGB picture of (3, H, W) planes of luma and chroma in full range."""
    stacked = np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    return np.asarray(Image.fromarray(stacked, "YCbCr").convert("RGB"))


_GRAY: dict[str, Callable[[Mapping[str, str]], Codec]] = {
    "jpeg": _jpeg,
}
IN_COLOUR: dict[str, Callable[[Mapping[str, str], bool], Codec]] = {
    "jpeg2000": _jpeg2000,
    "avif": _avif,
    "jxl": _jxl,
    "webp": _webp,
    "hevc": _hevc,
}
"""Codecs that also code RGB."""

NAMES = ("jpeg", "jpeg2000", "webp", "avif", "jxl", "hevc")
"""Names of all codecs of this module."""

IN_PILLOW = ("jpeg", "jpeg2000", "webp", "avif")
"""Codecs that need only Pillow."""
