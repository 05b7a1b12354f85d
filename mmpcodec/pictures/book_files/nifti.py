"""Write slices, or frames, as a volume of NIfTI, whose header nibabel makes.

The first axis runs along the rows of a picture, the second along its columns, the third from slice
to slice, the fourth from frame to frame. A volume that was read from NIfTI is written with its
type, axes, scale and affine again.
"""

import gzip
import math
from typing import Any, BinaryIO, cast

import numpy as np

from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.metadata import CALIBRATION, Calibration
from mmpcodec.picture import Picture
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.book_files.zarr_stack import spacing
from mmpcodec.pictures.limits import library
from mmpcodec.pictures.nifti.stored_form import COLOURS, KEYWORD, SPACES, StoredForm

MOST_OF_FIRST = 32767
"""Longest axis of the first version of the format."""
_NANOMETRES = 10**6
"""In a millimetre."""
_DESCRIPTION, _MOST_DESCRIPTION = "Description", 79
_LEVEL = 1
_PLAIN = Calibration()


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write the header, then each picture as it comes.

    Raises
    ------
    PictureError
        If the pictures have a form or depth that the format lacks.
    MissingExtra
        If nibabel is not installed.
    """
    nibabel = library("nibabel", "a NIfTI file", pages.book.name, extra="nifti")
    form = _form_of(pages)
    header = _header(pages, form, nibabel)
    if not options.compressed:
        _write(stream, header, form, pages)
        return
    with gzip.GzipFile("", "wb", _LEVEL, stream, mtime=0) as packed:
        _write(cast(BinaryIO, packed), header, form, pages)


def _form_of(pages: Pages) -> StoredForm | None:
    """Return how the volume was stored from which all pictures come, if they come from one."""
    first = pages.first
    said = dict(first.metadata.text).get(KEYWORD)
    form = None if said is None else StoredForm.of_text(said)
    if form is None:
        return None
    width, height = form.shape[:2]
    colours = form.type in COLOURS
    slope, intercept = (1.0 if form.slope is None else form.slope), form.intercept or 0.0
    calibration = first.metadata.calibration or _PLAIN
    fits = (
        first.samples.shape[:2] == (height, width)
        and math.prod(form.shape[2:]) == len(pages)
        and first.planes == (len(form.type) if colours else 1)
        # A calibration that somebody has changed counts.
        and (calibration.slope, calibration.intercept) == (slope, intercept + slope * form.shift)
    )
    return form if fits else None


def _header(pages: Pages, form: StoredForm | None, nibabel: Any) -> Any:
    first, book = pages.first, pages.book
    height, width = first.samples.shape[:2]
    shape: tuple[int, ...] = (
        (width, height, 1, len(pages)) if book.role == Role.FRAME else (width, height, len(pages))
    )
    shape = shape if form is None else form.shape
    header = nibabel.Nifti1Header() if max(shape) <= MOST_OF_FIRST else nibabel.Nifti2Header()
    own = form is not None and form.type not in COLOURS
    header.set_data_dtype(form.type if form and own else _kind(first, book.name))
    header.set_data_shape(shape)
    _set_zooms(header, shape, pages, form)
    calibration = first.metadata.calibration
    if form is not None and own:
        header.set_slope_inter(form.slope, form.intercept)
    elif calibration:
        header.set_slope_inter(calibration.slope, calibration.intercept)
    if calibration and calibration.window:
        header["cal_min"], header["cal_max"] = calibration.window
    if form is not None and form.affine is not None:
        header.set_sform(np.vstack([form.affine, (0, 0, 0, 1)]), SPACES.index(form.space))
    if form is not None:
        header["descrip"] = _description(first).encode("latin-1", "replace")
    header.set_data_offset(header.single_vox_offset)
    return header


def _set_zooms(header: Any, shape: tuple[int, ...], pages: Pages, form: StoredForm | None) -> None:
    """Set the size of a voxel and its units."""
    if form is not None:
        header.set_zooms(form.zooms)
        header.set_xyzt_units(*form.units)
        return
    book, resolution = pages.book, pages.first.metadata.resolution
    zooms = [1.0] * len(shape)
    sides = None if resolution is None else resolution.millimetres()
    zooms[:2] = sides or (1.0, 1.0)
    step = spacing(book.facts) if book.role == Role.SLICE else None
    if step is not None:
        zooms[2] = step / _NANOMETRES
    if book.role == Role.FRAME and len({*book.facts}) == 1:
        zooms[3] = book.facts[0][0] / book.facts[0][1]
    header.set_zooms(zooms)
    header.set_xyzt_units("mm" if sides else "unknown", "sec" if len(shape) == 4 else "unknown")


def _description(picture: Picture) -> str:
    return dict(picture.metadata.text).get(_DESCRIPTION, "")


def _kind(picture: Picture, name: str) -> np.dtype:
    """Return the type of a voxel.

    Raises
    ------
    PictureError
        If the format has none.
    """
    if picture.planes == 1:
        return picture.samples.dtype.newbyteorder("<")
    if picture.planes in (3, 4) and picture.depth <= 8:
        return np.dtype([(channel, "u1") for channel in "RGBA"[: picture.planes]])
    raise PictureError(
        f"{name}: is {picture.kind} of {picture.depth} bits; a nii file holds gray of 1 to 16 "
        "bits, and RGB and RGB with alpha of up to 8"
    )


def _write(stream: BinaryIO, header: Any, form: StoredForm | None, pages: Pages) -> None:
    header.write_to(stream)
    for picture in pages:
        samples = picture.samples
        if form is not None and form.type not in COLOURS:
            samples = form.stored(samples)
        stream.write(np.ascontiguousarray(samples.astype(samples.dtype.newbyteorder("<"))).data)
        _note_lost(picture, header, form, pages)


def _note_lost(picture: Picture, header: Any, form: StoredForm | None, pages: Pages) -> None:
    metadata, first, role = picture.metadata, pages.first.metadata, pages.book.role
    if form is None and picture.depth not in (8, 16):
        pages.lose("depth")
    pages.lose_white(picture)
    kept = ["text"]
    resolution = metadata.resolution
    if resolution is not None and resolution.unit != "none" and resolution == first.resolution:
        kept.append("resolution")
    pages.lose_metadata(metadata, kept=tuple(kept))
    own, other = metadata.calibration or _PLAIN, first.calibration or _PLAIN
    kept_texts = {CALIBRATION} if form is None else {CALIBRATION, KEYWORD}
    if form is not None and len(_description(picture)) <= _MOST_DESCRIPTION:
        kept_texts.add(_DESCRIPTION)
    if any(keyword not in kept_texts for keyword, _ in metadata.text):
        pages.lose("text")
    if (own.slope, own.intercept) != (other.slope, other.intercept):
        pages.lose("calibration")
    elif form is None and _rounded(own, header):
        pages.lose("digits of the calibration")
    if own.window not in (None, other.window):
        pages.lose("window")
    pages.lose(*(name for name in ("unit", "padding") if getattr(own, name)))
    uneven = role == Role.SLICE and spacing(pages.book.facts) is None and len(pages) > 1
    if uneven and form is None:
        pages.lose("positions")
    if role == Role.PAGE:
        pages.lose_facts()
    elif role == Role.FRAME and len({*pages.book.facts}) > 1:
        pages.lose("durations")


def _rounded(calibration: Calibration, header: Any) -> bool:
    """Return whether the header has other numbers than the calibration."""
    slope, intercept = header.get_slope_inter()
    plain = (1.0 if slope is None else slope, 0.0 if intercept is None else intercept)
    return plain != (calibration.slope, calibration.intercept)
