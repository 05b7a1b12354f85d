"""Read and write the tags of TIFF files: depth, ICC profile, EXIF, XMP, resolution and texts."""

import contextlib
import struct
from fractions import Fraction
from typing import Any

from mmpcodec.metadata import (
    CALIBRATION,
    MOST_PART,
    Calibration,
    Metadata,
    Resolution,
    Unit,
    fitted,
)
from mmpcodec.pictures import exif
from mmpcodec.pictures.exif import Directory, ReadAt
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.side import facts

WHITE_LEVEL = 50717
"""Tag of DNG. The tag MaxSampleValue is a statistic of the samples."""
NO_DATA = 42113
"""Tag of GDAL: the level of pixels without a value, as text."""
WHITE_IS_ZERO = 0
X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT = 282, 283, 296
XMP, ICC = 700, 34675
TEXTS = {269: "Title", 270: "Description", 305: "Software"}
"""Keywords of texts, as PNG names them, by their tags."""

_RESOLUTION = (X_RESOLUTION, Y_RESOLUTION, RESOLUTION_UNIT)
_GEOGRAPHIC = (33550, 33922, 34264, 34735, 34736, 34737, 42112, NO_DATA)
"""Tags of GeoTIFF and of GDAL."""
_LAYOUT = (
    *range(254, 260), *range(262, 267), 273, *range(277, 282), 284, 288, 289, 292, 293, 297, 317,
    *range(320, 328), 330, 338, 339, 340, 341, 347, *range(512, 522), *range(529, 533),
)  # fmt: skip
"""Tags that say how the samples lie in the file, and statistics of the samples."""
_READ = frozenset(
    (*_LAYOUT, *_RESOLUTION, *TEXTS, *exif.KEPT, *exif.BELOW, XMP, ICC, NO_DATA, WHITE_LEVEL)
)
_DAMAGED = {ICC: "damaged profile", XMP: "damaged xmp", NO_DATA: "geotiff"}
_DAMAGED |= dict.fromkeys(TEXTS, "damaged text")
_DAMAGED |= dict.fromkeys(_RESOLUTION, "damaged resolution")

_UNITS: dict[int, Unit] = {1: "none", 2: "inch", 3: "centimetre"}
_CENTIMETRE = 3
_NOTHING = Resolution(
    Fraction(1), Fraction(1), "none"
)  # written by programs that know no resolution
_BYTE, _ASCII, _SHORT, _RATIONAL, _UNDEFINED = 1, 2, 3, 5, 7

Tag = tuple[int, int, int, bytes, bool]
"""A tag as tifffile takes it: code, type, count, bytes, and whether it is written once."""


def depth_of(page: Any) -> int:
    """Return the bits per sample: BitsPerSample, or fewer if WhiteLevel says so.

    WhiteLevel gives the depth if it is 2^n - 1 in a file of 8 or 16 bits: 4095 means 12 bits.
    """
    bits = page.bitspersample
    if page.photometric == WHITE_IS_ZERO:
        return bits
    tag = page.tags.get(WHITE_LEVEL)
    values = () if tag is None else tag.value if isinstance(tag.value, tuple) else (tag.value,)
    if bits in (8, 16) and values and len(set(values)) == 1 and isinstance(values[0], int):
        used = values[0].bit_length()
        if bits - 8 < used < bits and values[0] == (1 << used) - 1:
            return used
    return bits


def white_level(depth: int, planes: int, order: str) -> Tag:
    """Return the tag WhiteLevel for samples of ``depth`` bits."""
    value = struct.pack(f"{order}{planes}H", *[(1 << depth) - 1] * planes)
    return WHITE_LEVEL, _SHORT, planes, value, True


