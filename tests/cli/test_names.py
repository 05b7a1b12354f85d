"""File names of strangers: they cannot steer the terminal, nor a spreadsheet."""

import csv
import json
from pathlib import Path

import pytest

from mmpcodec import pictures
from mmpcodec.runtime.files import printable

STEERING = "\x1b]0;title\x07\u202egnp\n.png"
SHOWN = "\\x1b]0;title\\x07\\u202egnp\\n.png"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (STEERING, SHOWN),
        ("naïve 図 1.png", "naïve 図 1.png"),
        ("\udcff.png", "\\udcff.png"),
        ("a\u2028b\x9bc", "a\\u2028b\\x9bc"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "--preset", "plain"),
        ("median", "-r", "1"),
        ("highlight",),
        ("pack", "--volume", "1MB"),
    ],
)
def test_names_in_output(mmp, samples, arguments):
    pictures.write(samples, STEERING)
    command, *options = arguments
    result = mmp(command, STEERING, *options)
    assert result.exit_code == 0, result.output
    assert SHOWN in result.stdout
    assert not set("\x1b\x07\u202e") & set(result.output)


def test_names_in_errors(mmp, folder):
    Path(STEERING).write_bytes(b"no picture")
    result = mmp("encode", STEERING)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"mmp: {SHOWN}: ")
    assert result.stderr.count("\n") == 1


def test_names_as_options(mmp, folder):
    result = mmp("encode", "-\x1b[2J.png")
    assert result.exit_code == 2
    assert "\x1b[2J" not in result.output


def test_json_has_the_name_itself(mmp, samples):
    pictures.write(samples, STEERING)
    result = mmp("encode", STEERING, "--preset", "plain", "--json")
    assert json.loads(result.stdout)["input"] == STEERING
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("begin", ["=", "+", "-", "@"])
def test_cells_are_no_formulas(mmp, samples, begin):
    name = f"{begin}1+1.png"
    pictures.write(samples, name)
    assert mmp("highlight", "--csv", "t.csv", "--", name).exit_code == 0
    rows = list(csv.DictReader(Path("t.csv").read_text().splitlines()))
    assert {row["input"] for row in rows} == {f"'{name}"}
