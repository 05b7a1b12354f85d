"""Sort DICOM files of one picture each into series, of which each is a book of slices."""

import re
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from mmpcodec.errors import MmpError
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import reading, registry
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.opening import check_count
from mmpcodec.pictures.dicom import keeping
from mmpcodec.pictures.dicom.facts import value_of
from mmpcodec.pictures.dicom.file import header_of
from mmpcodec.pictures.dicom.places import Vector, normal_of, parallel, position_of

_KEYWORDS = (
    "SOPClassUID", "Modality", "SeriesDescription", "SeriesInstanceUID", "SeriesNumber",
    "AcquisitionNumber", "InstanceNumber", "ImagePositionPatient", "ImageOrientationPatient",
    "NumberOfFrames", "Rows", "Columns",
)  # fmt: skip
_SLICED = ("CT", "MR", "PT")
"""Modalities whose pictures are slices also without a position."""
_SAME = 1000  # nm
_GAP = 1.5
_UNEVEN = 0.01
_NAMED = 3
"""Most files that a remark names."""
_MOST_NAME = 40
_MM = 10**6


class Series(NamedTuple):
    """Files that are the slices of one series.

    Parameters
    ----------
    book : Book
        Slices, by their position along the normal of their planes; pages, by InstanceNumber and
        name, if they have no positions.
    paths : tuple of str
        The files, in the order of the book.
    title : str
        A name for a file of the series: "series-003-Thorax".
    remarks : tuple of str
        What is odd about the series: gaps, equal positions, other sizes and orientations.
    """

    book: Book
    paths: tuple[str, ...]
    title: str
    remarks: tuple[str, ...]


class _Slice(NamedTuple):
    path: str
    uid: str
    number: int | None
    description: str
    size: tuple[int, int]
    normal: Vector | None
    position: int | None
    acquisition: int
    instance: int

    @property
    def order(self) -> tuple[Any, ...]:
        return self.position or 0, self.acquisition, self.instance, self.path


def series_of(
    paths: Sequence[str],
    limits: DecodeLimits | None = None,
    *,
    strict: bool = False,
    keep: Collection[str] = (),
) -> list[Series]:
    """Find the series among files, by SeriesInstanceUID; only headers are read.

    Files of a series that have another size or orientation, such as localizers, are a series of
    their own. Files of other formats or of several frames, pictures that are no slices, and slices
    that have no other beside them, are in no series.

    Parameters
    ----------
    paths : sequence of str
    limits : DecodeLimits or None
        Limits of each picture, and of the number of pictures of a series.
    strict, keep
        See ``pictures.read``. What all slices have alike is the last part of ``metadata.dicom``,
        the same bytes for each slice.

    Returns
    -------
    list of Series
        By the first of their files among ``paths``.

    Raises
    ------
    PictureError
        If a series has more pictures than the limit.
    MissingExtra
        If pydicom is not installed.
    """
    limits = limits or DecodeLimits()
    by_uid: dict[str, list[list[_Slice]]] = {}
    for path in paths:
        found = _slice_of(path)
        if found is None:
            continue
        groups = by_uid.setdefault(found.uid, [])
        for group in groups:
            if _fits(found, group[0]):
                group.append(found)
                break
        else:
            groups.append([found])
    stacks: list[tuple[list[_Slice], list[str]]] = []
    for groups in by_uid.values():
        largest = max(groups, key=len)
        for group in groups:
            if len(group) > 1:
                notes = [_about_others(groups)] if group is largest and len(groups) > 1 else []
                stacks.append((sorted(group, key=lambda one: one.order), notes))
    titles = _titles([slices[0] for slices, _ in stacks])
    return [
        _series(title, slices, notes, limits, strict=strict, keep=keep)
        for title, (slices, notes) in zip(titles, stacks, strict=True)
    ]


def _slice_of(path: str) -> _Slice | None:
    """Return what the header of a file says; None if it is no slice, or cannot be read."""
    try:
        with open(path, "rb") as stream:
            row = registry.format_at(stream.read(registry.HEAD))
        if row is None or row.title != "DICOM":
            return None
        file = header_of(path, _KEYWORDS)
    except (OSError, MmpError):  # reading the picture tells why
        return None
    uid = value_of(file, "SeriesInstanceUID")
    size = value_of(file, "Columns"), value_of(file, "Rows")
    if not uid or not all(isinstance(each, int) for each in size):
        return None
    if _integer(value_of(file, "NumberOfFrames"), 1) > 1:
        return None
    normal = normal_of(file)
    position = None if normal is None else position_of(file, normal)
    if position is None and value_of(file, "Modality") not in _SLICED:
        return None
    number = value_of(file, "SeriesNumber")
    return _Slice(
        path,
        str(uid),
        None if number is None else _integer(number, 0),
        str(value_of(file, "SeriesDescription") or ""),
        size,
        None if position is None else normal,
        position,
        _integer(value_of(file, "AcquisitionNumber"), 0),
        _integer(value_of(file, "InstanceNumber"), 0),
    )


def _integer(value: Any, usual: int) -> int:
    try:
        return usual if value is None else int(value)
    except (ValueError, TypeError, OverflowError):
        return usual


def _fits(one: _Slice, other: _Slice) -> bool:
    """Return whether two slices of a series lie in one stack."""
    if one.size != other.size or (one.normal is None) != (other.normal is None):
        return False
    return one.normal is None or other.normal is None or parallel(one.normal, other.normal)


