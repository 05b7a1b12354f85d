"""Peers of Pillow: JPEG, JPEG 2000, WebP and AVIF of 8 bits a sample."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, features
from PIL import __version__ as pillow_version

from mmpcodec.bench.codecs.base import Codec, SampleKind
from mmpcodec.bench.codecs.conversion import at_depth, scaling
from mmpcodec.bench.codecs.settings import Ladder, Settings
from mmpcodec.depth import BYTE
from mmpcodec.errors import MissingExtra

NO_TUNE = "default"
"""Value of AVIF's tune that leaves the choice to the library."""
AVIF_TUNES = ("psnr", NO_TUNE, "ssim", "iq", "ssimulacra2")
"""Allowed values of AVIF's tune."""

AVIF_ALONE = {"max_threads": 1, "autotiling": False}
"""One thread and one tile: otherwise the number of processors changes AVIF's bytes."""
QUALITIES_OF_AVIF = (15.0, 30.0, 45.0, 60.0, 75.0, 90.0)
SUBSAMPLINGS = {"444": "4:4:4", "420": "4:2:0"}
"""Values of the option chroma, as Pillow writes them."""

SUFFIXES = {"JPEG": ".jpg", "WEBP": ".webp", "AVIF": ".avif"}
"""Suffixes of the formats that all browsers decode."""

_MODES = ("L", "LA", "RGB", "RGBA")


def codec(
    settings: Settings,
    format: str,
    feature: str,
    knob: str,
    ladder: Ladder,
    described: str,
    kind: SampleKind,
    save: Callable[[float], dict[str, Any]],
) -> Codec:
    """Return a codec of Pillow, of at most 8 bits a sample.

    ``save(point)`` returns the arguments of ``Image.save`` at an operating point.

    Raises
    ------
    MissingExtra
        If Pillow was built without the format.
    """
    if not features.check(feature):
        raise MissingExtra(f"{settings.name}: Pillow {pillow_version} was built without it")
    mode = _MODES[kind.form]

    def encode(samples: np.ndarray, point: float) -> bytes:
        stream = io.BytesIO()
        Image.fromarray(at_depth(samples, kind.depth, BYTE)).save(stream, format, **save(point))
        return stream.getvalue()

    def decode(data: bytes) -> np.ndarray:
        with Image.open(io.BytesIO(data), formats=[format]) as image:
            return at_depth(np.array(image.convert(mode)), BYTE, kind.depth)

    versions = {"pillow": pillow_version, settings.name: str(features.version(feature))}
    name, described = settings.spelled(), described + scaling(kind.depth, BYTE)
    # A canvas has no colours below transparent pixels, and other depths are scaled.
    suffix = SUFFIXES.get(format) if kind.depth == BYTE and not kind.alpha else None
    return Codec(name, knob, ladder, described, versions, encode, decode, suffix=suffix)


def jpeg(settings: Settings, kind: SampleKind) -> Codec:
    """Return progressive JPEG with optimised tables."""
    ladder = settings.ladder("quality", (5.0, 10.0, 20.0, 35.0, 50.0, 65.0, 80.0, 90.0, 95.0))
    options: dict[str, Any] = {"optimize": True, "progressive": True}
    planes = kind.planes
    if kind.colour:
        options["subsampling"] = SUBSAMPLINGS[settings.choice("chroma", (*SUBSAMPLINGS,), "444")]
        planes += f" ({options['subsampling']})"
    return codec(
        settings,
        "JPEG",
        "jpg",
        "quality",
        ladder,
        f"{planes}, optimised Huffman tables, progressive",
        kind,
        lambda point: {"quality": int(point), **options},
    )


def jpeg2000(settings: Settings, kind: SampleKind) -> Codec:
    """Return JPEG 2000 by OpenJPEG, at an aimed ratio of sizes."""
    default = (3.5, 5.0, 8.0, 12.0, 20.0, 32.0, 50.0, 80.0, 140.0)
    ladder = settings.ladder("ratio", default)
    settings.ladder("psnr", ())  # of more than 8 bits
    return codec(
        settings,
        "JPEG2000",
        "jpg_2000",
        "ratio",
        ladder,
        f"{kind.planes}, irreversible 9/7 wavelet, one layer, bare codestream",
        kind,
        lambda point: {
            "irreversible": True,
            "quality_mode": "rates",
            "quality_layers": [point],
            "no_jp2": True,
            "mct": int(kind.colour),
        },
    )


def webp(settings: Settings, kind: SampleKind) -> Codec:
    """Return lossy WebP."""
    default = (1.0, 10.0, 25.0, 45.0, 65.0, 80.0, 90.0, 95.0, 99.0)
    ladder, method = settings.ladder("quality", default), settings.level("method", 6)
    grays = "WebP knows no gray: equal red, green and blue"
    # Without "exact", WebP changes the colours below transparent pixels.
    return codec(
        settings,
        "WEBP",
        "webp",
        "quality",
        ladder,
        f"method {method}; {f'{kind.planes} (4:2:0)' if kind.colour else grays}",
        kind,
        lambda point: {"quality": int(point), "method": method, "exact": kind.alpha},
    )


def avif(settings: Settings, kind: SampleKind) -> Codec:
    """Return AVIF of 8 bits."""
    ladder, speed = settings.ladder("quality", QUALITIES_OF_AVIF), settings.level("speed", 0)
    tune = settings.choice("tune", AVIF_TUNES, NO_TUNE)
    subsampling = "4:0:0"
    if kind.colour:
        subsampling = SUBSAMPLINGS[settings.choice("chroma", (*SUBSAMPLINGS,), "444")]
    options: dict[str, Any] = {"speed": speed, "subsampling": subsampling, **AVIF_ALONE}
    if tune != NO_TUNE:
        options["advanced"] = {"tune": tune}
    return codec(
        settings,
        "AVIF",
        "avif",
        "quality",
        ladder,
        f"{kind.planes} ({subsampling}), speed {speed}, tune {tune}, one thread",
        kind,
        lambda point: {"quality": int(point), **options},
    )
