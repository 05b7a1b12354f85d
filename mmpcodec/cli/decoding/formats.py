"""The format of the output of ``mmp decode``."""

from mmpcodec.cli import output
from mmpcodec.errors import ParameterError
from mmpcodec.pictures import registry
from mmpcodec.pictures.book_files.formats import FORMATS as BOOK_FORMATS
from mmpcodec.pictures.book_files.formats import BookFormat, book_format_of, only_books
from mmpcodec.runtime.files import STANDARD

DEFAULT_FORMAT = "png"
FORMATS = (*registry.written(), *only_books())
_ROWS: tuple[registry.Format | BookFormat, ...] = (
    *registry.written().values(),
    *BOOK_FORMATS.values(),
)
SUFFIXES = tuple(dict.fromkeys(suffix for row in _ROWS for suffix in row.suffixes))


def format_of_output(
    format: str | None, out: str | None, quality: int | None, png_level: int | None
) -> str:
    """Return the extension of the output's format, from --format, -o and the options of formats.

    Raises
    ------
    ParameterError
        If they contradict each other, or the format is unknown.
    """
    from mmpcodec import pictures

    if format is not None:
        pictures.check_format(format, others=only_books())
        if output.names_other_format(out, f".{format}"):
            raise ParameterError(f"--format {format}: {out} names another format")
    elif out is not None and out != STANDARD:
        format = format_of_name(out)
    found = format or DEFAULT_FORMAT
    row = registry.written().get(found)
    if quality is not None and (row is None or row.quality is None):
        raise ParameterError(f"--quality {quality}: has no effect on {found}")
    if png_level is not None and found != "pdf" and (row is None or row.level is None):
        raise ParameterError(f"--png-level {png_level}: has no effect on {found}")
    return found


def format_of_name(name: str) -> str:
    """Return the extension of the format that the name of an output tells; PNG without a name.

    Raises
    ------
    ParameterError
        If the suffix is that of no format that can be written.
    """
    from mmpcodec import pictures

    if name == STANDARD:
        return DEFAULT_FORMAT
    name = name.rstrip("/")
    return book_format_of(name) or pictures.format_of(name, others=only_books())


def has_one(format: str) -> bool:
    """Return whether a file of a format may hold one picture, not as a book of one."""
    return format in registry.written()
