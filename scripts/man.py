"""Write the manual pages of ``mmp`` from its help texts: one of the program, one of each command.

Usage: python scripts/man.py [FOLDER], by default docs/man, which the wheel installs.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

import mmpcodec
from mmpcodec.cli.app import app
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import flowing

FOLDER = Path(__file__).parents[1] / "docs" / "man"
DEFAULT_PANEL = "Options"
EXITS = {
    ExitCode.DONE: "Done.",
    ExitCode.FAILED: "Failed; of several inputs, all failed.",
    ExitCode.WRONG_USE: "Wrong use; nothing was done.",
    ExitCode.PARTLY_FAILED: "Some inputs failed or were left out, or a damaged file was decoded in "
    "part.",
    ExitCode.NO_BACKEND: "The backend that was asked for cannot run here.",
    ExitCode.INTERRUPTED: "Interrupted.",
    ExitCode.TERMINATED: "Terminated.",
}
EXAMPLES = {
    "mmp encode photo.png -o photo.mmp": "Encode a picture at lambda 32.",
    "mmp encode scans -O coded --update": "Encode all pictures of a folder that have changed.",
    "mmp encode page.png --target-size 20kB": "Make the best file of at most 20 000 bytes.",
    "mmp decode photo.mmp -o photo.png": "Decode a file.",
    "mmp compare photo.png photo.mmp": "Measure what was lost.",
}
ENVIRONMENT = {
    "XDG_CACHE_HOME": "Folder of caches, by default ~/.cache. `mmp budget` keeps encoded pictures "
    "in mmpcodec/ladders in it.",
    "COLUMNS": "Width of help in columns.",
    "NO_COLOR": "No colours in help and messages, if it is set.",
}


def plain(text: str) -> str:
    """Return a text in which nothing is a request or an escape of roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def prose(text: str) -> str:
    """Return a paragraph, with what stands between backquotes in bold."""
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", plain(text))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of paragraphs."""
    for number, paragraph in enumerate(flowing(text).split("\n\n")):
        if number:
            yield ".PP"
        yield prose(paragraph)


def entry(term: str, text: str) -> list[str]:
    """Return an entry of a list: a term, and below it the text."""
    return [".TP", term, prose(text)]


def option_entry(option: Any) -> list[str]:
    """Return the entry of an option, with its default and its range."""
    names = sorted(option.opts, key=len)
    term = ", ".join(f"\\fB{plain(name)}\\fR" for name in names)
    text = option.help or ""
    if not option.is_flag:
        term += f" \\fI{plain(option.metavar or 'NUMBER')}\\fR"
        least, most = (getattr(option.type, side, None) for side in ("min", "max"))
        if least is not None:
            text += f" From {least}" + ("." if most is None else f" to {most}.")
        if option.show_default and option.default is not None:
            text += f" Default: {option.default}."
    if option.required:
        text += " This option is required."
    return entry(term, text)


def synopsis(path: str, command: Any) -> str:
    """Return the line of usage."""
    words = [f"\\fB{plain(path)}\\fR"]
    if hasattr(command, "commands"):
        return " ".join([*words, "\\fICOMMAND\\fR", "[\\fIARGUMENT\\fR]..."])
    words.append("[\\fIOPTION\\fR]...")
    for argument in arguments_of(command):
        several = "..." if argument.nargs == -1 else ""
        words.append(f"\\fI{argument.metavar}\\fR{several}")
    return " ".join(words)


def arguments_of(command: Any) -> list[Any]:
    """Return the arguments of a command."""
    return [each for each in command.params if each.param_type_name == "argument"]


def options_of(command: Any) -> Iterator[str]:
    """Yield the arguments, then the options under the titles of their panels."""
    for argument in arguments_of(command):
        yield from entry(f"\\fI{argument.metavar}\\fR", argument.help)
    panels: dict[str, list[Any]] = {DEFAULT_PANEL: []}
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            panels.setdefault(parameter.rich_help_panel or DEFAULT_PANEL, []).append(parameter)
    for panel, options in panels.items():
        if options and panel != DEFAULT_PANEL:
            yield f".SS {panel}"
        for option in options:
            yield from option_entry(option)
    yield from entry("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show the help and exit.")


