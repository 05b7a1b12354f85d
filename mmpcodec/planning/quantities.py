"""Parse numbers that people write: sizes with units, and tables of names and decimal numbers."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from mmpcodec.codec.rate_control.targets import MAX_BYTES
from mmpcodec.errors import ParameterError

UNITS = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", start=1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", start=1)},
}
"""Bytes per unit; units in small letters."""

DECIMALS = 6
ONE = 10**DECIMALS
"""The integer that stands for 1 in a table: tables hold millionths."""

_SIZE = r"(?=\.?\d)(\d{0,30})(?:\.(\d{1,30}))?\s*([A-Za-z]*)"
_NUMBER = r"(\d{1,12})(?:\.(\d+))?"


def parse_bytes(name: str, text: str) -> int:
    """Parse a size in bytes, rounded down to an integer.

    Parameters
    ----------
    name : str
        Name of the option in error messages.
    text : str
        A decimal number with an optional unit: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB,
        GiB, TiB (powers of 1024), in small or capital letters. A number without unit is in bytes.

    Returns
    -------
    int
        1 to 2**62.

    Raises
    ------
    ParameterError
        If the text is no size, or the size is out of range.

    Examples
    --------
    >>> from mmpcodec.planning.quantities import parse_bytes
    >>> parse_bytes("total", "4.7GB"), parse_bytes("total", "1.5 MiB"), parse_bytes("total", "90")
    (4700000000, 1572864, 90)
    """
    found = re.fullmatch(_SIZE, text.strip(), re.ASCII)
    unit = UNITS.get(found[3].lower()) if found else None
    if found is None or unit is None:
        raise ParameterError(
            f"{name} = {text!r}: must be bytes, or a number with kB, MB, GB, TB (powers of 1000) "
            "or KiB, MiB, GiB, TiB (powers of 1024)"
        )
    decimals = found[2] or ""
    size = int(found[1] + decimals) * unit // 10 ** len(decimals)
    if not 1 <= size <= MAX_BYTES:
        raise ParameterError(f"{name} = {text!r}: must be from 1 to {MAX_BYTES} bytes")
    return size


@dataclass(frozen=True)
class NumberTable:
    """A table of names and numbers.

    Parameters
    ----------
    file : str
        Name of the file in error messages.
    column : str
        What the numbers mean: "weight" or "value".
    numbers : dict of str to int
        Numbers in millionths, which are exact, by name.
    lines : dict of str to int
        Line of each name in the file, from 1.
    """

    file: str
    column: str
    numbers: dict[str, int]
    lines: dict[str, int]

    def of(self, paths: Sequence[str]) -> list[int]:
        """Return the number of each path, in millionths.

        The table has the whole path or its last part.

        Raises
        ------
        ParameterError
            If a path has no number, or a last part matches several paths.
        """
        keys = [path if path in self.numbers else os.path.basename(path) for path in paths]
        first: dict[str, str] = {}
        for path, key in zip(paths, keys, strict=True):
            if key not in self.numbers:
                raise ParameterError(f"{self.file}: has no {self.column} for {path!r}")
            if first.setdefault(key, path) != path:
                raise ParameterError(
                    f"{self.file}:{self.lines[key]}: {key!r} may be {first[key]!r} or {path!r}; "
                    "write the whole path"
                )
        return [self.numbers[key] for key in keys]

    def unused(self, paths: Sequence[str]) -> list[str]:
        """Return the names in the table that match none of the paths."""
        known = {*paths, *map(os.path.basename, paths)}
        return [name for name in self.numbers if name not in known]


def read_table(data: bytes, file: str, column: str) -> NumberTable:
    """Parse a table of names and numbers.

    Parameters
    ----------
    data : bytes
        CSV with two fields per line: a name, and a number from 0 up with at most six decimals. The
        first line may be the header ``name,<column>``.
    file : str
        Name of the file in error messages.
    column : str
        What the numbers mean: "weight" or "value".

    Raises
    ------
    ParameterError
        If a line is malformed or repeats a name; the message begins with file and line.
    """
    import csv
    import io

    text = data.decode("utf-8-sig", errors="surrogateescape")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    table = NumberTable(file, column, {}, {})
    try:
        for row in reader:
            where = f"{file}:{reader.line_num}"
            if not row or (reader.line_num == 1 and row == ["name", column]):
                continue
            if len(row) != 2:
                raise ParameterError(f"{where}: {len(row)} fields: must be two, name,{column}")
            name, number = row
            if name in table.numbers:
                raise ParameterError(f"{where}: {name!r} is also in line {table.lines[name]}")
            table.numbers[name] = _millionths(f"{where}: {column}", number.strip())
            table.lines[name] = reader.line_num
    except csv.Error as error:
        raise ParameterError(f"{file}:{reader.line_num}: {error}") from error
    return table


def _millionths(name: str, text: str) -> int:
    found = re.fullmatch(_NUMBER, text, re.ASCII)
    decimals = (found[2] or "").rstrip("0") if found else ""
    if found is None or len(decimals) > DECIMALS:
        raise ParameterError(
            f"{name} = {text!r}: must be a number from 0 up, below 10**12, with at most "
            f"{DECIMALS} decimals"
        )
    return int(found[1]) * ONE + int(decimals.ljust(DECIMALS, "0"))


def decimal(millionths: int) -> str:
    """Write a number of millionths as an exact decimal number.

    Examples
    --------
    >>> from mmpcodec.planning.quantities import decimal
    >>> decimal(1_500_000), decimal(3), decimal(2_000_000)
    ('1.5', '0.000003', '2')
    """
    whole, part = divmod(millionths, ONE)
    return f"{whole}.{part:0{DECIMALS}}".rstrip("0").rstrip(".")


def in_lowest_terms(numbers: Sequence[int]) -> list[int]:
    """Divide integers from 0 up by their greatest common divisor."""
    divisor = gcd(*numbers) or 1
    return [number // divisor for number in numbers]
