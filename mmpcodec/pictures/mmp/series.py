"""The pictures of an mmp file as a sequence, each opened when it is first used."""

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, overload

from mmpcodec.errors import ParameterError
from mmpcodec.format import chunks
from mmpcodec.format.collection import Contents, Role, common_role
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import (
    PictureBytes,
    check_memory_of_metadata,
    is_collection,
    read_metadata,
)
from mmpcodec.params import check_threads
from mmpcodec.pictures.mmp.file import say_unfinished
from mmpcodec.pictures.mmp.opened import OpenFile
from mmpcodec.pictures.mmp.reader import MmpReader
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import Source
from mmpcodec.samples import Form, shape_of

NANOMETRES = 10**6
"""In a millimetre."""


class SeriesPicture(MmpReader):
    """A picture of a file; reads its parts as ``MmpReader`` does.

    Its size, depth and role are known without reading it. ``numpy.asarray`` decodes it.

    Parameters
    ----------
    file : OpenFile
        The file, which all its pictures share.
    number : int
        Number of the entry, from 0.
    backend, threads
        See ``MmpReader``.
    """

    def __init__(self, file: OpenFile, number: int, backend: str, threads: int | None):
        self._contents = file.contents()
        self._entry, self._number = self._contents.entries[number], number
        self._title: str | None = None
        self._page = None
        self._set(file, backend, threads)

    def __getstate__(self) -> dict[str, Any]:
        # Of the contents, which may be long, only what the picture itself needs.
        shared = [self._contents.metadata[number] for number in self._entry.shared]
        entry = replace(self._entry, shared=tuple(range(len(shared))))
        title = self._title or self._contents.name_of(self._entry)
        own = {"_entry": entry, "_contents": Contents([entry], shared), "_title": title}
        return super().__getstate__() | own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.role} {self._number + 1})"

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return what tells this picture from others and from its earlier contents."""
        return *super().__dask_tokenize__(), self._number

    @property
    def role(self) -> str:
        """What the picture is: "page", "frame", "slice", "level" or "thumbnail"."""
        return self._entry.role.name.lower()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole picture: (H, W), or (H, W, C) with 2 to 4 planes."""
        return shape_of(self._entry.height, self._entry.width, self._entry.form.planes)

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
        with self._file.errors_named():
            numbers = self._file.contents().numbers_of(self._number)
        return tuple(self._beside(number) for number in numbers)

    def _beside(self, number: int) -> "SeriesPicture":
        """Return another picture of the file."""
        return SeriesPicture(self._file, number, self._backend, self._threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Decode the whole picture, which always makes a new array."""
        if copy is False:
            raise ValueError("copy = False: a picture is decoded into a new array")
        samples = self[...]
        return samples if dtype is None else samples.astype(dtype, copy=False)

    def _picture(self, source: Source) -> Source:
        if not is_collection(source):
            return source
        most = self._limits.max_memory
        return PictureBytes(source, self._contents, self._entry, most, self._title)

    def _close_file(self) -> None:
        """Leave the file to the other pictures."""


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
        self._how = backend, threads
        self._file = OpenFile(self.name, limits or DecodeLimits(), keep_open=False)
        with self._file.errors_named():
            contents = self._file.contents()
        say_unfinished(self.name, contents)
        self._numbers = contents.numbers_of(None)

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
        with self._file.errors_named():
            return SeriesPicture(self._file, self._numbers[index], *self._how)

    @property
    def role(self) -> str:
        """What the pictures are: "page", "frame" or "slice"; "page" if they differ."""
        with self._file.errors_named():
            entries = self._file.contents().entries
        return common_role(entries[number].role for number in self._numbers).name.lower()

    @property
    def loops(self) -> int:
        """How often frames are shown, one after the other; 0 for without end."""
        with self._file.errors_named():
            return self._file.contents().loops

    @property
    def metadata(self) -> Metadata:
        """The metadata that the file holds once for all its pictures; of one picture, its own.

        Metadata of a single picture, and those of few bytes, are with that picture.

        Raises
        ------
        PictureError
            If they are damaged.
        """
        if len(self) == 1:
            return self[0].metadata
        found = Metadata()
        with self._file.errors_named():
            source, contents = self._file.source(), self._file.contents()
            entries = [contents.entries[number] for number in self._numbers]
            common = set.intersection(*(set(entry.shared) for entry in entries)) if entries else ()
            parts = [contents.metadata[number] for number in sorted(common)]
            check_memory_of_metadata(parts, self._file.limits.max_memory)
            for part in parts:
                own = read_metadata(source, part, min(entry.depth for entry in entries))
                found = chunks.joined(found, own, part.place)
        return found


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
