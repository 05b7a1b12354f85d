"""Split PNG files into chunks and join them; convert metadata to and from chunks."""

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from mmpcodec.metadata import Colours, Metadata, Resolution
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import Unpacker, damaged
from mmpcodec.pictures.side.facts import consistent, near

MAGIC = b"\x89PNG\r\n\x1a\n"
CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")

_FOR_SAMPLES = (b"tRNS", b"acTL", b"fcTL", b"fdAT")
"""Chunks that samples need, though PNG calls them ancillary."""
_TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_DAMAGED = {
    b"iCCP": "damaged profile",
    b"eXIf": "damaged exif",
    b"pHYs": "damaged resolution",
    **dict.fromkeys((b"cICP", b"gAMA", b"cHRM"), "damaged colours"),
    **dict.fromkeys(_TEXTS, "damaged text"),
}
"""Keys of ``LEFT_OUT`` by the kind of a damaged chunk."""

_XMP_KEYWORD = "XML:com.adobe.xmp"
_METRE = 1
_MOST = (1 << 31) - 1  # largest number in a chunk

Chunk = tuple[bytes, bytes]


def parted(data: bytes, name: str) -> list[Chunk]:
    """Split a file into chunks, each its kind and contents, up to IEND.

    A chunk with a wrong checksum is left out if no sample needs it.

    Raises
    ------
    PictureError
        If a chunk is cut off, or the checksum is wrong of one that samples need.
    """
    found = []
    place = len(MAGIC)
    while True:
        head = data[place : place + 8]
        if len(head) < 8:
            raise damaged(name, f"ends at byte {len(data)} before the chunk IEND")
        size, kind = struct.unpack(">I4s", head)
        end = place + 8 + size
        if len(data) < end + 4:
            raise damaged(name, f"the chunk {_shown(kind)} at byte {place} is cut off")
        contents = data[place + 8 : end]
        if zlib.crc32(data[place + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            wrong = f"the chunk {_shown(kind)} at byte {place} has a wrong checksum"
            if (
                not kind.isalpha()
                or kind[:1].isupper()
                or kind.upper() in CRITICAL
                or kind in _FOR_SAMPLES
            ):
                raise damaged(name, wrong)
            leave_out(name, _DAMAGED.get(kind, "damaged chunk"), wrong)
        else:
            found.append((kind, contents))
        if kind == b"IEND":
            return found
        place = end + 4


def joined(chunks: Iterable[Chunk]) -> bytes:
    """Join chunks to a PNG file."""
    parts = [MAGIC]
    for kind, contents in chunks:
        crc = zlib.crc32(contents, zlib.crc32(kind))
        parts += [struct.pack(">I", len(contents)), kind, contents, struct.pack(">I", crc)]
    return b"".join(parts)


def first(chunks: Sequence[Chunk], kind: bytes) -> bytes | None:
    """Return the contents of the first chunk of a kind."""
    return next((contents for found, contents in chunks if found == kind), None)


def metadata_of(chunks: Sequence[Chunk], name: str) -> Metadata:
    """Convert chunks to metadata; a damaged chunk is left out.

    Raises
    ------
    PictureError
        If the metadata exceed ``limits.MAX_METADATA`` bytes.
    """
    found = _Found()
    unpacker = Unpacker(name)
    for kind, contents in chunks:
        try:
            found.add(kind, contents, unpacker)
        except ValueError as error:
            leave_out(name, _DAMAGED[kind], str(error))
    whole = Metadata(found.icc, found.exif, found.xmp, found.resolution, tuple(found.text))
    # A profile, or sRGB, counts before gamma and chromaticities, and cICP before all.
    others = () if found.icc or first(chunks, b"sRGB") else (found.gamma, found.chromaticities)
    colours = Colours(*found.numbers, *others)
    return consistent(replace(whole, colours=None if colours == Colours() else colours), name)


@dataclass
class _Found:
    """Metadata of the chunks so far."""

    icc: bytes = b""
    exif: bytes = b""
    xmp: bytes = b""
    resolution: Resolution | None = None
    text: list[tuple[str, str]] = field(default_factory=list)
    numbers: tuple[int, int, bool] = (2, 2, True)
    gamma: int = 0
    chromaticities: tuple[int, ...] = ()

    def add(self, kind: bytes, contents: bytes, unpacker: Unpacker) -> None:
        """Take what a chunk says; of several the first counts, but for texts.

        Raises
        ------
        ValueError
            If the chunk is damaged.
        """
        if kind == b"iCCP" and not self.icc:
            _, packed = _cut(contents, 1, kind)
            self.icc = unpacker.inflate(packed[1:])
        elif kind == b"eXIf" and not self.exif:
            self.exif = unpacker.count(contents).removeprefix(PREFIX)
        elif kind == b"pHYs" and self.resolution is None:
            self.resolution = _resolution(contents)
        elif kind == b"cICP":
            primaries, transfer, _, full = _numbers_of(contents, ">4B", kind)
            self.numbers = primaries, transfer, bool(full)
        elif kind == b"gAMA":
            (self.gamma,) = _numbers_of(contents, ">I", kind)
        elif kind == b"cHRM":
            self.chromaticities = _numbers_of(contents, ">8I", kind)
        elif kind in _TEXTS:
            keyword, said = _text(kind, contents, unpacker)
            if keyword == _XMP_KEYWORD and not self.xmp:
                self.xmp = said
            else:
                self.text.append((keyword, said.decode("utf-8" if kind == b"iTXt" else "latin-1")))


def _numbers_of(contents: bytes, layout: str, kind: bytes) -> tuple[int, ...]:
    """Unpack the numbers of a chunk.

    Raises
    ------
    ValueError
        If the chunk has another size, or a number is too large.
    """
    size = struct.calcsize(layout)
    if len(contents) != size:
        raise ValueError(f"the chunk {_shown(kind)} has {len(contents)} bytes, {size} are needed")
    numbers = struct.unpack(layout, contents)
    if max(numbers) > _MOST:
        raise ValueError(f"the chunk {_shown(kind)} has the number {max(numbers)}")
    return numbers


def _text(kind: bytes, contents: bytes, unpacker: Unpacker) -> tuple[str, bytes]:
    keyword, said = _cut(contents, 1, kind)
    if kind == b"zTXt":
        said = unpacker.inflate(said[1:])
    elif kind == b"iTXt":
        packed = said[:1] == b"\1"
        _, _, said = _cut(said[2:], 2, kind)
        said = unpacker.inflate(said) if packed else unpacker.count(said)
    else:
        unpacker.count(said)
    return keyword.decode("latin-1"), said


def _cut(contents: bytes, times: int, kind: bytes) -> list[bytes]:
    """Split the contents of a chunk at its first ``times`` NUL bytes."""
    parts = contents.split(b"\0", times)
    if len(parts) <= times:
        raise ValueError(f"the chunk {_shown(kind)} lacks a field")
    return parts


def _resolution(contents: bytes) -> Resolution | None:
    if len(contents) != 9:
        raise ValueError(f"the chunk pHYs has {len(contents)} bytes, 9 are needed")
    x, y, unit = struct.unpack(">IIB", contents)
    if not x or not y:
        return None
    return Resolution(Fraction(x), Fraction(y), "metre" if unit == _METRE else "none")


def metadata_chunks(metadata: Metadata) -> Iterator[Chunk]:
    """Convert metadata to chunks, which go before the samples; leaves out what PNG cannot hold."""
    if (reported := metadata.colours) is not None:
        if (reported.primaries, reported.transfer, reported.full_range) != (2, 2, True):
            yield b"cICP", bytes([reported.primaries, reported.transfer, 0, reported.full_range])
        if reported.gamma:
            yield b"gAMA", struct.pack(">I", reported.gamma)
        if reported.chromaticities:
            yield b"cHRM", struct.pack(">8I", *reported.chromaticities)
    if metadata.icc:
        yield b"iCCP", b"ICC profile\0\0" + zlib.compress(metadata.icc, 9)
    if metadata.resolution is not None and (numbers := _numbers(metadata.resolution)):
        x, y = numbers
        yield b"pHYs", struct.pack(">IIB", x, y, metadata.resolution.unit != "none")
    if metadata.exif:
        yield b"eXIf", metadata.exif
    if metadata.xmp:
        yield b"iTXt", _XMP_KEYWORD.encode() + b"\0\0\0\0\0" + metadata.xmp
    for keyword, said in metadata.text:
        if not holds_text(keyword, said):
            continue
        try:
            yield b"tEXt", keyword.encode("latin-1") + b"\0" + said.encode("latin-1")
        except UnicodeEncodeError:
            yield b"iTXt", keyword.encode("latin-1") + b"\0\0\0\0\0" + said.encode()


def holds_text(keyword: str, said: str) -> bool:
    """Return whether PNG can hold a text under this keyword."""
    try:
        size = len(keyword.encode("latin-1"))
        said.encode()
    except UnicodeEncodeError:
        return False
    plain = keyword.replace(" ", "x").isprintable() and keyword == " ".join(keyword.split())
    return 1 <= size <= 79 and plain and "\0" not in said and keyword != _XMP_KEYWORD


def holds_resolution(resolution: Resolution) -> bool:
    """Return whether PNG holds a resolution but for rounding, or an integer ratio exactly."""
    numbers, exact = _numbers(resolution), resolution.per_metre()
    if numbers is None or exact is None:
        return numbers == (resolution.x, resolution.y)
    return near(exact[0], Fraction(numbers[0])) and near(exact[1], Fraction(numbers[1]))


def _numbers(resolution: Resolution) -> tuple[int, int] | None:
    """Return the pixels per metre, rounded; None if they are beyond the range of PNG."""
    x, y = resolution.per_metre() or (resolution.x, resolution.y)
    if resolution.unit == "none":
        whole = math.lcm(x.denominator, y.denominator)
        x, y = x * whole, y * whole
    numbers = round(x), round(y)
    return numbers if all(1 <= number <= _MOST for number in numbers) else None


def _shown(kind: bytes) -> str:
    return kind.decode("latin-1").encode("unicode_escape").decode()
