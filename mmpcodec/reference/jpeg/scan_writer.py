"""Bytes of a scan from levels.

Source: section "Kept JPEG files", "Data of a scan", of ``docs/format/format.md``; ITU-T T.81,
Annexes F and G.
"""

from mmpcodec.reference.jpeg.huffman import HuffmanTable
from mmpcodec.reference.jpeg.picture import BLOCK, FIRST_RESTART, JpegPicture
from mmpcodec.reference.jpeg.scan import LISTED, ONES, ScanDetails, blocks_of
from mmpcodec.reference.jpeg.zigzag import ZIGZAG

END_OF_BLOCK, SIXTEEN_ZEROS = 0, 0xF0


class ScanWriter:
    """Writes the data of the scan whose header a picture has."""

    def __init__(self, picture: JpegPicture, details: ScanDetails, most: int):
        self.picture, self.scan, self.details = picture, picture.scan, details
        self.wanted = min(most, details.cut - 1) if details.cut else most
        self.bytes = bytearray()
        self._bits = self._count = 0
        self._before = [0] * 4
        self._refinements: list[int] = []
        self._run, self._table = 0, HuffmanTable([0] * 16, b"")
        self._zeros, self._starts = dict(details.zeros), list(details.run_starts)
        self._padding, self._restarts, self._number = iter(details.padding_bits), 0, 0

    def write(self) -> bytes:
        """Return the data."""
        whole = True
        for i, number, row, column, restarts in blocks_of(self.picture):
            if restarts:
                self._end_interval()
                self.bytes += bytes([255, FIRST_RESTART + self._restarts % 8])
                self._restarts += 1
                self._before = [0] * 4
                if len(self.bytes) > self.wanted:
                    whole = False
                    break
            levels = self.picture.components[number].levels[row, column].tolist()
            self._write_block(i, levels)
            self._number += 1
            if len(self.bytes) > self.wanted:
                whole = False
                break
        if whole or self.details.cut:
            self._end_interval()
        cut = self.details.cut
        return bytes(self.bytes[:cut] if cut else self.bytes)

    def _put(self, number: int, count: int) -> None:
        self._bits = self._bits << count | number
        self._count += count
        if self._count >= 32:
            self._flush()

    def _flush(self) -> None:
        while self._count >= 8:
            byte = self._bits >> self._count - 8 & 255
            self.bytes += b"\xff\0" if byte == 255 else bytes([byte])
            self._count -= 8
        self._bits &= (1 << self._count) - 1

    def _write_block(self, i: int, levels: list[int]) -> None:
        if not self.picture.is_progressive:
            self._sequential(i, levels)
        elif self.scan.first == 0:
            if self.scan.high:
                self._put(levels[0] >> self.scan.low & 1, 1)
            else:
                self._difference(i, levels[0] >> self.scan.low)
        elif self.scan.high == 0:
            self._band(i, levels)
        else:
            self._refined_band(i, levels)

    def _symbol(self, table: HuffmanTable, symbol: int) -> None:
        self._put(*table.codes.get(symbol, (0, 0)))

    def _level(self, table: HuffmanTable, run: int, level: int) -> None:
        """Write ``run`` zeros and a level other than 0."""
        size = abs(level).bit_length()
        self._symbol(table, run << 4 | size)
        self._put(level if level > 0 else level + (1 << size) - 1, size)

    def _difference(self, i: int, value: int) -> None:
        change, self._before[i] = value - self._before[i], value
        table = self.picture.dc[self.scan.dc[i]]
        if change:
            self._level(table, 0, change)
        else:
            self._symbol(table, 0)

    def _sequential(self, i: int, levels: list[int]) -> None:
        self._difference(i, levels[0])
        table, after = self.picture.ac[self.scan.ac[i]], 1
        for k in range(1, BLOCK):
            level = levels[ZIGZAG[k]]
            if level:
                after = self._skip(table, after, k)
                self._level(table, k - after, level)
                after = k + 1
        after = self._more_zeros(table, after, BLOCK - 1, self._zeros.get(self._number, 0))
        if after < BLOCK:
            self._symbol(table, END_OF_BLOCK)

    def _skip(self, table: HuffmanTable, after: int, k: int) -> int:
        """Write 16 zeros as long as a run is longer."""
        while k - after > 15:
            self._symbol(table, SIXTEEN_ZEROS)
            after += 16
        return after

    def _more_zeros(self, table: HuffmanTable, after: int, last: int, count: int) -> int:
        while count and after <= last:
            self._symbol(table, SIXTEEN_ZEROS)
            after, count = after + 16, count - 1
        return after

    def _end_run(self) -> None:
        if self._run:
            digits = self._run.bit_length() - 1
            self._symbol(self._table, digits << 4)
            self._put(self._run - (1 << digits), digits)
            self._run = 0
        for bit in self._refinements:
            self._put(bit, 1)
        self._refinements = []

    def _begin_block(self, i: int) -> None:
        if self._starts and self._starts[0] == self._number:
            self._starts.pop(0)
            self._end_run()
        self._table = self.picture.ac[self.scan.ac[i]]

    def _end_block(self) -> None:
        self._run += 1
        most = self.details.most_refinements
        if self._run >= self.details.most_run or (most and len(self._refinements) > most):
            self._end_run()

    def _band(self, i: int, levels: list[int]) -> None:
        self._begin_block(i)
        after = self.scan.first
        for k in range(self.scan.first, self.scan.last + 1):
            level = levels[ZIGZAG[k]]
            size = abs(level) >> self.scan.low
            if size:
                self._end_run()
                after = self._skip(self._table, after, k)
                self._level(self._table, k - after, size if level > 0 else -size)
                after = k + 1
        more = self._zeros.get(self._number, 0)
        if more:
            self._end_run()
        after = self._more_zeros(self._table, after, self.scan.last, more)
        if after <= self.scan.last:
            self._end_block()

    def _refined_band(self, i: int, levels: list[int]) -> None:
        self._begin_block(i)
        band = [levels[ZIGZAG[k]] for k in range(self.scan.first, self.scan.last + 1)]
        sizes = [abs(level) >> self.scan.low for level in band]
        end = max((place + 1 for place, size in enumerate(sizes) if size == 1), default=0)
        refinements: list[int] = []
        run = 0
        for place, size in enumerate(sizes):
            if not size:
                run += 1
                continue
            while run > 15 and place < end:
                self._end_run()
                self._symbol(self._table, SIXTEEN_ZEROS)
                run -= 16
                refinements = self._take(refinements)
            if size > 1:
                refinements.append(size & 1)
                continue
            self._end_run()
            self._symbol(self._table, run << 4 | 1)
            self._put(int(band[place] > 0), 1)
            run, refinements = 0, self._take(refinements)
        if run or refinements:
            self._refinements += refinements
            self._end_block()

    def _take(self, refinements: list[int]) -> list[int]:
        """Write refinement bits; return an empty list."""
        self._refinements = refinements
        self._end_run()
        return []

    def _end_interval(self) -> None:
        self._end_run()
        while self._count % 8:
            if self.details.padding == LISTED:
                self._put(next(self._padding, 0), 1)
            else:
                self._put(int(self.details.padding == ONES), 1)
        self._flush()


def write_scan_data(picture: JpegPicture, details: ScanDetails, most: int = 1 << 62) -> bytes:
    """Return the data of a scan; it ends soon after there are more than ``most`` bytes."""
    return ScanWriter(picture, details, most).write()
