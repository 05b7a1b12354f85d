"""DICOM files: every transfer syntax, frames of other sizes, deep sequences, broken lengths."""

import functools
import struct

from parts.choices import Choices

from makers import jpeg, jpeg2000

_UID = "1.2.840.10008.1.2"
_IMPLICIT, _EXPLICIT, _BIG = _UID, f"{_UID}.1", f"{_UID}.2"
_RLE, _DEFLATED = f"{_UID}.5", f"{_UID}.1.99"
_JPEG = tuple(f"{_UID}.4.{number}" for number in (50, 51, 57, 70, 80, 81))
_JPEG2000 = tuple(f"{_UID}.4.{number}" for number in (90, 91, 201))
_LONG_LENGTHS = (b"OB", b"OW", b"OF", b"SQ", b"UN", b"UT", b"UC", b"UR")
_UNDEFINED = 0xFFFFFFFF
_PALETTE = "PALETTE COLOR"
_GRAY_KINDS = ("MONOCHROME1", "MONOCHROME2", _PALETTE)
_COLOUR_KINDS = ("RGB", "RGB", "YBR_FULL", "YBR_FULL_422", "YBR_RCT")
_ODD_KINDS = ("YBR_PARTIAL_422", "YBR_ICT", "YBR_PARTIAL_420", "HSV", "")


class Writer:
    """Writes elements of a data set.

    Parameters
    ----------
    choices : Choices
    order : {"<", ">"}
    explicit : bool
        Whether elements name the type of their value.
    """

    def __init__(self, choices: Choices, order: str, explicit: bool):
        self.choices = choices
        self.order = order
        self.explicit = explicit

    def element(self, tag: int, kind: bytes, value: bytes, length: int | None = None) -> bytes:
        """Encode an element; tag, type and length may be broken."""
        choices = self.choices
        if len(value) % 2:
            value += b"\0" if kind in (b"OB", b"UI") else b" "
        length = len(value) if length is None else length
        if choices.once_in(6):
            length = choices.number(length)
            tag = choices.number(tag)
            kind = choices.either(
                kind, b"US", b"SQ", b"UN", b"OB", b"OW", b"DS", b"IS", b"\0\0", b"AT"
            )
        head = struct.pack(f"{self.order}HH", tag >> 16, tag & 0xFFFF)
        if not self.explicit:
            return head + struct.pack(f"{self.order}I", length) + value
        if kind in _LONG_LENGTHS:
            return head + kind + b"\0\0" + struct.pack(f"{self.order}I", length) + value
        return head + kind + struct.pack(f"{self.order}H", length % 65536) + value

    def number(self, tag: int, value: int) -> bytes:
        """Encode an element of one 16-bit number."""
        return self.element(
            tag, b"US", struct.pack(f"{self.order}H", self.choices.number(value, 16))
        )

    def text(self, tag: int, kind: bytes, said: str, *others: str) -> bytes:
        """Encode an element of text, which may be one of some others."""
        return self.element(
            tag, kind, self.choices.broken(self.choices.either(said, *others).encode())
        )

    def sequence(self, depth: int) -> bytes:
        """Encode a sequence of items within items, without lengths."""
        item = struct.pack(f"{self.order}HHI", 0xFFFE, 0xE000, _UNDEFINED)
        value = b""
        for _ in range(depth):
            value = item + self.element(0x00081140, b"SQ", value, _UNDEFINED)
        return self.element(0x00081140, b"SQ", value, _UNDEFINED)