def page(name: str, summary: str, lines: Sequence[str], also: Sequence[str]) -> str:
    """Return a page of the manual."""
    title = plain(name.upper())
    head = [
        f'.\\" Made by scripts/man.py from the help of mmp {mmpcodec.__version__}.',
        f'.TH {title} 1 "" "mmpcodec {mmpcodec.__version__}" "mmpcodec"',
        ".SH NAME",
        f"{plain(name)} \\- {prose(summary[0].lower() + summary[1:].rstrip('.'))}",
    ]
    tail = [".SH EXIT STATUS"]
    for code, meaning in EXITS.items():
        tail += entry(f"\\fB{code:d}\\fR", meaning)
    links = [f".BR \\%{plain(one)} (1)," for one in also]
    tail += [".SH SEE ALSO", *links[:-1], links[-1].rstrip(",")]
    return "\n".join([*head, *lines, *tail]) + "\n"


def commands_of(group: Any) -> dict[str, Any]:
    """Return the commands of a group by name."""
    return {name: group.get_command(None, name) for name in group.list_commands(None)}


def page_of_command(name: str, command: Any, others: Sequence[str]) -> str:
    """Return the page of a command, with the commands that it has itself."""
    path = f"mmp {name}"
    lines = [".SH SYNOPSIS"]
    parts = commands_of(command) if hasattr(command, "commands") else {}
    usages = [synopsis(f"{path} {part}", one) for part, one in parts.items()]
    lines.append("\n.br\n".join(usages or [synopsis(path, command)]))
    lines += [".SH DESCRIPTION", *paragraphs(command.help)]
    if not parts:
        lines += [".SH OPTIONS", *options_of(command)]
    for part, one in parts.items():
        lines += [f".SH {plain(part.upper())}", *paragraphs(one.help), *options_of(one)]
    return page(f"mmp-{name}", flowing(command.help).split("\n")[0], lines, others)


def page_of_program(group: Any, commands: dict[str, Any]) -> str:
    """Return the page of the program."""
    lines = [".SH SYNOPSIS", synopsis("mmp", group), ".SH DESCRIPTION", *paragraphs(group.help)]
    lines += [
        ".PP",
        prose(
            "Each command has a page of its own; `mmp` with a command and `--help` shows its help."
        ),
    ]
    panels: dict[str, list[str]] = {}
    for name, command in commands.items():
        panels.setdefault(command.rich_help_panel, []).append(name)
    for panel, names in panels.items():
        lines.append(f".SS {panel}")
        for name in names:
            summary = flowing(commands[name].help).split("\n")[0]
            lines += entry(f"\\fB{plain(f'mmp-{name}')}\\fR(1)", summary)
    lines += [".SH OPTIONS", *options_of(group), ".SH ENVIRONMENT"]
    for variable, meaning in ENVIRONMENT.items():
        lines += entry(f"\\fB{variable}\\fR", meaning)
    lines.append(".SH EXAMPLES")
    for line, meaning in EXAMPLES.items():
        lines += entry(f"\\fB{plain(line)}\\fR", meaning)
    return page("mmp", group.help, lines, [f"mmp-{name}" for name in commands])


def pages() -> dict[str, str]:
    """Return all pages by file name."""
    group = typer.main.get_command(app)
    commands = commands_of(group)
    found = {"mmp.1": page_of_program(group, commands)}
    for name, command in commands.items():
        found[f"mmp-{name}.1"] = page_of_command(name, command, ["mmp"])
    return found


def main() -> None:
    """Write the pages, and remove those of commands that are gone."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    found = pages()
    for path in folder.glob("*.1"):
        if path.name not in found:
            path.unlink()
    for name, text in found.items():
        (folder / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
