"""Find the frames of animated PNG files, as the third edition of the PNG specification says."""

import struct
from dataclasses import dataclass

from mmpcodec.pictures.books.canvas import Afterwards, DrawnFrame
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import damaged
from mmpcodec.pictures.png.chunks import Chunk, first

_CONTROL = struct.Struct(">5I2H2B")
_PARTS = 100
"""Parts of a second, where a file says 0."""
_BLENDED = 1


@dataclass
class PngAnimation:
    """The frames of an animation, which have the palette and the transparent level of the file.

    Parameters
    ----------
    loops : int
        How often they are shown, 0 for without end.
    frames : list of DrawnFrame
    durations : list of (int, int)
        Duration of each frame, and the parts of a second that it counts.
    parts : list of list of bytes
        Contents of the chunks IDAT of each frame.
    """

    loops: int
    frames: list[DrawnFrame]
    durations: list[tuple[int, int]]
    parts: list[list[bytes]]

    def chunks_of(self, number: int, plain: list[Chunk]) -> list[Chunk]:
        """Return the critical chunks of the file, ``plain``, with the samples of a frame."""
        around = [chunk for chunk in plain if chunk[0] != b"IDAT"]
        samples = [(b"IDAT", part) for part in self.parts[number]]
        return [*around[:-1], *samples, around[-1]]


def animation_of(chunks: list[Chunk], width: int, height: int, name: str) -> PngAnimation | None:
    """Find the frames of a file; None if it is no animation, or has its only picture as frame.

    Parameters
    ----------
    chunks : list of Chunk
        The whole file.
    width, height : int
        Of the picture in pixels.
    name : str

    Raises
    ------
    PictureError
        If what the file says of a frame is damaged.
    """
    control = first(chunks, b"acTL")
    if control is None:
        return None
    if len(control) != 8:
        raise damaged(name, f"the chunk acTL has {len(control)} bytes, 8 are needed")
    stated, loops = struct.unpack(">II", control)
    found = PngAnimation(loops, [], [], [])
    following, apart = 0, False
    for kind, contents in chunks:
        if kind in (b"fcTL", b"fdAT"):
            number = int.from_bytes(contents[:4], "big")
            if number != following or len(contents) < 4:
                raise damaged(
                    name,
                    f"a chunk {kind.decode()} has the sequence number {number}, not {following}",
                )
            following += 1
        if kind == b"fcTL":
            _add(found, contents, width, height, name)
        elif kind == b"IDAT":
            if found.parts:
                found.parts[-1].append(contents)
            else:
                apart = True
        elif kind == b"fdAT":
            if not found.parts:
                raise damaged(name, "the chunk fdAT comes before fcTL")
            found.parts[-1].append(contents[4:])
    count = len(found.frames)
    if count != stated:
        leave_out(name, "damaged chunk", f"acTL names {stated} frames, the file has {count}")
    if count == 0 or (count == 1 and not apart):
        return None
    if apart:
        leave_out(name, "still picture")
    return found


def _add(found: PngAnimation, contents: bytes, width: int, height: int, name: str) -> None:
    """Add the frame that a chunk fcTL begins."""
    if len(contents) != _CONTROL.size:
        raise damaged(name, f"the chunk fcTL has {len(contents)} bytes, {_CONTROL.size} are needed")
    _, across, down, left, top, shown, parts, disposal, blend = _CONTROL.unpack(contents)
    place = f"frame {len(found.frames) + 1}"
    if not (0 < across <= width - left and 0 < down <= height - top):
        raise damaged(
            name,
            f"{place} has {across}x{down} pixels at ({left}, {top}), which is not inside of "
            f"{width}x{height}",
        )
    if disposal > Afterwards.RESTORED.value or blend > _BLENDED:
        raise damaged(
            name,
            f"{place} has the operations {disposal} and {blend}, allowed are 0 to 2 and 0 to 1",
        )
    over = blend == _BLENDED
    found.frames.append(DrawnFrame(left, top, across, down, Afterwards(disposal), over))
    found.durations.append((shown, parts or _PARTS))
    found.parts.append([])
