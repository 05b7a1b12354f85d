"""Readers of files with solver problems; ``docs/guide/solvers/solve.md`` has examples.

A malformed file, or a number outside the range of the solvers, raises a ``ParameterError`` that
names the file and the field or line. The solvers check everything else.
"""

import csv
import io
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from mmpcodec.checks import dimensions
from mmpcodec.errors import ParameterError
from mmpcodec.solvers.knapsack.problem import MAX_CAPACITY
from mmpcodec.solvers.or_library import read_problem
from mmpcodec.solvers.subset_sum.arguments import MAX_TOTAL
from mmpcodec.solvers.whole import INTEGER, whole, whole_numbers, whole_of_text

FORMATS = ("json", "csv", "npy")
OR_LIBRARY = "or-library"
KNAPSACK_FORMATS = (*FORMATS, OR_LIBRARY)
_SUFFIXES = {**{name: name for name in FORMATS}, "txt": OR_LIBRARY, "dat": OR_LIBRARY}

_PROFITS = (-MAX_CAPACITY, MAX_CAPACITY)
_WEIGHTS = (0, MAX_CAPACITY)
_SUMMANDS = (0, MAX_TOTAL)
_MAX_DEPTH = 32
ENDLESS = "inf"
"""Copies of an item without a limit, in files and on the command line."""


@dataclass(frozen=True)
class Choices:
    """Profits and weights of items, or of the options of a group.

    Parameters
    ----------
    profits : list of int
    weights : list of list of int
        For each item or option, one weight for each capacity.
    names : list of str or None
    """

    profits: list[int]
    weights: list[list[int]]
    names: list[str] | None


@dataclass(frozen=True)
class KnapsackProblem:
    """A 0-1 knapsack (``items``) or a multiple-choice knapsack (``groups``).

    Parameters
    ----------
    items : Choices or None
    groups : list of Choices or None
    group_names : list of str or None
    capacities : list of int or None
        None if the file has no capacities.
    exact_fill : bool
    decimals : int
        The file's profits are these times ``10**-decimals``.
    copies : int, float or list of them, or None
        How often each item can be taken, the same for all or one number for each; ``math.inf`` is
        as often as it fits.
    least_items, most_items : int or None
        Limits of the number of items.
    """

    items: Choices | None
    groups: list[Choices] | None
    group_names: list[str] | None
    capacities: list[int] | None
    exact_fill: bool
    decimals: int = 0
    copies: int | float | list[int | float] | None = None
    least_items: int | None = None
    most_items: int | None = None


@dataclass(frozen=True)
class SubsetSumProblem:
    """Weights and names of the items, and the volumes to fill; None for what the file lacks."""

    weights: list[int]
    names: list[str] | None
    capacities: list[int] | None


def format_of(file: str, formats: Sequence[str] = FORMATS) -> str:
    """Return the one of some formats that a file's extension names.

    Raises
    ------
    ParameterError
        When the extension names no format.
    """
    if os.path.isdir(file):
        raise ParameterError(f"{file}: is a folder; name a file")
    extension = PurePath(file).suffix.lower().removeprefix(".")
    if _SUFFIXES.get(extension) not in formats:
        known = ", ".join(name for name, format in _SUFFIXES.items() if format in formats)
        raise ParameterError(f"{file}: extension {extension!r} must be one of {known}")
    return _SUFFIXES[extension]