def metadata_of(
    page: Any, read_at: ReadAt, order: str, big: bool, depth: int, name: str
) -> Metadata:
    """Read the metadata of a page from its tags, and say what is left out.

    Raises
    ------
    ValueError
        If the directory is damaged, or the values exceed ``MAX_METADATA`` bytes.
    """
    tags = frozenset({*exif.KEPT, *TEXTS, XMP, ICC, NO_DATA, *_RESOLUTION})
    bad: list[int] = []
    found = exif.directory_at(read_at, page.offset, order, big=big, tags=tags, dropped=bad)
    entries = found.entries
    text = [(keyword, _text(entries[tag][2])) for tag, keyword in TEXTS.items() if tag in entries]
    padding = padding_of(entries, depth, page.photometric == WHITE_IS_ZERO)
    if padding is not None:
        text.append(Calibration(padding=(padding, padding)).text())
    kept = {tag: entries[tag] for tag in entries if tag in exif.KEPT}
    directory = Directory(kept, found.below)
    resolution = _resolution(entries, order)
    if resolution is None and entries.keys() & _RESOLUTION[:2]:
        bad += entries.keys() & _RESOLUTION
    _say_left_out(
        [tag.code for tag in page.tags if padding is None or tag.code != NO_DATA], bad, name
    )
    whole = Metadata(
        icc=entries[ICC][2] if ICC in entries else b"",
        exif=exif.structure(order, directory) if directory else b"",
        xmp=entries[XMP][2].rstrip(b"\0") if XMP in entries else b"",
        resolution=None if resolution == _NOTHING else resolution,
        text=tuple(text),
    )
    return facts.consistent(whole, name)


def _say_left_out(given: list[int], bad: list[int], name: str) -> None:
    """Say which of the tags of a page are not read, and which are damaged."""
    damage: dict[str, list[int]] = {}
    for tag in sorted({*bad}):
        kind = _DAMAGED.get(tag, "damaged exif")
        damage.setdefault(kind, []).append(tag)
    geographic = [tag for tag in given if tag in _GEOGRAPHIC]
    others = [tag for tag in given if tag not in (*_GEOGRAPHIC, *_READ)]
    for key, tags in (*damage.items(), ("geotiff", geographic), ("other tags", others)):
        if tags:
            leave_out(name, key, f"tags {', '.join(map(str, sorted(tags)))}")


def padding_of(entries: dict[int, Any], depth: int, inverted: bool) -> int | None:
    """Return the level of pixels without a value, as the samples have it; None if it is unknown.

    Pictures of at most 8 bits are taken as photographs, whose levels are no measurements.
    """
    try:
        level = float(entries[NO_DATA][2].rstrip(b"\0"))
    except (KeyError, ValueError):
        return None
    white = (1 << depth) - 1
    if depth <= 8 or not level.is_integer() or not 0 <= level <= white:
        return None
    return white - int(level) if inverted else int(level)


def _text(value: bytes) -> str:
    value = value.rstrip(b"\0")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _resolution(entries: dict[int, tuple[int, int, bytes]], order: str) -> Resolution | None:
    numbers = []
    for tag in (X_RESOLUTION, Y_RESOLUTION):
        kind, _, value = entries.get(tag, (0, 0, b""))
        if len(value) != 8 or kind != _RATIONAL:
            return None
        number, parts = struct.unpack(f"{order}II", value)
        if not number or not parts:
            return None
        numbers.append(Fraction(number, parts))
    _, _, unit = entries.get(RESOLUTION_UNIT, (0, 0, b""))
    code = struct.unpack(f"{order}H", unit)[0] if len(unit) == 2 else 2
    return Resolution(numbers[0], numbers[1], _UNITS.get(code, "none"))


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
    calibration = metadata.calibration
    if calibration is not None and calibration.padding and len({*calibration.padding}) == 1:
        value = b"%d\0" % calibration.padding[0]
        entries[NO_DATA] = _ASCII, len(value), value
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
    x, y = (fitted(value / parts) for value in (resolution.x, resolution.y))
    return (x, y, code) if min(x, y) > 0 and max(x, y) <= MOST_PART else None


def holds_exif(data: bytes, resolution: Resolution | None = None) -> bool:
    """Return whether reading a TIFF file gives this EXIF back byte for byte.

    It must have the layout that ``exif.structure`` writes, and no thumbnail. Its resolution may be
    missing if the picture has a ``resolution``, which the tags of the file then hold.
    """
    try:
        order, found = exif.parsed(data)
    except (ValueError, struct.error):
        return False
    elsewhere = () if resolution is None else _RESOLUTION
    kept = {tag for tag in found.entries if tag in exif.KEPT or tag in elsewhere}
    return kept == found.entries.keys() and exif.structure(order, found) == data


def holds_text(keyword: str, said: str) -> bool:
    """Return whether TIFF has a tag for a text; of a calibration it holds padding of one level."""
    if keyword == CALIBRATION and (found := Calibration.of_text(said)):
        padding = found.padding
        return len({*(padding or ())}) == 1 and found == Calibration(padding=padding)
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
