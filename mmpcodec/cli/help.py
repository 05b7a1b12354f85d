"""How help is laid out: the panels of commands and options, and lines that fill the terminal."""

import inspect
from typing import Any

from typer.core import TyperCommand

OUTPUT = "Output"
RATE = "Size and quality"
SEARCH = "Coding"
PICTURES = "Pictures"
LIMITS = "Limits of what is read"
RUNNING = "Running"
MESSAGES = "Messages"

COMMANDS = {
    "Codec": {
        "encode": "Encode pictures to mmp files.",
        "decode": "Decode mmp files to pictures.",
        "info": "Show what mmp files hold, and what takes their bits.",
        "view": "Show pictures in the browser.",
        "page": "Write pictures and their viewer into one HTML file.",
    },
    "Measuring": {
        "compare": "Measure how two pictures differ, to the eye and in numbers.",
        "sweep": "Measure rate, distortion and time of mmp and other codecs.",
        "report": "Draw a sweep as curves, tables and an HTML page.",
    },
    "Tools": {
        "highlight": "Find and draw the brightest rectangles of pictures.",
        "median": "Remove specks from pictures with a median filter.",
        "budget": "Encode pictures so that all files together fit into a size.",
        "pack": "Choose files that fill a medium best, or are worth most.",
        "solve": "Solve knapsack, subset-sum, max-sum and selection problems.",
        "thumbnail": "Draw a small PNG of a picture.",
        "install-desktop": "Tell file managers and `file` about mmp pictures.",
    },
}
"""Panels of commands in the order of ``mmp --help``, which shows them without importing them.

Other commands follow among the tools.
"""
OTHERS = "Tools"
LAST = "doctor"


def panel_of(name: str) -> str:
    """Return the panel of a command."""
    return next((panel for panel, names in COMMANDS.items() if name in names), OTHERS)


def in_order(names: set[str]) -> list[str]:
    """Return the names of commands in the order of their panels."""
    first = [name for group in COMMANDS.values() for name in group if name in names]
    return [*first, *sorted(names.difference(first), key=lambda name: (name == LAST, name))]


def summaries() -> dict[str, TyperCommand]:
    """Return stand-ins of the commands, which have only what ``mmp --help`` shows."""
    return {
        name: TyperCommand(name, help=summary, rich_help_panel=panel)
        for panel, names in COMMANDS.items()
        for name, summary in names.items()
    }


def flowing(text: str) -> str:
    """Return a docstring without the line breaks inside of its paragraphs."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


class Command(TyperCommand):
    """A command with flowing paragraphs, ``IN...`` in its usage, and help among its messages."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any):
        super().__init__(*arguments, help=flowing(help or ""), **options)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        words = ["[OPTIONS]"]
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                name = parameter.metavar or (parameter.name or "").upper()
                words.append(f"{name}..." if parameter.nargs == -1 else name)
        return words

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = self.last_panel()
        return option

    def last_panel(self) -> str | None:
        """Return the panel of the last option, or None for that of all options."""
        panels = [getattr(parameter, "rich_help_panel", None) for parameter in self.params]
        return MESSAGES if MESSAGES in panels else None
