"""The option ``--pages``: which pages its text names, and texts that name none."""

import pytest

from mmpcodec.cli.inputs.pages import numbers_of, ranges_of, text_of
from mmpcodec.errors import ParameterError, PictureError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3", [3]),
        ("3-5", [3, 4, 5]),
        ("3-5,1", [3, 4, 5, 1]),
        ("5-", [5, 6, 7]),
        (" 1 , 6- ", [1, 6, 7]),
        ("7-7", [7]),
    ],
)
def test_numbers(text, numbers):
    assert numbers_of(text, 7, "a.tif") == numbers


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "''"),
        ("1,,2", "''"),
        ("a", "'a'"),
        ("-3", "'-3'"),
        ("1-2-3", "'1-2-3'"),
        ("1.5", "'1.5'"),
    ],
)
def test_text_that_is_no_range(text, part):
    with pytest.raises(ParameterError) as error:
        ranges_of(text)
    assert str(error.value) == (
        f"--pages {text!r}: {part} must be a number from 1, or a range such as 3-7 or 5-; commas "
        "separate several"
    )


@pytest.mark.parametrize(("text", "part"), [("0", "0"), ("1,7-3", "7-3"), ("0-3", "0-3")])
def test_ranges_rise_from_one(text, part):
    with pytest.raises(ParameterError) as error:
        ranges_of(text)
    assert str(error.value) == (f"--pages {text!r}: {part!r} must rise from a number of at least 1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("9", "has no page 9; must be 1 to 5"),
        ("4-6", "has no page 6; must be 1 to 5"),
        ("7-", "has no page 7; must be 1 to 5"),
        ("2,1-3", "page 2 comes twice"),
    ],
)
def test_pages_that_a_file_lacks(text, problem):
    with pytest.raises(PictureError) as error:
        numbers_of(text, 5, "a.tif")
    option = "" if text == "9" else f"--pages {text}: "
    assert str(error.value) == f"a.tif: {option}{problem}"


def test_text_of_numbers():
    assert text_of([1, 2, 3, 5, 8, 9]) == "1-3,5,8-9"
    assert text_of([4]) == "4"
    assert text_of([]) == ""


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_page_and_pages_exclude_each_other(mmp, command):
    result = mmp(command, "a.mmp", "--page", 1, "--pages", "1-2")
    assert result.exit_code == 2
    assert "--pages and --page: give only one of them" in result.stderr
