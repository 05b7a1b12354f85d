"""What the marker segments of a picture say of its scans, by ITU-T T.81."""

from dataclasses import dataclass, field

from independent.file import Reader, checked
from independent.jpeg.levels import Component
from independent.jpeg.zigzag import ZIGZAG

SOI, EOI, SOS, DQT, DHT, DRI, DNL = 0xD8, 0xD9, 0xDA, 0xDB, 0xC4, 0xDD, 0xDC
WITHOUT_LENGTH = {SOI, 1, *range(0xD0, 0xD8)}
FRAMES = 0xC0, 0xC1, 0xC2
NOT_ALLOWED = {*range(0xC3, 0xD0), DNL} - {DHT}


@dataclass
class OfFrame:
    """A component of a frame: its fields, the size of its picture in blocks, and its levels."""

    number: int
    identifier: int
    H: int
    V: int
    table: int
    columns: int = 0  # with the blocks that complete MCUs
    rows: int = 0
    own_columns: int = 0  # without them
    own_rows: int = 0
    S: int = 1
    R: int = 1
    steps: list = field(default_factory=lambda: [1] * 64)
    levels: list = field(default_factory=list)  # by row and column of blocks

    def of_stripe(self):
        """Decodes the component in a stripe."""
        return Component(self.number, self.columns, self.rows_of_mcu, self.S, self.R, self.steps)

    rows_of_mcu: int = 1


@dataclass
class Scan:
    components: list  # of OfFrame, codes of DC, codes of AC
    start: int
    end: int
    high: int
    low: int


def codes_of(counts, symbols):
    """Code and length by symbol; None if the codes do not exist."""
    found, code, place = {}, 0, 0
    for length, count in enumerate(counts, 1):
        for symbol in symbols[place : place + count]:
            found.setdefault(symbol, (code, length))
            code += 1
        if code > 2**length:
            return None
        place += count
        code *= 2
    return found


