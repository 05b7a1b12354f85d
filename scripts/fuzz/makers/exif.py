"""EXIF with cyclic, deep, many and long directories, in a PNG or JPEG file."""

from parts.choices import Choices
from parts.exif import structure

from makers import jpeg, png


def make(choices: Choices) -> bytes:
    """Make a small picture with EXIF."""
    data = structure(choices)
    if choices.once_in(2):
        return jpeg.with_application(1, b"Exif\0\0" + data[:65000])
    return png.with_exif(data)
