"""Problem files of the solvers: JSON, CSV, NPY."""

import io
import json
import math
import re

import numpy as np
import pytest

from mmpcodec.errors import ParameterError
from mmpcodec.solvers.files import (
    check_numbers,
    format_of,
    read_array,
    read_knapsack,
    read_subset_sum,
)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def broken_header(text):
    """An NPY file of version 1 whose header is any text."""
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def as_json(value):
    return json.dumps(value).encode()


ITEMS = {"profits": [7, 5, 5], "weights": [6, 5, 5], "capacity": 10}


def test_items_in_every_form():
    forms = [
        read_knapsack(as_json(ITEMS), "p", "json"),
        read_knapsack(b"profit,weight\n7,6\n5,5\n\n5, 5\n", "p", "csv"),
        read_knapsack(npy(np.array([[7, 6], [5, 5], [5, 5]], np.int16)), "p", "npy"),
    ]
    for problem in forms:
        assert problem.items.profits == [7, 5, 5]
        assert problem.items.weights == [[6], [5], [5]]
        assert problem.items.names is None
        assert problem.groups is None
        assert not problem.exact_fill
    assert [problem.capacities for problem in forms] == [[10], None, None]


def test_names_budgets_and_exact_fill():
    problem = read_knapsack(b"profit,weight,copies\n7,6,2\n5,5, inf\n", "p", "csv")
    assert problem.copies == [2, math.inf]
    problem = read_knapsack(b"weight,name,profit,weight\n1,a,7,6\n2,b,-5,5\n", "p", "csv")
    assert problem.items.names == ["a", "b"]
    assert problem.items.weights == [[1, 6], [2, 5]]
    assert problem.items.profits == [7, -5]
    value = {"profits": [1], "weights": [[2, 3]], "names": ["a"], "capacity": [4, 5],
             "exact_fill": True}  # fmt: skip
    problem = read_knapsack(as_json(value), "p", "json")
    assert problem.items.weights == [[2, 3]]
    assert problem.items.names == ["a"]
    assert problem.capacities == [4, 5]
    assert problem.exact_fill


def test_groups():
    group = {"name": "a", "profits": [1, 2], "weights": [3, 4], "names": ["x", "y"]}
    value = {"groups": [group, {"name": "b", "profits": [5], "weights": [6]}], "capacity": 9}
    text = b"group,name,profit,weight\na,x,1,3\nb,z,5,6\na,y,2,4\n"
    for problem in (
        read_knapsack(as_json(value), "p", "json"),
        read_knapsack(text, "p", "csv"),
    ):
        assert problem.items is None
        assert problem.group_names == ["a", "b"]
        assert [each.profits for each in problem.groups] == [[1, 2], [5]]
        assert [each.weights for each in problem.groups] == [[[3], [4]], [[6]]]
        assert problem.groups[0].names == ["x", "y"]


def test_subset_sums_in_every_form():
    value = {"weights": [3, 5], "names": ["a", "b"], "capacity": [4, 5]}
    problem = read_subset_sum(as_json(value), "p", "json")
    assert (problem.weights, problem.names, problem.capacities) == ([3, 5], ["a", "b"], [4, 5])
    problem = read_subset_sum(b"name,weight\na,3\nb,5\n", "p", "csv")
    assert (problem.weights, problem.names, problem.capacities) == ([3, 5], ["a", "b"], None)
    problem = read_subset_sum(npy(np.array([3, 5])), "p", "npy")
    assert (problem.weights, problem.names) == ([3, 5], None)


