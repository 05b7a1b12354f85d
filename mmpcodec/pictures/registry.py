"""The table of picture formats, which reading, writing, suffix checks and help texts use.

A format is added by a module and a row of ``FORMATS``. Importing the table imports no format and no
NumPy: the module of a format is imported when the format is first read or written.

The module of a format defines

``read(data, name, limits)``
    the ``Picture`` in a whole file, ``data``, within ``limits``; ``name`` is for messages. Any
    exception that it raises becomes a ``PictureError``. If the row sets ``pages``, a fourth
    argument ``page`` is the number of the wanted picture, from 1, or None: see ``limits.chosen``.
    What is not read, or is converted, it gives to ``left_out.leave_out``;
``to_bytes(picture, format)``
    the file of a ``Picture``, if the row names ``planes``; ``format`` is the row's ``extension``.
    A row with a ``quality`` or a ``level`` passes the wanted one as a third argument;
``holds(picture, kind)``
    whether the file keeps metadata of this kind, or the level of white, unchanged, if the row names
    kinds in ``keeps``;
``open_parts(path, head, size, name, limits)``
    a ``Reader`` of the file, or None to read it whole, if the row sets ``parts``. ``head`` has the
    first ``HEAD`` bytes of the file, ``size`` is its number of bytes. If the row sets ``pages``, a
    sixth argument is ``page``;
``book(source, name, limits)``
    a ``books.book.Book`` of the pictures of a file, if the row sets ``pages``. ``source`` is the
    path of a file on this machine, or the bytes of the file. Pictures are read when they are asked
    for.

If the row names kinds ``on_request``, ``read`` and ``book`` take those that are wanted as ``keep``.
"""

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from mmpcodec.pictures.magics import nifti
from mmpcodec.pictures.magics.bare_dicom import is_bare_dicom

MAGIC_END = 512
"""Bytes of a file that tell its format, and no more."""
HEAD = 1 << 16
"""Bytes at the beginning of a file that ``open_parts`` gets."""

MMP = "mmp"
"""Extension of the codec's own format."""
ANY_DEPTH = tuple(range(1, 17))
ANY_PLANES = (1, 2, 3, 4)
ON_REQUEST = ("dicom",)
"""Kinds of metadata that readers give only if they are asked for."""
ALL_METADATA = ("icc", "exif", "xmp", "resolution", "text")


JPEG_START = b"\xff\xd8\xff"
"""First bytes of a JPEG file, which is kept where nothing is lost."""


