"""Find the frames of GIF files: CompuServe's specification 89a, and what browsers do beyond it."""

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mmpcodec.pictures.books.canvas import Afterwards, DrawnFrame

_EXTENSION, _FRAME, _END = 0x21, 0x2C, 0x3B
_CONTROL, _COMMENT, _APPLICATION = 0xF9, 0xFE, 0xFF
_REPEATS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
_TABLE, _INTERLACED = 0x80, 0x40
PARTS = 100
"""Parts of a second that durations count."""


class _Control(NamedTuple):
    """What an extension says of the frame behind it."""

    duration: int = 0
    afterwards: Afterwards = Afterwards.STAYS
    transparent: int | None = None


@dataclass(frozen=True)
class GifFrame:
    """A frame.

    Parameters
    ----------
    drawn : DrawnFrame
    duration : int
        In hundredths of a second.
    transparent : int or None
        Index that is transparent.
    colours : (256, 3) array of uint8
    interlaced : bool
    samples : bytes
        Its compressed indexes.
    """

    drawn: DrawnFrame
    duration: int
    transparent: int | None
    colours: np.ndarray
    interlaced: bool
    samples: bytes

    def file(self) -> bytes:
        """Return a file of this frame without colours, of which a decoder gives the indexes."""
        sides = self.drawn.width, self.drawn.height
        screen = b"GIF89a" + struct.pack("<2H3B", *sides, 0, 0, 0)
        flags = _INTERLACED * self.interlaced
        return screen + struct.pack("<B4HB", _FRAME, 0, 0, *sides, flags) + self.samples + b";"


@dataclass
class GifFrames:
    """The frames of a file.

    Parameters
    ----------
    width, height : int
        Of the canvas in pixels, which the first frame may enlarge.
    frames : list of GifFrame
    comments : list of bytes
    loops : int
        How often the frames are shown, 0 for without end.
    fault : str
        What is wrong behind the last frame; empty if nothing is.
    """

    width: int
    height: int
    frames: list[GifFrame] = field(default_factory=list)
    comments: list[bytes] = field(default_factory=list)
    loops: int = 1
    fault: str = ""


def frames_of(data: bytes) -> GifFrames:
    """Find the frames of a file, up to a block that is damaged.

    Raises
    ------
    ValueError
        If there is none.
    """
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    found = GifFrames(width, height)
    try:
        _find(data, flags, found)
    except ValueError as error:
        if not found.frames:
            raise
        found.fault = str(error)
    return found


def _find(data: bytes, flags: int, found: GifFrames) -> None:
    """Add the frames to ``found``; an error says what is wrong behind them."""
    colours, place = _colours(data, 13, flags)
    control = _Control()
    while True:
        kind = data[place : place + 1]
        if not kind:
            raise ValueError("it lacks the end of a GIF")
        if kind[0] == _END:
            return
        end = place + 1
        if kind[0] == _EXTENSION and place + 2 < len(data):
            blocks, end = _blocks(data, place + 2)
            control = _extension(data[place + 1], blocks, found) or control
        elif kind[0] == _FRAME and place + 10 < len(data):
            left, top, across, down, flags = struct.unpack_from("<4HB", data, place + 1)
            own, start = _colours(data, place + 10, flags)
            own = own if flags & _TABLE else colours
            _, end = _blocks(data, start + 1, cut=True)
            drawn = DrawnFrame(left, top, across, down, control.afterwards)
            if not found.frames:
                found.width = max(found.width, left + across)
                found.height = max(found.height, top + down)
            samples, interlaced = data[start:end], bool(flags & _INTERLACED)
            found.frames.append(
                GifFrame(drawn, control.duration, control.transparent, own, interlaced, samples)
            )
            control = _Control()
        elif kind[0]:  # some writers end a frame with two zeros
            raise ValueError(f"a block of kind {kind.hex()} is at byte {place}")
        place = end


def _colours(data: bytes, place: int, flags: int) -> tuple[np.ndarray, int]:
    """Return the colours of a table and its end; without a table, grays."""
    if not flags & _TABLE:
        return np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1), place
    size = 3 << (flags & 7) + 1
    if place + size > len(data):
        raise ValueError(f"the file ends inside of the colours at byte {place}")
    colours = np.zeros((256, 3), np.uint8)
    colours[: size // 3] = np.frombuffer(data, np.uint8, size, place).reshape(-1, 3)
    return colours, place + size


def _blocks(data: bytes, place: int, *, cut: bool = False) -> tuple[list[bytes], int]:
    """Return the blocks from a place on and the place behind their end, which may be missing."""
    found: list[bytes] = []
    while place < len(data):
        size = data[place]
        if size == 0:
            return found, place + 1
        found.append(data[place + 1 : place + 1 + size])
        place += 1 + size
    if not cut:
        raise ValueError("the file ends inside of an extension")
    return found, len(data)


def _extension(kind: int, blocks: list[bytes], found: GifFrames) -> _Control | None:
    """Take what an extension says; return it if it is about the next frame."""
    first = blocks[0] if blocks else b""
    if kind == _CONTROL and len(first) >= 4:
        flags, duration, transparent = struct.unpack_from("<BHB", first)
        disposal = flags >> 2 & 7
        afterwards = {2: Afterwards.CLEARED, 3: Afterwards.RESTORED}.get(disposal)
        return _Control(
            duration, afterwards or Afterwards.STAYS, transparent if flags & 1 else None
        )
    if kind == _COMMENT:
        found.comments.append(b"".join(blocks))
    if kind == _APPLICATION and first in _REPEATS and len(blocks) > 1:
        sub = blocks[1]
        if len(sub) >= 3 and sub[0] & 7 == 1:
            repeats = int.from_bytes(sub[1:3], "little")
            # The file counts how often the frames are shown again.
            found.loops = repeats + 1 if repeats else 0
    return None
