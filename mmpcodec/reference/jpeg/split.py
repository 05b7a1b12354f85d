"""A file with pictures of JPEG as levels, details of scans, and all other bytes. Encoder only.

Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

from dataclasses import dataclass

from mmpcodec.reference.jpeg.description import STRIPE_COST
from mmpcodec.reference.jpeg.picture import SEQUENTIAL, START, JpegPicture, Stop, read_markers
from mmpcodec.reference.jpeg.scan import ScanDetails
from mmpcodec.reference.jpeg.scan_reader import read_scan_data
from mmpcodec.reference.jpeg.scan_writer import write_scan_data

LEAST_BYTES = 16
"""A scan with at most this number of bytes that can be kept is not."""
TRIES = 4


@dataclass
class KeptScan:
    """A scan: the place of its data, its bytes, the start of its picture, and details."""

    start: int
    size: int
    picture: int
    details: ScanDetails


@dataclass
class SplitFile:
    """The parts of a file.

    Parameters
    ----------
    pictures : dict of int to JpegPicture
        By the places of their markers.
    scans : list of KeptScan
        By their starts.
    rest : bytes
        All bytes that are in no scan.
    level_bytes_left : int
        Of the most that were given, with a stripe of each picture.
    """

    pictures: dict[int, JpegPicture]
    scans: list[KeptScan]
    rest: bytes
    level_bytes_left: int


def split(data: bytes, most_level_bytes: int) -> SplitFile:
    """Split a file. Scans that cannot be kept exactly are in the rest.

    Parameters
    ----------
    data : bytes
    most_level_bytes : int
        That the levels of all pictures, and a stripe of each, take; pictures beyond it are in the
        rest.

    Returns
    -------
    SplitFile
    """
    pictures, scans, still_open = {}, [], [(0, len(data))]
    while still_open:
        begin, end = still_open.pop()
        start = _find_start(data, begin, end)
        if start is None:
            continue
        place = start + 2
        found = _read_picture(data[:end], start, most_level_bytes)
        if found:
            pictures[start], own = found
            most_level_bytes -= pictures[start].level_bytes + STRIPE_COST
            for scan in own:
                still_open.append((place, scan.start))
                place = scan.start + scan.size
            scans += own
        still_open.append((place, end))
    scans.sort(key=lambda scan: scan.start)
    rest, place = b"", 0
    for scan in scans:
        rest += data[place : scan.start]
        place = scan.start + scan.size
    rest += data[place:]
    return SplitFile(dict(sorted(pictures.items())), scans, rest, most_level_bytes)


def _find_start(data: bytes, begin: int, end: int) -> int | None:
    """Return the place of the first marker of a start that another marker follows."""
    place = data.find(bytes([255, START, 255]), begin, end)
    while place >= 0:
        if place + 3 >= end:
            return None
        if SEQUENTIAL[0] <= data[place + 3] < 255:
            return place
        place = data.find(bytes([255, START, 255]), place + 1, end)
    return None


def _read_picture(
    data: bytes, start: int, most_level_bytes: int
) -> tuple[JpegPicture, list[KeptScan]] | None:
    """Read a picture as often as scans turn out to need limits; None if no scan is kept."""
    limits: dict[int, int] = {}
    for _ in range(TRIES):
        picture, scans = JpegPicture(), []
        place, allocated = start + 2, False
        while True:
            stop, place = read_markers(data, place, picture)
            if stop is not Stop.SCAN:
                break
            most = limits.get(place)
            if most == 0 or not picture.counts_scan():
                continue
            if not allocated:
                if picture.level_bytes + STRIPE_COST > most_level_bytes:
                    return None
                picture.allocate()
                allocated = True
            details = ScanDetails()
            own = data[place:] if most is None else data[place : place + most]
            size = read_scan_data(own, picture, details)
            if size == 0:  # another scan may have the same place
                continue
            if most is not None:
                size = details.cut = most
            scans.append(KeptScan(place, size, start, details))
            place += size
        if not scans:
            return None
        if _agrees(data, start, picture, scans, limits):
            return picture, scans
    return None


def _agrees(
    data: bytes, start: int, picture: JpegPicture, scans: list[KeptScan], limits: dict[int, int]
) -> bool:
    """Return whether the scans are written as they are in the file; else set limits."""
    again, place, agrees, left = JpegPicture(), start + 2, True, list(scans)
    while left:
        stop, place = read_markers(data, place, again)
        if stop is not Stop.SCAN:
            break
        if place != left[0].start:
            continue
        scan = left.pop(0)
        for own, read in zip(again.components, picture.components, strict=True):
            own.levels = read.levels
        written = write_scan_data(again, scan.details)
        given = data[place : place + scan.size]
        if written != given:
            same = _same(written, given)
            limits[place] = same if same > LEAST_BYTES else 0
            agrees = False
        place += scan.size
    return agrees


def _same(first: bytes, second: bytes) -> int:
    """Return how many first bytes are equal."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))