def read_knapsack(
    data: bytes, file: str, format: str, number: int | None = None
) -> KnapsackProblem:
    """Read a knapsack problem.

    Parameters
    ----------
    data : bytes
        Content of the file.
    file : str
        Name of the file in errors.
    format : {"json", "csv", "npy", "or-library"}
    number : int or None
        Number of the problem in a file of the OR-Library, from 1; None for the only one.

    Raises
    ------
    ParameterError
        When the bytes are no knapsack problem in this format.
    """
    if number is not None and format != OR_LIBRARY:
        raise ParameterError(f"{file}: problem = {number}: a file in {format} has one problem")
    if format == OR_LIBRARY:
        found = read_problem(data, file, number)
        items = Choices(found.profits, found.weights, None)
        return KnapsackProblem(items, None, None, found.capacities, False, found.decimals)
    if format == "npy":
        array = _integers(_load_npy(data, file), file, 2)
        if array.shape[1] < 2:
            raise ParameterError(f"{file}: shape {array.shape}: must be profits, then weights")
        _check_range(array, 0, _PROFITS, file)
        for column in range(1, array.shape[1]):
            _check_range(array, column, _WEIGHTS, file)
        items = Choices(array[:, 0].tolist(), array[:, 1:].tolist(), None)
        return KnapsackProblem(items, None, None, None, False)
    if format == "csv":
        return _knapsack_of_rows(data, file)
    fields = _load_object(data, file)
    capacities = _capacities(fields, file)
    exact_fill = fields.pop("exact_fill", False)
    if not isinstance(exact_fill, bool):
        raise ParameterError(f"{file}: exact_fill = {exact_fill!r}: must be true or false")
    if "groups" not in fields:
        copies, least, most = _units(fields, file)
        items = _choices(fields, file, "")
        if isinstance(copies, list) and len(copies) != len(items.profits):
            raise ParameterError(
                f"{file}: copies: has {len(copies)}: must have {len(items.profits)}, one for each "
                "profit, or be one number"
            )
        return KnapsackProblem(items, None, None, capacities, exact_fill, 0, copies, least, most)
    given = fields.pop("groups")
    _check_rest(fields, file, "", "groups, capacity, exact_fill")
    if not isinstance(given, list) or not all(isinstance(group, dict) for group in given):
        raise ParameterError(f"{file}: groups: must be a list of objects")
    named = [group.pop("name", None) for group in given]
    group_names = _names(named, file, "groups[{}].name") if any(named) else None
    groups = [_choices(group, file, f"groups[{index}].") for index, group in enumerate(given)]
    return KnapsackProblem(None, groups, group_names, capacities, exact_fill)


def read_subset_sum(data: bytes, file: str, format: str) -> SubsetSumProblem:
    """Read a subset-sum problem; parameters and errors are those of ``read_knapsack``."""
    if format == "npy":
        array = _integers(_load_npy(data, file), file, 1)
        _check_range(array, None, _SUMMANDS, file)
        return SubsetSumProblem(array.tolist(), None, None)
    if format == "csv":
        table = list(_rows_with_head(data, file, ("name", "weight"), ("weight",)))
        found = [
            _integer_text(f"{where}: weight", row["weight"][0], _SUMMANDS) for where, row in table
        ]
        return SubsetSumProblem(found, _column(table, "name"), None)
    fields = _load_object(data, file)
    capacities = _capacities(fields, file)
    names = _names_field(fields, file, "")
    given = _list(fields, file, "", "weights")
    _check_rest(fields, file, "", "weights, names, capacity")
    weights = [_integer(f"{file}: weights[{i}]", one, _SUMMANDS) for i, one in enumerate(given)]
    _check_length(names, weights, file, "")
    return SubsetSumProblem(weights, names, capacities)


def read_array(data: bytes, file: str, format: str) -> np.ndarray:
    """Read an array of numbers.

    A JSON file holds nested lists of equal lengths, or an object with such lists as "values". A CSV
    file has no head; a single column or a single line is an array of one dimension. Parameters and
    errors are those of ``read_knapsack``.

    Returns
    -------
    array
        From JSON and CSV, int64 or float64. From NPY, the type of the file in native byte order,
        with float16 converted to float32.
    """
    if format == "npy":
        return _real(_load_npy(data, file), file)
    if format == "csv":
        return _array_of_rows(data, file)
    value = _load_json(data, file)
    if isinstance(value, dict):
        fields, value = value, value.pop("values", None)
        _check_rest(fields, file, "", "values")
    if not isinstance(value, list):
        raise ParameterError(f'{file}: must be a list of numbers, or an object with "values"')
    shape: list[int] = []
    level: Any = value
    while isinstance(level, list) and len(shape) < _MAX_DEPTH:
        shape.append(len(level))
        level = level[0] if level else None
    flat = list(_numbers(value, f"{file}: values", shape))
    return _array(flat, file).reshape(shape)


def copies_of_text(where: str, text: str) -> int | float:
    """Return a number of copies; "inf" is infinity.

    Raises
    ------
    ParameterError
        When the text is neither "inf" nor an integer from 0 to 2**62 - 1.
    """
    if text.strip() == ENDLESS:
        return math.inf
    value = whole_of_text(text)
    if value is None:
        raise ParameterError(f"{where} = {text[:40]!r}: must be an integer or {ENDLESS}")
    return _integer(where, value, _WEIGHTS)


