"""Options that say how picture files are read and changed."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mmpcodec.analysis.denoise import check_median_radius
from mmpcodec.checks import check_int, check_range
from mmpcodec.cli.completion import words
from mmpcodec.cli.help import PICTURES
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import ParameterError
from mmpcodec.limits import MOST_DPI
from mmpcodec.metadata import ALL
from mmpcodec.params import check_tile_size
from mmpcodec.pictures.registry import ON_REQUEST

Dpi = Annotated[
    int | None,
    typer.Option(
        "--dpi",
        min=1,
        max=MOST_DPI,
        metavar="N",
        help="Pixels per inch of pages of PDF that are no single image, which are rendered; 300 by "
        "default. A remark names them.",
        rich_help_panel=PICTURES,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Refuse pictures of which something would be left out or converted, such as damaged "
        "texts; without, a remark says so.",
        rich_help_panel=PICTURES,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="KIND",
        help="Metadata to keep that are left out by default: dicom, all attributes of DICOM files, "
        "which may name the patient; mmp decode writes DICOM again with them.",
        rich_help_panel=PICTURES,
        autocompletion=words(ON_REQUEST),
    ),
]
Range = Annotated[
    str | None,
    typer.Option(
        "--range",
        metavar="LOW:HIGH",
        help="Levels that count as black and white, such as 0:4095, to which lambda, quality and "
        "measures of pictures of more than 8 bits refer; by default the window of the file, or the "
        "levels that the picture uses.",
        rich_help_panel=PICTURES,
    ),
]


def levels_of(text: str | None) -> tuple[int, int] | None:
    """Return the levels that ``--range`` names.

    Raises
    ------
    ParameterError
        If the text has another form, or the levels are out of range.
    """
    if text is None:
        return None
    low, colon, high = text.partition(":")
    if not (colon and low.strip().isdecimal() and high.strip().isdecimal()):
        raise ParameterError(f"range = {text!r}: must be LOW:HIGH, two levels such as 0:4095")
    return check_range((int(low), int(high)))


def check_kept(keep: Sequence[str], strip: Sequence[str]) -> None:
    """Check the kinds of metadata to keep that are left out by default.

    Raises
    ------
    ParameterError
        If a kind is unknown, or is also one to leave out.
    """
    for kind in keep:
        if kind not in ON_REQUEST:
            raise ParameterError(f"--keep {kind}: must be {' or '.join(ON_REQUEST)}")
        if gone := {kind, ALL} & {*strip}:
            raise ParameterError(f"--keep {kind} and --strip {gone.pop()}: give only one of them")


def check_changes(
    denoise: int | None, depth: int | None, tile: int | None, strip: Sequence[str]
) -> None:
    """Check how pictures are changed and cut before they are encoded.

    Raises
    ------
    ParameterError
        If a value lies outside its range.
    """
    from mmpcodec.metadata import Metadata

    if denoise is not None:
        check_median_radius(denoise, "denoise")
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    if tile is not None:
        check_tile_size(tile, "tile")
    Metadata().without(*strip)
