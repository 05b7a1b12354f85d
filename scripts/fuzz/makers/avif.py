"""AVIF files: small files of Pillow, whose boxes are changed."""

import functools
import io
from typing import Any

import numpy as np
from parts import boxes
from parts.choices import Choices
from PIL import Image, features


@functools.cache
def _valid(height: int, width: int, planes: int, frames: int) -> bytes:
    if not features.check("avif"):
        return b""
    random = np.random.default_rng(height)
    first, *more = (
        Image.fromarray(random.integers(0, 256, (height, width, planes), np.uint8))
        for _ in range(frames)
    )
    stream = io.BytesIO()
    options: dict[str, Any] = {"save_all": True, "append_images": more} if more else {}
    first.save(stream, "AVIF", quality=40, speed=10, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0", **options)
    return stream.getvalue()


def make(choices: Choices) -> bytes:
    """Make a file."""
    sides = choices.choice((1, 16, 40)), choices.choice((1, 16, 70))
    return boxes.changed(choices, _valid(*sides, choices.choice((3, 4)), choices.choice((1, 1, 2))))
