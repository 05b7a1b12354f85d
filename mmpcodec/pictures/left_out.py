"""What readers leave out of a picture file or convert: one table, and one warning for each picture.

A reader calls ``leave_out``. ``noted`` collects the calls while a file is read, then warns once, or
refuses the file if reading is strict.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from mmpcodec.errors import PictureError
from mmpcodec.pictures.limits import one_line, say


class LeftOut(NamedTuple):
    """A row of the table.

    Parameters
    ----------
    sentence : str
        What the file has and what becomes of it, without the subject.
    formats : tuple of str
        Titles of the formats that it concerns, as in ``registry.FORMATS``.
    """

    sentence: str
    formats: tuple[str, ...]


_HEIF = ("AVIF", "HEIC")
_WITH_PROFILE = ("PNG", "TIFF", "JPEG", "WebP", *_HEIF, "JPEG 2000")
_WITH_EXIF = ("PNG", "TIFF", "JPEG", "WebP", *_HEIF, "JPEG XL")
_WITH_XMP = (*_WITH_EXIF, "JPEG 2000")

LEFT_OUT: dict[str, LeftOut] = {
    "cmyk": LeftOut(
        "holds CMYK colours, which are converted to RGB", ("TIFF", "JPEG", "JPEG 2000", "PDF")
    ),
    "rendered": LeftOut("is more or other than a single image, so the page is rendered", ("PDF",)),
    "text layer": LeftOut("has invisible text beside its image, which is not read", ("PDF",)),
    "further pictures": LeftOut(
        "holds several pictures, of which only the main one is read", ("HEIC",)
    ),
    "auxiliary pictures": LeftOut(
        "has auxiliary pictures, such as a map of depth, which are not read", _HEIF
    ),
    "gain map": LeftOut(
        "has a gain map for bright screens, which is left out, also of XMP", ("JPEG", *_HEIF)
    ),
    "exif": LeftOut("has EXIF, which is not read", ("JPEG 2000",)),
    "iptc": LeftOut("has captions in IPTC, which are not read", ("JPEG", "JPEG 2000")),
    "geotiff": LeftOut("has tags of GeoTIFF or GDAL, which are not read", ("TIFF", "JPEG 2000")),
    "further directories": LeftOut(
        "has further directories, such as overviews and masks, which are not read", ("TIFF",)
    ),
    "missing pages": LeftOut(
        "is damaged behind one of its pages or frames, so further ones may be missing",
        ("TIFF", "GIF"),
    ),
    "functional groups": LeftOut(
        "has functional groups, of which only slope, window, spacing and place are read", ("DICOM",)
    ),
    "positions": LeftOut(
        "has frames that are no stack of slices, whose places are left out", ("DICOM",)
    ),
    "tiles": LeftOut(
        "has frames that are tiles of a larger picture, which are not joined", ("DICOM",)
    ),
    "header extensions": LeftOut("has extensions of its header, which are not read", ("NIfTI",)),
    "other fields": LeftOut("has fields of its header that are not read", ("NIfTI",)),
    "overlays": LeftOut("has overlays, which are not read", ("DICOM",)),
    "lookup tables": LeftOut(
        "has lookup tables for levels, which are not applied to the samples", ("DICOM",)
    ),
    "damaged attributes": LeftOut(
        "has attributes without a valid value, which are left out", ("DICOM",)
    ),
    "comments": LeftOut("has comments, which are not read", ("PBM", "PGM", "PPM", "PAM")),
    "other tags": LeftOut("has tags that are not read", ("TIFF",)),
    "white level": LeftOut("names a white level below its samples, which is left out", ("TIFF",)),
    "profile": LeftOut("has a colour profile, which is not read", ("JPEG XL",)),
    "damaged profile": LeftOut("has a damaged colour profile, which is left out", _WITH_PROFILE),
    "profile of other colours": LeftOut(
        "has a colour profile of another number of colours, which is left out", _WITH_PROFILE
    ),
    "damaged colours": LeftOut(
        "names its colours by damaged numbers, which are left out", ("PNG",)
    ),
    "damaged exif": LeftOut("has damaged EXIF, which is left out", _WITH_EXIF),
    "damaged xmp": LeftOut("has damaged XMP, which is left out", _WITH_XMP),
    "extended xmp": LeftOut("has XMP beyond 64 KiB, of which the rest is not read", ("JPEG",)),
    "damaged text": LeftOut("has a damaged text, which is left out", ("PNG", "TIFF")),
    "damaged resolution": LeftOut(
        "has a damaged resolution, which is left out", ("PNG", "TIFF", "JPEG 2000")
    ),
    "still picture": LeftOut(
        "has a picture for viewers without animations, which is no frame and is not read", ("PNG",)
    ),
    "damaged chunk": LeftOut(
        "has a damaged chunk that no sample needs, which is left out", ("PNG",)
    ),
    "end": LeftOut("is cut off; samples behind its end are made up", ("JPEG",)),
    "kind of alpha": LeftOut(
        "has a plane of unspecified kind, which is read as alpha", ("TIFF", "JPEG 2000")
    ),
}
"""What is left out or converted, by the key that JSON and ``PictureWarning.left_out`` have."""


class _Reading:
    """The keys that reading a file has found, with their details."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}


_now: ContextVar[_Reading | None] = ContextVar("reading", default=None)
Remark = tuple[str, tuple[str, ...]]
"""What is said of a picture, without its name, and the keys of what was left out."""
_gathered: ContextVar[list[Remark] | None] = ContextVar("gathered", default=None)


@contextlib.contextmanager
def gathered() -> Iterator[list[Remark]]:
    """Gather what this thread would warn of pictures while the context lasts, in place of it."""
    remarks: list[Remark] = []
    token = _gathered.set(remarks)
    try:
        yield remarks
    finally:
        _gathered.reset(token)


@contextlib.contextmanager
def noted(name: str, *, strict: bool = False) -> Iterator[None]:
    """Collect what is left out while the context lasts, then warn once.

    Parameters
    ----------
    name : str
        Name of the file.
    strict : bool
        Whether to refuse the file instead.

    Raises
    ------
    PictureError
        If something is left out and ``strict`` is set.
    """
    reading = _Reading()
    token = _now.set(reading)
    try:
        yield
    finally:
        _now.reset(token)
    if reading.found and strict:
        raise PictureError(f"{name}: {_text(reading.found)}; strict reading refuses this")
    if reading.found:
        _tell(name, reading.found)


def leave_out(name: str, keys: str | Sequence[str], detail: str = "") -> None:
    """Say that parts of a picture file are left out or converted.

    Parameters
    ----------
    name : str
        Name of the file.
    keys : str or sequence of str
        Keys of ``LEFT_OUT``.
    detail : str
        What is wrong or missing, in a few words; it may come from the file.
    """
    keys = (keys,) if isinstance(keys, str) else tuple(keys)
    found = {key: one_line(detail) for key in keys}
    for key in keys:
        LEFT_OUT[key]  # a key without a row is a mistake of the reader
    reading = _now.get()
    if reading is None:
        _tell(name, found)
    else:
        reading.found = found | reading.found


def _tell(name: str, found: dict[str, str]) -> None:
    keys = tuple(sorted(found, key=tuple(LEFT_OUT).index))
    remarks = _gathered.get()
    if remarks is None:
        say(name, _text(found), keys)
    else:
        remarks.append((_text(found), keys))


def _text(found: dict[str, str]) -> str:
    return "; ".join(
        row.sentence + (f" ({found[key]})" if found[key] else "")
        for key, row in LEFT_OUT.items()
        if key in found
    )
