"""Section Kept JPEG files of the text: payload and description, and the file that they rebuild."""

from dataclasses import dataclass, field

from independent.file import Reader, checked
from independent.jpeg.history import decoded_bytes
from independent.jpeg.levels import decode_stripe
from independent.jpeg.markers import Picture
from independent.jpeg.scans import Details, data_of
from independent.rangecoder import RangeCoder

PARTS = range(32)


@dataclass
class Described:
    """A picture of the description: its place in the file, its stripes, and what it becomes."""

    start: int
    stripes: list  # of rows and payload
    picture: Picture = None
    scanned: int = 0  # blocks of all scans


@dataclass
class Rest:
    """The bytes outside scans, of which the first ``place`` are in the file already."""

    data: bytes
    place: int = 0

    def take(self, size):
        if size > len(self.data) - self.place:
            raise ValueError("the rest ends too early")
        self.place += size
        return self.data[self.place - size : self.place]


@dataclass
class Description:
    pictures: list = field(default_factory=list)
    scans: list = field(default_factory=list)  # of picture, place, Details
    ranges: list = field(default_factory=list)  # of coded and stored bytes


def kept_file(form, size, payload, width, height):
    """The JPEG file, of ``size`` bytes."""
    checked("lossless form", form, range(1, 4))
    checked("file bytes", size, range(1, 2**31 + 1))
    description, rest = parts_of(payload, size)
    levels_left = 4 * width * height + 2**22
    for each in description.pictures:
        levels_left -= 2**17 * max(1, len(each.stripes))
    if levels_left < 0:
        raise ValueError("stripes count as more levels than the limit")
    file = rebuilt(description, rest, form, levels_left)
    if len(file) != size:
        raise ValueError(f"JPEG file has {len(file)} bytes, not {size}")
    return file


def parts_of(payload, size):
    """The description of a payload, and the rest."""
    reader = Reader(payload)
    count = reader.number("coded bytes", range(2 * size + 1025))
    coder = RangeCoder(reader.take(reader.number("bytes of the next part")))
    own = Reader(decoded_bytes(coder, count))
    coder.end()
    description = described(own, range(size // 8 + 2))
    coded_rest, rest = Reader(own.rest()), b""
    for of_coded, of_stored in description.ranges:
        rest += coded_rest.take(of_coded) + reader.take(of_stored)
    for each in description.pictures:
        each.stripes = [(rows, reader.take(size)) for rows, size in each.stripes]
    reader.end("the payload")
    return description, Rest(rest + coded_rest.rest())


def described(reader, parts):
    found = Description()
    start = 0
    for _ in range(reader.number("pictures", parts)):
        start += reader.number("start")
        stripes = []
        for _ in range(reader.number("stripes", range(2**16))):
            rows = reader.number("rows", range(1, 2**62))
            stripes.append((rows, reader.number("bytes")))
        found.pictures.append(Described(start, stripes))
    for _ in range(reader.number("scans", parts)):
        picture = reader.number("picture", range(len(found.pictures)))
        place = reader.number("place")
        found.scans.append((picture, place, details_of(reader)))
    for _ in range(reader.number("stored ranges", parts)):
        found.ranges.append((reader.number("coded"), reader.number("stored")))
    return found


def details_of(reader):
    parts = reader.number("parts", PARTS)
    found = Details(padding=checked("padding", parts % 4, range(3)))
    if parts >> 2 & 1:
        found.cut = reader.number("cut")
    if found.padding == 2:
        count = reader.number("padding bits")
        packed = reader.take((count + 7) // 8)
        found.bits = [packed[i // 8] >> (7 - i % 8) & 1 for i in range(count)]
    if parts >> 3 & 1:
        block = 0
        for _ in range(reader.number("blocks of zeros")):
            block += reader.number("block")
            found.zeros[block] = reader.number("zeros", range(5))
    if parts >> 4 & 1:
        found.longest_run = max(1, reader.number("longest run", range(32768)))
        found.most_bits = reader.number("refinement bits")
        block = 0
        for _ in range(reader.number("runs")):
            block += reader.number("block")
            found.begins.add(block)
    return found


def rebuilt(description, rest, form, most_levels):
    file = bytearray()
    for number, place, details in description.scans:
        file += rest.take(place)
        own = description.pictures[number]
        first = own.picture is None
        if first:
            own.picture = Picture(own.start)
        scan = own.picture.scan_at_end(file)
        if first:
            most_levels -= own.picture.count_of_levels()
            if most_levels < 0:
                raise ValueError("pictures have more levels than the limit")
            decode_levels(own, form)
        own.scanned += sum(each.columns * each.rows for each, *_ in scan.components)
        if 64 * own.scanned > 8 * own.picture.count_of_levels():
            raise ValueError("scans have more than 8 times the blocks of their picture")
        file += data_of(own.picture, scan, details)
        own.picture.position = len(file)
    return bytes(file + rest.take(len(rest.data) - rest.place))


def decode_levels(own, form):
    """Decode the stripes of a picture; rows behind the last one have levels 0."""
    picture = own.picture
    row = 0
    for rows, payload in own.stripes:
        if row + rows > picture.mcu_rows:
            raise ValueError("stripes have more rows than the picture")
        components = [component.of_stripe() for component in picture.components]
        decode_stripe(payload, form, components, rows)
        for component, decoded in zip(picture.components, components, strict=True):
            component.levels += [[block.levels for block in line] for line in decoded.blocks]
        row += rows
    for component in picture.components:
        zeros = [0] * 64
        while len(component.levels) < component.rows:
            component.levels.append([zeros] * component.columns)
