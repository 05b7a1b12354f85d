"""The table of formats of files of several pictures that can be written."""

import os
from importlib import import_module
from typing import Any, NamedTuple

from mmpcodec.format.collection import Role
from mmpcodec.pictures import registry

_HERE = __name__.rpartition(".")[0]


class BookFormat(NamedTuple):
    """A format of files of several pictures.

    Parameters
    ----------
    title : str
        Name in messages.
    module : str
        Module that writes it, in this folder.
    suffixes : tuple of str
        Suffixes of file names, in small letters with their dot. The first one names the format.
    roles : tuple of Role
        What its pictures can be; a single picture may be anything.
    alike : bool
        Whether all pictures have one size, form and depth.
    sized : bool
        Whether all pictures have one size.
    folder : bool
        Whether it is a folder on this machine.
    loops : bool
        Whether it says how often frames are shown.
    compressed : bool
        Whether the file is packed by gzip.
    extra : str or None
        Optional dependency of this project that the format needs.
    """

    title: str
    module: str
    suffixes: tuple[str, ...]
    roles: tuple[Role, ...] = (Role.PAGE, Role.FRAME, Role.SLICE)
    alike: bool = True
    sized: bool = True
    folder: bool = False
    loops: bool = False
    compressed: bool = False
    extra: str | None = None

    @property
    def extension(self) -> str:
        """The first suffix without its dot."""
        return self.suffixes[0].removeprefix(".")

    def load(self) -> Any:
        """Return the module of the format."""
        return import_module(f"{_HERE}.{self.module}")


_FRAMES = (Role.FRAME,)

FORMATS = {
    row.extension: row
    for row in (
        BookFormat("TIFF", "multipage_tiff", (".tif", ".tiff"), alike=False, sized=False),
        BookFormat("PDF", "pdf", (".pdf",), alike=False, sized=False, extra="pdf"),
        BookFormat("GIF", "animated_gif", (".gif",), _FRAMES, alike=False, loops=True),
        BookFormat("PNG", "animated_png", (".png",), _FRAMES, loops=True),
        BookFormat("WebP", "animated_webp", (".webp",), _FRAMES, alike=False, loops=True),
        BookFormat("DICOM", "multiframe_dicom", (".dcm", ".dicom"), extra="dicom"),
        BookFormat("NPY", "npy_stack", (".npy",)),
        BookFormat("NIfTI", "nifti", (".nii",), extra="nifti"),
        BookFormat("NIfTI by gzip", "nifti", (".nii.gz",), compressed=True, extra="nifti"),
        BookFormat("zarr", "zarr_stack", (".zarr",), folder=True, extra="arrays"),
    )
}
"""Formats of files of several pictures, by their extensions without the dot."""


def only_books() -> tuple[str, ...]:
    """Return the formats of which a file is always written as one of several pictures."""
    return tuple(name for name in FORMATS if name not in registry.written())


def book_format_of(path: str | os.PathLike[str]) -> str | None:
    """Return the format of ``FORMATS`` that the suffix of a path names; None for others."""
    name = os.fspath(path).lower()
    for extension, row in FORMATS.items():
        if name.endswith(row.suffixes):
            return extension
    return None


def holding(role: Role, count: int) -> list[str]:
    """Return the formats of which one file holds ``count`` pictures of a role."""
    return [name for name, row in FORMATS.items() if count == 1 or role in row.roles]
