"""Chunks of arrays coded as pictures; numcodecs and zarr share this module."""

import math
from typing import Any, Unpack

import numpy as np

import mmpcodec
from mmpcodec.checks import check_int
from mmpcodec.codec.rate_control.targets import lambda_or_target
from mmpcodec.depth import BYTE, MAX_DEPTH
from mmpcodec.errors import CorruptStream, ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.runtime.arrays import as_array
from mmpcodec.samples import Form
from mmpcodec.tools import ToolOptions

SECTION = "Container"
LOSSLESS = 0.0
_BITS = {
    np.dtype(np.uint8): range(1, BYTE + 1),
    np.dtype(np.uint16): range(BYTE + 1, MAX_DEPTH + 1),
}
"""Depths that decode to each dtype."""


def check_options(
    lam: float | None = None,
    *,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    preset: str | None = None,
    effort: int | None = None,
    rate_model: str | None = None,
    depth: int | None = None,
    **tools: Unpack[ToolOptions],
) -> dict[str, Any]:
    """Check the options of a codec and return them as keywords of ``mmpcodec.encode``.

    Parameters
    ----------
    lam, quality, target_size, target_bpp, target_psnr : number or None
        As in ``mmpcodec.encode``. If all are None, lambda is 0, which is lossless.
    preset, effort, rate_model
        As in ``mmpcodec.encode``; None takes its default.
    depth : int or None
        Bits of a sample: 1 to 8 for uint8, 9 to 16 for uint16. None means 8 or 16.
    **tools
        Fields of ``Tools``, as in ``mmpcodec.encode``.

    Returns
    -------
    dict
        The options that are not None. NumPy numbers become Python numbers, which JSON can hold.

    Raises
    ------
    ParameterError
        If an option is unknown or out of range.
    """
    rates: dict[str, Any] = {
        "lam": lam,
        "quality": quality,
        "target_size": target_size,
        "target_bpp": target_bpp,
        "target_psnr": target_psnr,
    }
    if all(value is None for value in rates.values()):
        rates["lam"] = LOSSLESS
    found, _ = lambda_or_target(**rates)
    how = {"preset": preset, "effort": effort, "rate_model": rate_model, **tools}
    options: dict[str, Any] = {name: value for name, value in how.items() if value is not None}
    EncodeParams.from_options(found, **options)
    if depth is not None:
        depth = check_int("depth", depth, 1, MAX_DEPTH)
    given = {**rates, "depth": depth, **options}
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in given.items()
        if value is not None
    }


def check_type(kind: Any, depth: int | None = None) -> None:
    """Check that samples of a dtype and depth decode to this dtype.

    Raises
    ------
    ParameterError
        If the dtype is neither uint8 nor uint16, or does not fit the depth.
    """
    kind = np.dtype(kind)
    if kind not in _BITS:
        raise ParameterError(
            f"chunk of type {kind}: supported are uint8 and uint16, in the machine's byte order"
        )
    bits = _BITS[kind]
    if depth is not None:
        check_int("depth", depth, bits[0], bits[-1], f" for chunks of {kind}")


def picture_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a chunk's picture: without the chunk's leading axes of length 1.

    Raises
    ------
    ParameterError
        If the chunk is not exactly one picture.

    Examples
    --------
    >>> from mmpcodec.plugins.chunks import picture_shape
    >>> picture_shape((1, 1, 64, 48)), picture_shape((1, 64, 48, 3))
    ((64, 48), (64, 48, 3))
    """
    left = tuple(shape)
    while len(left) > 2 and left[0] == 1:
        left = left[1:]
    coloured = len(left) == 3 and 2 <= left[2] <= len(Form)
    if not (len(left) == 2 or coloured) or math.prod(left) == 0:
        raise ParameterError(
            f"chunk of shape {tuple(shape)}: must be one picture, (height, width) or (height, "
            f"width, 2 to {len(Form)}); axes before it must have length 1"
        )
    return left


def encode_chunk(chunk: Any, options: dict[str, Any]) -> bytes:
    """Encode a chunk as an mmp file.

    Parameters
    ----------
    chunk : uint8 or uint16 array
        One picture; see ``picture_shape``.
    options : dict
        From ``check_options``.

    Raises
    ------
    ParameterError
        If the chunk is not one picture of uint8 or uint16.
    MmpError
        Any error of ``mmpcodec.encode``.
    """
    chunk = as_array("chunk", chunk)
    check_type(chunk.dtype, options.get("depth"))
    return mmpcodec.encode(chunk.reshape(picture_shape(chunk.shape)), **options)


def decode_chunk(data: Any, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """Decode a chunk.

    Parameters
    ----------
    data : bytes-like
        An mmp file.
    shape : tuple of int
        Shape of the chunk.
    kind : dtype
        Dtype of the chunk, in either byte order.

    Returns
    -------
    array of this shape
        Samples in the byte order of the machine.

    Raises
    ------
    FormatError
        If the file is damaged, or its picture has another shape or dtype.
    """
    samples = mmpcodec.decode(data)
    kind = np.dtype(kind).newbyteorder("=")
    if samples.shape != picture_shape(shape) or samples.dtype != kind:
        raise CorruptStream(
            SECTION,
            f"picture of shape {samples.shape} and type {samples.dtype} in a chunk of shape "
            f"{tuple(shape)} and type {kind}",
        )
    return samples.reshape(shape)
