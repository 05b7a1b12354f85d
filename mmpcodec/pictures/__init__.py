"""Read and write picture files.

PNG, TIFF, PBM, PGM, PPM, PAM, NPY, JPEG and WebP are read and written. BMP, GIF, AVIF, HEIC,
JPEG 2000, JPEG XL, DICOM and mmp are read.

``registry`` is the table of formats; each format has a module. Names load when they are first used,
so that the table can be imported without NumPy. Whatever is wrong with a file raises a
``PictureError`` that names the file.

>>> import numpy as np
>>> from mmpcodec import pictures
>>> gray = pictures.Picture(np.array([[0, 1000, 4095]], np.uint16), depth=12)
>>> found = pictures.from_bytes(pictures.to_bytes(gray, "png"))
>>> found.samples.tolist(), found.depth, found.white
([[0, 1000, 4095]], 12, 4095)
"""

from typing import TYPE_CHECKING, Any

from mmpcodec.pictures import registry
from mmpcodec.runtime import lazy

if TYPE_CHECKING:
    from mmpcodec.picture import Picture, Reader
    from mmpcodec.pictures.mmp import MmpReader
    from mmpcodec.pictures.readers import opened
    from mmpcodec.pictures.reading import from_bytes, read
    from mmpcodec.pictures.writing import check_format, format_of, lost, to_bytes, write

    FORMATS: tuple[str, ...]
    SUFFIXES: tuple[str, ...]

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "MmpReader",
    "Picture",
    "Reader",
    "check_format",
    "format_of",
    "from_bytes",
    "lost",
    "opened",
    "read",
    "to_bytes",
    "write",
]

_named, __dir__ = lazy.names(
    __name__,
    {
        "mmpcodec.picture": ("Picture", "Reader"),
        "mmpcodec.pictures.mmp": ("MmpReader",),
        "mmpcodec.pictures.readers": ("opened",),
        "mmpcodec.pictures.reading": ("from_bytes", "read"),
        "mmpcodec.pictures.writing": ("check_format", "format_of", "lost", "to_bytes", "write"),
    },
)


def __getattr__(name: str) -> Any:
    if name == "FORMATS":  # formats that can be written, by the extension of their files
        return tuple(registry.written())
    if name == "SUFFIXES":  # suffixes of the files in a folder that count as pictures
        return registry.suffixes()
    return _named(name)
