"""Decoding: from the bytes of a file to an array, or to a description."""

from dataclasses import dataclass

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import Progress, Trace
from mmpcodec.codec import container
from mmpcodec.codec.container import Header
from mmpcodec.codec.planes import from_planes
from mmpcodec.codec.postfilter import coefficient_bits
from mmpcodec.errors import ParameterError
from mmpcodec.params import DecodeLimits, check_threads


@dataclass(frozen=True)
class Inspection:
    """What a file says of itself.

    Parameters
    ----------
    header : Header
    file_size : int
        In bytes.
    samples : (H, W) or (H, W, C) array of uint8 or uint16, or None
    trace : Trace or None
        Both None when only the header was read.
    """

    header: Header
    file_size: int
    samples: np.ndarray | None = None
    trace: Trace | None = None

    @property
    def bits_per_pixel(self) -> float:
        """Bits of the whole file for each pixel."""
        return 8 * self.file_size / (self.header.width * self.header.height)


def inspect(
    data: bytes,
    /,
    *,
    decode: bool = False,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Describe a file.

    Parameters
    ----------
    data : bytes-like
        A whole file.
    decode : bool
        Decode it too, which gives samples and trace (bits by syntax element, leaf scales,
        dictionary sizes). Otherwise only header and checksum are read.
    limits : DecodeLimits or None
    backend : str
    threads : int or None
    progress : callable or None
        As for ``encode``.

    Raises
    ------
    FormatError
        When the bytes are not a good file.
    """
    check_threads(threads)
    try:
        data = bytes(memoryview(data))
    except TypeError:
        raise ParameterError(
            f"data of type {type(data).__name__}: must be bytes or a buffer"
        ) from None
    header, payload = container.read(data, limits or DecodeLimits())
    if not decode:
        return Inspection(header, len(data))
    shape = header.height, header.width
    chosen = backends.get(backend)
    if header.tools.exact:
        whole = header.planes, *shape
        planes, trace = chosen.decode_exact(payload, whole, header.bit_depth, progress=progress)
        samples = from_planes(planes, header.bit_depth)
        container.check_samples(header, samples)
        return Inspection(header, len(data), samples, trace.with_filter(0))
    coded = chosen.decode(payload, shape, header.tools, threads=threads, progress=progress)
    samples = chosen.post_filter.apply(coded.samples, header.coefficients)
    container.check_samples(header, samples)
    return Inspection(
        header, len(data), samples, coded.trace.with_filter(coefficient_bits(header.coefficients))
    )


def decode(
    data: bytes,
    /,
    *,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Decode a file.

    Parameters
    ----------
    data : bytes-like
        A whole file.
    limits : DecodeLimits or None
        Largest picture to accept; checked before anything is allocated.
    backend : {"auto", "cpu", "reference"}
    threads : int or None
        Threads of the cpu backend; None takes what the machine has.
    progress : callable or None
        ``progress(done, total) -> bool``; returning False cancels.

    Returns
    -------
    (H, W) or (H, W, C) array
        uint8 up to 8 bits a sample, else uint16; C is 2 for gray and alpha, 3 for red, green and
        blue, 4 for these and alpha.

    Raises
    ------
    FormatError
        When the bytes are not a good file: ``BadMagic``, ``UnsupportedVersion``,
        ``TruncatedStream``, ``CorruptStream`` or ``LimitExceeded``.
    BackendUnavailable
        When the named backend cannot run here.
    Cancelled
        When the callback returned False.
    """
    found = inspect(
        data, decode=True, limits=limits, backend=backend, threads=threads, progress=progress
    )
    assert found.samples is not None
    return found.samples
