"""Options that say how picture files are read."""

from typing import Annotated

import typer

from mmpcodec.cli.help import PICTURES

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
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Refuse pictures of which something would be left out or converted, such as damaged "
        "texts; without, a remark says so.",
        rich_help_panel=PICTURES,
    ),
]
