"""Chunks of metadata. Source: section "Metadata" of ``docs/format/format.md``."""

from dataclasses import replace
from fractions import Fraction

from mmpcodec.errors import CorruptStream, FormatError, ParameterError
from mmpcodec.format.numbers import Fields, number
from mmpcodec.metadata import MOST_OF_PNG, Colours, Metadata, Resolution, Unit

SECTION = "Metadata"
ICC, EXIF, XMP, RESOLUTION, TEXT, WHITE, RANGE, COLOURS, DICOM = range(1, 10)
NAMES = {
    ICC: "ICC",
    EXIF: "EXIF",
    XMP: "XMP",
    RESOLUTION: "resolution",
    WHITE: "white",
    RANGE: "range",
    COLOURS: "colours",
}
"""Names of the kinds of chunks that occur at most once in a file."""
SEVERAL = ("text", "dicom")
"""Metadata of which a file may have several chunks."""
UNITS: tuple[Unit, ...] = ("none", "inch", "centimetre", "metre")
"""Units of a resolution, by their number in a file."""
MAX_CHUNKS = 1 << 16
MAX_FRACTION = (1 << 32) - 1
"""Largest numerator and denominator of a resolution."""


def write(metadata: Metadata) -> bytes:
    """Serialise metadata: the number of chunks, then kind, size and bytes of each chunk.

    Raises
    ------
    ParameterError
        If there are more than 65536 chunks, or a numerator or denominator of the resolution is
        above 2**32 - 1.
    """
    chunks: list[tuple[int, bytes]] = [
        (kind, data)
        for kind, data in ((ICC, metadata.icc), (EXIF, metadata.exif), (XMP, metadata.xmp))
        if data
    ]
    if metadata.resolution is not None:
        found = metadata.resolution
        if max(*found.x.as_integer_ratio(), *found.y.as_integer_ratio()) > MAX_FRACTION:
            raise ParameterError(
                f"resolution = {found.x} x {found.y}: must be fractions of integers up to "
                f"{MAX_FRACTION}"
            )
        parts = (UNITS.index(found.unit), *found.x.as_integer_ratio(), *found.y.as_integer_ratio())
        chunks.append((RESOLUTION, b"".join(map(number, parts))))
    for key, value in metadata.text:
        name = key.encode()
        chunks.append((TEXT, number(len(name)) + name + value.encode()))
    if metadata.white is not None:
        chunks.append((WHITE, number(metadata.white)))
    if metadata.range is not None:
        chunks.append((RANGE, b"".join(map(number, metadata.range))))
    if metadata.colours is not None:
        reported = metadata.colours
        fixed = reported.primaries, reported.transfer, int(reported.full_range), reported.gamma
        chunks.append((COLOURS, b"".join(map(number, (*fixed, *reported.chromaticities)))))
    chunks += [(DICOM, part) for part in metadata.dicom]
    if len(chunks) > MAX_CHUNKS:
        raise ParameterError(f"metadata of {len(chunks)} chunks: at most {MAX_CHUNKS}")
    return number(len(chunks)) + b"".join(
        number(kind) + number(len(data)) + data for kind, data in chunks
    )


def read(fields: Fields, depth: int) -> Metadata:
    """Read metadata; chunks of unknown kinds are skipped.

    Parameters
    ----------
    fields : Fields
        Reader of the header, at the first byte of the metadata.
    depth : int
        Bits of a sample.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the bytes break a rule of the format.
    """
    found: dict[int, bytes] = {}
    text: list[tuple[str, str]] = []
    dicom: list[bytes] = []
    resolution = white = levels = colours = None
    for _ in range(fields.number("chunks", 0, MAX_CHUNKS)):
        kind = fields.number("kind of a chunk")
        size = fields.number("size of a chunk")
        start = fields.offset
        data = fields.bytes("chunk", size)
        if kind in NAMES and kind in found:
            raise CorruptStream(SECTION, f"a second chunk of {NAMES[kind]}", start)
        inner = Fields(data, SECTION, start)
        if kind == TEXT:
            text.append(_text(inner))
            continue
        if kind == DICOM:
            if not size:
                raise CorruptStream(SECTION, "DICOM has no bytes", start)
            dicom.append(bytes(data))
            continue
        found[kind] = bytes(data)
        if kind in (ICC, EXIF, XMP) and not size:
            raise CorruptStream(SECTION, f"{NAMES[kind]} has no bytes", start)
        if kind == RESOLUTION:
            resolution = _resolution(inner)
        elif kind == WHITE:
            white = inner.number("white", 1, (1 << depth) - 1)
        elif kind == RANGE:
            low = inner.number("low", 0, (1 << depth) - 2)
            levels = low, inner.number("high", low + 1, (1 << depth) - 1)
        elif kind == COLOURS:
            colours = _colours(inner)
        if kind in (RESOLUTION, WHITE, RANGE, COLOURS) and inner.place < size:
            raise CorruptStream(
                SECTION, f"{size - inner.place} bytes follow in {NAMES[kind]}", inner.offset
            )
    return Metadata(
        found.get(ICC, b""),
        found.get(EXIF, b""),
        found.get(XMP, b""),
        resolution,
        tuple(text),
        white,
        levels,
        colours,
        tuple(dicom),
    )


