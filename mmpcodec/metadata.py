"""stub"""
from dataclasses import dataclass
from fractions import Fraction
from mmpcodec.errors import ParameterError

@dataclass(frozen=True)
class Resolution:
    x: Fraction
    y: Fraction
    unit: str = "inch"

@dataclass(frozen=True)
class Metadata:
    icc: bytes = b""
    exif: bytes = b""
    xmp: bytes = b""
    resolution: Resolution | None = None
    text: tuple[tuple[str, str], ...] = ()
    white: int | None = None
