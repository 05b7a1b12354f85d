"""Read whole picture files. The first bytes of a file tell its format, whatever its name."""

import io
import os
from pathlib import Path
from typing import BinaryIO, Literal

from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.pictures.left_out import noted
from mmpcodec.pictures.limits import chosen, damage_reported, dpi_number, page_number
from mmpcodec.pictures.side.profiles import with_fitting_profile
from mmpcodec.runtime import stores
from mmpcodec.samples import Samples

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A picture file: its path, its bytes, or a stream of its bytes."""


def read(
    source: Source,
    *,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    strict: bool = False,
    dpi: int | None = None,
) -> Picture:
    """Read a picture file.

    Parameters
    ----------
    source : path, bytes-like or binary stream
        A stream is read from its position to its end. A folder must be a zarr store: see
        ``opened``.
    limits : DecodeLimits or None
        Largest picture to accept; None for the default limits.
    page : int or None
        Number of the frame or page to read, from 1; None takes the only one.
    strict : bool
        Whether to refuse a file of which something would be left out or converted, such as damaged
        texts. Without, a ``PictureWarning`` says so.
    dpi : int or None
        Pixels per inch of a page of PDF that is rendered, 1 to 4800; None for 300.

    Returns
    -------
    Picture

    Raises
    ------
    PictureError
        If the file cannot be opened, which is an ``OSError`` such as FileNotFoundError too, and as
        ``from_bytes`` raises it.
    ParameterError
        If the source is none of these, the page is no integer, or dpi is out of range.
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
        return from_bytes(bytes(source), limits=limits, page=page, strict=strict, dpi=dpi)
    if not isinstance(source, (str, os.PathLike)):
        data, name = of_stream(source)
        return from_bytes(data, name, limits=limits, page=page, strict=strict, dpi=dpi)
    name = os.fspath(source)
    if stores.is_zarr(name):
        from mmpcodec.pictures.ome_zarr import ZarrReader

        chosen(1, page, name)
        with ZarrReader(name, limits or DecodeLimits()) as reader:
            samples = reader.read(slice(None), slice(None))
            return Picture(samples, reader.depth, reader.metadata)
    data = bytes_of(source)
    return from_bytes(data, os.fspath(source), limits=limits, page=page, strict=strict, dpi=dpi)


def bytes_of(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file.

    Raises
    ------
    PictureError
        If it cannot be read, which is an ``OSError`` too.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise PictureError.from_os(os.fspath(path), error) from error


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


def imread(
    source: Source,
    *,
    limits: DecodeLimits | None = None,
    page: int | Literal["all"] | None = None,
    strict: bool = False,
    dpi: int | None = None,
) -> Samples:
    """Read the samples of a picture file of any supported format, mmp included.

    ``pictures.read`` takes the same sources and also gives depth and metadata.

    Parameters
    ----------
    source : path, bytes-like or binary stream
        The first bytes tell the format, whatever the name. A stream is read from its position to
        its end.
    limits : DecodeLimits or None
        Largest picture to accept; None for the default limits.
    page : int, "all" or None
        Number of the picture, from 1; None takes the only one. "all" reads all pages, frames or
        slices of a file, which must have one size, form and depth; ``mmpcodec.open`` gives others
        one by one.
    strict, dpi
        As for ``pictures.read``.

    Returns
    -------
    (H, W) or (H, W, C) array; (N, H, W) or (N, H, W, C) with "all"
        uint8 up to 8 bits per sample, else uint16. C is 2 for gray with alpha, 3 for RGB, 4 for RGB
        with alpha. An orientation in EXIF is not applied.

    Raises
    ------
    PictureError, ParameterError, MissingExtra
        As ``pictures.read`` raises them, and with "all" for the first picture that differs.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> data = mmpcodec.imwrite(None, np.eye(3, dtype=bool), "png")
    >>> mmpcodec.imread(data).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mmpcodec.imread(data, page="all").shape
    (1, 3, 3)
    """
    if page == "all":
        from mmpcodec.pictures.books.stacks import stack_of

        return stack_of(source, limits or DecodeLimits(), strict=strict, dpi=dpi)
    return read(source, limits=limits, page=page, strict=strict, dpi=dpi).samples


def from_bytes(
    data: bytes,
    name: str = "picture",
    *,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    strict: bool = False,
    dpi: int | None = None,
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
    page, strict, dpi
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
            how = {"dpi": dpi} if row.rendered and dpi is not None else {}
            found = module.read(data, name, limits, page, **how)
        else:
            chosen(1, page, name)
            found = module.read(data, name, limits)
        return found if row.is_mmp else with_fitting_profile(found, name)