def joined(first: Metadata, second: Metadata, place: int) -> Metadata:
    """Return the chunks of two parts of a file together.

    Parameters
    ----------
    first, second : Metadata
    place : int
        Byte offset of the second part.

    Raises
    ------
    CorruptStream
        If a chunk that occurs at most once is in both.
    """
    several = {name: getattr(first, name) + getattr(second, name) for name in SEVERAL}
    found = {name: value for name, value in vars(second).items() if value and name not in SEVERAL}
    for kind, title in NAMES.items():
        if title.lower() in found and getattr(first, title.lower()):
            raise CorruptStream(SECTION, f"a second chunk of {NAMES[kind]}", place)
    return replace(first, **several, **found)


def read_good(fields: Fields, depth: int, faults: list[FormatError]) -> Metadata:
    """Read metadata as ``read`` does, without the chunks that break a rule.

    Parameters
    ----------
    fields, depth
        See ``read``.
    faults : list of FormatError
        Gets the error of each chunk that is left out.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the number of chunks, or the kind or size of a chunk, breaks a rule.
    """
    good: list[bytes] = []
    seen: set[int] = set()
    for _ in range(fields.number("chunks", 0, MAX_CHUNKS)):
        first = fields.place
        kind = fields.number("kind of a chunk")
        fields.bytes("chunk", fields.number("size of a chunk"))
        whole = bytes(fields.data[first : fields.place])
        try:
            if kind in NAMES and kind in seen:
                raise CorruptStream(SECTION, f"a second chunk of {NAMES[kind]}", first)
            # The number of chunks takes the byte before the chunk.
            read(Fields(memoryview(number(1) + whole), SECTION, fields.start + first - 1), depth)
        except FormatError as error:
            faults.append(error)
        else:
            good.append(whole)
            seen.add(kind)
    return read(Fields(memoryview(number(len(good)) + b"".join(good)), SECTION), depth)


def _colours(fields: Fields) -> Colours:
    primaries, transfer = (fields.number(name, 0, 255) for name in ("primaries", "transfer"))
    full_range = bool(fields.number("range", 0, 1))
    gamma = fields.number("gamma", 0, MOST_OF_PNG)
    count = 8 if fields.place < len(fields.data) else 0
    numbers = tuple(fields.number("chromaticity", 0, MOST_OF_PNG) for _ in range(count))
    return Colours(primaries, transfer, full_range, gamma, numbers)


def _resolution(fields: Fields) -> Resolution:
    unit = UNITS[fields.number("unit", 0, len(UNITS) - 1)]
    x, y = (
        Fraction(fields.number("samples", 1, MAX_FRACTION), fields.number("units", 1, MAX_FRACTION))
        for _ in "xy"
    )
    return Resolution(x, y, unit)


def _text(fields: Fields) -> tuple[str, str]:
    key = fields.bytes("key", fields.number("size of a key"))
    value = fields.bytes("value", len(fields.data) - fields.place)
    try:
        return bytes(key).decode(), bytes(value).decode()
    except UnicodeDecodeError as error:
        raise CorruptStream(SECTION, f"text is not UTF-8: {error.reason}", fields.start) from None
