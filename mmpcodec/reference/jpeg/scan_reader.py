"""Levels from the data of a scan. Encoder only.

Source: ITU-T T.81, Annexes F and G.
"""

from mmpcodec.reference.jpeg.huffman import HuffmanTable
from mmpcodec.reference.jpeg.picture import BLOCK, FIRST_RESTART, JpegPicture
from mmpcodec.reference.jpeg.scan import (
    LISTED,
    MOST_RUN,
    ONES,
    ZEROS,
    ScanDetails,
    blocks_of,
)
from mmpcodec.reference.jpeg.zigzag import ZIGZAG

MOST_LENGTH = 16
MOST_SIZE = 15


class Unreadable(Exception):
    """The data of a scan does not go on as a scan does."""


class BitReader:
    """Bits of the data of a scan; a byte of 255 that no zero follows ends them."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0
        self._left: list[int] = []

    def bit(self) -> int:
        """Return the next bit."""
        if not self._left:
            data, at = self._data, self._at
            stuffed = data[at : at + 1] == b"\xff"
            if at >= len(data) or (stuffed and data[at + 1 : at + 2] != b"\0"):
                raise Unreadable
            self._left = [data[at] >> place & 1 for place in range(8)]
            self._at += 1 + stuffed
        return self._left.pop()

    def number(self, count: int) -> int:
        """Return the number that the next bits are."""
        number = 0
        for _ in range(count):
            number = 2 * number + self.bit()
        return number

    def symbol(self, table: HuffmanTable) -> int:
        """Return the symbol of the code that follows."""
        code = 0
        for length in range(1, MOST_LENGTH + 1):
            code = 2 * code + self.bit()
            if (code, length) in table.symbols:
                return table.symbols[code, length]
        raise Unreadable

    def padding(self) -> list[int]:
        """Return the bits that complete the byte."""
        bits = self._left[::-1]
        self._left = []
        return bits

    def take_marker(self, marker: int) -> None:
        """Move past a marker."""
        if self._data[self._at : self._at + 2] != bytes([255, marker]):
            raise Unreadable
        self._at += 2

    @property
    def position(self) -> int:
        """Bytes before the first one of which no bit is taken."""
        return self._at


class ScanReader:
    """Reads levels of the scan whose header a picture has."""

    def __init__(self, data: bytes, picture: JpegPicture, details: ScanDetails):
        self._bits, self._picture, self._scan = BitReader(data), picture, picture.scan
        self._details = details
        self._before = [0] * 4
        self._number = self._run = self._longest = self._restarts = 0
        self._ended_at: int | None = None
        self._padding: list[int] = []

    def read(self) -> int:
        """Return the bytes of the data; the details say whether it is cut."""
        whole = True
        try:
            for i, number, row, column, restarts in blocks_of(self._picture):
                if restarts:
                    self._restart()
                block = self._picture.components[number].levels[row, column]
                levels = block.tolist()
                try:
                    self._read_block(i, levels)
                finally:
                    block[:] = levels
                    self._number += 1
            self._padding += self._bits.padding()
        except Unreadable:
            whole = False
        self._set_details()
        if not whole:
            self._details.cut = max(self._bits.position, 1)
        return self._bits.position

    def _set_details(self) -> None:
        details, ones = self._details, sum(self._padding)
        details.most_run = MOST_RUN if self._longest > 1 else max(self._longest, 1)
        if ones == len(self._padding):
            details.padding = ONES
        elif ones == 0:
            details.padding = ZEROS
        else:
            details.padding, details.padding_bits = LISTED, list(self._padding)

    def _restart(self) -> None:
        if self._run:
            raise Unreadable
        self._padding += self._bits.padding()
        self._bits.take_marker(FIRST_RESTART + self._restarts % 8)
        self._restarts += 1
        self._before, self._ended_at = [0] * 4, None

    def _read_block(self, i: int, levels: list[int]) -> None:
        if not self._picture.is_progressive:
            self._sequential(i, levels)
        elif self._scan.first == 0:
            if self._scan.high:
                levels[0] |= self._bits.bit() << self._scan.low
            else:
                levels[0] = _fitting(self._difference(i) << self._scan.low)
        elif self._scan.high == 0:
            self._band(i, levels)
        else:
            self._refined_band(i, levels)

    def _level(self, size: int) -> int:
        number = self._bits.number(size)
        return number - (1 << size) + 1 if size and number < 1 << size - 1 else number

    def _difference(self, i: int) -> int:
        size = self._bits.symbol(self._picture.dc[self._scan.dc[i]])
        if size > MOST_SIZE:
            raise Unreadable
        self._before[i] = _fitting(self._before[i] + self._level(size))
        return self._before[i]

    def _sequential(self, i: int, levels: list[int]) -> None:
        levels[0] = self._difference(i)
        self._read_band(i, levels, 1, BLOCK - 1)

    def _band(self, i: int, levels: list[int]) -> None:
        if self._run:
            self._end_in_run()
        else:
            self._read_band(i, levels, self._scan.first, self._scan.last)

    def _read_band(self, i: int, levels: list[int], first: int, last: int) -> None:
        """Read levels up to the end of a block or band, or the beginning of a run."""
        table, k, zeros, any_symbol = self._picture.ac[self._scan.ac[i]], first, 0, False
        while k <= last:
            run, size = divmod(self._bits.symbol(table), 16)
            if size:
                k += run
                if k > last:
                    raise Unreadable
                levels[ZIGZAG[k]] = _fitting(self._level(size) << self._scan.low)
                zeros = 0
            elif run == 15:
                k += 15
                zeros += 1
                if k > last:
                    raise Unreadable
            elif run and not self._picture.is_progressive:
                raise Unreadable
            else:
                if self._picture.is_progressive:
                    self._begin_run(run, any_symbol)
                    self._end_in_run()
                break
            any_symbol = True
            k += 1
        if zeros:
            self._details.zeros.append((self._number, zeros))

    def _begin_run(self, digits: int, any_symbol: bool) -> None:
        """Begin a run of blocks that end together, at this block."""
        if any_symbol:
            self._ended_at = None
        self._run = (1 << digits) + self._bits.number(digits)
        if self._ended_at == self._number > 0:
            self._details.run_starts.append(self._number)
        self._longest = max(self._longest, self._run)

    def _end_in_run(self) -> None:
        self._run -= 1
        if not self._run:
            self._ended_at = self._number + 1

    def _refine(self, levels: list[int], k: int) -> None:
        if self._bits.bit():
            levels[k] += (1 if levels[k] > 0 else -1) << self._scan.low

    def _refined_band(self, i: int, levels: list[int]) -> None:
        table, last = self._picture.ac[self._scan.ac[i]], self._scan.last
        k, any_symbol = self._scan.first, False
        while not self._run and k <= last:
            run, size = divmod(self._bits.symbol(table), 16)
            fresh = 0
            if size:
                if size != 1:
                    raise Unreadable
                fresh = (1 if self._bits.bit() else -1) << self._scan.low
            elif run < 15:
                self._begin_run(run, any_symbol)
                break
            any_symbol = True
            while k <= last:
                place = ZIGZAG[k]
                if levels[place]:
                    self._refine(levels, place)
                else:
                    run -= 1
                    if run < 0:
                        break
                k += 1
            if fresh:
                if k > last:
                    raise Unreadable
                levels[ZIGZAG[k]] = fresh
            k += 1
        if self._run:
            for place in ZIGZAG[k : last + 1]:
                if levels[place]:
                    self._refine(levels, place)
            self._end_in_run()


def _fitting(level: int) -> int:
    """Return a level, if it has 16 bits."""
    if not -32768 <= level <= 32767:
        raise Unreadable
    return level


def read_scan_data(data: bytes, picture: JpegPicture, details: ScanDetails) -> int:
    """Read levels from the data of a scan; return its bytes."""
    return ScanReader(data, picture, details).read()