@pytest.mark.parametrize(
    ("data", "format", "array"),
    [
        (b"[1, -2, 3]", "json", np.array([1, -2, 3])),
        (b'{"values": [[1, 2], [3, 4]]}', "json", np.array([[1, 2], [3, 4]])),
        (b"[[[1, 2.5]]]", "json", np.array([[[1, 2.5]]])),
        (b"[]", "json", np.zeros(0)),
        (b"1\n-2\n3\n", "csv", np.array([1, -2, 3])),
        (b"1,-2,3\n", "csv", np.array([1, -2, 3])),
        (b"1,2\n3, 4\n", "csv", np.array([[1, 2], [3, 4]])),
        (b"1,2\n3,1e3\n", "csv", np.array([[1, 2], [3, 1000.0]])),
        (npy(np.ones((2, 3), np.float32)), "npy", np.ones((2, 3), np.float32)),
    ],
)
def test_arrays(data, format, array):
    found = read_array(data, "p", format)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (b'{"profits": [7', "json", "p.x:1: column 15: Expecting ',' delimiter"),
        (b'{\n"profits": [7], "profits": [7]}', "json", "p.x: field 'profits' comes twice"),
        (b"\xff\xfe\xfa", "json", "p.x: is no JSON"),
        (b"[" * 100_000, "json", "p.x: is no JSON"),
        (b"[1]", "json", "p.x: must be a JSON object"),
        (b'{"weights": [1]}', "json", "p.x: profits: is missing"),
        (b'{"profits": 7, "weights": [1]}', "json", "p.x: profits = 7: must be a list"),
        (b'{"profits": [7, 8], "weights": [1]}', "json", "p.x: weights: has 1: must have 2, one"),
        (b'{"profits": [7], "weights": [-1]}', "json", r"weights\[0\] = -1: must be an integer"),
        (b'{"profits": [7], "weights": [1.5]}', "json", r"weights\[0\] = 1.5: must be an integer"),
        (b'{"profits": [7], "weights": [true]}', "json", r"weights\[0\] = true: must be an"),
        (b'{"profits": [NaN], "weights": [1]}', "json", r"profits\[0\] = NaN: must be an integer"),
        (b'{"profits": ["7"], "weights": [1]}', "json", r'profits\[0\] = "7": must be an integer'),
        (b'{"profits": [7, 7], "weights": [1, [1, 2]]}', "json", r"weights\[1\]: 2: must be 1"),
        (b'{"profits": [7], "weights": [1], "capacity": -1}', "json", "capacity = -1: must be"),
        (b'{"profits": [7], "weights": [1], "capacity": [1, 2.5]}', "json", r"capacity\[1\] = 2.5"),
        (b'{"profits": [7], "weights": [1], "color": 1}', "json", "p.x: color: is not one of"),
        (b'{"profits": [7], "weights": [1], "names": []}', "json", "names: 0: must be 1"),
        (b'{"profits": [7], "weights": [1], "names": [7]}', "json", r"names\[0\] = 7: must be a n"),
        (b'{"profits": [7,7], "weights": [1,1], "names": ["a","a"]}', "json",
         r"names\[1\] = 'a': is also names\[0\]"),
        (b'{"profits": [7], "weights": [1], "exact_fill": 1}', "json", "exact_fill = 1: must be t"),
        (b'{"groups": [7]}', "json", "groups: must be a list of objects"),
        (b'{"groups": [{"profits": [7]}]}', "json", r"p.x: groups\[0\].weights: is missing"),
        (b'{"groups": [{"profits": [7], "weights": [-1]}]}', "json",
         r"groups\[0\].weights\[0\] = -1"),
        (b'{"groups": [], "items": 1}', "json", "p.x: items: is not one of groups"),
        (b"", "csv", "p.x:1: '': must be a head with profit and weight"),
        (b"7,6\n", "csv", "p.x:1: '7,6': must be a head"),
        (b"profit,weight,size\n", "csv", "known columns are name, group, profit, weight"),
        (b"profit,profit,weight\n", "csv", "p.x:1: 'profit,profit,weight': must be a head"),
        (b"profit,weight\n7\n", "csv", "p.x:2: 1 fields: must be 2"),
        (b"profit,weight\n7,6\n7,x\n", "csv", "p.x:3: weight = 'x': must be an integer"),
        (b"profit,weight\n7,-6\n", "csv", "p.x:2: weight = -6: must be an integer from 0 to"),
        (b"profit,weight\n7.5,6\n", "csv", "p.x:2: profit = '7.5': must be an integer"),
        (b'{"profits": [1e300], "weights": [3]}', "json", r"profits\[0\].*: must be an integer"),
        (b"profit,weight\n7,1e300\n", "csv", "p.x:2: weight = '1e300': must be an integer"),
        (b"profit,weight\n7,9007199254740992.0\n", "csv", "weight = '9007.*': must be an integer"),
        (b"profit,weight\n7,1_0.0\n", "csv", "weight = '1_0.0': must be an integer"),
        (b"profit,weight\n7,6\n7,99999999999999999999\n", "csv",
         "p.x:3: weight = 99999999999999999999: must be an integer from 0 to 4611686018427387903"),
        (b"profit,weight\n-99999999999999999999,6\n", "csv", "p.x:2: profit = -999999999999999999"),
        (b'{"profits": [7], "weights": [[]]}', "json", r"weights\[0\] = \[\]: must be one wei"),
        (b'{"profits": [7, 7], "weights": [[], []]}', "json", r"weights\[0\] = \[\]: must be one"),
        (b'{"groups": [{"profits": [7], "weights": [[]]}]}', "json", r"groups\[0\].weights\[0\] ="),
        (b'{"profits": [7], "weights": [4611686018427387904]}', "json",
         r"weights\[0\] = 4611686018427387904: must be an integer from 0 to 4611686018427387903"),
        (npy(np.array([[1, 2], [1, (1 << 64) - 1]], np.uint64)), "npy",
         r"\[1, 1\] = 18446744073709551615: must be from 0 to 4611686018427387903"),
        (npy(np.array([[1, 2], [1 << 62, 1]], np.uint64)), "npy",
         r"\[1, 0\] = 4611686018427387904: must be from -4611686018427387903 to"),
        (broken_header("((((1"), "npy", "p.x: is no NPY file of numbers: "),
        (broken_header("{'descr': '<i8', 'fortran_order': False, 'shape': (" + "9" * 31 + ",)}"),
         "npy", "p.x: is no NPY file of numbers: "),
        (broken_header("-" * 5000 + "1"), "npy", "p.x: is no NPY file of numbers: "),
        (broken_header("{'descr': '<i8',\n 'fort"), "npy", "p.x: is no NPY file of numbers: "),
        (b"profit,weight,copies\n7,6,two\n", "csv", "p.x:2: copies = 'two': must be an integer or"),
        (b"profit,weight,copies\n7,6,-1\n", "csv", "p.x:2: copies = -1: must be an integer from 0"),
        (b"profit,weight,copies,group\n7,6,1,a\n", "csv", "p.x: column copies: only items have"),
        (b'{"profits": [7], "weights": [6], "copies": [1, 2]}', "json",
         "p.x: copies: has 2: must have 1, one for each profit, or be one number"),
        (b'{"profits": [7], "weights": [6], "copies": "some"}', "json", 'copies = "some": must'),
        (b'{"profits": [7], "weights": [6], "copies": [0.5]}', "json", r"copies\[0\] = 0.5: must"),
        (b'{"profits": [7], "weights": [6], "least_items": -1}', "json", "least_items = -1: must"),
        (b'{"profits": [7], "weights": [6], "most_items": null}', "json", "x: most_items = null:"),
        (b'{"groups": [], "copies": 1}', "json", "p.x: copies: is not one of groups, capacity, ex"),
        (b"name,profit,weight\na,7,6\na,7,6\n", "csv", "p.x:3: name 'a' is also in p.x:2"),
        (b'profit,weight\n"7,6\n', "csv", "p.x:2: unexpected end of data"),
        (npy(np.full((2, 2), 0.5)), "npy", r"p.x: values\[0, 0\] = 0.5: must be an integer"),
        (npy(np.ones(2, int)), "npy", r"p.x: shape \(2,\): must have 2 dimensions"),
        (npy(np.ones((2, 1), int)), "npy", "must be profits, then weights"),
        (npy(np.array([[1, 2], [3, -4]])), "npy", r"p.x: \[1, 1\] = -4: must be from 0 to 46"),
        (npy(np.ones((2, 2), int))[:-1], "npy", "p.x: is no NPY file of numbers"),
        (b"", "npy", "p.x: is no NPY file of numbers"),
        (b"PK\3\4", "npy", "p.x: is no NPY file"),
        (npy(np.array([{}], object)), "npy", "p.x: is no NPY file of numbers"),
    ],
)  # fmt: skip
def test_wrong_knapsacks_are_named(data, format, says):
    with pytest.raises(ParameterError, match=says) as error:
        read_knapsack(data, "p.x", format)
    assert str(error.value).startswith("p.x")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (b'{"weights": [3, -5]}', "json", r"p.x: weights\[1\] = -5: must be an integer from 0 to"),
        (b'{"weights": [3], "profits": [3]}', "json", "p.x: profits: is not one of weights"),
        (b"weight\n3\n2.5\n", "csv", "p.x:3: weight = '2.5'"),
        (b"weight,weight\n", "csv", "p.x:1: 'weight,weight'"),
        (npy(np.array([3, -5])), "npy", r"p.x: \[1\] = -5: must be from 0 to 9223372036854775807"),
        (npy(np.array([3, 1 << 63], np.uint64)), "npy", r"p.x: \[1\] = 9223372036854775808: must"),
        (
            b"weight\n3\n9223372036854775808\n",
            "csv",
            "p.x:3: weight = 9223372036854775808: must be",
        ),
    ],
)
def test_wrong_subset_sums_are_named(data, format, says):
    with pytest.raises(ParameterError, match=says):
        read_subset_sum(data, "p.x", format)


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (b"7", "json", "p.x: must be a list of numbers, or an object"),
        (b'{"data": []}', "json", "p.x: data: is not one of values"),
        (b'[1, "2"]', "json", r'p.x: values\[1\] = "2": must be a number'),
        (b"[1, null]", "json", r"p.x: values\[1\] = null: must be a number"),
        (b"[[1, 2], [3]]", "json", r"p.x: values\[1\] = \[3\]: must be a list of 2"),
        (b"[[1, 2], 3]", "json", r"p.x: values\[1\] = 3: must be a list of 2"),
        (b"[9223372036854775808]", "json", "p.x: values: must fit in 64 bits"),
        (b"1,2\n3\n", "csv", "p.x:2: 1 fields: must be 2"),
        (b"1;2,3\n", "csv", "p.x:1: field 1 = '1;2': must be a number"),
        (b"1,2\n3,x\n", "csv", "p.x:2: field 2 = 'x': must be a number"),
        (b"1,\n", "csv", "p.x:1: field 2 = '': must be a number"),
        (
            npy(np.ones(2, np.complex64)),
            "npy",
            "p.x: type complex64: must be numbers of at most 64",
        ),
    ],
)
def test_wrong_arrays_are_named(data, format, says):
    with pytest.raises(ParameterError, match=says):
        read_array(data, "p.x", format)