def check_columns(problem: KnapsackProblem, capacities: int, file: str) -> None:
    """Check that each item and option has one weight for each capacity.

    Raises
    ------
    ParameterError
        When the numbers of weights and of capacities differ.
    """
    names = [f"groups[{index}]: " for index in range(len(problem.groups or []))]
    if problem.group_names is not None:
        names = [f"group {name!r}: " for name in problem.group_names]
    parts = [("", problem.items), *zip(names, problem.groups or [], strict=True)]
    for where, part in parts:
        count = len(part.weights[0]) if part is not None and part.weights else capacities
        if count != capacities:
            raise ParameterError(
                f"{file}: {where}weights: {count} each: must be {capacities}, one a capacity"
            )


def check_numbers(values: np.ndarray, file: str) -> None:
    """Check that an array contains no NaN.

    Raises
    ------
    ParameterError
        When a value is NaN; the message has the index of the first one.
    """
    if values.dtype.kind == "f" and np.isnan(values).any():
        place = np.argwhere(np.isnan(values))[0].tolist()
        raise ParameterError(f"{file}: values{place} = NaN: must be a number")


def _numbers(value: Any, where: str, shape: Sequence[int]) -> Iterator[int | float]:
    """Yield the numbers of nested lists of this shape, in order."""
    if not shape:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(f"{where} = {_shown(value)}: must be a number")
        yield value
        return
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ParameterError(f"{where} = {_shown(value)}: must be a list of {shape[0]}")
    for index, one in enumerate(value):
        yield from _numbers(one, f"{where}[{index}]", shape[1:])


def _array(numbers: list[int | float], file: str) -> np.ndarray:
    integers = all(isinstance(number, int) for number in numbers)
    try:
        return np.array(numbers, np.int64 if integers and numbers else np.float64)
    except OverflowError as error:
        raise ParameterError(f"{file}: values: must fit in 64 bits") from error


def _array_of_rows(data: bytes, file: str) -> np.ndarray:
    rows: list[list[int | float]] = []
    for where, fields in _rows(data, file):
        if rows and len(fields) != len(rows[0]):
            raise ParameterError(f"{where}: {len(fields)} fields: must be {len(rows[0])}")
        rows.append([_number_text(f"{where}: field {i}", t) for i, t in enumerate(fields, start=1)])
    flat = _array([number for row in rows for number in row], file)
    sequence = len(rows) < 2 or len(rows[0]) == 1
    return flat if sequence else flat.reshape(len(rows), -1)


def _knapsack_of_rows(data: bytes, file: str) -> KnapsackProblem:
    columns = ("name", "group", "profit", "weight", "copies")
    table = list(_rows_with_head(data, file, columns, ("profit", "weight"), ("weight",)))
    profits = [
        _integer_text(f"{where}: profit", row["profit"][0], _PROFITS) for where, row in table
    ]
    weights = [
        [_integer_text(f"{where}: weight", text, _WEIGHTS) for text in row["weight"]]
        for where, row in table
    ]
    if not table or "group" not in table[0][1]:
        items = Choices(profits, weights, _column(table, "name"))
        copies = None
        if table and "copies" in table[0][1]:
            copies = [copies_of_text(f"{where}: copies", row["copies"][0]) for where, row in table]
        return KnapsackProblem(items, None, None, None, False, copies=copies)
    if "copies" in table[0][1]:
        raise ParameterError(
            f"{file}: column copies: only items have copies, options of groups not"
        )
    places: dict[str, list[int]] = {}
    for place, (_, row) in enumerate(table):
        places.setdefault(row["group"][0], []).append(place)
    groups = [
        Choices(
            [profits[place] for place in some],
            [weights[place] for place in some],
            _column([table[place] for place in some], "name"),
        )
        for some in places.values()
    ]
    return KnapsackProblem(None, groups, list(places), None, False)


Row = dict[str, list[str]]
"""Fields of a CSV line by the name of their column."""


