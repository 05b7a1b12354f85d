"""Write frames as an animated PNG file (APNG), without loss.

Source: https://www.w3.org/TR/png-3/#apng-frame-based-animation.
"""

import struct
from fractions import Fraction
from typing import Any, BinaryIO

from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.png import chunks
from mmpcodec.pictures.png import file as png
from mmpcodec.pictures.writing import lost

_MOST = 65535
_MOST_LOOPS = (1 << 31) - 1
_NOTHING = 0
"""Frames stay until the next one, and replace what was there."""


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each frame whole, as it comes; the metadata are those of the first."""
    height, width = pages.first.samples.shape[:2]
    number = 0
    stream.write(chunks.MAGIC)
    for picture in pages:
        level = 1 if options.png_level is None else options.png_level
        data = png.to_bytes(picture, "png", level, threads=options.threads)
        parts = chunks.parted(data, pages.name)
        own = [part for kind, part in parts if kind == b"IDAT"]
        first = pages.number == 0
        found: list[chunks.Chunk] = []
        if first:
            found = [part for part in parts if part[0] not in (b"IDAT", b"IEND")]
            loops = min(pages.book.loops, _MOST_LOOPS)
            found.insert(1, (b"acTL", struct.pack(">II", len(pages), loops)))
        shown = pages.duration.limit_denominator(_MOST)
        if shown > _MOST:
            shown = Fraction(_MOST)
        elif shown.numerator > _MOST:
            shown = shown.limit_denominator(max(1, int(_MOST / shown)))
        if shown != pages.duration:
            pages.lose("durations")
        times = shown.numerator, shown.denominator
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, *times, _NOTHING, _NOTHING)
        found.append((b"fcTL", control))
        number += 1
        for part in own:
            found.append((b"IDAT", part) if first else (b"fdAT", struct.pack(">I", number) + part))
            number += not first
        stream.write(chunks.joined(found)[len(chunks.MAGIC) :])
        if first:
            pages.lose(*lost(picture, "png"))
            pages.lose_loops(_MOST_LOOPS)
        elif picture.metadata != pages.first.metadata:
            pages.lose("metadata of its own")
    stream.write(chunks.joined([(b"IEND", b"")])[len(chunks.MAGIC) :])