def test_place_of_what_is_no_number():
    check_numbers(np.array([1, 2]), "p.x")
    with pytest.raises(ParameterError, match=r"p.x: values\[1, 0\] = NaN: must be a number"):
        check_numbers(np.array([[1, 2], [np.nan, np.nan]]), "p.x")


def test_format_of_a_file():
    assert format_of("a/b.JSON") == "json"
    with pytest.raises(
        ParameterError, match=r"a.txt: extension 'txt' must be one of json, csv, npy"
    ):
        format_of("a.txt")


SEVERAL = b"2\n 3 1 12  7 5 5  6 5 5  11\n 3 2 9.5  4.5 5 2.5  3 4 1  2 2 6  7 6\n"


def test_problems_of_the_or_library():
    first = read_knapsack(SEVERAL, "p", "or-library", 1)
    assert (first.items.profits, first.decimals) == ([7, 5, 5], 0)
    assert (first.items.weights, first.capacities) == ([[6], [5], [5]], [11])
    second = read_knapsack(SEVERAL, "p", "or-library", 2)
    assert (second.items.profits, second.decimals) == ([45, 50, 25], 1)
    assert (second.items.weights, second.capacities) == ([[3, 2], [4, 2], [1, 6]], [7, 6])
    alone = read_knapsack(SEVERAL[2:].partition(b"11")[0] + b"11", "p", "or-library")
    assert alone == first


