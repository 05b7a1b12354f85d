"""PNG files of 1 to 16 bits."""

from mmpcodec.pictures.png.file import MAGICS, read, to_bytes

__all__ = ["MAGICS", "read", "to_bytes"]
