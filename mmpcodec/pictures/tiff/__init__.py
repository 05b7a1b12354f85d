"""TIFF files of 1 to 16 bits."""

from mmpcodec.pictures.tiff.file import MAGICS, read, to_bytes

__all__ = ["MAGICS", "read", "to_bytes"]