def _series(
    title: str,
    slices: list[_Slice],
    notes: list[str],
    limits: DecodeLimits,
    *,
    strict: bool,
    keep: Collection[str],
) -> Series:
    """Return the series of sorted slices; ``notes`` are remarks."""
    paths = tuple(each.path for each in slices)
    placed = [each.position for each in slices if each.position is not None]

    alike = _Alike(paths)

    def read(number: int) -> Picture:
        found = reading.read(paths[number], limits=limits, strict=strict, keep=keep)
        if not keep:
            return found
        shared = alike.elements
        metadata = keeping.apart(found.metadata, shared, alike.part, paths[number])
        return replace(found, metadata=metadata)

    role, facts = (Role.SLICE, [(each,) for each in placed]) if placed else (Role.PAGE, [])
    book = Book(title, len(paths), read, role, facts, measured=True)
    check_count(book, limits)
    about = _about_positions(slices) if placed else [_about_numbers(slices)]
    return Series(book, paths, title, (*notes, *about))


class _Alike:
    """The attributes that all slices of a series have alike, found when they are first asked for.

    Parameters
    ----------
    paths : sequence of str
    """

    def __init__(self, paths: Sequence[str]):
        self._paths, self._lock = paths, threading.Lock()
        self._found: dict[int, bytes] | None = None

    @property
    def elements(self) -> keeping.Elements:
        with self._lock:
            if self._found is None:
                self._found = keeping.common(map(_elements, self._paths))
            return self._found

    @cached_property
    def part(self) -> bytes:
        """The elements as a part of ``Metadata.dicom``."""
        return keeping.packed(self.elements)


def _elements(path: str) -> keeping.Elements:
    """Return the attributes of a slice; none if they cannot be read, which its picture will say."""
    try:
        return keeping.elements_of(header_of(path), path)
    except MmpError:
        return {}


def _titles(first: Sequence[_Slice]) -> list[str]:
    """Return a name for each series, by a slice of it; equal ones get the end of the UID."""
    found: list[str] = []
    for each in first:
        number = "" if each.number is None else f"-{each.number:03}"
        words = re.sub(r"[^\w]+", "-", each.description).strip("-_")[:_MOST_NAME]
        title = f"series{number}" + (f"-{words}" if words else "")
        if title == "series" or title in found:
            title += "-" + re.sub(r"\W", "", each.uid)[-8:]
        repeated = 1 + sum(one == title or one.startswith(f"{title}+") for one in found)
        found.append(title if repeated == 1 else f"{title}+{repeated}")
    return found


def _about_others(groups: Sequence[Sequence[_Slice]]) -> str:
    """Say which stacks a series has besides the largest."""
    ordered = sorted(groups, key=len, reverse=True)
    parts = [f"{len(each)} of {each[0].size[0]}x{each[0].size[1]}" for each in ordered]
    others = [one.path for each in ordered[1:] for one in each]
    return (
        f"holds pictures of several sizes or directions ({', '.join(parts)}); apart from the "
        f"others: {_names(others)}"
    )


def _about_numbers(slices: Sequence[_Slice]) -> str:
    numbered = len({each.instance for each in slices}) == len(slices)
    order = "InstanceNumber" if numbered else "InstanceNumber, then name, as numbers repeat"
    return f"its pictures have no position; they are in the order of {order}"


def _about_positions(slices: Sequence[_Slice]) -> list[str]:
    """Say which positions repeat, and where slices are missing."""
    stacks: list[list[_Slice]] = []
    for each in slices:
        if stacks and _place(each) - _place(stacks[-1][0]) <= _SAME:
            stacks[-1].append(each)
        else:
            stacks.append([each])
    remarks = []
    repeated = [each for each in stacks if len(each) > 1]
    if repeated:
        at = f"{_place(repeated[0][0]) / _MM:g} mm"
        names = _names([one.path for one in repeated[0]])
        others = f", and {len(repeated) - 1} more positions" if len(repeated) > 1 else ""
        remarks.append(
            f"has equal positions: {len(repeated[0])} slices at {at} ({names}){others}; these are "
            "in the order of AcquisitionNumber and InstanceNumber"
        )
    steps = [(_place(b[0]) - _place(a[0]), a[0], b[0]) for a, b in pairwise(stacks)]
    if len(steps) < 2:
        return remarks
    usual = median(step for step, _, _ in steps)
    gaps = [each for each in steps if each[0] > _GAP * usual]
    if gaps:
        said = [
            f"{step / _MM:g} mm between {one.path} and {other.path}"
            for step, one, other in gaps[:_NAMED]
        ]
        more = f" and {len(gaps) - _NAMED} more" if len(gaps) > _NAMED else ""
        missing = sum(round(step / usual) - 1 for step, _, _ in gaps)
        remarks.append(
            f"has gaps: {', '.join(said)}{more}, elsewhere {usual / _MM:g} mm; about {missing} "
            f"{'slice is' if missing == 1 else 'slices are'} missing"
        )
    even = [step for step, _, _ in steps if step <= _GAP * usual]
    if max(even) - min(even) > _UNEVEN * usual + _SAME:
        remarks.append(
            f"has slices at uneven distances, {min(even) / _MM:g} to {max(even) / _MM:g} mm"
        )
    return remarks


def _place(one: _Slice) -> int:
    assert one.position is not None
    return one.position


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
