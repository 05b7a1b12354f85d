"""Whether an ICC profile fits the colours of a picture. Source: ICC.1:2022, section 7.2."""

from dataclasses import replace

from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.left_out import leave_out

_SIGNATURE_AT, _SPACE_AT = 36, 16
_COLOURS = {b"GRAY": 1, b"RGB ": 3, b"Lab ": 3, b"XYZ ": 3, b"YCbr": 3, b"CMYK": 4}
"""Colours of a pixel, by the data colour space of a profile."""


def fits(icc: bytes, colours: int) -> bool:
    """Return whether a profile is one for pixels of ``colours`` colours, 1 or 3.

    Bytes that are no profile, or of a space that is not known, are kept as they are.
    """
    if icc[_SIGNATURE_AT : _SIGNATURE_AT + 4] != b"acsp":
        return True
    return _COLOURS.get(icc[_SPACE_AT : _SPACE_AT + 4], colours) == colours


def with_fitting_profile(picture: Picture, name: str) -> Picture:
    """Return a picture that was read, without a profile of another number of colours."""
    metadata = fitting(picture.metadata, colours_of(picture), name)
    return picture if metadata is picture.metadata else replace(picture, metadata=metadata)


def fitting(metadata: Metadata, colours: int, name: str) -> Metadata:
    """Return metadata of a file without a profile for another number than ``colours``, 1 or 3."""
    icc = metadata.icc
    if fits(icc, colours):
        return metadata
    space = icc[_SPACE_AT : _SPACE_AT + 4].decode("latin-1").strip()
    kind = "gray" if colours == 1 else "RGB"
    leave_out(name, "profile of other colours", f"{space} for {kind}")
    return metadata.without("icc")


def colours_of(picture: Picture) -> int:
    """Return the colours of a pixel, without alpha: 1 or 3."""
    return 1 if picture.planes < 3 else 3
