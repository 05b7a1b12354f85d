"""Images of Pillow as arrays: samples that mean gray or colours, never indices."""

import sys
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError

_KEPT = ("1", "L", "LA", "RGB", "RGBA", "I", "F")
_CONVERTED = {"La": "LA", "RGBa": "RGBA", "RGBX": "RGB"}
"""Modes whose samples are those of another mode, multiplied by alpha or with a byte of padding."""
_OPAQUE = {"1": "LA", "L": "LA", "RGB": "RGBA"}
"""Modes in which a colour can be transparent, and the mode with alpha."""


def is_image(values: Any) -> bool:
    """Return whether the values are an image of Pillow, without an import of Pillow."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(values, module.Image)


def samples_of(name: str, image: Any) -> np.ndarray:
    """Return the samples of an image of Pillow; palettes and transparent colours are applied.

    Parameters
    ----------
    name : str
        Name of the argument in errors.
    image : PIL.Image.Image

    Returns
    -------
    (H, W) or (H, W, 2 to 4) array
        Of bool for mode 1, uint8, uint16 for I;16, int32 for I, float32 for F.

    Raises
    ------
    ParameterError
        If the samples of the mode are neither gray nor red, green and blue.
    """
    with_samples = with_colours(image)
    if with_samples is None:
        raise ParameterError(f"{name}: image of mode {image.mode}: {supported_modes(image.mode)}")
    return np.asarray(with_samples)


def supported_modes(mode: str) -> str:
    """Return the modes of Pillow that can be coded, and what makes one of another mode."""
    if mode in ("I", "F"):
        advice = "Image.fromarray(np.asarray(image).astype(np.uint16)) gives I;16, if it holds them"
    elif mode == "LAB":
        advice = "PIL.ImageCms.profileToProfile gives RGB"
    else:
        advice = 'image.convert("RGB") gives RGB'
    return f"supported are 1, L, LA, La, P, PA, RGB, RGBA, RGBa, RGBX and I;16; {advice}"


def with_colours(image: Any) -> Any:
    """Return an image of Pillow in a mode of gray or RGB, or None if that would change colours."""
    transparent = image.has_transparency_data
    if image.mode in ("P", "PA"):
        return image.convert("RGBA" if transparent else "RGB")
    if image.mode in _CONVERTED:
        return image.convert(_CONVERTED[image.mode])
    if transparent and image.mode in _OPAQUE:
        return image.convert(_OPAQUE[image.mode])
    return image if image.mode in _KEPT or image.mode.startswith("I;16") else None
