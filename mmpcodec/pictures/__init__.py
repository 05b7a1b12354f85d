"""Picture files: the only place that reads or writes them.

One file a family of formats. Everything that is wrong with a picture file is a ``PictureError``
that names it.

>>> import numpy as np
>>> from mmpcodec import pictures
>>> gray = pictures.Picture(np.array([[0, 1000, 4095]], np.uint16), depth=12)
>>> found = pictures.from_bytes(pictures.to_bytes(gray, "png"))
>>> found.samples.tolist(), found.depth, found.white
([[0, 1000, 4095]], 12, 4095)
"""

from mmpcodec.picture import Picture, Reader, check_plain
from mmpcodec.pictures.readers import opened
from mmpcodec.pictures.reading import SUFFIXES, from_bytes, read
from mmpcodec.pictures.writing import FORMATS, check_format, format_of, lost, to_bytes, write

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Picture",
    "Reader",
    "check_format",
    "check_plain",
    "format_of",
    "from_bytes",
    "lost",
    "opened",
    "read",
    "to_bytes",
    "write",
]