@pytest.mark.parametrize(
    ("data", "number", "says"),
    [
        (SEVERAL, None, "p: has 2 problems; choose one of 1 to 2 with --problem"),
        (SEVERAL, 3, "p: problem = 3: must be from 1 to 2"),
        (SEVERAL[:-2], 1, "p: its 24 numbers are neither a problem nor a count and problems"),
        (b"", None, "p: no number: must be numbers"),
        (b"1 1 0 x 1 1", None, "p: 'x': must be numbers"),
        (b"1 0 0 5", None, "p: its 4 numbers are neither"),
        (b"1 1 0 5 2.5 4", None, "p: weight = 2.5: must be an integer from 0 to"),
        (b"1 1 0 5 -2 4", None, "p: weight = -2: must be an integer from 0 to"),
        (b"1 1 0 5 2 -4", None, "p: capacity = -4: must be an integer from 0 to"),
        (b"1 1 0 4611686018427387904 2 4", None, "p: profit = 4611686018427387904: must be"),
    ],
)
def test_files_that_are_not_of_the_or_library(data, number, says):
    with pytest.raises(ParameterError, match=re.escape(says)):
        read_knapsack(data, "p", "or-library", number)


def test_only_files_of_the_or_library_have_several_problems():
    with pytest.raises(ParameterError, match="p: problem = 2: a file in csv has one problem"):
        read_knapsack(b"profit,weight\n", "p", "csv", 2)


def test_semicolons_separate_where_no_comma_does():
    problem = read_knapsack(b"name;profit;weight\na,b;7;6\nc;5;5\n", "p", "csv")
    assert (problem.items.names, problem.items.profits) == (["a,b", "c"], [7, 5])
    assert read_array(b"\n1;2\n3;4.5\n", "p", "csv").tolist() == [[1, 2], [3, 4.5]]
    assert read_knapsack(b"name,profit,weight\na;b,7,6\n", "p", "csv").items.names == ["a;b"]


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (b'{"profits": [7.0, 5e0], "weights": [[3.0], 4], "capacity": 4.0, "copies": 2.0}', "json"),
        (b"profit,weight,copies\n7.0,3.,2.0\n5e0, 4.000e+00 ,2\n", "csv"),
    ],
)
def test_floats_that_are_integers(data, format):
    """Spreadsheets and numpy.savetxt write 3 as 3.0 and as 3.000e+00."""
    found = read_knapsack(data, "p.x", format)
    assert found.items.profits == [7, 5]
    assert found.items.weights == [[3], [4]]
    assert found.copies in (2, [2, 2])
    numbers = [*found.items.profits, *map(sum, found.items.weights), *(found.capacities or [])]
    assert {type(number) for number in numbers} == {int}
