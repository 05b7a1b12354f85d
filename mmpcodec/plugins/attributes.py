"""Depth and metadata of a picture as plain values, for libraries that keep attributes of arrays."""

from typing import Any

from mmpcodec.metadata import CALIBRATION
from mmpcodec.picture import Reader
from mmpcodec.pictures.mmp.stack import MmpStack
from mmpcodec.samples import Form

ALPHA = "alpha"
_COLOURS = {1: ["gray"], 3: ["red", "green", "blue"]}


def form_of(reader: Reader | MmpStack) -> Form:
    """Return the form of a picture: gray or RGB, with or without alpha."""
    shape = reader.shape[1:] if isinstance(reader, MmpStack) else reader.shape
    return Form(shape[2] - 1 if len(shape) == 3 else 0)


def channels_of(reader: Reader | MmpStack) -> list[str]:
    """Return the names of the planes: "gray" or "red", "green", "blue", then perhaps "alpha"."""
    form = form_of(reader)
    return [*_COLOURS[form.colours], *([ALPHA] if form.has_alpha else [])]


def attributes_of(reader: Reader | MmpStack) -> dict[str, Any]:
    """Return what a file says about its samples, as numbers, text and lists of them.

    Returns
    -------
    dict of str
        ``depth``, bits per sample; ``white``, the sample that is shown as white; ``form``, such as
        "RGB with alpha". If the file has them: ``resolution``, [x, y] in pixels per
        ``resolution_unit``; ``slope``, ``intercept``, ``unit``, ``window`` and ``padding`` of its
        calibration; ``text``, a list of "keyword: text". ICC profile, EXIF and XMP are left out.
    """
    metadata = reader.metadata
    found: dict[str, Any] = {
        "depth": reader.depth,
        "white": metadata.white or (1 << reader.depth) - 1,
        "form": form_of(reader).title,
    }
    if resolution := metadata.resolution:
        found["resolution"] = [float(resolution.x), float(resolution.y)]
        found["resolution_unit"] = resolution.unit
    if calibration := metadata.calibration:
        found["slope"], found["intercept"] = calibration.slope, calibration.intercept
        found["unit"] = calibration.unit
        if calibration.window:
            found["window"] = list(calibration.window)
        if calibration.padding:
            found["padding"] = list(calibration.padding)
    text = [f"{keyword}: {said}" for keyword, said in metadata.text if keyword != CALIBRATION]
    return {**found, "text": text} if text else found
