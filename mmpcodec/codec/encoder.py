"""Encoding: from an array to the bytes of a file."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Progress, Trace
from mmpcodec.codec import container
from mmpcodec.errors import ParameterError
from mmpcodec.params import EncodeParams


@dataclass(frozen=True)
class Encoding:
    """A file and what it decodes to.

    Parameters
    ----------
    data : bytes
        The whole file.
    samples : (H, W) uint8 array
        What a decoder will show.
    trace : Trace
    backend : str
        Name of the backend that ran.
    """

    data: bytes
    samples: np.ndarray
    trace: Trace
    backend: str


def check_picture(array: Any) -> np.ndarray:
    """The array as the codec takes it.

    Returns
    -------
    (H, W) uint8 array in C order

    Raises
    ------
    ParameterError
        For anything but 8-bit gray with at least one pixel.
    """
    array = np.asarray(array)
    if array.dtype != np.uint8 or array.ndim != 2 or array.size == 0:
        raise ParameterError(
            f"picture of shape {array.shape} and type {array.dtype}: "
            "supported are (height, width) arrays of uint8 (8-bit gray) with at least one pixel"
        )
    if max(array.shape) > container.MAX_DIMENSION:
        raise ParameterError(
            f"picture of shape {array.shape}: at most {container.MAX_DIMENSION} pixels a side"
        )
    return np.ascontiguousarray(array)


def encode_picture(
    array: Any,
    params: EncodeParams,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Encoding:
    """As ``encode``, with parameters in one object, and with all that encoding found out."""
    plane = check_picture(array)
    if threads is not None and (isinstance(threads, bool) or not 1 <= threads <= 1024):
        raise ParameterError(f"threads = {threads!r}: must be from 1 to 1024, or None")
    chosen = backends.get(backend)
    coded = chosen.encode(plane, params, threads=threads, progress=progress)
    data = container.write(coded.samples, params.tools, coded.payload)
    return Encoding(data, coded.samples, coded.trace, chosen.name)


def encode(
    array: Any,
    /,
    lam: float = 32.0,
    *,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> bytes:
    """Encode a picture.

    Parameters
    ----------
    array : (H, W) uint8 array
        8-bit gray samples, any size from 1x1 up.
    lam : float
        Lagrange multiplier in squared error per bit: larger makes smaller files. 0 is lossless.
    backend : {"auto", "cpu", "reference"}
        Where to run. All backends write the same bytes.
    threads : int or None
        Threads of the cpu backend; None takes what the machine has. Never changes a byte.
    progress : callable or None
        ``progress(done, total) -> bool`` is called with the number of finished fragments;
        returning False cancels.
    **options
        ``preset`` ("default" or "classic"), ``rate_model`` ("adaptive" or "log2"), and the tools
        that override the preset: ``partition`` ("flexible" or "dyadic"), ``index_classes``,
        ``flag_contexts``, ``copy_radius``, ``dictionary_limit``; see ``Tools``.

    Returns
    -------
    bytes
        A whole file, as ``docs/format.md`` describes it.

    Raises
    ------
    ParameterError
        For a picture or parameter that is not supported.
    BackendUnavailable
        When the named backend cannot run here.
    Cancelled
        When the callback returned False.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> picture = np.zeros((48, 64), np.uint8)
    >>> data = mmpcodec.encode(picture, lam=0)
    >>> bool((mmpcodec.decode(data) == picture).all())
    True
    """
    params = EncodeParams.from_options(lam, **options)
    return encode_picture(array, params, backend=backend, threads=threads, progress=progress).data
