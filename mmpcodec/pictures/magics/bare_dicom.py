"""Recognise DICOM files without the preamble and magic that the standard asks for."""

import struct
from collections.abc import Iterator

_GROUPS = (0x0002, 0x0008)
"""The first element of a file is of one of these groups."""
_VRS = frozenset(
    b"AE AS AT CS DA DS DT FD FL IS LO LT OB OD OF OL OV OW PN SH SL SQ SS ST SV TM UC UI UL UN UR "
    b"US UT UV".split()
)
_LONG_VRS = frozenset(b"OB OD OF OL OV OW SQ SV UC UN UR UT UV".split())
_UNDEFINED = 0xFFFFFFFF
_MOST_LENGTH = 1 << 16  # of each of the first elements
_LEAST_ELEMENTS = 3
_LAST_TAG = 0x7FE00010  # of the samples


def is_bare_dicom(head: bytes) -> bool:
    """Return whether bytes begin as a DICOM data set does.

    The first elements, at least three, must have lengths that lead to elements of higher tags.
    """
    return any(_is_data_set(head, order) for order in "<>")


def _is_data_set(head: bytes, order: str) -> bool:
    last = count = 0
    for tag in _tags(head, order):
        if tag <= last or tag > _LAST_TAG or (not count and tag >> 16 not in _GROUPS):
            return False
        last, count = tag, count + 1
        if count >= _LEAST_ELEMENTS:
            return True
    return False


def _tags(head: bytes, order: str) -> Iterator[int]:
    """Yield the tags of the elements, up to one whose length is not plausible."""
    place = 0
    while place + 12 <= len(head):
        group, element = struct.unpack_from(f"{order}HH", head, place)
        yield group << 16 | element
        vr = head[place + 4 : place + 6]
        if vr in _LONG_VRS:
            (length,), size = struct.unpack_from(f"{order}I", head, place + 8), 12
        elif vr in _VRS:
            (length,), size = struct.unpack_from(f"{order}H", head, place + 6), 8
        else:  # implicit
            (length,), size = struct.unpack_from(f"{order}I", head, place + 4), 8
        if length == _UNDEFINED or length > _MOST_LENGTH or length % 2:
            return
        place += size + length
