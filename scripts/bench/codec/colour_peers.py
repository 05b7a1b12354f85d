"""Other codecs for RGB pictures and for samples of more than 8 bits, by Pillow and imagecodecs.

``mmpcodec.bench.codecs.peers`` has the codecs for 8-bit gray. This module holds no command.
"""

import io
import math
from typing import Any

import numpy as np
from PIL import Image

from mmpcodec import pictures

RATIOS = (4, 6, 9, 14, 22, 36, 60, 110)
QUALITIES = (25, 45, 60, 75, 85, 93)

Made = tuple[int, np.ndarray | None]
"""Bytes of a file, and its decoded samples; None if the codec is lossless."""


def pillow(picture: pictures.Picture, format: str, options: dict[str, Any]) -> Made:
    stream = io.BytesIO()
    Image.fromarray(picture.samples).save(stream, format, **options)
    with Image.open(io.BytesIO(stream.getvalue()), formats=[format]) as image:
        mode = "L" if picture.planes == 1 else "RGB"
        return len(stream.getvalue()), np.array(image.convert(mode))


def jpeg2000(picture: pictures.Picture, ratio: float) -> Made:
    if picture.depth == 8:
        options = {"irreversible": True, "quality_mode": "rates", "no_jp2": True}
        options["mct"] = int(picture.planes == 3)
        return pillow(picture, "JPEG2000", {**options, "quality_layers": [ratio]})
    import imagecodecs

    # Its level is a PSNR of 16 bits, and may have a fraction.
    level: Any = 110 - 20 * math.log10(ratio) - 6.02 * (16 - picture.depth)
    data = imagecodecs.jpeg2k_encode(
        picture.samples, level, codecformat="j2k", reversible=False, bitspersample=picture.depth
    )
    return len(data), imagecodecs.jpeg2k_decode(data)


def avif(picture: pictures.Picture, quality: float, speed: int) -> Made:
    options = {"quality": int(quality), "speed": speed, "subsampling": "4:4:4"}
    return pillow(picture, "AVIF", {**options, "advanced": {"tune": "psnr"}})


def jpegxl(picture: pictures.Picture, distance: float, effort: int = 7) -> Made:
    import imagecodecs

    scaled = picture.samples << (16 - picture.depth) if picture.depth > 8 else picture.samples
    data = imagecodecs.jpegxl_encode(scaled, distance=distance, effort=effort)
    decoded = imagecodecs.jpegxl_decode(data)
    return len(data), decoded >> (16 - picture.depth) if picture.depth > 8 else decoded


def jpegls(picture: pictures.Picture, error: int) -> Made:
    import imagecodecs

    data = imagecodecs.jpegls_encode(picture.samples, error)
    return len(data), imagecodecs.jpegls_decode(data)
