"""Sizes in bytes, tables of values, and proportions in lowest terms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec.errors import ParameterError
from mmpcodec.planning.quantities import in_lowest_terms, parse_bytes, read_table


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("90", 90),
        ("90B", 90),
        ("20MB", 20_000_000),
        ("20 mb", 20_000_000),
        ("4.7GB", 4_700_000_000),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("1.5MiB", 1_572_864),
        (".5GiB", 1 << 29),
        ("2TB", 2 * 10**12),
        ("1TiB", 1 << 40),
        ("1.0009kB", 1000),
        (" 7 ", 7),
    ],
)
def test_sizes(text, size):
    assert parse_bytes("total", text) == size


@pytest.mark.parametrize(
    "text",
    ["", "MB", "20M", "20 apples", "-5", "1e6", "1,5MB", "nan", "5.", "0", "0.9", "9" * 31,
     "4611686018427387905", "1 2MB"],
)  # fmt: skip
def test_other_sizes_are_refused(text):
    with pytest.raises(ParameterError, match=r"^total = '.*': must be (bytes|from 1 to)"):
        parse_bytes("total", text)


def table(text, column="weight"):
    return read_table(text.encode(), "t.csv", column)


def test_table():
    found = table('name,weight\na.png,1\n\n"b, c.png", 0.5\nd,000.1234560000\n')
    assert found.numbers == {"a.png": 1_000_000, "b, c.png": 500_000, "d": 123_456}
    assert found.of(["b, c.png", "x/a.png"]) == [500_000, 1_000_000]
    assert found.unused(["x/a.png"]) == ["b, c.png", "d"]


def test_path_comes_before_last_part():
    found = table("a.png,1\nx/a.png,2\n")
    assert found.of(["a.png", "x/a.png"]) == [1_000_000, 2_000_000]
    assert found.unused(["x/a.png"]) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,1\nb,-1\n", r"t.csv:2: weight = '-1': must be a number from 0 up"),
        ("a,1.0000001\n", r"t.csv:1: weight = '1.0000001'.*6 decimals"),
        ("a,nan\n", "t.csv:1: weight = 'nan'"),
        ("a,\n", "t.csv:1: weight = ''"),
        ("a,1e3\n", "t.csv:1: weight = '1e3'"),
        ("a,1000000000000\n", r"below 10\*\*12"),
        ("a\n", "t.csv:1: 1 fields: must be two, name,weight"),
        ("a,1,2\n", "t.csv:1: 3 fields"),
        ("a,1\nb,2\na,3\n", "t.csv:3: 'a' is also in line 1"),
        ('a,1\n"b,2\n', "t.csv:2: unexpected end of data"),
        ("name,value\n", "t.csv:1: weight = 'value'"),
    ],
)
def test_wrong_tables(text, says):
    with pytest.raises(ParameterError, match=says):
        table(text)


def test_names_that_are_missing_or_mean_several():
    with pytest.raises(ParameterError, match=r"t.csv: has no weight for 'x/b.png'"):
        table("a.png,1\n").of(["a.png", "x/b.png"])
    with pytest.raises(ParameterError, match=r"t.csv:1: 'a.png' may be 'x/a.png' or 'y/a.png'"):
        table("a.png,1\n").of(["x/a.png", "y/a.png"])


@given(st.lists(st.integers(0, 10**18), min_size=1))
def test_lowest_terms_keep_proportions(numbers):
    found = in_lowest_terms(numbers)
    factor = max(numbers) // (max(found) or 1)
    assert [factor * number for number in found] == numbers
    assert math.gcd(*found) in (0, 1)


def test_lowest_terms():
    assert in_lowest_terms([1_000_000, 500_000, 0]) == [2, 1, 0]
    assert in_lowest_terms([0, 0]) == [0, 0]