def _rows_with_head(
    data: bytes,
    file: str,
    columns: Sequence[str],
    needed: Sequence[str],
    several: Sequence[str] = (),
) -> Iterator[tuple[str, Row]]:
    """Yield "file:line" and the fields by column of each line after the head.

    Columns in ``several`` may occur more than once.
    """
    rows = _rows(data, file)
    where, head = next(rows, (f"{file}:1", []))
    twice = {name for name in head if head.count(name) > 1}
    if not set(needed) <= set(head) <= set(columns) or not twice <= set(several):
        raise ParameterError(
            f"{where}: {','.join(head)!r}: must be a head with {' and '.join(needed)}, known "
            f"columns are {', '.join(columns)}"
        )
    for where, fields in rows:
        if len(fields) != len(head):
            raise ParameterError(f"{where}: {len(fields)} fields: must be {len(head)}")
        row: Row = {}
        for name, text in zip(head, fields, strict=True):
            row.setdefault(name, []).append(text)
        yield where, row


def _rows(data: bytes, file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield "file:line" and the fields of each line that is not empty."""
    text = data.decode("utf-8-sig", errors="surrogateescape")
    first = text.lstrip().partition("\n")[0]
    # Spreadsheets write semicolons where the comma is the decimal sign.
    separator = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if row:
                yield f"{file}:{reader.line_num}", row
    except csv.Error as error:
        raise ParameterError(f"{file}:{reader.line_num}: {error}") from error


def _column(table: Sequence[tuple[str, Row]], name: str) -> list[str] | None:
    """Return a column of names; None if the head lacks this column. Equal names are an error."""
    if not table or name not in table[0][1]:
        return None
    first: dict[str, str] = {}
    for where, row in table:
        value = row[name][0]
        if value in first:
            raise ParameterError(f"{where}: {name} {value!r} is also in {first[value]}")
        first[value] = where
    return list(first)


def _load_json(data: bytes, file: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"{file}: field {twice!r} comes twice")
        return fields

    try:
        return json.loads(data, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ParameterError(f"{file}:{error.lineno}: column {error.colno}: {error.msg}") from error
    except ParameterError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{file}: is no JSON that can be read here: {error}") from error


def _load_object(data: bytes, file: str) -> dict[str, Any]:
    fields = _load_json(data, file)
    if not isinstance(fields, dict):
        raise ParameterError(f"{file}: must be a JSON object")
    return fields


def _load_npy(data: bytes, file: str) -> np.ndarray:
    try:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # NumPy parses the header as Python: many error types
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ParameterError(f"{file}: is no NPY file of numbers: {reason}") from error


def _real(array: np.ndarray, file: str) -> np.ndarray:
    """Return an array of real numbers in a type that all solvers accept."""
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise ParameterError(f"{file}: type {array.dtype}: must be numbers of at most 64 bits")
    if array.dtype.kind == "f" and array.dtype.itemsize == 2:
        return array.astype(np.float32)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _integers(array: np.ndarray, file: str, rank: int) -> np.ndarray:
    if array.dtype.kind == "f":
        array = whole_numbers(f"{file}: values", array)
    if array.dtype.kind not in "iu":
        raise ParameterError(f"{file}: type {array.dtype}: must be integers")
    if array.ndim != rank:
        raise ParameterError(f"{file}: shape {array.shape}: must have {dimensions(rank)}")
    return array


def _check_range(array: np.ndarray, column: int | None, limits: tuple[int, int], file: str) -> None:
    """Check the range of a column of a (N, K) array, or of a (N,) array if ``column`` is None."""
    numbers = array if column is None else array[:, column]
    low, high = limits
    if numbers.size and (int(numbers.min()) < low or int(numbers.max()) > high):
        # NumPy compares integers by value, whatever their types.
        row = int(np.flatnonzero((numbers < low) | (numbers > high))[0])
        place = f"[{row}]" if column is None else f"[{row}, {column}]"
        raise ParameterError(f"{file}: {place} = {numbers[row]}: must be from {low} to {high}")


def _choices(fields: dict[str, Any], file: str, prefix: str) -> Choices:
    names = _names_field(fields, file, prefix)
    profits = _list(fields, file, prefix, "profits")
    weights = _list(fields, file, prefix, "weights")
    more = ", groups, capacity, exact_fill, copies, least_items, most_items"
    known = "profits, weights, names" + (", name" if prefix else more)
    _check_rest(fields, file, prefix, known)
    where = f"{file}: {prefix}"
    if len(profits) != len(weights):
        raise ParameterError(
            f"{where}weights: has {len(weights)}: must have {len(profits)}, one for each profit"
        )
    found = [_integer(f"{where}profits[{i}]", one, _PROFITS) for i, one in enumerate(profits)]
    rows = []
    for i, given in enumerate(weights):
        row = given if isinstance(given, list) else [given]
        if not row:
            raise ParameterError(f"{where}weights[{i}] = []: must be one weight or more")
        rows.append(
            [
                _integer(f"{where}weights[{i}]" + (f"[{j}]" if row is given else ""), one, _WEIGHTS)
                for j, one in enumerate(row)
            ]
        )
        if len(rows[i]) != len(rows[0]):
            raise ParameterError(f"{where}weights[{i}]: {len(row)}: must be {len(rows[0])} weights")
    _check_length(names, found, file, prefix)
    return Choices(found, rows, names)


def _capacities(fields: dict[str, Any], file: str) -> list[int] | None:
    if "capacity" not in fields:
        return None
    given = fields.pop("capacity")
    if isinstance(given, list):
        return [_integer(f"{file}: capacity[{i}]", one, (0,)) for i, one in enumerate(given)]
    return [_integer(f"{file}: capacity", given, (0,))]


def _units(
    fields: dict[str, Any], file: str
) -> tuple[int | float | list[int | float] | None, int | None, int | None]:
    """Return copies, least and largest number of items; None for what the file lacks."""
    copies: int | float | list[int | float] | None = None
    if "copies" in fields:
        given = fields.pop("copies")
        if isinstance(given, list):
            copies = [_copies(f"{file}: copies[{i}]", one) for i, one in enumerate(given)]
        else:
            copies = _copies(f"{file}: copies", given)
    least, most = (
        _integer(f"{file}: {name}", fields.pop(name), _WEIGHTS) if name in fields else None
        for name in ("least_items", "most_items")
    )
    return copies, least, most


def _copies(where: str, value: Any) -> int | float:
    """Return a number of copies; "inf" is infinity."""
    return math.inf if value == ENDLESS else _integer(where, value, _WEIGHTS)


def _list(fields: dict[str, Any], file: str, prefix: str, name: str) -> list:
    if name not in fields:
        raise ParameterError(f"{file}: {prefix}{name}: is missing")
    value = fields.pop(name)
    if not isinstance(value, list):
        raise ParameterError(f"{file}: {prefix}{name} = {_shown(value)}: must be a list")
    return value


def _names_field(fields: dict[str, Any], file: str, prefix: str) -> list[str] | None:
    if "names" not in fields:
        return None
    return _names(_list(fields, file, prefix, "names"), file, f"{prefix}names[{{}}]")


def _names(given: Sequence[Any], file: str, place: str) -> list[str]:
    """Return the names after a check that they are distinct strings."""
    first: dict[str, str] = {}
    for index, name in enumerate(given):
        where = place.format(index)
        if not isinstance(name, str):
            raise ParameterError(f"{file}: {where} = {_shown(name)}: must be a name")
        if name in first:
            raise ParameterError(f"{file}: {where} = {name!r}: is also {first[name]}")
        first[name] = where
    return list(first)


def _check_length(names: Sequence | None, others: Sequence, file: str, prefix: str) -> None:
    if names is not None and len(names) != len(others):
        raise ParameterError(f"{file}: {prefix}names: {len(names)}: must be {len(others)}")


def _check_rest(fields: dict[str, Any], file: str, prefix: str, known: str) -> None:
    if fields:
        raise ParameterError(f"{file}: {prefix}{next(iter(fields))}: is not one of {known}")


def _integer(where: str, value: Any, limits: Sequence[int]) -> int:
    """Return an integer after a check of type and range; ``limits`` is (low, high) or (low,)."""
    low, *high = limits
    value = whole(where, value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or value < low or any(value > most for most in high):
        upper = "".join(f" to {most}" for most in high) or " up"
        raise ParameterError(f"{where} = {_shown(value)}: must be an integer from {low}{upper}")
    return value


def _integer_text(where: str, text: str, limits: Sequence[int]) -> int:
    value = whole_of_text(text)
    if value is None:
        raise ParameterError(f"{where} = {text[:40]!r}: must be an integer")
    return _integer(where, value, limits)


def _number_text(where: str, text: str) -> int | float:
    if INTEGER.fullmatch(text.strip()):
        return int(text)
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{where} = {text!r}: must be a number") from None


def _shown(value: Any) -> str:
    """Return a value as JSON for a message, cut to at most 40 characters."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
