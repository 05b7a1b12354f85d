"""HEIC files: small files of pillow-heif, whose boxes are changed; AVIF where it is missing."""

import functools
import io

import numpy as np
from parts import boxes
from parts.choices import Choices
from PIL import Image

from makers import avif


@functools.cache
def _valid(height: int, width: int, planes: int) -> bytes:
    try:
        import pillow_heif
    except ImportError:
        return b""
    samples = np.random.default_rng(height).integers(0, 256, (height, width, planes), np.uint8)
    stream = io.BytesIO()
    pillow_heif.from_pillow(Image.fromarray(samples)).save(stream, quality=40)
    return stream.getvalue()


def make(choices: Choices) -> bytes:
    """Make a file."""
    sides = choices.choice((16, 40)), choices.choice((16, 70))
    data = _valid(*sides, choices.choice((3, 4)))
    return boxes.changed(choices, data) if data else avif.make(choices)
