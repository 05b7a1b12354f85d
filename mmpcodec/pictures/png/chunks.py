"""Split PNG files into chunks and join them; convert metadata to and from chunks."""

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.facts import consistent, near
from mmpcodec.pictures.limits import Unpacker, damaged

MAGIC = b"\x89PNG\r\n\x1a\n"
CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")

_XMP_KEYWORD = "XML:com.adobe.xmp"
_METRE = 1
_MOST = (1 << 31) - 1  # largest number in a chunk

Chunk = tuple[bytes, bytes]


def parted(data: bytes, name: str) -> list[Chunk]:
    """Split a file into chunks, each its kind and contents, up to IEND.

    Raises
    ------
    PictureError
        If a chunk is cut off or its checksum is wrong.
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
            raise damaged(name, f"the chunk {_shown(kind)} at byte {place} has a wrong checksum")
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
    """Convert chunks to metadata.

    Raises
    ------
    PictureError
        If a chunk is damaged, or the metadata exceed ``limits.MAX_METADATA`` bytes.
    """
    icc = exif = xmp = b""
    resolution = None
    text: list[tuple[str, str]] = []
    unpacker = Unpacker(name)
    for kind, contents in chunks:
        if kind == b"iCCP" and not icc:
            _, packed = _cut(contents, 1, kind, name)
            icc = unpacker.inflate(packed[1:])
        elif kind == b"eXIf" and not exif:
            exif = unpacker.count(contents).removeprefix(PREFIX)
        elif kind == b"pHYs" and resolution is None:
            resolution = _resolution(contents, name)
        elif kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, said = _text(kind, contents, unpacker, name)
            if keyword == _XMP_KEYWORD and not xmp:
                xmp = said
            else:
                text.append((keyword, _decoded(said, kind, name)))
    return consistent(Metadata(icc, exif, xmp, resolution, tuple(text)), name)


def _text(kind: bytes, contents: bytes, unpacker: Unpacker, name: str) -> tuple[str, bytes]:
    keyword, said = _cut(contents, 1, kind, name)
    if kind == b"zTXt":
        said = unpacker.inflate(said[1:])
    elif kind == b"iTXt":
        packed = said[:1] == b"\1"
        _, _, said = _cut(said[2:], 2, kind, name)
        said = unpacker.inflate(said) if packed else unpacker.count(said)
    else:
        unpacker.count(said)
    return keyword.decode("latin-1"), said


def _decoded(said: bytes, kind: bytes, name: str) -> str:
    if kind != b"iTXt":
        return said.decode("latin-1")
    try:
        return said.decode()
    except UnicodeDecodeError:
        raise damaged(name, "a text is not UTF-8") from None


def _cut(contents: bytes, times: int, kind: bytes, name: str) -> list[bytes]:
    """Split the contents of a chunk at its first ``times`` NUL bytes."""
    parts = contents.split(b"\0", times)
    if len(parts) <= times:
        raise damaged(name, f"the chunk {_shown(kind)} lacks a field")
    return parts


def _resolution(contents: bytes, name: str) -> Resolution | None:
    if len(contents) != 9:
        raise damaged(name, f"the chunk pHYs has {len(contents)} bytes, 9 are needed")
    x, y, unit = struct.unpack(">IIB", contents)
    if not x or not y:
        return None
    return Resolution(Fraction(x), Fraction(y), "metre" if unit == _METRE else "none")


def metadata_chunks(metadata: Metadata) -> Iterator[Chunk]:
    """Convert metadata to chunks, which go before the samples; leaves out what PNG cannot hold."""
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
