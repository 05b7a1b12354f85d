"""Find the directories of a TIFF file, and those of them that are pages."""

import struct
from typing import Any, NamedTuple

from mmpcodec.pictures.exif import ReadAt

_SUBFILE, _OLD_SUBFILE, _WIDTH, _SUB_DIRECTORIES = 254, 255, 256, 330
_REDUCED, _MASK = 1, 4  # bits of NewSubfileType
_OLD_REDUCED = 2
_FORMATS = {3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
_MOST_DIRECTORIES = 1000
_MOST_ENTRIES = 64  # entries lie in the order of their tags
_MOST_BELOW = 16


class ListedDirectory(NamedTuple):
    """A directory.

    Parameters
    ----------
    place : int
        Its offset in bytes.
    kind : int
        Value of NewSubfileType.
    is_picture : bool
        Whether it has a width.
    below : tuple of int
        Offsets of its sub-directories, at most 16.
    """

    place: int
    kind: int
    is_picture: bool
    below: tuple[int, ...]

    @property
    def is_page(self) -> bool:
        """Whether it is a picture of its own, and neither a smaller version nor a mask."""
        return self.is_picture and not self.kind & (_REDUCED | _MASK)


class Directories:
    """The directories of a file.

    Parameters
    ----------
    tiff : tifffile.TiffFormat
    read_at : callable
        ``read_at(offset, size)`` returns bytes, fewer than ``size`` at the end of the file.
    first : int
        Offset of the first directory.

    Attributes
    ----------
    pages : list of int
        Offsets of the directories of the pages, at least one. If no directory of the chain is a
        page, sub-directories may be: raw files of cameras begin with a small picture.
    others : list of str
        What the other directories with pictures are: "overviews", "masks".
    """

    def __init__(self, tiff: Any, read_at: ReadAt, first: int):
        self._tiff, self._read_at = tiff, read_at
        chain = self._chain(first)
        below = [self._found(place)[0] for each in chain for place in each.below]
        further = [*chain, *below]
        pages = [each for each in chain if each.is_page] or [each for each in below if each.is_page]
        self.pages = [each.place for each in pages] or [first]
        others = [each for each in further if each.is_picture and each.place not in self.pages]
        masks = {bool(each.kind & _MASK) for each in others}
        self.others = [
            name for name, mask in (("overviews", False), ("masks", True)) if mask in masks
        ]

    def _chain(self, place: int) -> list[ListedDirectory]:
        """Return the directories, at most ``_MOST_DIRECTORIES`` and one, each once.

        tifffile would follow some circles of directories without end.
        """
        chain: list[ListedDirectory] = []
        seen = {0}
        while place not in seen and len(chain) <= _MOST_DIRECTORIES:
            seen.add(place)
            found, place = self._found(place)
            chain.append(found)
        return chain

    def _found(self, place: int) -> tuple[ListedDirectory, int]:
        """Return the directory at an offset, and the offset of the next one; 0 if there is none."""
        tiff = self._tiff
        start = place + tiff.tagnosize
        head = self._read_at(place, tiff.tagnosize)
        if len(head) < tiff.tagnosize:
            return ListedDirectory(place, 0, False, ()), 0
        (count,) = struct.unpack(tiff.tagnoformat, head)
        kind, is_picture = 0, False
        below: tuple[int, ...] = ()
        table = self._read_at(start, min(count, _MOST_ENTRIES) * tiff.tagsize)
        for at in range(0, len(table) - tiff.tagsize + 1, tiff.tagsize):
            entry = table[at : at + tiff.tagsize]
            tag, code = struct.unpack_from(f"{tiff.byteorder}HH", entry)
            is_picture |= tag == _WIDTH
            if tag in (_SUBFILE, _OLD_SUBFILE, _SUB_DIRECTORIES) and code in _FORMATS:
                values = self._values(entry, _FORMATS[code])
                if tag == _SUB_DIRECTORIES:
                    below = tuple(dict.fromkeys(values))
                elif values:
                    kind = values[0] if tag == _SUBFILE else int(values[0] == _OLD_REDUCED)
        following = self._read_at(start + count * tiff.tagsize, tiff.offsetsize)
        if len(following) < tiff.offsetsize:  # some writers leave it out at the end
            return ListedDirectory(place, kind, is_picture, below), 0
        return ListedDirectory(place, kind, is_picture, below), struct.unpack(
            tiff.offsetformat, following
        )[0]

    def _values(self, entry: bytes, letter: str) -> tuple[int, ...]:
        """Return the first values of an entry."""
        tiff = self._tiff
        size = struct.calcsize(f"<{letter}")
        (count,) = struct.unpack_from(tiff.offsetformat, entry, 4)
        data = entry[-tiff.offsetsize :]
        kept = min(count, _MOST_BELOW)
        if count * size > tiff.offsetsize:
            data = self._read_at(struct.unpack(tiff.offsetformat, data)[0], kept * size)
        kept = min(kept, len(data) // size)
        return struct.unpack_from(f"{tiff.byteorder}{kept}{letter}", data)
