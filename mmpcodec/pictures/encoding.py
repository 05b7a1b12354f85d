"""Encode picture files; JPEG files are kept bit for bit where nothing is lost."""

import os
from collections.abc import Collection
from typing import Any, BinaryIO, Unpack

from mmpcodec import backends
from mmpcodec.codec.decoder import decode
from mmpcodec.codec.encoder import encode
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.errors import MmpError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.options import CodecOptions, EncodeOptions, given_of, written_out
from mmpcodec.pictures import kept_jpeg
from mmpcodec.pictures.limits import page_number, say
from mmpcodec.pictures.reading import Source, bytes_of, from_bytes, of_stream

CHANGING = ("tile_size", "levels", "roi", "range")
"""Options with which samples are coded in place of the JPEG file that holds them."""


@written_out
def encode_file(
    source: Source,
    /,
    lam: float | None = None,
    *,
    samples: bool = False,
    verify: bool | None = None,
    page: int | None = None,
    limits: DecodeLimits | None = None,
    strict: bool = False,
    keep: Collection[str] = (),
    **options: Unpack[EncodeOptions],
) -> bytes:
    """Encode a picture file. The other options are those of ``EncodeOptions``.

    Without loss a JPEG file is kept bit for bit, in about three quarters of its bytes:
    ``kept_file`` gives it back, and ``decode`` its samples.

    Parameters
    ----------
    source : path, URL, bytes or binary stream
        A file of a format that ``pictures.read`` reads.
    lam : float or None
        See ``encode``; 0 is without loss.
    samples : bool
        Whether the samples of JPEG files are coded without loss, in more bytes, in place of the
        files. So they are with ``tile_size``, ``levels``, ``roi`` and ``range``.
    verify : bool or None
        Whether the file is decoded and compared. None does it for JPEG files that are kept.
    page, limits, strict, keep
        See ``pictures.read``.

    Returns
    -------
    bytes
        A whole file.

    Raises
    ------
    PictureError, MissingExtra
        When the file cannot be read; see ``pictures.read``.
    ParameterError, Infeasible, BackendUnavailable, LimitExceeded, KernelError, Cancelled
        See ``encode``.
    MmpError
        When the file does not decode to its source.

    Warns
    -----
    PictureWarning
        If not all of the file is coded, or most bytes of a JPEG file are no coefficients.

    Examples
    --------
    >>> import mmpcodec
    >>> data = mmpcodec.encode_file("photo.jpg", lam=0)      # doctest: +SKIP
    """
    data, name = _read(source)
    given = given_of({"lam": lam, **options}, EncodeOptions)
    of_codec = {key: given[key] for key in {"lam", *CodecOptions.__annotations__} & given.keys()}
    form = request_of(**of_codec).params.jpeg_form
    if samples or any(given.get(name) for name in CHANGING):
        form = None
    how: dict[str, Any] = {"threads": given.get("threads"), "verify": verify is not False}
    if form is not None:
        backends.get(given.get("backend", "auto"))
        own = kept_jpeg.jpeg_of(data, page=page_number(page), limits=limits)
        if own is not None:
            jpeg, metadata = own
            return _kept(kept_jpeg.encode(jpeg, form, metadata=metadata, **how), name)
    picture = from_bytes(data, name, limits=limits, page=page, strict=strict, keep=keep)
    if form is not None and (kept := picture.jpeg) is not None:
        return _kept(kept_jpeg.encode(kept, form, metadata=picture.metadata, **how), name)
    facts: dict[str, Any] = {"depth": picture.depth, "metadata": picture.metadata}
    found = encode(picture.samples, **given, **facts)
    if verify:
        _check(found, name)
    return found


def _kept(found: kept_jpeg.KeptFile, name: str) -> bytes:
    """Say the remarks on a file, and return it."""
    for remark in found.remarks:
        say(name, remark)
    return found.encoding.data


def _read(source: Source) -> tuple[bytes, str]:
    """Return the bytes of a file, and its name."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "picture"
    if isinstance(source, (str, os.PathLike)):
        return bytes_of(source), os.fspath(source)
    stream: BinaryIO = source
    return of_stream(stream)


def _check(data: bytes, name: str) -> None:
    """Check that a file decodes, which compares its samples with their checksums."""
    try:
        decode(data, limits=UNLIMITED)
    except MmpError as error:
        raise MmpError(f"{name}: verification failed: {error}") from error
