"""A picture of JPEG: its frame, tables and levels, and the marker segments that they come from.

Source: section "Kept JPEG files" of ``docs/format/format.md``; ITU-T T.81, Annex B.
"""

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from mmpcodec.reference.jpeg.huffman import HuffmanTable
from mmpcodec.reference.jpeg.zigzag import ZIGZAG

BLOCK, MOST_PASSES = 64, 8
"""Levels of a block; how many times the blocks of a picture its scans can have."""
SEQUENTIAL, PROGRESSIVE = (0xC0, 0xC1), 0xC2
HUFFMAN_TABLES, FIRST_RESTART, START, END, SCAN = 0xC4, 0xD0, 0xD8, 0xD9, 0xDA
QUANTISATION_TABLES, NUMBER_OF_LINES, RESTART_INTERVAL = 0xDB, 0xDC, 0xDD
OTHER_FRAMES = range(0xC3, 0xD0)
MOST_LOW = 13


class Stop(Enum):
    """What ends a run of marker segments."""

    SCAN = "header of a scan, whose data follows"
    END = "marker of the end, or no more data"
    UNKNOWN = "something that no scan can be read by"


@dataclass
class Component:
    """A component of a frame.

    Parameters
    ----------
    identifier, across, down, table : int
        Identifier, sampling factors, number of the quantisation table.
    """

    identifier: int
    across: int
    down: int
    table: int
    columns: int = 0
    rows: int = 0
    own_columns: int = 0
    own_rows: int = 0
    steps: list[int] = field(default_factory=lambda: [1] * BLOCK)
    levels: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, BLOCK), int))


@dataclass
class ScanHeader:
    """The header of a scan: numbers of components, Huffman tables, and levels that it codes."""

    components: list[int]
    dc: list[int]
    ac: list[int]
    first: int
    last: int
    high: int
    low: int


class JpegPicture:
    """What the marker segments of a picture have said so far."""

    def __init__(self):
        self.frame = 0
        self.components: list[Component] = []
        self.mcu_columns = self.mcu_rows = self.restart_interval = 0
        self.dc: dict[int, HuffmanTable] = {}
        self.ac: dict[int, HuffmanTable] = {}
        self.steps = [[1] * BLOCK for _ in range(4)]
        self.scan = ScanHeader([], [], [], 0, 0, 0, 0)
        self._scanned_blocks = 0

    @property
    def is_progressive(self) -> bool:
        """Whether the frame is progressive."""
        return self.frame == PROGRESSIVE

    @property
    def level_bytes(self) -> int:
        """Bytes that the levels take as 16-bit numbers."""
        return 2 * BLOCK * sum(own.rows * own.columns for own in self.components)

    def counts_scan(self) -> bool:
        """Return whether the scan whose header was read can be kept, and if so, count its blocks.

        All scans together have at most ``MOST_PASSES`` times the blocks of the picture.
        """
        blocks = [own.columns * own.rows for own in self.components]
        scanned = self._scanned_blocks + sum(blocks[number] for number in self.scan.components)
        if scanned > MOST_PASSES * sum(blocks):
            return False
        self._scanned_blocks = scanned
        return True

    def allocate(self) -> None:
        """Set all levels to 0, and the steps to those of the tables so far."""
        for own in self.components:
            own.steps = list(self.steps[own.table])
            own.levels = np.zeros((own.rows, own.columns, BLOCK), int)


def read_markers(data: bytes, position: int, picture: JpegPicture) -> tuple[Stop, int]:
    """Read marker segments.

    Parameters
    ----------
    data : bytes
    position : int
        Where to begin.
    picture : JpegPicture
        Takes what the segments say.

    Returns
    -------
    (Stop, int)
        What ended the segments, and the place behind it.
    """
    size = len(data)
    while True:
        while position + 1 < size and (data[position] != 255 or data[position + 1] in (0, 255)):
            position += 1
        if position + 1 >= size:
            return Stop.END, position
        marker = data[position + 1]
        position += 2
        if marker == END:
            return Stop.END, position
        if FIRST_RESTART <= marker <= START or marker == 1:
            continue
        if position + 2 > size:
            return Stop.END, position
        length = int.from_bytes(data[position : position + 2], "big")
        if length < 2 or position + length > size:
            return Stop.UNKNOWN, position
        content = data[position + 2 : position + length]
        position += length
        known = True
        if marker in (*SEQUENTIAL, PROGRESSIVE):
            known = _read_frame(content, marker, picture)
        elif marker == HUFFMAN_TABLES:
            known = _read_huffman(content, picture)
        elif marker == QUANTISATION_TABLES:
            known = _read_quantisation(content, picture)
        elif marker == RESTART_INTERVAL:
            known = len(content) == 2
            picture.restart_interval = int.from_bytes(content, "big") if known else 0
        elif marker == SCAN:
            known = _read_scan(content, picture) and _has_tables(picture)
            return (Stop.SCAN if known else Stop.UNKNOWN), position
        elif marker in OTHER_FRAMES or marker == NUMBER_OF_LINES:
            known = False
        if not known:
            return Stop.UNKNOWN, position


