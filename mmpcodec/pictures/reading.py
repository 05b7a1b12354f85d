"""Read whole picture files. The first bytes of a file tell its format, whatever its name."""

import io
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

from mmpcodec.errors import FileError, ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.windows import Begun
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.pictures.left_out import noted
from mmpcodec.pictures.limits import chosen, damage_reported, dpi_number, page_number, refused
from mmpcodec.pictures.side.profiles import with_fitting_profile
from mmpcodec.runtime import stores

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A picture file: its path, its bytes, or a stream of its bytes."""


def read(
    source: Source,
    *,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    strict: bool = False,
    dpi: int | None = None,
    keep: Collection[str] = (),
) -> Picture:
    """Read a picture file.

    Parameters
    ----------
    source : path, bytes-like or binary stream
        A stream is read from its position to its end. A folder must be a zarr store: see
        ``opened``. A URL such as ``s3://bucket/name`` is opened with fsspec; of an mmp file only
        the index and the picture are read, by a few requests for ranges, other files whole.
    limits : DecodeLimits or None
        Largest picture to accept; None for the default limits.
    page : int or None
        Number of the frame or page to read, from 1; None takes the only one.
    strict : bool
        Whether to refuse a file of which something would be left out or converted, such as damaged
        texts. Without, a ``PictureWarning`` says so.
    dpi : int or None
        Pixels per inch of a page of PDF that is rendered, 1 to 4800; None for 300.
    keep : collection of str
        "dicom" also gives the attributes of DICOM files, which may name a patient, as
        ``metadata.dicom``.

    Returns
    -------
    Picture

    Raises
    ------
    PictureError
        If the file cannot be opened, which is an ``OSError`` such as FileNotFoundError too, and as
        ``from_bytes`` raises it.
    ParameterError
        If the source is none of these, or the page is no integer.
    MissingExtra
        If the format needs a package that is not installed.

    Examples
    --------
    >>> from mmpcodec import pictures
    >>> picture = pictures.read("images/camera.pgm")       # doctest: +SKIP
    >>> picture.samples.shape, picture.depth               # doctest: +SKIP
    ((512, 512), 8)
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return from_bytes(
            bytes(source), limits=limits, page=page, strict=strict, dpi=dpi, keep=keep
        )
    if not isinstance(source, (str, os.PathLike)):
        data, name = of_stream(source)
        return from_bytes(data, name, limits=limits, page=page, strict=strict, dpi=dpi, keep=keep)
    name = stores.without_file(os.fspath(source))
    if stores.is_zarr(name):
        from mmpcodec.pictures.ome_zarr import ZarrReader

        chosen(1, page, name)
        with ZarrReader(name, limits or DecodeLimits()) as reader:
            samples = reader.read(slice(None), slice(None))
            return Picture(samples, reader.depth, reader.metadata)
    if stores.is_url(name):
        return _of_url(name, limits or DecodeLimits(), page, strict=strict, dpi=dpi, keep=keep)
    data = bytes_of(name)
    return from_bytes(data, name, limits=limits, page=page, strict=strict, dpi=dpi, keep=keep)


def _of_url(
    url: str, limits: DecodeLimits, page: int | None, *, keep: Collection[str], **options: Any
) -> Picture:
    """Read a picture of a file in a store; its first bytes tell its format."""
    page = page_number(page)
    check_kept(keep)
    try:
        source = Begun(stores.UrlBytes(url, limits.max_memory))
        row = registry.format_at(bytes(source[: registry.MAGIC_END]))
        if row is not None and row.is_mmp:
            picture: Picture = row.load().read(source, url, limits, page)
            return picture
        data = bytes(source[:])
    except FileError as error:
        raise refused(url, error) from error
    return from_bytes(data, url, limits=limits, page=page, keep=keep, **options)


def check_kept(keep: Collection[str]) -> None:
    """Check the kinds of metadata that are kept on request.

    Raises
    ------
    ParameterError
        If a kind is unknown.
    """
    for kind in keep:
        if kind not in registry.ON_REQUEST or isinstance(keep, str):
            known = ", ".join(map(repr, registry.ON_REQUEST))
            raise ParameterError(f"keep = {keep!r}: must be a collection of {known}")


def bytes_of(source: str | os.PathLike[str] | bytes, most: int | None = None) -> bytes:
    """Return the bytes of a whole file, of which ``source`` is the path, the URL or the bytes.

    ``most`` limits those of a URL; see ``stores.read``.

    Raises
    ------
    PictureError
        If it cannot be read, which is an ``OSError`` too.
    """
    if isinstance(source, bytes):
        return source
    try:
        name = os.fspath(source)
        return stores.read(name, most) if stores.is_url(name) else Path(name).read_bytes()
    except MemoryError as error:
        raise PictureError(f"{os.fspath(source)}: not enough memory") from error
    except OSError as error:
        raise refused(os.fspath(source), error) from error


def of_stream(stream: BinaryIO) -> tuple[bytes, str]:
    """Read a stream to its end; also return its name."""
    binary = hasattr(stream, "read") and not isinstance(stream, io.TextIOBase)
    data = stream.read() if binary else None
    if not isinstance(data, bytes):
        raise ParameterError(
            f"source of type {type(stream).__name__}: must be a path, bytes or a binary stream"
        )
    name = getattr(stream, "name", None)
    return data, name if isinstance(name, str) else "picture"


def from_bytes(
    data: bytes,
    name: str = "picture",
    *,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    strict: bool = False,
    dpi: int | None = None,
    keep: Collection[str] = (),
) -> Picture:
    """Read a picture from the bytes of its file.

    Parameters
    ----------
    data : bytes
        A whole file of a format in ``registry.FORMATS``. The first bytes tell the format.
    name : str
        Name of the file in error messages.
    limits : DecodeLimits or None
        Largest picture to accept, checked before the samples are allocated; None for the default
        limits.
    page, strict, dpi, keep
        As for ``read``.

    Returns
    -------
    Picture
        Samples, depth and metadata as the file has them. An orientation in EXIF stays in EXIF: the
        samples are not turned, except those of HEIC and JPEG XL, which their decoders turn.

    Raises
    ------
    PictureError
        If the file is empty, damaged, beyond the limits, of an unknown format, of a kind that is
        not supported, or if it holds several frames or pages and ``page`` is None. The message
        begins with ``name``.
    MissingExtra
        If the format needs a package that is not installed.

    Warns
    -----
    PictureWarning
        If the picture is not all that the file holds, or was converted, as CMYK is: one warning for
        a picture, whose ``left_out`` has the keys of ``left_out.LEFT_OUT``.
    """
    limits, page, dpi = limits or DecodeLimits(), page_number(page), dpi_number(dpi)
    check_kept(keep)
    if not data:
        raise PictureError(f"{name}: is empty")
    row = registry.format_at(data)
    if row is None:
        raise PictureError(
            f"{name}: is not a picture file of a known format; supported are "
            f"{registry.readable_text()}"
        )
    module = row.load()
    with noted(name, strict=strict), damage_reported(name):
        if row.pages:
            found = module.read(data, name, limits, page, **row.wanted(keep, dpi))
        else:
            chosen(1, page, name)
            found = module.read(data, name, limits)
        return found if row.is_mmp else with_fitting_profile(found, name)
