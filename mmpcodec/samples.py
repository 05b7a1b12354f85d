"""What the codec takes as a picture: arrays of one to four planes, and their bits."""

from enum import IntEnum
from numbers import Integral
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE, sample_type
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, on_device
from mmpcodec.tools import MAX_DEPTH

MAX_DIMENSION = 1 << 24
"""Most pixels of a side that a file can state."""
_SUPPORTED = (
    "supported are (height, width) arrays, and (height, width, 2 to 4), of uint8 or uint16 with "
    "at least one pixel"
)


class Form(IntEnum):
    """What the samples of a pixel are, in their order."""

    GRAY = 0
    GRAY_ALPHA = 1
    RGB = 2
    RGB_ALPHA = 3

    @property
    def planes(self) -> int:
        """Samples of a pixel."""
        return self + 1

    @property
    def colours(self) -> int:
        """Samples of a pixel without alpha."""
        return 3 if self >= Form.RGB else 1

    @property
    def has_alpha(self) -> bool:
        """Whether a pixel has alpha."""
        return self.planes > self.colours

    @property
    def title(self) -> str:
        """For people."""
        return ("gray", "gray and alpha", "RGB", "RGB and alpha")[self]


def form_of(samples: Any) -> Form:
    """The form of (H, W) or (H, W, 2 to 4) samples."""
    return Form(samples.shape[2] - 1 if samples.ndim == 3 else 0)


def check_picture(array: Any, depth: int | None = None) -> tuple[Any, int]:
    """The array as the codec takes it, and its bits per sample.

    Parameters
    ----------
    array : array-like
        (H, W) or (H, W, C), C from 2 to 4, of uint8 or uint16; what ``as_array`` takes.
    depth : int or None
        Bits of a sample; None takes all that the type has.

    Returns
    -------
    array : array in C order
        Where it lay: a CuPy array stays on its device.
    depth : int

    Raises
    ------
    ParameterError
        For another array, another depth than the type can hold, or a sample beyond it.
    """
    array = as_array("picture", array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    kinds = {np.dtype(np.uint8): BYTE, np.dtype(np.uint16): MAX_DEPTH}
    shaped = array.ndim == 2 or (array.ndim == 3 and 2 <= array.shape[2] <= len(Form))
    if array.dtype not in kinds or not shaped or array.size == 0:
        raise ParameterError(f"picture of shape {array.shape} and type {array.dtype}: {_SUPPORTED}")
    if max(array.shape[:2]) > MAX_DIMENSION:
        raise ParameterError(
            f"picture of shape {array.shape}: at most {MAX_DIMENSION} pixels a side"
        )
    most = kinds[array.dtype]
    if depth is None:
        depth = most
    if isinstance(depth, bool) or not isinstance(depth, Integral) or not 1 <= depth <= most:
        raise ParameterError(f"depth = {depth!r}: must be from 1 to {most} for {array.dtype}")
    depth = int(depth)
    if depth < most and int(array.max()) >> depth:
        raise ParameterError(
            f"depth = {depth}: the picture has a sample of {int(array.max())}, allowed is 0 to "
            f"{(1 << depth) - 1}"
        )
    if array.dtype != sample_type(depth):
        array = array.astype(sample_type(depth))
    return array if on_device(array) else np.ascontiguousarray(array), depth


def to_planes(array: np.ndarray) -> np.ndarray:
    """(C, H, W) uint16 array of a picture; of colours green comes first, alpha last."""
    planes = array[None] if array.ndim == 2 else np.moveaxis(array, 2, 0)
    if len(planes) >= 3:
        planes = planes[[1, 0, *range(2, len(planes))]]
    return np.ascontiguousarray(planes, np.uint16)


def from_planes(planes: np.ndarray, depth: int) -> np.ndarray:
    """The picture that ``to_planes`` was given: uint8 up to 8 bits, else uint16."""
    if len(planes) >= 3:
        planes = planes[[1, 0, *range(2, len(planes))]]
    array = planes[0] if len(planes) == 1 else np.moveaxis(planes, 0, 2)
    return np.ascontiguousarray(array, sample_type(depth))
