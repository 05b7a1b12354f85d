"""The numbers that say how the parts of a kept file fit together.

Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

from dataclasses import dataclass, field

from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.reference.jpeg.scan import LISTED, MOST_RUN, USUAL_REFINEMENTS, ScanDetails

SECTION = "Kept JPEG files"
CUT, ZEROS, RUNS = 4, 8, 16
MOST_STRIPES = MOST_ROWS = 65535
MOST_ZEROS = 4
MOST_BLOCK = (1 << 32) - 1
MOST_BITS = 62
STRIPE_COST = 2 << 17
"""Bytes of levels as which a stripe counts besides its own: its models take time."""


@dataclass
class Description:
    """What a kept file has.

    Parameters
    ----------
    pictures : list of (start, stripes)
        Place of the marker of the start, and (rows, bytes) of each stripe.
    scans : list of (picture, place, details)
        The place counts only bytes of the rest.
    stored : list of (coded, stored)
    """

    pictures: list[tuple[int, list[tuple[int, int]]]] = field(default_factory=list)
    scans: list[tuple[int, int, ScanDetails]] = field(default_factory=list)
    stored: list[tuple[int, int]] = field(default_factory=list)

    @property
    def stripes(self) -> int:
        """Stripes of all pictures, each of which has at least one for their bound."""
        return sum(max(1, len(stripes)) for _, stripes in self.pictures)

    def to_bytes(self) -> bytes:
        """Return the numbers."""
        numbers = Numbers()
        numbers.add(len(self.pictures))
        before = 0
        for start, stripes in self.pictures:
            numbers.add(start - before, len(stripes))
            before = start
            for stripe in stripes:
                numbers.add(*stripe)
        numbers.add(len(self.scans))
        before = 0
        for picture, place, details in self.scans:
            numbers.add(picture, place - before)
            before = place
            _write_details(details, numbers)
        numbers.add(len(self.stored))
        for stored in self.stored:
            numbers.add(*stored)
        return bytes(numbers.bytes)


class Numbers:
    """Writes numbers of seven bits a byte, the lowest ones first."""

    def __init__(self):
        self.bytes = bytearray()

    def add(self, *numbers: int) -> None:
        """Append numbers."""
        for number in numbers:
            while number >> 7:
                self.bytes.append(number & 127 | 128)
                number >>= 7
            self.bytes.append(number)

    def add_differences(self, numbers: list[int]) -> None:
        """Append how many numbers there are, and each less the one before."""
        self.add(len(numbers), *(b - a for a, b in zip([0, *numbers], numbers, strict=False)))


class NumberReader:
    """Reads such numbers.

    Parameters
    ----------
    data : bytes
    """

    def __init__(self, data: bytes):
        self.data, self.position = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        if self.position >= len(self.data):
            raise TruncatedStream(SECTION, "description ends too early")
        self.position += 1
        return self.data[self.position - 1]

    def number(self, most: int, name: str) -> int:
        """Return the next number, which is at most ``most``."""
        number = shift = 0
        while True:
            byte = self.byte()
            if shift + 7 > MOST_BITS + 1:
                raise CorruptStream(SECTION, f"{name} has too many bytes")
            number |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        if not byte and shift:
            raise CorruptStream(SECTION, f"{name} has too many bytes")
        if number > most:
            raise CorruptStream(SECTION, f"{name} = {number}, allowed are 0 to {most}")
        return number


def _write_details(details: ScanDetails, numbers: Numbers) -> None:
    runs = (
        details.most_run != MOST_RUN
        or details.most_refinements != USUAL_REFINEMENTS
        or bool(details.run_starts)
    )
    parts = details.padding + CUT * (details.cut > 0) + ZEROS * bool(details.zeros) + RUNS * runs
    numbers.add(parts)
    if details.cut:
        numbers.add(details.cut)
    if details.padding == LISTED:
        bits = details.padding_bits
        numbers.add(len(bits))
        for start in range(0, len(bits), 8):
            own = [*bits[start : start + 8], *[0] * 8][:8]
            numbers.bytes.append(sum(bit << 7 - place for place, bit in enumerate(own)))
    if details.zeros:
        numbers.add(len(details.zeros))
        before = 0
        for block, count in details.zeros:
            numbers.add(block - before, count)
            before = block
    if runs:
        numbers.add(details.most_run, details.most_refinements)
        numbers.add_differences(details.run_starts)


def _read_details(reader: NumberReader, file_size: int) -> ScanDetails:
    details = ScanDetails()
    parts = reader.number(2 * RUNS - 1, "parts of a scan")
    details.padding = parts % 4
    if details.padding > LISTED:
        raise CorruptStream(SECTION, "padding is 3")
    if parts & CUT:
        details.cut = reader.number(file_size, "bytes of a scan")
    if details.padding == LISTED:
        count = reader.number(8 * file_size, "padding bits")
        for start in range(0, count, 8):
            byte = reader.byte()
            places = range(min(8, count - start))
            details.padding_bits += [byte >> 7 - place & 1 for place in places]
    before = 0
    if parts & ZEROS:
        for _ in range(reader.number(file_size, "blocks with zeros")):
            before += reader.number(MOST_BLOCK - before, "block with zeros")
            details.zeros.append((before, reader.number(MOST_ZEROS, "zeros of a block")))
    if parts & RUNS:
        details.most_run = reader.number(MOST_RUN, "longest run")
        details.most_refinements = reader.number(MOST_BLOCK, "most refinements")
        before = 0
        for _ in range(reader.number(file_size, "runs")):
            before += reader.number(MOST_BLOCK - before, "block of a run")
            details.run_starts.append(before)
    return details


def most_parts(file_size: int) -> int:
    """Return the most pictures, scans and stored ranges of a file: a header takes more bytes."""
    return file_size // 8 + 1


def read_description(data: bytes, file_size: int, most_stripes: int) -> tuple[Description, int]:
    """Return a description, and the place behind it.

    ``file_size`` bounds its numbers, and ``most_stripes`` those of the stripes.
    """
    found, reader = Description(), NumberReader(data)
    before, most = 0, most_parts(file_size)
    pictures = reader.number(min(most, most_stripes), "pictures")
    spare = most_stripes - pictures
    for _ in range(pictures):
        before += reader.number(file_size - before, "start of a picture")
        stripes = []
        count = reader.number(min(MOST_STRIPES, spare + 1), "stripes")
        spare -= max(count, 1) - 1
        for _ in range(count):
            rows = reader.number(MOST_ROWS, "rows of a stripe")
            if not rows:
                raise CorruptStream(SECTION, "a stripe has no rows")
            stripes.append((rows, reader.number(1 << 62, "bytes of a stripe")))
        found.pictures.append((before, stripes))
    before = 0
    for _ in range(reader.number(most, "scans")):
        if not found.pictures:
            raise CorruptStream(SECTION, "a scan has no picture")
        picture = reader.number(len(found.pictures) - 1, "picture of a scan")
        before += reader.number(file_size - before, "start of a scan")
        found.scans.append((picture, before, _read_details(reader, file_size)))
    for _ in range(reader.number(most, "stored ranges")):
        coded = reader.number(file_size, "coded bytes")
        found.stored.append((coded, reader.number(file_size, "stored bytes")))
    return found, reader.position
