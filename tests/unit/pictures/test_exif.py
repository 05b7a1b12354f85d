"""EXIF directories that are made to take time."""

import struct
import time

from mmpcodec.pictures.exif import EXIF_DIRECTORY, INTEROPERABILITY, parsed, structure


def directory(entries):
    """The bytes of a directory of (tag, value) pairs."""
    packed = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return struct.pack("<H", len(entries)) + packed + bytes(4)


def test_repeated_pointers_are_followed_once():
    """2500 pointers to a directory of 2500 pointers would be 6 million directories."""
    count = 2500
    size = 2 + 12 * count + 4
    second, third = 8 + size, 8 + 2 * size
    top = directory([(EXIF_DIRECTORY, second)] * count)
    middle = directory([(INTEROPERABILITY, third)] * count)
    data = b"II*\0" + struct.pack("<I", 8) + top + middle + directory([(1, 7)])
    started = time.process_time()
    order, found = parsed(data)
    assert time.process_time() - started < 1
    below = found.below[EXIF_DIRECTORY].below[INTEROPERABILITY]
    assert below.entries == {1: (4, 1, struct.pack("<I", 7))}
    assert len(structure(order, found)) < 100
