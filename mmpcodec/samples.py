"""The samples that the codec encodes: arrays of one to four planes, and bits of a sample."""

from enum import IntEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmpcodec.checks import check_int
from mmpcodec.depth import BYTE, MAX_DEPTH, sample_type
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.arrays import as_array, beside, on_device
from mmpcodec.runtime.images import is_image

MAX_DIMENSION = 1 << 24
"""Most pixels of a row or a column of a file."""
Samples: TypeAlias = NDArray[np.uint8 | np.uint16]
"""Samples in host memory, of shape (H, W) or (H, W, 2 to 4)."""
MOST_BITS = {np.dtype(bool): 1, np.dtype(np.uint8): BYTE, np.dtype(np.uint16): MAX_DEPTH}
"""Bits of a sample that each type can hold."""
_SUPPORTED = (
    "supported are (height, width) arrays, and (height, width, 1 to 4), of bool, uint8 or uint16 "
    "with at least one pixel"
)


_Encoded: TypeAlias = np.bool_ | np.uint8 | np.uint16


class HostArray(Protocol):
    """An array of NumPy, or of a library whose arrays become arrays of NumPy."""

    def __array__(self) -> NDArray[_Encoded]: ...


class DeviceArray(Protocol):
    """An array in the memory of a CUDA device, as of CuPy or PyTorch."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


SamplesLike: TypeAlias = NDArray[_Encoded] | HostArray | DeviceArray | memoryview
"""Samples that an encoder takes; see ``check_picture``."""


class Form(IntEnum):
    """The samples of a pixel, in their order. The value is the number in the header of a file."""

    GRAY = 0
    GRAY_ALPHA = 1
    RGB = 2
    RGB_ALPHA = 3

    @property
    def planes(self) -> int:
        """Number of samples of a pixel."""
        return self + 1

    @property
    def colours(self) -> int:
        """Number of samples of a pixel without alpha."""
        return 3 if self >= Form.RGB else 1

    @property
    def has_alpha(self) -> bool:
        """Whether a pixel has alpha."""
        return self.planes > self.colours

    @property
    def title(self) -> str:
        """The form in words, for messages."""
        return ("gray", "gray with alpha", "RGB", "RGB with alpha")[self]


def shape_of(height: int, width: int, planes: int) -> tuple[int, ...]:
    """Return the shape of an array of samples: (H, W), or (H, W, C) with 2 to 4 planes."""
    return (height, width, planes)[: 2 + (planes > 1)]


def form_of(samples: Any) -> Form:
    """Return the form of samples of shape (H, W) or (H, W, 2 to 4)."""
    return Form(samples.shape[2] - 1 if samples.ndim == 3 else 0)


def check_picture(array: Any, depth: int | None = None) -> tuple[Any, int]:
    """Return an array in the form that the codec encodes, and its bits of a sample.

    Parameters
    ----------
    array : array-like
        (H, W) or (H, W, C) samples, C from 1 to 4, of bool, uint8 or uint16; see ``as_array``. The
        palette and the transparent colour of an image of Pillow are applied.
    depth : int or None
        Bits of a sample; None takes all bits of the type, 1 for bool.

    Returns
    -------
    array : (H, W) or (H, W, 2 to 4) array in C order
        uint8 up to 8 bits, uint16 above; gray if C is 1. A CuPy array stays on its device.
    depth : int

    Raises
    ------
    ParameterError
        If the shape or type is another one, the type cannot hold the depth, or a sample has more
        bits than the depth.
    """
    if is_image(array) and array.mode in ("I", "F"):
        raise ParameterError(
            f"picture of mode {array.mode}: has samples of 32 bits; "
            "np.asarray(image).astype(np.uint16) gives 16, if 0 to 65535 holds them"
        )
    array = as_array("picture", array)
    with beside(array):
        return _checked(array, depth)


def _checked(array: Any, depth: int | None) -> tuple[Any, int]:
    """Check an array as ``check_picture`` does."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    shaped = array.ndim == 2 or (array.ndim == 3 and 1 <= array.shape[2] <= len(Form))
    if array.dtype not in MOST_BITS or not shaped or array.size == 0:
        several = "; mmpcodec.encode takes several pictures as a list, list(array)"
        raise ParameterError(
            f"picture of shape {array.shape} and type {array.dtype}: {_SUPPORTED}"
            f"{several * (array.ndim > 2)}"
        )
    if max(array.shape[:2]) > MAX_DIMENSION:
        raise ParameterError(
            f"picture of shape {array.shape}: at most {MAX_DIMENSION} pixels a side"
        )
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    most = MOST_BITS[array.dtype]
    depth = most if depth is None else check_int("depth", depth, 1, most, f" for {array.dtype}")
    if depth < most and int(array.max()) >> depth:
        raise ParameterError(
            f"depth = {depth}: the picture has a sample of {int(array.max())}, allowed is 0 to "
            f"{(1 << depth) - 1}"
        )
    if array.dtype != sample_type(depth):
        array = array.astype(sample_type(depth))
    return array if on_device(array) else np.ascontiguousarray(array), depth