def _read_frame(content: bytes, marker: int, picture: JpegPicture) -> bool:
    if picture.frame or len(content) < 6 or content[0] != 8:
        return False
    height, width = (int.from_bytes(content[at : at + 2], "big") for at in (1, 3))
    count = content[5]
    if not width or not height or not 1 <= count <= 4 or len(content) != 6 + 3 * count:
        return False
    components = []
    for at in range(6, len(content), 3):
        identifier, sampling, table = content[at : at + 3]
        components.append(Component(identifier, sampling >> 4, sampling & 15, table))
    if any(
        not (1 <= own.across <= 4 and 1 <= own.down <= 4 and own.table <= 3) for own in components
    ):
        return False
    across, down = max(own.across for own in components), max(own.down for own in components)
    picture.components = components
    picture.mcu_columns = _parts(width, 8 * across)
    picture.mcu_rows = _parts(height, 8 * down)
    for own in components:
        own.own_columns = _parts(_parts(width * own.across, across), 8)
        own.own_rows = _parts(_parts(height * own.down, down), 8)
        own.columns, own.rows = own.own_columns, own.own_rows
        if count > 1:
            own.columns, own.rows = picture.mcu_columns * own.across, picture.mcu_rows * own.down
    if count == 1:
        picture.mcu_columns, picture.mcu_rows = components[0].columns, components[0].rows
    picture.frame = marker
    return True


def _parts(whole: int, part: int) -> int:
    """Return how many parts a whole has, the last of which may be smaller."""
    return -(-whole // part)


def _read_quantisation(content: bytes, picture: JpegPicture) -> bool:
    at = 0
    while at < len(content):
        wide, number = divmod(content[at], 16)
        size = BLOCK << wide
        if wide > 1 or number > 3 or len(content) - at - 1 < size:
            return False
        steps = np.frombuffer(content[at + 1 : at + 1 + size], ">u2" if wide else "u1")
        for place, step in zip(ZIGZAG, steps.tolist(), strict=True):
            picture.steps[number][place] = step
        at += 1 + size
    return True


def _read_huffman(content: bytes, picture: JpegPicture) -> bool:
    at = 0
    while at < len(content):
        head = content[at]
        counts = content[at + 1 : at + 17]
        if head & ~0x10 > 3 or len(counts) < 16:
            return False
        symbols = content[at + 17 : at + 17 + sum(counts)]
        if sum(counts) > 256 or len(symbols) < sum(counts):
            return False
        tables = picture.ac if head >> 4 else picture.dc
        tables[head & 3] = HuffmanTable(counts, symbols)
        at += 17 + sum(counts)
    return True


def _read_scan(content: bytes, picture: JpegPicture) -> bool:
    scan = picture.scan = ScanHeader([], [], [], 0, 0, 0, 0)
    count = content[0] if content else 0
    if not picture.frame or not 1 <= count <= 4 or len(content) != 2 * count + 4:
        return False
    for at in range(1, 2 * count + 1, 2):
        identifier, tables = content[at : at + 2]
        fitting = (
            number
            for number, own in enumerate(picture.components)
            if own.identifier == identifier and number not in scan.components
        )
        number = next(fitting, None)
        if number is None or tables & ~0x33:
            return False
        scan.components.append(number)
        scan.dc.append(tables >> 4)
        scan.ac.append(tables & 3)
    if not picture.is_progressive:
        scan.last = BLOCK - 1
        return True
    scan.first, scan.last = content[-3], content[-2]
    scan.high, scan.low = divmod(content[-1], 16)
    return (
        scan.first <= scan.last < BLOCK
        and scan.low <= MOST_LOW
        and scan.high in (0, scan.low + 1)
        and (count == 1 if scan.first else scan.last == 0)
    )


def _has_tables(picture: JpegPicture) -> bool:
    scan = picture.scan

    def has(tables: dict[int, HuffmanTable], number: int) -> bool:
        return number in tables and tables[number].known

    needs_dc, needs_ac = not scan.first and not scan.high, scan.last > 0
    return all(not needs_dc or has(picture.dc, number) for number in scan.dc) and all(
        not needs_ac or has(picture.ac, number) for number in scan.ac
    )
