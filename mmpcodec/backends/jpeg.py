"""The coding of kept JPEG files: native, or by the reference.

No other backend codes them: they are files, not planes of samples.
Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

from typing import NamedTuple

from mmpcodec.backends.cpu import CpuBackend, _cpu
from mmpcodec.errors import BackendUnavailable
from mmpcodec.format.jpeg import KeptJpeg
from mmpcodec.reference.jpeg import codec
from mmpcodec.runtime.machine import processors

REFERENCE = "reference"
"""Name of the backend that is the reference; the native code stands for all others."""


class EncodedJpeg(NamedTuple):
    """The payload of a JPEG file.

    Parameters
    ----------
    payload : bytes
    form : int
        That codes it, at most the one that was asked for.
    scan_bytes : int
        Bytes of the file that are coded as levels.
    stored_bytes : int
        Bytes of the file that are stored as they are.
    """

    payload: bytes
    form: int
    scan_bytes: int
    stored_bytes: int


def encode(
    data: bytes, form: int, most_level_bytes: int, *, threads: int | None = None
) -> EncodedJpeg:
    """Encode a JPEG file.

    Parameters
    ----------
    data : bytes
    form : int
        1 to 3. A small file is coded in all forms up to this one, of which the smallest is kept.
    most_level_bytes : int
        That the levels of all pictures take; see ``format.jpeg.most_level_bytes``.
    threads : int or None
        None takes all processors.

    Raises
    ------
    BackendUnavailable
        If the native code does not load.
    """
    _check_native()
    return EncodedJpeg(*_cpu.encode_jpeg(data, form, threads or processors(), most_level_bytes))


def is_whole(data: bytes, most_level_bytes: int) -> bool:
    """Return whether all decoders read the same levels of the picture at the beginning of a file.

    So they do if its scans have exactly the data that its levels give: none is cut, damaged or of
    another kind than the levels of kept JPEG files.

    Raises
    ------
    BackendUnavailable
        If the native code does not load.
    """
    _check_native()
    whole: bool = _cpu.is_whole_jpeg(data, most_level_bytes)
    return whole


def decode(
    kept: KeptJpeg, most_level_bytes: int, *, backend: str, threads: int | None = None
) -> bytes:
    """Return the JPEG file.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload does not decode.
    BackendUnavailable
        If the native code does not load.
    """
    payload = bytes(kept.payload)
    if backend == REFERENCE:
        return codec.decode_file(payload, kept.file_bytes, kept.form, most_level_bytes)
    _check_native()
    at_once = threads or processors()
    own: bytes = _cpu.decode_jpeg(payload, kept.file_bytes, kept.form, at_once, most_level_bytes)
    return own


def decode_front(kept: KeptJpeg, most_level_bytes: int, *, backend: str) -> bytes:
    """Return the beginning of the JPEG file, up to the samples of its first picture.

    Raises
    ------
    TruncatedStream, CorruptStream, BackendUnavailable
        See ``decode``.
    """
    payload = bytes(kept.payload)
    if backend == REFERENCE:
        return codec.decode_front(payload, kept.file_bytes, kept.form, most_level_bytes)
    _check_native()
    front: bytes = _cpu.decode_jpeg_front(payload, kept.file_bytes, kept.form, most_level_bytes)
    return front


def _check_native() -> None:
    if reason := CpuBackend().unavailable():
        raise BackendUnavailable(f"kept JPEG files: {reason}")
