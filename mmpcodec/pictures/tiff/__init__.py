"""Read and write TIFF files of 1 to 16 bits.

``file`` reads and writes whole files, ``reader`` reads parts, ``directories`` finds the pages,
``segments`` decodes strips and tiles, ``colour_maps`` gives the colours of palettes, ``tags``
converts metadata.
"""

from mmpcodec.pictures.tiff.file import holds, open_parts, read, to_bytes

__all__ = ["holds", "open_parts", "read", "to_bytes"]
