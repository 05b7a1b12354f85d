"""Read mmp files, with the codec.

``file`` reads whole files, ``reader`` parts; ``indexing`` finds the part that an index selects.
"""

from mmpcodec.pictures.mmp.file import book, read
from mmpcodec.pictures.mmp.reader import MmpReader, open_parts

__all__ = ["MmpReader", "book", "open_parts", "read"]
