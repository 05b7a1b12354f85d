"""What the samples of a DICOM frame measure: values, window, padding and the spacing of pixels."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mmpcodec.errors import ParameterError
from mmpcodec.metadata import MOST_PART, MOST_VALUE, Calibration, Resolution, fitted
from mmpcodec.pictures.limits import one_line

RESCALE, WINDOW, SPACING = (
    "PixelValueTransformationSequence",
    "FrameVOILUTSequence",
    "PixelMeasuresSequence",
)
READ = (RESCALE, WINDOW, SPACING, "PlanePositionSequence", "PlaneOrientationSequence")
"""The functional groups that are read, by the keywords of their sequences."""

SHARED, PER_FRAME = "SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"
_SPACINGS = ("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing")
_LEAST_SPACING, _MOST_SPACING = 1000 / MOST_PART, 1e9  # mm
_UNSPECIFIED = "US"  # unit of rescaled values


class FrameFacts:
    """The attributes of a frame that tell what its samples measure.

    An attribute of the frame's own functional groups comes before one of the groups that all frames
    share, and that before one of the file.

    Parameters
    ----------
    file : pydicom.Dataset
    frame : int
        Number of the frame, from 0 up.
    wrong : list of str
        Takes the attributes whose values are no valid ones, as "keyword = value".
    """

    def __init__(self, file: Any, frame: int, wrong: list[str]):
        self.frame, self.wrong = frame, wrong
        self._file = file
        own, shared = items_of(file, PER_FRAME), items_of(file, SHARED)
        self._groups = [*own[frame : frame + 1], *shared[:1]]

    def other_groups(self) -> list[str]:
        """Return the keywords of the functional groups that are not read."""
        found = (each.keyword or str(each.tag) for group in self._groups for each in group)
        return [keyword for keyword in dict.fromkeys(found) if keyword not in READ]

    def calibration(self, bits: int, signed: bool, inverted: bool) -> Calibration | None:
        """Return what samples measure; None if the file says nothing of it.

        Parameters
        ----------
        bits : int
            Bits per sample.
        signed : bool
            Whether 2^(bits - 1) was added to the stored levels.
        inverted : bool
            Whether the levels were then subtracted from the largest one.
        """
        offset, white = 1 << (bits - 1) if signed else 0, (1 << bits) - 1
        rescale = self._rescale()
        slope, intercept, unit = rescale or (1.0, 0.0, "")
        # A window of values that are unknown is of no use.
        window = self._window() if rescale is not None else None
        padding = self._padding(offset, white if inverted else None, white)
        if not (self._is_rescaled() and rescale) and not (offset or window or padding):
            return None
        # Stored level = sample - offset, or white - sample - offset.
        intercept -= slope * offset
        if inverted:
            intercept, slope = intercept + slope * white, -slope
        try:
            return Calibration(slope, intercept, unit, window, padding)
        except ParameterError:
            self._drop(self._group(RESCALE), "RescaleSlope")
            return None

    def resolution(self) -> Resolution | None:
        """Return the pixels per metre, from the spacing of rows and columns in mm."""
        group = self._group(SPACING)
        places = [(self._file, name) for name in _SPACINGS]
        if group is not self._file:
            places.insert(0, (group, _SPACINGS[0]))
        for place, keyword in places:
            spacing = value_of(place, keyword)
            if spacing is None:
                continue
            # A file may break the rule that there are two.
            if isinstance(spacing, Sequence) and not isinstance(spacing, str) and len(spacing) == 2:
                said = [str(number).strip() for number in spacing]
                # A fraction of 1e99999999 would have as many digits.
                if all(_LEAST_SPACING < _number(number) < _MOST_SPACING for number in said):
                    rows, columns = (fitted(1000 / Fraction(number)) for number in said)
                    return Resolution(columns, rows, "metre")
            self._drop(place, keyword)
        return None

    def _group(self, keyword: str) -> Any:
        """Return the data set of a functional group, or the file if it has no such group."""
        for group in self._groups:
            items = items_of(group, keyword)
            if items:
                return items[0]
        return self._file

    def _is_rescaled(self) -> bool:
        group = self._group(RESCALE)
        return any(
            value_of(group, each) is not None for each in ("RescaleSlope", "RescaleIntercept")
        )

    def _rescale(self) -> tuple[float, float, str] | None:
        """Return slope, intercept and unit; None if they are no numbers."""
        group = self._group(RESCALE)
        slope, intercept = value_of(group, "RescaleSlope"), value_of(group, "RescaleIntercept")
        numbers = []
        for keyword, value, usual in (
            ("RescaleSlope", slope, 1.0), ("RescaleIntercept", intercept, 0.0),
        ):  # fmt: skip
            number = usual if value is None else _number(value)
            if not abs(number) <= MOST_VALUE or (not number and usual):
                self._drop(group, keyword)
                return None
            numbers.append(number)
        unit = str(value_of(group, "RescaleType") or "")
        if self._is_rescaled() and not unit and value_of(self._file, "Modality") == "CT":
            unit = "HU"
        return numbers[0], numbers[1], "" if unit == _UNSPECIFIED else unit

    def _window(self) -> tuple[float, float] | None:
        """Return the values that the first window shows black and white.

        Source: PS3.3, C.11.2.1.2.
        """
        group = self._group(WINDOW)
        names = ("WindowCenter", "WindowWidth")
        said = [_first(value_of(group, name)) for name in names]
        if said == [None, None]:
            return None
        centre, width = (math.nan if each is None else _number(each) for each in said)
        if str(value_of(group, "VOILUTFunction") or "LINEAR") == "LINEAR":
            centre, width = centre - 0.5, width - 1
        ends = centre - width / 2, centre + width / 2
        if ends[0] < ends[1] and all(abs(each) <= MOST_VALUE for each in ends):
            return ends
        self._drop(group, *(name for name, each in zip(names, said, strict=True) if each))
        return None

    def _padding(
        self, offset: int, inverted_from: int | None, white: int
    ) -> tuple[int, int] | None:
        """Return the first and the last sample that is padding. Source: PS3.3, C.7.5.1.1.2."""
        names = ("PixelPaddingValue", "PixelPaddingRangeLimit")
        said = [value_of(self._file, name) for name in names]
        if said[0] is None:
            return None
        samples = []
        for name, value in zip(names, said, strict=True):
            if value is None:
                continue
            if not isinstance(value, int):
                self._drop(self._file, name)
                return None
            # The value may be written with or without a sign, whatever the samples have.
            sample = (value + offset) & white
            samples.append(sample if inverted_from is None else inverted_from - sample)
        return min(samples), max(samples)

    def _drop(self, place: Any, *keywords: str) -> None:
        for keyword in keywords:
            value = one_line(str(_raw(place, keyword)))
            self.wrong.append(f"{keyword} = {value}")


def items_of(place: Any, keyword: str) -> Sequence[Any]:
    """Return the items of a sequence; none if the element is missing or no sequence."""
    from pydicom import Sequence as Items

    found = value_of(place, keyword)
    return found if isinstance(found, Items) else ()


def value_of(place: Any, keyword: str) -> Any:
    """Return the value of an element as pydicom reads it, or as text; None if it has none."""
    found = _raw(place, keyword)
    return None if found is None or found == "" or found == b"" else found


def _raw(place: Any, keyword: str) -> Any:
    from pydicom.tag import Tag

    if keyword not in place:
        return None
    try:
        return place.get(keyword)
    except (ValueError, TypeError, OverflowError, NotImplementedError):  # no such value
        found = place.get_item(Tag(keyword)).value
        return found.decode("latin-1").strip() if isinstance(found, bytes) else found


def _number(value: Any) -> float:
    """Return a value as a number; NaN if it is none."""
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _first(value: Any) -> Any:
    """Return the first number of an element that may hold several."""
    several = hasattr(value, "__len__") and not isinstance(value, str)
    return (value[0] if len(value) else None) if several else value
