"""Metadata of pictures: profile, EXIF, XMP, resolution, texts, colours and the level of white."""

import json
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from mmpcodec.checks import check_int, check_range
from mmpcodec.errors import ParameterError

Unit = Literal["none", "inch", "centimetre", "metre"]
_IN_A_METRE = {"inch": Fraction(10000, 254), "centimetre": Fraction(100), "metre": Fraction(1)}

KINDS = ("icc", "exif", "xmp", "resolution", "text", "colours", "dicom")
"""Kinds of metadata that ``Metadata.without`` can remove."""

MOST_VALUE = 1e300
"""Largest number of a calibration."""
CALIBRATION = "Calibration"
"""Keyword of the text that tells what samples measure."""

MOST_OF_PNG = (1 << 31) - 1
PRIMARIES = {1: "BT.709", 9: "BT.2020", 11: "DCI P3", 12: "Display P3"}
TRANSFERS = {1: "BT.709", 8: "linear", 13: "sRGB", 16: "PQ", 18: "HLG"}
"""Names of some code points of ITU-T H.273."""

ALL = "all"
MAX_SAMPLE = 65535


MOST_PART = (1 << 32) - 1
"""Largest numerator and denominator of a resolution that files hold."""


def fitted(value: Fraction) -> Fraction:
    """Return the nearest fraction whose parts are at most ``MOST_PART``, if there is one."""
    return value.limit_denominator(max(1, int(MOST_PART / max(value, Fraction(1)))))


@dataclass(frozen=True)
class Resolution:
    """Pixels per unit of length.

    Parameters
    ----------
    x, y : Fraction
        Pixels per unit along a row and along a column, above 0.
    unit : {"none", "inch", "centimetre", "metre"}
        With "none", x and y give only the aspect ratio of a pixel.

    Raises
    ------
    ParameterError
        If a value is of another type or out of range.
    """

    x: Fraction
    y: Fraction
    unit: Unit = "inch"

    def __post_init__(self):
        for name in ("x", "y"):
            value = getattr(self, name)
            if not isinstance(value, Fraction) or value <= 0:
                raise ParameterError(f"resolution {name} = {value!r}: must be a Fraction above 0")
        if self.unit not in get_args(Unit):
            raise ParameterError(
                f"resolution unit = {self.unit!r}: must be one of {', '.join(get_args(Unit))}"
            )

    def millimetres(self) -> tuple[float, float] | None:
        """Return the width and height of a pixel in mm; None if the unit is "none"."""
        found = self.per_metre()
        return None if found is None else (float(1000 / found[0]), float(1000 / found[1]))

    def per_metre(self) -> tuple[Fraction, Fraction] | None:
        """Return the exact pixels per metre, (x, y); None if the unit is "none"."""
        factor = _IN_A_METRE.get(self.unit)
        return None if factor is None else (self.x * factor, self.y * factor)


