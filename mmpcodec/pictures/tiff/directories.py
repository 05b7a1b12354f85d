"""Find the directories of a TIFF file, and those of them that are pages."""

import os
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.exif import ReadAt
from mmpcodec.pictures.left_out import leave_out

_SUBFILE, _OLD_SUBFILE, _WIDTH, _SUB_DIRECTORIES = 254, 255, 256, 330
_REDUCED, _MASK = 1, 4  # bits of NewSubfileType
_OLD_REDUCED = 2
_FORMATS = {3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
_MOST_FOR_A_PICTURE = 4
"""Most directories for each picture that the limits allow, as it may have overviews and a mask."""
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


def reads_at(stream: BinaryIO) -> tuple[ReadAt, int]:
    """Return a function that reads the bytes of a stream at a place, and the size of the stream."""
    held = stream.seek(0, os.SEEK_END)
    stream.seek(0)

    def read_at(place: int, size: int) -> bytes:
        # A stream allocates what it is asked for, whatever the file holds.
        stream.seek(place)
        return stream.read(max(0, min(size, held - place)))

    return read_at, held


@dataclass(frozen=True)
class PlacedPages:
    """Where the pages of a file are.

    Parameters
    ----------
    places : list of int
        Offsets of their directories.
    in_stack : int
        Pictures that lie one behind the other, of the kind of a single directory; otherwise 1.
    """

    places: list[int]
    in_stack: int

    @property
    def count(self) -> int:
        """Number of pages."""
        return max(len(self.places), self.in_stack)


def placed_pages(file: Any, read_at: ReadAt, name: str, limits: DecodeLimits) -> PlacedPages:
    """Find the pages of a file, a ``tifffile.TiffFile``; say which other pictures it holds.

    Raises
    ------
    PictureError
        If there are too many directories.
    """
    found = Directories(file.tiff, read_at, file.pages.first.offset, name, limits)
    if found.others:
        leave_out(name, "further directories", ", ".join(found.others))
    if found.missing:
        leave_out(name, "missing pages", f"no directory is at byte {found.missing}")
    return PlacedPages(found.pages, _in_stack(file) if len(found.pages) == 1 else 1)


def _in_stack(file: Any) -> int:
    """Return the number of pictures that ImageJ keeps behind one directory."""
    try:
        return int((file.imagej_metadata or {}).get("images", 1))
    except (ValueError, TypeError, KeyError, IndexError):  # a text that looks like that of ImageJ
        return 1


class Directories:
    """The directories of a file.

    Parameters
    ----------
    tiff : tifffile.TiffFormat
    read_at : callable
        ``read_at(offset, size)`` returns bytes, fewer than ``size`` at the end of the file.
    first : int
        Offset of the first directory.
    name : str
        Name of the file in error messages.
    limits : DecodeLimits

    Attributes
    ----------
    pages : list of int
        Offsets of the directories of the pages, at least one. If no directory of the chain is a
        page, sub-directories may be: raw files of cameras begin with a small picture.
    others : list of str
        What the other directories with pictures are: "overviews", "masks".
    missing : int
        Offset of a directory outside of the file; 0 if there is none.

    Raises
    ------
    PictureError
        If there are too many directories.
    """

    def __init__(self, tiff: Any, read_at: ReadAt, first: int, name: str, limits: DecodeLimits):
        self._tiff, self._read_at = tiff, read_at
        self.missing = 0
        self._name, self._left = name, _MOST_FOR_A_PICTURE * limits.max_pictures
        chain = self._chain(first)
        places = dict.fromkeys(place for each in chain for place in each.below)
        below = [self._found(place)[0] for place in places]
        further = [*chain, *below]
        pages = [each for each in chain if each.is_page] or [each for each in below if each.is_page]
        self.pages = [each.place for each in pages] or [first]
        own = set(self.pages)
        others = [each for each in further if each.is_picture and each.place not in own]
        masks = {bool(each.kind & _MASK) for each in others}
        self.others = [
            name for name, mask in (("overviews", False), ("masks", True)) if mask in masks
        ]

    def _chain(self, place: int) -> list[ListedDirectory]:
        """Return the directories, each once.

        tifffile would follow some circles of directories without end.
        """
        chain: list[ListedDirectory] = []
        seen = {0}
        while place not in seen:
            seen.add(place)
            found, place = self._found(place)
            chain.append(found)
        return chain

    def _found(self, place: int) -> tuple[ListedDirectory, int]:
        """Return the directory at an offset, and the offset of the next one; 0 if there is none."""
        self._left -= 1
        if self._left < 0:
            raise PictureError(
                f"{self._name}: has more than {_MOST_FOR_A_PICTURE} directories for each picture "
                "that max_pictures allows; a higher max_pictures reads them"
            )
        tiff = self._tiff
        start = place + tiff.tagnosize
        head = self._read_at(place, tiff.tagnosize)
        if len(head) < tiff.tagnosize:
            self.missing = place
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
