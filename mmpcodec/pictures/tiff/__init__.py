"""Read and write TIFF files of 1 to 16 bits.

``file`` reads and writes whole files, ``pages`` reads one page at a time, ``reader`` reads parts,
``directories`` finds the pages, ``segments`` decodes strips and tiles, ``colour_maps`` gives the
colours of palettes, ``tags`` converts metadata.
"""

from mmpcodec.pictures.tiff.file import holds, open_parts, read, to_bytes
from mmpcodec.pictures.tiff.pages import book

__all__ = ["book", "holds", "open_parts", "read", "to_bytes"]
