"""Peers of imagecodecs: JPEG XL, and JPEG 2000 and AVIF of more than 8 bits a sample."""

from typing import Any

import numpy as np

from mmpcodec.bench.codecs.base import Codec, SampleKind
from mmpcodec.bench.codecs.by_pillow import QUALITIES_OF_AVIF, SUBSAMPLINGS
from mmpcodec.bench.codecs.conversion import at_depth, scaling
from mmpcodec.bench.codecs.settings import Settings
from mmpcodec.depth import BYTE
from mmpcodec.errors import MissingExtra, install

AVIF_DEPTHS = (10, 12)
"""Bits per sample of AVIF above 8."""


def imagecodecs_for(name: str) -> Any:
    """Return the module imagecodecs.

    Raises
    ------
    MissingExtra
        If it is missing; the message begins with the name of the peer.
    """
    try:
        import imagecodecs
    except ImportError as error:
        raise MissingExtra(f"{name}: needs imagecodecs; {install('bench')}") from error
    return imagecodecs


def jxl(settings: Settings, kind: SampleKind) -> Codec:
    """Return JPEG XL by libjxl."""
    ladder = settings.ladder("distance", (0.3, 0.6, 1.0, 1.8, 3.0, 5.0, 8.0, 14.0))
    effort = settings.level("effort", 9)
    imagecodecs = imagecodecs_for("jxl")
    coded = max(kind.depth, BYTE)

    def encode(samples: np.ndarray, point: float) -> bytes:
        scaled = at_depth(samples, kind.depth, coded)
        depth = None if coded == BYTE else coded
        data = imagecodecs.jpegxl_encode(scaled, distance=point, effort=effort, bitspersample=depth)
        return bytes(data)

    return Codec(
        settings.spelled(),
        "distance",
        ladder,
        f"{kind.planes}, effort {effort}{scaling(kind.depth, coded)}",
        _versions(imagecodecs, "jxl", imagecodecs.jpegxl_version(), "libjxl "),
        encode,
        lambda data: at_depth(imagecodecs.jpegxl_decode(data), coded, kind.depth),
    )


def jpeg2000(settings: Settings, kind: SampleKind) -> Codec:
    """Return JPEG 2000 by OpenJPEG, at an aimed PSNR."""
    settings.ladder("ratio", ())  # of 8 bits; imagecodecs takes no ratio
    ladder = settings.ladder("psnr", (26.0, 30.0, 34.0, 38.0, 42.0, 46.0, 50.0, 55.0, 60.0))
    imagecodecs = imagecodecs_for("jpeg2000")

    def encode(samples: np.ndarray, point: float) -> bytes:
        data = imagecodecs.jpeg2k_encode(
            samples,
            point,
            codecformat="j2k",
            reversible=False,
            bitspersample=kind.depth,
            mct=kind.colour,
        )
        return bytes(data)

    return Codec(
        settings.spelled(),
        "psnr",
        ladder,
        f"{kind.planes}, irreversible 9/7 wavelet, one layer, bare codestream",
        _versions(imagecodecs, "jpeg2000", imagecodecs.jpeg2k_version(), "openjpeg "),
        encode,
        lambda data: at_depth(imagecodecs.jpeg2k_decode(data), kind.depth, kind.depth),
    )


def avif(settings: Settings, kind: SampleKind) -> Codec:
    """Return AVIF of 10 or 12 bits, the least that hold the samples; its tune is the library's."""
    ladder, speed = settings.ladder("quality", QUALITIES_OF_AVIF), settings.level("speed", 0)
    imagecodecs = imagecodecs_for("avif")
    coded = next(depth for depth in AVIF_DEPTHS if kind.depth <= depth)
    chroma = settings.choice("chroma", (*SUBSAMPLINGS,), "444") if kind.colour else "400"
    # Texts name another format in each version of imagecodecs.
    pixel_format = imagecodecs.AVIF.PIXEL_FORMAT[f"YUV{chroma}"]

    def encode(samples: np.ndarray, point: float) -> bytes:
        scaled = at_depth(samples, kind.depth, coded)
        if not kind.colour:
            # imagecodecs codes gray arrays without loss at every quality.
            gray, *alpha = np.moveaxis(np.atleast_3d(scaled), 2, 0)
            scaled = np.stack([gray, gray, gray, *alpha], axis=2)
        data = imagecodecs.avif_encode(
            scaled, int(point), speed=speed, bitspersample=coded, pixelformat=pixel_format
        )
        return bytes(data)

    def decode(data: bytes) -> np.ndarray:
        found = imagecodecs.avif_decode(data)
        if not kind.colour and found.ndim == 3 and found.shape[2] >= 3:
            found = found[..., [0, 3]] if kind.alpha else found[..., 0]
        return at_depth(found, coded, kind.depth)

    subsampling = SUBSAMPLINGS.get(chroma, "4:0:0")
    return Codec(
        settings.spelled(),
        "quality",
        ladder,
        f"{kind.planes} ({subsampling}), speed {speed}, tune default{scaling(kind.depth, coded)}",
        _versions(imagecodecs, "avif", imagecodecs.avif_version(), "libavif "),
        encode,
        decode,
    )


def _versions(imagecodecs: Any, name: str, version: str, title: str) -> dict[str, str]:
    return {"imagecodecs": imagecodecs.__version__, name: version.removeprefix(title)}
