"""Chunks of arrays as pictures, for numcodecs and zarr."""

import math
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec.checks import check_int
from mmpcodec.codec.rate_control.targets import lambda_or_target
from mmpcodec.depth import BYTE, MAX_DEPTH
from mmpcodec.errors import CorruptStream, ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.runtime.arrays import as_array
from mmpcodec.samples import Form

SECTION = "Container"
LOSSLESS = 0.0
_BITS = {
    np.dtype(np.uint8): range(1, BYTE + 1),
    np.dtype(np.uint16): range(BYTE + 1, MAX_DEPTH + 1),
}
"""Depths that come back as the type that they had."""


def check_options(
    lam: float | None = None,
    *,
    quality: float | None = None,
    target_size: int | None = None,
    target_bpp: float | None = None,
    target_psnr: float | None = None,
    depth: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What decides the bytes of a chunk, as keywords of ``encode``.

    Parameters
    ----------
    lam, quality, target_size, target_bpp, target_psnr
        As of ``encode``, but for lambda, which is 0, lossless, where none of them is given.
    depth : int or None
        Bits of a sample: 1 to 8 of uint8, 9 to 16 of uint16. None takes all that the type has.
    **options
        ``preset``, ``effort``, ``rate_model`` and tools, as of ``encode``.

    Returns
    -------
    dict
        Those that are not None, NumPy's numbers as those of Python, which JSON can hold.

    Raises
    ------
    ParameterError
        For one that is unknown or out of its range.
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
    """Check that a type of samples, with a depth, comes back as it was.

    Raises
    ------
    ParameterError
    """
    kind = np.dtype(kind)
    if kind not in _BITS:
        raise ParameterError(
            f"chunk of type {kind}: supported are uint8 and uint16, in this machine's byte order"
        )
    bits = _BITS[kind]
    if depth is not None:
        check_int("depth", depth, bits[0], bits[-1], f" for chunks of {kind}")


def picture_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the picture that a chunk is: axes of length 1 before it are left out.

    Raises
    ------
    ParameterError
        When the chunk is more or less than one picture.

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
            f"width, 2 to {len(Form)}), with axes of length 1 before it at most"
        )
    return left


def encode_chunk(chunk: Any, options: dict[str, Any]) -> bytes:
    """The mmp file of a chunk.

    Parameters
    ----------
    chunk : array of uint8 or uint16
        One picture; see ``picture_shape``.
    options : dict
        From ``check_options``.

    Raises
    ------
    MmpError
        What ``encode`` raises, and for another chunk ``ParameterError``.
    """
    chunk = as_array("chunk", chunk)
    check_type(chunk.dtype, options.get("depth"))
    return mmpcodec.encode(chunk.reshape(picture_shape(chunk.shape)), **options)


def decode_chunk(data: Any, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """The samples of a chunk that should have a shape and a type.

    Raises
    ------
    FormatError
        When it is damaged, or another picture.
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
