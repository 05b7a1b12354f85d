"""Facts that stand in two places of a file: orientation and resolution.

``consistent`` reads both places and makes them agree, so that no picture is turned twice:

- orientation: what the decoder or the container says; else EXIF; else XMP;
- resolution: the field of the format (JFIF, pHYs, resc) if it has a unit of length; else EXIF.
"""

import re
import struct
from dataclasses import replace
from fractions import Fraction

from mmpcodec.metadata import ALL, Metadata, Resolution, Unit
from mmpcodec.pictures import exif
from mmpcodec.pictures.left_out import leave_out

_RESOLUTION = X_RESOLUTION, Y_RESOLUTION, UNIT = 282, 283, 296
_UNITS: dict[int, Unit] = {2: "inch", 3: "centimetre"}
_SHORT, _RATIONAL = 3, 5
_NEAR = Fraction(1, 2000)
_XMP = re.compile(
    rb"(tiff:Orientation\s*=\s*[\"']\s*)(\d+)(?=\s*[\"'])|(<tiff:Orientation>\s*)(\d+)(?=\s*<)"
)


def near(a: Fraction, b: Fraction) -> bool:
    """Return whether two resolutions differ by at most a two-thousandth, as by rounding."""
    return abs(a - b) <= _NEAR * b


def consistent(metadata: Metadata, name: str, *, orientation: int | None = None) -> Metadata:
    """Leave out damaged EXIF and XMP; make the places agree that tell orientation and resolution.

    Parameters
    ----------
    metadata : Metadata
        As a file has them.
    name : str
        Name of the file.
    orientation : int or None
        How the samples must be turned, 1 to 8, if the format decides that: 1 if the decoder has
        turned them. None if EXIF and XMP decide.
    """
    return _with_resolution(_with_orientation(_readable(metadata, name), orientation))


def orientation_of(metadata: Metadata) -> int:
    """Return how the samples must be turned to be upright, 1 to 8: of EXIF, else of XMP, else 1."""
    return _of_exif(metadata.exif) or _of_xmp(metadata.xmp) or 1


def stripped(metadata: Metadata, *kinds: str) -> Metadata:
    """Return metadata without some kinds, as ``Metadata.without``; the orientation stays.

    Without EXIF, the orientation is the only entry of a new EXIF structure.

    Raises
    ------
    ParameterError
        If a kind is unknown.
    """
    kept = metadata.without(*kinds)
    turned = orientation_of(metadata)
    if kept.exif and "resolution" in kinds:
        kept = replace(kept, exif=exif.changed(kept.exif, dict.fromkeys(_RESOLUTION)))
    if turned != 1 and ({"exif", "xmp", ALL} & {*kinds}):
        kept = _with_orientation(kept, turned)
    return kept


def _readable(metadata: Metadata, name: str) -> Metadata:
    """Return metadata without EXIF and XMP that no program could read."""
    if metadata.exif:
        try:
            exif.first_entries(metadata.exif)
        except (ValueError, struct.error) as error:
            leave_out(name, "damaged exif", str(error))
            metadata = replace(metadata, exif=b"")
    try:
        metadata.xmp.decode()
    except UnicodeDecodeError as error:
        leave_out(name, "damaged xmp", f"no UTF-8 at byte {error.start}")
        metadata = replace(metadata, xmp=b"")
    return metadata


def _with_orientation(metadata: Metadata, decided: int | None) -> Metadata:
    turned = decided or orientation_of(metadata)
    stated = _of_exif(metadata.exif)
    structure = metadata.exif
    if (stated is not None and stated != turned) or (stated is None and turned != 1):
        structure = exif.with_orientation(structure, turned)
    return replace(metadata, exif=structure, xmp=_xmp_with(metadata.xmp, turned))


def _of_exif(data: bytes) -> int | None:
    """Return the orientation in EXIF, 1 to 8; None if there is none."""
    try:
        order, found = exif.first_entries(data)
        kind, _, value = found.get(exif.ORIENTATION, (0, 0, b""))
        number = struct.unpack(f"{order}H", value[:2])[0] if kind == _SHORT else 0
    except (ValueError, struct.error):
        return None
    return number if 1 <= number <= 8 else None


def _of_xmp(data: bytes) -> int | None:
    found = _XMP.search(data)
    number = int((found[2] or found[4])[:3]) if found else 0
    return number if 1 <= number <= 8 else None


def _xmp_with(data: bytes, orientation: int) -> bytes:
    """Return XMP whose orientation, if it has one, is this."""
    number = str(orientation).encode()
    return _XMP.sub(lambda found: (found[1] or found[3]) + number, data)


def _with_resolution(metadata: Metadata) -> Metadata:
    own, stated = metadata.resolution, _resolution_of(metadata.exif)
    if stated is None:
        return metadata
    if own is None or own.unit == "none":
        return replace(metadata, resolution=stated)
    x, y = own.per_metre() or (own.x, own.y)
    in_exif = stated.per_metre() or (stated.x, stated.y)
    if near(x, in_exif[0]) and near(y, in_exif[1]):
        return metadata
    return replace(metadata, exif=_exif_with(metadata.exif, own))


def _resolution_of(data: bytes) -> Resolution | None:
    """Return the resolution in the first directory of EXIF; None if it has no unit of length."""
    try:
        order, found = exif.first_entries(data)
        numbers = []
        for tag in (X_RESOLUTION, Y_RESOLUTION):
            kind, count, value = found[tag]
            if (kind, count) != (_RATIONAL, 1):
                return None
            numbers.append(Fraction(*struct.unpack(f"{order}II", value)))
        kind, _, value = found.get(UNIT, (_SHORT, 1, struct.pack(f"{order}H", 2)))
        unit = _UNITS.get(struct.unpack(f"{order}H", value[:2])[0] if kind == _SHORT else 0)
    except (ValueError, struct.error, KeyError, ZeroDivisionError):
        return None
    if unit is None or min(numbers) <= 0:
        return None
    return Resolution(numbers[0], numbers[1], unit)


def _exif_with(data: bytes, resolution: Resolution) -> bytes:
    order = exif.STARTS[data[:4]]
    parts = 100 if resolution.unit == "metre" else 1
    unit = next(code for code, name in _UNITS.items() if (resolution.unit == "inch") == (code == 2))
    changes: dict[int, tuple[int, int, bytes] | None] = {
        UNIT: (_SHORT, 1, struct.pack(f"{order}H", unit))
    }
    for tag, value in ((X_RESOLUTION, resolution.x), (Y_RESOLUTION, resolution.y)):
        number = (value / parts).limit_denominator(1 << 16)
        if not 0 < number.numerator < 1 << 32:
            return data
        changes[tag] = _RATIONAL, 1, struct.pack(f"{order}II", *number.as_integer_ratio())
    return exif.changed(data, changes)
