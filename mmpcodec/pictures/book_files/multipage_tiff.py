"""Write the pictures of a book as pages of a TIFF file, each with its own tags."""

import os
import struct
from typing import Any, BinaryIO

from mmpcodec.picture import Picture
from mmpcodec.pictures import exif
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.exif import Directory
from mmpcodec.pictures.tiff import group4, tags
from mmpcodec.pictures.tiff.reader import load_tifffile
from mmpcodec.pictures.writing import lost

_FIRST = 4
"""Where a file says the offset of its first directory."""
_ENTRY = 12
"""Bytes of an entry of a directory."""
MOST_CLASSIC = 3 << 30
"""Bytes of samples and metadata up to which a file has offsets of 32 bits."""


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each page as it comes; a BigTIFF beyond 3 GiB.

    Gray of 1 bit is coded by Group 4, in which 0 is white; all other pages by Deflate.

    Raises
    ------
    MissingExtra
        If tifffile is not installed.
    """
    tifffile = load_tifffile(pages.book.name)
    order = tags.order_for(pages.first.metadata)
    big = pages.bytes > MOST_CLASSIC
    below: dict[int, dict[int, Directory]] = {}
    by_group4: set[int] = set()
    # A file without a name, which appears when it is whole, has a number in place of it.
    handle = tifffile.FileHandle(stream, "wb", name=pages.book.name, offset=0, size=0)
    with tifffile.TiffWriter(handle, bigtiff=big, byteorder=order) as file:
        for picture in pages:
            samples, depth, metadata = picture.samples, picture.depth, picture.metadata
            if metadata.exif and tags.order_for(metadata) != order:
                metadata = metadata.without("exif")
            extra = tags.extra_tags(metadata, order)
            coded = None
            if depth == 1 and picture.planes == 1:
                coded = group4.encoded(samples, pages.name, "TIFF")
                samples = samples.astype(bool)
            elif depth < 8 * samples.itemsize:
                extra.append(tags.white_level(depth, picture.planes, order))
            file.write(
                **group4.options_of(samples, coded, otherwise="zlib"),
                planarconfig="contig" if picture.planes > 1 else None,
                extrasamples=["unassalpha"] if picture.planes in (2, 4) else None,
                metadata=None,
                software=False,
                extratags=extra,
                **tags.resolution_options(metadata.resolution),
            )
            if coded is not None:
                by_group4.add(pages.number)
            if found := _below(metadata.exif):
                below[pages.number] = found
            _note_lost(picture, order, big, pages)
    group4.name_compression(stream, order, by_group4, big=big)
    if not big:
        _add_directories(stream, order, below)


def _below(data: bytes) -> dict[int, Directory]:
    """Return the directories below the first one of EXIF; none of damaged EXIF."""
    try:
        return exif.parsed(data)[1].below if data else {}
    except (ValueError, struct.error):
        return {}


def _add_directories(stream: BinaryIO, order: str, below: dict[int, dict[int, Directory]]) -> None:
    """Add the directories of EXIF below those of pages, which tifffile cannot write.

    The directory of such a page moves to the end of the file.
    """

    def read_at(start: int, size: int) -> bytes:
        stream.seek(start)
        return stream.read(size)

    pointer = _FIRST
    for page in range(max(below, default=-1) + 1):
        (place,) = struct.unpack(f"{order}I", read_at(pointer, 4))
        (count,) = struct.unpack(f"{order}H", read_at(place, 2))
        following = place + 2 + _ENTRY * count
        if page in below:
            found = exif.directory_at(read_at, place, order)
            found.below = below[page]
            after = read_at(following, 4)
            end = stream.seek(0, os.SEEK_END)
            end += stream.write(bytes(end % 2))
            stream.write(exif.packed(order, found, end))
            following = end + 2 + _ENTRY * (len(found.entries) + len(found.below))
            for at, value in ((following, after), (pointer, struct.pack(f"{order}I", end))):
                stream.seek(at)
                stream.write(value)
        pointer = following


def _note_lost(picture: Picture, order: str, big: bool, pages: Pages) -> None:
    gone = list(lost(picture, "tif"))
    data = picture.metadata.exif
    if data and "exif" not in gone:
        own, found = exif.parsed(data)
        gone += ["exif"] if own != order or (big and found.below) else []
    pages.lose(*gone)
    pages.lose_facts()
