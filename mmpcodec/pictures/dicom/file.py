"""Read a frame of a DICOM file, or all of them as a book."""

import io
import mmap
import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.pictures.books.opening import check_count
from mmpcodec.pictures.dicom import colours, frames, keeping
from mmpcodec.pictures.dicom.facts import PER_FRAME, FrameFacts, items_of, value_of
from mmpcodec.pictures.dicom.places import role_of
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size, chosen, damage_reported, damaged, library, one_line

DICOM = "dicom"
"""Names the attributes among what readers keep on request."""
_DEFLATED = b"1.2.840.10008.1.2.1.99"
_GRAY = ("MONOCHROME1", "MONOCHROME2")
_PALETTE, _PARTIAL = "PALETTE COLOR", frames.PARTIAL
_FULL = ("YBR_FULL", frames.FULL)
_COLOUR = ("RGB", *_FULL, _PARTIAL, "YBR_ICT", "YBR_RCT")
_SAMPLES = "PixelData"
_FLOATS = ("FloatPixelData", "DoubleFloatPixelData")
_TABLES = ("ModalityLUTSequence", "VOILUTSequence")
_LONG = 1 << 16
"""Bytes from which on a value stays in its file until it is used."""
_OVERLAYS, _OVERLAY_MASK = 0x6000, 0xFF00  # groups of elements


def read(
    data: bytes,
    name: str,
    limits: DecodeLimits,
    page: int | None = None,
    *,
    keep: Collection[str] = (),
) -> Picture:
    """Read a whole file, or a frame of several. Data about the patient are read only on request.

    MONOCHROME1 is inverted, so that white is the largest level. Signed levels are shifted, so that
    the darkest possible level becomes 0. Palettes and luminance with colour differences become RGB.
    ``metadata.calibration`` leads from the samples to the values of the file, such as Hounsfield
    units, and has the window and the padding. The pixel spacing becomes the resolution. If ``keep``
    has "dicom", ``metadata.dicom`` has all attributes but the samples.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, of several frames without a ``page``, or of a
        kind that is not supported.
    MissingExtra
        If pydicom is not installed, or what decodes the samples.
    """
    file = _parsed(data, name)
    wrong: list[str] = []
    count = _frames(file, wrong)
    frame = chosen(count, page, name)
    facts = FrameFacts(file, frame, wrong)
    picture = _picture(file, facts, count, name, limits)
    keeps = DICOM in keep
    _say_left_out(file, facts.other_groups(), wrong, name, keeps=keeps)
    if not keeps:
        return picture
    elements = keeping.elements_of(file, name, frames_apart=count > 1)
    if count > 1:
        elements |= keeping.own_elements(file, frame, name)
    parts = keeping.packed(elements), keeping.samples_part(picture, file, frame)
    return replace(picture, metadata=replace(picture.metadata, dicom=parts))


def book(
    source: str | bytes, name: str, limits: DecodeLimits, *, keep: Collection[str] = ()
) -> Book:
    """Open a file as a book: of slices, of frames that are shown one after the other, or of pages.

    What all frames lack is said here, and not for each frame again. The file is open only while a
    frame is read.

    Raises
    ------
    PictureError, MissingExtra
        As ``read`` raises them for what concerns all frames.
    """
    file = _parsed(source, name)
    wrong: list[str] = []
    count = _frames(file, wrong)
    role, keeps = Role.PAGE, DICOM in keep
    shared: list[bytes] = []

    def read_frame(number: int) -> Picture:
        place = named(name, role, number, count)
        own: list[str] = []
        picture = _picture(file, FrameFacts(file, number, own), count, place, limits)
        if own:
            leave_out(place, "damaged attributes", ", ".join(own))
        if not keeps:
            return picture
        own_groups = keeping.own_elements(file, number, place) if count > 1 else {}
        apart = keeping.packed(own_groups)
        parts = apart, keeping.samples_part(picture, file, number), *shared
        return replace(picture, metadata=replace(picture.metadata, dicom=parts))

    found = Book(name, count, read_frame, measured=True)
    check_count(found, limits)  # before anything is made for each frame
    groups = len(items_of(file, PER_FRAME))
    if groups and groups != count:
        wrong.append(f"{PER_FRAME} = {groups} items for {count} frames")
    role, facts = role_of(file, count, name)
    others = dict.fromkeys(
        keyword
        for frame in range(max(1, min(groups, count)))
        for keyword in FrameFacts(file, frame, []).other_groups()
    )
    _say_left_out(file, [*others], wrong, name, keeps=keeps)
    if keeps:
        shared.append(keeping.packed(keeping.elements_of(file, name, frames_apart=count > 1)))
    return replace(found, role=role, facts=facts)


