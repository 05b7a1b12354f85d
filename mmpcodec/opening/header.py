"""Opening of a file: its header, also from the second copy at the end of a damaged file."""

import contextlib

from mmpcodec.errors import FormatError, TruncatedStream
from mmpcodec.format import chunks, container
from mmpcodec.format.container import Header
from mmpcodec.runtime.files import Source

FIRST_READ = 1 << 16
"""Bytes that are read of a file at first; its header is rarely larger."""
_MOST_OF_DAMAGED = 1 << 26
"""Bytes that are searched for a damaged header."""


def read_header(source: Source) -> Header:
    """Read the header from as few bytes of a file as it needs."""
    size = FIRST_READ
    while size < len(source):
        with contextlib.suppress(TruncatedStream):
            return container.read_header(source[:size], len(source))
        size *= 8
    return container.read_header(source[:])


def check_end(header: Header, source: Source) -> None:
    """Check that a file ends with its last tile and its trailer."""
    last, size = header.tile_offsets[-1], len(source)
    end = (
        source[last : last + len(header.trailer)] if header.file_bytes <= size else memoryview(b"")
    )
    container.check_end(header, end, size)


def read_any_header(source: Source) -> tuple[Header, tuple[FormatError, ...]]:
    """Read the header of a file that may be damaged, or its copy in the trailer.

    Returns
    -------
    Header
        That of the front if its CRC is right, without the metadata that break a rule; otherwise
        that of the trailer, without metadata; otherwise that of the front although its CRC is
        wrong.
    tuple of FormatError
        The damage of the header.

    Raises
    ------
    FormatError
        The error of the header, if none of them can be read.
    """
    size = len(source)
    try:
        return read_header(source), ()
    except FormatError as found:
        error = found
    front: Header | None = None
    faults: list[FormatError] = []
    with contextlib.suppress(FormatError):
        front = container.read_header(source[:_MOST_OF_DAMAGED], size, faults)
        if all(fault.section == chunks.SECTION for fault in faults):  # the CRC is right
            return front, tuple(faults)
    with contextlib.suppress(FormatError):
        return read_trailer(source), (error,)
    if front is None:
        raise error
    return front, tuple(faults)


def read_trailer(source: Source) -> Header:
    """Read the copy of the header at the end of a file of several tiles.

    Raises
    ------
    FormatError
        If there is none.
    """
    size = len(source)
    end = source[max(0, size - container.TRAILER_END_BYTES) : size]
    own = container.trailer_bytes(end, size)
    return container.read_trailer(source[size - own : size], size)
