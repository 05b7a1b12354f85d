"""What a picture file says besides its samples: colour profile, EXIF, XMP, resolution, texts."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError

Unit = Literal["none", "inch", "centimetre", "metre"]
_IN_A_METRE = {"inch": Fraction(10000, 254), "centimetre": Fraction(100), "metre": Fraction(1)}

KINDS = ("icc", "exif", "xmp", "resolution", "text")
"""Names of what ``Metadata.without`` can leave out."""

ALL = "all"
MAX_WHITE = 65535


@dataclass(frozen=True)
class Resolution:
    """Pixels per unit of length.

    Parameters
    ----------
    x, y : Fraction
        Pixels per unit along a row and along a column, above 0.
    unit : {"none", "inch", "centimetre", "metre"}
        "none" says only how x and y are to each other: the shape of a pixel.

    Raises
    ------
    ParameterError
        For a value of another kind.
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

    def per_metre(self) -> tuple[Fraction, Fraction] | None:
        """Pixels per metre, exactly; None where the unit is "none"."""
        factor = _IN_A_METRE.get(self.unit)
        return None if factor is None else (self.x * factor, self.y * factor)


@dataclass(frozen=True)
class Metadata:
    """What a file says besides the samples; none of it changes them.

    Parameters
    ----------
    icc : bytes
        ICC profile; empty where there is none, as are the next two.
    exif : bytes
        EXIF as a TIFF structure, without the prefix that JPEG files have. An orientation in it is
        only carried: samples are never turned.
    xmp : bytes
        XMP packet, UTF-8.
    resolution : Resolution or None
    text : tuple of (str, str)
        Keywords and texts, in the order of the file; a keyword may come again.
    white : int or None
        Level shown as white, 1 to 65535, where that is not the largest that the bits can hold.

    Raises
    ------
    ParameterError
        For a value of another kind.
    """

    icc: bytes = b""
    exif: bytes = b""
    xmp: bytes = b""
    resolution: Resolution | None = None
    text: tuple[tuple[str, str], ...] = ()
    white: int | None = None

    def __post_init__(self):
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
                raise ParameterError(f"text = {entry!r}: must have no surrogates")
        if self.white is not None:
            white = check_int("white", self.white, 1, MAX_WHITE, ", or None")
            object.__setattr__(self, "white", white)

    def at_depth(self, depth: int) -> "Metadata":
        """The same without a white that samples of so many bits cannot reach."""
        return replace(self, white=None) if self.white and self.white >> depth else self

    def kinds(self) -> tuple[str, ...]:
        """Names of what is there, of ``KINDS``."""
        return tuple(name for name in KINDS if getattr(self, name))

    def without(self, *kinds: str) -> "Metadata":
        """The same with some kinds left out.

        ``white`` stays: it is what the samples mean.

        Parameters
        ----------
        *kinds : str
            Of ``KINDS``, or "all".

        Raises
        ------
        ParameterError
            For another name.
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
    """Whether there is what UTF-8 cannot hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)
