"""Read parts of picture files that are too large to read whole."""

import os
from pathlib import Path

from mmpcodec.depth import BYTE
from mmpcodec.errors import PictureError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.picture import Picture, Reader
from mmpcodec.pictures import reading, registry
from mmpcodec.pictures.left_out import noted
from mmpcodec.pictures.limits import check_part, chosen, damage_reported, page_number
from mmpcodec.pictures.ome_zarr import ZarrReader
from mmpcodec.runtime import stores
from mmpcodec.samples import Samples


def opened(
    path: str | os.PathLike[str],
    *,
    limits: DecodeLimits | None = None,
    page: int | None = None,
    strict: bool = False,
) -> Reader:
    """Open a picture file to read parts of it.

    NPY, binary PGM, PPM and PAM, and uncompressed TIFF files are read part by part. Compressed
    TIFF is unpacked one strip or one row of tiles at a time, and zarr stores one chunk at a time.
    Of mmp files, the tiles that a part touches are decoded; see ``MmpReader``, which has more
    options. For these formats the limits hold for each part that is read, so the picture may be
    larger. Any other file is read whole, within the limits.

    Parameters
    ----------
    path : path or str
        A file, or a zarr store: an array, or an image of OME-Zarr, whose full size is read. A URL
        such as ``s3://bucket/name`` is opened with fsspec. Only zarr stores and mmp files are read
        part by part from a URL.
    limits : DecodeLimits or None
        None for the default limits.
    page, strict
        As for ``read``.

    Returns
    -------
    Reader

    Raises
    ------
    PictureError, MissingExtra
        As ``read`` raises them.
    FileError
        If a URL of another file than mmp cannot be read.

    Examples
    --------
    >>> from mmpcodec import pictures
    >>> with pictures.opened("slide.tif") as reader:       # doctest: +SKIP
    ...     part = reader.read(slice(4000, 4512), slice(9000, 9512))
    """
    limits, page = limits or DecodeLimits(), page_number(page)
    name = stores.without_file(os.fspath(path))
    if stores.is_zarr(name):
        chosen(1, page, name)
        return ZarrReader(name, limits)
    if stores.is_url(name):
        return _of_url(name, limits, page, strict=strict)
    path = Path(name)
    if path.exists() and not path.is_file():  # a pipe can be read only once
        data = reading.bytes_of(path)
        picture = reading.from_bytes(data, name, limits=limits, page=page, strict=strict)
        return WholeReader(picture, name, measured=registry.is_measured(data))
    try:
        with open(path, "rb") as stream:
            head = stream.read(registry.HEAD)
            size = stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise PictureError.from_os(name, error) from error
    row = registry.format_at(head)
    if row is not None and row.parts:
        module = row.load()
        if not row.pages:
            chosen(1, page, name)
        pages = (page,) if row.pages else ()
        reader = None
        try:
            with noted(name, strict=strict), damage_reported(name):
                reader = module.open_parts(path, head, size, name, limits, *pages)
        except BaseException:  # strict reading refuses what is open
            if reader is not None:
                reader.close()
            raise
        if reader is not None:
            return reader
    return _whole(path, name, limits, page, strict=strict)


def _whole(
    path: Path, name: str, limits: DecodeLimits, page: int | None, *, strict: bool
) -> "WholeReader":
    return WholeReader(reading.read(path, limits=limits, page=page, strict=strict), name)


def _of_url(url: str, limits: DecodeLimits, page: int | None, *, strict: bool) -> Reader:
    """Open a file in a store; its first bytes tell its format."""
    row = registry.format_at(bytes(stores.UrlBytes(url, limits.max_memory)[: registry.MAGIC_END]))
    if row is not None and row.is_mmp:
        reader: Reader = row.load().MmpReader(url, page=page, limits=limits)
        return reader
    data = stores.read(url, limits.max_memory)
    found = reading.from_bytes(data, url, limits=limits, page=page, strict=strict)
    return WholeReader(found, url, measured=registry.is_measured(data))


def in_parts(path: str | os.PathLike[str]) -> bool:
    """Return whether ``opened`` may read a picture in parts; False if it cannot be opened."""
    if stores.is_zarr(os.fspath(path)):
        return True
    try:
        with open(path, "rb") as stream:
            row = registry.format_at(stream.read(registry.HEAD))
    except OSError:
        return False
    return row is not None and row.parts


def is_measured(path: str | os.PathLike[str], reader: Reader) -> bool:
    """Return whether the samples of a picture that ``opened`` reads are measurements.

    Those are all files of some formats, and zarr stores of more than 8 bits a sample.
    """
    if stores.is_zarr(os.fspath(path)):
        return reader.depth > BYTE
    if isinstance(reader, WholeReader) and reader.measured is not None:
        return reader.measured
    try:
        with open(path, "rb") as stream:
            return registry.is_measured(stream.read(registry.HEAD))
    except OSError:
        return False


class WholeReader:
    """Gives parts of a picture that is in memory.

    Parameters
    ----------
    picture : Picture
    name : str
        Name of the file in error messages.
    measured : bool or None
        Whether its format is one of measurements; None if the file tells.
    """

    def __init__(self, picture: Picture, name: str, *, measured: bool | None = None):
        self.measured = measured
        self.shape = picture.samples.shape
        self.depth = picture.depth
        self.metadata = picture.metadata
        self.name = name
        self._samples = picture.samples

    def read(self, rows: slice, columns: slice) -> Samples:
        """Copy the samples of a part of the picture; see ``Reader.read``."""
        return self._samples[check_part(self.shape, rows, columns, self.name, UNLIMITED)].copy()

    def __enter__(self) -> "WholeReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no file is open."""
