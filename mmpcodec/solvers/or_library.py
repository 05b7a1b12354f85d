"""Reader of the OR-Library's text files of knapsacks with several budgets.

A file is numbers with white space between them. It holds one problem, or their count K and then K
problems. A problem is the number N of items, the number M of budgets, the best known profit, N
profits, the N weights of each budget, and M capacities. Source: J. E. Beasley, "OR-Library:
distributing test problems by electronic mail", Journal of the Operational Research Society, 1990.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from mmpcodec.errors import ParameterError
from mmpcodec.solvers.knapsack.problem import MAX_CAPACITY

_NUMBER = re.compile(r"[+-]?(\d{1,40})(\.\d{1,18})?", re.ASCII)
_HEAD = 3
"""Numbers of a problem before its profits."""


@dataclass(frozen=True)
class OrProblem:
    """One problem of a file.

    Parameters
    ----------
    profits : list of int
        Times ``10**decimals``.
    weights : list of list of int
        For each item, one weight for each budget.
    capacities : list of int
    decimals : int
        Decimals of the profits in the file.
    """

    profits: list[int]
    weights: list[list[int]]
    capacities: list[int]
    decimals: int


def read_problem(data: bytes, file: str, number: int | None) -> OrProblem:
    """Read one problem of a file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    file : str
        Name of the file in errors.
    number : int or None
        Number of the problem, from 1; None for the only one.

    Raises
    ------
    ParameterError
        If the bytes are no such file, or it has no problem of this number.

    Examples
    --------
    >>> from mmpcodec.solvers.or_library import read_problem
    >>> found = read_problem(b"2 1 9.5  4.5 5  3 4  7", "two.txt", None)
    >>> found.profits, found.decimals, found.weights, found.capacities
    ([45, 50], 1, [[3], [4]], [7])
    """
    words = data.decode("ascii", errors="replace").split()
    wrong = next((word for word in words if not _NUMBER.fullmatch(word)), None)
    if wrong is not None or not words:
        shown = repr(wrong[:40]) if wrong else "no number"
        raise ParameterError(f"{file}: {shown}: must be numbers, as in files of the OR-Library")
    starts = _starts(words, 0, 1) or _starts(words, 1, _count(words[0]))
    if starts is None:
        raise ParameterError(
            f"{file}: its {len(words)} numbers are neither a problem nor a count and problems of "
            "the OR-Library: items, budgets, best profit, profits, weights, capacities"
        )
    if number is None and len(starts) > 1:
        choose = f"choose one of 1 to {len(starts)} with --problem"
        raise ParameterError(f"{file}: has {len(starts)} problems; {choose}")
    if number is not None and not 1 <= number <= len(starts):
        raise ParameterError(f"{file}: problem = {number}: must be from 1 to {len(starts)}")
    return _problem(words[starts[(number or 1) - 1] :], file)


def _starts(words: list[str], first: int, count: int) -> list[int] | None:
    """Return the place of the first number of each problem; None if they do not fill the file."""
    starts: list[int] = []
    place = first
    while len(starts) < count and place + _HEAD <= len(words):
        starts.append(place)
        items, budgets = _count(words[place]), _count(words[place + 1])
        if not budgets:
            return None
        place += _HEAD + items + items * budgets + budgets
    return starts if starts and len(starts) == count and place == len(words) else None


def _count(word: str) -> int:
    """Return a number of items, budgets or problems; 0 where it cannot be one."""
    return int(word) if word.isdecimal() else 0


def _problem(words: list[str], file: str) -> OrProblem:
    items, budgets = int(words[0]), int(words[1])
    profits = words[_HEAD : _HEAD + items]
    decimals = max((len(word.partition(".")[2]) for word in profits), default=0)
    rest = words[_HEAD + items :]
    rows = [rest[budget * items : (budget + 1) * items] for budget in range(budgets)]
    capacities = rest[items * budgets : items * budgets + budgets]
    return OrProblem(
        [_integer(word, "profit", decimals, file) for word in profits],
        [[_integer(row[item], "weight", 0, file) for row in rows] for item in range(items)],
        [_integer(word, "capacity", 0, file) for word in capacities],
        decimals,
    )


def _integer(word: str, what: str, decimals: int, file: str) -> int:
    value = Decimal(word).scaleb(decimals)
    least = -MAX_CAPACITY if what == "profit" else 0
    if value != int(value) or not least <= value <= MAX_CAPACITY:
        raise ParameterError(
            f"{file}: {what} = {word}: must be an integer from {least} to {MAX_CAPACITY}"
        )
    return int(value)
