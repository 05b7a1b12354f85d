"""Read and write the tags of TIFF files: depth, ICC profile, EXIF, XMP, resolution and texts."""

import contextlib
import struct
from fractions import Fraction
from typing import Any

from mmpcodec.metadata import Metadata, Resolution, Unit
from mmpcodec.pictures import exif
from mmpcodec.pictures.exif import Directory, ReadAt
from mmpcodec.pictures.side import facts

MAX_SAMPLE_VALUE = 281
WHITE_IS_ZERO = 0
X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT = 282, 283, 296
XMP, ICC = 700, 34675
TEXTS = {269: "Title", 270: "Description", 305: "Software"}
"""Keywords of texts, as PNG names them, by their tags."""

_UNITS: dict[int, Unit] = {1: "none", 2: "inch", 3: "centimetre"}
_CENTIMETRE = 3
_NOTHING = Resolution(
    Fraction(1), Fraction(1), "none"
)  # written by programs that know no resolution
_BYTE, _ASCII, _SHORT, _RATIONAL, _UNDEFINED = 1, 2, 3, 5, 7
_MOST = (1 << 32) - 1

Tag = tuple[int, int, int, bytes, bool]
"""A tag as tifffile takes it: code, type, count, bytes, and whether it is written once."""


def depth_of(page: Any) -> int:
    """Return the bits per sample: BitsPerSample, or fewer if MaxSampleValue says so.

    MaxSampleValue gives the depth if it is 2^n - 1 in a file of 8 or 16 bits: 4095 means 12 bits.
    Other values are statistics.
    """
    bits = page.bitspersample
    if page.photometric == WHITE_IS_ZERO:
        return bits
    tag = page.tags.get(MAX_SAMPLE_VALUE)
    values = () if tag is None else tag.value if isinstance(tag.value, tuple) else (tag.value,)
    if bits in (8, 16) and values and len(set(values)) == 1 and isinstance(values[0], int):
        used = values[0].bit_length()
        if bits - 8 < used < bits and values[0] == (1 << used) - 1:
            return used
    return bits


def max_sample_value(depth: int, planes: int, order: str) -> Tag:
    """Return the tag MaxSampleValue for samples of ``depth`` bits."""
    value = struct.pack(f"{order}{planes}H", *[(1 << depth) - 1] * planes)
    return MAX_SAMPLE_VALUE, _SHORT, planes, value, True


def metadata_of(page: Any, read_at: ReadAt, order: str, big: bool, name: str) -> Metadata:
    """Read the metadata of a page from its tags.

    Raises
    ------
    ValueError
        If the tags are damaged.
    """
    tags = frozenset({*exif.KEPT, *TEXTS, XMP, ICC, X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT})
    found = exif.directory_at(read_at, page.offset, order, big=big, tags=tags)
    entries = found.entries
    text = tuple(
        (keyword, _text(entries[tag][2])) for tag, keyword in TEXTS.items() if tag in entries
    )
    kept = {tag: entries[tag] for tag in entries if tag in exif.KEPT}
    directory = Directory(kept, found.below)
    whole = Metadata(
        icc=entries[ICC][2] if ICC in entries else b"",
        exif=exif.structure(order, directory) if directory else b"",
        xmp=entries[XMP][2].rstrip(b"\0") if XMP in entries else b"",
        resolution=_resolution(entries, order),
        text=text,
    )
    return facts.consistent(whole, name)


def _text(value: bytes) -> str:
    value = value.rstrip(b"\0")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _resolution(entries: dict[int, tuple[int, int, bytes]], order: str) -> Resolution | None:
    numbers = []
    for tag in (X_RESOLUTION, Y_RESOLUTION):
        value = entries.get(tag, (0, 0, b""))[2]
        if len(value) != 8:
            return None
        number, parts = struct.unpack(f"{order}II", value)
        if not number or not parts:
            return None
        numbers.append(Fraction(number, parts))
    _, _, unit = entries.get(RESOLUTION_UNIT, (0, 0, b""))
    code = struct.unpack(f"{order}H", unit)[0] if len(unit) == 2 else 2
    found = Resolution(numbers[0], numbers[1], _UNITS.get(code, "none"))
    return None if found == _NOTHING else found


def with_metadata(data: bytes, metadata: Metadata, order: str) -> bytes:
    """Add metadata to a TIFF file of one page, as tags; leaves out what TIFF cannot hold.

    The new directory goes to the end of the file, since tifffile cannot write the EXIF and GPS
    directories.

    Parameters
    ----------
    data : bytes
        A file without these tags, smaller than 4 GiB.
    metadata : Metadata
    order : {"<", ">"}
        Byte order of the file, as ``order_for`` gives it.
    """
    added = _directory_of(metadata, order)
    if not added:
        return data
    read_at = _reader(data)
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    whole = exif.directory_at(read_at, place, order)
    added.entries = whole.entries | added.entries
    end = len(data) + len(data) % 2
    head = data[:4] + struct.pack(f"{order}I", end)
    return head + data[8:].ljust(end - 8, b"\0") + exif.packed(order, added, end)


