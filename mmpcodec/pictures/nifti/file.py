"""Read the slices of NIfTI volumes. nibabel reads the header.

Source: https://nifti.nimh.nih.gov/nifti-1 and nifti-2.
"""

import io
import math
import os
import threading
from contextlib import ExitStack, closing
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Calibration, Metadata, Resolution, fitted
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size, chosen, damaged, library, one_line, say
from mmpcodec.pictures.magics.nifti import GZIP, MAGIC_AT_2, MAGICS, MAGICS_2
from mmpcodec.pictures.nifti.levels import StoredLevels, levels_of
from mmpcodec.pictures.nifti.stored_form import SPACES, StoredForm
from mmpcodec.pictures.nifti.unpacked import Unpacked

_HEADER, _HEADER_2 = 348, 540
_NANOMETRES = {"mm": 10**6, "meter": 10**9, "micron": 10**3, "unknown": 10**6}
_SECONDS = {"sec": 1, "msec": 1000, "usec": 10**6, "unknown": 1}
_UNREAD = ("intent_code", "intent_name", "aux_file", "db_name", "slice_code", "toffset")
_COLOURS = (("R", "G", "B"), ("R", "G", "B", "A"))
_NEAR = 1e-4
_MOST_AXES = 4
_MOST_TIME = 10**6


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a slice.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or of a kind that is not supported.
    MissingExtra
        If nibabel is not installed.
    """
    with book(data, name, limits) as found:
        return found.read(chosen(found.count, page, name, thing="slices"))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its slices along the third axis; of one slice, as frames.

    A row of a picture runs along the first axis, and rows follow along the second, as stored.
    Samples that are signed or floating-point are looked through once to find their range. A file in
    gzip is unpacked once, beyond 64 MiB into a temporary file.

    Raises
    ------
    PictureError, MissingExtra
        See ``read``.
    """
    nibabel = library("nibabel", "NIfTI", name, extra="nifti")
    with ExitStack() as stack:
        stream: BinaryIO = (
            io.BytesIO(source)
            if isinstance(source, bytes)
            else stack.enter_context(open(source, "rb"))
        )
        is_packed = stream.read(len(GZIP)) == GZIP
        held = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        unpacked = stack.enter_context(closing(Unpacked(stream))) if is_packed else stream
        volume = _Volume(nibabel, unpacked, name, limits, None if is_packed else held)
        levels = volume.levels()
        close = stack.pop_all().close
    role, facts = volume.places()
    metadata = volume.metadata(levels)

    def read_slice(number: int) -> Picture:
        stored = volume.slice(number)
        return Picture(levels.samples(stored), levels.depth, metadata)

    return Book(name, volume.count, read_slice, role, facts, close=close)


