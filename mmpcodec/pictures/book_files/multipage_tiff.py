"""Write the pictures of a book as pages of a TIFF file, each with its own tags."""

from typing import Any, BinaryIO

from mmpcodec.picture import Picture
from mmpcodec.pictures import exif
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.tiff import tags
from mmpcodec.pictures.tiff.reader import load_tifffile
from mmpcodec.pictures.writing import lost

MOST_CLASSIC = 3 << 30
"""Bytes of samples and metadata up to which a file has offsets of 32 bits."""


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each page as it comes, compressed by Deflate; a BigTIFF beyond 3 GiB.

    Raises
    ------
    MissingExtra
        If tifffile is not installed.
    """
    tifffile = load_tifffile(pages.book.name)
    order = tags.order_for(pages.first.metadata)
    big = pages.bytes > MOST_CLASSIC
    # A file without a name, which appears when it is whole, has a number in place of it.
    handle = tifffile.FileHandle(stream, "wb", name=pages.book.name, offset=0, size=0)
    with tifffile.TiffWriter(handle, bigtiff=big, byteorder=order) as file:
        for picture in pages:
            samples, depth, metadata = picture.samples, picture.depth, picture.metadata
            if metadata.exif and tags.order_for(metadata) != order:
                metadata = metadata.without("exif")
            extra = tags.extra_tags(metadata, order)
            if depth == 1 and picture.planes == 1:
                samples = samples.astype(bool)
            elif depth < 8 * samples.itemsize:
                extra.append(tags.white_level(depth, picture.planes, order))
            file.write(
                samples,
                photometric="rgb" if picture.planes > 2 else "minisblack",
                planarconfig="contig" if picture.planes > 1 else None,
                extrasamples=["unassalpha"] if picture.planes in (2, 4) else None,
                compression="zlib",
                metadata=None,
                software=False,
                extratags=extra,
                **tags.resolution_options(metadata.resolution),
            )
            _note_lost(picture, order, pages)


def _note_lost(picture: Picture, order: str, pages: Pages) -> None:
    gone = list(lost(picture, "tif"))
    data = picture.metadata.exif
    # tifffile cannot write the directories of EXIF below that of the page.
    if data and "exif" not in gone:
        own, found = exif.parsed(data)
        gone += ["exif"] if own != order or found.below else []
    pages.lose(*gone)
    pages.lose_positions()
    pages.lose(*(["durations"] if pages.duration else []))