@dataclass(frozen=True)
class Colours:
    """Colours given by numbers in place of a profile.

    Parameters
    ----------
    primaries, transfer : int
        Code points of ITU-T H.273, 0 to 255; 2 is unspecified.
    full_range : bool
        Whether black is 0 and white the largest level.
    gamma : int
        Exponent from samples to light times 100000, as in PNG; 0 is unspecified.
    chromaticities : tuple of int
        x and y of white, red, green and blue times 100000; empty if unspecified.

    Raises
    ------
    ParameterError
        If a number is out of range, or there are not 0 or 8 chromaticities.
    """

    primaries: int = 2
    transfer: int = 2
    full_range: bool = True
    gamma: int = 0
    chromaticities: tuple[int, ...] = ()

    def __post_init__(self):
        check_int("primaries", self.primaries, 0, 255)
        check_int("transfer", self.transfer, 0, 255)
        check_int("gamma", self.gamma, 0, MOST_OF_PNG)
        if len(self.chromaticities) not in (0, 8):
            raise ParameterError(f"chromaticities = {self.chromaticities!r}: must be 0 or 8")
        for number in self.chromaticities:
            check_int("chromaticity", number, 0, MOST_OF_PNG)

    def text(self) -> str:
        """Return the colours in words."""
        parts = []
        if (self.primaries, self.transfer) != (2, 2):
            named = PRIMARIES.get(self.primaries), TRANSFERS.get(self.transfer)
            for what, number, name in zip(
                ("primaries", "transfer"), (self.primaries, self.transfer), named, strict=True
            ):
                parts.append(f"{what} {number}" + (f" ({name})" if name else ""))
        parts += [] if self.full_range else ["narrow range"]
        parts += [f"gamma {self.gamma / 100000:g}"] if self.gamma else []
        if self.chromaticities:
            numbers = " ".join(f"{number / 100000:g}" for number in self.chromaticities)
            parts.append(f"white, red, green, blue at {numbers}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Calibration:
    """What samples measure: a value is slope times sample plus intercept.

    Parameters
    ----------
    slope, intercept : float
        From -1e300 to 1e300, so that all values are finite; the slope is not 0.
    unit : str
        Unit of the values: "HU" for Hounsfield units; empty if it is unknown.
    window : (float, float) or None
        Values that are shown black and white.
    padding : (int, int) or None
        First and last of the samples that fill the picture where nothing was measured, 0 to 65535.

    Raises
    ------
    ParameterError
        If a number is out of range.

    Examples
    --------
    >>> from mmpcodec.metadata import Calibration
    >>> Calibration(1.0, -1024.0, "HU").value(1064)
    40.0
    """

    slope: float = 1.0
    intercept: float = 0.0
    unit: str = ""
    window: tuple[float, float] | None = None
    padding: tuple[int, int] | None = None

    def __post_init__(self):
        numbers = (self.slope, self.intercept, *(self.window or ()))
        ordered = self.window is None or self.window[0] < self.window[1]
        if not all(abs(each) <= MOST_VALUE for each in numbers) or not self.slope or not ordered:
            raise ParameterError(
                f"calibration = {self!r}: must have numbers of at most {MOST_VALUE:g}, a slope "
                "other than 0 and a window that rises"
            )
        if self.padding is not None:
            low, high = (check_int("padding", each, 0, MAX_SAMPLE) for each in self.padding)
            if low > high:
                raise ParameterError(f"padding = {self.padding!r}: must not fall")

    def value(self, sample: float) -> float:
        """Return the value of a sample, or of a mean of samples."""
        return self.slope * sample + self.intercept

    def sample(self, value: float) -> float:
        """Return the sample of a value, which may lie between samples."""
        return (value - self.intercept) / self.slope

    def text(self) -> tuple[str, str]:
        """Return keyword and text, in JSON, that keep the calibration among metadata."""
        facts = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        return CALIBRATION, json.dumps(facts)

    @classmethod
    def of_text(cls, text: str) -> "Calibration | None":
        """Return the calibration in a text that ``text`` made; None for any other text."""
        try:
            facts = json.loads(text)
            slope, intercept = float(facts["slope"]), float(facts["intercept"])
            low_high = facts.get("window")
            window = None if low_high is None else (float(low_high[0]), float(low_high[1]))
            filled = facts.get("padding")
            padding = None if filled is None else (int(filled[0]), int(filled[1]))
            return cls(slope, intercept, str(facts.get("unit", "")), window, padding)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            return None


@dataclass(frozen=True)
class Metadata:
    """Metadata of a picture. They never change its samples.

    Parameters
    ----------
    icc : bytes
        ICC profile; empty if there is none.
    exif : bytes
        EXIF, a TIFF structure without the prefix of JPEG files; empty if there is none. An
        orientation stays in EXIF: the samples are not turned.
    xmp : bytes
        XMP packet in UTF-8; empty if there is none.
    resolution : Resolution or None
    text : tuple of (str, str)
        Pairs of keyword and text, in the order of the file. A keyword may occur several times.
    white : int or None
        Level that is shown as white, 1 to 65535. None means the largest level of the depth.
    range : (int, int) or None
        Levels that count as black and white where error and quality are measured, 0 to 65535, of
        a picture of more than 8 bits. None means all levels of the depth.
    colours : Colours or None
        Colours given by numbers; None for those of sRGB, or of the ICC profile.
    dicom : tuple of bytes
        Attributes of a DICOM file, as ``pictures.dicom.keeping`` makes them. They may name the
        patient: a reader gives them only on request.

    Raises
    ------
    ParameterError
        If a value is of another type or out of range.
    """

    icc: bytes = b""
    exif: bytes = b""
    xmp: bytes = b""
    resolution: Resolution | None = None
    text: tuple[tuple[str, str], ...] = ()
    white: int | None = None
    range: tuple[int, int] | None = None
    colours: Colours | None = None
    dicom: tuple[bytes, ...] = field(default=(), repr=False)

    def __post_init__(self):
        if not isinstance(self.dicom, tuple) or not all(
            isinstance(part, bytes) and part for part in self.dicom
        ):
            raise ParameterError("dicom: must be a tuple of bytes that are not empty")
        if not (self.colours is None or isinstance(self.colours, Colours)):
            raise ParameterError(f"colours = {self.colours!r}: must be Colours or None")
        for name in ("icc", "exif", "xmp"):
            if not isinstance(getattr(self, name), bytes):
                kind = type(getattr(self, name)).__name__
                raise ParameterError(f"{name} of type {kind}: must be bytes")
        if not (self.resolution is None or isinstance(self.resolution, Resolution)):
            raise ParameterError(f"resolution = {self.resolution!r}: must be Resolution or None")
        if not isinstance(self.text, tuple) or not all(map(_is_pair, self.text)):
            raise ParameterError(f"text = {self.text!r}: must be a tuple of (keyword, text)")
        for entry in self.text:
            if any(map(_has_surrogates, entry)):
                raise ParameterError(
                    f"text = {entry!r}: must have no surrogates, which UTF-8 cannot encode"
                )
        if self.white is not None:
            white = check_int("white", self.white, 1, MAX_SAMPLE, ", or None")
            object.__setattr__(self, "white", white)
        if self.range is not None:
            object.__setattr__(self, "range", check_range(self.range))

    @property
    def calibration(self) -> Calibration | None:
        """What the samples measure, if a text with the keyword "Calibration" says it."""
        said = next((said for keyword, said in self.text if keyword == CALIBRATION), None)
        return None if said is None else Calibration.of_text(said)

    def at_depth(self, depth: int) -> "Metadata":
        """Return these metadata, without levels of white and range beyond ``depth`` bits."""
        white = None if self.white and self.white >> depth else self.white
        levels = None if self.range and self.range[1] >> depth else self.range
        return replace(self, white=white, range=levels)

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of metadata that are not empty, in the order of ``KINDS``."""
        return tuple(name for name in KINDS if getattr(self, name))

    def without(self, *kinds: str) -> "Metadata":
        """Return these metadata without some kinds.

        ``white`` and ``range`` always stay, because they tell what the samples mean.

        Parameters
        ----------
        *kinds : {"icc", "exif", "xmp", "resolution", "text", "colours", "dicom", "all"}

        Raises
        ------
        ParameterError
            If a kind is unknown.
        """
        for kind in kinds:
            if kind not in (ALL, *KINDS):
                raise ParameterError(
                    f"metadata {kind!r}: must be one of {', '.join((ALL, *KINDS))}"
                )
        gone = KINDS if ALL in kinds else kinds
        empty: dict[str, Any] = {name: getattr(Metadata, name) for name in gone}
        return replace(self, **empty)


def _is_pair(entry: object) -> bool:
    return (
        isinstance(entry, tuple)
        and len(entry) == 2
        and all(isinstance(part, str) for part in entry)
    )


def _has_surrogates(text: str) -> bool:
    """Return whether UTF-8 cannot encode a text."""
    return any("\ud800" <= character <= "\udfff" for character in text)