class Picture:
    """Reads the marker segments of a picture from its SOI on."""

    def __init__(self, start):
        self.position = start + 2
        self.quantisation, self.huffman = {}, {}
        self.restart = 0
        self.components = []
        self.progressive = False

    def scan_at_end(self, data):
        """Read on up to the header of the scan that ends where the data ends."""
        while True:
            marker, content = self.segment(data)
            if marker == SOS:
                scan = self.scan(Reader(content))
                if self.position == len(data):
                    return scan
            elif marker == EOI:
                raise ValueError("a picture ends before its scan")
            elif marker == DQT:
                self.read_quantisation(Reader(content))
            elif marker == DHT:
                self.read_huffman(Reader(content))
            elif marker == DRI:
                own = Reader(content)
                self.restart = two(own)
                own.end("DRI")
            elif marker in FRAMES:
                self.frame(Reader(content), marker)
            elif marker in NOT_ALLOWED:
                raise ValueError(f"marker {marker} is not allowed")

    def segment(self, data):
        """The next marker, and its content if it has some; the position is behind it."""
        place = self.position
        while place + 1 < len(data) and not (
            data[place] == 255 and data[place + 1] not in (0, 255)
        ):
            place += 1
        if place + 1 >= len(data):
            raise ValueError("no header of a scan ends where its data begins")
        marker = data[place + 1]
        self.position = place + 2
        if marker in WITHOUT_LENGTH or marker == EOI:
            return marker, b""
        size = int.from_bytes(data[self.position : self.position + 2], "big")
        if size < 2 or self.position + size > len(data):
            raise ValueError("a marker segment ends beyond the header of its scan")
        self.position += size
        return marker, bytes(data[self.position - size + 2 : self.position])

    def read_quantisation(self, reader):
        while reader.position < len(reader.data):
            first = one(reader)
            checked("precision of a quantisation table", first >> 4, range(2))
            number = checked("quantisation table", first & 15, range(4))
            table = [0] * 64
            for k in ZIGZAG:
                table[k] = two(reader) if first >> 4 else one(reader)
            self.quantisation[number] = table

    def read_huffman(self, reader):
        while reader.position < len(reader.data):
            first = one(reader)
            kind = checked("class of a Huffman table", first >> 4, range(2))
            number = checked("Huffman table", first & 15, range(4))
            counts = list(reader.take(16))
            checked("symbols of a Huffman table", sum(counts), range(257))
            self.huffman[kind, number] = codes_of(counts, reader.take(sum(counts)))

    def frame(self, reader, marker):
        if self.components:
            raise ValueError("a second frame")
        self.progressive = marker == 0xC2
        checked("bits of a sample", one(reader), (8,))
        height, width = two(reader), two(reader)
        checked("height", height, range(1, 2**16))
        checked("width", width, range(1, 2**16))
        for number in range(checked("components", one(reader), range(1, 5))):
            identifier, factors, table = one(reader), one(reader), one(reader)
            H = checked("sampling factor", factors >> 4, range(1, 5))
            V = checked("sampling factor", factors & 15, range(1, 5))
            checked("quantisation table", table, range(4))
            self.components.append(OfFrame(number, identifier, H, V, table))
        reader.end("a frame")
        most_H = max(each.H for each in self.components)
        most_V = max(each.V for each in self.components)
        alone = len(self.components) == 1
        self.mcu_columns = up(width, 8 if alone else 8 * most_H)
        self.mcu_rows = up(height, 8 if alone else 8 * most_V)
        first = self.components[0]
        for each in self.components:
            each.own_columns = up(up(width * each.H, most_H), 8)
            each.own_rows = up(up(height * each.V, most_V), 8)
            each.rows_of_mcu = 1 if alone else each.V
            each.columns = self.mcu_columns * (1 if alone else each.H)
            each.rows = self.mcu_rows * each.rows_of_mcu
            each.S, each.R = max(1, first.H // each.H), max(1, first.V // each.V)

    def count_of_levels(self):
        """Levels of all blocks; also takes the steps of the tables at this moment."""
        for each in self.components:
            table = self.quantisation.get(each.table, [1] * 64)
            each.steps = [max(1, step) for step in table]
        return sum(64 * each.columns * each.rows for each in self.components)

    def scan(self, reader):
        if not self.components:
            raise ValueError("a scan without a frame")
        named = []
        for _ in range(checked("components of a scan", one(reader), range(1, 5))):
            identifier, tables = one(reader), one(reader)
            known = (each for each in self.components if each.identifier == identifier)
            free = [each for each in known if all(each is not other[0] for other in named)]
            if not free:
                raise ValueError(f"component {identifier} of a scan is not one of the frame")
            checked("Huffman tables of a scan", tables & ~0x33, (0,))
            codes = [self.huffman.get((kind, tables >> 4 * (1 - kind) & 15)) for kind in (0, 1)]
            named.append((free[0], *codes))
        start, end, approximation = one(reader), one(reader), one(reader)
        reader.end("the header of a scan")
        found = Scan(named, start, end, approximation >> 4, approximation & 15)
        if not self.progressive:
            found.start, found.end, found.high, found.low = 0, 63, 0, 0
        elif not self.allowed(found):
            raise ValueError("Ss, Se, Ah or Al of a scan is not allowed")
        needs_dc = found.start == 0 and found.high == 0
        for _, dc, ac in named:
            if (needs_dc and dc is None) or (found.end > 0 and ac is None):
                raise ValueError("a Huffman table of a scan is not known")
        return found

    def allowed(self, scan):
        if scan.start == 0:
            bands = scan.end == 0
        else:
            bands = scan.start <= scan.end <= 63 and len(scan.components) == 1
        return bands and scan.low <= 13 and scan.high in (0, scan.low + 1)


def up(size, multiple):
    return -(-size // multiple)


def one(reader):
    return reader.take(1)[0]


def two(reader):
    return int.from_bytes(reader.take(2), "big")