def _picture(file: Any, facts: FrameFacts, count: int, name: str, limits: DecodeLimits) -> Picture:
    """Return a frame of a file of ``count`` frames."""
    bits, kind = _number(file, "BitsStored", name), str(file.get("PhotometricInterpretation") or "")
    planes = _number(file, "SamplesPerPixel", name)
    shown = 3 if kind == _PALETTE else planes
    size = _number(file, "Columns", name), _number(file, "Rows", name)
    check_size(*size, shown, name, limits)
    _check_kind(file, kind, bits, planes, name)
    stored, found_kind = frames.decoded(file, facts.frame, count, name)
    if stored.ndim != (2 if planes == 1 else 3):
        raise ValueError(f"samples of shape {stored.shape}")
    resolution = facts.resolution()
    if kind in _GRAY:
        samples, depth = _levels(stored, bits, bool(file.PixelRepresentation), kind), bits
        calibration = facts.calibration(bits, bool(file.PixelRepresentation), kind == _GRAY[0])
        text = () if calibration is None else (calibration.text(),)
        metadata = Metadata(resolution=resolution, text=text)
    else:
        samples, depth = _colours(stored, file, bits, found_kind, partial=kind == _PARTIAL)
        metadata = Metadata(_profile(file), resolution=resolution)
    return Picture(samples, depth, metadata)


def _levels(stored: np.ndarray, bits: int, signed: bool, kind: str) -> np.ndarray:
    """Return stored levels as samples, in which black is 0."""
    white = (1 << bits) - 1
    levels = np.clip(stored.astype(np.int64) + (1 << (bits - 1) if signed else 0), 0, white)
    levels = white - levels if kind == _GRAY[0] else levels
    return levels.astype(sample_type(bits))


def _colours(
    stored: np.ndarray, file: Any, bits: int, kind: str, *, partial: bool
) -> tuple[np.ndarray, int]:
    """Return stored colours as RGB, and their depth."""
    if kind == _PALETTE:
        return colours.shown(stored, file)
    if kind in _FULL:
        return colours.rgb_of_ybr(stored, bits, partial=partial), bits
    return np.minimum(stored, (1 << bits) - 1).astype(sample_type(bits)), bits


def _parsed(source: str | bytes, name: str) -> Any:
    """Return the data set of a file that holds samples. Of a path, samples stay in the file.

    Raises
    ------
    PictureError
        If it holds none that are integers, or is damaged.
    """
    pydicom = library("pydicom", "DICOM", name, extra="dicom")
    if _is_deflated(source, name):
        # pydicom would unpack all of it, without a bound on its size.
        raise PictureError(
            f"{name}: is a deflated DICOM file, which is not supported; dcmconv (DCMTK) inflates it"
        )
    try:
        # A file may lack the preamble.
        file = (
            pydicom.dcmread(source, force=True, defer_size=_LONG)
            if isinstance(source, str)
            else pydicom.dcmread(io.BytesIO(source), force=True)
        )
    except RecursionError:
        raise damaged(name, "its sequences are nested too deep") from None
    if any(each in file for each in _FLOATS):
        raise PictureError(
            f"{name}: is DICOM of floating-point samples; supported are integers of up to 16 bits"
        )
    if _SAMPLES not in file:
        kind = file.get("SOPClassUID") or file.file_meta.get("MediaStorageSOPClassUID")
        if not kind:
            raise damaged(name, "has neither samples nor a SOPClassUID")
        title = one_line(str(getattr(kind, "name", kind)))
        raise PictureError(f"{name}: is a DICOM file without a picture, {title}")
    return file