def make(choices: Choices) -> bytes:
    """Make a file."""
    syntax = choices.choice(
        (_IMPLICIT, _EXPLICIT, _EXPLICIT, _BIG, _RLE, _RLE, *_JPEG[:2], *_JPEG, *_JPEG2000[:2])
    )
    height, width = choices.side(), choices.side()
    compressed = syntax in _JPEG + _JPEG2000
    gray = choices.once_in(2)
    bits = 8 if compressed or not gray else choices.choice((1, 8, 10, 12, 16, 16))
    allocated = 8 if bits <= 8 else 16
    planes = 1 if gray else 3
    named = choices.either(syntax, _DEFLATED, f"{_UID}.4.100", "", "1.2.3")
    kind = choices.choice(_GRAY_KINDS if gray else _COLOUR_KINDS)
    writer = Writer(choices, ">" if syntax == _BIG else "<", syntax != _IMPLICIT)
    elements = [
        writer.number(0x00280002, planes),
        writer.text(
            0x00280004,
            b"CS",
            kind,
            *(*_GRAY_KINDS, *_COLOUR_KINDS, *_ODD_KINDS),
        ),
        writer.number(0x00280010, height),
        writer.number(0x00280011, width),
        writer.number(0x00280100, choices.either(allocated, 1, 32, 64)),
        writer.number(0x00280101, bits),
        writer.number(0x00280102, bits - 1),
        writer.number(0x00280103, choices.randrange(2) if gray else 0),
    ]
    if kind == _PALETTE or (gray and choices.odd()):
        elements += _palette(choices, writer)
    if choices.once_in(6):
        elements += _groups(choices, writer)
    if not gray:
        elements.append(writer.number(0x00280006, choices.randrange(2)))
    elements += _optional(choices, writer)
    if compressed or syntax == _RLE:
        value = _encapsulated(choices, _frame(choices, syntax, height, width, gray, allocated))
        pixels = writer.element(0x7FE00010, b"OB", value, _UNDEFINED)
    else:
        samples = choices.content(height * width * planes * allocated // 8)
        pixels = writer.element(0x7FE00010, b"OW", choices.broken(samples))
    body = b"".join([*choices.shuffled(sorted(elements)), pixels])
    return _head(choices, named) + (
        choices.damage(body) if choices.once_in(6) and choices.odd() else body
    )


def _head(choices: Choices, syntax: str) -> bytes:
    """Encode the preamble and the file's own elements."""
    meta = Writer(choices, "<", True)
    storage = "1.2.840.10008.5.1.4.1.1.7"
    elements = [
        meta.element(0x00020001, b"OB", b"\0\1"),
        meta.text(0x00020002, b"UI", storage, ""),
        meta.text(0x00020003, b"UI", "1.2.3.4"),
        meta.text(0x00020010, b"UI", syntax, ""),
    ]
    contents = b"".join(choices.shuffled(elements))
    size = meta.element(0x00020000, b"UL", struct.pack("<I", choices.number(len(contents))))
    return bytes(128) + b"DICM" + choices.either(size, b"") + contents


def _optional(choices: Choices, writer: Writer) -> list[bytes]:
    """Encode elements that a picture may have."""
    numbers = ("1", "", "-1", "1e999", "1e99999999", "1e-9999999", "nan", "1\\2", "x" * 40)
    found = [
        writer.text(0x00280008, b"IS", "1", "0", "2", "-1", "x", "99999999999", "1\\2"),
        writer.text(0x00281052, b"DS", "-1024", *numbers),
        writer.text(0x00281053, b"DS", "1.5", *numbers, "0"),
        writer.text(0x00281050, b"DS", "40", *numbers),
        writer.text(0x00281051, b"DS", "400", *numbers, "0"),
        writer.text(0x00280030, b"DS", "0.5\\0.5", *numbers, "0\\0", "1e99999999\\1"),
        writer.text(0x00080005, b"CS", "ISO_IR 100", "ISO 2022 IR 87", "nonsense", "\\\\"),
        writer.text(0x00100010, b"PN", "Name^Given", "=" * 20, "\x1b$B" * 9),
        writer.sequence(choices.either(1, 0, 20, 400, 3000)),
        writer.element(0x7FE00001, b"OV", struct.pack("<Q", 0)),
        writer.element(0x00281201, b"OW", bytes(512)),
    ]
    return choices.sample(found, choices.choice((0, 0, 1, 2)))


def _palette(choices: Choices, writer: Writer) -> list[bytes]:
    """Encode the tables of a palette."""
    bits = choices.choice((8, 16))
    count = choices.choice((0, 1, 16, 256))
    found = []
    for colour in range(3):
        numbers = choices.number(count, 16), choices.number(0, 16), choices.either(bits, 0, 12)
        descriptor = struct.pack(f"{writer.order}3H", *numbers)
        found.append(writer.element(0x00281101 + colour, b"US", descriptor))
        table = choices.broken(choices.content((count or 65536) * bits // 8))
        found.append(writer.element(0x00281201 + colour, b"OW", table))
    return found


def _groups(choices: Choices, writer: Writer) -> list[bytes]:
    """Encode shared and per-frame functional groups with slope, window and spacing."""
    numbers = ("1", "", "0", "nan", "1e999", "1\\2", "x" * 40)

    def items(tag: int, *contents: bytes) -> bytes:
        head = functools.partial(struct.pack, f"{writer.order}HHI", 0xFFFE, 0xE000)
        found = (head(choices.number(len(each))) + each for each in contents)
        return writer.element(tag, b"SQ", b"".join(found))

    def group() -> bytes:
        found = [
            items(0x00289145, writer.text(0x00281053, b"DS", "2", *numbers)),
            items(0x00289132, writer.text(0x00281050, b"DS", "40", *numbers)),
            items(0x00289110, writer.text(0x00280030, b"DS", "0.5\\0.5", *numbers)),
            writer.text(0x00189004, b"CS", "ORIGINAL"),
        ]
        return b"".join(choices.sample(found, choices.randrange(5)))

    return [items(0x52009229, group()), items(0x52009230, group(), group())]


def _encapsulated(choices: Choices, frame: bytes) -> bytes:
    """Encode the items of a frame, with a table of offsets."""
    item = functools.partial(struct.pack, "<HHI", 0xFFFE, 0xE000)
    table = choices.either(b"", *(struct.pack("<I", place) for place in (0, 1, 1 << 31)))
    cut = choices.randint(0, len(frame)) if choices.once_in(6) else len(frame)
    parts = [part for part in (frame[:cut], frame[cut:]) if part]
    items = [item(choices.number(len(table))) + table]
    for part in choices.shuffled(parts):
        part += b"\0" * (len(part) % 2)
        items.append(item(choices.number(len(part))) + part)
    end = struct.pack("<HHI", 0xFFFE, 0xE0DD, choices.number(0))
    return b"".join([*items, choices.either(end, b"")])


def _frame(
    choices: Choices, syntax: str, height: int, width: int, gray: bool, allocated: int
) -> bytes:
    if choices.odd():
        height, width = choices.side(), choices.side()
    small = min(height, 64), min(width, 64)
    if syntax in _JPEG:
        data = jpeg.valid("L" if gray else "RGB", *small, choices.once_in(6), 0)
        return jpeg.changed(choices, data) if choices.odd() else data
    if syntax in _JPEG2000:
        return jpeg2000.changed(choices, jpeg2000.codestream(*small, 1 if gray else 3))
    planes = 1 if gray else 3
    segments = [
        choices.broken(packbits(choices.content(height * width)))
        for _ in range(planes * allocated // 8)
    ]
    starts = []
    place = 64
    for segment in segments:
        starts.append(choices.number(place))
        place += len(segment)
    table = [choices.number(len(segments)), *starts][:16]
    return struct.pack("<16I", *table, *[0] * (16 - len(table))) + b"".join(segments)


def packbits(raw: bytes) -> bytes:
    """Compress bytes by PackBits: runs of equal bytes, and other bytes as they are."""
    found = bytearray()
    place = 0
    while place < len(raw):
        run = 1
        while run < 128 and raw[place : place + run + 1] == raw[place : place + 1] * (run + 1):
            run += 1
        if run > 1:
            found += bytes([257 - run]) + raw[place : place + 1]
        else:
            run = min(8, len(raw) - place)
            found += bytes([run - 1]) + raw[place : place + run]
        place += run
    return bytes(found)
