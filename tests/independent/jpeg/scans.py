"""Section Data of a scan of the text: the bytes that levels become, by ITU-T T.81."""

from contextlib import suppress
from dataclasses import dataclass, field

from independent.arithmetic import trunc
from independent.jpeg.zigzag import ZIGZAG

LONGEST_RUN, MOST_BITS = 32767, 937
ZRL = 0xF0


@dataclass
class Details:
    """The parts of a scan."""

    padding: int = 0
    bits: list = field(default_factory=list)
    cut: int = 0  # bytes of the data; 0 for all
    zeros: dict = field(default_factory=dict)  # how often ZRL is coded, by block
    longest_run: int = LONGEST_RUN
    most_bits: int = MOST_BITS
    begins: set = field(default_factory=set)  # blocks at which a run begins


class Cut(Exception):
    """The data has all bytes that are kept."""


class Writer:
    def __init__(self, details):
        self.details = details
        self.data = bytearray()
        self.buffer, self.count = 0, 0
        self.padding = iter(details.bits)

    def put(self, value, size):
        self.buffer = (self.buffer << size) | (value & (2**size - 1))
        self.count += size
        while self.count >= 8:
            self.count -= 8
            byte = self.buffer >> self.count & 255
            self.append(byte)
            if byte == 255:
                self.append(0)
        self.buffer &= 2**self.count - 1

    def append(self, byte):
        self.data.append(byte)
        if len(self.data) == self.details.cut:
            raise Cut

    def code(self, codes, symbol):
        self.put(*codes.get(symbol, (0, 0)))

    def complete(self):
        while self.count:
            bit = 1 - self.details.padding
            if self.details.padding == 2:
                bit = next(self.padding, 0)
            self.put(bit, 1)

    def restart(self, number):
        self.complete()
        self.append(255)
        self.append(0xD0 + number % 8)


def data_of(picture, scan, details):
    writer = Writer(details)
    with suppress(Cut):
        Coder(picture, scan, details, writer).write()
    return bytes(writer.data)


class Coder:
    """Writes one scan."""

    def __init__(self, picture, scan, details, writer):
        self.picture, self.scan, self.details, self.writer = picture, scan, details, writer
        self.block = -1
        self.run, self.bits = 0, []  # blocks that end together, and their refinement bits
        if not picture.progressive:
            self.code_block = self.whole
        elif scan.start == 0:
            self.code_block = self.refined_first if scan.high else self.first
        else:
            self.code_block = self.refined if scan.high else self.band
        self.low = scan.low

    def write(self):
        for number, mcu in enumerate(self.mcus()):
            if self.picture.restart and number % self.picture.restart == 0:
                if number:
                    self.end_run()
                    self.writer.restart(number // self.picture.restart - 1)
                self.before = {}
            elif number == 0:
                self.before = {}
            for place, row, column in mcu:
                component, dc, ac = self.scan.components[place]
                self.block += 1
                self.component = place
                self.code_block(component.levels[row][column], dc, ac)
        self.end_run()
        self.writer.complete()

    def mcus(self):
        """The blocks of each MCU: number in the scan, row and column."""
        if len(self.scan.components) == 1:
            component = self.scan.components[0][0]
            for row in range(component.own_rows):
                for column in range(component.own_columns):
                    yield [(0, row, column)]
            return
        for y in range(self.picture.mcu_rows):
            for x in range(self.picture.mcu_columns):
                yield [
                    (place, y * component.V + v, x * component.H + u)
                    for place, (component, _, _) in enumerate(self.scan.components)
                    for v in range(component.V)
                    for u in range(component.H)
                ]

    def first(self, levels, dc, ac):
        level = levels[0] >> self.low
        difference = level - self.before.get(self.component, 0)
        self.before[self.component] = level
        size = abs(difference).bit_length()
        self.writer.code(dc, size)
        self.writer.put(difference if difference >= 0 else difference - 1, size)

    def refined_first(self, levels, dc, ac):
        self.writer.put(levels[0] >> self.low, 1)

    def whole(self, levels, dc, ac):
        self.first(levels, dc, ac)
        if self.levels(levels, 1, 63, ac):
            self.writer.code(ac, 0)

    def band(self, levels, dc, ac):
        if self.levels(levels, self.scan.start, self.scan.end, ac):
            self.end_block()

    def levels(self, levels, start, end, ac):
        """Code levels; returns whether places are left."""
        zeros = 0
        for place in range(start, end + 1):
            level = trunc(levels[ZIGZAG[place]], 2**self.low)
            if level == 0:
                zeros += 1
                continue
            self.end_run()
            while zeros > 15:
                self.writer.code(ac, ZRL)
                zeros -= 16
            size = abs(level).bit_length()
            if size > 15:
                raise ValueError("a level has more than 15 bits")
            self.writer.code(ac, 16 * zeros + size)
            self.writer.put(level if level > 0 else level - 1, size)
            zeros = 0
        for _ in range(self.details.zeros.get(self.block, 0)):
            if zeros > 0:
                self.end_run()
                self.writer.code(ac, ZRL)
                zeros -= 16
        return zeros > 0

    def refined(self, levels, dc, ac):
        values = [levels[ZIGZAG[k]] for k in range(self.scan.start, self.scan.end + 1)]
        sizes = [abs(value) >> self.low for value in values]
        last = max((k for k, size in enumerate(sizes) if size == 1), default=-1)
        zeros, bits = 0, []  # since the last symbol
        for k, size in enumerate(sizes):
            if size == 1:
                self.end_run()
                self.writer.code(ac, 16 * zeros + 1)
                self.writer.put(values[k] > 0, 1)
                self.plain(bits)
                zeros, bits = 0, []
            elif size > 1:
                bits.append(size & 1)
            else:
                zeros += 1
                if zeros == 16 and k < last:
                    self.end_run()
                    self.writer.code(ac, ZRL)
                    self.plain(bits)
                    zeros, bits = 0, []
        if zeros or bits:
            self.end_block(bits)

    def plain(self, bits):
        for bit in bits:
            self.writer.put(bit, 1)

    def end_block(self, bits=()):
        """The block has no more levels than those of earlier scans."""
        if self.block in self.details.begins:
            self.end_run()
        self.run += 1
        self.bits += bits
        self.ac = self.scan.components[self.component][2]
        most = self.details.most_bits
        if self.run == self.details.longest_run or (most and len(self.bits) > most):
            self.end_run()

    def end_run(self):
        if self.run:
            size = self.run.bit_length() - 1
            self.writer.code(self.ac, 16 * size)
            self.writer.put(self.run, size)
            self.plain(self.bits)
        self.run, self.bits = 0, []
