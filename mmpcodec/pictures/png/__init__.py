"""Read and write PNG files of 1 to 16 bits.

``file`` reads and writes the samples, ``chunks`` the metadata, ``frames`` finds the frames.
"""

from mmpcodec.pictures.png.file import book, holds, read, to_bytes

__all__ = ["book", "holds", "read", "to_bytes"]
