"""The options ``--page`` and ``--pages``: numbers and ranges of the pictures of a file."""

import re
from collections import Counter
from typing import Annotated

import typer

from mmpcodec.cli.help import OUTPUT, PICTURES
from mmpcodec.cli.options import check_alone
from mmpcodec.errors import ParameterError, PictureError

LEAST_DIGITS = 3
"""Digits of the number of a page in the name of its file, unless the book needs more."""
_RANGE = re.compile(r"(\d{1,9})(?:(-)(\d{0,9}))?")

Page = Annotated[
    int | None,
    typer.Option(
        "--page",
        min=1,
        metavar="N",
        help="Frame or page to read, of animations and other files of several pictures.",
        rich_help_panel=PICTURES,
    ),
]
Pages = Annotated[
    str | None,
    typer.Option(
        "--pages",
        metavar="N-M,...",
        help="Frames or pages to take of a file of several pictures, in this order: 3-7,12 or 5-, "
        "which goes on to the last.",
        rich_help_panel=PICTURES,
    ),
]
Split = Annotated[
    bool,
    typer.Option(
        "--split",
        help="Write a file for each frame or page, book-001.mmp of book.tif, in place of one.",
        rich_help_panel=OUTPUT,
    ),
]
Together = Annotated[
    bool,
    typer.Option(
        "--together",
        help="Write the pictures of all inputs to one file, which -o names.",
        rich_help_panel=OUTPUT,
    ),
]
ChainPages = Annotated[
    int,
    typer.Option(
        "--chain-pages",
        metavar="N",
        help="Let pages of black and white continue the page before, in chains of at most N pages, "
        "where that needs fewer bytes. A page then opens after those of its chain. 1: none.",
        min=1,
        max=64,
        rich_help_panel=PICTURES,
    ),
]


def check_pages(page: int | None, pages: str | None) -> None:
    """Check the values of ``--page`` and ``--pages``, of which at most one may be given.

    Raises
    ------
    ParameterError
        If both are given, or ``pages`` is no list of ranges.
    """
    if pages is not None:
        ranges_of(pages)
        check_alone("--pages", {"--page": page})


def ranges_of(text: str) -> tuple[tuple[int, int | None], ...]:
    """Return the ranges that ``--pages`` names: first and last number, which is None if open.

    Raises
    ------
    ParameterError
        If the text is not of ranges that rise, of numbers from 1.
    """
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ParameterError(
                f"--pages {text!r}: {part.strip()!r} must be a number from 1, or a range such as "
                "3-7 or 5-; commas separate several"
            )
        first = int(match[1])
        last = first if match[2] is None else int(match[3]) if match[3] else None
        if first < 1 or (last is not None and last < first):
            raise ParameterError(
                f"--pages {text!r}: {part.strip()!r} must rise from a number of at least 1"
            )
        found.append((first, last))
    return tuple(found)


def numbers_of(text: str, count: int, name: str) -> list[int]:
    """Return the numbers that ``--pages`` names, from 1, of a file of ``count`` pictures.

    Raises
    ------
    PictureError
        If the file has no such picture, or one comes twice.
    """
    found: list[int] = []
    named = "" if text.isdecimal() else f"--pages {text}: "  # a single one may be of --page
    for first, last in ranges_of(text):
        last = count if last is None else last
        if max(first, last) > count:
            beyond = first if first > count else last
            raise PictureError(f"{name}: {named}has no page {beyond}; must be 1 to {count}")
        found += range(first, last + 1)
    if len(set(found)) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise PictureError(f"{name}: --pages {text}: page {twice} comes twice")
    return found


def padded(number: int, most: int) -> str:
    """Return the number of a page in the name of its file, so wide that names sort up to ``most``.

    Examples
    --------
    >>> from mmpcodec.cli.inputs.pages import padded
    >>> padded(7, 12), padded(7, 1200)
    ('007', '0007')
    """
    return f"{number:0{max(LEAST_DIGITS, len(str(most)))}d}"


def text_of(numbers: list[int]) -> str:
    """Return numbers that rise as ``--pages`` takes them.

    Examples
    --------
    >>> from mmpcodec.cli.inputs.pages import text_of
    >>> text_of([1, 2, 3, 5, 8, 9])
    '1-3,5,8-9'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)
