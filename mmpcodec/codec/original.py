"""The JPEG file that a picture of an mmp file keeps."""

from typing import Any

from mmpcodec import backends
from mmpcodec.codec.decoder import viewed
from mmpcodec.codec.kept_jpeg import check_work, file_of, is_kept, stream_of
from mmpcodec.errors import ParameterError
from mmpcodec.limits import DEFAULT_LIMITS, DecodeLimits
from mmpcodec.opening.contents import errors_named, picture_of
from mmpcodec.opening.header import check_end, read_header
from mmpcodec.params import check_threads


def kept_file(
    data: Any,
    /,
    *,
    page: int | None = None,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> bytes:
    """Return the JPEG file that a picture keeps, bit for bit.

    Parameters
    ----------
    data, page, limits, backend, threads
        See ``decode``.

    Returns
    -------
    bytes

    Raises
    ------
    FormatError
        When the bytes are not a valid file, or beyond the limits; see ``decode``.
    ParameterError
        When the picture keeps no JPEG file, or the file has no such picture.
    BackendUnavailable
        When the named backend cannot run here, or does not decode.

    Examples
    --------
    >>> from pathlib import Path
    >>> import mmpcodec
    >>> data = mmpcodec.encode_file("photo.jpg", lam=0)      # doctest: +SKIP
    >>> mmpcodec.kept_file(data) == Path("photo.jpg").read_bytes()  # doctest: +SKIP
    True
    """
    limits, at_once = limits or DEFAULT_LIMITS, check_threads(threads)
    name = backends.get(backend, decodes=True).name
    source = picture_of(viewed(data), page, limits)
    with errors_named(source):
        header = read_header(source)
        if not is_kept(source, header):
            raise ParameterError("data: keeps no JPEG file; mmpcodec.decode gives the samples")
        check_end(header, source)
        stream = stream_of(source, header)
        check_work(stream, header, len(source), limits, at_once)
        return file_of(stream, header, backend=name, threads=at_once)
