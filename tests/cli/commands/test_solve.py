"""The solvers on the command line."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import backends


def solved(mmp, *arguments, problem):
    result = mmp("solve", *arguments, input=json.dumps(problem))
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("backend", ["auto", "cpu", "reference"])
def test_backends_agree(mmp, backend):
    items = {"profits": [7, 5, 5], "weights": [6, 5, 5], "capacity": 10}
    found = solved(mmp, "knapsack", "-", "--backend", backend, problem=items)
    assert (found["value"], found["items"]) == (10, [1, 2])
    found = solved(
        mmp, "subset-sum", "-", "-c", 9, "--backend", backend, problem={"weights": [4, 6]}
    )
    assert found["volumes"][0]["items"] == [1]
    found = solved(mmp, "max-sum", "-", "--backend", backend, problem=[-1, 2, 3, -9, 4])
    assert found["found"] == [{"start": 1, "stop": 3, "sum": 5}]
    found = solved(mmp, "select", "-", "-k", 2, "--backend", backend, problem=[9, 7, 8])
    assert found["ranks"] == [{"k": 2, "value": 8}]


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="a CUDA device is there")
@pytest.mark.parametrize("problem", ["knapsack", "subset-sum", "max-sum", "select"])
def test_absent_backend(mmp, problem):
    result = mmp("solve", problem, "-", "--backend", "cuda", input="[1]")
    assert result.exit_code == 4
    assert result.stderr.startswith("mmp: backend cuda cannot run here: ")


def test_edges(mmp):
    for problem in ({"profits": [], "weights": []}, {"groups": []}):
        for capacity in (5, [5, 6]):
            found = solved(mmp, "knapsack", "-", problem=problem | {"capacity": capacity})
            assert found["value"] == 0
    found = solved(mmp, "subset-sum", "-", problem={"weights": [], "capacity": 5})
    assert found["volumes"][0]["sum"] == 0


def test_no_answer(mmp):
    problem = {"groups": [{"profits": [1], "weights": [9]}], "capacity": 8}
    found = solved(mmp, "knapsack", "-", problem=problem)
    assert (found["value"], found["items"], found["weights"]) == (None, [], None)
    assert found["optimal"]
    found = solved(
        mmp,
        "knapsack",
        "-",
        "--exact-fill",
        problem={"profits": [1], "weights": [3], "capacity": 4},
    )
    assert (found["value"], found["optimal"]) == (None, True)
    problem = {"profits": [1] * 30, "weights": list(range(9, 39)), "capacity": 100}
    found = solved(mmp, "knapsack", "-", "--exact-fill", "--seconds", 0, problem=problem)
    assert (found["value"], found["optimal"]) == (None, False)


def test_first_choice(mmp):
    # Items 0 and 4, and items 1, 3 and 4, are the best choices.
    problem = {"profits": [6, 2, 6, 4, 4], "weights": [5, 1, 5, 3, 3], "capacity": 8}
    assert solved(mmp, "knapsack", "-", problem=problem)["value"] == 10
    for more in (["--first-choice"], ["--backend", "reference"]):
        found = solved(mmp, "knapsack", "-", *more, problem=problem)
        assert (found["value"], found["items"]) == (10, [0, 4])


def test_copies_and_numbers_of_items(mmp):
    problem = {"profits": [7, 5], "weights": [6, 5], "capacity": 17, "copies": ["inf", 1]}
    found = solved(mmp, "knapsack", "-", problem=problem)
    assert (found["value"], found["items"], found["counts"]) == (19, [0, 1], [2, 1])
    assert found["weights"] == [17]
    found = solved(mmp, "knapsack", "-", "--copies", "inf", problem=problem)
    assert (found["value"], found["status"]) == (19, "optimal")
    found = solved(mmp, "knapsack", "-", "--copies", 3, problem=problem | {"most_items": 1})
    assert (found["value"], found["counts"]) == (7, [1])
    more = ("--least-items", 3, "--most-items", 3)
    found = solved(mmp, "knapsack", "-", *more, problem=problem | {"most_items": 1})
    assert found["value"] == 19
    found = solved(mmp, "knapsack", "-", "--least-items", 4, problem=problem)
    assert (found["status"], found["value"], found["counts"]) == ("infeasible", None, [])


def test_names_stand_beside_what_they_name(mmp):
    groups = [
        {"profits": [1, 2], "weights": [1, 1]},
        {"profits": [1, 2], "weights": [1, 1], "names": ["x", "y"]},
    ]
    found = solved(mmp, "knapsack", "-", problem={"groups": groups, "capacity": 9})
    assert (found["items"], found["names"]) == ([1, 1], [None, "y"])
    found = solved(mmp, "knapsack", "-", problem={"groups": groups, "capacity": 1})
    assert (found["value"], found["names"]) == (None, [])
    found = solved(mmp, "knapsack", "-", problem={"groups": groups[:1], "capacity": 9})
    assert found["names"] is None
    named = {"weights": [3], "names": ["x"], "capacity": 2}
    assert solved(mmp, "subset-sum", "-", problem=named)["volumes"][0]["names"] == []
    assert solved(mmp, "knapsack", "-", problem={**named, "profits": [1]})["names"] == []


@pytest.mark.parametrize("kind", [">i2", ">f8", "<f2", ">f2", "u1", "?"])
def test_arrays_of_any_type_are_taken_alike(mmp, kind):
    np.save("a.npy", np.array([0, 1, 1]).astype(kind))
    found = json.loads(mmp("solve", "max-sum", "a.npy").stdout)["found"]
    assert [one["sum"] for one in found] == [2]
    assert json.loads(mmp("solve", "select", "a.npy").stdout)["median"] == 1


def test_capacities_of_the_command_line_come_first(mmp):
    problem = {"weights": [4, 6], "capacity": 10}
    found = solved(mmp, "subset-sum", "-", "-c", 4, "-c", 7, problem=problem)["volumes"]
    assert [one["capacity"] for one in found] == [4, 7]


def test_no_time(mmp):
    count = 300
    problem = {
        "profits": [100 + k % 97 for k in range(count)],
        "weights": [100 + k % 89 for k in range(count)],
        "capacity": 5000,
    }
    assert solved(mmp, "knapsack", "-", problem=problem)["path"] != "greedy"
    found = solved(mmp, "knapsack", "-", "--seconds", 0, problem=problem)
    assert found["path"] == "greedy"
    assert found["weights"][0] <= 5000
    assert found["value"] <= found["bound"]
    assert found["optimal"] == (found["value"] == found["bound"])


def test_no_time_for_volumes(mmp):
    problem = {"weights": [6, 10, 15, 22, 35], "capacity": [39, 30]}
    names = "-", "--method", "dense"
    found = solved(mmp, "subset-sum", *names, "--seconds", 0, problem=problem)["volumes"]
    assert [(one["sum"], one["status"], one["bound"]) for one in found] == [
        (35, "feasible", 39),
        (28, "feasible", 30),
    ]
    found = solved(mmp, "subset-sum", *names, "--seconds", 9, problem=problem)["volumes"]
    assert [(one["sum"], one["status"], one["bound"]) for one in found] == [
        (38, "optimal", 38),
        (15, "optimal", 15),
    ]


def test_boxes_and_empty_answers(mmp):
    found = solved(mmp, "max-sum", "-", problem=[[[-1, 2], [3, -4]]])
    assert found["found"] == [
        {"front": 0, "top": 1, "left": 0, "back": 1, "bottom": 2, "right": 1, "sum": 3}
    ]
    found = solved(mmp, "max-sum", "-", "-k", "2", problem=[[[-1, 2], [3, -4]]])
    assert [(box["left"], box["top"]) for box in found["found"]] == [(0, 1), (1, 0)]
    found = solved(mmp, "max-sum", "-", "--allow-empty", problem=[-1, -2])
    assert found["found"] == [{"start": 0, "stop": 0, "sum": 0}]


def test_infinities_are_words(mmp):
    result = mmp("solve", "select", "-", "-k", "1", "-k", "3", input="[Infinity, 1, -Infinity]")
    assert [one["value"] for one in json.loads(result.stdout)["ranks"]] == ["-inf", "inf"]


def test_other_formats_on_standard_input(mmp):
    stream = io.BytesIO()
    np.save(stream, np.array([3, 5, 8]))
    result = mmp("solve", "subset-sum", "-", "--format", "npy", "-c", 12, input=stream.getvalue())
    assert json.loads(result.stdout)["volumes"][0]["sum"] == 11


def test_answer_in_a_file(mmp, files):
    Path("p.json").write_text("[1, 2]")
    assert mmp("solve", "select", "p.json", "-o", "a.json").stdout == ""
    assert json.loads(Path("a.json").read_text())["median"] == 1.5
    result = mmp("solve", "select", "p.json", "-o", "a.json")
    assert (result.exit_code, result.stderr) == (1, "mmp: a.json: exists; -f overwrites it\n")
    result = mmp("solve", "select", "p.json", "-o", "p.json", "-f")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: p.json: is an input, and would be overwritten\n",
    )
    assert mmp("solve", "select", "p.json", "-o", "a.json", "-f").exit_code == 0
    assert files() == ["a.json", "p.json"]


@pytest.mark.parametrize(
    ("arguments", "text", "says"),
    [
        (["knapsack"], '{"profits": [1], "weights": [1]}', "stdin: capacity: is missing; give -c"),
        (["knapsack", "-c", 1], '{"profits": [1], "weights": [-1]}', "stdin: weights[0] = -1"),
        (["knapsack", "-c", 1], '{"profits": [1', "stdin:1: column 15: Expecting"),
        (["knapsack", "-c", 1, "-c", 1], '{"profits": [1], "weights": [1]}',
         "stdin: weights: 1 each: must be 2"),
        (["knapsack", "-c", 1 << 62], '{"profits": [1], "weights": [1]}', "stdin: capacity = 46"),
        (["knapsack"], '{"groups": [{"profits": [], "weights": []}], "capacity": 1}',
         "stdin: group 0 with 0 options"),
        (["knapsack", "-c", 1], '{"profits": [1], "weights": [[]]}', "stdin: weights[0] = []: mus"),
        (["knapsack"], '{"groups": [{"name": "a", "profits": [1], "weights": [[1, 2]]}], '
         '"capacity": 1}', "stdin: group 'a': weights: 2 each: must be 1, one a capacity"),
        (["knapsack"], '{"groups": [{"profits": [1], "weights": [1]}], "capacity": [1, 2]}',
         "stdin: groups[0]: weights: 1 each: must be 2, one a capacity"),
        (["knapsack", "--copies", 2], '{"groups": [], "capacity": 1}',
         "stdin: copies: only for items, not for groups"),
        (["knapsack", "--copies", "x"], '{"profits": [1], "weights": [1], "capacity": 1}',
         "copies = 'x': must be an integer or inf"),
        (["subset-sum", "-c", 1], '{"weights": [9223372036854775808]}', "stdin: weights[0] = 9"),
        (["subset-sum", "-c", 1, "--method", "fast"], '{"weights": [1]}', "stdin: method = 'fast'"),
        (["max-sum"], "[1, NaN]", "stdin: value nan at (1,): must be finite"),
        (["max-sum"], "[]", "stdin: values of shape (0,): must not be empty"),
        (["max-sum"], "[[[[1]]]]", "stdin: shape (1, 1, 1, 1): must have 1 to 3 dimensions"),
        (["max-sum", "-k", 2], "[[[1]]]", "stdin: k = 2: only 1 disjoint boxes exist"),
        (["select"], "[1, NaN]", "stdin: values[1] = NaN: must be a number"),
        (["select", "-k", 3], "[1, 2]", "stdin: k = 3: must be from 1 to 2"),
        (["select", "-q", 1.5], "[1, 2]", "stdin: q = [1.5]: must be numbers from 0 to 1"),
        (["select", "--nan", "hide"], "[1]", "nan = 'hide': must be one of raise, omit"),
        (["select", "--format", "xml"], "[1]", "format = 'xml': must be one of json, csv, npy"),
        (["select", "--backend", "gpu"], "[1]", "backend = 'gpu': must be one of"),
    ],
)  # fmt: skip
def test_wrong_problems(mmp, arguments, text, says):
    result = mmp("solve", arguments[0], "-", *arguments[1:], input=text)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"mmp: {says}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_tables_beyond_memory_are_refused(mmp):
    problem = {"profits": [7, 8], "weights": [10**13 + 1, 10**13], "capacity": 2 * 10**13}
    result = mmp("solve", "knapsack", "-", "--backend", "reference", input=json.dumps(problem))
    assert result.exit_code == 1
    assert "a table of 20000000000001 states needs" in result.stderr


def test_files_that_cannot_be_read(mmp):
    result = mmp("solve", "select", "none.json")
    assert (result.exit_code, result.stderr) == (1, "mmp: none.json: No such file or directory\n")
    Path("a.txt").write_text("[1]")
    result = mmp("solve", "select", "a.txt")
    assert result.exit_code == 2
    assert "a.txt: extension 'txt' must be one of json, csv, npy" in result.stderr
    Path("folder").mkdir()
    result = mmp("solve", "select", "folder")
    assert (result.exit_code, result.stderr) == (2, "mmp: folder: is a folder; name a file\n")


def test_a_problem_of_the_or_library(mmp):
    Path("two.txt").write_text("2  1 1 3  3 2 2  2 1 0  4.5 5 3 4 6\n")
    answer = json.loads(mmp("solve", "knapsack", "two.txt", "--problem", 2).stdout)
    assert (answer["value"], answer["bound"], answer["items"]) == (5.0, 5.0, [1])
    result = mmp("solve", "knapsack", "two.txt")
    assert result.stderr == "mmp: two.txt: has 2 problems; choose one of 1 to 2 with --problem\n"
    result = mmp("solve", "subset-sum", "two.txt", "-c", 3)
    assert "extension 'txt' must be one of json, csv, npy" in result.stderr
