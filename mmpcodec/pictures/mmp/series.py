"""The pictures of an mmp file as a sequence, each opened when it is first used."""

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, overload

from mmpcodec.errors import FileError, FormatError, ParameterError, PictureError
from mmpcodec.format.collection import Contents, Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import PictureBytes, contents_of
from mmpcodec.params import check_threads
from mmpcodec.pictures.mmp.reader import MmpReader
from mmpcodec.pictures.parts import bytes_of
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import Source
from mmpcodec.samples import Form

NANOMETRES = 10**6
"""In a millimetre."""


class SeriesPicture(MmpReader):
    """A picture of a file; reads its parts as ``MmpReader`` does.

    Its size, depth and role are known without reading it. ``numpy.asarray`` decodes it.

    Parameters
    ----------
    source : str
        Path or URL.
    contents : Contents
        What the file holds.
    number : int
        Number of the entry, from 0.
    **how
        Other parameters of ``MmpReader``.
    """

    def __init__(self, source: str, contents: Contents, number: int, **how: Any):
        self._contents: Contents | None = contents
        self._entry, self._number = contents.entries[number], number
        super().__init__(source, keep_open=False, opens=False, **how)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.role} {self._number + 1})"

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return what tells this picture from others and from its earlier contents."""
        return *super().__dask_tokenize__(), self._number

    def __getstate__(self) -> dict[str, Any]:
        # The contents of a long series are large, and are read again.
        return super().__getstate__() | {"_contents": None}

    @property
    def role(self) -> str:
        """What the picture is: "page", "frame", "slice", "level" or "thumbnail"."""
        return self._entry.role.name.lower()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole picture: (H, W), or (H, W, C) with 2 to 4 planes."""
        entry = self._entry
        return (entry.height, entry.width, entry.form.planes)[: 2 + (entry.form.planes > 1)]

    @property
    def depth(self) -> int:
        """Bits per sample, 1 to 16."""
        return self._entry.depth

    @property
    def form(self) -> Form:
        """Which samples a pixel has."""
        return self._entry.form

    @property
    def duration(self) -> Fraction | None:
        """Seconds that a frame is shown; None for other roles."""
        return Fraction(*self._entry.facts) if self._entry.role == Role.FRAME else None

    @property
    def position(self) -> float | None:
        """Place of a slice along its series in millimetres; None for other roles."""
        return self._entry.facts[0] / NANOMETRES if self._entry.role == Role.SLICE else None

    @property
    def renditions(self) -> "tuple[SeriesPicture, ...]":
        """The levels and thumbnails of this picture, in the order of the file."""
        self._open()
        assert self._bytes is not None
        contents = self._known(self._bytes)
        numbers = contents.numbers_of(self._number)
        how = {"limits": self._limits, "backend": self._backend, "threads": self._threads}
        return tuple(SeriesPicture(self.name, contents, number, **how) for number in numbers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Decode the whole picture."""
        samples = self[...]
        return samples if dtype is None else samples.astype(dtype)

    def _known(self, source: Source) -> Contents:
        """Return what the file holds, from its bytes if that is not known."""
        if self._contents is None:
            self._contents = contents_of(source, self._limits.max_pictures)
        return self._contents

    def _picture(self, source: Source) -> Source:
        # The only picture of a file that is no collection is the file.
        return PictureBytes(source, self._known(source), self._entry)


class Pictures(Sequence[SeriesPicture]):
    """The pictures of an mmp file: pages, frames or slices. Each is opened when it is first used.

    A file of one picture is a sequence of one. Levels and thumbnails are ``renditions`` of a
    picture, and are not counted.

    Parameters
    ----------
    source : path or str
        Path, or URL such as ``s3://bucket/name``, which fsspec opens.
    limits : DecodeLimits or None
    backend : {"auto", "cpu", "reference"}
    threads : int or None
        See ``MmpReader``.

    Raises
    ------
    PictureError
        If the file cannot be opened, or is damaged.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        limits: DecodeLimits | None = None,
        backend: str = "auto",
        threads: int | None = None,
    ):
        if not isinstance(source, str | os.PathLike):
            raise ParameterError(f"source of type {type(source).__name__}: must be a path or a URL")
        if limits is not None and not isinstance(limits, DecodeLimits):
            raise ParameterError(f"limits = {limits!r}: must be DecodeLimits or None")
        check_threads(threads)
        self.name = stores.without_file(os.fsdecode(source))
        self._how = {"limits": limits, "backend": backend, "threads": threads}
        limits = limits or DecodeLimits()
        try:
            with bytes_of(self.name, limits.max_memory) as data:
                self._contents = contents_of(data, limits.max_pictures)
        except FormatError as error:
            raise PictureError(f"{self.name}: {error}") from error
        except FileError as error:
            raise PictureError.from_os(self.name, error) from error
        self._numbers = self._contents.numbers_of(None)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> SeriesPicture: ...
    @overload
    def __getitem__(self, index: slice) -> "Pictures": ...
    def __getitem__(self, index: int | slice) -> "SeriesPicture | Pictures":
        if isinstance(index, slice):
            part = object.__new__(Pictures)
            vars(part).update(vars(self) | {"_numbers": self._numbers[index]})
            return part
        return SeriesPicture(self.name, self._contents, self._numbers[index], **self._how)


def open(
    source: str | os.PathLike[str],
    *,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> Pictures:
    """Open an mmp file as a sequence of its pictures.

    Parameters
    ----------
    source, limits, backend, threads
        See ``Pictures``.

    Returns
    -------
    Pictures

    Raises
    ------
    PictureError
        If the file cannot be opened, or is damaged.

    Examples
    --------
    >>> import mmpcodec
    >>> book = mmpcodec.open("book.mmp")                # doctest: +SKIP
    >>> len(book), book[6].shape, book[6].metadata.xmp  # doctest: +SKIP
    >>> page = book[6][100:200, 300:400]                # doctest: +SKIP
    """
    return Pictures(source, limits=limits, backend=backend, threads=threads)
