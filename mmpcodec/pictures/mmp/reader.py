"""Read parts of mmp files: the header once, then the tiles that a part touches."""

import os
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.codec.tiles.reduction import factor_of_scale
from mmpcodec.depth import sample_type
from mmpcodec.errors import (
    FormatError,
    NoSuchPage,
    ParameterError,
    PictureError,
)
from mmpcodec.format.tiles import Area
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import picture_of
from mmpcodec.picture import Picture
from mmpcodec.pictures.limits import check_part, page_number
from mmpcodec.pictures.mmp.indexing import part_of
from mmpcodec.pictures.mmp.opened import OpenFile
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import Source
from mmpcodec.samples import Samples, shape_of

if TYPE_CHECKING:
    from mmpcodec.codec.regions import RegionDecoder, ScaledDecoder
    from mmpcodec.format.container import Header


class MmpReader:
    """Reads parts of a picture of an mmp file; see ``Reader``.

    The header is read once, and a part decodes only the tiles that it touches; other tiles may be
    damaged or missing. Any number of threads may read at once. A pickled reader holds the absolute
    path or the URL and opens the file again when it is first used.

    Parameters
    ----------
    source : path or str
        Path, or URL such as ``s3://bucket/name``, which fsspec opens.
    page : int or None
        Number of the picture in a file of several, from 1; None takes the only one.
    limits : DecodeLimits or None
        Limits of each part, whose tiles count whole; None for the default limits. The picture may
        be larger.
    backend : {"auto", "cpu", "reference"}
    threads : int or None
        Threads that decode the tiles of a part; None takes all processors.
    cache_bytes : int or None
        Most bytes of decoded tiles to keep for the next parts; 0 keeps none, and None takes 64 MiB.
        The newest tile is kept however large it is.
    keep_open : bool
        Whether a local file stays open. If not, it is opened for each part, and thousands of
        readers can exist at once.
    opens : bool
        Whether the file is opened now, not when it is first used.

    Raises
    ------
    PictureError
        If the file cannot be opened, which is an ``OSError`` such as FileNotFoundError too, if its
        header is damaged, or if it has no such page.
    ParameterError, BackendUnavailable
        As ``mmpcodec.decode`` raises them.
    MissingExtra
        If a URL needs a package that is not installed.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> from mmpcodec.pictures import MmpReader
    >>> picture = np.arange(128 * 192).reshape(128, 192).astype(np.uint16)
    >>> mmpcodec.imwrite("tiled.mmp", picture, lam=0, tile_size=64)  # doctest: +SKIP
    >>> with MmpReader("tiled.mmp") as reader:                       # doctest: +SKIP
    ...     reader.shape, reader.depth, reader.header.tile_size
    ...     part = reader.read(slice(60, 70), slice(100, 120))
    ...     every_second = reader[::2, ::2]
    ((128, 192), 16, 64)
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        page: int | None = None,
        limits: DecodeLimits | None = None,
        backend: str = "auto",
        threads: int | None = None,
        cache_bytes: int | None = None,
        keep_open: bool = True,
        opens: bool = True,
    ):
        if not isinstance(source, str | os.PathLike):
            raise ParameterError(f"source of type {type(source).__name__}: must be a path or a URL")
        if limits is not None and not isinstance(limits, DecodeLimits):
            raise ParameterError(f"limits = {limits!r}: must be DecodeLimits or None")
        if cache_bytes is not None:
            cache_bytes = check_int("cache_bytes", cache_bytes, 0, 1 << 62, ", or None")
        name = stores.without_file(os.fsdecode(source))
        self._page = page_number(page)
        file = OpenFile(name, limits or DecodeLimits(), keep_open=keep_open)
        self._set(file, backend, threads, cache_bytes)
        if opens:
            self._open()

    def _set(
        self, file: OpenFile, backend: str, threads: int | None, cache_bytes: int | None = None
    ) -> None:
        """Set what all readers have."""
        self._file = file
        self.name = file.name
        self._limits = file.limits
        self._backend = backend
        self._threads = threads
        self._cache_bytes = cache_bytes
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._header: Header | None = None
        self._regions: RegionDecoder | None = None
        self._scaled: ScaledDecoder | None = None

    def __getstate__(self) -> dict[str, Any]:
        again = {"_lock", "_closed", "_header", "_regions", "_scaled"}
        return {name: value for name, value in vars(self).items() if name not in again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return what tells this file from others and from its earlier contents."""
        own = self._file.place, self._page, self.state, self._limits, self._backend
        return type(self).__name__, *own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def header(self) -> "Header":
        """The header of the file."""
        return self._header or self._open().header

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole picture: (H, W), or (H, W, C) with 2 to 4 planes."""
        return shape_of(self.header.height, self.header.width, self.header.planes)

    @property
    def ndim(self) -> int:
        """Number of axes: 2, or 3 with 2 to 4 planes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Type of the samples: uint8 up to 8 bits, uint16 above."""
        return np.dtype(sample_type(self.depth))

    @property
    def depth(self) -> int:
        """Bits per sample, 1 to 16."""
        return self.header.depth

    @property
    def metadata(self) -> Metadata:
        """The metadata of the file."""
        return self.header.metadata

    @property
    def state(self) -> str:
        """Text that differs when the contents of the file differ: size and time, or a hash."""
        return self._file.state

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part of the picture; see ``Reader.read``.

        Raises
        ------
        PictureError
            If the part is empty, beyond the limits, or damaged, if the file has changed since the
            header was read, or if the reader is closed. A message about damage names the tile.
        """
        regions = self._open()
        rows, columns = check_part(self.shape, rows, columns, self.name, UNLIMITED)
        area = Area(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        try:
            return regions.decode(area)
        except (FormatError, OSError) as error:
            raise self._file.named(error) from error
        except ValueError as error:
            if not self._closed:
                raise
            raise self._is_closed() from error  # by another thread, while this one was reading

    def scaled(self, scale: float | Fraction | str, region: Sequence[int] | None = None) -> Picture:
        """Read the picture at a fraction of its size; see ``mmpcodec.decode_scaled``.

        Parameters
        ----------
        scale : float, Fraction or str
            1/N, N an integer.
        region : (x, y, width, height) or None
            Part of the picture, in its pixels; None for all of it.

        Raises
        ------
        PictureError
            As ``read``; also if the picture is beyond the limits.
        ParameterError
            If the scale is another number, or the region does not lie within the picture.
        """
        factor, regions = factor_of_scale(scale), self._open()
        try:
            return self._scaled_decoder(regions).picture(factor, region)
        except (FormatError, OSError) as error:
            raise self._file.named(error) from error

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales at which the file holds the picture: 1, and those of its levels."""
        return tuple(Fraction(1, each) for each in self._scaled_decoder(self._open()).factors)

    def _scaled_decoder(self, regions: "RegionDecoder") -> "ScaledDecoder":
        from mmpcodec.codec.regions import ScaledDecoder

        with self._lock:
            if self._scaled is None:
                source = self._picture(self._file.source())
                how: Any = {"backend": self._backend, "threads": self._threads}
                how["cache_bytes"] = self._cache_bytes
                self._scaled = ScaledDecoder(source, self._limits, regions, **how)
            return self._scaled

    def __getitem__(self, index: Any) -> Samples:
        """Read the samples at an index of integers, slices, ``...`` and None, as of an array.

        Raises
        ------
        IndexError
            If the index is of another kind or out of range.
        PictureError
            As ``read`` raises it. An empty part is no error.
        """
        found = part_of(self.shape, index)
        if isinstance(found, np.ndarray):
            return found.astype(self.dtype)
        return self.read(found.rows, found.columns)[found.rest]

    def __enter__(self) -> "MmpReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and forget the tiles that are kept."""
        with self._lock:
            self._closed = True
            self._regions = self._scaled = None
            self._close_file()

    def _close_file(self) -> None:
        """Close the file, which is this reader's own."""
        self._file.close()

    def _open(self) -> "RegionDecoder":
        """Return the decoder of the open file; open it at the first call."""
        with self._lock:
            if self._closed:
                raise self._is_closed()
            if self._regions is None:
                self._regions = self._opened()
                self._header = self._regions.header
            return self._regions

    def _opened(self) -> "RegionDecoder":
        from mmpcodec.codec.regions import RegionDecoder

        try:
            return RegionDecoder(
                self._picture(self._file.source()),
                self._limits,
                backend=self._backend,
                threads=self._threads,
                cache_bytes=self._cache_bytes,
            )
        except BaseException as error:
            if isinstance(error, FormatError | OSError):
                error = self._file.named(error)
            self._close_file()
            if isinstance(error, NoSuchPage):
                raise PictureError(f"{self.name}: {error}") from error
            raise error

    def _picture(self, source: Source) -> Source:
        """Return the bytes of the picture in those of the file."""
        return picture_of(source, self._page, self._limits)

    def _is_closed(self) -> PictureError:
        return PictureError(f"{self.name}: is closed; open it again")


def open_parts(
    path: Path, head: bytes, size: int, name: str, limits: DecodeLimits, page: int | None
) -> MmpReader:
    """Return a reader of parts of a picture.

    Raises
    ------
    PictureError
        If the header is damaged, or there is no such page.
    """
    return MmpReader(path, page=page, limits=limits)