class _Volume:
    """An opened volume.

    Parameters
    ----------
    nibabel : module
    stream : binary stream or Unpacked
    name : str
    limits : DecodeLimits
    held : int or None
        Bytes of the stream; None if that is unknown.

    Attributes
    ----------
    count : int
        Number of slices.
    """

    def __init__(
        self,
        nibabel: Any,
        stream: BinaryIO | Unpacked,
        name: str,
        limits: DecodeLimits,
        held: int | None,
    ):
        self._stream, self._name, self._lock = stream, name, threading.Lock()
        head = stream.read(_HEADER_2)
        if any(head.startswith(magic, MAGIC_AT_2) for magic in MAGICS_2):
            kind, size, paired = nibabel.Nifti2Header, _HEADER_2, MAGICS_2[1]
            is_pair = head.startswith(paired, MAGIC_AT_2)
        else:
            kind, size, paired = nibabel.Nifti1Header, _HEADER, MAGICS[1]
            is_pair = head[344:348] == paired
        if is_pair:
            raise PictureError(
                f"{name}: is the header of a pair of files; nibabel.save(nibabel.load(name), "
                "'one.nii') makes one file of them"
            )
        self._header = kind(head[:size], check=False)
        if head[size : size + 1] not in (b"", b"\0"):
            leave_out(name, "header extensions")
        self.shape = self._shape()
        self._kind = self._type()
        self.count = math.prod(self.shape[2:])
        width, height = self.shape[:2]
        self._planes = len(self._kind.names or "1")
        check_size(width, height, self._planes, name, limits)
        self._size = width * height * self._kind.itemsize
        self._start = self._header["vox_offset"].item()
        if not self._start >= size or self._start != int(self._start):
            raise damaged(name, f"its samples begin at byte {self._start}, in its header")
        self._start = int(self._start)
        needed = self._start + self.count * self._size
        if held is not None and held < self._start + self._size:
            raise damaged(name, f"holds {held} bytes, {needed} are needed")
        fields = [field for field in _UNREAD if field in self._header.keys()]  # noqa: SIM118
        unread = [field for field in fields if np.any(self._header[field])]
        if unread:
            leave_out(name, "other fields", ", ".join(unread))

    def _shape(self) -> tuple[int, ...]:
        """Return the lengths of two to four axes; further ones have one voxel."""
        shape = tuple(int(side) for side in self._header.get_data_shape())
        if any(side < 1 for side in shape) or len(shape) < 2:
            raise damaged(self._name, f"has axes of {shape} voxels")
        if math.prod(shape[_MOST_AXES:]) > 1:
            raise PictureError(
                f"{self._name}: holds {len(shape)} axes of {shape} voxels; supported are 2 to 4, "
                "so save each value of the last axes as a volume of its own"
            )
        return shape[:_MOST_AXES]

    def _type(self) -> np.dtype:
        kind = self._header.get_data_dtype()
        known = kind.kind in "iuf" and kind.itemsize <= 8
        if not known and kind.names not in _COLOURS:
            raise PictureError(
                f"{self._name}: holds samples of type {one_line(str(kind))}; supported are real "
                "numbers of up to 64 bits, RGB and RGBA of 8 bits"
            )
        return kind

    def slice(self, number: int) -> np.ndarray:
        """Return the stored samples of a slice, (H, W) or (H, W, C).

        Raises
        ------
        EOFError
            If the file ends before.
        """
        with self._lock:
            self._stream.seek(self._start + number * self._size)
            data = self._stream.read(self._size)
        if len(data) < self._size:
            raise EOFError(f"the file ends in slice {number + 1} of {self.count}")
        width, height = self.shape[:2]
        if self._planes > 1:
            return np.frombuffer(data, np.uint8).reshape(height, width, self._planes)
        return np.frombuffer(data, self._kind).reshape(height, width)

    def levels(self) -> StoredLevels:
        """Return how stored samples become samples."""
        if self._planes > 1:
            return StoredLevels(0, 8)
        return levels_of(self._kind, self.count, self.slice, self._name)

    def places(self) -> tuple[Role, list[tuple[int, ...]]]:
        """Return what the pictures are, and the position or duration of each."""
        slices, times = (*self.shape[2:], 1, 1)[:2]
        zooms = self._header.get_zooms()
        if slices == 1 and times > 1:
            parts = _SECONDS.get(self._units()[1], 1)
            seconds = _exact(zooms[3]) / parts if len(zooms) > 3 else Fraction(0)
            seconds = max(seconds, Fraction(0)).limit_denominator(_MOST_TIME)
            return Role.FRAME, [(seconds.numerator, seconds.denominator)] * times
        if self.count == 1:
            return Role.PAGE, []
        if times > 1:
            say(
                self._name,
                f"holds {times} volumes of {slices} slices, which are read one after the other",
            )
        first, step = self._positions()
        places: list[tuple[int, ...]] = [(first + number * step,) for number in range(slices)]
        return Role.SLICE, places * times

    def _positions(self) -> tuple[int, int]:
        """Return the position of the first slice along their normal and the step, in nanometres."""
        unit = _NANOMETRES[self._units()[0]]
        zooms = self._header.get_zooms()
        step = round(_exact(zooms[2]) * unit) if len(zooms) > 2 else 0
        affine, _ = self._affine()
        if affine is None:
            return 0, step
        normal = np.cross(affine[:3, 0], affine[:3, 1])
        length = float(np.linalg.norm(normal))
        if not length:
            return 0, step
        along, start = (float(affine[:3, axis] @ normal) / length for axis in (2, 3))
        if along < 0:
            along, start = -along, -start
        # The spacing in the header has fewer digits, which are those that were meant.
        if abs(along * unit - step) > _NEAR * max(step, 1):
            step = round(along * unit)
        return round(start * unit), step

    def _affine(self) -> tuple[np.ndarray | None, str]:
        """Return the matrix from voxels to space, if the file has one, and its kind."""
        header = self._header
        for code, matrix in (
            (int(header["sform_code"]), header.get_sform),
            (int(header["qform_code"]), header.get_qform),
        ):
            if code > 0:
                try:
                    found = matrix()
                except Exception:  # a quaternion of no rotation
                    continue
                if np.isfinite(found).all():
                    return found, SPACES[code] if code < len(SPACES) else SPACES[0]
        return None, SPACES[0]

    def _units(self) -> tuple[str, str]:
        try:
            space, time = self._header.get_xyzt_units()
        except KeyError:
            return "unknown", "unknown"
        return space, time

    def _zooms(self) -> tuple[float, ...]:
        """Return the size of a voxel along each axis, in the digits of the header."""
        zooms = [max(float(_exact(zoom)), 0.0) for zoom in self._header.get_zooms()]
        return tuple(zooms[: len(self.shape)])

    def metadata(self, levels: StoredLevels) -> Metadata:
        """Return resolution, calibration and the text of the header, which all slices share."""
        header = self._header
        slope, intercept = header.get_slope_inter()
        affine, space = self._affine()
        form = StoredForm(
            self.shape,
            self._kind.name if self._planes == 1 else "".join(self._kind.names or ()),
            self._zooms(),
            levels.shift,
            self._units(),
            None if slope is None else float(slope),
            None if slope is None else float(intercept),
            None if affine is None else tuple(map(tuple, affine[:3].tolist())),
            space,
        )
        texts = [form.text()]
        said = bytes(header["descrip"].item()).rstrip(b"\0").decode("latin-1").strip()
        if said:
            texts.append(("Description", said))
        calibration = self._calibration(levels, slope, intercept)
        if calibration is not None:
            texts.append(calibration.text())
        return Metadata(resolution=self._resolution(), text=tuple(texts))

    def _calibration(
        self, levels: StoredLevels, slope: float | None, intercept: float | None
    ) -> Calibration | None:
        """Return what samples mean; None if they are the values."""
        if self._planes > 1:
            return None
        slope = 1.0 if slope is None else float(slope)
        start = float(intercept or 0.0) + slope * levels.shift
        low, high = (float(self._header[field]) for field in ("cal_min", "cal_max"))
        window = (low, high) if low < high else None
        if (slope, start, window) == (1.0, 0.0, None):
            return None
        try:
            return Calibration(slope, start, window=window)
        except ParameterError as error:
            raise damaged(self._name, str(error)) from error

    def _resolution(self) -> Resolution | None:
        """Return the pixels per metre; None if the header gives no size of a voxel."""
        sides = [_exact(zoom) for zoom in self._header.get_zooms()[:2]]
        if len(sides) < 2 or min(sides) <= 0:
            return None
        unit = Fraction(_NANOMETRES[self._units()[0]], 10**9)
        x, y = (fitted(1 / (side * unit)) for side in sides)
        return Resolution(x, y, "metre") if min(x, y) > 0 else None


def _exact(value: Any) -> Fraction:
    """Return a number of the header as it is written in decimal digits; 0 if it is none."""
    return Fraction(str(value)) if np.isfinite(value) else Fraction(0)
