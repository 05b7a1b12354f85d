"""Levels of pictures in the files of ``mmp encode``."""

import mmap
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.pages import text_of
from mmpcodec.errors import FormatError, MmpError
from mmpcodec.limits import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mmpcodec import Encoding
    from mmpcodec.codec.tiles.renditions import LevelFiles

LevelsOption = Annotated[
    bool,
    typer.Option(
        "--levels",
        help="Add renditions of half the size, a quarter and so on, down to 256 samples, for quick "
        "thumbnails and views. They take at most 35 % more bytes; larger ones that do not fit are "
        "left out, which is said.",
        rich_help_panel=OUTPUT,
    ),
]


def check_levels(levels: "LevelFiles | None") -> None:
    """Decode levels, which compares them with the encoder's checksums.

    Raises
    ------
    MmpError
        If one does not decode.
    """
    import mmpcodec

    for factor, file in () if levels is None else levels.pairs:
        try:
            mmpcodec.decode(file, limits=UNLIMITED)
        except FormatError as error:
            raise MmpError(
                f"verification failed, nothing was written: level 1/{factor}: {error}"
            ) from error


def joined_levels(picture: bytes, levels: "LevelFiles") -> bytes:
    """Return a file of a picture and its levels."""
    from mmpcodec.codec.tiles.renditions import joined

    return joined(picture, levels.files)


def write_with_levels(
    stream: BinaryIO,
    write: "Callable[[BinaryIO], Encoding]",
    levels_of: "Callable[[Encoding], LevelFiles | None]",
) -> "tuple[Encoding, LevelFiles | None]":
    """Write a picture that is larger than memory, and its levels.

    The picture waits in a temporary file, because its record begins with its size.

    Parameters
    ----------
    stream : binary stream
    write : callable
        Encodes the picture to a stream.
    levels_of : callable
        Encodes its levels.
    """
    from mmpcodec.codec.tiles.renditions import write_joined

    with TemporaryFile() as waiting:
        found = write(waiting)
        levels = levels_of(found)
        waiting.flush()
        with mmap.mmap(waiting.fileno(), 0, access=mmap.ACCESS_READ) as data:
            view = memoryview(data)
            try:
                if levels is None or not levels.files:
                    stream.write(view)
                else:
                    write_joined(stream, view, levels.files)
            finally:
                view.release()
    return found, levels


def levels_text(levels: "LevelFiles | None", picture_bytes: int) -> str:
    """Return what is said of the levels of a file, which were asked for."""
    if levels is None:
        return "no levels, as its longer side has less than 511 samples"
    return levels.text(picture_bytes)


def levels_facts(levels: "LevelFiles | None") -> dict[str, Any] | None:
    """Return the levels of a file as JSON can hold them."""
    if levels is None:
        return None
    return {
        "factors": list(levels.factors),
        "bytes": levels.size,
        "lam": None if levels.max_error else levels.lam,
        "times_in_largest": levels.times,
        "grays_in_largest": levels.shades or None,
        "left_out": list(levels.left_out),
    }


def pages_text(rows: "Sequence[tuple[int, int, dict[str, Any] | None]]", role: str) -> str:
    """Return what is said of the levels of pages.

    Parameters
    ----------
    rows : sequence of (int, int, dict or None)
        Number of each page, bytes of its file, and ``levels_facts`` of it.
    role : str
        Of the pages.
    """
    from mmpcodec.codec.tiles.renditions import MOST_SHARE, names_of

    known = [(page, levels) for page, _, levels in rows if levels is not None]
    if not known:
        return ""
    added = sum(levels["bytes"] for _, levels in known)
    own = sum(size for _, size, _ in rows) - added
    what = "lossy levels" if any(levels["lam"] for _, levels in known) else "lossless levels"
    texts = [f"{what} +{100 * added / own:.1f} % bytes"]
    pages: dict[str, list[int]] = {}
    for page, levels in known:
        for text in _savings(levels, names_of, MOST_SHARE):
            pages.setdefault(text, []).append(page)
    for text, numbers in pages.items():
        where = role + "s" * (len(numbers) > 1)
        texts.append(f"{text} ({where} {text_of(numbers)})" if len(numbers) < len(rows) else text)
    return "".join(f", {text}" for text in texts)


def _savings(
    levels: dict[str, Any], names_of: "Callable[[list[int]], str]", share: float
) -> "Iterator[str]":
    """Yield what was done to the levels of a page so that they take no more than a share."""
    if levels["times_in_largest"] > 1:
        yield f"{levels['times_in_largest']} times the lambda in 1/{levels['factors'][0]}"
    if levels["grays_in_largest"]:
        yield f"{levels['grays_in_largest']} grays in 1/{levels['factors'][0]}"
    if levels["left_out"]:
        left = names_of(levels["left_out"])
        yield f"without {left}, which would take more than {100 * share:.0f} % bytes"
