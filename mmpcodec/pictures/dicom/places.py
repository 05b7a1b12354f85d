"""Where and when the frames of a DICOM file lie: slices along their normal, or cine."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mmpcodec.format.collection import Role
from mmpcodec.pictures.dicom.facts import PER_FRAME, SHARED, items_of, value_of
from mmpcodec.pictures.left_out import leave_out

POSITION, ORIENTATION = "PlanePositionSequence", "PlaneOrientationSequence"
"""Keywords of the functional groups that place a frame."""
_NANOMETRES = 10**6  # in a millimetre
_MOST_MM = 1e6  # of a coordinate
_MOST_MS = 10**9
_MOST_PARTS = 10**6
_LEAST_SINE = 0.5  # between the rows and the columns of a picture
_NEAR = 1e-3
"""Largest difference between the normals of planes that are parallel."""

Vector = tuple[float, ...]


def vector_of(place: Any, keyword: str, count: int) -> Vector | None:
    """Return the numbers of an element; None if there are not ``count`` finite ones."""
    found = value_of(place, keyword)
    if isinstance(found, str) or not isinstance(found, Sequence) or len(found) != count:
        return None
    try:
        numbers = tuple(map(float, found))
    except (ValueError, TypeError, OverflowError):
        return None
    return numbers if all(abs(each) <= _MOST_MM for each in numbers) else None


def normal_of(place: Any) -> Vector | None:
    """Return the unit vector across the plane of a data set; None without an orientation."""
    found = vector_of(place, "ImageOrientationPatient", 6)
    if found is None:
        return None
    (a, b, c), (d, e, f) = found[:3], found[3:]
    across = b * f - c * e, c * d - a * f, a * e - b * d
    length = math.hypot(*across)
    longest = math.hypot(a, b, c) * math.hypot(d, e, f)
    if not longest or length < _LEAST_SINE * longest or not math.isfinite(length):
        return None
    return tuple(each / length for each in across)


def position_of(place: Any, normal: Vector) -> int | None:
    """Return the place of a plane along a normal, in nanometres; None without a position."""
    corner = vector_of(place, "ImagePositionPatient", 3)
    if corner is None:
        return None
    return round(sum(a * b for a, b in zip(corner, normal, strict=True)) * _NANOMETRES)


def parallel(a: Vector, b: Vector) -> bool:
    """Return whether two normals are equal, as far as they are written."""
    return all(abs(one - other) <= _NEAR for one, other in zip(a, b, strict=True))


def role_of(file: Any, count: int, name: str) -> tuple[Role, list[tuple[int, ...]]]:
    """Return what the frames of a file are, and the numbers that each has in a collection.

    Parameters
    ----------
    file : pydicom.Dataset
    count : int
        Number of frames.
    name : str
        Name of the file, for remarks.

    Returns
    -------
    role : Role
        Slices if each frame has a position and their planes are parallel; frames if the file says
        how long each is shown; else pages.
    facts : list of tuple of int
        Positions or durations; empty for pages.
    """
    if count < 2:
        return Role.PAGE, []
    durations = _durations(file, count)
    pointer = getattr(value_of(file, "FrameIncrementPointer"), "json_key", "")
    if durations and pointer in _TIMES.values():
        return Role.FRAME, durations
    places = _positions(file, count, name)
    if places:
        return Role.SLICE, [(each,) for each in places]
    return (Role.FRAME, durations) if durations else (Role.PAGE, [])


_TIMES = {"FrameTime": "00181063", "FrameTimeVector": "00181065"}
"""Tags of the elements with milliseconds from frame to frame."""


def _durations(file: Any, count: int) -> list[tuple[int, ...]]:
    """Return how long each frame is shown: parts, and their number in a second."""
    vector = value_of(file, "FrameTimeVector")
    if isinstance(vector, Sequence) and not isinstance(vector, str) and len(vector) == count:
        # An increment is that from the frame before; the last frame has that of the one before it.
        spans = [_span(each) for each in [*vector[1:], vector[-1]]]
        if None not in spans:
            return [each for each in spans if each is not None]
    span = _span(value_of(file, "FrameTime"))
    for keyword in ("CineRate", "RecommendedDisplayFrameRate"):
        rate = _exact(value_of(file, keyword))
        if span is None and rate is not None and 0 < rate <= _MOST_PARTS:
            span = (1 / rate).limit_denominator(_MOST_PARTS).as_integer_ratio()
    return [] if span is None else [span] * count


def _span(milliseconds: Any) -> tuple[int, int] | None:
    """Return parts and parts of a second of a time; None if it is none, or without length."""
    found = _exact(milliseconds)
    if found is None or not 0 < found <= _MOST_MS:
        return None
    return (found / 1000).limit_denominator(_MOST_PARTS).as_integer_ratio()


def _exact(value: Any) -> Fraction | None:
    """Return a number as it is written; None if it is none, or has no plausible size."""
    said = str(getattr(value, "original_string", value)).strip()
    try:
        # A fraction of 1e99999999 would have as many digits.
        plausible = abs(float(said)) <= _MOST_MS and len(said) < 40
        return Fraction(said) if plausible and "e-" not in said.lower() else None
    except (ValueError, OverflowError):
        return None


def _positions(file: Any, count: int, name: str) -> list[int]:
    """Return the place of each frame along the common normal; empty if there is none."""
    own = items_of(file, PER_FRAME)
    shared = [*items_of(file, SHARED)][:1]
    if not own:
        return _offsets(file, count)
    if len(own) < count:
        return []

    def group(frame: Any, keyword: str) -> Any:
        found = (items_of(place, keyword) for place in (frame, *shared))
        return next((items[0] for items in found if items), None)

    places, normal = [], None
    for frame in own[:count]:
        across = normal_of(group(frame, ORIENTATION) or {})
        normal = normal or across
        if across is None or normal is None:
            return []
        if not parallel(across, normal):
            leave_out(name, "positions", "planes are not parallel")
            return []
        place = position_of(group(frame, POSITION) or {}, normal)
        if place is None:
            return []
        places.append(place)
    return places


def _offsets(file: Any, count: int) -> list[int]:
    """Return places of frames of dose grids and of nuclear medicine, whose vectors tell them."""
    detector = (items_of(file, "DetectorInformationSequence") or [file])[0]
    place = file if value_of(file, "ImageOrientationPatient") is not None else detector
    normal = normal_of(place)
    first = None if normal is None else position_of(place, normal)
    offsets = vector_of(file, "GridFrameOffsetVector", count)
    if offsets is None:
        slices = vector_of(file, "SliceVector", count)
        spacing = value_of(file, "SpacingBetweenSlices")
        step = None if spacing is None else vector_of({"of": [spacing]}, "of", 1)
        if slices is None or step is None:
            return []
        offsets = tuple((each - 1) * step[0] for each in slices)
    return [(first or 0) + round((each - offsets[0]) * _NANOMETRES) for each in offsets]