class Format(NamedTuple):
    """A format of picture files.

    Parameters
    ----------
    title : str
        Name in messages and help texts.
    module : str
        Module that reads and writes the format.
    suffixes : tuple of str
        Suffixes of file names, in small letters with their dot. The first one names the format
        where it is written.
    magics : tuple of bytes
        A file of the format has one of them at byte ``magic_at``. Empty for a name of several
        formats.
    magic_at : int
    planes : tuple of int
        Numbers of planes that can be written: 1 gray, 2 gray with alpha, 3 RGB, 4 RGB with alpha.
        Empty for a format that is only read.
    depths : tuple of int
        Bits per sample that a written file keeps.
    most_depth : int
        Most bits per sample that can be written.
    most_side : int or None
        Most pixels of a row or a column that can be written; None if there is no bound.
    as_colour : bool
        Whether gray is written as RGB.
    quality : int or None
        Quality of files with loss that are written, 1 to 100; None for a format without loss.
    level : int or None
        Level of compression of files without loss that are written, 0 to 9; None for a format
        without levels.
    keeps : tuple of str
        Kinds of metadata, and "white" for the level of white, that a written file can keep.
    parts : bool
        Whether parts of a file can be read without reading the rest.
    pages : bool
        Whether a file can hold several pictures.
    extra : str or None
        Optional dependency of this project that the format needs.
    on_request : tuple of str
        Kinds of metadata that are read only if they are asked for, as they may name a patient.
    of_origin : bool
        Whether ``to_bytes`` takes an ``Origin`` as its third argument.
    measured : bool
        Whether samples are measurements, which are coded without loss unless loss is asked for.
    rendered : bool
        Whether pages may be rendered: ``read`` and ``book`` take their pixels per inch, ``dpi``.
    also : callable or None
        ``also(data)`` returns whether a file that begins with ``data`` is of the format although it
        lacks the magic.
    """

    title: str
    module: str
    suffixes: tuple[str, ...]
    magics: tuple[bytes, ...]
    magic_at: int = 0
    planes: tuple[int, ...] = ()
    depths: tuple[int, ...] = ANY_DEPTH
    most_depth: int = 16
    most_side: int | None = None
    as_colour: bool = False
    quality: int | None = None
    level: int | None = None
    keeps: tuple[str, ...] = ()
    parts: bool = False
    pages: bool = False
    extra: str | None = None
    on_request: tuple[str, ...] = ()
    of_origin: bool = False
    measured: bool = False
    rendered: bool = False
    also: Callable[[bytes], bool] | None = None

    @property
    def extension(self) -> str:
        """The first suffix without its dot."""
        return self.suffixes[0].removeprefix(".")

    @property
    def is_mmp(self) -> bool:
        """Whether the format is mmp."""
        return self.extension == MMP

    def matches(self, data: bytes) -> bool:
        """Return whether a file that begins with ``data`` is of this format."""
        return data.startswith(self.magics, self.magic_at)

    def wanted(self, keep: Collection[str], dpi: int | None = None) -> dict[str, Any]:
        """Return what ``read`` and ``book`` of the module take of the caller's wishes.

        Parameters
        ----------
        keep : collection of str
            Kinds of metadata to keep.
        dpi : int or None
            Pixels per inch of pages that are rendered.
        """
        found = tuple(kind for kind in self.on_request if kind in keep)
        wishes: dict[str, Any] = {"keep": found} if found else {}
        if self.rendered and dpi is not None:
            wishes["dpi"] = dpi
        return wishes

    def load(self) -> Any:
        """Return the module of the format."""
        return import_module(self.module)


_HERE = __name__.rpartition(".")[0]
_NETPBM = f"{_HERE}.netpbm"
_COMPRESSED = f"{_HERE}.compressed"