def extra_tags(metadata: Metadata, order: str) -> list[Tag]:
    """Return the tags of metadata, without the directories of EXIF and without the resolution."""
    left_out = {X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT}
    entries = _directory_of(metadata, order).entries
    return [
        (tag, kind, count, value, True)
        for tag, (kind, count, value) in sorted(entries.items())
        if tag not in left_out
    ]


def resolution_options(resolution: Resolution | None) -> dict[str, Any]:
    """Return the options of ``tifffile`` for a resolution that TIFF can hold, exactly or nearly."""
    numbers = _numbers(resolution)
    if numbers is None:
        return {}
    x, y, unit = numbers
    sides = (x.numerator, x.denominator), (y.numerator, y.denominator)
    return {"resolution": sides, "resolutionunit": unit}


def order_for(metadata: Metadata) -> str:
    """Return the byte order that a file needs to take the EXIF unchanged."""
    return ">" if metadata.exif.startswith(b"MM") else "<"


def _directory_of(metadata: Metadata, order: str) -> Directory:
    found = Directory()
    if metadata.exif:
        # ``holds_exif`` reports EXIF that is lost.
        with contextlib.suppress(ValueError, struct.error):
            _, found = exif.parsed(metadata.exif)
    entries = {tag: value for tag, value in found.entries.items() if tag in exif.KEPT}
    for tag, keyword in TEXTS.items():
        said = next((said for name, said in metadata.text if name == keyword), None)
        if said is not None and holds_text(keyword, said):
            value = said.encode() + b"\0"
            entries[tag] = _ASCII, len(value), value
    for tag, kind, value in ((XMP, _BYTE, metadata.xmp), (ICC, _UNDEFINED, metadata.icc)):
        if value:
            entries[tag] = kind, len(value), value
    if numbers := _numbers(metadata.resolution):
        for tag, number in zip((X_RESOLUTION, Y_RESOLUTION), numbers[:2], strict=True):
            value = struct.pack(f"{order}II", number.numerator, number.denominator)
            entries[tag] = _RATIONAL, 1, value
        entries[RESOLUTION_UNIT] = _SHORT, 1, struct.pack(f"{order}H", numbers[2])
    return Directory(entries, found.below)


def _numbers(resolution: Resolution | None) -> tuple[Fraction, Fraction, int] | None:
    """Return numbers and unit code, metres as centimetres; None if beyond the range of TIFF."""
    if resolution is None:
        return None
    codes = {name: code for code, name in _UNITS.items()}
    code = codes.get(resolution.unit, _CENTIMETRE)
    parts = 100 if resolution.unit == "metre" else 1
    x, y = (_fitted(value / parts) for value in (resolution.x, resolution.y))
    return (x, y, code) if min(x, y) > 0 and max(x, y) <= _MOST else None


def _fitted(value: Fraction) -> Fraction:
    """Return the nearest fraction with numerator and denominator below 2^32."""
    return value.limit_denominator(max(1, int(_MOST / max(value, Fraction(1)))))


def holds_exif(data: bytes) -> bool:
    """Return whether reading a TIFF file gives this EXIF back byte for byte.

    It must have the layout that ``exif.structure`` writes, and no thumbnail. A resolution in EXIF
    becomes that of the file.
    """
    try:
        order, found = exif.parsed(data)
    except (ValueError, struct.error):
        return False
    stored = {*exif.KEPT, X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT}
    kept = {tag: value for tag, value in found.entries.items() if tag in stored}
    return exif.structure(order, Directory(kept, found.below)) == data


def holds_text(keyword: str, said: str) -> bool:
    """Return whether TIFF has a tag for a text."""
    try:
        said.encode()
    except UnicodeEncodeError:
        return False
    return keyword in TEXTS.values() and "\0" not in said and bool(said)


def holds_resolution(resolution: Resolution) -> bool:
    """Return whether TIFF holds a resolution exactly."""
    numbers = _numbers(resolution)
    parts = 100 if resolution.unit == "metre" else 1
    exact = (resolution.x / parts, resolution.y / parts)
    return numbers is not None and numbers[:2] == exact and resolution != _NOTHING


def _reader(data: bytes) -> ReadAt:
    return lambda start, size: data[start : start + size]
