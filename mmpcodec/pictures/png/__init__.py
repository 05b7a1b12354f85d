"""Read and write PNG files of 1 to 16 bits: ``file`` the samples, ``chunks`` the metadata."""

from mmpcodec.pictures.png.file import holds, read, to_bytes

__all__ = ["holds", "read", "to_bytes"]