FORMATS = (
    Format(
        "PBM", _NETPBM, (".pbm",), (b"P1", b"P4"), planes=(1,), depths=(1,), most_depth=1,
        keeps=("white",),
    ),
    Format("PGM", _NETPBM, (".pgm",), (b"P2", b"P5"), planes=(1,), keeps=("white",), parts=True),
    Format("PPM", _NETPBM, (".ppm",), (b"P3", b"P6"), planes=(3,), keeps=("white",), parts=True),
    # Any of the three before, by the picture; their magics tell which one a file is.
    Format("PNM", _NETPBM, (".pnm",), (), planes=(1, 3), keeps=("white",)),
    Format("PAM", _NETPBM, (".pam",), (b"P7",), planes=ANY_PLANES, keeps=("white",), parts=True),
    Format(
        "PNG", f"{_HERE}.png", (".png",), (b"\x89PNG\r\n\x1a\n",), planes=ANY_PLANES,
        level=1, keeps=(*ALL_METADATA, "colours"), pages=True,
    ),
    Format(
        "TIFF", f"{_HERE}.tiff", (".tif", ".tiff"), (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
        planes=ANY_PLANES, keeps=ALL_METADATA, parts=True, pages=True,
    ),
    Format("BMP", f"{_HERE}.bmp", (".bmp",), (b"BM",)),
    Format(
        "JPEG", f"{_COMPRESSED}.jpeg", (".jpg", ".jpeg"), (JPEG_START,), planes=(1, 3),
        depths=(8,), most_depth=8, most_side=65500, quality=90, keeps=ALL_METADATA,
    ),
    Format("GIF", f"{_COMPRESSED}.gif", (".gif",), (b"GIF87a", b"GIF89a"), pages=True),
    Format(
        "WebP", f"{_COMPRESSED}.webp", (".webp",), (b"WEBP",), 8, planes=(3, 4), depths=(8,),
        most_depth=8, most_side=16383, as_colour=True, quality=90, keeps=("icc", "exif", "xmp"),
        pages=True,
    ),
    Format("AVIF", f"{_COMPRESSED}.avif", (".avif",), (b"ftypavif", b"ftypavis"), 4, pages=True),
    Format(
        "JPEG 2000", f"{_COMPRESSED}.jpeg2000", (".jp2", ".j2k", ".j2c", ".jpx"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51"),
    ),
    Format(
        "JPEG XL", f"{_COMPRESSED}.jpegxl", (".jxl",),
        (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"), pages=True, extra="formats",
    ),
    Format(
        "HEIC", f"{_COMPRESSED}.heic", (".heic", ".heif"),
        (b"ftyphei", b"ftyphev", b"ftypmif1", b"ftypmsf1"), 4, pages=True,
        extra="formats",
    ),
    Format(
        "NPY", f"{_HERE}.npy", (".npy",), (b"\x93NUMPY",), planes=ANY_PLANES, depths=(1, 8, 16),
        parts=True, pages=True, measured=True,
    ),
    Format(
        "NIfTI", f"{_HERE}.nifti.file", (".nii", ".nii.gz"), nifti.MAGICS,
        nifti.MAGIC_AT, pages=True, extra="nifti", measured=True, also=nifti.is_nifti,
    ),
    Format(
        "PDF", f"{_HERE}.pdf.file", (".pdf",), (b"%PDF-",), pages=True, extra="pdf", rendered=True
    ),
    Format("mmp", f"{_HERE}.mmp", (".mmp",), (b"\x89MMP",), parts=True, pages=True),
    Format(
        "DICOM", f"{_HERE}.dicom", (".dcm", ".dicom"), (b"DICM",), 128, planes=(1, 3),
        keeps=("icc", "resolution", "text", "dicom"), pages=True, extra="dicom",
        on_request=ON_REQUEST, of_origin=True,
        measured=True, also=is_bare_dicom,
    ),
)  # fmt: skip


def format_at(head: bytes) -> Format | None:
    """Return the format of a file that begins with ``head``, or None if no format matches.

    Of several formats the one whose magic lies furthest inside counts: the preamble of a DICOM file
    may begin as a TIFF file does.
    """
    found = [row for row in FORMATS if row.matches(head)]
    found = found or [row for row in FORMATS if row.also and row.also(head)]
    return max(found, key=lambda row: row.magic_at, default=None)


def is_mmp(head: bytes, name: str) -> bool:
    """Return whether a file that begins with ``head`` is an mmp file, maybe a damaged one.

    The name counts only if the first bytes are those of no format.
    """
    row = format_at(head)
    return name.lower().endswith(f".{MMP}") if row is None else row.is_mmp


def is_measured(data: bytes) -> bool:
    """Return whether a file of these first bytes holds measurements."""
    row = format_at(data)
    return row is not None and row.measured


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files in a folder that count as pictures."""
    return tuple(suffix for row in FORMATS for suffix in row.suffixes)


def written(*, with_mmp: bool = False) -> dict[str, Format]:
    """Return the formats that can be written, by their extension without its dot.

    mmp, which the codec writes, is one of them only on request.
    """
    return {row.extension: row for row in FORMATS if row.planes or (with_mmp and row.is_mmp)}


def readable_text() -> str:
    """Return the formats that can be read, for messages: "PBM, PGM, ... and DICOM"."""
    return listed([row.title for row in FORMATS if row.magics])


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return the words as a list in a sentence.

    Examples
    --------
    >>> from mmpcodec.pictures.registry import listed
    >>> listed(["PGM", "PPM", "PAM"], "or")
    'PGM, PPM or PAM'
    """
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