def header_of(path: str, keywords: Sequence[str] | None = None) -> Any:
    """Return the data set of a file up to its samples; if keywords are given, these elements only.

    Raises
    ------
    PictureError
        If it is damaged, or deflated.
    MissingExtra
        If pydicom is not installed.
    """
    pydicom = library("pydicom", "DICOM", path, extra="dicom")
    if _is_deflated(path, path):
        raise PictureError(f"{path}: is a deflated DICOM file")
    tags: Any = None if keywords is None else list(keywords)
    with damage_reported(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading the picture says it
        return pydicom.dcmread(path, force=True, stop_before_pixels=True, specific_tags=tags)


def _is_deflated(source: str | bytes, name: str) -> bool:
    if isinstance(source, bytes):
        return _DEFLATED in source
    try:
        with open(source, "rb") as stream:
            # An empty file cannot be mapped.
            if not os.fstat(stream.fileno()).st_size:
                return False
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return data.find(_DEFLATED) >= 0
    except OSError as error:
        raise PictureError.from_os(name, error) from error


def _profile(file: Any) -> bytes:
    """Return the ICC profile of colours."""
    found = file.get("ICCProfile")
    return found if isinstance(found, bytes) else b""


def _frames(file: Any, wrong: list[str]) -> int:
    """Return the number of frames; 1 if the file does not say it."""
    found = value_of(file, "NumberOfFrames")
    try:
        return int(found or 1)
    except (ValueError, TypeError):
        wrong.append(f"NumberOfFrames = {one_line(str(found))}")
        return 1


def _say_left_out(
    file: Any, others: list[str], wrong: list[str], name: str, *, keeps: bool
) -> None:
    """Say which attributes are left out that change how a viewer shows the picture.

    ``others`` are the functional groups that are not read, ``wrong`` the damaged attributes;
    ``keeps`` tells whether all attributes are kept beside the picture.
    """
    if wrong:
        leave_out(name, "damaged attributes", ", ".join(wrong))
    if others and not keeps:
        leave_out(name, "functional groups", ", ".join(others))
    if "TotalPixelMatrixColumns" in file:
        leave_out(name, "tiles")
    tables = [each for each in _TABLES if each in file]
    if tables:
        leave_out(name, "lookup tables", ", ".join(tables))
    given = [] if keeps else [*file.keys()]
    if any(tag.group & _OVERLAY_MASK == _OVERLAYS for tag in given):
        leave_out(name, "overlays")


def _number(file: Any, keyword: str, name: str) -> int:
    value = file.get(keyword)
    if not isinstance(value, int):
        raise damaged(name, f"{keyword} = {value!r}: must be an integer")
    return int(value)


def _check_kind(file: Any, kind: str, bits: int, planes: int, name: str) -> None:
    """Check that the samples are of a kind that is supported.

    Raises
    ------
    PictureError
        If they are not.
    """
    signed, allocated = bool(file.PixelRepresentation), _number(file, "BitsAllocated", name)
    single = kind in _GRAY or kind == _PALETTE
    coloured = kind in _COLOUR and not signed and (bits > 1 or kind == keeping.RGB)
    known = (planes == 1 and single) or (planes == 3 and coloured)
    if not known or not 1 <= bits <= 16 or (allocated % 8 and allocated != 1):
        sign = "signed " if signed and kind in _COLOUR else ""
        raise PictureError(
            f"{name}: is DICOM of {sign}{one_line(kind) or 'unknown'} with {bits} bits in "
            f"{allocated}, {planes} planes; supported are gray, palettes, RGB and YBR of up to 16 "
            "bits"
        )
    if kind == _PALETTE and "RedPaletteColorLookupTableData" not in file:
        raise PictureError(
            f"{name}: is DICOM with a segmented palette, which is not supported"
            if "SegmentedRedPaletteColorLookupTableData" in file
            else f"{name}: is damaged or truncated: lacks its palette"
        )
