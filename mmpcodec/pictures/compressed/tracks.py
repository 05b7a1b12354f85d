"""Find how long the frames of an AVIF sequence are shown, and how often: ISO/IEC 14496-12."""

from collections.abc import Iterator
from dataclasses import dataclass

from mmpcodec.pictures.compressed.boxes import MediaBox, boxes

_CONTAINERS = (b"moov", b"trak", b"edts", b"mdia", b"minf", b"stbl")
_PICTURES = b"pict"
_REPEATS = 1


@dataclass
class FrameTimes:
    """When the frames of a sequence are shown.

    Parameters
    ----------
    durations : list of (int, int)
        Duration of each frame, and the parts of a second that it counts.
    loops : int
        How often the frames are shown, 0 for without end.
    """

    durations: list[tuple[int, int]]
    loops: int


def times_of(data: bytes, count: int) -> FrameTimes:
    """Return when the ``count`` frames of a file are shown.

    A file that does not say how often it is shown is shown without end, as browsers do.

    Raises
    ------
    ValueError
        If its boxes are damaged, or it has no track of pictures.
    """
    for movie in boxes(data):
        if movie.kind != b"moov":
            continue
        for track in boxes(data, movie.start, movie.end):
            if track.kind == b"trak":
                parts = {box.kind: data[box.start : box.end] for box in _inside(data, track)}
                if parts.get(b"hdlr", b"")[8:12] == _PICTURES:
                    return FrameTimes(_durations(parts, count), _loops(parts))
    raise ValueError("AVIF has several frames and no track of pictures")


def _inside(data: bytes, outer: MediaBox) -> Iterator[MediaBox]:
    """Yield the boxes inside of one, also those further inside."""
    for box in boxes(data, outer.start, outer.end):
        yield box
        if box.kind in _CONTAINERS:
            yield from _inside(data, box)


def _number(part: bytes, place: int, size: int) -> int:
    if place + size > len(part):
        raise ValueError("a box of a track is cut off")
    return int.from_bytes(part[place : place + size], "big")


def _durations(parts: dict[bytes, bytes], count: int) -> list[tuple[int, int]]:
    media, times = parts.get(b"mdhd", b""), parts.get(b"stts", b"")
    scale = _number(media, 20 if media[:1] == b"\1" else 12, 4)
    if scale == 0:
        raise ValueError("the time scale of a track is 0")
    found: list[tuple[int, int]] = []
    for entry in range(_number(times, 4, 4)):
        repeated, duration = (_number(times, 8 + 8 * entry + at, 4) for at in (0, 4))
        found += [(duration, scale)] * min(repeated, count - len(found))
    if len(found) < count:
        raise ValueError(f"names the durations of {len(found)} of {count} frames")
    return found


def _loops(parts: dict[bytes, bytes]) -> int:
    edits, track = parts.get(b"elst", b""), parts.get(b"tkhd", b"")
    if not edits or _number(edits, 4, 4) == 0:
        return 0
    if not _number(edits, 3, 1) & _REPEATS:
        return 1
    wide = 8 if track[:1] == b"\1" else 4
    whole = _number(track, 28 if wide == 8 else 20, wide)
    once = _number(edits, 8, 8 if edits[:1] == b"\1" else 4)
    return 0 if whole == (1 << 8 * wide) - 1 or not once else -(-whole // once)
