"""Help at 80 columns: nothing is cut, everything is in a panel."""

import itertools
import re

import pytest
import typer

from mmpcodec.cli.app import NAMES, app
from mmpcodec.cli.help import COMMANDS, flowing, in_order, panel_of

SOLVERS = ("knapsack", "subset-sum", "max-sum", "select")
PAGES = [[], *([name] for name in sorted(NAMES)), *(["solve", name] for name in SOLVERS)]


@pytest.fixture
def shown(mmp, monkeypatch):
    """Gives the help of a command as a terminal of 80 columns shows it."""
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *names: mmp(*names, "--help").stdout


@pytest.mark.parametrize("names", PAGES, ids=" ".join)
def test_a_page_fits_into_80_columns(shown, names):
    text = shown(*names)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "{" not in text


@pytest.mark.parametrize("names", PAGES, ids=" ".join)
def test_paragraphs_flow(shown, names):
    """A line that is not the last of its paragraph has no room for the word after it."""
    text = re.split(r"^[╭]", shown(*names), maxsplit=1, flags=re.MULTILINE)[0]
    for paragraph in re.split(r"\n *\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        for line, following in itertools.pairwise(lines):
            assert 1 + len(line) + 1 + len(following.split()[0]) >= 80, line


def test_commands_are_in_panels_and_take_a_line_each(shown):
    text = shown()
    places = [text.find(f"─ {panel} ─") for panel in COMMANDS]
    assert places == sorted(places)
    assert places[0] > 0
    for name in NAMES:
        line = next(line for line in text.splitlines() if line.startswith(f"│ {name} "))
        assert line.rstrip("│ ").endswith(".")


def test_summaries_are_those_of_the_commands():
    group = typer.main.get_command(app)
    for panel, names in COMMANDS.items():
        for name, summary in names.items():
            command = group.get_command(None, name)
            assert (command.rich_help_panel, command.help.split("\n")[0]) == (panel, summary)


def test_effort_and_max_error_say_what_they_need(shown):
    text = " ".join(shown("encode").replace("│", " ").split())
    assert "It also chooses the form of lossless samples" in text
    assert "or by a number in the unit of the picture, such as 2HU" in text
    assert "excludes targets and, above 0, --lossless" in text


def test_panels_of_commands():
    assert panel_of("compare") == "Measuring"
    assert panel_of("a-new-one") == "Tools"
    names = in_order({"doctor", "solve", "a-new-one", "encode", "sweep"})
    assert names == ["encode", "sweep", "solve", "a-new-one", "doctor"]


@pytest.mark.parametrize("name", ["encode", "decode", "highlight", "budget"])
def test_options_are_in_panels(shown, name):
    text = shown(name)
    panels = re.findall(r"─ ([\w ]+?) ─+╮", text)
    assert {"Output", "Running", "Limits of what is read"} <= set(panels)
    assert panels[-1] == "Messages"
    messages = text[text.find("─ Messages ─") :]
    assert {"--json", "--quiet", "--help"} <= set(re.findall(r"--\w+", messages))


def test_every_option_of_encode_has_a_panel(shown):
    command = typer.main.get_command(app).get_command(None, "encode")
    options = [each for each in command.params if each.param_type_name == "option"]
    assert all(option.rich_help_panel for option in options)


def test_several_inputs_are_shown(shown):
    assert "Usage: mmp encode [OPTIONS] IN..." in shown("encode")
    assert "Usage: mmp compare [OPTIONS] A B" in shown("compare")


def test_flowing():
    assert flowing("One\n    two.\n\n    Three\n    four.\n") == "One two.\n\nThree four."
